// The question whether a folder may be trusted, with what its files ask for. All of that is untrusted text: it is shown as
// text, each value isolated, with the characters visible that hide or reorder others.

import { asksInSight } from "../data/trust.js";
import { TRUST_KINDS } from "../data/words.js";
import { h, long, value } from "./dom.js";

/** Asks a person; gives "trust", "without", or null if nothing is to begin. */
export function askForTrust({ folder, asks, more }) {
  return new Promise((resolve) => {
    const within = (path) => (path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path);
    const title = "Do you trust this folder?";
    const row = (ask) => h("li", {}, `${TRUST_KINDS[ask.kind] ?? ask.kind}: `, h("code", {}, long(ask.value, undefined, "line")), " ", h("span", { class: "faint" }, "in ", value(within(ask.path))));
    const { shown, left, words } = asksInSight(asks);
    const all = h("button", { type: "button", class: "link" }, "Show all");
    const others = h("li", { class: "left-out", hidden: !left.length }, `${words} `, all);
    all.addEventListener("click", () => {
      const rows = left.map(row);
      others.replaceWith(...rows);
      rows[0].tabIndex = -1;
      rows[0].focus({ preventScroll: true });
    });
    const form = h(
      "form",
      { method: "dialog", class: "box trust" },
      h("h2", {}, title),
      h("p", {}, h("code", {}, value(folder))),
      h("p", {}, "You have not trusted it yet. Its files ask for this, and it counts only if you do:"),
      h(
        "ul",
        { class: "asks" },
        shown.map(row),
        others,
        more ? h("li", {}, `and ${more} more rules`) : null,
      ),
      h("p", {}, "If you trust it, the settings of all folders below it count too; they are not listed here."),
      h("p", { class: "faint" }, "What its files deny or want to be asked about counts in any case."),
      h(
        "div",
        { class: "row end" },
        h("button", { type: "submit", value: "no" }, "Cancel"),
        h("button", { type: "submit", value: "trust", class: "danger" }, "Trust it"),
        h("button", { type: "submit", value: "without", class: "primary" }, "Go on without"),
      ),
    );
    const dialog = h("dialog", { "aria-label": title }, form);
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(["trust", "without"].includes(dialog.returnValue) ? dialog.returnValue : null);
    });
    document.body.append(dialog);
    dialog.showModal();
    // A button that had the focus would bring the end of the list into sight before its beginning.
    form.querySelector("h2").tabIndex = -1;
    form.querySelector("h2").focus({ preventScroll: true });
  });
}
