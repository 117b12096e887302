/** What a device agrees to, whatever a collection says. */

import { BadArgument, OverBudget, Unsupported } from "./errors.js";
import { fromShuffler } from "./padded.js";
import type { Collection, Plan } from "./plan.js";
import { general, grouped } from "./words.js";

/** At most so much; and of the crowd, at least so many honest people. */
export interface Limits {
  readonly epsilon: number;
  readonly delta: number;
  readonly colluding: number; // the epsilon that is left if the shuffler and the analyser are one; Infinity: also if none is
  readonly lifetime_epsilon: number;
  readonly lifetime_delta: number;
  readonly least: number;
  readonly top_up: boolean; // whether reports of nobody may take the place of people
  readonly invited: boolean; // whether only those may report who are invited
  readonly fixed: boolean; // whether batches must end with their windows
  readonly padded: boolean; // whether the answer may be sent without noise, for the shuffler to hide with messages it adds
}

export const LIMITS: Limits = {
  epsilon: 2, delta: 1e-4, colluding: 8, lifetime_epsilon: 10, lifetime_delta: 1e-3, least: 100, top_up: false,
  invited: false, fixed: false, padded: false,
};

const BARE = "as it is, without noise, for the shuffler to hide with messages that it adds";

/** Exact sums: a double from 2^-100 on is a whole number of these. */
export type Exact = bigint;
const UNIT = 2 ** 200;

export function exactly(number: number): Exact {
  return BigInt(number * UNIT);
}

export function inexactly(sum: Exact): number {
  return Number(sum) / UNIT;
}

export function limitsWith(given: Partial<Limits>): Limits {
  for (const [name, value] of Object.entries(given)) {
    if (!(name in LIMITS)) throw new BadArgument(name, "is not a limit", `use ${Object.keys(LIMITS).join(", ")}`);
    const works = typeof LIMITS[name as keyof Limits] === "boolean" ? "use true or false" : "use a number from 0 on";
    const fits = typeof value === typeof LIMITS[name as keyof Limits] && Number(value) >= 0;
    if (!fits) throw new BadArgument(name, `is ${String(value)}`, works);
  }
  return { ...LIMITS, ...given };
}

/** Whether a shuffler that knows what it added learns no more from all results than the limits allow. */
function hiddenFromShuffler(limits: Limits, { padded, rounds }: Plan): boolean {
  return padded === null || rounds * fromShuffler(padded) <= limits.epsilon * (1 + 1e-9) || limits.delta >= 1;
}

/** Refuses what goes beyond, given what all reports so far have spent. A series counts once: `agreed` says that it has. */
export function requireWithin(
  limits: Limits, collection: Collection, spent: { epsilon: Exact; delta: Exact }, agreed = false,
): void {
  const { plan } = collection;
  if (plan.colluding === null && limits.colluding < Infinity) {
    const learn = "if the shuffler and the analyser work together, they learn the answer";
    throw new Unsupported(`${learn}, to which this device does not agree (colluding)`);
  }
  for (const [words, cost, most] of [
    ["epsilon", plan.epsilon, limits.epsilon],
    ["delta", plan.delta, limits.delta],
    ["epsilon if the operators work together", plan.colluding ?? Infinity, limits.colluding],
  ] as const) {
    if (cost > most) {
      const ours = `this device agrees to ${general(most)} at most`;
      throw new Unsupported(`the collection asks for ${words} ${general(cost)}, and ${ours}`);
    }
  }
  if (plan.crowd.honest < limits.least) {
    const relied = `the collection relies on ${grouped(plan.crowd.honest)} honest people`;
    throw new Unsupported(`${relied}, and this device on ${grouped(limits.least)}`);
  }
  for (const [wanted, has, words] of [
    [!limits.top_up, !collection.topUp, "may count on people who are not there"],
    [limits.invited, collection.invited, "lets anybody report, as often as they like"],
    [limits.fixed, collection.fixed, "may be closed by its operator at any moment"],
    [!limits.padded, plan.padded === null, `takes the answer ${BARE}`],
    [true, hiddenFromShuffler(limits, plan), "lets the shuffler read totals off the result"],
  ] as const) {
    if (wanted && !has) throw new Unsupported(`the collection ${words}, to which this device does not agree`);
  }
  for (const [name, before, more] of [
    ["lifetime_epsilon", spent.epsilon, plan.epsilon], ["lifetime_delta", spent.delta, plan.delta],
  ] as const) {
    const after = before + (agreed ? 0n : exactly(more));
    const most = limits[name];
    if (most < Infinity && after > exactly(most)) {
      const whole = `with this report the device would have spent ${general(inexactly(after))} in all`;
      throw new OverBudget(`${whole}, and it agrees to ${general(most)} (${name})`);
    }
  }
}
