// The state of one session (pure): frames folded into entries that can be shown, open questions, messages in progress.
//
// Frames are kept by number and are put in once, in whatever order and however often they come; entries follow from
// them. An entry has a `key` that stays and a `stamp` that changes when it is to be shown anew.

import { newDrafts, fromSnapshot, settle, splice } from "./drafts.js";
import { afterCall } from "./tasks.js";

/** A session of which nothing is known yet. */
export function newSession(id) {
  return {
    id,
    record: null,
    status: "idle",
    /** Frames by number, without holes: from `first` to `last`. */
    frames: [],
    first: 1,
    last: 0,
    isLive: false,
    gaps: 0,
    drafts: newDrafts(),
    /** How far tools are that run now, by call. */
    progress: new Map(),
    /** What the open questions were when the session was opened; some may be older than the frames here. */
    asked: [],
    ...folded(),
  };
}

/** The state with the latest frames, as `/messages` gives them, and what is known of the session. */
export function open(id, description, frames) {
  const state = newSession(id);
  state.record = description.record;
  state.status = description.record.status;
  state.asked = description.questions ?? [];
  state.about = description.about ?? null;
  if (frames.length) {
    state.first = frames[0].seq;
    state.frames = frames;
    state.last = frames.at(-1).seq;
  } else {
    state.last = 0;
  }
  refold(state);
  return state;
}

/** Puts in frames from before those that are here. Those that do not join are left out. */
export function prepend(state, frames) {
  const older = frames.filter((frame) => frame.seq < state.first);
  if (!older.length || older.at(-1).seq !== state.first - 1) return false;
  state.frames = older.concat(state.frames);
  state.first = older[0].seq;
  refold(state);
  return true;
}

/** Forgets the oldest frames when there are too many; they can be fetched again. */
export function trim(state, most, kept) {
  if (state.frames.length <= most) return false;
  state.frames = state.frames.slice(-kept);
  state.first = state.frames[0].seq;
  refold(state);
  return true;
}

/** Takes in an event of the stream. Gives whether it was about this session. */
export function apply(state, name, data) {
  if (name === "session") {
    if (data.id !== state.id) return false;
    state.record = data;
    return true;
  }
  if (data?.session !== undefined && data.session !== state.id) return false;
  switch (name) {
    case "frame":
      return take(state, data);
    case "delta":
      splice(state.drafts, data);
      return true;
    case "live":
      state.isLive = true;
      state.status = data.status;
      state.drafts = fromSnapshot(data.drafts);
      return true;
    case "gap":
      // What was in progress is not known; the bridge says it again when everything else was said.
      state.drafts = newDrafts();
      state.gaps += 1;
      if (data.after < state.last) startOver(state, data.after);
      return true;
    case "status":
      state.status = data.status;
      return true;
    case "passing":
      return pass(state, data);
    default:
      return false;
  }
}

/** The connection is lost: what is in progress may go on unseen. */
export function disconnected(state) {
  state.isLive = false;
}

/** The questions that are open, the oldest first. */
export function openQuestions(state) {
  const open = [...state.questions.values()].filter((asked) => !asked.answer).map((asked) => asked.question);
  const older = state.asked.filter((question) => !state.questions.has(question.id) && !state.answers.has(question.id));
  return [...older, ...open];
}

/** The client's names of the inputs that are in the frames. */
export function hasInput(state, clientMessageId) {
  return state.inputs.has(clientMessageId);
}

/** The bridge has another log than the one that we know: only what it says from here on counts. */
function startOver(state, after) {
  state.frames = state.frames.filter((frame) => frame.seq <= after);
  state.last = after;
  if (!state.frames.length) state.first = after + 1;
  refold(state);
}

function take(state, frame) {
  if (frame.seq <= state.last) return false;
  if (!state.frames.length) state.first = frame.seq;
  const { session: _, ...kept } = frame;
  state.frames.push(kept);
  state.last = frame.seq;
  fold(state, kept, true);
  return true;
}

