/**
 * What one report gives away by itself, whoever works together: the largest ratio of a message's chances under any two
 * answers. It is worked out from the programme alone, in whole numbers.
 */

import { Table, WORD } from "./coins.js";
import { modulo, type Names } from "./field.js";
import { canonical, read } from "./json.js";
import { type Brick, brick as parsed, reads } from "./tree.js";

/** A ratio of whole numbers, at least 1; with nothing below it, an answer may be known for certain. */
export interface Odds {
  readonly over: bigint;
  readonly under: bigint;
}

const MOST = 1 << 21; // messages that are looked at
const EVEN: Odds = { over: 1n, under: 1n };
const CERTAIN: Odds = { over: 1n, under: 0n };

/** Undefined where that would take too long, or is not known here. */
export function odds(programme: Brick, values: number): Odds | undefined {
  const brick = own(programme);
  if (brick === undefined || values < 2) return EVEN;
  if (brick.kind === "let" && brick.draw.kind === "round") return rounded(brick, values);
  return between(brick, "value", values);
}

/** The natural logarithm, rounded up. */
export function logarithm({ over, under }: Odds): number {
  if (under === 0n) return Infinity;
  const [above, below] = [over, under].map((number) => {
    const digits = number.toString(2);
    return Math.log(Number(`0b${digits.slice(0, 60)}`)) + Math.max(0, digits.length - 60) * Math.LN2;
  }) as [number, number];
  return over === under ? 0 : (above - below) * (1 + 1e-12) + 1e-12;
}

/**
 * The part that depends on the answer. What is sent besides, whatever is answered, tells nothing more: everybody could
 * add it. Undefined if there is none.
 */
function own(brick: Brick): Brick | undefined {
  if (!reads(brick).has("value")) return undefined;
  if (brick.kind !== "all") return brick;
  const parts = brick.parts.map(own).filter((part) => part !== undefined);
  return parts.length === 1 ? parts[0] : { kind: "all", parts };
}

/** A value that is rounded at random to a level is a mixture of levels: it tells no more than the levels do. */
function rounded(brick: Extract<Brick, { kind: "let" }>, values: number): Odds | undefined {
  const { draw, name, inner } = brick;
  const plain = draw.kind === "round" && draw.of.text === '{"name":"value"}' && draw.steps === BigInt(values - 1);
  if (!plain || draw.levels >= BigInt(MOST) || [...reads(inner)].some((each) => each !== name)) return undefined;
  return between(inner, name, Number(draw.levels) + 1);
}

function between(brick: Brick, name: string, values: number): Odds | undefined {
  const held = `{"name":${canonical(name)}}`;
  if (brick.kind === "row" && brick.here?.text === held && values <= brick.width) return ofRow(brick.off, brick.on);
  if (brick.kind === "subset" && brick.here.text === held && values <= brick.width) {
    return ofSubset(brick.width, brick.amount, brick.chance);
  }
  const hashed = unhashed(brick, held, values);
  return hashed ? listed(hashed.inner, RESIDUE, hashed.prime) : listed(brick, name, values);
}

/** Only the bits at the two values have different laws: one is likelier on by on/off, the other off. */
function ofRow(off: bigint, on: bigint): Odds {
  return greater(on * (WORD - off), off * (WORD - on));
}

/** A set that holds one of two values and not the other: as likely as any of its size, with the value or without. */
function ofSubset(width: number, size: number, chance: bigint): Odds {
  return greater(chance * BigInt(width - size), (WORD - chance) * BigInt(size));
}

function greater(one: bigint, other: bigint): Odds {
  return one >= other ? { over: one, under: other } : { over: other, under: one };
}

const RESIDUE = "the residue"; // which no brick can call something else, as it is no name

/**
 * A hash function of one's own, sent along: (u + 1) value + v modulo a prime, on which all the rest depends. For two
 * values the residues are any two different ones, equally likely, and u and v are known: the rest is compared.
 */
function unhashed(brick: Brick, held: string, values: number): { inner: Brick; prime: number } | undefined {
  if (brick.kind !== "let" || brick.draw.kind !== "below" || brick.inner.kind !== "let") return undefined;
  const [first, second] = [brick, brick.inner];
  if (second.draw.kind !== "below" || second.draw.bound !== brick.draw.bound + 1n) return undefined;
  const prime = Number(second.draw.bound);
  if (prime > MOST || values > prime || !isPrime(prime)) return undefined;
  const [u, v] = [`["+",{"name":${canonical(first.name)}},1]`, `{"name":${canonical(second.name)}}`];
  const hash = `["%",["+",["*",${u},${held}],${v}],${prime}]`;
  const inner = replaced(second.inner, hash, [u, v]);
  const known = inner && [...reads(inner)];
  return inner && known?.length === 1 && known[0] === RESIDUE ? { inner, prime } : undefined;
}

