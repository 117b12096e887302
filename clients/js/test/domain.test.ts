/** What people hold is read from a question's JSON, whatever the question is called and says of itself. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { domain } from "../src/domain.js";
import { read } from "../src/json.js";

const of = (fields: string) => domain(read(`{"name": "share-above", "threshold": 3${fields}}`));

test("a question that nobody has heard of needs no code of its own", () => {
  assert.equal(of("").encoded(true), 1n);
  assert.equal(of(', "bounds": [0, 10], "steps": 10, "clip": true').encoded(12), 10n);
  assert.equal(of(', "bounds": [0, 10], "bins": 4, "clip": false').encoded(2.5), 1n);
  assert.equal(of(', "bounds": [0, 10], "bins": 4, "clip": false').encoded(10), 3n);
  assert.equal(of(', "edges": [0, 5, 9], "other": false').encoded(5), 1n);
  assert.equal(of(', "categories": ["a", "b"], "other": true').encoded("c"), 2n);
  assert.equal(of(', "categories": 4, "other": false').values, 4);
});

const STRANGE: [string, string][] = [
  ["fields of two kinds", ', "edges": [0, 1], "categories": 2, "other": false'],
  ["a field that is missing", ', "bounds": [0, 1], "steps": 4'],
  ["a field of another kind", ', "clip": true'],
  ["bounds within bounds", ', "bounds": [0, 9], "steps": 9, "clip": false, "within": [0, 4]'],
  ["steps and bins", ', "bounds": [0, 9], "steps": 9, "bins": 9, "clip": false'],
  ["several columns", ', "parts": []'],
  ["labels that nobody listed", ', "categories": null, "other": false'],
];

for (const [what, fields] of STRANGE) {
  test(`${what} is refused`, () => assert.throws(() => of(fields), TypeError));
}
