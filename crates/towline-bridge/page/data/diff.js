// Differences as rows (pure): `{sign: "+" | "-" | " " | "@", text, old, new}` with the numbers of the lines.

/** What an edit of a piece of text changes: what both have at their ends is context, and only a little of it is shown. */
export function editRows(before, after) {
  const [olds, news] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < olds.length && start < news.length && olds[start] === news[start]) start += 1;
  let end = 0;
  while (end < olds.length - start && end < news.length - start && olds.at(-1 - end) === news.at(-1 - end)) end += 1;
  const context = (from, to) => olds.slice(from, to).map((text) => row(" ", text));
  return [
    ...context(Math.max(0, start - CONTEXT), start),
    ...olds.slice(start, olds.length - end).map((text) => row("-", text)),
    ...news.slice(start, news.length - end).map((text) => row("+", text)),
    ...context(olds.length - end, olds.length - end + CONTEXT),
  ];
}

/** Several edits, each under a row that says if it changes every place in the file that reads so. */
export function multiEditRows(edits) {
  return (Array.isArray(edits) ? edits : []).flatMap((edit, index) => {
    const rows = editRows(edit?.old_string, edit?.new_string);
    if (edit?.replace_all) return [row("@", "Every place in the file that reads so:"), ...rows];
    return index ? [row("@", "⋯"), ...rows] : rows;
  });
}

/** The rows of a tool's `structuredPatch`: hunks with their lines and where they begin. */
export function patchRows(hunks) {
  return hunks.flatMap((hunk, index) => {
    const rows = numbered(hunk.lines ?? [], hunk.oldStart ?? 1, hunk.newStart ?? 1);
    return index ? [row("@", "⋯"), ...rows] : rows;
  });
}

/**
 * What `git diff` says, by file: `{name, was, state, added, removed, rows, isBinary, note}`; the note is the bridge's own.
 * A file that a program of git would filter is no changed file: its state is `filtered`, and it has no rows.
 */
export function parseUnified(text) {
  const files = [];
  let file = null;
  let old = 0;
  let now = 0;
  let left = { old: 0, new: 0 };
  for (const line of text.split("\n")) {
    if (line.startsWith("diff --git ")) {
      const names = /^diff --git (?:"?a\/(.*?)"?) (?:"?b\/(.*?)"?)$/.exec(line);
      file = { name: names?.[2] ?? line.slice(11), was: null, state: "changed", added: 0, removed: 0, rows: [], isBinary: false, note: "" };
      files.push(file);
      left = { old: 0, new: 0 };
    } else if (left.old <= 0 && left.new <= 0 && FILTERED.test(line)) {
      const [, note, name] = FILTERED.exec(line);
      const known = files.find((file) => file.name === name);
      if (known) known.note = note;
      else files.push({ name, was: null, state: "filtered", added: 0, removed: 0, rows: [], isBinary: false, note });
    } else if (!file) {
      continue;
    } else if (left.old > 0 || left.new > 0) {
      const sign = line[0] ?? " ";
      if (sign === "\\") continue;
      const text = line.slice(1);
      if (sign === "+") {
        file.added += 1;
        file.rows.push({ sign, text, old: null, new: now++ });
        left.new -= 1;
      } else if (sign === "-") {
        file.removed += 1;
        file.rows.push({ sign, text, old: old++, new: null });
        left.old -= 1;
      } else {
        file.rows.push({ sign: " ", text, old: old++, new: now++ });
        left.old -= 1;
        left.new -= 1;
      }
    } else if (line.startsWith("@@ ")) {
      const [, from, olds = "1", to, news = "1"] = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [0, 1, "0", 1, "0"];
      [old, now] = [Number(from), Number(to)];
      left = { old: Number(olds), new: Number(news) };
      file.rows.push(row("@", line));
    } else if (line.startsWith("new file")) file.state = "new";
    else if (line.startsWith("deleted file")) file.state = "deleted";
    else if (line.startsWith("rename from ")) Object.assign(file, { state: "renamed", was: line.slice(12) });
    else if (line.startsWith("Binary files ") || line.startsWith("GIT binary patch")) file.isBinary = true;
    // Behind rows it is about the last of them, or about all files.
    else if (line.startsWith("\\ ") && !file.rows.length) file.note = line.slice(2);
  }
  return files;
}

/** A line of the bridge about a file, behind all that git says. */
const FILTERED = /^\\ (Filtered by .*?, (?:so not compared|which is not run, so compared as it is)): "?(.*?)"?$/;

function numbered(lines, old, now) {
  return lines.map((line) => {
    const [sign, text] = [line[0] ?? " ", line.slice(1)];
    if (sign === "+") return { sign, text, old: null, new: now++ };
    if (sign === "-") return { sign, text, old: old++, new: null };
    return { sign: " ", text, old: old++, new: now++ };
  });
}

function row(sign, text) {
  return { sign, text, old: null, new: null };
}

function linesOf(text) {
  const lines = String(text ?? "").split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** How many lines around a change are shown. */
const CONTEXT = 3;
