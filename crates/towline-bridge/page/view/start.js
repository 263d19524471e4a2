// How a session begins: agent, folder, model, mode, and the first words.

import { isInside } from "../data/place.js";
import { MODES } from "../data/words.js";
import { composer } from "./composer.js";
import { fill, h } from "./dom.js";

/** `begin(wish, content)` starts a session; `folders(directory)` lists what is in a folder. */
export function startView({ choices, recent, begin, folders }) {
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const agent = h("select", { id: "agent" }, choices.agents.map((name) => h("option", { value: name, selected: name === choices.default }, name)));
  const directory = h("input", { id: "directory", type: "text", value: recent[0] ?? choices.roots[0] ?? "", list: "folders", spellcheck: false, autocomplete: "off", autocapitalize: "off" });
  const known = h("datalist", { id: "folders" });
  const model = h("input", { id: "model", type: "text", placeholder: "the agent's own choice", list: "models", spellcheck: false, autocomplete: "off", autocapitalize: "off" });
  const modes = MODES.filter(([mode]) => mode !== "bypassPermissions" || choices.bypass_permissions);
  const mode = h("select", { id: "mode" }, h("option", { value: "" }, "As in the settings"), modes.map(([value, words]) => h("option", { value }, words)));
  const hint = h("p", { class: "faint hint" });
  const setHint = () => {
    hint.replaceChildren(...(agent.value === "offline" ? OFFLINE() : []));
    model.disabled = agent.value === "offline";
  };
  agent.addEventListener("change", setHint);
  setHint();

  const suggest = async () => {
    const typed = directory.value.endsWith("/") ? directory.value : directory.value.slice(0, directory.value.lastIndexOf("/") + 1);
    let inside = [];
    try {
      // What is outside of the roots is not told, so nobody asks.
      const listing = isInside(typed, choices.roots) ? await folders(typed) : null;
      inside = (listing?.directories ?? []).map((entry) => entry.path ?? typed + entry.name);
    } catch {
      // Typing a folder by hand works all the same.
    }
    known.replaceChildren(...[...new Set([...recent, ...choices.roots, ...inside])].map((path) => h("option", { value: path })));
  };
  directory.addEventListener("focus", suggest, { once: true });
  directory.addEventListener("input", () => directory.value.endsWith("/") && suggest());

  const writing = composer({
    placeholder: "What is to be done?",
    interrupt: () => {},
    send: async (content) => {
      problem.hidden = true;
      view.inert = true;
      try {
        await begin(
          {
            agent: agent.value,
            directory: directory.value.trim() || undefined,
            model: model.disabled ? undefined : model.value.trim() || undefined,
            permission_mode: mode.value || undefined,
          },
          content,
        );
      } catch (error) {
        fill(problem, error.message);
        problem.hidden = false;
        writing.restore(content);
      } finally {
        view.inert = false;
      }
    },
  });
  const field = (name, label, input) => h("div", { class: "field" }, h("label", { htmlFor: name }, label), input);
  const view = h(
    "section",
    { class: "start" },
    h("h1", {}, "New session"),
    h(
      "div",
      { class: "grid" },
      field("agent", "Agent", agent),
      field("directory", "Folder", directory),
      field("model", "Model", model),
      field("mode", "Permissions", mode),
    ),
    known,
    h("datalist", { id: "models" }, ["opus", "sonnet", "haiku"].map((value) => h("option", { value }))),
    hint,
    problem,
    writing.element,
  );
  return { element: view, focus: writing.focus };
}

const OFFLINE = () => [
  "This agent needs no account: it has no model and does what simple words say, with real tools. Try ",
  ...["run ls -la", "write notes.md: hello", "ask Which colour? red, green", "plan a small change"].flatMap((words, index) => [index ? ", " : "", h("code", {}, words)]),
  ".",
];
