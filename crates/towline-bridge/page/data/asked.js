// Calls as a question shows them (pure): the fields of an input beside its own view, so that each of them is in sight.

/**
 * The fields of a call's input that the view of its tool does not show, as `[name, text]`. A tool without a view of its own
 * has all of them here. `said` is a description that stands in the question already.
 */
export function otherFields(tool, input, said) {
  const shown = VIEWS.get(tool) ?? {};
  const isShown = ([name, value]) =>
    (Object.hasOwn(shown, name) && shown[name](value)) || (tool === "Bash" && name === "description" && value === said);
  return Object.entries(input ?? {}).filter((field) => !isShown(field)).map(([name, value]) => [name, fieldText(value)]);
}

/** The fields of a request of a server, as `[name, text]`, that its form does not show. */
export function otherRequestFields(request, hasForm) {
  const isShown = ([name, value]) => name === "subtype" || (name === "message" && isText(value)) || (hasForm && ["requested_schema", "requestedSchema"].includes(name));
  return Object.entries(request).filter((field) => !isShown(field)).map(([name, value]) => [name, fieldText(value)]);
}

/** Whether a tool has a view of its own: a difference, a command, a prompt. */
export function hasView(tool) {
  return VIEWS.has(tool);
}

/** Words about a call that its view does not say by itself. */
export function notesOn(tool, input) {
  return tool === "Edit" && input.replace_all === true ? ["Every place in the file that reads so is changed."] : [];
}

/** A field as text: a string as it is, anything else as JSON. */
export function fieldText(value) {
  return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
}

/**
 * Whether a text that was rendered still has every letter and digit of its source, in their order. Markdown drops targets
 * of links, definitions, words behind a fence and cells that a row has too many.
 */
export function keepsAll(source, rendered) {
  return lettersOf(source) === lettersOf(rendered);
}

function lettersOf(text) {
  return String(text).replace(/[^\p{L}\p{N}]+/gu, "");
}

const isText = (value) => typeof value === "string";
/** Edits of which a difference shows all; others are shown as they are. */
const areEdits = (edits) =>
  Array.isArray(edits) &&
  edits.every((edit) => edit && Object.entries(edit).every(([name, value]) => (["old_string", "new_string"].includes(name) ? isText(value) : name === "replace_all" && typeof value === "boolean")));
/** The fields that a view shows, each with whether it shows such a value. */
const VIEWS = new Map(
  Object.entries({
    Edit: { file_path: isText, old_string: isText, new_string: isText, replace_all: (value) => typeof value === "boolean" },
    MultiEdit: { file_path: isText, edits: areEdits },
    Write: { file_path: isText, content: isText },
    Bash: { command: isText },
    Task: { prompt: isText },
    Agent: { prompt: isText },
    ExitPlanMode: { plan: isText },
  }),
);
