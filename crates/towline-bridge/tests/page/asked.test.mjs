import assert from "node:assert/strict";
import { test } from "node:test";
import { hasView, keepsAll, notesOn, otherFields, otherRequestFields } from "../../page/data/asked.js";
import { multiEditRows } from "../../page/data/diff.js";

const names = (tool, input, said) => otherFields(tool, input, said).map(([name]) => name);

test("each field of a call is in its view or beside it", () => {
  for (const [tool, input, beside] of [
    ["Bash", { command: "rm x", run_in_background: true, timeout: 600_000, dangerouslyDisableSandbox: true }, ["run_in_background", "timeout", "dangerouslyDisableSandbox"]],
    ["Bash", { command: ["rm", "x"] }, ["command"]],
    ["Write", { file_path: "/p/x", content: "x", mode: "0777" }, ["mode"]],
    ["Edit", { file_path: "/p/x", old_string: "a", new_string: "b", replace_all: false }, []],
    ["Edit", { file_path: "/p/x", old_string: "a", new_string: { b: 1 }, replace_all: "true" }, ["new_string", "replace_all"]],
    ["MultiEdit", { file_path: "/p/x", edits: [{ old_string: "a", new_string: "b", replace_all: true }] }, []],
    ["MultiEdit", { file_path: "/p/x", edits: [{ old_string: "a", new_string: "b", more: 1 }] }, ["edits"]],
    ["MultiEdit", { file_path: "/p/x", edits: "all" }, ["edits"]],
    ["ExitPlanMode", { plan: "Tidy.", allowedPrompts: [{ tool: "Bash", prompt: "rm" }] }, ["allowedPrompts"]],
    ["Task", { prompt: "look", description: "Look", subagent_type: "any" }, ["description", "subagent_type"]],
    ["NotebookEdit", { notebook_path: "/p/n", new_source: "x" }, ["notebook_path", "new_source"]],
    ["mcp__a__b", { command: "x", prompt: null }, ["command", "prompt"]],
    ["constructor", { name: "x" }, ["name"]],
    ["Bash", JSON.parse('{"command": "x", "__proto__": 1, "toString": 2}'), ["__proto__", "toString"]],
  ]) assert.deepEqual(names(tool, input), beside, `${tool} ${JSON.stringify(input)}`);
  assert.deepEqual(otherFields("any", { a: "1\n2", b: [3] }), [["a", "1\n2"], ["b", "[\n  3\n]"]]);
  assert.ok(hasView("Bash") && !hasView("WebFetch") && !hasView("constructor"));
});

test("the description of a command is shown once, and twice if there are two", () => {
  const input = { command: "ls", description: "List files" };
  assert.deepEqual(names("Bash", input, "List files"), []);
  assert.deepEqual(names("Bash", input, "Other words"), ["description"]);
  assert.deepEqual(names("Bash", input), ["description"]);
});

test("a request of a server shows where it leads", () => {
  const request = { subtype: "elicitation", mcp_server_name: "s", message: "Sign in", mode: "url", url: "https://evil.example" };
  assert.deepEqual(otherRequestFields(request, false).map(([name]) => name), ["mcp_server_name", "mode", "url"]);
  const schema = { requested_schema: { properties: { a: {} } }, message: { no: "text" } };
  assert.deepEqual(otherRequestFields(schema, true).map(([name]) => name), ["message"]);
  assert.deepEqual(otherRequestFields(schema, false).map(([name]) => name), ["requested_schema", "message"]);
});

test("an edit of every place says so", () => {
  const edit = { old_string: "o", new_string: "x" };
  assert.deepEqual(notesOn("Edit", { ...edit, replace_all: true }), ["Every place in the file that reads so is changed."]);
  assert.deepEqual(notesOn("Edit", { ...edit, replace_all: false }), []);
  assert.deepEqual(notesOn("mcp__a__b", { replace_all: true }), []);
  const rows = multiEditRows([edit, { ...edit, replace_all: true }, edit]).map(({ sign, text }) => `${sign}${text}`);
  assert.deepEqual(rows, ["-o", "+x", "@Every place in the file that reads so:", "-o", "+x", "@⋯", "-o", "+x"]);
  assert.deepEqual(multiEditRows("none"), []);
});

test("Markdown that drops words of its source is told from Markdown that keeps them", () => {
  assert.ok(keepsAll("# Plan\n\n1. **First** `look`\n", "Plan 1 First look"));
  for (const [source, rendered] of [
    ["[harmless](http://evil.example)", "harmless"],
    ["Tidy.\n\n[y]: http://evil.example", "Tidy."],
    ["``` sh payload\ncode\n```", "code"],
    ["|a|\n|-|\n|1|payload|", "a 1"],
    ["one two", "two one"],
    ["a", "a a"],
  ]) assert.ok(!keepsAll(source, rendered), source);
});
