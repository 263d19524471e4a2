// A disk that is really full for a while: everybody is told, what is said meanwhile is kept, and goes through later.

import { assert, begin, flow, link, ready, say, seen } from "./browser.mjs";

await flow(
  async ({ page, shot }) => {
    await begin(page, "run dd if=/dev/zero of=disk/fill bs=1k count=100000; sleep 8; rm disk/fill");
    await page.getByRole("button", { name: "Allow once" }).click();
    await page.locator('.status-place[data-is="running"]').waitFor();
    const health = () => fetch(new URL("/healthz", link)).then((answer) => answer.status);
    assert.equal(await health(), 200);
    // Something that needs room in the log.
    await say(page, `remember ${"many words ".repeat(30_000)}`);
    await page.getByText("The bridge cannot write its log").waitFor();
    await shot("told");
    assert.equal(await health(), 503);
    await page.getByText("The bridge cannot write its log").waitFor({ state: "detached" });
    await seen(page, "I understand:");
    await ready(page);
    assert.equal(await health(), 200);
    assert.equal(await page.locator(".mine").count(), 2, "each message once");
  },
  { allowed: /status of 503|Failed to load resource/ },
);
