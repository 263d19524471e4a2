// What every flow needs: a browser with a page on the bridge, and what is said when something is not seen.
//
// From the environment: CHROMIUM and DRIVER (see .ci/browser), LINK as the bridge printed it, WIDTH and HEIGHT, SHOTS for
// the pictures, FLOW for their names, PROJECT where sessions work, and API where the scripted one is, for the real CLI.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

const { chromium } = createRequire(import.meta.url)(process.env.DRIVER);
export const size = { width: Number(process.env.WIDTH), height: Number(process.env.HEIGHT) };
export const isSmall = size.width < 800;
export const project = process.env.PROJECT;
export const link = process.env.LINK;
export const token = link.split("#token=")[1];

/** Runs a flow. It fails on any error of the page, one that is only on the console included. */
export async function flow(steps, { at = link, scheme = isSmall ? "dark" : "light", allowed = /^$/, viewport = size, scale = 1 } = {}) {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
  const context = await browser.newContext({ viewport, deviceScaleFactor: scale, colorScheme: scheme, ignoreHTTPSErrors: true });
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  const problems = [];
  context.on("weberror", (error) => problems.push(`error: ${error.error().stack}`));
  context.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !allowed.test(message.text())) problems.push(message.text());
  });
  const shot = (name) => page.screenshot({ path: path.join(process.env.SHOTS, `${process.env.FLOW}-${name}-${size.width}.png`) });
  try {
    if (at) await page.goto(at);
    await steps({ page, context, shot });
    assert.deepEqual(problems, [], "the page complains");
    await fits(page, viewport);
  } catch (error) {
    await shot("failed").catch(() => {});
    console.error(`${error.stack}\n${problems.join("\n")}\n--- seen:\n${await page.innerText("body").catch(() => "")}`);
    process.exitCode = 1;
  } finally {
    await browser.close();
  }
}

/** Nothing is wider than the screen. */
async function fits(page, screen) {
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= screen.width, `the page is ${width} wide on a screen of ${screen.width}`);
}

/** Begins a session with these words. */
export async function begin(page, words, at = link) {
  await page.goto(new URL("/#/new", at).href);
  await page.getByRole("heading", { name: "New session" }).waitFor();
  await say(page, words);
  await page.locator("#main .session").waitFor();
}

/** Says something where one writes. */
export async function say(page, words) {
  const field = page.getByRole("textbox", { name: "Message" });
  ended = await page.locator(ENDS).count();
  await field.fill(words);
  await field.press("Enter");
}

/** How many turns had ended when something was last said. */
let ended = 0;
const ENDS = ".entries > .turn-end, .entries > .note.bad";

/** Waits until the turn of what was last said is over and the session is ready for more. */
export async function ready(page) {
  await until("the turn ends", () => page.locator(ENDS).count(), (count) => count > ended);
  await page.locator('.status-place[data-is="idle"]').waitFor({ state: "attached" });
}

/** Waits for words in the conversation. */
export async function seen(page, words) {
  await page.locator(".timeline").getByText(words).last().waitFor();
}

export async function menu(page, item) {
  await page.getByLabel("More", { exact: true }).click();
  await page.locator(".menu-body").getByRole("button", { name: item }).click();
}

/** Chooses a permission mode where there is room for it on the screen. */
export async function chooseMode(page, mode) {
  if (isSmall) {
    await menu(page, "Permissions…");
    await page.getByRole("dialog").getByRole("combobox").selectOption(mode);
    await page.getByRole("dialog").getByRole("button", { name: "Change" }).click();
  } else await page.getByLabel("Permission mode").selectOption(mode);
  await seen(page, `Permission mode: ${mode}`);
}

/** Presses a button of the question that is open. */
export const click = (page, name) => page.locator("form.question").getByRole("button", { name, exact: true }).click();

/** Waits until the last answer reads like this. */
export const outcome = (page, words) => page.locator(".answer", { hasText: words }).last().waitFor();

/** Looks at the changes of the project, among which is a line with these words. */
export async function seeChanges(page, shot, words) {
  if (isSmall) await menu(page, "Changes");
  else await page.getByRole("button", { name: "Changes in the project" }).click();
  const changes = page.getByRole("region", { name: "Changes" });
  await changes.locator(".diff-row.added", { hasText: words }).waitFor();
  await shot("changes");
  await page.keyboard.press("Escape");
  await changes.waitFor({ state: "detached" });
}

/** Has a plan made and rejects it with a reason, has another one made and approves it in a mode that does not ask about edits. */
export async function planTwice(page, shot, [first, second]) {
  await say(page, first);
  await page.getByRole("heading", { name: "Is this plan good?" }).waitFor();
  assert.equal(await page.locator(".plan-text strong").innerText(), "First", "a plan is Markdown");
  await shot("plan");
  await click(page, "Reject…");
  await page.getByPlaceholder("What should be different").fill("write first");
  await click(page, "Reject");
  await outcome(page, "Denied: write first");
  await ready(page);
  await say(page, second);
  await page.getByLabel("Go on in this mode").selectOption("acceptEdits");
  await click(page, "Approve the plan");
}

