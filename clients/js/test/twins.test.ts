/** Broken twins: the package with one thing changed, each of which the published vectors must notice. */

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { compareBricks, compareClaims, entries, type Modules } from "./compare.js";
import { compareAll, modules, vectors } from "./files.js";

const BUILD = new URL("..", import.meta.url).pathname;

/** What is wrong, in which module, and how it is written there and in the twin. */
const TWINS: [string, string, string, string][] = [
  ["words are read from the highest byte", "coins", "getBigUint64(8 * at, true)", "getBigUint64(8 * at, false)"],
  ["a chance is one word too large", "coins", "word < threshold", "word <= threshold"],
  ["a chance is one word too small", "coins", "word < threshold", "word < threshold - 1n"],
  ["a word on an edge falls to the cell before", "coins", "edge <= word", "edge < word"],
  ["a table that spills is not drawn again", "coins", "while (table.spills)", "while (false)"],
  ["the second word is read as the first", "coins", "table.cell(word, true)", "table.cell(word, false)"],
  ["a table forgets where it starts", "coins", "table.start + BigInt(cell)", "BigInt(cell)"],
  ["even numbers are drawn from the lowest bits", "coins", "word / part", "word % bound"],
  ["words left over are kept", "coins", "number >= bound", "number > bound"],
  ["a draw among one takes no word", "coins", "const part = WORD / bound;", "if (bound === 1n) return new Array(amount).fill(0n); const part = WORD / bound;"],
  ["halves of the mixing numbers change places", "coins", "words[things.length + at] << 64n | words[at]", "words[at] << 64n | words[things.length + at]"],
  ["division rounds to zero", "field", "(one - modulo(one, other)) / other", "one / other"],
  ["remainders keep the sign of the number", "field", "rest + by", "rest"],
  ["parity counts one digit too few", "field", "rest >>= 1n) odd", "rest >>= 2n) odd"],
  ["the other branch goes first", "programme", "yes[at]), coins, send);\n    otherwise", "!yes[at]), coins, send);\n    otherwise"],
  ["every copy runs to its end before the next", "programme", "inner(people.flatMap((names, at) => Array.from({ length: often[at] ?? 0 }, () => names)), coins, send);", "people.forEach((names, at) => { for (let i = 0; i < (often[at] ?? 0); i++) inner([names], coins, send); });"],
  ["each begins at one", "programme", "let turn = 0n;", "let turn = 1n;"],
  ["rounding goes up too often", "programme", "?? fail()) < rest", "?? fail()) <= rest"],
  ["the own bit of a row is not replaced", "programme", "if (here && own) line[", "if (false) line["],
  ["bits are packed from the highest", "programme", "<< (at & 7)", "<< 7 - (at & 7)"],
  ["a place that is taken is taken again", "programme", "line[found] ? beside(last, own) : found", "found"],
  ["one's own place is not left out", "programme", "place2 + (place2 >= own ? 1 : 0)", "place2"],
  ["shares add up to something else", "programme", "modulo(rest - (drawn2[at] ?? fail()), modulus)", "modulo(rest + (drawn2[at] ?? fail()), modulus)"],
  ["fields are written from the highest byte", "bytes", "bytes[at] =", "bytes[size - 1 - at] ="],
  ["a dummy says that it is real", "seal", "DUMMY = Uint8Array.of(0)", "DUMMY = Uint8Array.of(1)"],
  ["too many messages are cut before they are mixed", "seal", "coins.mixed(records).slice(0, report.messages)", "coins.mixed(records.slice(0, report.messages))"],
  ["the real ones come first", "seal", "coins.mixed([...real, ...dummies])", "[...real, ...dummies]"],
  ["ids are shared", "seal", "joined(coins.stream(IDENTITY), content)", "joined(new Uint8Array(IDENTITY), content)"],
  ["halves are rounded up", "domain", "rest === 0.5 && down % 2 !== 0", "rest === 0.5"],
  ["a bin includes its upper edge", "domain", "edge <= given", "edge < given"],
  ["white space of all kinds is left out", "values", 'value.replace(SPACE, "")', "value.trim()"],
  ["whatever JavaScript takes for a number is one", "values", "NUMERAL.test(trimmed(value))", "true"],
  ["truth is spelt in one case only", "values", "/^(true|false)$/i", "/^(true|false)$/"],
  ["small numbers are written with an exponent", "values", ": writtenOut(value)", ": String(value)"],
  ["large numbers are written with an exponent", "values", "String(BigInt(value))", "String(value)"],
  ["what is missing is in none of the categories", "domain", "if (values.missing(answer)) {", "if (false) {"],
  ["what is in no category is in the first", "domain", "at < 0 ? last : at", "at < 0 ? 0 : at"],
];

