// Making elements. Text is always text: nothing here reads HTML, and what a text hides is shown (data/shown.js).

import { cut, hiddenWords, piecesOf, visible } from "../data/shown.js";

/** An element with properties, attributes, listeners (`onclick`) and children; what is null or false is left out. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "data") Object.assign(element.dataset, value);
    else if (READ.has(name)) element.setAttribute(name, visible(value));
    else if (name in element && !name.startsWith("aria") && name !== "list" && name !== "role") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  put(element, children);
  return element;
}

/** Has `element` hold these children and no others; a string is shown as `visible` says. */
export function fill(element, ...children) {
  element.replaceChildren();
  put(element, children);
}

/** A value that is not ours (a path, a rule, a name), on one line and isolated from what stands around it. */
export function value(text) {
  return h("bdi", { dir: "ltr" }, shown(text, "line"));
}

/** Sentences that are not ours, in the direction of their script and isolated. */
export function prose(text) {
  return h("bdi", { dir: "auto" }, shown(text, "prose"));
}

/** Lines that are not ours. The middle of a long text is left out, with how much that is and a button that shows it. */
export function long(text, most, kind = "lines") {
  const parts = cut(text, most);
  if (!parts) return h("bdi", { dir: "ltr" }, shown(text, kind));
  const whole = h("bdi", { dir: "ltr" }, shown(parts.head, kind));
  const all = h("button", { type: "button", class: "link" }, "Show all");
  all.addEventListener("click", () => {
    fill(whole, shown(text, kind));
    whole.tabIndex = -1;
    whole.focus({ preventScroll: true });
  });
  whole.append(h("span", { class: "left-out" }, `${hiddenWords(parts)} `, all));
  put(whole, shown(parts.tail, kind));
  return whole;
}

/** The nodes of a text: what is spelled out is told from what was written so, letters from right to left are isolated. */
export function shown(text, kind) {
  return piecesOf(text, kind).map(({ text, is }) => {
    if (is === "plain") return document.createTextNode(text);
    const element = document.createElement(is === "rtl" ? "bdi" : "span");
    if (is === "escape") element.className = "escape";
    element.append(text);
    return element;
  });
}

function put(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(...(child instanceof Node ? [child] : shown(child, "lines")));
  }
}

/** A small picture. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** A button with a picture; its words are for who cannot see it, and for a tooltip. */
export function iconButton(name, words, onclick, properties = {}) {
  return h("button", { type: "button", class: "icon-button", title: words, "aria-label": words, onclick, ...properties }, icon(name));
}

/** Has `element` hold these children, keyed: a node with a known key and stamp is kept as it is. */
export function keyed(element, wanted) {
  const known = new Map();
  for (const node of element.children) known.set(node.dataset.key, node);
  let place = element.firstElementChild;
  for (const { key, stamp, make } of wanted) {
    let node = known.get(key);
    if (!node || node.dataset.stamp !== stamp) {
      const made = make(node);
      made.dataset.key = key;
      made.dataset.stamp = stamp;
      if (node && node !== made) {
        if (place === node) place = made;
        node.replaceWith(made);
      }
      node = made;
    }
    known.delete(key);
    if (node === place) place = place.nextElementSibling;
    else element.insertBefore(node, place);
  }
  for (const node of known.values()) node.remove();
}

/** Asks a person in a box over the page; gives what `read` makes of the form, or null. */
export function askIn(title, fields, { confirm = "OK", danger = false, read = () => true } = {}) {
  return new Promise((resolve) => {
    const form = h(
      "form",
      { method: "dialog", class: "box" },
      h("h2", {}, title),
      fields,
      h(
        "div",
        { class: "row end" },
        h("button", { type: "submit", value: "no", formNoValidate: true }, "Cancel"),
        h("button", { type: "submit", value: "yes", class: danger ? "danger" : "primary" }, confirm),
      ),
    );
    const dialog = h("dialog", { "aria-label": title }, form);
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes" ? read(form) : null);
    });
    document.body.append(dialog);
    dialog.showModal();
    // Enter in a field means yes, not the first button.
    form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target.matches("input")) {
        event.preventDefault();
        form.querySelector("button[value=yes]").click();
      }
    });
  });
}

/** Attributes that a person reads or hears. */
const READ = new Set(["title", "aria-label", "placeholder", "alt", "label"]);
const SVG = "http://www.w3.org/2000/svg";
const ICONS = {
  plus: "M12 5v14M5 12h14",
  back: "M15 5l-7 7 7 7",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  image: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 9.5h.01",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  diff: "M12 4v8M8 8h8M8 18h8",
  close: "M6 6l12 12M18 6L6 18",
  down: "M12 5v14M6 13l6 6 6-6",
  done: "M5 12l5 5 9-10",
  folder: "M3 6h6l2 2h10v11H3z",
  search: "M11 4a7 7 0 110 14 7 7 0 010-14zM20 20l-4-4",
  tool: "M5 7l5 5-5 5M12 17h7",
  agent: "M12 4v3M6 7h12v11H6zM9.5 12h.01M14.5 12h.01M3 11v4M21 11v4",
  alert: "M12 4l9 16H3zM12 10v4M12 17h.01",
};
