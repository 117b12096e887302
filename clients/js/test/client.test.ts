/** A device: it answers once, keeps what it sent, sends that again, and refuses what it has not agreed to. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Client } from "../src/client.js";
import { Coins, SecretCoins } from "../src/coins.js";
import { type Entries, type Json, Numeral, read } from "../src/json.js";
import { announced } from "../src/keys.js";
import { Programme } from "../src/programme.js";
import { receiptText } from "../src/receipt.js";
import { type Answered, Remote } from "../src/remote.js";
import { sealed } from "../src/seal.js";
import { MemoryStore } from "../src/store.js";
import { entries } from "./compare.js";
import { vectors } from "./files.js";

const AGREED = entries(vectors("collections")).map((line) => JSON.parse(line) as { offer: string; hash: string });
const [COUNT, , HISTOGRAM, , , INVITED] = AGREED as [Agreed, Agreed, Agreed, Agreed, Agreed, Agreed]; // by no issuer
const INVITATION = "ab".repeat(32);
const TOGETHER = { colluding: Infinity }; // the operators, who then learn a count's answers
type Agreed = { offer: string; hash: string };

/** A shuffler that says what it was told to, one answer after the other, and remembers what it was sent. */
class Line extends Remote {
  readonly sent: string[] = [];
  readonly slept: number[] = [];

  constructor(private readonly offer: string, private readonly answers: (Answered | null)[] = []) {
    const slept: number[] = [];
    super("https://shuffler.example", async (seconds) => void slept.push(seconds));
    this.slept = slept;
  }

  protected override async once(method: string, _: string, content?: Uint8Array): Promise<Answered> {
    if (method === "GET") return { status: 200, text: this.offer, wait: null };
    this.sent.push(Buffer.from(content ?? []).toString("hex"));
    const answer = this.answers.length ? this.answers.shift() : said(200, '{"report":"taken"}');
    if (!answer) throw new TypeError("lost on the way");
    return answer;
  }
}

function said(status: number, text: string, wait: string | null = null): Answered {
  return { status, text, wait };
}

function name({ hash }: Agreed): string {
  return hash.slice(0, 32);
}

test("a report is made once, kept without the answer, and sent again as it is", async () => {
  const store = new MemoryStore();
  const client = new Client(store, TOGETHER);
  const line = new Line(HISTOGRAM.offer, [null, said(503, "", "3"), said(503, "", "99"), said(503, "")]);
  const first = await client.report(line, name(HISTOGRAM), "wer weiß");
  assert.deepEqual([first.state, first.again], ["taken", false]);
  assert.equal(new Set(line.sent).size, 1);
  assert.equal(line.sent.length, 5);
  assert.deepEqual(line.slept, [0.2, 3, 10, 1]);
  assert.equal(first.bytes, (line.sent[0] ?? "").length / 2);
  const kept = [...store.content.values()].join();
  assert.ok(!kept.includes("wer weiß") && !kept.includes("answer"));
  const second = await client.report(new Line(HISTOGRAM.offer), name(HISTOGRAM), "yes");
  assert.equal(second.again, true);
  assert.equal([...store.content.values()].join(), kept);
});

test("what was not taken is sent again with the same messages, also to a new key of the shuffler's", async () => {
  const store = new MemoryStore();
  const client = new Client(store, TOGETHER);
  await assert.rejects(client.report(new Line(COUNT.offer, [said(400, '{"error":"no"}')]), name(COUNT), 1), { message: "no", status: 400 });
  const kept = () => JSON.parse([...store.content.values()][0] ?? "") as Record<string, unknown>;
  const before = kept();
  assert.equal(before["state"], "made");
  store.content.set([...store.content.keys()][0] ?? "", JSON.stringify({ ...before, key: 1 }));
  const line = new Line(COUNT.offer, [said(400, '{"error":"no"}')]);
  await assert.rejects(client.report(line, name(COUNT), 0), { status: 400 });
  const after = kept();
  assert.deepEqual([after["messages"], after["identity"], after["key"]], [before["messages"], before["identity"], 7]);
  assert.notEqual(after["body"], before["body"]);
  assert.deepEqual(line.sent, [after["body"]]);
});