/** The same of what is worked out of a plan. */
const CLAIM_TWINS: [string, string, string, string][] = [
  ["a bit is likelier on by what it is likelier off by", "odds", "on * (WORD - off), off * (WORD - on)", "on, off"],
  ["a message that only some can send is no sign", "odds", "under < values", "false"],
  ["sets are told apart as bits are", "odds", "chance * BigInt(width - size)", "chance * BigInt(size)"],
  ["rounding is no mixture", "odds", "draw.steps - rest)", "rest)"],
  ["only one order of two crowds is looked at", "divergence", "Math.max(divergence(epsilon, first, second), divergence(epsilon, reversed(first), reversed(second)))", "0 * divergence(epsilon, first, second)"],
  ["the shifted law is the same", "divergence", "by < 0 ? 0 : far", "by < 0 ? far : 0"],
  ["a second message that changes is forgotten", "added", "eitherOrder(epsilon, one, other)", "eitherOrder(epsilon, one)"],
  ["noise that cancels hides more than it does", "added", "q * mass / (1 + q)", "mass / (1 + q)"],
  ["everybody's noise is counted twice", "noise", "double(mean) * people", "2 * double(mean) * people"],
  ["clusters are twice as many", "noise", "-logarithm(ONE - decay)) * BigInt(people)", "-logarithm(ONE - decay)) * BigInt(2 * people)"],
  ["a coin that is left out is not", "noise", "this.send(otherwise, often(against, chance))", "this.send(otherwise, often(0.5, 0.5))"],
  ["clones are as likely as not", "clones", "binomial(honest - 1, 1 / odds, (odds - 1) / odds)", "binomial(honest - 1, 2 / odds)"],
  ["lies are told twice as often", "clones", "2 * lie / kinds", "4 * lie / kinds"],
  ["of two totals that move apart one is forgotten", "padded", "epsilon - moved * rate", "epsilon - rate"],
  ["what is impossible is overlooked", "padded", "(none + excess)", "(excess)"],
  ["sampled messages are halved", "padded", "2 * inner <=", "inner <="],
  ["the claim is compared with nothing", "claim", "!(delta <= plan.delta)", "false"],
  ["what the operators learn is believed", "claim", "plan.colluding !== null && ", "false && "],
];

/** Without the one that takes as long as all others. */
const CLAIMS = vectors("claims").split("\n").filter((line) => !line.includes('"shuffled-local-hashing"')).join("\n");

async function twin(number: number, module: string, written: string, instead: string): Promise<Modules> {
  const folder = join(BUILD, "twins", String(number));
  mkdirSync(folder, { recursive: true });
  cpSync(join(BUILD, "src"), folder, { recursive: true });
  const path = join(folder, `${module}.js`);
  const source = readFileSync(path, "utf8");
  assert.equal(source.split(written).length, 2, `${module}.ts has no, or more than one: ${written}`);
  writeFileSync(path, source.replace(written, () => instead));
  return modules(`../twins/${number}`);
}

/** Of all these one in so many is tried, if that is asked for. */
const EVERY = Number(process.env["TWINS_EVERY"] ?? 1);
const some = ([number]: [number, unknown]) => number % EVERY === 0;

for (const [number, [what, module, written, instead]] of [...TWINS.entries()].filter(some)) {
  test(`it is noticed if ${what}`, async () => {
    const broken = await twin(number, module, written, instead);
    assert.throws(() => compareAll(broken, undefined, ["bricks", "protocols", "answers"]));
  });
}

for (const [number, [what, module, written, instead]] of [...CLAIM_TWINS.entries()].filter(some)) {
  test(`it is noticed if ${what}`, async () => {
    const broken = await twin(1000 + number, module, written, instead);
    assert.throws(() => compareClaims(broken, CLAIMS));
  });
}

test("it is noticed if any threshold of a plan is off by one", async () => {
  const ours = await modules("../src");
  for (const line of entries(vectors("bricks")).filter((each) => each.includes('"maybe":"') || each.includes('"off":"'))) {
    for (const found of line.matchAll(/"(maybe|off|on|with)":"([0-9]+)"/g)) {
      const [whole, kind, threshold] = found as unknown as [string, string, string];
      if (threshold === "0" || BigInt(threshold) === 1n << 64n) continue;
      const changed = line.replace(whole, () => `"${kind}":"${BigInt(threshold) + 1n}"`);
      assert.throws(() => compareBricks(ours, `[\n${changed}\n]\n`), whole);
    }
  }
});
