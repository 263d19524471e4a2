// Markdown as elements. What a model writes is not trusted: it is cleaned before it becomes part of the page.

import { keepsAll } from "../data/asked.js";
import { visible } from "../data/shown.js";
import { marked } from "../vendor/marked.js";
import DOMPurify from "../vendor/purify.js";
import hljs from "../vendor/highlight.js";
import { fill, h, shown, value } from "./dom.js";

// HTML among the words is shown as it was written: who reads wants to see it, not what it would do.
marked.use({ gfm: true, breaks: true, async: false, renderer: { html: ({ text }) => escaped(text) } });
hljs.configure({ ignoreUnescapedHTML: true });

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer");
  }
  // A picture from elsewhere would tell its owner who reads this.
  if (node.tagName === "IMG" && !node.getAttribute("src")?.startsWith("data:image/")) {
    node.replaceWith(node.getAttribute("alt") || "[picture]");
  }
});

/**
 * The elements of a text of which all is seen: targets stand behind the words of links, the language above its code. Null
 * if a part of it would still not be seen.
 */
export function wholeMarkdown(text) {
  const body = markdown(text, { hasTargets: true });
  const fits = !body.querySelector(DEEP) && [...body.querySelectorAll("tr")].every((row) => row.cells.length <= MOST_CELLS);
  return fits && keepsAll(text, wordsOf(body)) ? body : null;
}

/** The words of rendered Markdown as they are seen: with the numbers of its lists, without what the page adds. */
function wordsOf(node) {
  if (node.nodeType === Node.TEXT_NODE) return node.data;
  if (node.nodeType !== Node.ELEMENT_NODE || node.matches(".copy")) return "";
  if (node.matches("input")) return node.checked ? "x" : "";
  const words = [...node.childNodes].map(wordsOf).join("");
  if (!node.matches("ol > li")) return words;
  const list = node.parentElement;
  return `${list.start + [...list.children].indexOf(node)} ${words}`;
}

/** The elements of a text. Code is coloured only when the text is whole: that takes time. */
export function markdown(text, { isWhole = true, hasTargets = false } = {}) {
  const body = h("div", { class: "prose", dir: "auto" });
  let html;
  try {
    html = marked.parse(text);
  } catch {
    body.append(h("p", {}, text));
    return body;
  }
  body.append(revealed(DOMPurify.sanitize(html, RULES)));
  if (hasTargets) addTargets(body);
  for (const table of body.querySelectorAll("table")) {
    const frame = h("div", { class: "scroll" });
    table.replaceWith(frame);
    frame.append(table);
  }
  for (const code of body.querySelectorAll("pre > code")) {
    const pre = code.parentElement;
    pre.tabIndex = 0;
    if (!isWhole) continue;
    const language = [...code.classList].find((name) => name.startsWith("language-"))?.slice(9);
    if (language && hljs.getLanguage(language) && code.textContent.length < LONGEST_CODE) hljs.highlightElement(code);
    const frame = h("div", { class: "code" }, copyButton(code));
    pre.replaceWith(frame);
    frame.append(pre);
  }
  return body;
}

/** Puts the target of each link behind its words, and the language of code above it. */
function addTargets(body) {
  for (const link of body.querySelectorAll("a[href]")) {
    const target = link.getAttribute("href");
    if (!["", "mailto:", "http://"].some((start) => target === start + link.textContent)) link.after(h("span", { class: "target" }, " (", value(target), ")"));
  }
  for (const code of body.querySelectorAll("pre > code")) {
    const language = [...code.classList].find((name) => name.startsWith("language-"))?.slice(9);
    if (language) code.parentElement.before(h("p", { class: "faint small" }, value(language)));
  }
}

/** Words of a language in its direction, code from left to right, and nothing in them that is not seen. After Markdown
 * was read: it knows characters by number too. */
function revealed(fragment) {
  const texts = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) found.push(texts.currentNode);
  for (const text of found) text.replaceWith(...shown(text.data, text.parentElement?.closest("code,pre") ? "lines" : "prose"));
  for (const element of fragment.querySelectorAll("*")) {
    if (element.matches("code,pre")) element.dir = "ltr";
    else if (element.matches("p,li,h1,h2,h3,h4,h5,h6,td,th,blockquote")) element.dir = "auto";
    for (const name of ["title", "alt"]) if (element.hasAttribute(name)) element.setAttribute(name, visible(element.getAttribute(name)));
  }
  return fragment;
}

function escaped(text) {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function copyButton(code) {
  const button = h("button", { type: "button", class: "copy" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      fill(button, "Copied");
    } catch {
      // There is no clipboard for pages without encryption.
      getSelection().selectAllChildren(code);
      fill(button, "Selected");
    }
  });
  return button;
}

/** Lists in lists that leave no room for words on a phone. */
const DEEP = Array(6).fill(":is(ul, ol, blockquote)").join(" ");
/** A row with more cells does not fit on a phone. */
const MOST_CELLS = 6;
const RULES = {
  RETURN_DOM_FRAGMENT: true,
  USE_PROFILES: { html: true },
  FORBID_TAGS: ["style", "form", "button", "textarea", "select", "iframe", "video", "audio", "dialog"],
  FORBID_ATTR: ["style", "srcset", "background"],
  SANITIZE_NAMED_PROPS: true,
};
/** Code that is longer is shown as it is. */
const LONGEST_CODE = 50_000;
