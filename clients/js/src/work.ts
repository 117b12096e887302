/**
 * How many steps a programme takes at most, whatever is drawn, counted before the first: whoever creates a collection
 * chooses the numbers, and they may be enormous.
 */

import { Table } from "./coins.js";
import { Unsupported } from "./errors.js";
import type { Range, Ranges } from "./field.js";
import { fail } from "./reading.js";
import type { Brick, Draw } from "./tree.js";

export const MOST_STEPS = 1n << 23n; // words drawn, cells looked at and messages made: a few seconds

/** Refuses a programme that takes too long, or that draws a place or a number of copies which there is none of. */
export function requireBounded(brick: Brick, values: number): void {
  if (steps(brick, values) <= MOST_STEPS) return;
  throw new Unsupported(`the collection asks for more work than this device agrees to, ${MOST_STEPS} steps`);
}

/** Of one report. */
export function steps(brick: Brick, values: number): bigint {
  return stepsOf(brick, 1n, new Map([["value", [0n, BigInt(values - 1)]]]));
}

/** Of so many turns. */
function stepsOf(brick: Brick, turns: bigint, ranges: Ranges): bigint {
  if (turns > MOST_STEPS) return turns; // enough to refuse it, and no need to multiply on
  switch (brick.kind) {
    case "emit":
      brick.fields.forEach((field) => field.within(ranges));
      return turns * BigInt(1 + brick.fields.length);
    case "all":
      return brick.parts.reduce((sum, part) => sum + stepsOf(part, turns, ranges), turns);
    case "maybe":
      return turns + stepsOf(brick.then, turns, ranges) + stepsOf(brick.otherwise, turns, ranges);
    case "copies": {
      const drawn = brick.times instanceof Table ? cells(brick.times) : 1n;
      const [low, high] = brick.times instanceof Table ? reach(brick.times) : brick.times.within(ranges);
      if (low < 0n) fail();
      return turns * drawn + stepsOf(brick.inner, turns * high, ranges);
    }
    case "let":
      return turns * work(brick.draw) + stepsOf(brick.inner, turns, named(ranges, brick.name, drawn(brick.draw, ranges)));
    case "each":
      return stepsOf(brick.inner, turns * brick.times, named(ranges, brick.name, [0n, brick.times - 1n]));
    case "row":
    case "subset": {
      const here = brick.here?.within(ranges) ?? [0n, 0n];
      if (here[0] < 0n || here[1] >= BigInt(brick.width)) fail();
      if (brick.kind === "subset" && !(brick.amount >= 1 && brick.amount < brick.width)) fail();
      return turns * BigInt(brick.width + 1);
    }
    case "shares":
      brick.total.within(ranges);
      return turns * BigInt(brick.count);
  }
}

/** No name gets a second meaning. */
function named(ranges: Ranges, name: string, range: Range): Ranges {
  return ranges.has(name) || !/^[a-z]\w*$/i.test(name) ? fail() : new Map(ranges).set(name, range);
}

function work(draw: Draw): bigint {
  return draw.kind === "table" ? cells(draw.table) : 2n;
}

/** Between which numbers a draw lies. */
function drawn(draw: Draw, ranges: Ranges): Range {
  if (draw.kind === "below") return [0n, draw.bound - 1n];
  if (draw.kind === "table") return reach(draw.table);
  const [low, high] = draw.of.within(ranges);
  const down = (number: bigint): bigint => (number >= 0n ? number / draw.steps : -((draw.steps - 1n - number) / draw.steps));
  return [down(low * draw.levels), down(high * draw.levels + draw.steps - 1n)];
}

function reach(table: Table): Range {
  return [table.start, table.start + cells(table) - 1n];
}

function cells(table: Table): bigint {
  return BigInt(table.cells);
}
