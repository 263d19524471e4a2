// Differences as coloured rows.

import { h, long } from "./dom.js";

/** The rows of a difference; of very many only the first are shown until asked for more. */
export function diffTable(rows, name, most = MOST) {
  const table = h("div", { class: "diff", role: "table", "aria-label": name ? `Changes of ${name}` : "Changes", tabIndex: 0 });
  const hasNumbers = rows.some((row) => row.old !== null || row.new !== null);
  const add = (from, to) => table.append(...rows.slice(from, to).map((row) => rowOf(row, hasNumbers, most.width)));
  add(0, most.rows);
  if (rows.length > most.rows) {
    const more = h("button", { type: "button", class: "quiet" }, `Show ${rows.length - most.rows} more lines`);
    more.addEventListener("click", () => {
      more.remove();
      add(most.rows, rows.length);
    });
    table.append(more);
  }
  return table;
}

function rowOf({ sign, text, old, new: now }, hasNumbers, width) {
  const kind = { "+": "added", "-": "removed", "@": "place" }[sign] ?? "same";
  const said = { "+": "added: ", "-": "removed: " }[sign];
  return h(
    "div",
    { class: `diff-row ${kind}`, role: "row" },
    hasNumbers && h("span", { class: "line-number", "aria-hidden": "true" }, String(now ?? old ?? "")),
    h("span", { class: "sign", "aria-hidden": "true" }, sign === "@" ? "" : sign),
    said && h("span", { class: "unseen" }, said),
    h("code", { role: "cell" }, text ? long(text, { rows: 1, width }) : " "),
  );
}

/** So many rows are shown, and so many characters of each end of a row. */
const MOST = { rows: 300, width: 400 };
