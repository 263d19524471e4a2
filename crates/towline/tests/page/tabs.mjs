// Eight tabs on one session, and each of them is told of all that happens and can say something. Over HTTP/1.1 a browser has
// six connections to one place, for all tabs together. What the model says is in tests/data/page-tabs.toml.

import { assert, begin, flow, grows, ready, release, say, seen, until } from "./browser.mjs";

const COUNT = 8;

await flow(async ({ page, context, shot }) => {
  await page.getByRole("link", { name: "New" }).waitFor();
  await begin(page, "begin");
  await seen(page, "Ready.");
  await ready(page);
  const tabs = [page];
  while (tabs.length < COUNT) {
    const tab = await context.newPage();
    await tab.goto(page.url());
    await seen(tab, "Ready.");
    tabs.push(tab);
  }
  const all = (look) => Promise.all(tabs.map(look));

  // All of them see a message while it is written.
  await say(page, "write slowly");
  await all((tab) => grows(tab, "the first half"));
  await shot("half");
  assert.equal(await page.getByText("second half").count(), 0, "it is held");
  await release("half");
  await all((tab) => seen(tab, "and here is the second half."));
  await ready(page);

  // Each of them says something, and all see it answered.
  for (const [index, tab] of tabs.entries()) {
    await say(tab, `from tab ${index}`);
    await all((other) => other.locator(".entries .mine", { hasText: `from tab ${index}` }).waitFor());
    await all((other) => until("it is answered", () => other.locator(".entries").getByText("Heard.").count(), (count) => count === index + 1));
  }
  await all(async (tab) => assert.equal(await tab.locator(".entries .mine").count(), COUNT + 2, "each message once"));
});
