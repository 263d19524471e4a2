// The event stream: one connection, which comes back by itself, with pauses that grow, and goes on from the last frame.
//
// A browser's own reconnect gives up on some errors, says nothing about a refusal, and never notices a connection that
// has died in silence (a phone that slept). So this one listens for the beat of the bridge and connects anew without it.

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
  constructor({ place, on, check, EventSource = globalThis.EventSource, timers = globalThis }) {
    Object.assign(this, { place, on, check, EventSource, timers });
    this.failures = 0;
    this.source = null;
    this.generation = 0;
  }

  /** Connects, anew if it is connected already. */
  connect() {
    this.stop();
    const generation = this.generation;
    const { session, after } = this.place();
    this.on.state("connecting");
    const source = new this.EventSource(withQuery("/api/events", { session, after: session ? after : undefined }));
    this.source = source;
    this.listen();
    source.onopen = () => {
      if (generation !== this.generation) return;
      this.failures = 0;
      this.listen();
      this.on.state("open");
    };
    source.onerror = () => {
      if (generation === this.generation) this.fail();
    };
    for (const name of EVENTS) {
      source.addEventListener(name, (event) => {
        if (generation !== this.generation) return;
        this.listen();
        let data;
        try {
          data = JSON.parse(event.data);
        } catch {
          return this.fail();
        }
        if (name !== "beat") this.on.event(name, data);
      });
    }
  }

  /** Lets go of the connection and of every timer. */
  stop() {
    this.generation += 1;
    this.source?.close();
    this.source = null;
    this.timers.clearTimeout(this.retry);
    this.timers.clearTimeout(this.silence);
  }

  /** Something may have changed (the page is seen again, the network is back): tries now if it is not connected. */
  wake() {
    const isQuiet = Date.now() - (this.heard ?? 0) > BEAT;
    if (!this.source || isQuiet) this.connect();
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

/** What the bridge tells of. */
const EVENTS = ["frame", "live", "delta", "gap", "status", "passing", "session", "trouble", "beat"];
const FIRST_PAUSE = 500;
const MOST_PAUSE = 15_000;
/** The bridge says something at least this often, in milliseconds. */
const BEAT = 16_000;
/** Without anything for so long the connection is dead. */
const SILENCE = 40_000;
