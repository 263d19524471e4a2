import assert from "node:assert/strict";
import { test } from "node:test";
import { asksInSight } from "../../page/data/trust.js";

const ask = (kind, value = "x") => ({ kind, value, path: "/p/.claude/settings.json" });

test("what starts a program stands before what only allows", () => {
  const asks = ["allow", "mode", "hook", "directory", "key_helper", "new kind", "variable", "server"].map((kind) => ask(kind));
  const { shown, left, words } = asksInSight(asks);
  assert.deepEqual(shown.map(({ kind }) => kind), ["new kind", "hook", "server", "key_helper", "variable", "mode", "directory", "allow"]);
  assert.deepEqual([left, words], [[], ""]);
});

test("requests that are not in sight are counted by kind", () => {
  const asks = [...Array.from({ length: 1_100 }, (_, place) => ask("allow", `Bash(ls${place})`)), ...Array.from({ length: 13 }, () => ask("hook"))];
  const { shown, left, words } = asksInSight(asks);
  assert.ok(shown.every(({ kind }) => kind === "hook"));
  assert.equal(shown.length + left.length, asks.length);
  assert.equal(words, "1,101 more not shown (Runs at an event: 1, Runs without asking: 1,100)");
});

test("a few requests are shown sooner than counted, in the order in which the bridge told them", () => {
  const asks = Array.from({ length: 14 }, (_, place) => ask("allow", `${place}`));
  assert.deepEqual(asksInSight(asks), { shown: asks, left: [], words: "" });
});
