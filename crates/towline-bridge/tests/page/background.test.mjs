import assert from "node:assert/strict";
import { test } from "node:test";
import { Background } from "../../page/data/background.js";

/** Locks as a browser has them, for all pages of a bridge. */
function locks() {
  let isTaken = false;
  return {
    async request(_name, { ifAvailable }, run) {
      assert.ok(ifAvailable, "nobody waits for it");
      if (isTaken) return run(null);
      isTaken = true;
      try {
        return await run({});
      } finally {
        isTaken = false;
      }
    },
  };
}

function page(shared) {
  const made = { did: [] };
  made.background = new Background({ locks: shared, rest: () => made.did.push("rest"), wake: () => made.did.push("wake") });
  return made;
}

const soon = () => new Promise((resolve) => setTimeout(resolve));

test("of the pages that nobody sees one keeps its connection, and the others let go", async () => {
  const shared = locks();
  const pages = [page(shared), page(shared), page(shared)];
  for (const { background } of pages) background.enter();
  await soon();
  assert.deepEqual(pages.map(({ did }) => did), [[], ["rest"], ["rest"]]);
});

test("a page that is seen again goes on, and makes room for another", async () => {
  const shared = locks();
  const [first, second] = [page(shared), page(shared)];
  first.background.enter();
  await soon();
  first.background.leave();
  await soon();
  assert.deepEqual(first.did, ["wake"]);
  second.background.enter();
  await soon();
  assert.deepEqual(second.did, [], "the room is free again");
});

test("without locks every page that nobody sees lets go", async () => {
  const made = page(undefined);
  await made.background.enter();
  made.background.leave();
  assert.deepEqual(made.did, ["rest", "wake"]);
});
