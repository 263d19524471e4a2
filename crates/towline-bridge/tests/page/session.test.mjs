import assert from "node:assert/strict";
import { test } from "node:test";
import { apply, disconnected, hasInput, newSession, open, openQuestions, prepend, trim } from "../../page/data/session.js";
import { answer, assistant, call, delta, frame, input, note, question, result, text, toolResult } from "./made.mjs";

function after(events, state = newSession("s")) {
  for (const [name, data] of events) apply(state, name, data);
  return state;
}
const frames = (...list) => list.map((one) => ["frame", one]);
/** The entries in short: kind, and what is most telling of it. */
const shape = (state) => state.entries.map(({ kind, text, name, code }) => [kind, text ?? name ?? code].filter(Boolean).join(" "));
const draftTexts = (state, parent = "") => (state.drafts.get(parent) ?? []).map((block) => block.text);
const description = { record: { id: "s", status: "idle", last_seq: 9 }, questions: [] };

test("a turn becomes what is shown of it", () => {
  const state = after(
    frames(
      input(1, "hello", "one"),
      assistant(2, [{ type: "thinking", thinking: "hm" }, text("I look.")]),
      assistant(3, [call("t1", "Bash", { command: "ls" })]),
      toolResult(4, "t1", "a.txt"),
      assistant(5, [text("There is a.txt.")]),
      result(6),
    ),
  );
  assert.deepEqual(shape(state), ["user", "thinking hm", "text I look.", "tool Bash", "text There is a.txt.", "result"]);
  assert.deepEqual(state.entries[3].result.content, [text("a.txt")]);
  assert.equal(hasInput(state, "one"), true);
});

test("a list that is kept with calls is shown as it was after each, and unfolded after the last", () => {
  const task = (id, subject) => ({ whole: { task: { id, subject } } });
  const state = after(
    frames(
      assistant(1, [call("t1", "TaskCreate", { subject: "Bake", activeForm: "Baking" })]),
      toolResult(2, "t1", "created", task("1", "Bake")),
      assistant(3, [call("t2", "TaskCreate", { subject: "Eat" })]),
      toolResult(4, "t2", "created", task("2", "Eat")),
      assistant(5, [call("t3", "TaskUpdate", { taskId: "1", status: "in_progress" })]),
      toolResult(6, "t3", "updated", { whole: { success: true, taskId: "1" } }),
      assistant(7, [call("t4", "TaskUpdate", { taskId: "9", status: "completed" })]),
      toolResult(8, "t4", "not found", { whole: { success: false, error: "Task not found" } }),
      assistant(9, [call("t5", "Bash", { command: "ls" })]),
      toolResult(10, "t5", "a.txt"),
    ),
  );
  const lists = state.entries.map(({ todos }) => todos && todos.map(({ content, status }) => `${content} ${status}`));
  assert.deepEqual(lists, [["Bake pending"], ["Bake pending", "Eat pending"], ["Bake in_progress", "Eat pending"], null, null]);
  assert.deepEqual(state.entries.map(({ isLatest }) => Boolean(isLatest)), [false, false, true, false, false]);
  const [first] = state.entries;
  assert.ok(!first.stamp.includes("l"), "it is shown anew when it is not the latest any more");

  after(
    frames(
      assistant(11, [call("t6", "TaskUpdate", { taskId: "1", status: "deleted" })]),
      toolResult(12, "t6", "updated", { whole: { success: true, taskId: "1" } }),
      assistant(13, [call("t7", "TaskList")]),
      toolResult(14, "t7", "#2", { whole: { tasks: [{ id: "2", subject: "Eat", status: "completed" }] } }),
      assistant(15, [call("t8", "TaskUpdate", { taskId: "7", status: "in_progress" })]),
      toolResult(16, "t8", "updated", { whole: { success: true, taskId: "7" } }),
    ),
    state,
  );
  const later = state.entries.slice(5).map(({ todos }) => todos.map(({ content, status }) => `${content} ${status}`));
  assert.deepEqual(later, [["Eat pending"], ["Eat completed"], ["Eat completed", "Task 7 in_progress"]]);
});

