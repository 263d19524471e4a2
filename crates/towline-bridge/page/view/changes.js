// What has changed in a project since its last commit.

import { parseUnified } from "../data/diff.js";
import { diffTable } from "./diff.js";
import { h, iconButton, value } from "./dom.js";

/** `load()` gives the answer of `/api/diff`. */
export function changesView({ load, close, directory }) {
  const body = h("div", { class: "changes-body" }, h("p", { class: "faint pad" }, "Looking…"));
  const show = async () => {
    try {
      const { diff } = await load();
      const files = parseUnified(diff ?? "");
      body.replaceChildren(
        ...(files.length ? files.map(fileView) : [h("p", { class: "faint pad" }, "Nothing has changed since the last commit.")]),
      );
    } catch (error) {
      body.replaceChildren(h("p", { class: "problem pad" }, error.message));
    }
  };
  show();
  return h(
    "section",
    { class: "changes", "aria-label": "Changes" },
    h("header", { class: "bar" }, h("h2", {}, "Changes"), h("span", { class: "faint grow" }, value(directory)), h("button", { type: "button", onclick: show }, "Refresh"), iconButton("close", "Close", close)),
    body,
  );
}

function fileView({ name, was, state, added, removed, rows, isBinary, note }) {
  return h(
    "details",
    { class: "card", open: rows.length < 400 },
    h(
      "summary",
      {},
      h("span", { class: "tool-name" }, value(name)),
      h("span", { class: "tool-summary" }, state === "renamed" ? ["was ", value(was)] : state === "changed" ? "" : state),
      h("span", { class: "plus" }, `+${added}`),
      h("span", { class: "minus" }, `−${removed}`),
    ),
    isBinary || note ? h("p", { class: "faint pad" }, note || "Not text") : null,
    rows.length ? diffTable(rows, name) : null,
  );
}
