/**
 * One message that depends on the answer, behind a shuffler: others who might have sent it as well hide it.
 *
 * `clones` knows of the message only how much likelier it may be under one answer than under another [FMT21]; `lies`
 * that it is a lie, the same whatever is answered, with some chance [BBGN19].
 *
 * [FMT21] Feldman, McMillan and Talwar, Hiding Among the Clones, FOCS 2021, Theorem 3.1.
 * [BBGN19] Balle, Bell, Gascon and Nissim, The Privacy Blanket of the Shuffle Model, CRYPTO 2019, Lemma 5.3.
 */

import { WORD } from "./coins.js";
import { binomial, certain, type Crowd, type Law, slack } from "./laws.js";
import { type Odds } from "./odds.js";
import type { Brick } from "./tree.js";

const UP = 1 + 1e-14; // on what something is subtracted from

/**
 * A person among n tells no more than (A + D, C - A + 1 - D) against the same with the two exchanged, where
 * C ~ Bin(n - 1, 1/odds), A ~ Bin(C, 1/2) and D is 1 with chance p = odds/(odds + 1). Given N = C + 1 that is
 * 2/N E[(gain N1 - loss (N - N1))_+] with N1 ~ Bin(N, 1/2), gain = p - e^epsilon (1 - p), loss = e^epsilon p - (1 - p).
 */
export function clones({ over, under }: Odds, { honest, epsilon, effort }: Crowd): number {
  const odds = Number((over << 53n) / under) / 2 ** 53;
  const [p, growth] = [(odds / (odds + 1)) * UP, Math.exp(epsilon)];
  const [gain, loss] = [p - growth * (1 - p), growth * p - (1 - p)];
  if (gain <= 0) return 0;
  const law = binomial(honest - 1, 1 / odds, (odds - 1) / odds);
  let sum = law.outside;
  law.masses.forEach((mass, at) => {
    const people = law.start + at + 1;
    const first = binomial(people, 0.5);
    effort.spend(first.masses.length);
    const excess = expected(first, (number) => (gain + loss) * number * UP - loss * people);
    sum += mass * ((2 / people) * excess + first.outside);
  });
  return Math.min(1, sum * (1 + slack(2 * law.masses.length)) * (1 + 1e-9));
}

/** Of the positive part. */
function expected({ start, masses }: Law, value: (number: number) => number): number {
  return masses.reduce((sum, mass, at) => sum + mass * Math.max(0, value(start + at)), 0);
}

/**
 * With chance `lie` any of k messages, otherwise the value, or the level it is rounded to. If the analyser knows who
 * lies, all of n people together are slots that fall into the cell of one answer, of the other, or another lie's:
 * delta is at most E[(gain N1 - loss N2 - third N3)_+] / (n lie). Undefined if it is no such report.
 */
export function lies(brick: Brick, { values, honest, epsilon, effort }: Crowd): number | undefined {
  const found = response(brick, values);
  if (!found) return undefined;
  const { lie, kinds } = found;
  const growth = Math.exp(epsilon);
  const [truth, hidden] = [(1 - lie) * kinds * UP, lie * (growth - 1)];
  const [gain, loss] = [truth - hidden, truth * growth + hidden];
  if (gain <= 0) return 0;
  const pairs = binomial(honest, (2 * lie) / kinds);
  let sum = gain * honest * pairs.outside;
  pairs.masses.forEach((mass, at) => {
    const both = pairs.start + at;
    const share = (lie * (kinds - 2)) / (kinds - 2 * lie);
    const thirds = kinds === 2 || both === honest ? certain(0) : binomial(honest - both, share);
    const first = binomial(both, 0.5);
    effort.spend(first.masses.length + thirds.masses.length);
    const lost = gain * both * (thirds.outside + first.outside);
    sum += mass * (excess(first, thirds, (gain + loss) * UP, loss * both, hidden) + lost);
  });
  return Math.min(1, (sum / (honest * lie)) * (1 + slack(4 * pairs.masses.length)) * (1 + 1e-9));
}

/** E[(each N - all - third M)_+], by the tails of N: as M grows, they get shorter. */
function excess(first: Law, thirds: Law, each: number, all: number, third: number): number {
  let [place, chance, mean] = [first.masses.length, 0, 0];
  let sum = 0;
  for (let at = thirds.masses.length - 1; at >= 0; at--) {
    const level = all + third * (thirds.start + at);
    while (place > 0 && each * (first.start + place - 1) > level) {
      place--;
      chance += first.masses[place] as number;
      mean += (first.masses[place] as number) * (first.start + place);
    }
    sum += (thirds.masses[at] as number) * Math.max(0, each * mean * UP - level * chance);
  }
  return sum;
}

function response(brick: Brick, values: number): { lie: number; kinds: number } | undefined {
  let [step, name, kinds] = [brick, "value", values];
  if (step.kind === "let" && step.draw.kind === "round") {
    const { of, steps, levels } = step.draw;
    if (of.text !== '{"name":"value"}' || steps !== BigInt(values - 1)) return undefined;
    [step, name, kinds] = [step.inner, step.name, Number(levels) + 1];
  }
  if (step.kind !== "maybe" || step.then.kind !== "let" || step.then.draw.kind !== "below") return undefined;
  const { chance, then, otherwise } = step;
  const tells = (sent: Brick, told: string): boolean =>
    sent.kind === "emit" && sent.fields.length === 1 && sent.fields[0]?.text === JSON.stringify({ name: told });
  const fits = then.kind === "let" && then.draw.kind === "below" && then.draw.bound === BigInt(kinds);
  if (!fits || !tells(then.inner, then.name) || !tells(otherwise, name)) return undefined;
  return chance > 0n && chance < WORD && kinds >= 2 ? { lie: Number(chance) / 2 ** 64, kinds } : undefined;
}
