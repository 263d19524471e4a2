// Many sessions: listed, found, changed, stopped, ended, resumed.

import { assert, begin, chooseMode, flow, menu, ready, rowsOf, say, searchFor, seen, toList } from "./browser.mjs";

await flow(async ({ page, shot }) => {
  await begin(page, "think of a walrus");
  await seen(page, "I have thought about it.");
  await ready(page);
  await begin(page, "run sleep 60");
  await page.locator('.status-place[data-is="running"]').waitFor();
  // Esc stops what runs.
  await page.getByRole("textbox", { name: "Message" }).press("Escape");
  await ready(page);
  assert.equal(await page.getByRole("button", { name: "Stop" }).count(), 0);

  await page.evaluate(() => document.activeElement.blur());
  await chooseMode(page, "plan");

  await searchFor(page, shot, "walrus", { said: "think of a walrus", unsaid: "run sleep 60" });

  const ended = new URL(page.url()).hash.split("/").slice(0, 3).join("/");
  await menu(page, "End the session…");
  await shot("end");
  await page.getByRole("dialog").getByRole("button", { name: "End it" }).click();
  await page.waitForURL(/#\/$/);
  await toList(page);
  await page.getByRole("searchbox").fill("");
  await rowsOf(page).filter({ hasText: "think of a walrus" }).waitFor({ state: "detached" });

  // It is among the older ones, with what was said, and goes on from there: the session that it was, and a copy of it.
  await page.reload();
  await page.locator(".results .session-row", { hasText: "walrus" }).first().click();
  await seen(page, "I have thought about it.");
  await shot("past");
  const past = page.url();
  await page.getByRole("button", { name: "Resume", exact: true }).click();
  await page.waitForURL((url) => url.hash === ended);
  await page.locator("#main .session").waitFor();
  await seen(page, "I have thought about it.");
  await say(page, "think again");
  await page.locator(".entries .mine", { hasText: "think again" }).waitFor();
  await ready(page);
  // Who cannot see the answer hears it.
  await page.locator('.answers[aria-live="polite"]', { hasText: "I have thought about it." }).waitFor({ state: "attached" });
  await page.goto(past);
  await page.getByRole("button", { name: "Resume in a copy" }).click();
  await page.waitForURL((url) => url.hash.startsWith("#/s/") && url.hash !== ended);
  await page.locator("#main .session").waitFor();
});
