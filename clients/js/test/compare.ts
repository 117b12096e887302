/** The vectors that Python has written, replayed: whatever differs is an error that says where, and how. */

import type * as BytesModule from "../src/bytes.js";
import type * as ClaimModule from "../src/claim.js";
import type * as ClonesModule from "../src/clones.js";
import type * as CoinsModule from "../src/coins.js";
import type { Entries, Json } from "../src/json.js";
import type * as JsonModule from "../src/json.js";
import type * as LawsModule from "../src/laws.js";
import type * as OddsModule from "../src/odds.js";
import type * as PlanModule from "../src/plan.js";
import type * as ProgrammeModule from "../src/programme.js";
import type * as ReadingModule from "../src/reading.js";
import type * as RecordModule from "../src/record.js";
import type * as SealModule from "../src/seal.js";
import type * as DomainModule from "../src/domain.js";

/** The modules that are put to the test: those of this package, or a broken twin's. */
export interface Modules {
  bytes: typeof BytesModule;
  claim: typeof ClaimModule;
  clones: typeof ClonesModule;
  coins: typeof CoinsModule;
  json: typeof JsonModule;
  laws: typeof LawsModule;
  odds: typeof OddsModule;
  plan: typeof PlanModule;
  programme: typeof ProgrammeModule;
  reading: typeof ReadingModule;
  record: typeof RecordModule;
  seal: typeof SealModule;
  domain: typeof DomainModule;
}

/** The entries of a file of vectors, one to a line. */
export function entries(text: string): string[] {
  return text.trim().split("\n").slice(1, -1).map((line) => line.replace(/,$/, ""));
}

function tape(from: Modules, digits: string) {
  const content = from.bytes.unhex(digits) ?? new Uint8Array();
  return new (class Tape extends from.coins.Coins {
    private at = 0;

    override stream(size: number): Uint8Array<ArrayBuffer> {
      if (this.at + size > content.length) throw new Error("more bytes than Python took");
      this.at += size;
      return content.slice(this.at - size, this.at);
    }

    get left(): number {
      return content.length - this.at;
    }
  })();
}

function same(where: string, found: string, expected: string, left: number): void {
  if (found !== expected) throw new Error(`${where}: ${found.slice(0, 200)} instead of ${expected.slice(0, 200)}`);
  if (left) throw new Error(`${where}: ${left} bytes fewer than Python took`);
}

export function compareBricks(from: Modules, text: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of entries(text)) {
    const entry = from.json.read(line) as Entries;
    const [name, vectors] = [String(entry.get("name")), entry.get("vectors") as Json[]];
    const programme = new from.programme.Programme(entry.get("programme"));
    const form = from.record.recordForm(entry.get("record"));
    for (const [at, vector] of vectors.entries()) {
      const [value, bytes, expected] = vector as [Json, string, string];
      const coins = tape(from, bytes);
      const messages = programme.messages(from.reading.integer(value), coins);
      const found = from.bytes.hex(from.bytes.joined(...messages.map((message) => from.record.record(message, form))));
      same(`${name}, vector ${at}`, found, expected, coins.left);
    }
    counts[name] = vectors.length;
  }
  return counts;
}

export function compareProtocols(from: Modules, text: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of entries(text)) {
    const entry = from.json.read(line) as Entries;
    const [name, vectors] = [String(entry.get("protocol")), entry.get("vectors") as Json[]];
    const report = from.plan.readReport(entry);
    for (const [at, vector] of vectors.entries()) {
      const [answer, bytes, expected] = vector as [Json, string, string];
      const coins = tape(from, bytes);
      const made = from.seal.contents(report, plain(answer), coins);
      same(`${name}, vector ${at}`, from.bytes.hex(from.bytes.joined(...made)), expected, coins.left);
    }
    counts[name] = (counts[name] ?? 0) + vectors.length;
  }
  return counts;
}

export function compareAnswers(from: Modules, text: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of entries(text)) {
    const entry = from.json.read(line) as Entries;
    const [source, cases] = [entry.get("task") as Entries, entry.get("cases") as Entries[]];
    const held = from.domain.domain(source);
    for (const each of cases) {
      const value = each.get("value");
      let found: bigint | null;
      try {
        found = held.encoded(plain(each.get("answer") as Json));
      } catch (problem) {
        if ((problem as Error).name !== "BadArgument") throw problem;
        found = null;
      }
      const where = `${from.json.canonical(source)} ${from.json.canonical(each)}`;
      same(where, String(found), String(value === null ? null : from.reading.integer(value)), 0);
    }
    counts[String(source.get("name"))] = (counts[String(source.get("name"))] ?? 0) + cases.length;
  }
  return counts;
}

