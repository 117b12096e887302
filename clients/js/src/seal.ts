/**
 * One report as bytes: every message sealed to the analyser, all of them once more to the shuffler.
 *
 *     message = HPKE(analyser's key of the batch, 16 random bytes | real or dummy | the record)
 *     upload  = version | number of the shuffler's key | HPKE(shuffler's key, upload's id | credential | messages)
 *
 * Both seals are bound to the collection's hash and the number of the batch. Every seal has a context of its own.
 */

import { type Bytes, joined, text, unhex } from "./bytes.js";
import type { Coins } from "./coins.js";
import { BadArgument } from "./errors.js";
import type { Announced } from "./keys.js";
import type { Collection, Report } from "./plan.js";
import { record, recordBytes } from "./record.js";
import { SUITES, type SuiteName } from "./suites.js";

export const IDENTITY = 16; // bytes
export const CREDENTIAL = 32;
const VERSION = 1;
const DUMMY = Uint8Array.of(0);
const REAL = Uint8Array.of(1);
const INNER = "headcount/1 inner\0";
const OUTER = "headcount/1 outer\0";

/**
 * Everybody's number of messages, dummies among them, in an order that means nothing, each with an id of its own.
 *
 * The few that are too many are left out: the plan has paid for that.
 */
export function contents(report: Report, answer: unknown, coins: Coins): Bytes[] {
  const sent = report.programme.messages(report.domain.encoded(answer), coins);
  const records = sent.map((message) => joined(REAL, record(message, report.record)));
  const real = coins.mixed(records).slice(0, report.messages);
  const dummy = joined(DUMMY, new Uint8Array(recordBytes(report.record)));
  const dummies = Array.from({ length: report.messages - real.length }, () => dummy);
  return coins.mixed([...real, ...dummies]).map((content) => joined(coins.stream(IDENTITY), content));
}

/** The answer, randomised, and sealed to the analyser: once. */
export async function sealed(
  collection: Collection, batch: number, answer: unknown, analyser: Announced, coins: Coins,
): Promise<Bytes[]> {
  const bound = boundTo(INNER, collection, batch);
  const made = run(collection.plan, answer, coins);
  return Promise.all(made.map((content) => seal(collection.plan.suite, analyser.key, bound, content)));
}

function run(report: Report, answer: unknown, coins: Coins): Bytes[] {
  try {
    return contents(report, answer, coins);
  } catch (problem) {
    if (!(problem instanceof TypeError)) throw problem;
    throw new BadArgument("collection", "has a programme that this version cannot run", "use a newer client");
  }
}

/** The whole report, as it is sent. */
export async function upload(
  collection: Collection, batch: number, shuffler: Announced, identity: Bytes, credential: Bytes,
  messages: readonly Bytes[],
): Promise<Bytes> {
  const content = joined(identity, credential, ...messages);
  const bound = boundTo(OUTER, collection, batch);
  return joined(Uint8Array.of(VERSION, shuffler.number), await seal(collection.plan.suite, shuffler.key, bound, content));
}

/** One text to one key, with a secret that is made for it alone. */
export async function seal(suite: SuiteName, key: Bytes, info: Bytes, content: Bytes): Promise<Bytes> {
  const found = SUITES.get(suite);
  if (!found) throw new BadArgument("suite", "is not known here", `use ${[...SUITES.keys()].join(" or ")}`);
  try {
    const recipientPublicKey = await found.hpke.kem.deserializePublicKey(key);
    const { enc, ct } = await found.hpke.seal({ recipientPublicKey, info }, content);
    return joined(new Uint8Array(enc), new Uint8Array(ct));
  } catch {
    const works = "ask its owner for it again, or use a newer browser";
    throw new BadArgument("key", "is none that this device can seal to", works);
  }
}

function boundTo(layer: string, collection: Collection, batch: number): Bytes {
  const number = new Uint8Array(4);
  new DataView(number.buffer).setUint32(0, batch);
  return joined(text(layer), unhex(collection.hash) ?? new Uint8Array(), number);
}
