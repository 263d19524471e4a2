// Requests of a folder's files (pure): their order, and how many of them are in sight.

import { TRUST_KINDS } from "./words.js";

/**
 * The requests that are in sight at once: those that start a program first. `left` has the others, `words` their count by
 * kind, or nothing if all are in sight.
 */
export function asksInSight(asks, most = MOST) {
  const place = ({ kind }) => (ORDER.includes(kind) ? ORDER.indexOf(kind) : -1);
  const ordered = [...asks].sort((one, other) => place(one) - place(other));
  // A few requests are sooner read than asked for.
  const end = ordered.length > most + 2 ? most : ordered.length;
  const left = ordered.slice(end);
  const counts = new Map();
  for (const { kind } of left) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const parts = [...counts].map(([kind, count]) => `${TRUST_KINDS[kind] ?? kind}: ${count.toLocaleString("en")}`);
  return { shown: ordered.slice(0, end), left, words: left.length ? `${left.length.toLocaleString("en")} more not shown (${parts.join(", ")})` : "" };
}

/** An unknown kind comes before all of these. */
const ORDER = ["hook", "server", "key_helper", "program", "variable", "mode", "directory", "allow"];
/** So many requests are in sight before a person asks for the others. */
const MOST = 12;
