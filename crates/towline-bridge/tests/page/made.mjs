// Frames and events as the bridge gives them, for the tests of the page's data layer.

/** A frame of the session `s`. */
export function frame(seq, kind, body) {
  return { session: "s", seq, at: 1000 + seq, kind, body };
}

export const input = (seq, content, id) => frame(seq, "input", { content, client_message_id: id, by: "tester" });
export const assistant = (seq, content, parent = null) =>
  frame(seq, "line", { type: "assistant", message: { content }, parent_tool_use_id: parent });
export const text = (words) => ({ type: "text", text: words });
export const call = (id, name, values = {}) => ({ type: "tool_use", id, name, input: values });
export const toolResult = (seq, id, content, extra = {}) =>
  frame(seq, "line", {
    type: "user",
    message: { content: [{ type: "tool_result", tool_use_id: id, content, ...extra.block }] },
    parent_tool_use_id: extra.parent ?? null,
    tool_use_result: extra.whole,
  });
export const question = (seq, id, tool) =>
  frame(seq, "question", { id, ask: "permission", tool_name: tool, tool_use_id: id, input: {}, request: {} });
export const answer = (seq, id, outcome) => frame(seq, "answer", { id, outcome });
export const note = (seq, code) => frame(seq, "note", { code, text: "words" });
export const result = (seq) => frame(seq, "line", { type: "result", subtype: "success", is_error: false });
export const delta = (block, offset, words, extra = {}) => ({ session: "s", block, part: "text", offset, text: words, ...extra });