test("of a report that was taken nothing is kept that could be opened, or fits what was sent", async () => {
  const store = new MemoryStore();
  const line = new Line(COUNT.offer);
  const client = new Client(store, TOGETHER);
  const told = await client.report(line, name(COUNT), 1);
  const [report = "", text = ""] = [...store.content].flat();
  assert.ok(!/[0-9a-f]{65}/.test(text), "the longest is the hash of the collection");
  assert.equal(told.bytes, (line.sent[0] ?? "").length / 2);
  assert.deepEqual(await client.receipts(), [told]);
  assert.deepEqual({ ...(await client.send(report, line)) }, told);
  assert.equal(line.sent.length, 1);
});

test("a batch that has closed is told, and not tried for ever", async () => {
  const client = new Client(new MemoryStore(), TOGETHER);
  assert.equal((await client.report(new Line(COUNT.offer, [said(409, '{"report":"closed"}')]), name(COUNT), 1)).state, "closed");
  const lost = new Line(COUNT.offer, [null, null, null, null, null]);
  await assert.rejects(new Client(new MemoryStore(), TOGETHER).report(lost, name(COUNT), 1), /cannot be reached/);
});

test("two windows that answer at the same moment make one report", async () => {
  const store = new MemoryStore();
  const lines = [new Line(COUNT.offer), new Line(COUNT.offer)];
  await Promise.all(lines.map((line, at) => new Client(store, TOGETHER).report(line, name(COUNT), at)));
  assert.equal(store.content.size, 1);
  assert.deepEqual(lines[0]?.sent, lines[1]?.sent);
});

test("every upload is as long as any other, whatever is answered", async () => {
  const lengths = new Set<number>();
  for (const answer of ["yes", "no", "wer weiß", "none of these"]) {
    lengths.add((await new Client(new MemoryStore(), TOGETHER).report(new Line(HISTOGRAM.offer), name(HISTOGRAM), answer)).bytes);
  }
  assert.equal(lengths.size, 1);
});

test("what is not agreed to is not answered, and nothing is kept or drawn", async () => {
  class None extends Coins {
    override stream(): never {
      throw new Error("drawn");
    }
  }
  const offer = read(COUNT.offer) as Entries;
  const changed = (role: string, entry: string, value: Json) => new Map(offer).set(role, new Map(offer.get(role) as Entries).set(entry, value));
  const refused: [Json, string, object, RegExp][] = [
    [offer, "0".repeat(32), {}, /is another one than was asked for/],
    [offer, name(COUNT), { hash: "0".repeat(64) }, /has another hash than was expected/],
    [new Map(offer).set("batch", null), name(COUNT), {}, /takes no reports now/],
    [new Map(offer).set("batch", new Numeral("3")), name(COUNT), {}, /announced this key for something else/],
    [changed("analyser", "key", "00".repeat(32)), name(COUNT), {}, /signature is not that/],
    [changed("collection", "question", "Another?"), name(COUNT), {}, /is another one than was asked for/],
    [[], name(COUNT), {}, /is not one that this version can read/],
  ];
  for (const [source, asked, terms, words] of refused) {
    const store = new MemoryStore();
    await assert.rejects(new Client(store, TOGETHER).prepare(source, asked, 1, terms, new None()), words);
    assert.equal(store.content.size, 0);
  }
  const later = new Client(new MemoryStore(), TOGETHER, () => 2 ** 41);
  await assert.rejects(later.prepare(offer, name(COUNT), 1, {}, new None()), /keys have expired/);
  await assert.rejects(new Client(new MemoryStore(), { ...TOGETHER, epsilon: 0.5 }).look(new Line(COUNT.offer), name(COUNT)), /this device agrees to 0.5 at most/);
  assert.equal((await new Client(new MemoryStore(), TOGETHER).look(new Line(COUNT.offer), name(COUNT))).plan.epsilon, 1);
});

test("without randomness, or with a programme that cannot be run, nothing is made", async () => {
  class Broken extends Coins {
    override stream(): never {
      throw new Error("no randomness");
    }
  }
  const store = new MemoryStore();
  const offer = read(COUNT.offer) as Entries;
  await assert.rejects(new Client(store, TOGETHER).prepare(offer, name(COUNT), 1, {}, new Broken()), /no randomness/);
  const collection = await new Client(store, TOGETHER).look(new Line(COUNT.offer), name(COUNT));
  const programme = new Programme(read('{"emit":[{"name":"nobody knows"}]}'));
  const key = await announced(offer.get("analyser"), collection.analyser, "analyser");
  const made = sealed({ ...collection, plan: { ...collection.plan, programme } }, 2, 1, key, new SecretCoins());
  await assert.rejects(made, /has a programme that this version cannot run; use a newer client/);
  assert.equal(store.content.size, 0);
});

