// Open questions: may this run, which of these, is this plan good. Each is a form that stays as it is until it is over.

import { hasView, notesOn, otherFields, otherRequestFields } from "../data/asked.js";
import { MODES, savedWhere, sessionOffer, shortPath, suggestionWords } from "../data/words.js";
import { fill, h, long, prose, value } from "./dom.js";
import { wholeMarkdown } from "./markdown.js";
import { aboutCall, fieldList, inputView, toolTitle } from "./tool.js";

/** The form for a question. `answer(decision)` sends an answer and throws if it did not go through. */
export function questionForm(question, { directory, answer, allowsBypass }) {
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const form = h("form", { class: `question ${question.ask}`, "aria-label": titleOf(question) });
  const send = async (decision) => {
    form.inert = true;
    try {
      await answer(decision);
    } catch (error) {
      // Somebody else may have been faster; then the form goes away by itself.
      fill(problem, error.message);
      problem.hidden = false;
      form.inert = false;
    }
  };
  const parts = { permission, choices, plan, dialog }[question.ask] ?? dialog;
  form.append(...parts(question, { directory, send, form, allowsBypass }).flat(Infinity).filter(Boolean), problem);
  return form;
}

/** What is asked, in a few words. */
export function titleOf({ ask, tool_name: tool }) {
  const words = { choices: "The agent has a question", plan: "Is this plan good?", dialog: "Something is asked for" };
  return words[ask] ?? `Allow ${toolTitle(tool)}?`;
}

function permission(question, { directory, send, form }) {
  const { tool_name: tool, input, request } = question;
  const suggestions = request.permission_suggestions ?? [];
  const where = savedWhere(suggestions);
  const offer = sessionOffer(suggestions);
  const allow = (remember) => () => send({ decision: "allow", remember });
  const effects = suggestions.map(suggestionWords).join(" · ");
  const reason = request.decision_reason ?? request.blocked_path;
  const said = tool === "Bash" ? request.description : undefined;
  const others = otherFields(tool, input, said);
  const view = hasView(tool) ? inputView(tool, input, null, { directory, most: MOST }) : null;
  submits(form, allow("once"));
  return [
    heading(question),
    // The agent's words stand above what it would run: nothing comes between the end of that and the buttons.
    said && h("p", { class: "faint" }, long(said)),
    reason && h("p", { class: "faint" }, "Asked because of: ", value(reason)),
    input.file_path && h("p", { class: "path" }, value(shortPath(input.file_path, directory))),
    others.length > 0 && h("div", { class: "asked" }, fieldList(others)),
    notesOn(tool, input).map((note) => h("p", { class: "says" }, note)),
    view && h("div", { class: "asked" }, view),
    !view && !others.length && h("div", { class: "asked" }, h("pre", { class: "command" }, long(aboutCall(tool, input, directory)))),
    h(
      "div",
      { class: "row actions" },
      h("button", { type: "submit", class: "primary" }, "Allow once"),
      offer && h("button", { type: "button", onclick: allow("session"), title: effects }, value(offer)),
      where && h("button", { type: "button", onclick: allow("saved"), title: effects }, `Save the rule ${where}`),
      denial(send),
    ),
    suggestions.length > 0 && h("p", { class: "faint small" }, "Beyond this once: ", long(effects)),
  ];
}

/** Two steps: the button, then an optional reason. */
function denial(send, word = "Deny", hint = "Why not, or what to do instead (optional)") {
  const reason = h("input", { type: "text", placeholder: hint, "aria-label": hint, maxLength: 4000 });
  const deny = () => send({ decision: "deny", message: reason.value.trim() || undefined });
  reason.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    deny();
  });
  const second = h("div", { class: "row denial", hidden: true }, reason, h("button", { type: "button", class: "danger", onclick: deny }, word));
  const first = h("button", { type: "button", class: "danger-quiet", onclick: () => {
    first.hidden = true;
    second.hidden = false;
    reason.focus();
  } }, `${word}…`);
  return [first, second];
}

