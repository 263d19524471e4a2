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
relay.on("upgrade", (request, socket, head) => {
  const headers = { ...request.headers, host: bridge.host, origin: bridge.origin };
  const on = http.request({ host: bridge.hostname, port: bridge.port, path: request.url, headers });
  const line = ({ statusCode, statusMessage, rawHeaders }) => {
    const pairs = rawHeaders.flatMap((name, index) => (index % 2 ? [] : [`${name}: ${rawHeaders[index + 1]}`]));
    return [`HTTP/1.1 ${statusCode} ${statusMessage}`, ...pairs, "", ""].join("\r\n");
  };
  on.on("upgrade", (answer, other, rest) => {
    socket.write(line(answer));
    socket.write(rest);
    other.write(head);
    socket.pipe(other).pipe(socket);
    for (const [one, two] of [[socket, other], [other, socket]]) {
      one.on("error", () => two.destroy());
      one.on("close", () => two.destroy());
    }
  });
  on.on("response", (answer) => {
    socket.write(line(answer));
    answer.pipe(socket);
  });
  on.on("error", () => socket.destroy());
  socket.on("error", () => on.destroy());
  on.end();
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
export const complaints = /ERR_CONNECTION|ERR_EMPTY|ERR_INCOMPLETE|Failed to load resource|WebSocket connection to/;
