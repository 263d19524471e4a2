import assert from "node:assert/strict";
import { test } from "node:test";
import { Stream, pause } from "../../page/data/stream.js";

/** A stream over a made-up connection and made-up timers; `fired` runs those that are due next. */
function scene({ check = async () => {} } = {}) {
  const made = { sources: [], states: [], events: [], timers: new Map(), place: { session: "s", after: 7 } };
  class Source extends EventTarget {
    constructor(url) {
      super();
      this.url = url;
      made.sources.push(this);
    }
    close() {
      this.isClosed = true;
    }
    say(name, data) {
      this.dispatchEvent(Object.assign(new Event(name), { data }));
    }
  }
  let next = 1;
  const timers = {
    setTimeout: (run, wait) => (made.timers.set(next, { run, wait }), next++),
    clearTimeout: (id) => made.timers.delete(id),
  };
  made.fire = (isIt) => {
    const [id, timer] = [...made.timers].find(([, timer]) => isIt(timer.wait));
    made.timers.delete(id);
    timer.run();
  };
  made.stream = new Stream({
    place: () => made.place,
    check,
    on: { event: (name, data) => made.events.push([name, data]), state: (...state) => made.states.push(state[0]) },
    EventSource: Source,
    timers,
  });
  made.last = () => made.sources.at(-1);
  return made;
}

test("it asks for what comes after the last frame, and tells of what it hears", () => {
  const made = scene();
  made.stream.connect();
  assert.equal(made.last().url, "/api/events?session=s&after=7");
  made.last().onopen();
  made.last().say("frame", '{"seq":8}');
  made.last().say("beat", "{}");
  assert.deepEqual(made.events, [["frame", { seq: 8 }]], "a beat is no news");
  assert.deepEqual(made.states, ["connecting", "open"]);
});

test("without a session it follows the list alone", () => {
  const made = scene();
  made.place = { session: undefined, after: undefined };
  made.stream.connect();
  assert.equal(made.last().url, "/api/events");
});

test("a connection that is lost comes back, from the frame that is last then", () => {
  const made = scene();
  made.stream.connect();
  made.last().onopen();
  made.place.after = 9;
  made.last().onerror();
  assert.equal(made.sources[0].isClosed, true);
  assert.deepEqual(made.states, ["connecting", "open", "waiting"]);
  made.fire((wait) => wait < 1000);
  assert.equal(made.last().url, "/api/events?session=s&after=9");
  assert.equal(made.sources.length, 2);
});

test("silence is a lost connection", () => {
  const made = scene();
  made.stream.connect();
  made.last().onopen();
  made.fire((wait) => wait === 40_000);
  assert.equal(made.states.at(-1), "waiting");
});

test("what an old connection still says does not count", () => {
  const made = scene();
  made.stream.connect();
  const [old] = made.sources;
  made.stream.connect();
  old.say("frame", '{"seq":8}');
  old.onerror();
  assert.deepEqual(made.events, []);
  assert.equal(made.sources.length, 2);
});

test("who is not let in any more is told so, and nothing is tried again", async () => {
  const made = scene({ check: async () => { throw Object.assign(new Error(), { status: 401 }); } });
  made.stream.connect();
  made.last().onerror();
  await new Promise(setImmediate);
  assert.equal(made.states.at(-1), "refused");
  assert.equal(made.timers.size, 0);
});

test("pauses grow up to a bound", () => {
  assert.deepEqual([0, 1, 2, 3, 30].map((failures) => pause(failures, 1)), [500, 1000, 2000, 4000, 15_000]);
  assert.equal(pause(0, 0), 250, "and differ");
});
