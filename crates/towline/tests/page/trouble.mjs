// An agent that dies, and many messages: it is said, the next message starts it again, and old pages come when asked for.

import { assert, begin, flow, ready, say, seeDeath, seen, until } from "./browser.mjs";

await flow(async ({ page, shot }) => {
  await begin(page, "run kill -9 $PPID");
  await page.getByRole("button", { name: "Allow once" }).click();
  await seeDeath(page, shot);
  await say(page, "think you are back");
  await seen(page, "I have thought about it.");
  await ready(page);

  // More than a page of history, made by the API.
  const count = 220;
  await page.evaluate(async (count) => {
    const id = location.hash.split("/")[2];
    for (let index = 0; index < count; index += 1) {
      const body = JSON.stringify({ content: `think number ${index}.`, client_message_id: `many-${index}` });
      await fetch(`/api/sessions/${id}/messages`, { method: "POST", headers: { "content-type": "application/json" }, body });
    }
  }, count);
  await page.locator(".mine", { hasText: `think number ${count - 1}.` }).waitFor();
  await ready(page);
  await page.reload();
  await page.locator(".mine", { hasText: `think number ${count - 1}.` }).waitFor();
  assert.equal(await page.locator(".mine", { hasText: "kill -9" }).count(), 0, "not everything is loaded at once");
  const scroll = () => page.locator(".timeline").evaluate((node) => (node.scrollTop = 0));
  await until("the first message", async () => {
    await scroll();
    return page.locator(".entries .mine", { hasText: "kill -9" }).count();
  }, (found) => found === 1);
  const said = await page.locator(".entries .mine .bubble").allInnerTexts();
  assert.deepEqual(said.slice(-count), Array.from({ length: count }, (_, index) => `think number ${index}.`), "in order, each once");
});
