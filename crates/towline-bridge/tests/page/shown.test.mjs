import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { cut, hiddenWords, piecesOf, visible } from "../../page/data/shown.js";

const escaped = (code) => `\\u{${code.toString(16)}}`;
const range = (from, to) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

test("a character that is not seen or that turns the direction is spelled out, in every kind of text", () => {
  for (const code of [
    ...range(0x202a, 0x202e), ...range(0x2066, 0x2069), 0x200e, 0x200f, 0x061c, // the direction of writing
    ...range(0x200b, 0x200d), ...range(0x2060, 0x2065), 0xfeff, 0x00ad, 0x180e, 0x034f, // no width
    ...range(0xe0000, 0xe007f), ...range(0xfe00, 0xfe0f), 0xe0100, 0xe01ef, 0x180b, // tags and variants
    ...range(0, 8), 0x0b, 0x0c, 0x0d, ...range(0x0e, 0x1f), ...range(0x7f, 0x9f), // controls
    0x2028, 0x2029, 0x115f, 0x1160, 0x3164, 0xffa0, 0x2800, 0x17b4, 0x1d173, 0xfff9, // separators and blanks
    0xe000, 0xf8ff, 0xf0000, 0x10fffd, 0x0378, 0xfffe, 0x10ffff, // private, unassigned
  ]) {
    for (const kind of ["line", "lines", "prose"]) {
      const expected = code === 0x0d ? "\\r" : escaped(code);
      assert.equal(visible(`a${String.fromCodePoint(code)}b`, kind), `a${expected}b`, `${kind} ${code.toString(16)}`);
    }
  }
});

test("half of a character is spelled out", () => {
  assert.equal(visible("a\ud83d"), "a\\u{d83d}");
  assert.equal(visible("\udc69b"), "\\u{dc69}b");
});

test("line breaks and tabs stay in a text of several lines alone", () => {
  assert.equal(visible("a\tb\nc"), "a\\tb\\nc");
  assert.equal(visible("a\tb\nc", "lines"), "a\tb\nc");
  assert.equal(visible("a\tb\nc", "prose"), "a\tb\nc");
  assert.equal(visible("a\r\nb", "lines"), "a\\r\nb");
});

test("a space that a shell takes for a letter is no space, but in prose it is", () => {
  assert.equal(visible("rm\u00a0-rf\u3000x\u2009y", "lines"), "rm\\u{a0}-rf\\u{3000}x\\u{2009}y");
  assert.equal(visible("12\u202f000\u00a0€", "prose"), "12\u202f000\u00a0€");
});

test("an emoji is whole, and its joiners are spelled out anywhere else", () => {
  for (const emoji of ["👩\u200d🚀", "👩🏽\u200d🚀", "❤\ufe0f", "👁\ufe0f\u200d🗨\ufe0f", "1\ufe0f\u20e3", "🇩🇪", "👨\u200d👩\u200d👧"]) assert.equal(visible(emoji), emoji);
  assert.equal(visible("r\u200dm"), "r\\u{200d}m");
  assert.equal(visible("👩\u200d x"), "👩\\u{200d} x");
  assert.equal(visible("👩\ufe0f\ufe0e\ufe01"), "👩\ufe0f\\u{fe0e}\\u{fe01}", "nothing is hidden in a row of variants");
  assert.equal(visible("1\ufe0f"), "1\\u{fe0f}");
  assert.equal(visible("🏴\u{e0067}"), "🏴\\u{e0067}");
});

test("a joiner inside of a script that joins stays in prose, not in a command", () => {
  assert.equal(visible("می\u200cخواهم", "prose"), "می\u200cخواهم");
  assert.equal(visible("می\u200cخواهم"), "می\\u{200c}خواهم");
  assert.equal(visible("x\u200cخ", "prose"), "x\\u{200c}خ");
});

