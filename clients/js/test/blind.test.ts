/** Tokens: RFC 9474 by its own vector, and a device that asks for one once. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { blinded, type Blinding, drawn, finished, verifies } from "../src/blind.js";
import { type Bytes, hex, joined, text, unhex } from "../src/bytes.js";
import { Credentials } from "../src/credentials.js";
import { Elsewhere, Unsupported } from "../src/errors.js";
import { readIssuer, tokenMessage } from "../src/issuer.js";
import type { Json } from "../src/json.js";
import { type Collection } from "../src/plan.js";
import { type Answered, Remote } from "../src/remote.js";
import { MemoryStore } from "../src/store.js";

const VECTOR = JSON.parse(readFileSync(new URL("../../test/rfc9474.json", import.meta.url), "utf8")) as Record<string, string>;
const bytes = (name: string): Bytes => unhex(VECTOR[name] ?? "") ?? assert.fail();
const number = (name: string): bigint => BigInt(`0x${VECTOR[name] ?? assert.fail()}`);
const MODULUS = number("p") * number("q");
const EXPONENT = 65_537n;

/** By squaring, with whatever exponent. */
function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let [square, rest] = [base, exponent]; rest; rest >>= 1n, square = (square * square) % MODULUS) {
    if (rest & 1n) result = (result * square) % MODULUS;
  }
  return result;
}

function inverse(base: bigint, modulus: bigint): bigint {
  let [here, there, mine, theirs] = [base, modulus, 1n, 0n];
  while (there) [here, there, mine, theirs] = [there, here % there, theirs, mine - (here / there) * theirs];
  return ((mine % modulus) + modulus) % modulus;
}

const PRIVATE = inverse(EXPONENT, (number("p") - 1n) * (number("q") - 1n));

function signed(asked: Bytes): Bytes {
  const answer = power(BigInt(`0x${hex(asked)}`), PRIVATE);
  return unhex(answer.toString(16).padStart(2 * asked.length, "0")) ?? assert.fail();
}

const FACTOR = inverse(number("inv"), MODULUS);

test("the vector of the specification", async () => {
  const blinding: Blinding = { prefix: bytes("msg_prefix"), salt: bytes("salt"), factor: FACTOR };
  assert.equal(hex(await blinded(blinding, MODULUS, bytes("msg"))), VECTOR.blinded_msg);
  assert.equal(hex((await finished(blinding, MODULUS, bytes("msg"), bytes("blind_sig"))) ?? assert.fail()), VECTOR.sig);
  assert.ok(await verifies(MODULUS, joined(bytes("msg_prefix"), bytes("msg")), bytes("sig")));
});

test("an answer that is no signature is none", async () => {
  const blinding: Blinding = { prefix: bytes("msg_prefix"), salt: bytes("salt"), factor: FACTOR };
  const answer = bytes("blind_sig");
  const flipped = answer.map((byte, at) => (at === 9 ? byte ^ 1 : byte));
  for (const wrong of [answer.slice(1), flipped, new Uint8Array(answer.length)]) {
    assert.equal(await finished(blinding, MODULUS, bytes("msg"), wrong), null);
  }
  assert.equal(await finished(blinding, MODULUS, text("another"), answer), null);
});

test("every token could be anybody's, and devices that do not blind are caught", async () => {
  const message = text("what every token of a batch signs");
  const toldApart = async (draw: () => Blinding): Promise<string[]> => {
    const seen: { answer: bigint; signature: bigint }[] = [];
    for (let person = 0; person < 3; person++) {
      const blinding = draw();
      const answer = signed(await blinded(blinding, MODULUS, message));
      const signature = (await finished(blinding, MODULUS, message, answer)) ?? assert.fail();
      seen.push({ answer: BigInt(`0x${hex(answer)}`), signature: BigInt(`0x${hex(signature)}`) });
    }
    const pairs = seen.flatMap((asked, at) => seen.map((used, to) => ({ at, to, asked, used })));
    return pairs.flatMap(({ at, to, asked, used }) => {
      const factor = (asked.answer * inverse(used.signature, MODULUS)) % MODULUS;
      assert.equal((power(used.signature, EXPONENT) * power(factor, EXPONENT)) % MODULUS, power(asked.answer, EXPONENT));
      return factor < MODULUS >> 128n ? [`${at} ${to}`] : [];
    });
  };
  assert.deepEqual(await toldApart(() => drawn(MODULUS)), []);
  assert.deepEqual(await toldApart(() => ({ ...drawn(MODULUS), factor: 1n })), ["0 0", "1 1", "2 2"]);
});

/** An issuer that signs with the vector's key, or says something else, and remembers what it was asked. */
class Signing extends Remote {
  readonly asked: string[] = [];

  constructor(private readonly answers: (string | null)[] = []) {
    super("https://issuer.example", async () => undefined);
  }

  protected override async once(_: string, __: string, content: Bytes): Promise<Answered> {
    this.asked.push(hex(content));
    const answer = this.answers.length ? this.answers.shift() : hex(signed(content.slice(32)));
    if (answer === null) throw new TypeError("lost on the way");
    return { status: 200, text: JSON.stringify({ signature: answer }), wait: null };
  }
}

const HASH = "ab".repeat(32);
const INVITATION = "cd".repeat(32);
const COLLECTION = {
  hash: HASH, invited: true, issuer: { key: "", address: "https://issuer.example", tokens: [MODULUS.toString(16)], signature: "" },
} as unknown as Collection;

test("a token is asked for once, and for the same if the answer is lost", async () => {
  const store = new MemoryStore();
  const issuer = new Signing([null, null, null, null, null]);
  const device = () => new Credentials(store, COLLECTION, 1, INVITATION);
  await assert.rejects(device().obtain(issuer), Elsewhere);
  await assert.rejects(device().shown(), Unsupported);
  await device().obtain(issuer);
  await device().obtain(issuer);
  assert.equal(issuer.asked.length, 6);
  assert.equal(new Set(issuer.asked).size, 1);
  assert.equal(issuer.asked[0]?.slice(0, 64), INVITATION);
  const shown = await device().shown();
  assert.ok(await verifies(MODULUS, joined(shown.slice(0, 32), tokenMessage(HASH, 1)), shown.slice(32)));
  assert.ok(![...store.content.values()].join().includes("factor"));
});

test("what the issuer did not sign is refused", async () => {
  for (const wrong of ["", "zz", "00".repeat(512)]) {
    const device = new Credentials(new MemoryStore(), COLLECTION, 1, INVITATION);
    await assert.rejects(device.obtain(new Signing([wrong])), /not a token for this batch/);
  }
});

test("one key for two batches is refused", () => {
  const keys = ["1", "3"].map((last) => `8${"0".repeat(510)}${last}`);
  const told = (tokens: string[]): Json =>
    new Map<string, Json>([["key", "00"], ["address", "https://issuer.example"], ["tokens", tokens], ["signature", ""]]);
  assert.deepEqual(readIssuer(told(keys), 2, "").tokens, keys);
  assert.throws(() => readIssuer(told([keys[0]!, keys[0]!]), 2, ""));
});
