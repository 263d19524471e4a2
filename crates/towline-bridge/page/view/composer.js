// Where a person writes: words and pictures. Enter sends, Shift+Enter makes a new line, Esc stops the agent.

import { pictureBlock } from "../data/picture.js";
import { blockView } from "./tool.js";
import { fill, h, icon, iconButton } from "./dom.js";

/** `send(content)` takes a message, `interrupt()` stops the agent. What is returned has `update({isWorking, ...})`. */
export function composer({ send, interrupt, placeholder = "What is to be done?", text = "" }) {
  let pictures = [];
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const words = h("textarea", { rows: 1, placeholder, "aria-label": "Message", enterKeyHint: "send", autocomplete: "off", value: text });
  const shelf = h("div", { class: "shelf", hidden: true });
  const chooser = h("input", { type: "file", accept: "image/*", multiple: true, hidden: true });
  const submit = h("button", { type: "submit", class: "primary round", title: "Send (Enter)", "aria-label": "Send" }, icon("send"));
  const stop = h("button", { type: "button", class: "round stop", title: "Stop (Esc)", "aria-label": "Stop", onclick: interrupt, hidden: true }, icon("stop"));
  const form = h("form", { class: "composer" }, problem, shelf, h("div", { class: "writing" }, iconButton("image", "Add a picture", () => chooser.click()), chooser, words, stop, submit));

  const grow = () => {
    words.style.height = "auto";
    words.style.height = `${Math.min(words.scrollHeight, innerHeight * 0.4)}px`;
  };
  const complain = (text) => {
    fill(problem, text);
    problem.hidden = !text;
  };
  const showPictures = () => {
    shelf.hidden = !pictures.length;
    shelf.replaceChildren(
      ...pictures.map((picture) =>
        h("div", { class: "thumbnail" }, blockView(picture), iconButton("close", "Remove this picture", () => {
          pictures = pictures.filter((other) => other !== picture);
          showPictures();
        })),
      ),
    );
  };
  const take = async (files) => {
    complain("");
    for (const file of files) {
      if (pictures.length >= MOST_PICTURES) return complain(`No more than ${MOST_PICTURES} pictures go with a message.`);
      try {
        pictures.push(await pictureBlock(file));
      } catch (error) {
        complain(error.message);
      }
    }
    showPictures();
  };

  chooser.addEventListener("change", () => {
    take([...chooser.files]);
    chooser.value = "";
  });
  words.addEventListener("input", grow);
  words.addEventListener("paste", (event) => {
    const files = [...(event.clipboardData?.files ?? [])].filter((file) => file.type.startsWith("image/"));
    if (!files.length) return;
    event.preventDefault();
    take(files);
  });
  form.addEventListener("dragover", (event) => event.preventDefault());
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    take([...event.dataTransfer.files]);
  });
  words.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const said = words.value.trim();
    if (!said && !pictures.length) return words.focus();
    const content = pictures.length ? [...pictures, ...(said ? [{ type: "text", text: said }] : [])] : said;
    pictures = [];
    words.value = "";
    complain("");
    showPictures();
    grow();
    send(content);
  });

  return {
    element: form,
    focus: () => words.focus(),
    text: () => words.value,
    /** Puts a message back that could not be sent. */
    restore(content) {
      if (typeof content === "string") words.value = [content, words.value].filter(Boolean).join("\n");
      else {
        pictures = content.filter((block) => block.type === "image");
        words.value = content.filter((block) => block.type === "text").map((block) => block.text).join("\n");
        showPictures();
      }
      grow();
      words.focus();
    },
    update({ isWorking }) {
      stop.hidden = !isWorking;
    },
  };
}

const MOST_PICTURES = 10;
