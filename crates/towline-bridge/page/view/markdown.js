// Markdown as elements. What a model writes is not trusted: it is cleaned before it becomes part of the page.

import { marked } from "../vendor/marked.js";
import DOMPurify from "../vendor/purify.js";
import hljs from "../vendor/highlight.js";
import { h } from "./dom.js";

marked.use({ gfm: true, async: false });
hljs.configure({ ignoreUnescapedHTML: true });

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer");
  }
  // A picture from elsewhere would tell its owner who reads this.
  if (node.tagName === "IMG" && !node.getAttribute("src")?.startsWith("data:image/")) {
    node.replaceWith(document.createTextNode(node.getAttribute("alt") || "[picture]"));
  }
});

/** The elements of a text. Code is coloured only when the text is whole: that takes time. */
export function markdown(text, { isWhole = true } = {}) {
  const body = h("div", { class: "prose" });
  let html;
  try {
    html = marked.parse(text);
  } catch {
    body.append(h("p", {}, text));
    return body;
  }
  body.append(DOMPurify.sanitize(html, RULES));
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

function copyButton(code) {
  const button = h("button", { type: "button", class: "copy" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      // There is no clipboard for pages without encryption.
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
  });
  return button;
}

const RULES = {
  RETURN_DOM_FRAGMENT: true,
  USE_PROFILES: { html: true },
  FORBID_TAGS: ["style", "form", "button", "textarea", "select", "iframe", "video", "audio", "dialog"],
  FORBID_ATTR: ["style", "srcset", "background"],
  SANITIZE_NAMED_PROPS: true,
};
/** Code that is longer is shown as it is. */
const LONGEST_CODE = 50_000;
