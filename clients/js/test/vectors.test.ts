/** What Python published, and what it says of every brick, protocol and answer. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { compareAnswers, compareBricks, compareProtocols, modules } from "./compare.js";

const VECTORS = new URL("../../vectors", import.meta.url).pathname;
const ours = await modules("../src");

for (const [name, compare] of Object.entries({ bricks: compareBricks, protocols: compareProtocols, answers: compareAnswers })) {
  test(`${name} are as in Python`, () => {
    const counts = compare(ours, VECTORS);
    assert.ok(Object.keys(counts).length > 3);
  });
}
