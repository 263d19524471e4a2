// What the agent does, to be seen: differences, lists, thoughts, pictures, Markdown that cannot do harm, the project's changes.

import { assert, begin, flow, fs, inProject, ready, say, seeChanges, seen, sendPicture } from "./browser.mjs";

await flow(async ({ page, shot }) => {
  fs.writeFileSync(inProject("poem.txt"), "one\ntwo\nthree\n");
  await begin(page, "think about poems then edit poem.txt: two => TWO and a half");
  await page.getByRole("heading", { name: "Allow Edit?" }).waitFor();
  await page.locator("form.question .diff-row.removed", { hasText: "two" }).waitFor();
  await page.locator("form.question .diff-row.added", { hasText: "TWO and a half" }).waitFor();
  await shot("edit");
  await page.getByRole("button", { name: "Allow once" }).click();
  await ready(page);
  await page.locator(".card .diff-row.added", { hasText: "TWO and a half" }).waitFor();
  assert.equal(fs.readFileSync(inProject("poem.txt"), "utf8"), "one\nTWO and a half\nthree\n");
  const thoughts = page.locator("details.thinking");
  assert.equal(await thoughts.evaluate((node) => node.open), false, "thoughts are folded");
  await thoughts.locator("summary").click();
  await thoughts.getByText("about poems").waitFor();

  await say(page, "todo buy bread, bake a cake");
  await page.locator(".todo", { hasText: "bake a cake" }).waitFor();
  await ready(page);

  // What a model or a tool says is text, whatever it looks like.
  await say(page, `run printf '<img src=x onerror="window.harm=1"><script>window.harm=1</script>'`);
  await ready(page);
  await seen(page, /Bash gave/);
  await seen(page, "<script>window.harm=1</script>");
  assert.equal(await page.evaluate(() => window.harm), undefined);
  assert.equal(await page.locator(".timeline script, .timeline img[src=x]").count(), 0);

  // A picture is pasted and goes with the message.
  await sendPicture(page, "think what is this", 40);
  await ready(page);
  await shot("cards");

  await seeChanges(page, shot, "TWO and a half");
});
