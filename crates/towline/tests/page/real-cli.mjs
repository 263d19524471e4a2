// The real CLI behind the page: a permission, a question with several answers, Markdown with code.

import { assert, begin, flow, fs, inProject, ready } from "./browser.mjs";

await flow(async ({ page, shot }) => {
  await begin(page, "make it");
  await page.getByRole("heading", { name: "Allow Bash?" }).waitFor();
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.getByRole("group", { name: "Which fruits?" }).waitFor();
  assert.ok(fs.existsSync(inProject("made-by-cli")), "it did not run");
  await shot("several");
  await page.getByRole("checkbox", { name: /Apples/ }).check();
  await page.getByRole("checkbox", { name: /Plums/ }).check();
  await page.getByPlaceholder("Something else").fill("Quinces");
  await page.getByRole("button", { name: "Answer", exact: true }).click();
  await page.locator(".answer", { hasText: "Apples, Plums, Quinces" }).waitFor();
  await page.locator(".prose strong", { hasText: "done" }).waitFor();
  await page.locator(".prose .hljs-keyword", { hasText: "fn" }).waitFor();
  await ready(page);
  await shot("done");
});
