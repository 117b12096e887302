/**
 * The report programme of a plan, read from its JSON: a tree of bricks. What runs it, what counts its steps and what
 * works out what it gives away all look at this tree, so that nothing can mean one thing to one of them and another to
 * the next.
 */

import { Table, WORD } from "./coins.js";
import { type Field, field } from "./field.js";
import type { Entries, Json } from "./json.js";
import { fail, integer, list, object, string, whole } from "./reading.js";

export type Draw =
  | { readonly kind: "below"; readonly bound: bigint }
  | { readonly kind: "table"; readonly table: Table }
  | { readonly kind: "round"; readonly of: Field; readonly steps: bigint; readonly levels: bigint };

export type Brick =
  | { readonly kind: "emit"; readonly fields: readonly Field[] }
  | { readonly kind: "all"; readonly parts: readonly Brick[] }
  | { readonly kind: "maybe"; readonly chance: bigint; readonly then: Brick; readonly otherwise: Brick }
  | { readonly kind: "copies"; readonly times: Field | Table; readonly inner: Brick }
  | { readonly kind: "let"; readonly name: string; readonly draw: Draw; readonly inner: Brick }
  | { readonly kind: "each"; readonly name: string; readonly times: bigint; readonly inner: Brick }
  | { readonly kind: "row"; readonly width: number; readonly here: Field | null; readonly off: bigint; readonly on: bigint }
  | { readonly kind: "subset"; readonly width: number; readonly amount: number; readonly here: Field; readonly chance: bigint }
  | { readonly kind: "shares"; readonly total: Field; readonly modulus: bigint; readonly count: number };

export const MOST = 1 << 24; // of anything that a device can be asked to do

const BRICKS = new Map<string, (source: Entries) => Brick>([
  ["emit", emit], ["all", all], ["maybe", maybe], ["copies", copies], ["let", bind], ["each", each], ["row", row],
  ["subset", subset], ["shares", shares],
]);

export function brick(source: Json | undefined): Brick {
  if (!(source instanceof Map)) fail();
  const kinds = [...BRICKS.keys()].filter((kind) => source.has(kind));
  const make = kinds.length === 1 ? BRICKS.get(kinds[0] as string) : undefined;
  return make ? make(source) : fail();
}

/** Whether it sends what a person holds, and nothing else. */
export function isValue(brick: Brick): boolean {
  return brick.kind === "emit" && brick.fields.length === 1 && brick.fields[0]?.text === '{"name":"value"}';
}

/** The names that it looks at. */
export function reads(brick: Brick): ReadonlySet<string> {
  const without = (name: string, inner: Brick): string[] => [...reads(inner)].filter((each) => each !== name);
  switch (brick.kind) {
    case "emit":
      return new Set(brick.fields.flatMap((each) => [...each.reads]));
    case "all":
      return new Set(brick.parts.flatMap((each) => [...reads(each)]));
    case "maybe":
      return new Set([...reads(brick.then), ...reads(brick.otherwise)]);
    case "copies":
      return new Set([...(brick.times instanceof Table ? [] : brick.times.reads), ...reads(brick.inner)]);
    case "let":
      return new Set([...(brick.draw.kind === "round" ? brick.draw.of.reads : []), ...without(brick.name, brick.inner)]);
    case "each":
      return new Set(without(brick.name, brick.inner));
    case "row":
      return brick.here?.reads ?? new Set();
    case "subset":
      return brick.here.reads;
    case "shares":
      return brick.total.reads;
  }
}

function emit(source: Entries): Brick {
  return { kind: "emit", fields: list(object(source, ["emit"]).get("emit")).map(field) };
}

function all(source: Entries): Brick {
  return { kind: "all", parts: list(object(source, ["all"]).get("all")).map(brick) };
}

function maybe(source: Entries): Brick {
  object(source, ["maybe", "then", "else"]);
  const [then, otherwise] = [brick(source.get("then")), brick(source.get("else"))];
  return { kind: "maybe", chance: threshold(source.get("maybe")), then, otherwise };
}

function copies(source: Entries): Brick {
  object(source, ["copies", "brick"]);
  const amount = source.get("copies");
  const times = amount instanceof Map && amount.has("coarse") ? table(amount) : field(amount);
  return { kind: "copies", times, inner: brick(source.get("brick")) };
}

function bind(source: Entries): Brick {
  object(source, ["let", "be", "in"]);
  return { kind: "let", name: string(source.get("let")), draw: drawn(source.get("be")), inner: brick(source.get("in")) };
}

function each(source: Entries): Brick {
  object(source, ["each", "below", "do"]);
  const times = bound(source.get("below"));
  return { kind: "each", name: string(source.get("each")), times, inner: brick(source.get("do")) };
}

function row(source: Entries): Brick {
  object(source, ["row", "here", "off", "on"]);
  const here = source.get("here") === null ? null : field(source.get("here"));
  const [off, on] = [threshold(source.get("off")), threshold(source.get("on"))];
  return { kind: "row", width: whole(source.get("row"), 1, MOST), here, off, on };
}

function subset(source: Entries): Brick {
  object(source, ["subset", "size", "here", "with"]);
  const [width, amount] = [whole(source.get("subset"), 1, MOST), whole(source.get("size"), 0, MOST)];
  return { kind: "subset", width, amount, here: field(source.get("here")), chance: threshold(source.get("with")) };
}

function shares(source: Entries): Brick {
  object(source, ["shares", "modulus", "count"]);
  const [modulus, count] = [bound(source.get("modulus")), whole(source.get("count"), 1, MOST)];
  return { kind: "shares", total: field(source.get("shares")), modulus, count };
}

function drawn(source: Json | undefined): Draw {
  if (!(source instanceof Map)) fail();
  if (source.has("below")) return { kind: "below", bound: bound(object(source, ["below"]).get("below")) };
  if (source.has("table")) return { kind: "table", table: table(object(source, ["table"]).get("table")) };
  object(source, ["round", "from", "to"]);
  const [steps, levels] = [bound(source.get("from")), bound(source.get("to"))];
  return { kind: "round", of: field(source.get("round")), steps, levels };
}

function table(source: Json | undefined): Table {
  const entries = object(source, ["start", "coarse", "fine"]);
  const [coarse, fine] = [list(entries.get("coarse")).map(integer), list(entries.get("fine")).map(integer)];
  return new Table(integer(entries.get("start")), coarse, fine);
}

function threshold(source: Json | undefined): bigint {
  const found = integer(source);
  return found >= 0n && found <= WORD ? found : fail();
}

function bound(source: Json | undefined): bigint {
  const found = integer(source);
  return found >= 1n && found <= WORD ? found : fail();
}
