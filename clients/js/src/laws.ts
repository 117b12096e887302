/**
 * Laws of whole numbers in doubles whose error is known. Masses are products of positive ratios, both ways from the
 * likeliest number, divided by their sum: a mass k steps away has lost a few k parts in 2^53, and what lies beyond the
 * window falls at least as fast as it does at its ends.
 */

export interface Law {
  readonly start: number;
  readonly masses: Float64Array;
  readonly outside: number; // at most
}

/** More than a device works out. */
export class TooLarge extends Error {}

/** How much may be worked out in all, in masses. */
export class Effort {
  constructor(private left = 1 << 23) {}

  spend(masses: number): void {
    if ((this.left -= masses) < 0) throw new TooLarge();
  }
}

/** Among whom, and at what epsilon, something is hidden. */
export interface Crowd {
  readonly values: number; // that one person may hold
  readonly honest: number;
  readonly epsilon: number;
  readonly effort: Effort;
}

const MOST_CELLS = 1 << 19;
const NEGLIGIBLE = 1e-40;

/** How much a sum of so many such masses, or of products of two, may be wrong by, relatively. */
export function slack(cells: number): number {
  return 12 * (cells + 64) * 2 ** -53;
}

/** `up(k)` is the ratio of the mass of k + 1 to that of k, and never rises above `steepest(k)` from there on. */
function around(
  mode: number, first: number, last: number, up: (k: number) => number, steepest: (k: number) => number = up,
): Law {
  const [above, below]: [number[], number[]] = [[], []];
  let [mass, beyond] = [1, 0];
  for (let k = mode; k < last; k++) {
    mass *= up(k);
    above.push(mass);
    if (above.length > MOST_CELLS) throw new TooLarge();
    if (mass < NEGLIGIBLE && steepest(k + 1) < 1) {
      beyond += mass / (1 - steepest(k + 1));
      break;
    }
  }
  mass = 1;
  for (let k = mode; k > first; k--) {
    mass /= up(k - 1);
    below.push(mass);
    if (below.length > MOST_CELLS) throw new TooLarge();
    if (mass < NEGLIGIBLE && k - 1 > first) {
      beyond += mass / (1 - 1 / up(k - 2));
      break;
    }
  }
  const all = [...below.reverse(), 1, ...above];
  const sum = all.reduce((total, each) => total + each, 0);
  return { start: mode - below.length, masses: Float64Array.from(all, (each) => each / sum), outside: (2 * beyond) / sum };
}

export function binomial(trials: number, chance: number, against: number = 1 - chance): Law {
  if (trials === 0 || chance === 0) return certain(0);
  if (against === 0) return certain(trials);
  const mode = Math.min(trials, Math.floor((trials + 1) * chance));
  return around(mode, 0, trials, (k) => ((trials - k) / (k + 1)) * (chance / against));
}

export function poisson(mean: number): Law {
  return mean === 0 ? certain(0) : around(Math.floor(mean), 0, Infinity, (k) => mean / (k + 1));
}

export function negativeBinomial(shape: number, decay: number): Law {
  const mode = shape > 1 ? Math.floor(((shape - 1) * decay) / (1 - decay)) : 0;
  const up = (k: number): number => (decay * (k + shape)) / (k + 1);
  return around(mode, 0, Infinity, up, (k) => Math.max(up(k), decay));
}

export function certain(number: number): Law {
  return { start: number, masses: Float64Array.of(1), outside: 0 };
}

/** The law of Z + G where P[G = k] = (1 - x) x^k. */
export function geometricMore(law: Law, x: number): Law {
  const masses: number[] = [];
  let mass = 0;
  for (const each of law.masses) masses.push((mass = (1 - x) * each + x * mass));
  while (mass >= NEGLIGIBLE) {
    masses.push((mass *= x));
    if (masses.length > MOST_CELLS) throw new TooLarge();
  }
  return { start: law.start, masses: Float64Array.from(masses), outside: law.outside + mass / (1 - x) };
}
