import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, readError, withQuery } from "../../page/data/api.js";
import { editRows, parseUnified, patchRows } from "../../page/data/diff.js";
import { inOrder, matching, put, titleOf, waiting } from "../../page/data/list.js";
import { ago, count, dollars, duration, outcomeWords, plain, savedWhere, sessionOffer, shortPath, suggestionWords, usage } from "../../page/data/words.js";

const record = (id, more = {}) => ({ id, directory: "/home/me/project", agent: "offline", status: "idle", active_at: 0, last_seq: 0, archived: false, ...more });
const signs = (rows) => rows.map(({ sign, text }) => sign + text);

test("who waits for a person stands first, then the latest, without those that were ended", () => {
  const records = new Map();
  for (const one of [record("a", { active_at: 3 }), record("b", { active_at: 1, status: "waiting_approval" }), record("c", { active_at: 2 }), record("d", { archived: true })]) put(records, one);
  assert.deepEqual(inOrder(records).map(({ id }) => id), ["b", "a", "c"]);
  assert.equal(waiting(records), 1);
  assert.deepEqual(matching(inOrder(records), "PROJECT off").length, 3);
  assert.deepEqual(matching(inOrder(records), "absent"), []);
});

test("an older record does not take the place of a newer one", () => {
  const records = new Map();
  put(records, record("a", { last_seq: 5, status: "running" }));
  assert.equal(put(records, record("a", { last_seq: 4 })), false);
  assert.equal(records.get("a").status, "running");
});

test("a session is called by its title, its last message or its folder", () => {
  assert.equal(titleOf(record("a", { title: "Named" })), "Named");
  assert.equal(titleOf(record("a", { last_message: "\n## Done: *all*\nmore" })), "Done: *all*");
  assert.equal(titleOf(record("a")), "project");
  assert.equal(titleOf(record("a", { directory: "/" })), "/");
});

test("an edit is shown with a little of what stands around it", () => {
  const before = "1\n2\n3\n4\nold\n6\n7\n8\n9\n";
  assert.deepEqual(signs(editRows(before, before.replace("old", "new\nnewer"))), [" 2", " 3", " 4", "-old", "+new", "+newer", " 6", " 7", " 8"]);
  assert.deepEqual(signs(editRows("", "a\nb\n")), ["+a", "+b"]);
  assert.deepEqual(signs(editRows("a", "")), ["-a"]);
  assert.deepEqual(signs(editRows("a\na", "a\na\na")), [" a", " a", "+a"], "what both have is not counted twice");
  assert.deepEqual(editRows(undefined, undefined), []);
});

test("a patch of a tool has the numbers of its lines", () => {
  const rows = patchRows([{ oldStart: 3, newStart: 3, lines: [" a", "-b", "+c"] }, { oldStart: 9, newStart: 9, lines: ["+d"] }]);
  assert.deepEqual(rows.map((row) => [row.sign, row.old, row.new]), [[" ", 3, 3], ["-", 4, null], ["+", null, 4], ["@", null, null], ["+", null, 9]]);
});

test("the words of git are files with rows", () => {
  const diff = [
    "diff --git a/a.txt b/a.txt", "index 1..2 100644", "--- a/a.txt", "+++ b/a.txt", "@@ -1,2 +1,2 @@", " same", "--- gone", "+++ here", "\\ No newline at end of file",
    "diff --git a/b c.txt b/b c.txt", "new file mode 100644", "--- /dev/null", "+++ b/b c.txt", "@@ -0,0 +1 @@", "+one",
    "diff --git a/old b/new", "similarity index 100%", "rename from old", "rename to new",
    "diff --git a/p.png b/p.png", "Binary files a/p.png and b/p.png differ", "",
  ].join("\n");
  const files = parseUnified(diff);
  assert.deepEqual(files.map(({ name, state, added, removed, isBinary }) => [name, state, added, removed, isBinary]), [
    ["a.txt", "changed", 1, 1, false],
    ["b c.txt", "new", 1, 0, false],
    ["new", "renamed", 0, 0, false],
    ["p.png", "changed", 0, 0, true],
  ]);
  assert.deepEqual(signs(files[0].rows).slice(1), [" same", "--- gone", "+++ here"], "a line that looks like a head is a line");
  assert.deepEqual(parseUnified("no diff at all"), []);
  const large = "diff --git a/core b/core\nnew file mode 100644\n\\ Too large to be shown: 9 bytes\ndiff --git a/x b/x\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n";
  assert.deepEqual(parseUnified(large).map(({ state, note }) => [state, note]), [["new", "Too large to be shown: 9 bytes"], ["changed", ""]]);
  const filtered = '\\ Filtered by lfs, so not compared: a b.bin\n\\ Filtered by wc, which is not run, so compared as it is: x\n\\ Filtered by lfs, so not compared: "c\\n"\n';
  assert.deepEqual(
    parseUnified(`diff --git a/x b/x\n@@ -0,0 +1 @@\n+x\n${filtered}`).map(({ name, state, note }) => [name, state, note]),
    [
      ["x", "changed", "Filtered by wc, which is not run, so compared as it is"],
      ["a b.bin", "filtered", "Filtered by lfs, so not compared"],
      ["c\\n", "filtered", "Filtered by lfs, so not compared"],
    ],
  );
});

