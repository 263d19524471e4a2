// A whole session with the real CLI: denied, allowed for the session, an edit and its diff, a plan in its own mode, a cut
// connection, a stop, an end and a return. What the model says is in tests/data/page-session.toml.

import { assert, begin, chooseMode, click, flow, fs, inProject, isSmall, menu, outcome, planTwice, ready, say, seeChanges, seeLost, seen } from "./browser.mjs";
import * as relay from "./relay.mjs";

const { complaints, cut, there } = relay;

await flow(
  async ({ page, shot }) => {
    await page.getByRole("link", { name: "New" }).waitFor();

    await begin(page, "make one", there);
    await click(page, "Deny…");
    await page.getByPlaceholder("Why not").fill("not today");
    await click(page, "Deny");
    await outcome(page, "Denied: not today");
    await ready(page);
    assert.ok(!fs.existsSync(inProject("one")));

    await say(page, "count");
    await click(page, /^Allow, and accept for this session: allow Bash/);
    await outcome(page, /^Allowed, and accepted for this session: allow Bash\(node -e 1/);
    await ready(page);
    await say(page, "count again");
    await seen(page, "Counted again.");
    await ready(page);
    assert.equal(await page.locator("form.question").count(), 0, "it is allowed for the session");

    await say(page, "edit the poem");
    await page.getByRole("heading", { name: "Allow Edit?" }).waitFor();
    await page.locator("form.question .diff-row.added", { hasText: "TWO and a half" }).waitFor();
    await shot("edit");
    await click(page, "Allow once");
    await seen(page, "The poem is edited.");
    await ready(page);
    await seeChanges(page, shot, "TWO and a half");

    await chooseMode(page, "plan");
    await planTwice(page, shot, ["plan it", "plan it again"]);
    // In the mode that was chosen with it an edit is not asked about, and that mode is the one that is shown.
    await seen(page, "Written without a question.");
    await seen(page, "Permission mode: acceptEdits");
    await ready(page);
    assert.equal(fs.readFileSync(inProject("after-plan.txt"), "utf8").trim(), "hello");
    if (!isSmall) assert.equal(await page.getByLabel("Permission mode").inputValue(), "acceptEdits");

    // A question outlives the connection.
    await say(page, "compute");
    await page.locator("form.question").waitFor();
    await seeLost(page, shot, relay);
    assert.equal(await page.locator("form.question").count(), 1);
    await click(page, "Allow once");
    await seen(page, "Computed after the cut.");
    await ready(page);
    assert.equal(await page.locator(".timeline").getByText("Computed after the cut.").count(), 1, "each answer once");

    await say(page, "wait for long");
    await click(page, "Allow once");
    await page.locator(".tool-state.works").first().waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await ready(page);
    await shot("stopped");

    const hash = new URL(page.url()).hash;
    await menu(page, "End the session…");
    await page.getByRole("dialog").getByRole("button", { name: "End it" }).click();
    await page.waitForURL(/#\/$/);
    await page.reload();
    await page.locator(".results .session-row").first().click();
    await page.getByRole("button", { name: "Resume", exact: true }).click();
    await page.waitForURL((url) => url.hash === hash);
    await seen(page, "Computed after the cut.");
    await say(page, "are you there");
    await seen(page, "Here again.");
    await ready(page);
    await shot("resumed");
  },
  { at: there, allowed: complaints },
);
await cut();