test("a frame that comes twice, or late, is there once", () => {
  const all = frames(input(1, "hello"), assistant(2, [text("a")]), assistant(3, [text("b")]));
  const state = after([...all, ...all, all[1]]);
  assert.deepEqual(shape(state), ["user", "text a", "text b"]);
  assert.equal(state.last, 3);
});

test("what belongs to another session is left out", () => {
  const state = after([
    ["frame", { ...input(1, "hello"), session: "other" }],
    ["delta", { ...delta(0, 0, "x"), session: "other" }],
    ["status", { session: "other", status: "running" }],
  ]);
  assert.deepEqual([state.entries.length, state.drafts.size, state.status], [0, 0, "idle"]);
});

test("pieces of a message grow, and the whole message takes their place", () => {
  const state = after([["delta", delta(0, 0, "Grüß ")], ["delta", delta(0, 5, "dich")], ["delta", delta(1, 0, "more")]]);
  assert.deepEqual(draftTexts(state), ["Grüß dich", "more"]);
  after(frames(assistant(1, [text("Grüß dich")])), state);
  assert.deepEqual(draftTexts(state), ["more"]);
  after(frames(assistant(2, [text("more")])), state);
  assert.deepEqual(draftTexts(state), []);
});

test("a piece that overlaps what is there is put in its place, and one behind a hole starts anew", () => {
  const state = after([["delta", delta(0, 0, "abcdef")], ["delta", delta(0, 3, "DEFG")]]);
  assert.deepEqual(draftTexts(state), ["abcDEFG"]);
  after([["delta", delta(0, 20, "later")]], state);
  assert.deepEqual(state.drafts.get("")[0], { block: 0, part: "text", tool: undefined, offset: 20, text: "later" });
});

test("a message that the model begins anew replaces the one that was given up", () => {
  const state = after([["delta", delta(0, 0, "first try")], ["delta", delta(1, 0, "more of it")], ["delta", delta(0, 0, "second")]]);
  assert.deepEqual(draftTexts(state), ["second"]);
});

test("the end of a turn, of the agent and of the session end what is in progress", () => {
  for (const last of [result(1), note(1, "agent_died"), note(1, "stopped")]) {
    const state = after([["delta", delta(0, 0, "half a")], ...frames(last)]);
    assert.equal(state.drafts.size, 0, JSON.stringify(last.body));
  }
  const state = after([["delta", delta(0, 0, "half a")], ...frames(note(1, "mode_changed"))]);
  assert.deepEqual(draftTexts(state), ["half a"], "another note does not");
});

test("who comes back gets the messages in progress and goes on from there", () => {
  const state = after([["delta", delta(0, 0, "Hello wo")]]);
  disconnected(state);
  const drafts = [{ blocks: [{ block: 0, part: "text", offset: 0, text: "Hello world, how" }] }];
  after([["live", { session: "s", after: 0, status: "running", drafts }], ["delta", delta(0, 16, " are you")]], state);
  assert.deepEqual([draftTexts(state), state.isLive, state.status], [["Hello world, how are you"], true, "running"]);
});

test("a gap forgets what was in progress and keeps every frame", () => {
  const state = after([...frames(input(1, "a"), input(2, "b")), ["delta", delta(0, 0, "half")], ["gap", { session: "s", after: 2 }]]);
  assert.deepEqual([state.drafts.size, state.last, state.gaps, state.entries.length], [0, 2, 1, 2]);
});

test("a bridge with another log makes the session start over", () => {
  const state = after([...frames(input(1, "a"), input(2, "b")), ["gap", { session: "s", after: 0 }], ...frames(input(1, "c"))]);
  assert.deepEqual(state.entries.map((entry) => entry.content[0].text), ["c"]);
});