test("a stack of marks that would paint over other lines is spelled out beyond the fourth", () => {
  const acute = "\u0301";
  for (const kind of ["line", "lines", "prose"]) {
    assert.equal(visible(`e${acute.repeat(4)}x`, kind), `e${acute.repeat(4)}x`, "scripts stack four");
    assert.equal(visible(`e${acute.repeat(6)}x`, kind), `e${acute.repeat(4)}\\u{301}\\u{301}x`);
    assert.equal(visible(`e${"\u0301\u0489\u20dd\ua670\u{1d167}".repeat(80)}`, kind).match(/\\u\{/g).length, 396);
    assert.equal(visible(`\u05e9${"\u05b8".repeat(6)}\u05dc`, kind), `\u05e9${"\u05b8".repeat(4)}\\u{5b8}\\u{5b8}\u05dc`, "over Hebrew letters too");
  }
  for (const word of ["Tiếng Việt".normalize("NFD"), "น้ำ", "क्ष्म्य", "הַמַּיִם"]) assert.equal(visible(word, "prose"), word);
  // A stack is not looked at again from each of its marks.
  const start = performance.now();
  visible(`e${acute.repeat(200_000)}`);
  assert.ok(performance.now() - start < 2_000);
});

test("letters from right to left are pieces of their own, so that what is between them keeps its place", () => {
  const pieces = (text, kind) => piecesOf(text, kind).map(({ text, is }) => `${is[0]}:${text}`);
  assert.deepEqual(pieces("cp א 1 ב; rm x"), ["p:cp ", "r:א", "p: 1 ", "r:ב", "p:; rm x"]);
  assert.deepEqual(pieces("a\u202eb"), ["p:a", "e:\\u{202e}", "p:b"]);
  assert.deepEqual(pieces("שלום עולם", "prose"), ["p:שלום עולם"]);
  assert.deepEqual(pieces("a\\u{202e}b"), ["p:a\\u{202e}b"], "what was written as an escape is told from one");
  assert.deepEqual(pieces(""), []);
  assert.deepEqual(pieces(undefined), []);
});

test("nothing is added or lost but the escapes", () => {
  // A seed of its own for each run would make a failure hard to see again.
  let seed = 18;
  const random = (below) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let round = 0; round < 2_000; round += 1) {
    const text = Array.from({ length: random(12) }, () => String.fromCodePoint(random(3) ? random(0x3000) : random(0x110000))).join("");
    for (const kind of ["line", "lines", "prose"]) {
      const back = piecesOf(text, kind).map(({ text, is }) => {
        if (is !== "escape") return text;
        const named = { "\\n": "\n", "\\r": "\r", "\\t": "\t" }[text];
        return named ?? String.fromCodePoint(parseInt(text.slice(3, -1), 16));
      });
      assert.equal(back.join(""), text);
      assert.doesNotMatch(visible(text, kind), /[\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\0\u001b]/u);
    }
  }
});

test("a long command shows its end, and how much is left out", () => {
  const command = `echo start\n${"true\n".repeat(200)}rm -rf /`;
  const { head, tail, lines, characters } = cut(command);
  assert.ok(head.startsWith("echo start\n"), head);
  assert.ok(tail.endsWith("rm -rf /"), tail);
  assert.equal(head.length + tail.length + characters, command.length);
  assert.equal(lines, 186);
  assert.equal(hiddenWords({ lines, characters }), "186 lines, 930 characters not shown");
  const spaces = `true${" ".repeat(5_000)}; rm -rf /`;
  assert.ok(cut(spaces).tail.endsWith("; rm -rf /"));
  assert.equal(hiddenWords(cut(spaces)), "4,438 characters not shown");
  assert.equal(cut("ls -la"), null);
  assert.equal(cut("true\n".repeat(16)), null);
  // Blank lines are lines: a payload below them went out of sight, in a card of NotebookEdit.
  const blank = cut(`import os\n${"\n".repeat(28)}payload`);
  assert.deepEqual([blank.head, blank.tail], [`import os${"\n".repeat(8)}`, `${"\n".repeat(7)}payload`]);
  assert.equal(hiddenWords(blank), "14 lines, 14 characters not shown");
  assert.equal(hiddenWords({ lines: 1, characters: 40 }), "1 line, 40 characters not shown");
});

test("a cut does not go through a character", () => {
  for (const pad of ["", "x"]) {
    const { head, tail } = cut(pad + "👩".repeat(5_000));
    assert.doesNotMatch(head + tail, /(?<![\ud800-\udbff])[\udc00-\udfff]|[\ud800-\udbff](?![\udc00-\udfff])/);
  }
});

test("every text reaches the page by the way that shows it as it is", () => {
  const page = path.join(import.meta.dirname, "../../page");
  const files = ["main.js", "follow.js", ...fs.readdirSync(path.join(page, "view")).map((name) => `view/${name}`)];
  for (const file of files.filter((file) => file !== "view/dom.js")) {
    const source = fs.readFileSync(path.join(page, file), "utf8");
    for (const past of source.matchAll(/\.(textContent|innerText|title|ariaLabel|innerHTML|outerHTML) = |createTextNode|insertAdjacent|document\.write/g)) {
      if (source.slice(past.index - 8, past.index) === "document") continue;
      assert.fail(`${file} puts text into the page by itself: ${source.slice(past.index, past.index + 60)}`);
    }
  }
});
