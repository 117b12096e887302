/** What Python published, and what it says of every brick, protocol and answer. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { COMPARISONS } from "./compare.js";
import { modules, vectors } from "./files.js";

const ours = await modules("../src");

for (const [name, compare] of Object.entries(COMPARISONS)) {
  test(`${name} are as in Python`, () => {
    assert.ok(Object.keys(compare(ours, vectors(name))).length > 3);
  });
}
