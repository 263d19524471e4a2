// The pictures of the README, docs/page-phone.png and docs/page-desktop.png: three sessions of the real CLI, and a question
// about an edit. They are copied from the shots by hand. What the model says is in tests/data/page-readme.toml.

import { begin, flow, fs, inProject, isSmall, link, ready, say, seen } from "./browser.mjs";

fs.mkdirSync(inProject("fetcher"));
fs.writeFileSync(inProject("fetcher/retry.rs"), `pub fn fetch(url: &Url) -> Result<Page, Error> {
    loop {
        if let Ok(page) = get(url) {
            return Ok(page);
        }
    }
}
`);
const viewport = isSmall ? { width: 390, height: 844 } : { width: 1440, height: 900 };
await flow(
  async ({ page, shot }) => {
    await page.goto(new URL("/#/new", link).href);
    await page.getByLabel("Folder").fill(inProject("fetcher"));
    await say(page, "Release notes");
    await seen(page, "The notes are in");
    await ready(page);

    await begin(page, "Update the dependencies");
    await page.getByRole("heading", { name: "Allow Bash?" }).waitFor();

    await begin(page, "fetch hangs when the server is away. Fix it.");
    await seen(page, "error after 5 tries");
    await ready(page);
    await say(page, "Go on.");
    await page.getByRole("heading", { name: "Allow Edit?" }).waitFor();
    await page.locator("form.question .diff-row.added", { hasText: "MOST_TRIES" }).waitFor();
    await page.evaluate(() => document.activeElement.blur());
    await shot("question");
  },
  { viewport, scale: isSmall ? 2 : 1 },
);
