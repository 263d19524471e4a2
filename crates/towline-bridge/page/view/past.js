// A session that was held elsewhere: its last messages, and a way to go on with it.

import { newSession, apply } from "../data/session.js";
import { conversation } from "./conversation.js";
import { fill, h, iconButton, value } from "./dom.js";

/** `history` is the answer of `/api/past/{session}`; `resume({fork})` goes on with it. */
export function pastView({ session, directory, history, resume, back }) {
  const state = fromHistory(session, history.messages);
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const go = (fork) => async () => {
    buttons.inert = true;
    try {
      await resume({ fork });
    } catch (error) {
      fill(problem, error.message);
      problem.hidden = false;
      buttons.inert = false;
    }
  };
  const buttons = h(
    "div",
    { class: "row actions" },
    h("button", { type: "button", class: "primary", onclick: go(false) }, "Resume"),
    h("button", { type: "button", onclick: go(true) }, "Resume in a copy"),
  );
  const timeline = conversation({ directory });
  timeline.update(state, { outgoing: [], earlier: history.earlier ? "There is more before this." : null });
  return {
    element: h(
      "section",
      { class: "session" },
      h("header", { class: "bar" }, iconButton("back", "All sessions", back, { class: "icon-button only-small" }), h("div", { class: "bar-title" }, h("h1", {}, "An older session"), h("p", { class: "faint" }, value(directory)))),
      timeline.element,
      h("footer", { class: "dock" }, h("div", { class: "column" }, problem, buttons)),
    ),
    settled: () => timeline.toEnd(),
  };
}

/** Messages of a transcript, as the frames that they would have been. */
export function fromHistory(id, messages) {
  const state = newSession(id);
  messages.forEach(({ role, content, timestamp }, index) => {
    const body = { type: role, message: { role, content }, parent_tool_use_id: null };
    apply(state, "frame", { session: id, seq: index + 1, at: Date.parse(timestamp) || 0, kind: "line", body });
  });
  return state;
}
