// Somebody without the link, or with a wrong one, is told where it is; the right token lets them in.

import { assert, begin, flow, logIn, logInFromNowhere, ready, say, token } from "./browser.mjs";

await flow(
  async ({ page, context, shot }) => {
    await logInFromNowhere(page, shot);

    // Who loses the cookie is asked for the token again, and what was said meanwhile is not lost.
    await begin(page, "think first");
    await ready(page);
    await context.clearCookies();
    await say(page, "think of what was said without a cookie");
    await page.getByText("You are not let in any more").waitFor();
    await logIn(page, token);
    await page.locator(".entries .mine", { hasText: "without a cookie" }).waitFor();
    await ready(page);
    assert.equal(await page.locator(".mine").count(), 2, "each message once");
  },
  { at: null, allowed: /status of 401/ },
);
