// Somebody without the link, or with a wrong one, is told where it is; the right token lets them in.

import { assert, begin, flow, link, ready, say } from "./browser.mjs";

const home = new URL("/", link).href;
const token = link.split("#token=")[1];
await flow(
  async ({ page, context, shot }) => {
    await page.goto(home);
    await page.getByText("towline serve").waitFor();
    await shot("box");
    await page.getByLabel("Link or token").fill("not-the-token-not-the-token-not");
    await page.getByRole("button", { name: "Let me in" }).click();
    await page.getByRole("alert").filter({ hasText: "wrong" }).waitFor();
    await page.getByLabel("Link or token").fill(`${home}#token=${token}`);
    await page.getByRole("button", { name: "Let me in" }).click();
    await page.getByRole("link", { name: "New" }).waitFor();
    const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]));
    assert.ok(!stored.includes(token), "the token is kept where a script can read it");

    // Who loses the cookie is asked for the token again, and what was said meanwhile is not lost.
    await begin(page, "think first");
    await ready(page);
    await context.clearCookies();
    await say(page, "think of what was said without a cookie");
    await page.getByText("You are not let in any more").waitFor();
    await page.getByLabel("Link or token").fill(token);
    await page.getByRole("button", { name: "Let me in" }).click();
    await page.locator(".entries .mine", { hasText: "without a cookie" }).waitFor();
    await ready(page);
    assert.equal(await page.locator(".mine").count(), 2, "each message once");
  },
  { at: null, allowed: /status of 401/ },
);
