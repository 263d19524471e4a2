// What happens, as it happens: one connection, which comes back by itself, with pauses that grow, and goes on from the last
// frame.
//
// It is a WebSocket: over HTTP/1.1 a browser has six connections to one bridge for all tabs together, and an event stream
// would take one of them for as long as it lasts. A connection that has died in silence (a phone that slept) is noticed by
// the beat of the bridge that does not come.

import { withQuery } from "./api.js";

/** The pause before a try, in milliseconds: it doubles up to a bound, and differs so that not all come at once. */
export function pause(failures, random = Math.random()) {
  const longest = Math.min(MOST_PAUSE, FIRST_PAUSE * 2 ** Math.min(failures, 20));
  return Math.round(longest * (0.5 + random / 2));
}

/**
 * Follows what happens. `place()` says where to go on: `{session, after}`. `on` is told:
 * `event(name, data)`, `state("connecting" | "open" | "waiting" | "refused", milliseconds to the next try)`.
 * `check()` asks the bridge something small; it throws an error with its status.
 */
export class Stream {
  constructor({ place, on, check, WebSocket = globalThis.WebSocket, base = globalThis.location?.href, timers = globalThis }) {
    Object.assign(this, { place, on, check, WebSocket, base, timers });
    this.failures = 0;
    this.socket = null;
    this.generation = 0;
  }

  /** Connects, anew if it is connected already. */
  connect() {
    this.stop();
    const generation = this.generation;
    const { session, after } = this.place();
    this.on.state("connecting");
    const address = new URL(withQuery("/ws/events", { session, after: session ? after : undefined }), this.base);
    address.protocol = address.protocol.replace("http", "ws");
    const socket = new this.WebSocket(address.href);
    this.socket = socket;
    this.listen();
    const isCurrent = () => generation === this.generation;
    socket.onopen = () => {
      if (!isCurrent()) {
        socket.close();
        return;
      }
      this.failures = 0;
      this.listen();
      this.on.state("open");
    };
    socket.onclose = () => {
      if (isCurrent()) this.fail();
    };
    socket.onmessage = ({ data: lines }) => {
      if (isCurrent()) this.listen();
      for (const line of lines.split("\n")) {
        // What is told may lead to another connection.
        if (!isCurrent()) return;
        let told;
        try {
          told = JSON.parse(line);
        } catch {
          return this.fail();
        }
        if (told.event !== "beat") this.on.event(told.event, told.data);
      }
    };
  }

  /** What is followed has changed. Without a connection the next try goes there. */
  move() {
    if (this.socket) this.connect();
  }

  /** Lets go of the connection and of every timer. */
  stop() {
    this.generation += 1;
    // A browser complains of one that is closed before it was open; that one is closed then.
    if (this.socket?.readyState !== CONNECTING) this.socket?.close();
    this.socket = null;
    this.timers.clearTimeout(this.retry);
    this.timers.clearTimeout(this.silence);
  }

  /** Something may have changed (the page is seen again, the network is back): tries now if it is not connected. */
  wake() {
    const isQuiet = Date.now() - (this.heard ?? 0) > BEAT;
    if (!this.socket || isQuiet) this.connect();
  }

  listen() {
    this.heard = Date.now();
    this.timers.clearTimeout(this.silence);
    this.silence = this.timers.setTimeout(() => this.fail(), SILENCE);
  }

  async fail() {
    this.stop();
    const generation = this.generation;
    const wait = pause(this.failures);
    this.failures += 1;
    this.on.state("waiting", wait);
    this.retry = this.timers.setTimeout(() => this.connect(), wait);
    try {
      await this.check();
    } catch (error) {
      if (error.status === 401 && generation === this.generation) {
        this.stop();
        this.on.state("refused");
      }
    }
  }
}

/** As a browser numbers the states of a WebSocket. */
const CONNECTING = 0;
const FIRST_PAUSE = 500;
const MOST_PAUSE = 15_000;
/** The bridge says something at least this often, in milliseconds. */
const BEAT = 16_000;
/** Without anything for so long the connection is dead. */
const SILENCE = 40_000;
