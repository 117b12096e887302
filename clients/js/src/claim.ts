/**
 * Whether a plan gives away as little as it claims, worked out from its programme: what one report tells by itself, if the
 * operators work together, and what all of them tell once they are mixed. Nothing that a plan claims is believed.
 *
 * A claim for several rounds is proved only where the epsilons of single reports add up to no more: what mixing adds to
 * many rounds is not worked out here.
 *
 * Whatever is not proved is refused. Most plans of the catalogue are proved here; for the others somebody has to check
 * the collection with `headcount`, and to pin its hash.
 */

import { added } from "./added.js";
import { clones, lies } from "./clones.js";
import { tooMany } from "./counts.js";
import { Unsupported } from "./errors.js";
import { Effort, TooLarge } from "./laws.js";
import { logarithm, odds } from "./odds.js";
import { paddedDelta } from "./padded.js";
import type { Plan } from "./plan.js";
import { isValue } from "./tree.js";
import { steps } from "./work.js";

const SHORT = 1 + 1e-9; // claims are rounded up to so many digits
const MOST_STEPS = 1n << 26n; // of all values together

const PINNED = "give the hash of a collection that somebody has checked with headcount, or do not answer";

/** Refuses a plan unless it is as private as it claims: both mixed, and if the operators work together. */
export function requireProved(plan: Plan): void {
  const { brick } = plan.programme;
  const told = odds(brick, plan.domain.values);
  const alone = told && plan.rounds * logarithm(told); // of all rounds
  if (plan.colluding !== null && !(alone !== undefined && alone <= plan.colluding * SHORT)) {
    refuse(alone, "if the shuffler and the analyser work together");
  }
  if (alone !== undefined && alone <= plan.epsilon * SHORT) return;
  if (plan.rounds > 1) refuse(undefined, "in all rounds together");
  if (plan.padded !== null) {
    const delta = isValue(brick) ? paddedDelta(plan.padded, plan.epsilon) : undefined;
    if (delta === undefined || delta > plan.delta) refuse(delta, "with the messages that the shuffler adds");
    return;
  }
  if (plan.delta === 0) refuse(alone, "once they are mixed"); // what mixing adds is never certain
  const crowd = { values: plan.domain.values, honest: plan.crowd.honest, epsilon: plan.epsilon, effort: new Effort() };
  const bounds = [
    () => (steps(brick, crowd.values) * BigInt(crowd.values) > MOST_STEPS ? undefined : added(brick, crowd)),
    () => lies(brick, crowd),
    () => (told && told.under > 0n && told.over > told.under ? clones(told, crowd) : undefined),
  ].map(proved).filter((bound) => bound !== undefined);
  if (!bounds.length) refuse(undefined, "once they are mixed");
  const cut = proved(() => tooMany(brick, crowd.values, plan.messages)) ?? 1;
  const delta = Math.min(...bounds) + (1 + Math.exp(plan.epsilon)) * plan.crowd.honest * cut;
  if (!(delta <= plan.delta)) refuse(delta, "once they are mixed");
}

/** What is worked out, or undefined if that takes too long or is not known here. */
function proved(work: () => number | undefined): number | undefined {
  try {
    return work();
  } catch (problem) {
    if (problem instanceof TooLarge) return undefined;
    throw problem;
  }
}

function refuse(found: number | undefined, when: string): never {
  const cannot = found === undefined ? "cannot work out what the collection's reports give away" : "finds that the collection's reports may give away more than it claims";
  throw new Unsupported(`this device ${cannot}, ${when}; ${PINNED}`);
}
