// The real CLI dies in the middle of a message, and the next one resumes it. Then the connection is cut in the middle of a
// message, and the message goes on. What the model says is in tests/data/page-trouble.toml.

import { asked, assert, begin, flow, fs, grows, project, ready, release, say, seeDeath, seeLost, seen } from "./browser.mjs";
import * as relay from "./relay.mjs";

await flow(
  async ({ page, shot }) => {
    await page.getByRole("link", { name: "New" }).waitFor();
    await begin(page, "remember 4711", relay.there);
    await seen(page, "I remember the number 4711.");
    await ready(page);

    await say(page, "speak for long");
    await grows(page, "never said");
    killAgent();
    await seeDeath(page, shot);
    assert.equal(await page.locator(".growing").count(), 0, "what was being written is over");
    await say(page, "are you there");
    await seen(page, "I am back.");
    await ready(page);
    const last = JSON.stringify((await asked()).findLast((request) => JSON.stringify(request).includes("are you there")));
    assert.match(last, /I remember the number 4711/, "it does not know what was said before");

    await say(page, "write slowly");
    await grows(page, "the first half");
    await seeLost(page, shot, relay);
    await grows(page, "the first half");
    // Also for somebody who comes new to it.
    await page.reload();
    await grows(page, "the first half");
    assert.equal(await page.getByText("second half").count(), 0, "it is held");
    await release("half");
    const whole = "Here is the first half and here is the second half.";
    await page.locator(".entries .said:not(.growing)", { hasText: whole }).waitFor();
    await ready(page);
    assert.equal(await page.locator(".timeline").getByText(whole).count(), 1, "each message once");
    await shot("whole");
  },
  { at: relay.there, allowed: relay.complaints },
);
await relay.cut();

/** Kills the agent that works in the project, as the system would. */
function killAgent() {
  const isAgent = (pid) => {
    try {
      const command = fs.readFileSync(`/proc/${pid}/cmdline`, "utf8");
      return fs.readlinkSync(`/proc/${pid}/cwd`) === fs.realpathSync(project) && command.includes("stream-json");
    } catch {
      return false;
    }
  };
  const found = fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name)).filter(isAgent);
  assert.ok(found.length, "there is no agent");
  for (const pid of found) process.kill(Number(pid), "SIGKILL");
}
