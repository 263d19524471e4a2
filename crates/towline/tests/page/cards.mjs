// Cards of questions that are made to hide a part of what they ask: each part is in sight or counted, in every kind of card.
// The page's own modules make them, from questions as an agent would send them; none is answered.

import { assert, begin, click, flow, outcome, ready } from "./browser.mjs";

const blank = (count) => "\n".repeat(count);
const marks = String.fromCodePoint(...Array.from({ length: 29 }, (_, place) => 0x316 + place), 0x489, 0xa670, 0x20e3, 0x20de);
const CARDS = {
  note: ["NotebookEdit", { notebook_path: "/p/n.ipynb", new_source: `import os\n${blank(13)}payload`, cell_id: "a", edit_mode: "replace" }],
  "note-long": ["NotebookEdit", { notebook_path: "/p/n.ipynb", new_source: `import os\n${blank(60)}payload${blank(60)}end`, cell_id: "a".repeat(2_000) }],
  fetch: ["WebFetch", { url: `https://docs.example/${"a".repeat(240)}/../payload?key=${"b".repeat(10)}`, prompt: `summarise${blank(13)}payload` }],
  "fetch-long": ["WebFetch", { url: `https://good.example@evil.example/${"a".repeat(3_000)}payload`, prompt: `${"p\n".repeat(500)}payload` }],
  mcp: ["mcp__files__put", Object.fromEntries([["a name of a field that is long ".repeat(3), `x${blank(12)}payload`], ...Array.from({ length: 20 }, (_, place) => [`k${place}`, { deep: [place] }]), ["last", "payload"]])],
  flags: ["Bash", { command: "touch payload", run_in_background: true, timeout: 600_000, dangerouslyDisableSandbox: true }],
  everywhere: ["Edit", { file_path: "/p/e.txt", old_string: "o", new_string: "payload", replace_all: true }],
  marks: ["Bash", { command: `ls e${marks.repeat(12)} ; touch payload`, description: `x${marks}`.repeat(20) }],
  "marks-fields": ["mcp__files__put", { first: `x${marks}`.repeat(20), last: "payload" }],
};
const PLANS = {
  "plan-hides": { plan: "Tidy.\n[harmless](http://payload) [x]: # (more)\n\n[y]: http://payload\n\n```sh payload\ncode\n```\n|a|b|\n|-|-|\n|1|2|payload|\n", allowedPrompts: [{ tool: "Bash", prompt: "rm anything payload" }] },
  "plan-deep": { plan: `${">".repeat(40)} payload` },
  "plan-wide": { plan: `|${"a|".repeat(40)}\n|${"-|".repeat(40)}\n|${"payload|".repeat(40)}\n` },
  "plan-shows": { plan: `# Tidy\n\n1. See [the manual](https://docs.example/payload)\n2. Then run\n\n\`\`\`sh\necho ${"long ".repeat(60)}; touch payload\n\`\`\`\n\n- [x] **done**\n- [ ] open\n\n|a|b|\n|-|-|\n|${"long".repeat(40)}|payload|\n` },
};