/** What follows from the frames. */
function folded() {
  return { entries: [], calls: new Map(), questions: new Map(), answers: new Map(), inputs: new Set(), mode: null, tasks: new Map(), list: null };
}

function refold(state) {
  Object.assign(state, folded());
  for (const frame of state.frames) fold(state, frame, false);
}

function fold(state, frame, isNew) {
  const { seq, at, body } = frame;
  switch (frame.kind) {
    case "input":
      if (body.client_message_id) state.inputs.add(body.client_message_id);
      add(state, { kind: "user", key: `${seq}`, at, content: blocksOf(body.content), by: body.by });
      break;
    case "question":
      state.questions.set(body.id, { question: body, answer: null });
      touch(state, body.tool_use_id ?? body.id, (entry) => (entry.question = body.id));
      if (!body.tool_use_id) add(state, { kind: "asked", key: `${seq}`, at, question: body, answer: null });
      break;
    case "answer": {
      state.answers.set(body.id, body);
      const asked = state.questions.get(body.id);
      if (asked) asked.answer = body;
      touch(state, asked?.question.tool_use_id ?? body.id, (entry) => (entry.answer = body));
      const own = state.entries.find((entry) => entry.kind === "asked" && entry.question.id === body.id);
      if (own) Object.assign(own, { answer: body, stamp: "answered" });
      break;
    }
    case "note":
      if (isNew && (body.code === "agent_died" || body.code === "stopped")) endTurn(state);
      add(state, { kind: "note", key: `${seq}`, at, code: body.code, text: body.text });
      break;
    case "line":
      foldLine(state, frame, isNew);
      break;
    default:
      add(state, { kind: "unknown", key: `${seq}`, at, body });
  }
}

function foldLine(state, { seq, at, body }, isNew) {
  const parent = body.parent_tool_use_id ?? null;
  switch (body.type) {
    case "assistant": {
      const blocks = blocksOf(body.message?.content);
      if (isNew) settle(state.drafts, parent, blocks.length);
      blocks.forEach((block, index) => assistantBlock(state, block, { key: `${seq}.${index}`, at, parent }));
      if (body.error) add(state, { kind: "problem", key: `${seq}.error`, at, parent, text: String(body.error) });
      break;
    }
    case "user":
      userLine(state, body, { seq, at, parent });
      break;
    case "result":
      if (isNew) endTurn(state);
      add(state, { kind: "result", key: `${seq}`, at, result: body });
      break;
    case "system":
      systemLine(state, body, { seq, at });
      break;
    case "rate_limit_event":
    case "auth_status":
    case "prompt_suggestion":
    case "tool_use_summary":
      break;
    default:
      // Nothing is dropped in silence: what this page does not know can be looked at as it came.
      add(state, { kind: "unknown", key: `${seq}`, at, body });
  }
}

function assistantBlock(state, block, { key, at, parent }) {
  switch (block.type) {
    case "text":
      if (block.text) add(state, { kind: "text", key, at, parent, text: block.text });
      break;
    case "thinking":
      if (block.thinking) add(state, { kind: "thinking", key, at, parent, text: block.thinking });
      break;
    case "redacted_thinking":
      break;
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use": {
      const known = state.questions.get(block.id);
      const entry = {
        kind: "tool",
        key,
        at,
        parent,
        id: block.id,
        name: block.name,
        input: block.input ?? {},
        result: null,
        question: known ? block.id : null,
        answer: known?.answer ?? null,
        children: [],
      };
      state.calls.set(block.id, entry);
      add(state, entry);
      break;
    }
    default:
      if (block.type?.endsWith("_tool_result")) attachResult(state, block, null);
      else add(state, { kind: "unknown", key, at, parent, body: block });
  }
}

