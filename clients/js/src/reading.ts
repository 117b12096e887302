/** Taking JSON apart. Whatever is not what was expected is a TypeError, of which the caller makes a refusal. */

import { type Entries, type Json, Numeral } from "./json.js";

export function fail(): never {
  throw new TypeError("not what was expected");
}

/** An object with these names and, where they are there, these others; and no more. */
export function object(value: Json | undefined, names: readonly string[], others: readonly string[] = []): Entries {
  if (!(value instanceof Map) || names.some((name) => !value.has(name))) fail();
  if ([...value.keys()].some((name) => !names.includes(name) && !others.includes(name))) fail();
  return value;
}

export function list(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : fail();
}

export function string(value: Json | undefined): string {
  return typeof value === "string" ? value : fail();
}

export function boolean(value: Json | undefined): boolean {
  return typeof value === "boolean" ? value : fail();
}

export function oneOf<Word extends string>(value: Json | undefined, words: readonly Word[]): Word {
  return words.find((word) => word === value) ?? fail();
}

/** Of any size: a number, or its digits as a string. */
export function integer(value: Json | undefined): bigint {
  const digits = value instanceof Numeral ? value.digits : string(value);
  return /^(0|-?[1-9][0-9]*)$/.test(digits) ? BigInt(digits) : fail();
}

export function whole(value: Json | undefined, low: number, high: number): number {
  const number = value instanceof Numeral ? Number(integer(value)) : fail();
  return number >= low && number <= high ? number : fail();
}

export function number(value: Json | undefined): number {
  const found = value instanceof Numeral ? Number(value.digits) : fail();
  return Number.isFinite(found) ? found : fail();
}
