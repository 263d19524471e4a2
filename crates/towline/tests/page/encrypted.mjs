// The page where the bridge encrypts: what happens comes over wss, and the cookie only goes where it is encrypted.

import { assert, begin, flow, link, ready, seen } from "./browser.mjs";

await flow(async ({ page, context, shot }) => {
  assert.match(link, /^https:/);
  const sockets = [];
  page.on("websocket", (socket) => sockets.push(new URL(socket.url()).protocol));
  await page.getByRole("link", { name: "New" }).waitFor();
  await begin(page, "run touch made-by-page.txt");
  await page.getByRole("button", { name: "Allow once" }).click();
  await ready(page);
  await page.reload();
  await seen(page, "run touch made-by-page.txt");
  assert.ok(sockets.length && sockets.every((protocol) => protocol === "wss:"), `${sockets}`);
  const cookies = await context.cookies();
  assert.ok(cookies.length && cookies.every(({ secure, httpOnly }) => secure && httpOnly), "the cookie goes anywhere");
  await shot("done");
});
