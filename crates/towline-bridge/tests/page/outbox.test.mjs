import assert from "node:assert/strict";
import { test } from "node:test";
import { Outbox } from "../../page/data/outbox.js";

const lost = () => Object.assign(new Error("unreachable"), { mayPass: true, status: 0 });
const refused = () => Object.assign(new Error("too large"), { mayPass: false, status: 413 });

/** An outbox whose answers are given: a number of the session, or an error. */
function scene(answers, { storage = memory(), isShown = () => true } = {}) {
  const sent = [];
  const say = async (session, content, id) => {
    sent.push({ session, content, id });
    const answer = answers.shift() ?? { seq: sent.length };
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { sent, storage, outbox: new Outbox({ say, changed() {}, isShown, storage }) };
}

function memory() {
  const kept = new Map();
  return { getItem: (name) => kept.get(name) ?? null, setItem: (name, value) => kept.set(name, value) };
}

const settled = () => new Promise(setImmediate);

test("a message is sent once, and stays until it is seen in the session", async () => {
  const { sent, outbox } = scene([]);
  const id = outbox.put("s", "hello");
  await settled();
  await outbox.flush();
  assert.deepEqual(sent, [{ session: "s", content: "hello", id }]);
  assert.equal(outbox.of("s").length, 1);
  outbox.seen("s", 0, (name) => name === id);
  assert.deepEqual(outbox.of("s"), []);
});

test("a message in a session that is not looked at goes when it is accepted", async () => {
  const { outbox } = scene([], { isShown: () => false });
  outbox.put("s", "hello");
  await settled();
  assert.deepEqual(outbox.of("s"), []);
});

test("a lost connection keeps messages, in order, and sends them again under the same names", async () => {
  const { sent, outbox } = scene([lost()]);
  const [first, second] = [outbox.put("s", "one"), outbox.put("s", "two")];
  await settled();
  assert.deepEqual(sent.map(({ id }) => id), [first]);
  await outbox.flush();
  assert.deepEqual(sent.map(({ id }) => id), [first, first, second]);
});

test("a message survives a reload and keeps its name", async () => {
  const storage = memory();
  const id = scene([lost()], { storage }).outbox.put("s", "hello");
  await settled();
  const { sent, outbox } = scene([], { storage });
  await outbox.flush();
  assert.deepEqual(sent, [{ session: "s", content: "hello", id }]);
});

test("a message that is refused waits for a person, and holds up only its own session", async () => {
  const { sent, outbox } = scene([refused()]);
  const id = outbox.put("s", "one");
  outbox.put("s", "two");
  outbox.put("other", "three");
  await settled();
  await settled();
  assert.deepEqual(sent.map(({ content }) => content), ["one", "three"]);
  assert.equal(outbox.of("s")[0].problem, "too large");
  await outbox.retry(id);
  assert.deepEqual(sent.map(({ content }) => content), ["one", "three", "one", "two"]);
});

test("a storage that is full or broken loses nothing that is here", async () => {
  const broken = { getItem: () => "nonsense", setItem() { throw new Error("full"); } };
  const { sent, outbox } = scene([], { storage: broken });
  outbox.put("s", "hello");
  await settled();
  assert.equal(sent.length, 1);
});