function choices(question, { send, form }) {
  const asked = Array.isArray(question.input.questions) ? question.input.questions : [];
  const fields = asked.map((one, index) => choice(one, index));
  const missing = h("p", { class: "problem", hidden: true }, "Choose or write something for each question.");
  submits(form, () => {
    const answers = Object.fromEntries(fields.map(({ name, read }) => [name, read()]));
    missing.hidden = Object.values(answers).every((chosen) => chosen.length);
    if (missing.hidden) send({ decision: "choose", answers });
  });
  return [
    heading(question),
    fields.map(({ element }) => element),
    missing,
    h("div", { class: "row actions" }, h("button", { type: "submit", class: "primary" }, "Answer"), denial(send, "Do not answer", "Why not (optional)")),
  ];
}

/** One question of several: options, and room for words of one's own. */
function choice({ question, header, options, multiSelect }, index) {
  const name = `choice-${index}`;
  const kind = multiSelect ? "checkbox" : "radio";
  const own = h("input", { type: "text", placeholder: "Something else", "aria-label": `Another answer to: ${question}`, maxLength: 4000 });
  const boxes = (Array.isArray(options) ? options : []).map(({ label, description }) => {
    const box = h("input", { type: kind, name, value: label });
    return { box, element: h("label", { class: "option" }, box, h("span", {}, h("strong", {}, prose(label)), description && h("span", { class: "faint" }, prose(description)))) };
  });
  if (!multiSelect) {
    own.addEventListener("input", () => own.value && boxes.forEach(({ box }) => (box.checked = false)));
    boxes.forEach(({ box }) => box.addEventListener("change", () => (own.value = "")));
  }
  return {
    name: question,
    read: () => [...boxes.filter(({ box }) => box.checked).map(({ box }) => box.value), own.value.trim()].filter(Boolean),
    element: h("fieldset", {}, h("legend", {}, header && h("span", { class: "tag" }, prose(header)), prose(question)), boxes.map(({ element }) => element), own),
  };
}

function plan(question, { send, form, allowsBypass }) {
  const mode = h(
    "select",
    { "aria-label": "Go on in this mode" },
    MODES.filter(([value]) => value === "default" || value === "acceptEdits" || (allowsBypass && value === "bypassPermissions")).map(([value, words]) => h("option", { value }, words)),
  );
  submits(form, () => send({ decision: "allow", mode: mode.value }));
  const others = otherFields("ExitPlanMode", question.input);
  const text = String(question.input.plan ?? "There is no text with this plan.");
  const rendered = wholeMarkdown(text);
  return [
    heading(question),
    others.length > 0 && h("div", { class: "asked" }, fieldList(others)),
    !rendered && h("p", { class: "says" }, "The plan stands here as it was written: as Markdown, a part of it would not be seen."),
    h("div", { class: "asked plan-text", tabIndex: 0 }, rendered ?? h("pre", { class: "output" }, h("bdi", { dir: "ltr" }, text))),
    h(
      "div",
      { class: "row actions" },
      h("button", { type: "submit", class: "primary" }, "Approve the plan"),
      h("label", { class: "inline" }, "then ", mode),
      denial(send, "Reject", "What should be different (optional)"),
    ),
  ];
}

/** What an MCP server wants to know: a field for each simple property it asks for. */
function dialog(question, { send, form }) {
  const { request } = question;
  const schema = request.requested_schema ?? request.requestedSchema ?? {};
  const properties = Object.entries(schema.properties ?? {});
  const inputs = properties.map(([name, { type, title, description }]) => {
    const input = h("input", { type: { boolean: "checkbox", number: "number", integer: "number" }[type] ?? "text", name });
    const read = () => (type === "boolean" ? input.checked : input.type === "number" ? input.valueAsNumber : input.value);
    return { name, read, element: h("label", { class: "field" }, prose(title ?? name), input, description && h("span", { class: "faint" }, prose(description))) };
  });
  const others = otherRequestFields(request, properties.length > 0);
  submits(form, () => send({ decision: "allow", input: Object.fromEntries(inputs.map(({ name, read }) => [name, read()])) }));
  return [
    heading(question),
    h("p", {}, prose(request.message)),
    others.length > 0 && h("div", { class: "asked" }, fieldList(others)),
    inputs.map(({ element }) => element),
    h("div", { class: "row actions" }, h("button", { type: "submit", class: "primary" }, "Accept"), denial(send, "Refuse", "Why not (optional)")),
  ];
}

function heading(question) {
  return h("h2", {}, value(titleOf(question)));
}

function submits(form, action) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    action();
  });
}

/** So much of a difference stands in a question; the others are counted beside its buttons. */
const MOST = { rows: 24, width: 100 };
