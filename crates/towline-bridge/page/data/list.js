// The list of sessions (pure): records by id, in the order in which a person looks for them.

/** What a session is called: by a person or the agent, else by how its last message begins, else by its folder. */
export function titleOf(record) {
  const words = record.title || firstLine(record.last_message) || folderOf(record.directory);
  return words.length > 80 ? `${words.slice(0, 79)}…` : words;
}

/** The last part of a path. */
export function folderOf(directory) {
  return directory.split("/").filter(Boolean).at(-1) ?? "/";
}

/** Puts in a record, unless a newer one is there. Gives whether something has changed. */
export function put(records, record) {
  const known = records.get(record.id);
  if (known && known.last_seq > record.last_seq) return false;
  records.set(record.id, record);
  return true;
}

/** Those that were not ended: first who waits for a person, then the latest. */
export function inOrder(records) {
  const listed = [...records.values()].filter((record) => !record.archived);
  const waits = (record) => (record.status === "waiting_approval" ? 0 : 1);
  return listed.sort((a, b) => waits(a) - waits(b) || b.active_at - a.active_at || (a.id < b.id ? -1 : 1));
}

/** How many wait for a person. */
export function waiting(records) {
  return inOrder(records).filter((record) => record.status === "waiting_approval").length;
}

/** Those in whose title, folder or last message all these words are. */
export function matching(listed, words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return listed.filter((record) => {
    const text = `${titleOf(record)} ${record.directory} ${record.last_message ?? ""} ${record.agent}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

function firstLine(text) {
  return (text ?? "").split("\n").find((line) => line.trim())?.replace(/^[#>*\-\s]+/, "").trim() ?? "";
}
