// Somebody who has nothing: no account, no settings. Opens the printed link, has something done, allows it, sees it.

import { assert, begin, flow, fs, inProject, ready, say, seen } from "./browser.mjs";

await flow(async ({ page, shot }) => {
  await page.getByRole("link", { name: "New" }).waitFor();
  assert.ok(!page.url().includes("token"), `the token is still in the address: ${page.url()}`);
  await begin(page, "run ls");
  await seen(page, "I am Towline's offline responder");
  // Looking is harmless and is not asked about.
  await seen(page, /Bash gave:/);
  await ready(page);
  await say(page, "run touch made-by-page.txt");
  await page.getByRole("heading", { name: "Allow Bash?" }).waitFor();
  await page.getByText("Needs you").first().waitFor({ state: "attached" });
  await shot("asked");
  assert.ok(!fs.existsSync(inProject("made-by-page.txt")), "it ran before it was allowed");
  await page.getByRole("button", { name: "Allow once" }).click();
  await ready(page);
  await page.locator(".answer", { hasText: "Allowed" }).waitFor();
  assert.ok(fs.existsSync(inProject("made-by-page.txt")), "it did not run");
  assert.equal(await page.locator("form.question").count(), 0);
  await shot("done");
  // The link is not needed again: the cookie is.
  await page.reload();
  await page.locator(".answer", { hasText: "Allowed" }).waitFor();
  assert.equal(await page.locator(".entries .mine").count(), 2, "each message is there once");
});
