/**
 * JSON whose numbers are kept as they were written, so that the hash of what was read is that of what was sent: 1.0 is
 * not 1 there. The reader takes what its writer may have written, and nothing else.
 */

import { sha256, text } from "./bytes.js";

/** A number, by its digits. */
export class Numeral {
  constructor(readonly digits: string) {}
}

export type Json = null | boolean | string | Numeral | Json[] | Entries;
export type Entries = Map<string, Json>;

const NUMBER = /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/y;
const STRING = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y;
const WORDS = new Map<string, Json>([["true", true], ["false", false], ["null", null]]);
const DEEPEST = 200;

/** Throws a SyntaxError for anything but one value. */
export function read(source: string): Json {
  let at = 0;

  const space = (): void => {
    while (" \t\n\r".includes(source.charAt(at)) && at < source.length) at++;
  };
  const found = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(source);
    if (match) at = pattern.lastIndex;
    return match && match[0];
  };
  const taken = (sign: string): boolean => {
    space();
    if (source.charAt(at) !== sign) return false;
    at++;
    return true;
  };
  const required = (sign: string): void => {
    if (!taken(sign)) throw new SyntaxError("not JSON");
  };
  const string = (): string => {
    space();
    const token = found(STRING);
    if (token === null) throw new SyntaxError("not JSON");
    return JSON.parse(token) as string;
  };
  const several = (end: string, one: () => void): void => {
    if (taken(end)) return;
    do one();
    while (taken(","));
    required(end);
  };
  const value = (depth: number): Json => {
    space();
    if (depth > DEEPEST) throw new SyntaxError("too deep");
    if (source.charAt(at) === '"') return string();
    if (taken("[")) {
      const list: Json[] = [];
      several("]", () => list.push(value(depth + 1)));
      return list;
    }
    if (taken("{")) {
      const entries: Entries = new Map();
      several("}", () => {
        const name = string();
        required(":");
        if (entries.has(name)) throw new SyntaxError("a name that occurs twice");
        entries.set(name, value(depth + 1));
      });
      return entries;
    }
    const digits = found(NUMBER);
    if (digits !== null) return new Numeral(digits);
    const word = found(/[a-z]+/y);
    const meant = word === null ? undefined : WORDS.get(word);
    if (meant === undefined) throw new SyntaxError("not JSON");
    return meant;
  };

  const whole = value(0);
  space();
  if (at < source.length) throw new SyntaxError("more than one value");
  return whole;
}

/** Names in order, no spaces, ASCII only, numbers as they were written. */
export function canonical(value: Json): string {
  if (value instanceof Numeral) return value.digits;
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value instanceof Map) {
    const names = [...value.keys()].sort(byCharacter);
    return `{${names.map((name) => `${quoted(name)}:${canonical(value.get(name) ?? null)}`).join(",")}}`;
  }
  return String(value);
}

/** SHA-256 of the canonical text. */
export function fingerprint(value: Json): Promise<string> {
  return sha256(text(canonical(value)));
}

function quoted(words: string): string {
  const escaped = (sign: string): string => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(words).replace(/[\u007f-\uffff]/g, escaped);
}

/** By whole characters, and not by the halves that some of them are written in. */
function byCharacter(one: string, other: string): number {
  const [these, those] = [[...one], [...other]];
  for (let at = 0; at < Math.min(these.length, those.length); at++) {
    const difference = (these[at]?.codePointAt(0) ?? 0) - (those[at]?.codePointAt(0) ?? 0);
    if (difference) return difference;
  }
  return these.length - those.length;
}
