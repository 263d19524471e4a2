// Tool calls as cards: what is called, with what, what came of it, and who allowed it.

import { fieldText } from "../data/asked.js";
import { editRows, multiEditRows, patchRows } from "../data/diff.js";
import { outcomeWords, shortPath } from "../data/words.js";
import { diffTable } from "./diff.js";
import { h, icon, long, prose, value } from "./dom.js";
import { markdown } from "./markdown.js";

/** The card of a call. `context` has the session's directory, which cards are open, and how subagents' entries look. */
export function toolCard(entry, context) {
  const { name, input, result, answer, todos } = entry;
  const state = stateOf(entry, context);
  const body = [todos ? todoList(todos) : inputView(name, input, result, context), childrenOf(entry, context), resultView(entry)].filter(Boolean);
  const isOpen = context.opened.get(entry.key) ?? opensBySelf(entry);
  const details = h(
    "details",
    { class: `card tool ${state}`, open: isOpen },
    h(
      "summary",
      {},
      icon(name === "Task" || name === "Agent" ? "agent" : "tool"),
      h("span", { class: "tool-name" }, value(toolTitle(name))),
      h("span", { class: "tool-summary" }, value(summaryOf(name, input, context.directory))),
      h("span", { class: `tool-state ${state}` }, STATE[state]),
    ),
    h("div", { class: "card-body" }, body),
    answer && answerLine(answer),
  );
  details.firstChild.addEventListener("click", () => context.opened.set(entry.key, !details.open));
  return details;
}

/** The subject of a call in one line that is not too long. */
export function summaryOf(name, input, directory) {
  return aboutCall(name, input, directory).split("\n")[0].slice(0, 300);
}

/** The subject of a call, whole. */
export function aboutCall(name, input, directory) {
  const { file_path: file, notebook_path: notebook, path, command, pattern, url, query, description, prompt, questions, subject, taskId, status } = input ?? {};
  const text =
    command ?? (name === "Task" || name === "Agent" ? (description ?? prompt) : undefined) ??
    (file || notebook ? shortPath(file ?? notebook, directory) : undefined) ??
    (pattern ? `${pattern}${path ? ` in ${shortPath(path, directory)}` : ""}` : undefined) ??
    (path ? shortPath(path, directory) : undefined) ??
    url ?? query ?? questions?.[0]?.question ?? subject ?? (taskId && status ? `Task ${taskId}: ${status.replace("_", " ")}` : undefined) ?? description ??
    Object.values(input ?? {}).find((value) => typeof value === "string") ?? "";
  return String(text);
}

/** What a call would do: a difference, a command, a list, or its input as it is. Nothing if the summary says it all. */
export function inputView(name, input, result, { directory, most }) {
  const patch = result?.whole?.structuredPatch;
  switch (name) {
    case "Edit":
      return diffTable(patch?.length ? patchRows(patch) : editRows(input.old_string, input.new_string), input.file_path, most);
    case "MultiEdit":
      return diffTable(patch?.length ? patchRows(patch) : multiEditRows(input.edits), input.file_path, most);
    case "Write":
      return diffTable(patch?.length ? patchRows(patch) : editRows("", input.content), input.file_path, most);
    case "Bash":
      // A short command stands in the head of the card already.
      if (result && !/[^]{60}|\n/.test(input.command ?? "")) return null;
      return h("pre", { class: "command", tabIndex: 0 }, h("code", {}, long(input.command)));
    case "TodoWrite":
      return todoList(input.todos);
    case "ExitPlanMode":
      return input.plan ? markdown(String(input.plan)) : null;
    case "Task":
    case "Agent":
      return input.prompt ? h("div", { class: "prompt" }, prose(input.prompt)) : null;
    case "AskUserQuestion":
      return h("ul", { class: "plain" }, (input.questions ?? []).map((asked) => h("li", {}, prose(asked?.question))));
    case "Read":
    case "Glob":
    case "Grep":
    case "LS":
      return null;
    default:
      return Object.keys(input ?? {}).length ? fields(input, directory) : null;
  }
}

