// A command that is made to look like another one: what a question shows is what is approved, and its end is in sight
// before it can be allowed. All of them are denied; none of them runs.

import { assert, begin, click, flow, fs, inProject, outcome, ready, say } from "./browser.mjs";

await flow(async ({ page, shot }) => {
  const form = page.locator("form.question");
  const command = form.locator(".asked .command code");
  const deny = async () => {
    await click(page, "Deny…");
    await click(page, "Deny");
    await outcome(page, "Denied");
    await ready(page);
    assert.ok(!fs.existsSync(inProject("harm")));
  };
  const see = async (words) => {
    await say(page, `run ${words}`);
    await form.waitFor();
  };

  // Overrides would show `touch harm # txt.etisbew`, tags and joiners nothing, a no-break space a space.
  await begin(page, "run touch harm \u202ewebsite.txt\u202c a\u200bb \u2066c\u2069 r\u200dm\u00a0d \u{e0041}\u0007 👩\u200d🚀");
  await form.waitFor();
  const shown = "touch harm \\u{202e}website.txt\\u{202c} a\\u{200b}b \\u{2066}c\\u{2069} r\\u{200d}m\\u{a0}d \\u{e0041}\\u{7} 👩\u200d🚀";
  assert.equal(await command.innerText(), shown);
  assert.equal(await command.locator(".escape").count(), 9);
  const risky = /[\u202a-\u202e\u2066-\u2069\u200b\u0007\u{e0000}-\u{e007f}]/u;
  for (const place of ["#main", "#side", "title"]) assert.doesNotMatch(await page.locator(place).first().evaluate((node) => node.textContent), risky, place);
  const read = await page.evaluate(() => [...document.querySelectorAll("[title], [aria-label], [alt], [placeholder]")].map((node) => `${node.title}${node.ariaLabel}${node.alt}${node.placeholder}`).join());
  assert.doesNotMatch(read, risky);
  await shot("reordered");
  await deny();

  // Hebrew letters around a digit keep the order in which the shell reads them.
  await see("touch harm א 1 ב");
  const places = await command.evaluate((code) => {
    const found = {};
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      for (let at = 0; at < texts.currentNode.length; at += 1) {
        const range = document.createRange();
        range.setStart(texts.currentNode, at);
        range.setEnd(texts.currentNode, at + 1);
        found[texts.currentNode.data[at]] = range.getBoundingClientRect().left;
      }
    }
    return [found["א"], found["1"], found["ב"]];
  });
  assert.ok(places[0] < places[1] && places[1] < places[2], JSON.stringify(places));
  await deny();

  // The end of a long command stands above the button that allows it, with how much is left out between.
  for (const [name, long] of [["lines", `echo start\n${"true\n".repeat(300)}touch harm`], ["spaces", `echo start${" ".repeat(6_000)}; touch harm`]]) {
    await see(long);
    await form.getByText("not shown").waitFor();
    assert.ok((await command.innerText()).trimEnd().endsWith("touch harm"));
    // Whatever is in sight with the button, the end of the command is.
    const button = form.getByRole("button", { name: "Allow once" });
    await button.scrollIntoViewIfNeeded();
    await shot(`long-${name}`);
    const seen = await command.evaluate((code) => {
      const range = document.createRange();
      range.selectNodeContents(code.querySelector("bdi").lastChild);
      const end = [...range.getClientRects()].at(-1);
      const frames = [];
      for (let node = code; node; node = node.parentElement) if (getComputedStyle(node).overflowY === "auto") frames.push(node.getBoundingClientRect());
      return frames.every((frame) => end.bottom <= frame.bottom + 1 && end.top >= frame.top - 1) && end.bottom <= innerHeight;
    });
    assert.ok(seen, `${name}: the end of the command is out of sight while it can be allowed`);
    const all = form.getByRole("button", { name: "Show all" });
    assert.ok((await all.boundingBox()).height >= 24, "a finger finds it");
    await all.focus();
    await page.keyboard.press("Enter");
    await form.getByText("not shown").waitFor({ state: "detached" });
    assert.equal(await command.evaluate((code) => code.textContent), long);
    await deny();
  }

  // A long line of a file that is written, and a name with an override.
  await say(page, `write safe\u202etxt.sh: ${"x".repeat(3_000)}; touch harm`);
  await form.getByText("not shown").waitFor();
  assert.equal(await form.locator(".path").innerText(), "safe\\u{202e}txt.sh");
  assert.ok((await form.locator(".diff-row.added").first().innerText()).trimEnd().endsWith("; touch harm"));
  await form.getByRole("button", { name: "Allow once" }).scrollIntoViewIfNeeded();
  await shot("write");
  await deny();
});