test("a question is open until it is answered, and its call says how it ended", () => {
  const state = after(frames(assistant(1, [call("t1", "Bash")]), question(2, "t1", "Bash")));
  assert.deepEqual(openQuestions(state).map((asked) => asked.id), ["t1"]);
  const before = state.entries[0].stamp;
  after(frames(answer(3, "t1", "denied")), state);
  assert.deepEqual(openQuestions(state), []);
  assert.equal(state.entries[0].answer.outcome, "denied");
  assert.notEqual(state.entries[0].stamp, before, "so that it is shown anew");
});

test("a question may come before the line with its call", () => {
  const state = after(frames(question(1, "t1", "Bash"), assistant(2, [call("t1", "Bash")])));
  assert.equal(state.entries[0].question, "t1");
});

test("a question from before the frames that were loaded is open too, until its answer comes", () => {
  const asked = question(3, "t9", "Bash").body;
  const state = open("s", { ...description, questions: [asked] }, [assistant(9, [text("x")])]);
  assert.deepEqual(openQuestions(state).map((one) => one.id), ["t9"]);
  after(frames(answer(10, "t9", "allowed")), state);
  assert.deepEqual(openQuestions(state), []);
});

test("what a subagent says stands under its call", () => {
  const state = after([
    ...frames(assistant(1, [call("t1", "Task")]), assistant(2, [text("sub"), call("t2", "Bash")], "t1"), toolResult(3, "t2", "out", { parent: "t1" })),
    ["delta", delta(0, 0, "grows", { parent: "t1" })],
  ]);
  assert.deepEqual(shape(state), ["tool Task"]);
  const [task] = state.entries;
  assert.deepEqual(task.children.map((child) => child.kind), ["text", "tool"]);
  assert.equal(task.children[1].result.content[0].text, "out");
  assert.deepEqual(draftTexts(state, "t1"), ["grows"]);
});

test("older frames go in front, and results find their calls across the seam", () => {
  const state = open("s", description, [toolResult(3, "t1", "out"), result(4)]);
  assert.deepEqual(shape(state), ["tool …", "result"]);
  assert.equal(prepend(state, [input(1, "a"), assistant(2, [call("t1", "Bash")])]), true);
  assert.deepEqual(shape(state), ["user", "tool Bash", "result"]);
  assert.deepEqual([state.first, state.last], [1, 4]);
  assert.equal(prepend(state, [input(1, "a")]), false, "what is there already is left out");
});

test("older frames that do not join are left out", () => {
  const state = open("s", description, [input(5, "e")]);
  assert.equal(prepend(state, [input(1, "a"), input(2, "b")]), false);
  assert.equal(state.first, 5);
});

test("with too many frames the oldest are forgotten, and can come back", () => {
  const all = Array.from({ length: 10 }, (_, index) => input(index + 1, `m${index + 1}`));
  const state = open("s", description, all);
  assert.equal(trim(state, 20, 5), false);
  assert.equal(trim(state, 8, 4), true);
  assert.deepEqual([state.first, state.entries.length], [7, 4]);
  assert.equal(prepend(state, all.slice(0, 6)), true);
  assert.equal(state.entries.length, 10);
});

test("an interruption is an aside, and what was said elsewhere a message", () => {
  const said = (seq, words, extra = {}) => frame(seq, "line", { type: "user", message: { content: [text(words)] }, ...extra });
  const state = after(frames(said(1, "[Request interrupted by user]"), said(2, "from a terminal"), said(3, "echo", { isReplay: true })));
  assert.deepEqual(shape(state), ["aside [Request interrupted by user]", "user"]);
});

test("nothing unknown is dropped, and nothing strange is an error", () => {
  const strange = [
    frame(1, "line", { type: "from_the_future", x: 1 }),
    frame(2, "later_kind", {}),
    assistant(3, [{ type: "hologram" }, null, 7]),
    assistant(4, undefined),
    frame(5, "line", {}),
    toolResult(6, "unheard of", "x"),
    answer(7, "never asked", "denied"),
  ];
  assert.deepEqual(shape(after(frames(...strange))), ["unknown", "unknown", "unknown", "unknown", "tool …"]);
});