/** Waits until something holds, looked at again and again; says what was there instead. */
export async function until(what, look, holds) {
  const end = Date.now() + 30_000;
  for (;;) {
    const found = await look();
    if (holds(found)) return found;
    if (Date.now() > end) assert.fail(`${what}: ${JSON.stringify(found)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Lets a reply of the scripted API go on that waits at this gate. */
export async function release(gate) {
  const released = await fetch(`${process.env.API}/_script/release/${gate}`, { method: "POST" });
  assert.ok(released.ok, `${gate}: ${released.status}`);
}

/** What the scripted API was asked, the latest last. */
export const asked = () => fetch(`${process.env.API}/_script/requests`).then((answer) => answer.json());

/** Waits until the message that is being written ends like this, while it is written. */
export const grows = (page, words) => page.locator(".growing", { hasText: words }).first().waitFor();

/** Lets somebody in who has typed this. */
export async function logIn(page, words) {
  await page.getByLabel("Link or token").fill(words);
  await page.getByRole("button", { name: "Let me in" }).click();
}

/** Somebody without the link is told where it is; a wrong token does not let in, the right one does, and is not kept. */
export async function logInFromNowhere(page, shot) {
  const home = new URL("/", link).href;
  await page.goto(home);
  await page.getByText("towline serve").waitFor();
  await shot("box");
  await logIn(page, "not-the-token-not-the-token-not");
  await page.getByRole("alert").filter({ hasText: "wrong" }).waitFor();
  await logIn(page, `${home}#token=${token}`);
  await page.getByRole("link", { name: "New" }).waitFor();
  const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]));
  assert.ok(!stored.includes(token), "the token is kept where a script can read it");
}

/** Pastes a picture of so many pixels and sends it with these words. */
export async function sendPicture(page, words, pixels) {
  await page.getByRole("textbox", { name: "Message" }).evaluate(async (field, pixels) => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = pixels;
    const context = canvas.getContext("2d");
    context.fillStyle = "teal";
    context.fillRect(0, 0, pixels, pixels);
    const blob = await new Promise((resolve) => canvas.toBlob(resolve));
    const data = new DataTransfer();
    data.items.add(new File([blob], "square.png", { type: "image/png" }));
    field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }, pixels);
  await page.locator(".thumbnail img").waitFor();
  await say(page, words);
  const picture = page.locator(".entries .mine img.picture");
  await picture.waitFor();
  assert.equal(await picture.evaluate((image) => image.naturalWidth), pixels);
}

/** The agent of the session is gone: that is said, and seen. */
export async function seeDeath(page, shot) {
  await page.getByText("The agent ended unexpectedly").waitFor();
  await page.locator('.status-place[data-is="dead"]').waitFor();
  await shot("dead");
}

export async function toList(page) {
  await page.goto(new URL("/#/", link).href);
  await page.getByRole("searchbox", { name: "Search sessions" }).waitFor();
}

/** The rows of the list of sessions. */
export const rowsOf = (page) => page.locator("#side nav > ul").first().locator(".session-row");

/** Looks for a word among the sessions: it was said in one and not in another. Goes to where it was said. */
export async function searchFor(page, shot, word, { said, unsaid }) {
  await toList(page);
  const rows = rowsOf(page);
  await rows.filter({ hasText: said }).waitFor();
  await rows.filter({ hasText: unsaid }).waitFor();
  await page.getByRole("searchbox").fill(word);
  await rows.filter({ hasText: unsaid }).waitFor({ state: "detached" });
  // What was just said is found a moment later: the index is filled in the background.
  await until("what was said is found", async () => {
    await page.getByRole("searchbox").fill("");
    await page.getByRole("searchbox").fill(word);
    return page.getByText("Said in sessions here").waitFor({ timeout: 2_000 }).then(() => true, () => false);
  }, Boolean);
  await shot("search");
  await page.locator("mark", { hasText: word }).first().click();
  await page.locator(".found").waitFor();
}

/** The connection is lost, which is said, and comes back when somebody wants it to. */
export async function seeLost(page, shot, { cut, mend }, meanwhile = async () => {}) {
  let tries = 0;
  const count = () => (tries += 1);
  page.on("websocket", count);
  await cut();
  await page.getByText("No connection to the bridge").waitFor();
  await page.getByText("Not connected").waitFor();
  await shot("lost");
  await meanwhile();
  // By then the pauses are so long that it does not come back by itself before the button is pressed.
  await until("it is tried a few times", () => tries, (tries) => tries >= 4);
  page.off("websocket", count);
  await mend();
  await page.getByRole("button", { name: "Try now" }).click();
  await page.getByText("No connection to the bridge").waitFor({ state: "detached" });
}

export const inProject = (name) => path.join(project, name);
export { assert, fs };
