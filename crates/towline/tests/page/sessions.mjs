// Many sessions: listed, found, changed, stopped, ended, resumed.

import { assert, begin, flow, isSmall, link, menu, ready, say, seen } from "./browser.mjs";

const toList = async (page) => {
  await page.goto(new URL("/#/", link).href);
  await page.getByRole("searchbox", { name: "Search sessions" }).waitFor();
};

await flow(async ({ page, shot }) => {
  await begin(page, "think of a walrus");
  await seen(page, "I have thought about it.");
  await ready(page);
  await begin(page, "run sleep 60");
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.locator('.status-place[data-is="running"]').waitFor();
  // Esc stops what runs.
  await page.getByRole("textbox", { name: "Message" }).press("Escape");
  await ready(page);
  assert.equal(await page.getByRole("button", { name: "Stop" }).count(), 0);

  await page.evaluate(() => document.activeElement.blur());
  if (isSmall) {
    await menu(page, "Permissions…");
    await page.getByRole("dialog").getByRole("combobox").selectOption("plan");
    await page.getByRole("dialog").getByRole("button", { name: "Change" }).click();
  } else await page.getByLabel("Permission mode").selectOption("plan");
  await seen(page, "Permission mode: plan");

  await toList(page);
  const rows = page.locator("#side nav > ul").first().locator(".session-row");
  await rows.filter({ hasText: "think of a walrus" }).waitFor();
  await rows.filter({ hasText: "run sleep 60" }).waitFor();
  await page.getByRole("searchbox").fill("walrus");
  await rows.filter({ hasText: "run sleep 60" }).waitFor({ state: "detached" });
  await page.getByText("Said in sessions here").waitFor();
  await shot("search");
  await page.locator("mark", { hasText: "walrus" }).first().click();
  await page.locator(".found").waitFor();

  await menu(page, "End the session…");
  await shot("end");
  await page.getByRole("dialog").getByRole("button", { name: "End it" }).click();
  await page.waitForURL(/#\/$/);
  await toList(page);
  await page.getByRole("searchbox").fill("");
  await rows.filter({ hasText: "think of a walrus" }).waitFor({ state: "detached" });

  // It is among the older ones, with what was said, and goes on from there.
  await page.reload();
  await page.locator(".results .session-row", { hasText: "walrus" }).first().click();
  await seen(page, "I have thought about it.");
  await shot("past");
  await page.getByRole("button", { name: "Resume", exact: true }).click();
  await page.getByText("Resumed here").waitFor();
  await seen(page, "I have thought about it.");
  await say(page, "think again");
  await page.locator(".entries .mine", { hasText: "think again" }).waitFor();
  await ready(page);
});