test("errors have a code and words, whoever speaks", () => {
  const said = readError(409, '{"error":{"code":"question_over","message":"too late"}}');
  assert.deepEqual([said.code, said.message, said.mayPass], ["question_over", "too late", false]);
  assert.deepEqual(readError(401, "a token is needed\n").code, "login");
  assert.equal(readError(500, "").message, "The bridge answered with 500.");
  for (const [status, code] of [[0, "unreachable"], [503, "busy"], [429, "x"], [502, "x"]]) assert.equal(new ApiError(status, code, "").mayPass, true, `${status}`);
  assert.equal(withQuery("/x", { a: "1 2", b: undefined, c: "" }), "/x?a=1+2");
});

test("figures are short", () => {
  assert.deepEqual([999, 1000, 9_949, 12_345, 2_500_000].map(count), ["999", "1.0k", "9.9k", "12k", "2.5M"]);
  assert.deepEqual([0, 0.001, 1.239].map(dollars), ["", "< $0.01", "$1.24"]);
  assert.deepEqual([12, 1500, 61_000].map(duration), ["12 ms", "1.5 s", "1 min 1 s"]);
  assert.deepEqual([0, 90, 7200, 200_000].map((seconds) => ago(0, seconds * 1000)), ["now", "1 min", "2 h", "2 d"]);
  assert.equal(usage({ input_tokens: 900, output_tokens: 100, cost_usd: 0.5 }), "1.0k tokens · $0.50");
  assert.equal(shortPath("/p/src/a.rs", "/p"), "src/a.rs");
  assert.equal(shortPath("/public/a.rs", "/p"), "/public/a.rs");
});

test("what allowing would change is said in words", () => {
  const rule = { type: "addRules", behavior: "allow", destination: "localSettings", rules: [{ toolName: "Bash", ruleContent: "ls:*" }, { toolName: "Read" }] };
  assert.equal(suggestionWords(rule), "allow Bash(ls:*), Read");
  assert.equal(suggestionWords({ type: "setMode", mode: "acceptEdits", destination: "session" }), "mode: Accept edits");
  assert.equal(suggestionWords({ type: "new kind" }), '{"type":"new kind"}');
  assert.equal(savedWhere([{ destination: "session" }, rule]), "for me in this project");
  assert.equal(savedWhere([{ destination: "session" }]), null);
});

test("allowing for the session offers what the agent suggests, and nothing where it suggests nothing", () => {
  const rule = (ruleContent) => ({ type: "addRules", behavior: "allow", destination: "session", rules: [{ toolName: "Bash", ruleContent }] });
  assert.equal(sessionOffer([]), null);
  assert.equal(sessionOffer([rule("ls:*")]), "Allow, and accept for this session: allow Bash(ls:*)");
  assert.ok(sessionOffer([rule("x".repeat(1000))]).length < 220);
});

test("how a question ended says what was accepted, in the words of the button", () => {
  const rule = (destination, ruleContent = "ls:*") => ({ type: "addRules", behavior: "allow", destination, rules: [{ toolName: "Bash", ruleContent }] });
  const mode = { type: "setMode", mode: "acceptEdits", destination: "session" };
  for (const [answer, words] of [
    [{ outcome: "allowed" }, "Allowed"],
    [{ outcome: "allowed", accepted: [mode] }, "Allowed"],
    [{ outcome: "denied", message: "not today" }, "Denied: not today"],
    [{ outcome: "answered", message: "green" }, "Answered: green"],
    [{ outcome: "allowed_for_session", accepted: [rule("session"), mode] }, "Allowed, and accepted for this session: allow Bash(ls:*) · mode: Accept edits"],
    [{ outcome: "allowed_and_saved", accepted: [rule("localSettings")] }, "Allowed, rule saved for me in this project: allow Bash(ls:*)"],
    [{ outcome: "timed_out" }, "Nobody answered: denied"],
    [{ outcome: "of a later version" }, "of a later version"],
  ]) assert.equal(outcomeWords(answer), words);
  const [offered, accepted] = [sessionOffer([rule("localSettings")]), outcomeWords({ outcome: "allowed_for_session", accepted: [rule("session")] })];
  assert.equal(accepted, offered.replace("Allow, and accept", "Allowed, and accepted"));
  assert.ok(outcomeWords({ outcome: "allowed_for_session", accepted: [rule("session", "x".repeat(1000))] }).length < 220);
});

test("an answer is read out without its signs", () => {
  assert.equal(plain("# Done\n\n**All** of `it`: [here](https://example.org)\n```rs\nfn main() {}\n```\nBye"), "Done All of it: here (code) Bye");
  assert.equal(plain("x".repeat(2000)).length, 601);
});
