// With the real CLI: somebody without the link types the token, has a list made, sends a picture, and finds what was said in
// one of two sessions. What the model says is in tests/data/page-tools.toml.

import { asked, assert, begin, flow, logInFromNowhere, ready, searchFor, seen, sendPicture } from "./browser.mjs";

await flow(
  async ({ page, shot }) => {
    await logInFromNowhere(page, shot);

    await begin(page, "make a list");
    await seen(page, "The list is made.");
    await ready(page);
    // The list is there as it was left, and not each of its states.
    const todos = page.locator(".card[open] .todo");
    assert.deepEqual(await todos.allTextContents(), ["▸in progress: Buying bread", "pending: Bake a cake"]);
    await shot("list");

    await sendPicture(page, "what is this", 40);
    await seen(page, "It is a teal square.");
    await ready(page);
    const pictures = (await asked()).filter((request) => JSON.stringify(request).includes("image/png"));
    assert.ok(pictures.length, "the picture did not reach the model");

    await begin(page, "tell me of an animal");
    await seen(page, "A walrus has tusks.");
    await ready(page);
    await searchFor(page, shot, "tusks", { said: "tell me of an animal", unsaid: "make a list" });
  },
  { at: null, allowed: /status of 401/ },
);