/** With the residue in place of the hash, and without the fields that say which hash it is, with which all begin. */
function replaced(brick: Brick, hash: string, known: readonly string[]): Brick | undefined {
  switch (brick.kind) {
    case "emit": {
      if (known.some((text, at) => brick.fields[at]?.text !== text)) return undefined;
      const rest = brick.fields.slice(known.length).map((each) => each.text.replaceAll(hash, `{"name":"${RESIDUE}"}`));
      return parsed(read(`{"emit":[${rest.join(",")}]}`));
    }
    case "maybe": {
      const [then, otherwise] = [replaced(brick.then, hash, known), replaced(brick.otherwise, hash, known)];
      return then && otherwise && { ...brick, then, otherwise };
    }
    case "let": {
      const inner = brick.draw.kind === "round" ? undefined : replaced(brick.inner, hash, known);
      return inner && { ...brick, inner };
    }
    default:
      return undefined;
  }
}

function isPrime(number: number): boolean {
  for (let divisor = 2; divisor * divisor <= number; divisor++) if (number % divisor === 0) return false;
  return number > 1;
}

/** Every message under every value, one by one. */
function listed(brick: Brick, name: string, values: number): Odds | undefined {
  if (messages(brick) * values > MOST) return undefined;
  const seen = new Map<string, { least: bigint; most: bigint; values: number }>();
  for (let value = 0; value < values; value++) {
    const law = new Map<string, bigint>();
    add(brick, new Map([[name, BigInt(value)]]), 1n, law);
    for (const [message, mass] of law) {
      const known = seen.get(message);
      if (!known) seen.set(message, { least: mass, most: mass, values: 1 });
      else {
        if (mass < known.least) known.least = mass;
        if (mass > known.most) known.most = mass;
        known.values++;
      }
    }
  }
  let found = EVEN;
  for (const { least, most, values: under } of seen.values()) {
    if (under < values) return CERTAIN;
    if (most * found.under > found.over * least) found = { over: most, under: least };
  }
  return found;
}

/** How many ways there are to a message, at most; more than can be looked at unless exactly one is sent. */
function messages(brick: Brick): number {
  switch (brick.kind) {
    case "emit":
      return 1;
    case "maybe":
      return messages(brick.then) + messages(brick.otherwise);
    case "let": {
      const { draw } = brick;
      const ways = draw.kind === "below" ? Number(draw.bound) : draw.kind === "table" ? draw.table.cells : 2;
      return ways * messages(brick.inner);
    }
    default:
      return Infinity;
  }
}

/** What all masses of a brick are parts of: the same whatever is held. */
function whole(brick: Brick): bigint {
  switch (brick.kind) {
    case "maybe":
      return WORD * whole(brick.then) * whole(brick.otherwise);
    case "let": {
      const { draw } = brick;
      if (draw.kind === "below") return draw.bound * whole(brick.inner);
      return (draw.kind === "table" ? sum(draw.table) : draw.steps) * whole(brick.inner);
    }
    default:
      return 1n;
  }
}

function sum(table: Table): bigint {
  return table.masses.reduce((total, mass) => total + mass, 0n);
}

/** Adds the law of a brick's one message, times a factor, in parts of the whole. */
function add(brick: Brick, names: Names, factor: bigint, law: Map<string, bigint>): void {
  if (factor === 0n) return;
  switch (brick.kind) {
    case "emit": {
      const message = brick.fields.map((field) => field.at(names)).join();
      law.set(message, (law.get(message) ?? 0n) + factor);
      return;
    }
    case "maybe":
      add(brick.then, names, factor * brick.chance * whole(brick.otherwise), law);
      add(brick.otherwise, names, factor * (WORD - brick.chance) * whole(brick.then), law);
      return;
    case "let": {
      const { draw } = brick;
      const go = (number: bigint, mass: bigint): void => add(brick.inner, new Map(names).set(brick.name, number), factor * mass, law);
      if (draw.kind === "below") for (let number = 0n; number < draw.bound; number++) go(number, 1n);
      else if (draw.kind === "table") draw.table.masses.forEach((mass, at) => go(draw.table.start + BigInt(at), mass));
      else {
        const scaled = draw.of.at(names) * draw.levels;
        const rest = modulo(scaled, draw.steps);
        go((scaled - rest) / draw.steps, draw.steps - rest);
        go((scaled - rest) / draw.steps + 1n, rest);
      }
      return;
    }
  }
}
