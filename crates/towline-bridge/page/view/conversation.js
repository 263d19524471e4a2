// The conversation of a session: entries, what is in progress, what is on its way. Follows its end unless somebody reads.

import { draftView, entryView, userMessage } from "./entry.js";
import { blocksOf } from "../data/session.js";
import { fill, h, icon, keyed } from "./dom.js";

/** `older()` is called when somebody reads up to the beginning; `outgoing` messages can be tried again or taken back. */
export function conversation({ directory, older, retry, takeBack }) {
  const opened = new Map();
  const before = h("div", { class: "before" });
  const past = h("div", { class: "entries past" });
  const entries = h("div", { class: "entries", role: "log", "aria-live": "off", "aria-label": "Conversation" });
  const drafts = h("div", { class: "entries drafts" });
  const outgoing = h("div", { class: "entries outgoing" });
  const working = h("div", { class: "working", hidden: true }, h("span", { class: "pulse", "aria-hidden": "true" }), h("span", { class: "working-words" }));
  const column = h("div", { class: "column" }, before, past, entries, drafts, outgoing, working);
  const scroller = h("div", { class: "timeline", tabIndex: 0 }, column);
  const down = h("button", { type: "button", class: "to-end", title: "To the end", "aria-label": "To the end", hidden: true, onclick: () => toEnd() }, icon("down"));
  const element = h("div", { class: "timeline-frame" }, scroller, down);
  let isAtEnd = true;
  let state = null;

  const context = {
    directory,
    opened,
    entry: (entry) => entryView(entry, context),
    drafts: (call) => (state?.drafts.get(call) ?? []).map(draftView),
    isAtWork: (call) => state?.progress.has(call) || ["running", "waiting_approval", "compacting"].includes(state?.status),
  };

  function toEnd() {
    isAtEnd = true;
    scroller.scrollTop = scroller.scrollHeight;
  }
  scroller.addEventListener("scroll", () => {
    isAtEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 60;
    down.hidden = isAtEnd;
    if (scroller.scrollTop < 400) older?.();
  });
  // Pictures and folds change the height without a scroll.
  new ResizeObserver(() => isAtEnd && toEnd()).observe(column);

  return {
    element,
    toEnd,
    isAtEnd: () => isAtEnd,
    /** Whether there is more than fits on the screen. */
    isFull: () => scroller.scrollHeight > scroller.clientHeight + 400,
    /** Keeps what is seen where it is while something is put in above. */
    holding(change) {
      const fromEnd = scroller.scrollHeight - scroller.scrollTop;
      change();
      if (!isAtEnd) scroller.scrollTop = scroller.scrollHeight - fromEnd;
    },
    show(seq) {
      const found = [...entries.children].find((node) => node.dataset.key === `${seq}` || node.dataset.key.startsWith(`${seq}.`));
      if (!found) return false;
      isAtEnd = false;
      found.scrollIntoView({ block: "center" });
      found.classList.add("found");
      return true;
    },
    /** Messages from before the bridge, above all others. */
    setPast(pastState) {
      past.replaceChildren(...pastState.entries.map((entry) => entryView(entry, { ...context, drafts: () => [], isAtWork: () => false })));
      if (pastState.entries.length) past.append(h("p", { class: "entry aside" }, "Resumed here"));
    },
    update(next, { outgoing: waiting = [], earlier = null, isConnected = true } = {}) {
      state = next;
      before.replaceChildren(...(earlier ? [h("p", { class: "aside" }, earlier)] : []));
      const isLater = (call) => (state.drafts.get(call.id) ?? []).map((draft) => draft.text.length).join();
      // Whether something works shows on cards that have no result yet.
      const doing = state.status === "idle" || state.status === "dead" ? "still" : "busy";
      keyed(entries, state.entries.map((entry) => ({
        key: entry.key,
        stamp: entry.kind === "tool" && !entry.result ? `${entry.stamp}|${doing}|${isLater(entry)}` : entry.stamp,
        make: () => entryView(entry, context),
      })));
      keyed(drafts, (state.drafts.get("") ?? []).map((draft) => ({
        key: `${draft.block}`,
        stamp: `${draft.part}.${draft.offset}.${draft.text.length}`,
        make: (node) => keepOpen(node, draftView(draft)),
      })));
      keyed(outgoing, waiting.map((item) => ({
        key: item.id,
        stamp: `${item.problem}|${item.accepted}|${isConnected}`,
        make: () => outgoingView(item, isConnected),
      })));
      const words = WORKING[state.status];
      working.hidden = !words || drafts.childElementCount > 0;
      fill(working.lastChild, words);
      if (isAtEnd) toEnd();
    },
  };

  function outgoingView(item, isConnected) {
    const node = userMessage(blocksOf(item.content), [
      item.problem
        ? h("p", { class: "problem" }, `Not sent: ${item.problem} `, h("button", { type: "button", class: "link", onclick: () => retry(item.id) }, "Try again"), " ", h("button", { type: "button", class: "link", onclick: () => takeBack(item.id) }, "Take back"))
        : h("p", { class: "faint small" }, item.accepted ? "Sent" : isConnected ? "Sending…" : "Waits for the connection"),
    ]);
    node.classList.add("unsent");
    return node;
  }
}

/** Somebody who has unfolded what grows wants it to stay so. */
function keepOpen(old, made) {
  if (old?.tagName === "DETAILS" && old.open) made.open = true;
  return made;
}

const WORKING = { running: "Working", starting: "Starting the agent", compacting: "Summing up the conversation" };
