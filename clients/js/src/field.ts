/** Integers that depend on what a person holds, written as small expressions: see docs/client-vectors.md. */

import { type Json, Numeral } from "./json.js";
import { fail, integer, list, object, string } from "./reading.js";

/** What is known by name at one point of a programme. */
export type Names = ReadonlyMap<string, bigint>;
export type Field = (names: Names) => bigint;

const OPERATIONS = new Map<string, (one: bigint, other: bigint) => bigint>([
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
  if (source instanceof Numeral || typeof source === "string") {
    const constant = integer(source);
    return () => constant;
  }
  if (source instanceof Map) {
    const name = string(object(source, ["name"]).get("name"));
    return (names) => names.get(name) ?? fail();
  }
  const [first, ...parts] = list(source);
  const fields = parts.map(field);
  const [one, other] = fields;
  if (first === "parity" && one && fields.length === 1) return (names) => parity(one(names));
  const operation = OPERATIONS.get(string(first));
  if (!operation || !one || !other || fields.length !== 2) fail();
  return (names) => operation(one(names), other(names));
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