test("an answer that is none is refused without being quoted", async () => {
  for (const answer of ["secret", 77, null, undefined, NaN, {}, [1]]) {
    await assert.rejects(new Client(new MemoryStore(), TOGETHER).report(new Line(COUNT.offer), name(COUNT), answer), (refusal: Error) => {
      assert.match(refusal.message, /^answer is .*; answer true or false, or 1 or 0$/);
      assert.ok(!/secret|77/.test(refusal.message));
      return true;
    });
  }
});

test("who needs an invitation gives the digits that they were sent", async () => {
  const client = new Client(new MemoryStore(), { ...TOGETHER, top_up: true });
  const report = (invitation: string) => client.report(new Line(INVITED.offer), name(INVITED), 1, { invitation });
  for (const wrong of ["", "ab", `${INVITATION}00`, "zz".repeat(32)]) await assert.rejects(report(wrong), /give the 64 digits/);
  assert.equal((await report(INVITATION)).state, "taken");
});

test("all reports together stay within a lifetime", async () => {
  const client = new Client(new MemoryStore(), { ...TOGETHER, lifetime_epsilon: 2 });
  await client.report(new Line(COUNT.offer), name(COUNT), 1);
  const two = await client.report(new Line(HISTOGRAM.offer), name(HISTOGRAM), "no");
  assert.deepEqual([two.lifetime_epsilon, two.lifetime_delta], [2, 1e-6]);
  const third = AGREED[3] as Agreed;
  await assert.rejects(client.report(new Line(third.offer), name(third), 33), { name: "OverBudget" });
  assert.equal((await client.receipts()).length, 2);
});

test("a series counts once, with all of its rounds, and has no more than these", async () => {
  const series = AGREED.at(-1) as Agreed;
  const limits = { lifetime_epsilon: 1, epsilon: 1 };
  const first = new MemoryStore();
  const told = await new Client(first, limits).report(new Line(series.offer), name(series), 1);
  assert.deepEqual([told.batch, told.rounds, told.epsilon, told.pinned], [2, 3, 1, false]);
  assert.match(receiptText(told), /this is report 1 of at most 3, which come to epsilon 1, delta 0 in all\./);
  const earlier = JSON.stringify({ ...JSON.parse([...first.content.values()][0] ?? ""), batch: 1 });
  const store = new MemoryStore(new Map([[`${series.hash}-1.json`, earlier]]));
  const client = new Client(store, limits);
  const next = await client.report(new Line(series.offer), name(series), 0);
  assert.deepEqual([next.lifetime_epsilon, store.content.size, next.number], [1, 2, 2]);
  assert.deepEqual((await client.receipts()).map(({ batch, number }) => [batch, number]), [[1, 1], [2, 2]]);
  const pinned = { hash: COUNT.hash };
  const other = new Client(store, { ...limits, ...TOGETHER });
  await assert.rejects(other.report(new Line(COUNT.offer), name(COUNT), 1, pinned), { name: "OverBudget" });
  for (const number of ["0", "4"]) {
    const beyond = new Map(read(series.offer) as Entries).set("batch", new Numeral(number));
    await assert.rejects(new Client(new MemoryStore()).prepare(beyond, name(series), 1), /batch is no round of the series/);
  }
});

test("a store that somebody has written into is not believed", async () => {
  const client = new Client(new MemoryStore(new Map([["x-1.json", "{}"]])));
  await assert.rejects(client.report(new Line(COUNT.offer), name(COUNT), 1), /is not a report that was made here; move it away/);
});

test("an address that is none is refused", () => {
  for (const address of ["", "ftp://x", "javascript:1", "//x", "https://", "https://x?y"]) {
    assert.throws(() => new Remote(address), /use http:\/\/host:port or https:\/\/host/);
  }
  assert.equal(new Remote("https://x/under/").address, "https://x/under");
});
