// A connection that breaks while the agent writes: nothing is lost, nothing is there twice, what was written meanwhile runs
// once. Between the page and the bridge stands a relay that can be cut.

import { assert, flow, ready, say, seeLost, seen, until } from "./browser.mjs";
import * as relay from "./relay.mjs";

const { complaints, cut, mend, there } = relay;

await flow(
  async ({ page, shot }) => {
    await page.getByRole("link", { name: "New" }).waitFor();
    await page.goto(new URL("/#/new", there).href);
    const words = Array.from({ length: 400 }, (_, index) => `word${index}`).join(" ");
    await say(page, `think ${words}`);
    await page.locator(".growing").first().waitFor();
    await seeLost(page, shot, relay, async () => {
      await say(page, "think of what was said meanwhile");
      await page.getByText("Waits for the connection").waitFor();
    });
    await page.locator(".entries .mine", { hasText: "meanwhile" }).waitFor();
    await until("both turns end", () => page.locator(".turn-end").count(), (count) => count === 2);
    await ready(page);
    assert.equal(await page.locator(".mine").count(), 2, "each message once");
    assert.equal(await page.locator("details.thinking").count(), 2, "each thought once");
    const thought = await page.locator("details.thinking .thoughts").first().textContent();
    assert.equal(thought.trim(), words);

    // Cut again while it is quiet, with a message on its way and a reload in between.
    await cut();
    await say(page, "think after the second cut");
    await page.getByText("Waits for the connection").waitFor();
    await mend();
    await page.reload();
    await seen(page, "think after the second cut");
    await until("the third turn ends", () => page.locator(".turn-end").count(), (count) => count === 3);
    assert.equal(await page.locator(".mine").count(), 3, "each message once");
  },
  { at: there, allowed: complaints },
);
await cut();