/** A list of things to do. */
export function todoList(todos) {
  const list = Array.isArray(todos) ? todos : [];
  return h(
    "ul",
    { class: "todos" },
    list.map(({ status, content, activeForm }) =>
      h(
        "li",
        { class: `todo ${status}` },
        h("span", { class: "todo-mark", "aria-hidden": "true" }, { completed: "✓", in_progress: "▸" }[status] ?? ""),
        h("span", { class: "unseen" }, `${String(status).replace("_", " ")}: `),
        prose((status === "in_progress" ? activeForm : content) ?? content),
      ),
    ),
  );
}

/** What is in a message or a result: words and pictures. */
export function blockView(block, { asMarkdown = false } = {}) {
  if (block.type === "text") return asMarkdown ? markdown(block.text ?? "") : h("pre", { class: "output", tabIndex: 0 }, block.text ?? "");
  if (block.type === "image") {
    const { type, media_type: kind, data } = block.source ?? {};
    if (type === "base64" && /^image\/[\w.+-]+$/.test(kind ?? "")) {
      return h("img", { class: "picture", alt: "A picture", src: `data:${kind};base64,${data}` });
    }
    return h("p", { class: "faint" }, "A picture that is kept elsewhere");
  }
  return h("pre", { class: "output" }, JSON.stringify(block, null, 2));
}

function childrenOf(entry, context) {
  const { children, id } = entry;
  const drafts = context.drafts(id);
  if (!children.length && !drafts.length) return null;
  return h("div", { class: "children" }, children.map((child) => context.entry(child)), drafts);
}

function resultView({ name, result, todos }) {
  if (!result) return null;
  if (!result.isError && (todos || HIDDEN_RESULTS.has(name))) return null;
  const { content } = result;
  if (!content.length) return h("p", { class: "faint" }, "No output");
  const asMarkdown = name === "Task" || name === "Agent";
  return h("div", { class: `result ${result.isError ? "error" : ""}` }, content.map((block) => blockView(block, { asMarkdown })));
}

function answerLine(answer) {
  const isNo = ["denied", "timed_out", "cancelled", "agent_ended"].includes(answer.outcome);
  return h("p", { class: `answer ${isNo ? "no" : "yes"}` }, outcomeWords(answer));
}

function stateOf({ id, result, question, answer }, context) {
  if (result) return result.isError ? "failed" : "done";
  if (question && !answer) return "asks";
  return context.isAtWork(id) ? "works" : "left";
}

function opensBySelf({ name, result, question, answer, isLatest }) {
  if (result?.isError) return true;
  // While it is asked about, the question shows what it would do.
  if (question && !answer) return false;
  // What a person decided stays in sight.
  return Boolean(answer) || Boolean(isLatest) || OPEN.has(name);
}

function fields(input, directory) {
  return fieldList(Object.entries(input).map(([name, field]) => [name, typeof field === "string" ? shortPath(field, directory) : fieldText(field)]));
}

/** Fields and their texts, `[name, text]`: both ends of a long one. */
export function fieldList(list) {
  return h("dl", { class: "fields" }, list.map(([name, text]) => [h("dt", {}, value(name)), h("dd", {}, long(text))]));
}

/** MCP tools are called `mcp__server__tool`. */
export function toolTitle(name) {
  const parts = String(name).split("__");
  return parts[0] === "mcp" && parts.length > 2 ? `${parts[1]}: ${parts.slice(2).join("__")}` : String(name);
}

const STATE = { done: "done", failed: "failed", asks: "asks", works: "running", left: "no result" };
/** Cards that say something by themselves. */
const OPEN = new Set(["Edit", "MultiEdit", "Write", "TodoWrite", "Bash", "ExitPlanMode"]);
/** Results that only say that it was done. */
const HIDDEN_RESULTS = new Set(["AskUserQuestion", "Edit", "MultiEdit", "Write", "TodoWrite", "ExitPlanMode"]);
