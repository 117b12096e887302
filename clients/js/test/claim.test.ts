/** What a device works out of a plan by itself: as Python does, for most of the catalogue; and what it then refuses. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { requireProved } from "../src/claim.js";
import { type Entries, type Json, read } from "../src/json.js";
import { type Plan, readPlan } from "../src/plan.js";
import { MOST_STEPS, steps } from "../src/work.js";
import { entries } from "./compare.js";
import { vectors } from "./files.js";

interface Known {
  readonly protocol: string;
  readonly delta: number;
  readonly alone: number | null;
  readonly source: string;
  readonly plan: Plan;
}

const CLAIMS: Known[] = entries(vectors("claims")).map((line) => {
  const source = JSON.stringify(JSON.parse(line).plan);
  return { ...(JSON.parse(line) as Known), source, plan: readPlan((read(line) as Entries).get("plan")) };
});

const proves = (plan: Plan): boolean => {
  try {
    requireProved(plan);
    return true;
  } catch (refusal) {
    assert.match((refusal as Error).message, /^this device .*; give the hash of a collection/);
    return false;
  }
};

function known(protocol: string): Known {
  return CLAIMS.find((each) => each.protocol === protocol) ?? assert.fail(protocol);
}

/** The same plan with something else in its JSON. */
function changed({ source }: Known, what: string | RegExp, instead: string): Plan {
  assert.match(source, new RegExp(what));
  return readPlan(read(source.replace(what, () => instead)));
}

test("with a tenth less noise than the claim needs, a plan is refused", () => {
  const gamma = known("zsum");
  const threshold = BigInt(/"maybe":"([0-9]+)"/.exec(gamma.source)?.[1] ?? 0);
  assert.equal(proves(changed(gamma, /"maybe":"[0-9]+"/, `"maybe":"${(threshold * 9n) / 10n}"`)), false);
});

test("nor among a tenth fewer people, nor with a tenth of delta", () => {
  for (const { protocol, plan } of CLAIMS.filter((each) => each.delta > 0 && each.protocol !== "correlated-count")) {
    const crowd = { ...plan.crowd, honest: Math.floor(plan.crowd.honest * 0.9) };
    if (!protocol.startsWith("correlated") && plan.padded === null) assert.equal(proves({ ...plan, crowd }), false, protocol);
    assert.equal(proves({ ...plan, delta: plan.delta / 10 }), false, protocol);
  }
});

test("where the operators together learn the answer, no epsilon is left to claim", () => {
  for (const protocol of ["zsum", "poisson-histogram", "correlated-count"]) {
    assert.ok(proves(known(protocol).plan));
    assert.equal(proves({ ...known(protocol).plan, colluding: 100 }), false);
  }
});

/** A plan for a count, with another programme. */
function count(programme: string): Plan {
  const source = read(known("randomised-response").source) as Entries;
  return readPlan(new Map<string, Json>(source).set("programme", read(programme)));
}

test("of several rounds only what single reports tell is added up", () => {
  const once = known("randomised-response");
  const { epsilon, colluding } = once.plan;
  const asked = (rounds: number) => ({ ...once.plan, rounds, epsilon: 3 * epsilon, colluding: 3 * (colluding ?? epsilon) });
  assert.ok(proves(asked(3)));
  assert.equal(proves(asked(4)), false);
  assert.equal(proves({ ...asked(3), epsilon: 2.99 * epsilon }), false);
  assert.equal(proves({ ...asked(3), colluding: 2.99 * (colluding ?? epsilon) }), false);
  assert.equal(changed(once, '"neighbours":"replace"}', '"neighbours":"replace","rounds":3}').rounds, 3);
  assert.ok(proves(known("zsum").plan));
  assert.throws(() => requireProved({ ...known("zsum").plan, rounds: 2 }), /in all rounds together; give the hash of a collection/);
});

