/**
 * How likely a person would send more messages than everybody does, and so is cut short: what that changes is charged.
 * Everything is a sum of products of positive doubles.
 */

import { Table, WORD } from "./coins.js";
import { modulo, type Names } from "./field.js";
import { TooLarge } from "./laws.js";
import { type Brick, reads } from "./tree.js";

type Chances = Float64Array; // of 0, 1, … messages; the last of more

const MOST_VALUES = 1 << 12;
const MOST_DRAWN = 1n << 12n;
const ROUND_UP = 1 + 1e-9;

/** For the value that sends most. */
export function tooMany(brick: Brick, values: number, messages: number): number {
  if (!sizedBy(brick).has("value")) return last(chances(brick, new Map(), messages)) * ROUND_UP;
  if (values > MOST_VALUES) throw new TooLarge();
  const each = Array.from({ length: values }, (_, value) => chances(brick, new Map([["value", BigInt(value)]]), messages));
  return Math.max(...each.map(last)) * ROUND_UP;
}

function last(chances: Chances): number {
  return chances.at(-1) ?? 1;
}

/** The names on which it depends how many messages there are. */
function sizedBy(brick: Brick): ReadonlySet<string> {
  const without = (name: string, inner: Brick): string[] => [...sizedBy(inner)].filter((each) => each !== name);
  switch (brick.kind) {
    case "all":
      return new Set(brick.parts.flatMap((part) => [...sizedBy(part)]));
    case "maybe":
      return new Set([...sizedBy(brick.then), ...sizedBy(brick.otherwise)]);
    case "copies":
      return new Set([...(brick.times instanceof Table ? [] : brick.times.reads), ...sizedBy(brick.inner)]);
    case "let": {
      const rounded = brick.draw.kind === "round" && sizedBy(brick.inner).has(brick.name);
      return new Set([...(rounded ? reads({ ...brick, inner: { kind: "all", parts: [] } }) : []), ...without(brick.name, brick.inner)]);
    }
    case "each":
      return new Set(without(brick.name, brick.inner));
    default:
      return new Set();
  }
}

function chances(brick: Brick, names: Names, top: number): Chances {
  switch (brick.kind) {
    case "all":
      return brick.parts.reduce((sum, part) => both(sum, chances(part, names, top)), exactly(0, top));
    case "maybe":
      return mixed([
        [Number(brick.chance) / 2 ** 64, chances(brick.then, names, top)],
        [Number(WORD - brick.chance) / 2 ** 64, chances(brick.otherwise, names, top)],
      ]);
    case "copies": {
      const once = chances(brick.inner, names, top);
      return brick.times instanceof Table ? drawnOften(brick.times, once, top) : often(once, Number(brick.times.at(names)), top);
    }
    case "let": {
      if (!sizedBy(brick.inner).has(brick.name)) return chances(brick.inner, names, top);
      const with_ = (number: bigint): Chances => chances(brick.inner, new Map(names).set(brick.name, number), top);
      return mixed(outcomes(brick, names).map(([number, chance]) => [chance, with_(number)]));
    }
    case "each": {
      if (!sizedBy(brick.inner).has(brick.name)) return often(chances(brick.inner, names, top), Number(brick.times), top);
      if (brick.times > MOST_DRAWN) throw new TooLarge();
      const turns = Array.from({ length: Number(brick.times) }, (_, turn) => new Map(names).set(brick.name, BigInt(turn)));
      return turns.reduce((sum, here) => both(sum, chances(brick.inner, here, top)), exactly(0, top));
    }
    case "shares":
      return exactly(brick.count, top);
    default:
      return exactly(1, top);
  }
}

function outcomes({ draw }: Extract<Brick, { kind: "let" }>, names: Names): [bigint, number][] {
  if (draw.kind === "below") {
    if (draw.bound > MOST_DRAWN) throw new TooLarge();
    return Array.from({ length: Number(draw.bound) }, (_, at) => [BigInt(at), 1 / Number(draw.bound)]);
  }
  if (draw.kind === "table") return parts(draw.table).map((chance, at) => [draw.table.start + BigInt(at), chance]);
  const scaled = draw.of.at(names) * draw.levels;
  const rest = modulo(scaled, draw.steps);
  const down = (scaled - rest) / draw.steps;
  return [[down, Number(draw.steps - rest) / Number(draw.steps)], [down + 1n, Number(rest) / Number(draw.steps)]];
}

function parts(table: Table): number[] {
  const { masses } = table;
  const total = Number(masses.reduce((sum, mass) => sum + mass, 0n));
  return masses.map((mass) => Number(mass) / total);
}

function exactly(messages: number, top: number): Chances {
  const chances = new Float64Array(top + 2);
  chances[Math.min(messages, top + 1)] = 1;
  return chances;
}

function both(one: Chances, other: Chances): Chances {
  const sum = new Float64Array(one.length);
  one.forEach((here, at) => {
    if (!here) return;
    other.forEach((there, more) => {
      const place = Math.min(at + more, sum.length - 1);
      sum[place] = (sum[place] ?? 0) + here * there;
    });
  });
  return sum;
}

function mixed(parts: readonly (readonly [number, Chances])[]): Chances {
  const [[, first] = [0, new Float64Array()]] = parts;
  return Float64Array.from(first, (_, at) => parts.reduce((sum, [chance, each]) => sum + chance * (each[at] ?? 0), 0));
}

function often(once: Chances, number: number, top: number): Chances {
  let [sum, power] = [exactly(0, top), once];
  for (let left = number; left; left = Math.floor(left / 2)) {
    if (left % 2) sum = both(sum, power);
    if (left > 1) power = both(power, power);
  }
  return sum;
}

/** Powers of what one copy sends, one after the other; beyond `top` + 1 copies of something, more is more than enough. */
function drawnOften(table: Table, once: Chances, top: number): Chances {
  const sum = new Float64Array(top + 2);
  const all = parts(table);
  const certain = once[0] === 0; // every copy sends something
  if (!certain && all.length > Number(MOST_DRAWN)) throw new TooLarge();
  let power = exactly(0, top);
  all.forEach((chance, copies) => {
    if (certain && copies > top) return void (sum[top + 1] = (sum[top + 1] ?? 0) + chance);
    if (copies) power = both(once, power);
    power.forEach((each, at) => (sum[at] = (sum[at] ?? 0) + chance * each));
  });
  return sum;
}
