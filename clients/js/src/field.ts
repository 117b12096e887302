/** Integers that depend on what a person holds, written as small expressions: see docs/client-vectors.md. */

import { canonical, type Json, Numeral } from "./json.js";
import { fail, integer, list, object, string } from "./reading.js";

/** What is known by name at one point of a programme. */
export type Names = ReadonlyMap<string, bigint>;

/** From the first to the last, both included. */
export type Range = readonly [bigint, bigint];
export type Ranges = ReadonlyMap<string, Range>;

export interface Field {
  readonly text: string; // in canonical JSON: two fields with one text are the same
  readonly reads: ReadonlySet<string>;
  at(names: Names): bigint;
  /** Between which numbers it lies if what it reads lies within these. */
  within(ranges: Ranges): Range;
}

interface Operation {
  (one: bigint, other: bigint): bigint;
}

const LARGEST = 1n << 256n; // no number in a programme comes near, and none that does is worked out

const OPERATIONS = new Map<string, Operation>([
  ["+", (one, other) => one + other],
  ["-", (one, other) => one - other],
  ["*", (one, other) => one * other],
  ["//", (one, other) => (one - modulo(one, other)) / other],
  ["%", (one, other) => modulo(one, other)],
  ["^", (one, other) => one ^ other],
  ["&", (one, other) => one & other],
]);

/** A number, {"name": …}, or a list of an operation and what it is applied to. */
export function field(source: Json | undefined): Field {
  const text = canonical(source ?? null);
  if (source instanceof Numeral || typeof source === "string") {
    const constant = integer(source);
    return { text, reads: new Set(), at: () => constant, within: () => limited([constant, constant]) };
  }
  if (source instanceof Map) {
    const name = string(object(source, ["name"]).get("name"));
    const within = (ranges: Ranges): Range => ranges.get(name) ?? fail();
    return { text, reads: new Set([name]), at: (names) => names.get(name) ?? fail(), within };
  }
  const [first, ...parts] = list(source);
  const fields = parts.map(field);
  const [one, other] = fields;
  const reads = new Set(fields.flatMap((each) => [...each.reads]));
  if (first === "parity" && one && fields.length === 1) {
    return { text, reads, at: (names) => parity(one.at(names)), within: () => [0n, 1n] };
  }
  const [sign, operation] = [string(first), OPERATIONS.get(string(first))];
  if (!operation || !one || !other || fields.length !== 2) fail();
  const within = (ranges: Ranges): Range => limited(between(sign, operation, one.within(ranges), other.within(ranges)));
  return { text, reads, at: (names) => operation(one.at(names), other.at(names)), within };
}

/** Sums, products and quotients are largest and smallest at ends; of the others it is known how far they reach. */
function between(sign: string, operation: Operation, one: Range, other: Range): Range {
  if ((sign === "//" || sign === "%") && other[0] <= 0n && other[1] >= 0n) fail();
  if (sign === "%") {
    if (other[0] <= 0n) fail();
    return one[0] >= 0n && one[1] < other[0] ? one : [0n, other[1] - 1n];
  }
  if (sign === "^" || sign === "&") {
    const reach = 1n << BigInt(Math.max(...[...one, ...other].map((end) => end.toString(2).length)));
    return [one[0] < 0n || other[0] < 0n ? -reach : 0n, reach - 1n];
  }
  const ends = one.flatMap((here) => other.map((there) => operation(here, there)));
  return [ends.reduce((low, end) => (end < low ? end : low)), ends.reduce((high, end) => (end > high ? end : high))];
}

function limited(range: Range): Range {
  return range[0] >= -LARGEST && range[1] <= LARGEST ? range : fail();
}

/** With the sign of the divisor. */
export function modulo(number: bigint, by: bigint): bigint {
  const rest = number % by;
  return rest !== 0n && rest < 0n !== by < 0n ? rest + by : rest;
}

/** Of the ones among its binary digits. */
function parity(number: bigint): bigint {
  let odd = 0n;
  for (let rest = number < 0n ? -number : number; rest; rest >>= 1n) odd ^= rest & 1n;
  return odd;
}