await flow(async ({ page, shot }) => {
  const form = page.locator("form.question");
  await begin(page, "run mkdir one");
  await form.waitFor();

  const put = (question) =>
    page.evaluate(async (question) => {
      const { questionForm } = await import("/assets/view/question.js");
      const made = questionForm(question, { directory: "/p", answer: async () => {}, allowsBypass: false });
      // The page keeps its own questions in the order of the session; a frame beside it is left alone.
      document.querySelector("[data-made]")?.remove();
      const real = document.querySelector(".questions");
      const frame = document.createElement("div");
      frame.className = real.className;
      frame.dataset.made = "";
      frame.append(made);
      real.after(frame);
      real.style.display = "none";
    }, question);
  const made = page.locator("[data-made] > form.question");
  const cutIn = (form) =>
    [form, ...form.querySelectorAll("*")]
      .filter((node) => !node.matches(".unseen, input, select, option") && getComputedStyle(node).display !== "inline")
      .filter((node) => {
        const { overflowX, overflowY } = getComputedStyle(node);
        return (overflowY !== "visible" && node.scrollHeight > node.clientHeight + 1) || (overflowX !== "visible" && node.scrollWidth > node.clientWidth + 1);
      })
      .map((node) => `${node.tagName}.${node.className}`);
  const check = async (name, question, confirm) => {
    await put(question);
    await shot(`${name}-top`);
    assert.deepEqual(await made.evaluate(cutIn), [], `${name}: these have more in them than can be seen`);
    const shown = await made.innerText();
    assert.ok(shown.includes("payload") || shown.includes("not shown"), `${name}: ${shown}`);
    await made.getByRole("button", { name: confirm }).scrollIntoViewIfNeeded();
    await shot(`${name}-end`);
    return shown;
  };

  for (const [name, [tool_name, input]] of Object.entries(CARDS)) {
    const shown = await check(name, { ask: "permission", tool_name, input, request: { description: input.description } }, "Allow once");
    for (const field of Object.keys(input)) if (tool_name !== "Edit" && !["command", "description"].includes(field)) assert.ok(shown.includes(field.trim()), `${name}: ${field}`);
    if (name.endsWith("-long")) {
      assert.ok(shown.includes("not shown"), name);
      for (const all of await made.getByRole("button", { name: "Show all" }).all()) assert.ok((await all.boundingBox()).height >= 24);
      while (await made.getByRole("button", { name: "Show all" }).count()) await made.getByRole("button", { name: "Show all" }).first().click();
      assert.match(await made.innerText(), /^(?![^]*not shown)[^]*payload/);
    }
    if (name === "everywhere") assert.ok(shown.includes("Every place in the file that reads so is changed."));
    if (name.startsWith("marks")) assert.ok(shown.includes("\\u{31a}") && !/\p{M}{5}/u.test(shown), shown);
  }
  for (const [name, input] of Object.entries(PLANS)) {
    const shown = await check(name, { ask: "plan", tool_name: "ExitPlanMode", input, request: {} }, "Approve the plan");
    for (const field of Object.keys(input)) if (field !== "plan") assert.ok(shown.includes(field), field);
    const isRendered = (await made.locator(".plan-text .prose").count()) === 1;
    assert.equal(isRendered, name === "plan-shows", name);
    if (isRendered) assert.ok(shown.includes("the manual (https://docs.example/payload)"), shown);
    else assert.ok(shown.includes(input.plan.trim().split("\n").at(-1)), shown);
  }

  const url = `https://good.example@evil.example/${"a".repeat(400)}payload`;
  assert.ok((await check("dialog", { ask: "dialog", tool_name: "", input: {}, request: { subtype: "elicitation", mcp_server_name: "s", message: "Sign in", mode: "url", url } }, "Accept")).includes("payload"));

  // The list of a folder that asks for much: its end stands above the buttons, and they are not in sight before it.
  for (const [name, count, more] of [["few", 3, 0], ["many", 40, 0], ["most", 1_000, 120]]) {
    const asks = [
      ...Array.from({ length: count }, (_, place) => ({ kind: "allow", value: `Bash(ls${place}${blank(20)}${"x".repeat(place * 20)})`, path: "/p/.claude/settings.json" })),
      { kind: "hook", value: `Stop: echo hi${" ".repeat(900)}payload${marks}`, path: "/p/.claude/settings.json" },
      { kind: "variable", value: "LD_PRELOAD=./payload.so", path: "/p/.claude/settings.json" },
    ];
    const answer = page.evaluate(async ({ asks, more }) => {
      const { askForTrust } = await import("/assets/view/trust.js");
      return await askForTrust({ folder: "/p", asks, more });
    }, { asks, more });
    const dialog = page.getByRole("dialog", { name: "Do you trust this folder?" });
    await dialog.waitFor();
    await shot(`trust-${name}-top`);
    assert.deepEqual(await dialog.locator("form").evaluate(cutIn), [], `trust ${name}: these have more in them than can be seen`);
    const places = () =>
      dialog.evaluate((dialog) => {
        const { bottom } = dialog.getBoundingClientRect();
        const isIn = (node) => node.getBoundingClientRect().top < bottom;
        return { from: dialog.scrollTop, button: isIn(dialog.querySelector("[value=trust]")), end: isIn(dialog.querySelector("ul.asks > li:last-child")) };
      });
    const { from, button, end } = await places();
    assert.ok(from === 0 && (end || !button), `trust ${name}: the button is in sight before the end of the list`);
    const items = dialog.locator("ul.asks > li");
    assert.match(await items.first().innerText(), /^Runs at an event: Stop: echo hi[^]*not shown[^]*payload/);
    assert.match(await items.nth(1).innerText(), /^Sets the variable: LD_PRELOAD/);
    const words = await dialog.innerText();
    assert.ok(!more || words.includes(`and ${more} more`), words);
    if (count > 12) {
      assert.ok(words.includes(`${(count - 10).toLocaleString("en")} more not shown (Runs without asking: ${(count - 10).toLocaleString("en")})`), words);
      await dialog.locator("li.left-out").getByRole("button", { name: "Show all" }).click();
      assert.equal(await items.count(), count + 2 + (more ? 1 : 0));
    }
    await dialog.getByRole("button", { name: "Trust it" }).scrollIntoViewIfNeeded();
    await shot(`trust-${name}-end`);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    assert.equal(await answer, null);
  }

  await page.evaluate(() => {
    document.querySelector("[data-made]").remove();
    document.querySelector(".questions").style.display = "";
  });
  await click(page, "Deny…");
  await click(page, "Deny");
  await outcome(page, "Denied");
  await ready(page);
});
