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

const MISSING = ["", "  ", null, Number.NaN];

test("what a missing value counts as is said", () => {
  for (const gap of MISSING) {
    assert.throws(() => of("").encoded(gap));
    assert.equal(of(', "missing": "no"').encoded(gap), 0n);
    assert.equal(of(', "categories": ["a", "b"], "other": true, "missing": "category"').encoded(gap), 2n);
    assert.equal(of(', "categories": ["a", "b"], "other": true, "missing": "other"').encoded(gap), 2n);
    assert.equal(of(', "bounds": [0, 10], "steps": 10, "clip": true, "missing": 4').encoded(gap), 4n);
  }
  const apart = of(', "categories": ["a", "b"], "other": true, "missing": "category"');
  assert.deepEqual([apart.values, apart.encoded("c"), apart.encoded("b")], [4, 3n, 1n]);
});

test("yes and no are read in any spelling where that is said", () => {
  for (const yes of ["Yes", "y", " T ", "on", "1", true]) assert.equal(of(', "spelled": true').encoded(yes), 1n);
  for (const no of ["No", "n", "F", "OFF", 0, false]) assert.equal(of(', "spelled": true').encoded(no), 0n);
  assert.throws(() => of(', "spelled": true').encoded("perhaps"));
  assert.throws(() => of("").encoded("yes"));
});

test("the categories yes and no are read as a bit is", () => {
  const listed = ', "categories": ["no", "yes"], "other": false';
  const spelled = of(`${listed}, "spelled": true, "missing": "no"`);
  for (const yes of ["Yes", "y", " T ", "on", "1", true]) assert.equal(spelled.encoded(yes), 1n);
  for (const no of ["No", "n", "F", "OFF", 0, false, ...MISSING]) assert.equal(spelled.encoded(no), 0n);
  assert.throws(() => spelled.encoded("perhaps"));
  assert.equal(of(`${listed}, "missing": "no"`).encoded(""), 0n);
  assert.throws(() => of(`${listed}, "missing": "no"`).encoded("Yes"));
  assert.throws(() => of(', "categories": ["a", "b"], "other": false, "missing": "no"'));
  assert.throws(() => of(', "categories": ["a", "b"], "other": false, "spelled": true'));
});

test("days and moments are in the period that they begin in", () => {
  const months = of(', "starts": ["2026-01-01", "2026-02-01", "2026-03-01"], "period": "month", "other": true');
  const days: [unknown, bigint][] = [
    ["2026-01-01", 0n], [" 2026-01-31T23:59:59.999999", 0n], ["2026-02-01", 1n], ["2026-02-01 00:30+01:00", 0n],
    [new Date("2026-02-28T12:00:00Z"), 1n], ["2026-03-01", 2n], ["2026-02-30", 2n], ["1.2.2026", 2n],
  ];
  for (const [day, code] of days) assert.equal(months.encoded(day), code);
});

const STRANGE: [string, string][] = [
  ["fields of two kinds", ', "edges": [0, 1], "categories": 2, "other": false'],
  ["a field that is missing", ', "bounds": [0, 1], "steps": 4'],
  ["a field of another kind", ', "clip": true'],
  ["bounds within bounds", ', "bounds": [0, 9], "steps": 9, "clip": false, "within": [0, 4]'],
  ["steps and bins", ', "bounds": [0, 9], "steps": 9, "bins": 9, "clip": false'],
  ["several columns", ', "parts": []'],
  ["groups", ', "by": [], "ones": {}'],
  ["rows that are left out", ', "missing": "drop"'],
  ["periods that do not increase", ', "starts": ["2026-02-01", "2026-01-01"], "period": "", "other": false'],
  ["labels that nobody listed", ', "categories": null, "other": false'],
];

for (const [what, fields] of STRANGE) {
  test(`${what} is refused`, () => assert.throws(() => of(fields), TypeError));
}
