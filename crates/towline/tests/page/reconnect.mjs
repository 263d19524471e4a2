// A connection that breaks while the agent writes: nothing is lost, nothing is there twice, what was written meanwhile runs
// once. Between the page and the bridge stands a relay that can be cut.

import http from "node:http";
import { assert, begin, flow, link, ready, say, seen, until } from "./browser.mjs";

const bridge = new URL(link);
const open = new Set();
const relay = http.createServer((request, response) => {
  const headers = { ...request.headers, host: bridge.host };
  if (headers.origin) headers.origin = bridge.origin;
  const on = http.request({ host: bridge.hostname, port: bridge.port, method: request.method, path: request.url, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  on.on("error", () => response.destroy());
  response.on("close", () => on.destroy());
  request.pipe(on);
});
relay.on("connection", (socket) => {
  open.add(socket);
  socket.on("close", () => open.delete(socket));
});
const listen = (port) => new Promise((resolve) => relay.listen(port, "127.0.0.1", () => resolve(relay.address().port)));
const port = await listen(0);
const cut = () => new Promise((resolve) => {
  relay.close(resolve);
  for (const socket of open) socket.destroy();
});
const there = link.replace(bridge.host, `127.0.0.1:${port}`);

await flow(
  async ({ page, shot }) => {
    await page.getByRole("link", { name: "New" }).waitFor();
    await page.goto(new URL("/#/new", there).href);
    const words = Array.from({ length: 400 }, (_, index) => `word${index}`).join(" ");
    await say(page, `think ${words}`);
    await page.locator(".growing").first().waitFor();
    await cut();
    await page.getByText("No connection to the bridge").waitFor();
    await shot("lost");
    await say(page, "think of what was said meanwhile");
    await page.getByText("Waits for the connection").waitFor();
    await listen(port);
    await page.getByRole("button", { name: "Try now" }).click();
    await page.getByText("No connection to the bridge").waitFor({ state: "detached" });
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
    await listen(port);
    await page.reload();
    await seen(page, "think after the second cut");
    await until("the third turn ends", () => page.locator(".turn-end").count(), (count) => count === 3);
    assert.equal(await page.locator(".mine").count(), 3, "each message once");
  },
  { at: there, allowed: /ERR_CONNECTION|ERR_EMPTY|ERR_INCOMPLETE|Failed to load resource/ },
);
await cut();
