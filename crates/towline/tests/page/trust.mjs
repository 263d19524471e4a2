// A folder that was never trusted: what its files ask for is shown before a session begins, and the answer holds.

import { assert, flow, fs, project, seen } from "./browser.mjs";
import path from "node:path";

await flow(async ({ page, shot }) => {
  const dialog = page.getByRole("dialog", { name: "Do you trust this folder?" });
  const start = async (words) => {
    await page.goto(new URL("/#/new", page.url()).href);
    const field = page.getByRole("textbox", { name: "Message" });
    await field.fill(words);
    await field.press("Enter");
  };
  const state = path.join(project, "../home/.claude.json");

  await start("run node -e 1");
  await dialog.waitFor();
  await shot("question");
  const shown = await dialog.innerText();
  assert.ok(shown.includes("Runs without asking: Bash(node:*)"), shown);
  // The words of a file are text, and characters in it that hide or reorder others are seen.
  assert.ok(shown.includes("Bash(\\u{202e}<img src=x onerror=alert(1)>\\u{200b})"), shown);
  assert.equal(await dialog.locator("img").count(), 0);
  assert.ok((await dialog.locator("bdi").count()) >= 3);

  // Nothing begins, and what was written is still there.
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("alert").filter({ hasText: "Nothing was started." }).waitFor();
  assert.equal(await page.getByRole("textbox", { name: "Message" }).inputValue(), "run node -e 1");

  // Without trust the files allow nothing.
  await page.getByRole("textbox", { name: "Message" }).press("Enter");
  await dialog.getByRole("button", { name: "Go on without" }).click();
  await page.locator("form.question").waitFor();
  await page.locator("form.question").getByRole("button", { name: "Allow once" }).click();
  await page.locator('.status-place[data-is="idle"]').waitFor({ state: "attached" });
  assert.ok(!fs.existsSync(state));

  // With it they do, and no question comes again.
  await start("run node -e 2");
  await dialog.getByRole("button", { name: "Trust it" }).click();
  await seen(page, "run node -e 2");
  await page.locator(".entries > .turn-end").waitFor();
  assert.equal(await page.locator("form.question").count(), 0);
  assert.match(fs.readFileSync(state, "utf8"), /"hasTrustDialogAccepted": true/);
  await start("run node -e 3");
  await seen(page, "run node -e 3");
  await page.locator(".entries > .turn-end").waitFor();
  assert.equal(await dialog.count(), 0);
});
