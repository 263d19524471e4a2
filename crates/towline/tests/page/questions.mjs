// Every kind of question and every kind of answer.

import { assert, begin, click, flow, fs, inProject, menu, outcome, planTwice, ready, say, seen } from "./browser.mjs";

await flow(async ({ page, shot }) => {

  await begin(page, "run mkdir one");
  await click(page, "Deny…");
  await page.getByPlaceholder("Why not").fill("not today");
  await click(page, "Deny");
  await outcome(page, "Denied: not today");
  await ready(page);
  assert.ok(!fs.existsSync(inProject("one")));

  // With a rule for the session the same is not asked about again.
  await say(page, "run node -e 1");
  await page.locator("form.question").getByRole("button", { name: /^Allow, and accept for this session: allow Bash/ }).click();
  await outcome(page, /^Allowed, and accepted for this session: allow Bash\(node -e 1/);
  await ready(page);
  await say(page, "run node -e 1");
  await seen(page, "run node -e 1");
  await ready(page);
  assert.equal(await page.locator("form.question").count(), 0);

  await menu(page, "Rename…");
  await page.getByRole("dialog").getByLabel("Title").fill("All the questions");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await page.getByRole("heading", { name: "All the questions" }).waitFor();

  // One of several, then words of one's own.
  await say(page, "ask Which colour? red, green");
  await page.locator("form.question").getByText("Which colour?").waitFor();
  await shot("choices");
  await click(page, "Answer");
  await page.getByText("Choose or write something").waitFor();
  await page.getByRole("radio", { name: /green/ }).check();
  await click(page, "Answer");
  await outcome(page, "Answered: green");
  await ready(page);
  await say(page, "ask Which colour? red, green");
  await page.getByPlaceholder("Something else").fill("a warm grey");
  await click(page, "Answer");
  await outcome(page, "Answered: a warm grey");
  await ready(page);

  // A plan: rejected with a reason, then approved.
  await planTwice(page, shot, ["plan **First** look, then write", "plan write, then look"]);
  await outcome(page, "Allowed");
  await ready(page);
  // In the mode that was chosen with it, an edit is not asked about.
  await say(page, "write after-plan.txt: hello");
  await seen(page, "after-plan.txt");
  await ready(page);
  assert.equal(fs.readFileSync(inProject("after-plan.txt"), "utf8").trim(), "hello");

  await say(page, "run git init saved-rule");
  await page.locator("form.question").waitFor();
  const save = page.locator("form.question").getByRole("button", { name: /Save the rule/ });
  if (await save.count()) {
    await save.click();
    await outcome(page, "Allowed, rule saved");
    await ready(page);
    assert.match(fs.readFileSync(inProject(".claude/settings.local.json"), "utf8"), /git init/);
  } else assert.fail("the rule cannot be saved");
});
