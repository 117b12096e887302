/**
 * Messages that a shuffler adds to answers which have no noise of their own: what such a plan says of them, and the delta
 * of what the analyser sees, rounded up.
 *
 * Of each kind there are Z more, two-sided geometric around `shift` and cut at 0: a total of c + Z. One that moves shows
 * what is impossible with the chance P[Z = 0], and otherwise a ratio of e^rate at most. Of two that move apart only one can
 * show what is impossible, and the ratios multiply. Where the shuffler samples, every ratio is at most e^inner.
 */

import { fail, number, object, whole } from "./reading.js";
import type { Json } from "./json.js";

export interface Padded {
  readonly moved: 1 | 2; // totals that one person changes
  readonly analyser: number; // the scale of the analyser's own noise, 0 for none
  readonly scale: number; // or 0 where messages are sampled
  readonly shift: number;
  readonly inner: number;
}

const PROTOCOLS = new Map([
  ["padded-count", ["analyser_scale", "scale", "shift"]], ["padded-histogram", ["analyser_scale", "scale", "shift"]],
  ["sampled-padded-histogram", ["analyser_scale", "inner"]],
]);
const WRONG = 1e-12; // more than a sum of doubles here is wrong by, relatively
const FAR = 1e-25; // more than the tables of a shuffler are wrong by

/** What the plan of such a protocol says of the shuffler; null for any other. */
export function padded(protocol: string, values: number, neighbours: string, parameters: Json | undefined): Padded | null {
  const names = PROTOCOLS.get(protocol);
  if (names === undefined) return null;
  const told = object(parameters, names);
  const sampled = protocol === "sampled-padded-histogram";
  const moved = protocol === "padded-count" ? 1 : 2;
  if (neighbours !== "replace" || (moved === 1 && values !== 2)) fail();
  const positive = (name: string): number => (number(told.get(name)) > 0 ? number(told.get(name)) : fail());
  const analyser = number(told.get("analyser_scale")) === 0 ? 0 : positive("analyser_scale");
  if (sampled) return { moved, analyser, scale: 0, shift: 0, inner: positive("inner") };
  return { moved, analyser, scale: positive("scale"), shift: whole(told.get("shift"), 1, 1e8), inner: 0 };
}

/** The epsilon of a shuffler that takes what it added off the result; infinite if nothing hides a total from it. */
export function fromShuffler({ moved, analyser }: Padded): number {
  return analyser === 0 ? Infinity : moved / analyser;
}

/** At this epsilon. */
export function paddedDelta({ moved, scale, shift, inner }: Padded, epsilon: number): number {
  if (scale === 0) return 2 * inner <= epsilon * (1 + WRONG) ? 0 : 1;
  const [rate, step] = [1 / scale, -Math.expm1(-1 / scale)];
  const left = -Math.expm1(-rate * (shift + 1)) / step;
  const whole = moved === 1 ? 2 * left - 1 : left + Math.exp(-rate) / step;
  const none = Math.exp(-rate * shift) / whole;
  const beyond = moved === 1 ? 1 : 1 / step / whole; // P[Z >= shift] of the other total
  const excess = Math.max(0, -Math.expm1(epsilon - moved * rate)) * beyond * (left / whole - none);
  return (none + excess) * (1 + WRONG) + FAR;
}
