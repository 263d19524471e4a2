import assert from "node:assert/strict";
import { test } from "node:test";
import { Stream, pause } from "../../page/data/stream.js";

/** A stream over a made-up connection and made-up timers; `fired` runs those that are due next. */
function scene({ check = async () => {} } = {}) {
  const made = { sockets: [], states: [], events: [], timers: new Map(), place: { session: "s", after: 7 } };
  class Socket {
    constructor(url) {
      this.url = url;
      made.sockets.push(this);
    }
    close() {
      this.isClosed = true;
    }
    say(...events) {
      this.onmessage({ data: events.map(([event, data]) => JSON.stringify({ event, data })).join("\n") });
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
    WebSocket: Socket,
    base: "https://bridge.example/#/s/s",
    timers,
  });
  made.last = () => made.sockets.at(-1);
  return made;
}

test("it asks for what comes after the last frame, and tells of what it hears", () => {
  const made = scene();
  made.stream.connect();
  assert.equal(made.last().url, "wss://bridge.example/ws/events?session=s&after=7");
  made.last().onopen();
  made.last().say(["frame", { seq: 8 }], ["status", { status: "idle" }]);
  made.last().say(["beat", {}]);
  assert.deepEqual(made.events, [["frame", { seq: 8 }], ["status", { status: "idle" }]], "a beat is no news");
  assert.deepEqual(made.states, ["connecting", "open"]);
});

test("without a session it follows the list alone", () => {
  const made = scene();
  made.place = { session: undefined, after: undefined };
  made.stream.connect();
  assert.equal(made.last().url, "wss://bridge.example/ws/events");
});

test("a connection that is lost comes back, from the frame that is last then", () => {
  const made = scene();
  made.stream.connect();
  made.last().onopen();
  made.place.after = 9;
  made.last().onclose();
  assert.equal(made.sockets[0].isClosed, true);
  assert.deepEqual(made.states, ["connecting", "open", "waiting"]);
  made.fire((wait) => wait < 1000);
  assert.equal(made.last().url, "wss://bridge.example/ws/events?session=s&after=9");
  assert.equal(made.sockets.length, 2);
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
  const [old] = made.sockets;
  made.stream.connect();
  old.say(["frame", { seq: 8 }]);
  old.onclose();
  assert.deepEqual(made.events, []);
  assert.equal(made.sockets.length, 2);
});

test("a connection that is not wanted any more is closed once it is open, and is no news", () => {
  const made = scene();
  made.stream.connect();
  const [old] = made.sockets;
  old.readyState = 0;
  made.stream.connect();
  assert.equal(old.isClosed, undefined, "a browser would complain");
  old.onopen();
  assert.equal(old.isClosed, true);
  assert.deepEqual(made.states, ["connecting", "connecting"]);
});

test("who goes elsewhere is followed if there is a connection, and by the next try if there is none", () => {
  const made = scene();
  made.stream.connect();
  made.place = {};
  made.stream.move();
  assert.equal(made.last().url, "wss://bridge.example/ws/events");
  made.last().onclose();
  made.place = { session: "t", after: 1 };
  made.stream.move();
  assert.equal(made.sockets.length, 2);
  made.fire((wait) => wait < 1000);
  assert.equal(made.last().url, "wss://bridge.example/ws/events?session=t&after=1");
  made.stream.stop();
  made.stream.move();
  assert.equal(made.sockets.length, 3, "who was sent away does not come back by this");
});

test("what is told after somebody has gone elsewhere does not count", () => {
  const made = scene();
  made.stream.on.event = (name, data) => {
    made.events.push([name, data]);
    made.stream.connect();
  };
  made.stream.connect();
  made.last().say(["frame", { seq: 8 }], ["frame", { seq: 9 }]);
  assert.deepEqual(made.events, [["frame", { seq: 8 }]]);
});

test("what cannot be read is a lost connection", () => {
  const made = scene();
  made.stream.connect();
  made.last().onopen();
  made.last().onmessage({ data: "{" });
  assert.equal(made.states.at(-1), "waiting");
});

test("who is not let in any more is told so, and nothing is tried again", async () => {
  const made = scene({ check: async () => { throw Object.assign(new Error(), { status: 401 }); } });
  made.stream.connect();
  made.last().onclose();
  await new Promise(setImmediate);
  assert.equal(made.states.at(-1), "refused");
  assert.equal(made.timers.size, 0);
});

test("pauses grow up to a bound", () => {
  assert.deepEqual([0, 1, 2, 3, 30].map((failures) => pause(failures, 1)), [500, 1000, 2000, 4000, 15_000]);
  assert.equal(pause(0, 0), 250, "and differ");
});