test("the bare answer is never sent, whatever is claimed", () => {
  const bare = [
    '{"emit":[{"name":"value"}]}',
    '{"copies":{"name":"value"},"brick":{"emit":[0]}}',
    '{"all":[{"emit":[{"name":"value"}]},{"emit":[0]},{"emit":[1]}]}',
    '{"maybe":"18446744073709551615","then":{"emit":[{"name":"value"}]},"else":{"emit":[["-",1,{"name":"value"}]]}}',
    '{"row":2,"here":{"name":"value"},"off":"0","on":"18446744073709551616"}',
    '{"shares":{"name":"value"},"modulus":2,"count":1}',
    '{"let":"u","be":{"below":2},"in":{"emit":[{"name":"u"},{"name":"value"}]}}',
    '{"let":"u","be":{"below":4},"in":{"let":"v","be":{"below":5},"in":{"emit":[["+",{"name":"u"},1],{"name":"v"},{"name":"value"}]}}}',
  ];
  for (const programme of bare) {
    for (const [epsilon, delta] of [[0.001, 1e-6], [2, 1e-4]] as const) {
      for (const colluding of [null, 0.001, 8]) {
        assert.equal(proves({ ...count(programme), epsilon, delta, colluding }), false, programme);
      }
    }
  }
});

test("but for a protocol whose shuffler adds enough messages, and alone", () => {
  for (const protocol of ["padded-count", "padded-histogram", "sampled-padded-histogram"]) {
    const { plan } = known(protocol);
    assert.ok(proves(plan));
    for (const few of [{ epsilon: 0.9 }, { delta: protocol.startsWith("sampled") ? 0.5 : 1e-7, epsilon: 0.99 }, { colluding: 8 }, { padded: null }]) {
      assert.equal(proves({ ...plan, ...few }), false, `${protocol} ${JSON.stringify(few)}`);
    }
  }
  const one = known("padded-count");
  const shift = /"shift":([0-9]+)/.exec(one.source)?.[1];
  assert.equal(proves(changed(one, /"shift":[0-9]+/, `"shift":${Number(shift) - 1}`)), false);
  assert.equal(proves(changed(one, /"scale":[0-9.]+/, '"scale":0.9')), false);
  const twice = '{"all":[{"emit":[{"name":"value"}]},{"emit":[{"name":"value"}]}]}';
  assert.equal(proves(changed(one, /\{"emit":\[\{"name":"value"\}\]\}/, twice)), false);
  assert.throws(() => changed(one, /"neighbours":"replace"/g, '"neighbours":"add-remove"'), /not what was expected/);
});

test("nobody is kept busy: what takes too long is refused before the first step", () => {
  const copies = (inner: string): string => `{"copies":4000,"brick":${inner}}`;
  const long = [
    '{"each":"turn","below":"18446744073709551616","do":{"emit":[0]}}',
    copies(copies(copies('{"emit":[0]}'))),
    '{"each":"a","below":5000,"do":{"each":"b","below":5000,"do":{"all":[]}}}',
    '{"row":16777216,"here":null,"off":"5","on":"5"}',
    '{"copies":["*",["*",9000000,9000000],{"name":"value"}],"brick":{"all":[]}}',
  ];
  for (const programme of long) {
    const began = process.cpuUsage();
    assert.throws(() => count(programme), /more work than this device agrees to/, programme);
    assert.ok(process.cpuUsage(began).user < 1e6);
  }
  for (const { plan } of CLAIMS) assert.ok(steps(plan.programme.brick, plan.domain.values) < MOST_STEPS / 100n);
});

test("nor by numbers that are never reached, places outside of a row, or names with two meanings", () => {
  for (const programme of [
    '{"copies":-1,"brick":{"emit":[0]}}',
    '{"copies":["-",{"name":"value"},1],"brick":{"emit":[0]}}',
    '{"row":2,"here":["+",{"name":"value"},1],"off":"5","on":"5"}',
    '{"emit":[["//",1,{"name":"value"}]]}',
    '{"let":"value","be":{"below":2},"in":{"emit":[{"name":"value"}]}}',
    '{"let":"the residue","be":{"below":2},"in":{"emit":[0]}}',
    `{"emit":[${'["*",'.repeat(20)}${"999999999999999999".padEnd(18)}${",999999999999999999]".repeat(20)}]}`,
  ]) {
    assert.throws(() => count(programme), TypeError, programme);
  }
});
