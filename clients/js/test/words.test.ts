/** What is agreed to and what is said, word for word as in Python; and JSON that keeps its hash. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { canonical, type Entries, fingerprint, type Json, Numeral, read } from "../src/json.js";
import { announced } from "../src/keys.js";
import { exactly, inexactly, type Limits, limitsWith, requireWithin } from "../src/limits.js";
import { readCollection } from "../src/plan.js";
import { type Receipt, receiptText } from "../src/receipt.js";
import { general, grouped } from "../src/words.js";
import { entries } from "./compare.js";
import { vectors } from "./files.js";


interface Agreed {
  offer: string;
  hash: string;
  cases: { limits: Partial<Limits>; spent: [number, number]; refused: string | null }[];
}

const AGREED = entries(vectors("collections")).map((line) => JSON.parse(line) as Agreed);

test("limits refuse what they refuse in Python, in the same words", async () => {
  let refusals = 0;
  for (const { offer, hash, cases } of AGREED) {
    const collection = await readCollection((read(offer) as Entries).get("collection"), hash);
    assert.equal(collection.hash, hash);
    for (const { limits, spent, refused } of cases) {
      const sums = { epsilon: exactly(spent[0]), delta: exactly(spent[1]) };
      const required = () => requireWithin(limitsWith(limits), collection, sums);
      if (refused === null) required();
      else assert.throws(required, { message: refused });
      refusals += Number(refused !== null);
    }
  }
  assert.ok(refusals > 20);
});

test("receipts say what they say in Python", () => {
  const told = entries(vectors("receipts")).map((line) => JSON.parse(line) as { receipt: Receipt; text: string });
  for (const { receipt, text } of told) assert.equal(receiptText(receipt), text);
  assert.ok(told.length > 5);
});

test("a collection is read as it was agreed on, or not at all", async () => {
  const whole = (read(AGREED[0]?.offer ?? "") as Entries).get("collection") as Entries;
  await assert.rejects(readCollection(whole, "0".repeat(64)), /has another hash than was expected/);
  const plan = whole.get("plan") as Entries;
  const broken: Entries[] = [
    new Map(), new Map(whole).set("more", null), new Map([...whole].filter(([name]) => name !== "nonce")),
    new Map(whole).set("format", "headcount collection 3"), new Map(whole).set("format", "headcount collection 1"),
    new Map(whole).set("automatic", null), new Map(whole).set("question", " "),
    new Map(whole).set("question", "two\nlines"), new Map(whole).set("shuffler", "ab"), new Map(whole).set("batches", new Numeral("0")),
    new Map(whole).set("shortfall", "none"), new Map(whole).set("fixed", new Numeral("0")),
    ...[
      new Map(plan).set("more", null), new Map(plan).set("programme", new Map()), new Map(plan).set("neighbours", "add-remove"),
      new Map(plan).set("wire", new Map<string, Json>([["messages", new Numeral("129")], ["suite", "x25519-sha256-aes128gcm"]])),
      new Map(plan).set("wire", new Map<string, Json>([["messages", new Numeral("2")], ["suite", "none"]])),
      new Map(plan).set("programme", new Map<string, Json>([["maybe", "18446744073709551617"], ["then", new Map([["all", []]])], ["else", new Map([["all", []]])]])),
      new Map(plan).set("crowd", new Map([["size", new Numeral("5")], ["least", new Numeral("6")], ["corrupt", new Numeral("0")]])),
    ].map((changed) => new Map(whole).set("plan", changed)),
  ];
  const budget = plan.get("budget") as Entries;
  for (const rounds of ["0", "1", "2", "1.5", "10001"]) { // for two there are too many batches
    broken.push(new Map(whole).set("plan", new Map(plan).set("budget", new Map(budget).set("rounds", new Numeral(rounds)))));
  }
  for (const each of broken) await assert.rejects(readCollection(each), /collection is not one that this version can read/);
});

test("a key is taken for what its owner has signed it for, now or in version 0.2", async () => {
  for (const { offer } of AGREED) {
    const told = read(offer) as Entries;
    const collection = await readCollection(told.get("collection"));
    for (const role of ["shuffler", "analyser"] as const) {
      const source = told.get(role) as Entries;
      assert.equal((await announced(source, collection[role], role)).role, role);
      const format = new Map(source).set("format", "headcount receipt 2");
      const other = new Map([...source].filter(([name]) => name !== "format"));
      if (!source.has("format")) other.set("format", "headcount announcement 2");
      const capitals = new Map(source).set("signature", String(source.get("signature")).toUpperCase());
      for (const wrong of [format, other, capitals]) {
        await assert.rejects(announced(wrong, collection[role], role), /signature is not that of the party/);
      }
    }
  }
});

test("JSON is read exactly, and what is not JSON is refused", async () => {
  const text = '{"b":[1.0,-0.0,1e-06,1E+5,12345678901234567890],"a":{"é😀\\u007f":"\\u2028\\"\\\\\\/\\b\\f\\n\\r\\t\\u0001"},"c":[true,false,null,[],{}]}';
  const found = canonical(read(text));
  assert.equal(
    found,
    '{"a":{"\\u00e9\\ud83d\\ude00\\u007f":"\\u2028\\"\\\\/\\b\\f\\n\\r\\t\\u0001"},"b":[1.0,-0.0,1e-06,1E+5,12345678901234567890],"c":[true,false,null,[],{}]}',
  );
  assert.equal(canonical(read(found)), found);
  assert.equal(canonical(read('{"\\uffff":1,"\\ud83d\\ude00":2}')), '{"\\uffff":1,"\\ud83d\\ude00":2}'); // by characters
  assert.equal(await fingerprint(read("{}")), "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
  const bad = ["", "{", "[1,]", "{,}", '{"a":1,"a":2}', "01", "1.", ".5", "+1", "NaN", "Infinity", "'a'", '"\n"', '"\\x"', "tru", "1 2", "[".repeat(300)];
  for (const each of bad) assert.throws(() => read(each), SyntaxError, each);
});

test("numbers are written as Python writes them", () => {
  const written: [number, number, string][] = [
    [0, 6, "0"], [1, 6, "1"], [0.5, 6, "0.5"], [1e-6, 6, "1e-06"], [123456, 6, "123456"], [1234567, 6, "1.23457e+06"], [0.0001, 6, "0.0001"],
    [0.00001234, 3, "1.23e-05"], [999.9996, 6, "1000"], [9.9996, 4, "10"], [1.0625, 4, "1.062"], [1.1875, 4, "1.188"], [2.5, 1, "2"], [3.5, 1, "4"],
    [Infinity, 6, "inf"], [-0.25, 6, "-0.25"], [1e300, 6, "1e+300"], [0.1, 17, "0.10000000000000001"], [999500, 3, "1e+06"],
  ];
  for (const [number, digits, text] of written) assert.equal(general(number, digits), text);
  assert.deepEqual([0, 999, 1000, 1234567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
});

test("sums are exact", () => {
  const tenths = Array.from({ length: 10 }, () => exactly(0.1)).reduce((sum, each) => sum + each);
  assert.ok(tenths > exactly(1));
  assert.equal(inexactly(tenths), 1);
  assert.equal(inexactly(exactly(1e-18)), 1e-18);
});

test("limits that are none are refused", () => {
  for (const limits of [{ epsilon: -1 }, { epsilon: NaN }, { delta: "1" }, { least: true }, { top_up: 1 }, { epsilom: 1 }]) {
    assert.throws(() => limitsWith(limits as Partial<Limits>), { name: "BadArgument" });
  }
});