/** As a page would have it. */
function plain(answer: Json): unknown {
  if (answer instanceof Map) return Object.fromEntries([...answer].map(([name, part]) => [name, plain(part)]));
  return answer !== null && typeof answer === "object" && "digits" in answer ? Number(answer.digits) : answer;
}

/** Those that a device proves; what the others need is a hash. */
const PROVED = [
  "randomised-response", "generalised-response", "basic-rappor", "optimised-unary", "local-hashing", "hadamard-response",
  "subset-selection", "succinct-histogram", "duchi", "piecewise", "hybrid", "zsum", "poisson-count",
  "negative-binomial-count", "correlated-count", "blanket-sum", "poisson-histogram", "correlated-histogram",
  "balcer-cheu-histogram", "blanket-histogram", "padded-count", "padded-histogram", "sampled-padded-histogram",
];

/** What a device works out of plans by itself: as much as Python does, and no plan is proved that claims a tenth less. */
export function compareClaims(from: Modules, text: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of entries(text)) {
    const entry = from.json.read(line) as Entries;
    const [name, plan] = [String(entry.get("protocol")), from.plan.readPlan(entry.get("plan"))];
    const proves = (claimed: Partial<typeof plan>): boolean => {
      try {
        from.claim.requireProved({ ...plan, ...claimed });
        return true;
      } catch (refusal) {
        if ((refusal as Error).name !== "Unsupported") throw refusal;
        return false;
      }
    };
    const found = from.odds.odds(plan.programme.brick, plan.domain.values);
    const [alone, told] = [found && from.odds.logarithm(found), plain(entry.get("alone") as Json)];
    const right = told === null ? Infinity : Number(told);
    if (alone !== undefined && !(alone === right || (alone > right && alone < right + 1e-9))) throw new Error(`${name}: ${alone} alone`);
    if (PROVED.includes(name) && !proves({})) throw new Error(`${name} is not proved`);
    if (proves({ epsilon: plan.epsilon / 1.1 })) throw new Error(`${name} is proved with too little noise`);
    const known = Number(plain(entry.get("delta") as Json));
    if (known > 0 && proves({ delta: 0.9 * known })) throw new Error(`${name} is proved with too small a delta`);
    if (told !== null && proves({ colluding: 0.99 * right })) throw new Error(`${name} is proved to tell less alone`);
    counts[name] = 1;
  }
  compareClones(from);
  return counts;
}

/** Clones among few people, where all that may be seen is added up one by one. */
function compareClones(from: Modules): void {
  for (const [honest, odds, epsilon] of [[2, 3, 0.5], [5, 8, 1], [12, 4, 0.25]] as const) {
    const seen = new Map<string, number>();
    const law = (people: number, chance: number): number[] => {
      let masses = [1];
      for (let more = 0; more < people; more++) masses = [...masses, 0].map((mass, at) => mass * (1 - chance) + (masses[at - 1] ?? 0) * chance);
      return masses;
    };
    law(honest - 1, 1 / odds).forEach((mass, clones) => law(clones, 0.5).forEach((part, first) => {
      for (const [own, chance] of [[1, odds / (odds + 1)], [0, 1 / (odds + 1)]] as const) {
        const key = `${first + own} ${clones - first + 1 - own}`;
        seen.set(key, (seen.get(key) ?? 0) + mass * part * chance);
      }
    }));
    const other = (key: string): number => seen.get(key.split(" ").reverse().join(" ")) ?? 0;
    const right = [...seen].reduce((sum, [key, mass]) => sum + Math.max(0, mass - Math.exp(epsilon) * other(key)), 0);
    const crowd = { values: 2, honest, epsilon, effort: new from.laws.Effort() };
    const found = from.clones.clones({ over: BigInt(odds), under: 1n }, crowd);
    if (!(found >= right && found < right * (1 + 1e-6))) throw new Error(`clones: ${found} instead of ${right}`);
  }
}

/** How many vectors of each kind are as in Python. */
export const COMPARISONS = { bricks: compareBricks, protocols: compareProtocols, answers: compareAnswers, claims: compareClaims };
