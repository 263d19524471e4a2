import assert from "node:assert/strict";
import { test } from "node:test";
import { isInside, placeIn } from "../../page/data/place.js";

const nowhere = { place: "", id: "", seq: null, directory: "" };

test("an address says where somebody is", () => {
  assert.deepEqual(placeIn(""), nowhere);
  assert.deepEqual(placeIn("#/"), nowhere);
  assert.deepEqual(placeIn("#/new"), { ...nowhere, place: "new" });
  assert.deepEqual(placeIn("#/s/a%20b"), { ...nowhere, place: "s", id: "a b" });
  assert.deepEqual(placeIn("#/s/ab12/7"), { ...nowhere, place: "s", id: "ab12", seq: 7 });
  assert.deepEqual(placeIn("#/past/x?directory=%2Fhome%2Fme"), { ...nowhere, place: "past", id: "x", directory: "/home/me" });
});

test("an address that cannot be decoded is a place too", () => {
  assert.deepEqual(placeIn("#/s/%"), { ...nowhere, place: "s", id: "%" });
  assert.deepEqual(placeIn("#/%E4/x/%zz"), { ...nowhere, place: "%E4", id: "x" });
  assert.deepEqual(placeIn("#/past/x?directory=%"), { ...nowhere, place: "past", id: "x", directory: "%" });
});

test("a folder is inside of a root or it is not", () => {
  for (const inside of ["/home/me/app", "/home/me/app/", "/home/me/app/src", "/srv"]) {
    assert.equal(isInside(inside, ["/home/me/app/", "/srv"]), true, inside);
  }
  for (const outside of ["", "/", "/home/me/", "/home/me/apple", "/home/me/ap", "app"]) {
    assert.equal(isInside(outside, ["/home/me/app", "/srv"]), false, outside);
  }
});
