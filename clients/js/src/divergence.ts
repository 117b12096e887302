/**
 * How well two laws are told apart: the hockey-stick divergence, of one pair or of two independent ones, rounded up.
 *
 * For two it is a sum over the outcomes of the first of a prefix of those of the second, sorted by likelihood ratio.
 * Where doubles do not tell whether an outcome belongs to it, it does, and what that may miss is added.
 */

import { type Law, slack } from "./laws.js";

/** Masses of the same outcomes under P and under Q, and how much of either lies elsewhere. */
export interface Pair {
  readonly p: Float64Array;
  readonly q: Float64Array;
  readonly outside: number;
}

const NEAR = 1e-11; // of a log-ratio, more than it may be wrong by
const NOTHING: Pair = { p: Float64Array.of(1), q: Float64Array.of(1), outside: 0 };

/** A law, and the same moved by so much. */
export function shifted({ masses, outside }: Law, by: number): Pair {
  const far = Math.abs(by);
  const [still, moved] = [new Float64Array(masses.length + far), new Float64Array(masses.length + far)];
  still.set(masses, by < 0 ? far : 0);
  moved.set(masses, by < 0 ? 0 : far);
  return { p: still, q: moved, outside };
}

export function reversed({ p, q, outside }: Pair): Pair {
  return { p: q, q: p, outside };
}

/** In the worse of both orders. */
export function eitherOrder(epsilon: number, first: Pair, second: Pair = NOTHING): number {
  return Math.max(divergence(epsilon, first, second), divergence(epsilon, reversed(first), reversed(second)));
}

function divergence(epsilon: number, first: Pair, second: Pair): number {
  const [few, many] = [sorted(first), sorted(second)];
  const wrong = slack(first.p.length + second.p.length);
  const near = NEAR + 4 * wrong;
  const [withP, withQ] = [prefixes(many.p), prefixes(many.q)];
  let [excess, chosen] = [0, many.p.length];
  few.ratios.forEach((ratio, at) => {
    // few is sorted by falling ratio, so that the prefix of the others gets shorter
    while (chosen > 0 && (many.ratios[chosen - 1] as number) < epsilon - near - ratio) chosen--;
    const [here, there] = [(few.p[at] as number) * (withP[chosen] as number), (few.q[at] as number) * (withQ[chosen] as number)];
    excess += here * (1 + wrong + near) - Math.exp(epsilon) * there * (1 - 2 * wrong);
  });
  return Math.min(1, Math.max(0, excess) + first.outside + second.outside);
}

/** Outcomes that P can have, by falling log-ratio. */
function sorted({ p, q }: Pair): { ratios: number[]; p: number[]; q: number[] } {
  const ratio = (at: number): number => Math.log(p[at] as number) - Math.log(q[at] as number);
  const keyed = [...p.keys()].filter((at) => (p[at] as number) > 0).map((at) => [ratio(at), at] as const);
  keyed.sort(([one], [other]) => (other > one ? 1 : other < one ? -1 : 0));
  const taken = (of: Float64Array): number[] => keyed.map(([, at]) => of[at] as number);
  return { ratios: keyed.map(([each]) => each), p: taken(p), q: taken(q) };
}

function prefixes(masses: readonly number[]): number[] {
  let sum = 0;
  return [0, ...masses.map((mass) => (sum += mass))];
}
