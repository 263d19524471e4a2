// One session: its head, its conversation, its open questions, and where a person writes.

import { openQuestions } from "../data/session.js";
import { folderOf, titleOf as sessionTitle } from "../data/list.js";
import { visible } from "../data/shown.js";
import { MODES, plain, usage } from "../data/words.js";
import { changesView } from "./changes.js";
import { composer } from "./composer.js";
import { conversation } from "./conversation.js";
import { askIn, fill, h, iconButton, keyed, prose, value } from "./dom.js";
import { statusChip } from "./list.js";
import { questionForm, titleOf } from "./question.js";

/** `actions` does what a person wants; each may throw words for that person. */
export function sessionView({ directory, allowsBypass, actions, text }) {
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const title = h("h1", {});
  const about = h("p", { class: "faint about" });
  const status = h("span", { class: "status-place", role: "status" });
  const mode = h("select", { class: "mode", "aria-label": "Permission mode", title: "How much may be done without asking" });
  const questions = h("div", { class: "questions" });
  const side = h("div", { class: "drawer", hidden: true });
  const announcer = h("div", { class: "unseen", "aria-live": "assertive" });
  const reader = h("div", { class: "unseen answers", "aria-live": "polite" });
  const timeline = conversation({ directory, older: actions.older, retry: actions.retry, takeBack: (id) => {
    const item = actions.takeBack(id);
    if (item) writing.restore(item.content);
  } });
  const writing = composer({ send: actions.say, interrupt: () => attempt(actions.interrupt), placeholder: "Say something", text });
  let said = "";
  let read = null;
  let record = null;

  async function attempt(action) {
    problem.hidden = true;
    try {
      return await action();
    } catch (error) {
      fill(problem, error.message);
      problem.hidden = false;
      return undefined;
    }
  }

  mode.addEventListener("change", () => attempt(() => actions.setMode(mode.value)).then(() => showMode()));

  const menu = h("details", { class: "menu" }, h("summary", { class: "icon-button", "aria-label": "More", title: "More" }, iconButton("more", "More").firstChild));
  const item = (words, action, extra = {}) => h("button", { type: "button", ...extra, onclick: () => {
    menu.open = false;
    action();
  } }, words);
  menu.append(
    h("div", { class: "menu-body" }, item("Rename…", rename), item("Permissions…", chooseMode, { class: "only-small" }), item("Model…", chooseModel), item("Changes", () => showChanges()), item("End the session…", end, { class: "danger-quiet" })),
  );
  menu.addEventListener("focusout", (event) => {
    if (!menu.contains(event.relatedTarget)) menu.open = false;
  });

  async function rename() {
    const field = h("input", { type: "text", value: record?.title ?? "", "aria-label": "Title", maxLength: 200 });
    const wanted = await askIn("Rename the session", field, { confirm: "Rename", read: () => field.value });
    if (wanted !== null) attempt(() => actions.rename(wanted));
  }

  async function chooseModel() {
    const known = actions.models();
    const field = h("input", { type: "text", value: record?.model ?? "", "aria-label": "Model", list: "known-models" });
    const list = h("datalist", { id: "known-models" }, known.map((value) => h("option", { value })));
    const wanted = await askIn("Change the model", [field, list], { confirm: "Change", read: () => field.value.trim() });
    if (wanted) attempt(() => actions.setModel(wanted));
  }

  async function chooseMode() {
    const copy = mode.cloneNode(true);
    copy.className = "";
    copy.value = mode.value;
    const wanted = await askIn("How much may be done without asking", copy, { confirm: "Change", read: () => copy.value });
    if (wanted) attempt(() => actions.setMode(wanted));
  }

  async function end() {
    const words = h("p", {}, "The agent is stopped and the session leaves this list. It can be found again under older sessions.");
    if (await askIn("End the session?", words, { confirm: "End it", danger: true })) attempt(actions.end);
  }

  function showChanges() {
    side.hidden = false;
    side.replaceChildren(changesView({ load: actions.diff, directory, close: () => {
      side.hidden = true;
      side.replaceChildren();
      writing.focus();
    } }));
    side.querySelector("button[aria-label=Close]").focus();
  }

  function showMode() {
    const now = record?.permission_mode ?? record?.mode ?? "";
    const known = MODES.filter(([value]) => value === now || value !== "bypassPermissions" || allowsBypass);
    const options = known.some(([value]) => value === now) ? known : [[now, now || "As in the settings"], ...known];
    mode.replaceChildren(...options.map(([value, words]) => h("option", { value, selected: value === now, disabled: !value }, words)));
  }

  const element = h(
    "section",
    { class: "session" },
    h(
      "header",
      { class: "bar" },
      iconButton("back", "All sessions", actions.back, { class: "icon-button only-small" }),
      h("div", { class: "bar-title" }, title, about),
      status,
      mode,
      iconButton("diff", "Changes in the project", showChanges, { class: "icon-button only-large" }),
      menu,
    ),
    h("div", { class: "session-body" }, h("div", { class: "session-main" }, timeline.element, h("footer", { class: "dock" }, h("div", { class: "column" }, questions, problem, writing.element))), side),
    announcer,
    reader,
  );
  // Wherever the focus is: after a click on something that is gone it is nowhere.
  const listening = new AbortController();
  const onKey = (event) => {
    if (event.key !== "Escape" || event.isComposing || document.querySelector("dialog[open]")) return;
    if (menu.open) menu.open = false;
    else if (!side.hidden) side.querySelector("button[aria-label=Close]").click();
    else if (isWorking(record?.status)) attempt(actions.interrupt);
  };
  document.addEventListener("keydown", onKey, { signal: listening.signal });

  return {
    element,
    timeline,
    focus: writing.focus,
    text: writing.text,
    close: () => listening.abort(),
    update(state, outgoing, { earlier, isConnected }) {
      const isOther = !record || record.permission_mode !== state.record?.permission_mode || record.mode !== state.mode;
      record = { ...state.record, status: state.status, mode: state.mode };
      fill(title, prose(sessionTitle(record)));
      fill(about, value([...new Set([folderOf(directory), record.agent, record.model ?? state.model, usage(record.usage)])].filter(Boolean).join(" · ")));
      about.setAttribute("title", visible(directory));
      // Without a connection nobody here knows what the agent does.
      const known = isConnected ? state.status : "unknown";
      if (status.dataset.is !== known) status.replaceChildren(statusChip(known));
      status.dataset.is = known;
      if (isOther) showMode();
      writing.update({ isWorking: isWorking(state.status) });
      const open = openQuestions(state);
      keyed(questions, open.map((question) => ({
        key: question.id,
        stamp: "",
        make: () => questionForm(question, { directory, allowsBypass, answer: (decision) => actions.answer(question.id, decision) }),
      })));
      questions.classList.toggle("many", open.length > 1);
      const now = open.length ? titleOf(open[0]) : "";
      if (now !== said) fill(announcer, now);
      said = now;
      // Whoever cannot see it hears an answer once it is whole; what was there before was heard, or is not asked for.
      const answer = state.entries.findLast((entry) => entry.kind === "text");
      if (read !== null && answer && answer.key !== read) fill(reader, plain(answer.text));
      read = answer?.key ?? "";
      timeline.update(state, { outgoing, earlier, isConnected });
    },
  };
}

function isWorking(status) {
  return ["starting", "running", "waiting_approval", "compacting"].includes(status);
}
