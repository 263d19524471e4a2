// Between the page and the bridge: a relay that can be cut and mended.

import http from "node:http";
import { link } from "./browser.mjs";

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

/** Nothing goes through any more. */
export const cut = () => new Promise((resolve) => {
  relay.close(resolve);
  for (const socket of open) socket.destroy();
});
/** It does again, at the same place. */
export const mend = () => listen(port);
/** The link to the bridge, through the relay. */
export const there = link.replace(bridge.host, `127.0.0.1:${port}`);
/** What a browser says of a connection that is cut. */
export const complaints = /ERR_CONNECTION|ERR_EMPTY|ERR_INCOMPLETE|Failed to load resource/;
