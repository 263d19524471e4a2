// The list of sessions with its search, and what all of them have used.

import { folderOf, inOrder, matching, titleOf } from "../data/list.js";
import { STATUS, ago } from "../data/words.js";
import { fill, h, icon, keyed, prose, value } from "./dom.js";

/** `find(words)` looks for words in all sessions: `{here: […], past: […]}`. */
export function sessionList({ find }) {
  let records = new Map();
  let chosen = null;
  let found = null;
  let asked = 0;
  let timer;
  const field = h("input", { type: "search", placeholder: "Search sessions", "aria-label": "Search sessions", autocomplete: "off" });
  const list = h("ul", { class: "sessions", "aria-label": "Sessions" });
  const results = h("div", { class: "results", "aria-live": "polite" });
  const footer = h("p", { class: "side-footer faint" });
  const element = h(
    "aside",
    { id: "side", "aria-label": "Sessions" },
    h("header", { class: "side-head" }, h("a", { class: "brand", href: "#/" }, "Towline"), h("a", { class: "button primary", href: "#/new" }, icon("plus"), "New")),
    h("div", { class: "search" }, icon("search"), field),
    h("nav", { class: "side-scroll", "aria-label": "Sessions" }, list, results),
    footer,
  );

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, 250);
    show();
  });

  async function look() {
    const words = field.value.trim();
    const turn = ++asked;
    if (!words) {
      found = null;
      await older();
      return;
    }
    let answer;
    try {
      answer = await find(words);
    } catch (error) {
      answer = { here: [], past: [], problem: error.message };
    }
    if (turn !== asked) return;
    found = answer;
    show();
  }

  /** The old sessions, when nothing is looked for. */
  async function older() {
    const turn = ++asked;
    try {
      const { past } = await find("");
      if (turn === asked) found = { here: [], past };
    } catch {
      // The list of old sessions is an addition; without it the rest still works.
    }
    show();
  }

  function show() {
    const words = field.value.trim();
    const listed = matching(inOrder(records), words);
    const now = Date.now();
    keyed(list, listed.map((record) => ({
      key: record.id,
      stamp: `${record.status}|${record.title}|${record.last_message}|${ago(record.active_at, now)}|${record.id === chosen}`,
      make: () => row(record, now, record.id === chosen),
    })));
    const known = new Set([...records.values()].filter((record) => !record.archived).map((record) => record.agent_session_id));
    const past = (found?.past ?? []).filter((old) => !known.has(old.session));
    results.replaceChildren(
      ...[
        !records.size && !past.length && !words ? h("p", { class: "faint pad" }, "No sessions yet.") : null,
        found?.problem ? h("p", { class: "problem pad" }, found.problem) : null,
        words && found?.here.length ? section("Said in sessions here", found.here.map((hit) => hitRow(hit, records))) : null,
        past.length ? section("Older sessions", past.map(pastRow)) : null,
        words && found && !listed.length && !found.here.length && !past.length ? h("p", { class: "faint pad" }, "Nothing found.") : null,
      ].filter(Boolean),
    );
  }

  return {
    element,
    focus: () => field.focus(),
    older,
    update(state) {
      ({ records, chosen } = state);
      fill(footer, state.used);
      show();
    },
  };
}

/** What a session does, as a mark with words. */
export function statusChip(status) {
  return h("span", { class: `status ${status}` }, STATUS[status] ?? status);
}

function row(record, now, isChosen) {
  return h(
    "li",
    {},
    h(
      "a",
      { class: "session-row", href: `#/s/${encodeURIComponent(record.id)}`, "aria-current": isChosen ? "page" : null },
      h("span", { class: "row-title" }, prose(titleOf(record))),
      h("span", { class: "row-time faint" }, ago(record.active_at, now)),
      h("span", { class: "row-about faint" }, value(`${folderOf(record.directory)} · ${record.agent}`)),
      record.status === "idle" ? null : statusChip(record.status),
    ),
  );
}

function section(title, rows) {
  return h("section", {}, h("h2", { class: "side-title" }, title), h("ul", { class: "sessions" }, rows));
}

function hitRow({ session, seq, snippet }, records) {
  const record = records.get(session);
  return h(
    "li",
    {},
    h(
      "a",
      { class: "session-row", href: `#/s/${encodeURIComponent(session)}/${seq}` },
      h("span", { class: "row-title" }, prose(record ? titleOf(record) : session)),
      h("span", { class: "row-snippet faint" }, snippet.map(({ text, found }) => (found ? h("mark", {}, text) : text))),
    ),
  );
}

function pastRow({ session, title, directory, modified, excerpt }) {
  return h(
    "li",
    {},
    h(
      "a",
      { class: "session-row", href: `#/past/${encodeURIComponent(session)}?directory=${encodeURIComponent(directory ?? "")}` },
      h("span", { class: "row-title" }, prose(title || "Untitled")),
      h("span", { class: "row-time faint" }, ago(Date.parse(modified), Date.now())),
      h("span", { class: "row-about faint" }, prose(excerpt ?? folderOf(directory ?? ""))),
    ),
  );
}
