// The messages in progress of a session (pure): what has been streamed and is not in a frame yet.
//
// A delta says where in its block it begins (in UTF-16 code units, as JavaScript counts), so that it can be put in its
// place whatever was there before: after a reconnect, or when the model begins a message anew.

/** No message in progress. */
export function newDrafts() {
  return new Map();
}

/** The drafts as the bridge has them, when a viewer comes. */
export function fromSnapshot(snapshot) {
  const drafts = newDrafts();
  for (const { parent, blocks } of snapshot) {
    const copies = blocks.map(({ block, part, tool_name: tool, offset, text }) => ({ block, part, tool, offset, text }));
    drafts.set(parent ?? "", copies);
  }
  return drafts;
}

/** Puts a delta in its place. */
export function splice(drafts, { parent, block, part, tool_name: tool, offset, text }) {
  const thread = parent ?? "";
  // Blocks are streamed in order: what stands behind this one belongs to a message that was given up.
  const blocks = (drafts.get(thread) ?? []).filter((known) => known.block <= block);
  let found = blocks.find((known) => known.block === block);
  if (!found || found.part !== part) {
    blocks.splice(found ? blocks.indexOf(found) : blocks.length);
    found = { block, part, tool, offset, text: "" };
    blocks.push(found);
  }
  found.tool ??= tool;
  const end = found.offset + found.text.length;
  if (offset > end || offset < found.offset) {
    // A piece is missing. What comes now is shown; the whole comes when it is complete.
    found.offset = offset;
    found.text = text;
  } else {
    found.text = found.text.slice(0, offset - found.offset) + text;
  }
  drafts.set(thread, blocks);
}

/** A whole message has come: as many blocks as it has are no draft any more. */
export function settle(drafts, parent, count) {
  const blocks = drafts.get(parent ?? "")?.slice(count) ?? [];
  if (blocks.length) drafts.set(parent ?? "", blocks);
  else drafts.delete(parent ?? "");
}
