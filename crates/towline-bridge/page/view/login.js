// What is shown to somebody who is not let in.

import { fill, h } from "./dom.js";

/** `enter(token)` trades a token for a cookie. */
export function loginView({ enter, problem: first }) {
  const problem = h("p", { class: "problem", role: "alert", hidden: !first }, first ?? "");
  const field = h("input", { id: "token", type: "password", required: true, autocomplete: "current-password", spellcheck: false });
  const form = h(
    "form",
    { class: "box login" },
    h("h1", {}, "Towline"),
    h("p", {}, "Open the link that ", h("code", {}, "towline serve"), " printed where it was started. It looks like this:"),
    h("pre", { class: "output" }, `${location.origin}/#token=…`),
    h("p", {}, "Or paste the link, or the token alone. It is also in the file that was named there."),
    h("label", { htmlFor: "token" }, "Link or token"),
    field,
    problem,
    h("div", { class: "row end" }, h("button", { type: "submit", class: "primary" }, "Let me in")),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    form.inert = true;
    try {
      await enter(field.value.trim().replace(/^.*[#&?]token=/, ""));
    } catch (error) {
      fill(problem, error.message);
      problem.hidden = false;
    } finally {
      form.inert = false;
    }
  });
  return { element: h("section", { class: "centre" }, form), focus: () => field.focus() };
}