function userLine(state, body, { seq, at, parent }) {
  const blocks = blocksOf(body.message?.content);
  const results = blocks.filter((block) => block.type === "tool_result");
  for (const block of results) attachResult(state, block, body.tool_use_result);
  const rest = blocks.filter((block) => block.type !== "tool_result");
  // What a subagent is told stands in the call that started it; what comes back as an echo is in an input.
  if (!rest.length || parent || body.isReplay) return;
  const words = rest.map((block) => block.text ?? "").join("\n");
  if (body.isSynthetic || body.isMeta || words.startsWith("[Request interrupted")) {
    add(state, { kind: "aside", key: `${seq}`, at, text: words });
  } else {
    add(state, { kind: "user", key: `${seq}`, at, content: rest, by: null });
  }
}

function systemLine(state, body, { seq, at }) {
  if (body.subtype === "init") {
    state.mode = body.permissionMode ?? state.mode;
    state.model = body.model ?? state.model;
  } else if (body.subtype === "compact_boundary") {
    add(state, { kind: "aside", key: `${seq}`, at, text: "The conversation was summed up to make room." });
  } else if (body.subtype === "api_retry") {
    const text = `The model could not be reached and is tried again (${body.error ?? body.error_status ?? "no reason given"}).`;
    add(state, { kind: "aside", key: `${seq}`, at, text });
  } else if (body.subtype === "informational" || body.subtype === "notification") {
    const text = body.content ?? body.text ?? body.message;
    if (typeof text === "string") add(state, { kind: "aside", key: `${seq}`, at, text });
  }
}

function attachResult(state, block, whole) {
  const id = block.tool_use_id;
  state.progress.delete(id);
  const result = { content: blocksOf(block.content), isError: block.is_error === true, whole: whole ?? null };
  const isThere = touch(state, id, (entry) => {
    entry.result = result;
    keepList(state, entry);
  });
  if (!isThere) {
    add(state, { kind: "tool", key: `result.${id}`, at: 0, parent: null, id, name: "…", input: {}, result, question: null, answer: null, children: [] });
  }
}

/** The list of things to do is shown with the call that changed it last; the others have theirs folded. */
function keepList(state, entry) {
  entry.todos = afterCall(state.tasks, entry, entry.result.whole);
  if (!entry.todos) return;
  const before = state.list;
  state.list = entry;
  entry.isLatest = true;
  if (!before || before === entry) return;
  before.isLatest = false;
  restamp(state, before);
}

function pass(state, line) {
  if (line.type !== "tool_progress") return false;
  state.progress.set(line.tool_use_id, line.elapsed_time_seconds ?? 0);
  return true;
}

function endTurn(state) {
  state.drafts = newDrafts();
  state.progress.clear();
}

/** Puts an entry where it belongs: at the end, or under the call of the subagent that speaks. */
function add(state, entry) {
  entry.stamp ??= "";
  const call = entry.parent && state.calls.get(entry.parent);
  if (!call) {
    state.entries.push(entry);
    return;
  }
  call.children.push(entry);
  restamp(state, call);
}

/** Changes the entry of a call; gives whether there is one. */
function touch(state, callId, change) {
  const entry = state.calls.get(callId);
  if (!entry) return false;
  change(entry);
  restamp(state, entry);
  return true;
}

/** What is shown of a call follows from what is in it, and that of its parent too. */
function restamp(state, entry) {
  const { result, question, answer, children, isLatest } = entry;
  const inner = children.map((child) => child.stamp).join(",");
  entry.stamp = `${result ? "r" : ""}${isLatest ? "l" : ""}${question ? "q" : ""}${answer ? answer.outcome : ""}[${children.length}:${inner}]`;
  const parent = entry.parent && state.calls.get(entry.parent);
  if (parent) restamp(state, parent);
}

/** Content as a list of blocks, whether it came as a string or as a list. */
export function blocksOf(content) {
  if (typeof content === "string") return content ? [{ type: "text", text: content }] : [];
  return Array.isArray(content) ? content.filter((block) => block && typeof block === "object") : [];
}
