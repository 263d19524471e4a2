// How foreign text is shown (pure): what a model, a file or an agent wrote reads as what it is. Characters that are not
// seen, that control, or that reorder others are escapes in sight; a long text is cut in the middle, with a count.
//
// All text goes through here on its way to the page: `h` in view/dom.js calls it for every string.

/**
 * A text with the characters in sight that control, hide or reorder others, or that are stacked over them. In "line" line breaks and tabs are escapes
 * too, in "lines" they stay. "prose" also keeps what sentences need: joiners inside the scripts that join, spaces that do
 * not break.
 */
export function visible(text, kind = "line") {
  return piecesOf(text, kind).map((piece) => piece.text).join("");
}

/**
 * The same in pieces, `{text, is}`: "plain", "escape" for a character that is spelled out, "rtl" for letters that run from
 * right to left. Each of those is isolated where it is shown, so that what stands between two of them keeps its place:
 * `a 1 b` in Hebrew letters would else read `b 1 a`. Prose is not taken apart, its sentences run as its script does.
 */
export function piecesOf(text, kind = "line") {
  const whole = String(text ?? "");
  const { found, keeps } = KINDS[kind];
  if (!found.test(whole)) return whole ? [{ text: whole, is: "plain" }] : [];
  const pieces = [];
  const add = (text, is) => {
    if (is !== "escape" && pieces.at(-1)?.is === is) pieces.at(-1).text += text;
    else if (text) pieces.push({ text, is });
  };
  let end = 0;
  for (const match of whole.matchAll(TOKEN)) {
    const [token, kept, letters, stack] = match;
    add(whole.slice(end, match.index), "plain");
    if (stack) {
      [...stack].forEach((mark, place) => (place < MOST_MARKS ? add(mark, "plain") : add(escapeOf(mark), "escape")));
    } else if (kept || keeps(token, whole, match.index)) add(token, "plain");
    else if (letters) add(token, kind === "prose" ? "plain" : "rtl");
    else add(escapeOf(token), "escape");
    end = match.index + token.length;
  }
  add(whole.slice(end), "plain");
  return pieces;
}

function escapeOf(character) {
  return NAMES[character] ?? `\\u{${character.codePointAt(0).toString(16)}}`;
}

/**
 * The beginning and the end of a text that is too long to be seen whole: `{head, tail, lines, characters}` with how much
 * is hidden between them. Null if all of it fits.
 */
export function cut(text, most = MOST) {
  const whole = String(text ?? "");
  const head = beginning(whole, most);
  // One more than the end can take: half of a character may stand first.
  const rest = whole.slice(head).slice(-most.rows * most.width - 1);
  let tail = whole.length - beginning(reversed(rest), most);
  if (whole[tail] === "\n") tail += 1;
  const hidden = whole.slice(head, tail);
  const lines = hidden.split("\n").length - 1;
  // A few characters are sooner read than asked for, but blank lines take room.
  if (hidden.length <= most.width && lines <= FEW_LINES) return null;
  return { head: whole.slice(0, head), tail: whole.slice(tail), lines, characters: [...hidden].length };
}

/** How much is hidden, for the place where it is left out. */
export function hiddenWords({ lines, characters }) {
  const figure = (count) => count.toLocaleString("en");
  const parts = [lines > 0 && `${figure(lines)} ${lines === 1 ? "line" : "lines"}`, `${figure(characters)} characters`];
  return `${parts.filter(Boolean).join(", ")} not shown`;
}

/** How far the beginning goes: so many rows, of lines that are folded at the width of a phone. */
function beginning(text, { rows, width }) {
  let place = 0;
  for (let row = 0; row < rows && place < text.length; row += 1) {
    const line = text.indexOf("\n", place);
    place = Math.min(line < 0 ? text.length : line + 1, place + width);
  }
  // Two halves of a character stay together.
  return /[\ud800-\udbff]/.test(text[place - 1] ?? "") && /[\udc00-\udfff]/.test(text[place] ?? "") ? place - 1 : place;
}

/** Backwards by code units, the halves of characters in their order. */
function reversed(text) {
  return [...text].reverse().join("");
}

/** The length that fits in the card of a question on a phone, from the beginning and again from the end. */
const MOST = { rows: 8, width: 36 };
/** So many lines are shown sooner than counted. */
const FEW_LINES = 2;

/** An emoji that is made of several, or has a variant: what joins and chooses is seen in how it looks. */
const EMOJI = String.raw`\p{Extended_Pictographic}[\ufe0e\ufe0f\u{1f3fb}-\u{1f3ff}]?(?:\u200d\p{Extended_Pictographic}[\ufe0e\ufe0f\u{1f3fb}-\u{1f3ff}]?)*|[#*0-9]\ufe0f\u20e3`;
/** Controls, formats, halves of characters, private and unassigned ones; those a font shows as nothing; separators. */
const UNSEEN = String.raw`[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800]`;
/** Spaces that look like the one of the keyboard, which a shell takes for a letter. */
const SPACES = String.raw`(?!\x20)\p{Zs}`;
/** Letters and digits that run from right to left, with their marks. */
const RTL = String.raw`[\u0590-\u05ff\u0608\u060b\u060d\u061b\u061d-\u06dc\u06de-\u070e\u0710-\u08e1\u08e3-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]`;
/** So many marks stand over one letter in the scripts that stack them; a higher stack paints over other lines. */
const MOST_MARKS = 4;
const STACK = String.raw`(?:(?!${UNSEEN})\p{M}){${MOST_MARKS + 1},}`;
const TOKEN = new RegExp(`(${EMOJI})|(${`(?:(?!${UNSEEN}|${STACK})${RTL})+`})|(${STACK})|${UNSEEN}|${SPACES}`, "gu");
const ANY = new RegExp(`${UNSEEN}|${SPACES}|${RTL}|${STACK}`, "u");
/** Scripts whose letters look otherwise where a joiner stands between them. */
const JOINING = /[\u0600-\u0dff\u1000-\u109f\u1780-\u18af]/u;
const KINDS = {
  line: { found: ANY, keeps: () => false },
  lines: { found: ANY, keeps: (token) => token === "\n" || token === "\t" },
  prose: {
    found: ANY,
    keeps: (token, text, at) =>
      token === "\n" || token === "\t" || /\p{Zs}/u.test(token) || (/[\u200c\u200d]/.test(token) && JOINING.test(text[at - 1] ?? "") && JOINING.test(text[at + 1] ?? "")),
  },
};
const NAMES = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
