// Entries of a conversation as elements.

import { duration, usage } from "../data/words.js";
import { h, prose, value } from "./dom.js";
import { markdown } from "./markdown.js";
import { blockView, toolCard } from "./tool.js";

/** An entry of a session, as `data/session.js` makes them. */
export function entryView(entry, context) {
  switch (entry.kind) {
    case "user":
      return userMessage(entry.content);
    case "text":
      return h("article", { class: "entry said" }, markdown(entry.text));
    case "thinking":
      return folded("Thinking", h("div", { class: "thoughts" }, markdown(entry.text)), entry.key, context, "thinking");
    case "tool":
      return toolCard(entry, context);
    case "note":
      return note(entry);
    case "aside":
      return h("p", { class: "entry aside" }, prose(entry.text));
    case "problem":
      return h("p", { class: "entry note bad" }, entry.text.replaceAll("_", " "));
    case "asked":
      return h("p", { class: "entry aside" }, `${entry.question.tool_name}: ${entry.answer ? entry.answer.outcome : "asks"}`);
    case "result":
      return resultLine(entry.result);
    default:
      return folded("Something this page does not know", h("pre", { class: "output" }, JSON.stringify(entry.body, null, 2)), entry.key, context);
  }
}

/** What a person said. */
export function userMessage(content, extra = []) {
  const words = content.filter((block) => block.type === "text").map((block) => block.text);
  const rest = content.filter((block) => block.type !== "text");
  return h(
    "article",
    { class: "entry mine", "aria-label": "You" },
    rest.map((block) => blockView(block)),
    words.length > 0 && h("div", { class: "bubble" }, prose(words.join("\n"))),
    extra,
  );
}

/** A block of a message in progress. */
export function draftView({ part, tool, text, offset }) {
  const start = offset > 0 ? "… " : "";
  if (part === "text") return h("article", { class: "entry said growing" }, markdown(start + text, { isWhole: false }));
  if (part === "thinking") {
    return h("details", { class: "entry fold thinking growing" }, h("summary", {}, "Thinking…"), h("div", { class: "thoughts" }, prose(start + text)));
  }
  return h(
    "div",
    { class: "card tool works growing" },
    h("div", { class: "summary" }, h("span", { class: "tool-name" }, value(tool ?? "Tool")), h("span", { class: "tool-summary" }, (start + text).slice(-200)), h("span", { class: "tool-state works" }, "writing")),
  );
}

function folded(title, body, key, { opened }, kind = "") {
  const details = h("details", { class: `entry fold ${kind}`, open: opened.get(key) ?? false }, h("summary", {}, title), body);
  details.firstChild.addEventListener("click", () => opened.set(key, !details.open));
  return details;
}

function note({ code, text }) {
  const words = {
    mode_changed: () => `Permission mode: ${text}`,
    model_changed: () => `Model: ${text}`,
    agent_died: () => `The agent ended unexpectedly: ${text}. Your next message starts it again where it was.`,
    start_failed: () => `${text}`,
    // The text names the message, for programs.
    rewound: () => "Went back to an earlier message. What was said after it does not count any more.",
  };
  const bad = ["agent_died", "start_failed", "cut_off", "dropped", "unheard", "malformed"].includes(code);
  const said = words[code]?.() ?? text;
  if (code === "stderr" || code === "malformed") {
    return h("details", { class: "entry fold" }, h("summary", {}, code === "stderr" ? "The agent complains" : "An unreadable line of the agent"), h("pre", { class: "output" }, text));
  }
  return h("p", { class: `entry note ${bad ? "bad" : ""}`, role: bad ? "alert" : null }, prose(said));
}

function resultLine(result) {
  const { is_error: isError, subtype, result: words, errors, duration_ms: took, usage: used = {} } = result;
  const spent = usage({
    input_tokens: used?.input_tokens ?? 0,
    cached_tokens: used?.cache_read_input_tokens ?? 0,
    output_tokens: used?.output_tokens ?? 0,
  });
  const figures = [took ? duration(took) : "", spent].filter(Boolean).join(" · ");
  if (!isError && subtype === "success") return h("p", { class: "entry turn-end" }, figures);
  const interrupted = result.terminal_reason === "aborted_streaming" || result.terminal_reason === "aborted_tools";
  const why = words || (errors ?? []).join("; ") || RESULTS[subtype] || String(subtype ?? "").replaceAll("_", " ");
  if (interrupted) return h("p", { class: "entry turn-end" }, ["Stopped", figures].filter(Boolean).join(" · "));
  return h("div", { class: "entry note bad", role: "alert" }, h("strong", {}, "The turn failed. "), prose(why), figures && h("p", { class: "faint" }, figures));
}

const RESULTS = {
  error_max_turns: "It took as many turns as it may.",
  error_max_budget_usd: "It cost as much as it may.",
  error_during_execution: "Something went wrong while it worked, or it was stopped.",
};
