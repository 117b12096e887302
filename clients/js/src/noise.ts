/** What people send whatever they answer: which messages together, how often, and how far from laws with known sums. */

import { Table, WORD } from "./coins.js";
import type { Names } from "./field.js";
import { double, exponential, type Fixed, logarithm, ONE, ratio, times } from "./fixed.js";
import { binomial, type Law, negativeBinomial, poisson, TooLarge } from "./laws.js";
import type { Brick } from "./tree.js";

/** How often something is sent by a crowd; a negative binomial law has a decay, and a shape in the whole crowd. */
export interface Often {
  readonly key: string;
  readonly decay?: number;
  readonly shape?: Fixed;
  law(): Law;
}

/** Messages that are sent together, each with how many of it, and how often. */
export interface Source {
  readonly sent: ReadonlyMap<string, number>;
  readonly often: Often;
}

const MOST_SOURCES = 1 << 12;
const NEAR = ONE >> 80n; // a table that lies further from a law does not stand for it
const ROUNDING = 1n << 20n; // more than a mass in fixed point may be wrong by

export class Noise {
  readonly sources: Source[] = [];
  private looked = 0;
  distance = 0; // of all tables of all people from the laws that they stand for, in total variation

  constructor(readonly people: number) {}

  add(brick: Brick, names: Names): void {
    if (brick.kind === "all") brick.parts.forEach((part) => this.add(part, names));
    else if (brick.kind === "each") {
      if (brick.times > MOST_SOURCES) throw new TooLarge();
      for (let turn = 0n; turn < brick.times; turn++) this.add(brick.inner, new Map(names).set(brick.name, turn));
    } else if (brick.kind === "maybe") this.perhaps(brick, names);
    else if (brick.kind === "copies" && brick.times instanceof Table) this.copies(brick.times, brick.inner, names);
    else fixed(brick, names); // what everybody always sends tells nothing
  }

  private perhaps(brick: Extract<Brick, { kind: "maybe" }>, names: Names): void {
    const [then, otherwise] = [fixed(brick.then, names), fixed(brick.otherwise, names)];
    const [chance, against] = [Number(brick.chance) / 2 ** 64, Number(WORD - brick.chance) / 2 ** 64];
    if (then.size && otherwise.size) throw new TooLarge();
    const often = (yes: number, no: number): Often => ({ key: `bernoulli ${yes}`, law: () => binomial(this.people, yes, no) });
    if (then.size) this.send(then, often(chance, against));
    if (otherwise.size) this.send(otherwise, often(against, chance));
  }

  /** A Poisson number that is spread evenly over kinds is a Poisson number of each, independently. */
  private copies(table: Table, inner: Brick, names: Names): void {
    const { mean, often, distance } = standsFor(table, this.people);
    this.distance += this.people * distance;
    if (inner.kind !== "let" || inner.draw.kind !== "below" || mean === undefined) return this.send(fixed(inner, names), often);
    const { draw, name, inner: kind } = inner;
    if (draw.bound > MOST_SOURCES) throw new TooLarge();
    const clustered = kind.kind === "copies" && kind.times instanceof Table ? clusters(kind.times) : undefined;
    const share = mean / draw.bound;
    const each = clustered ? grouped(share, clustered.decay, this.people) : poissonNumber(share, this.people);
    this.distance += this.people * double(mean) * (clustered?.distance ?? 0);
    for (let at = 0n; at < draw.bound; at++) {
      const here = new Map(names).set(name, at);
      this.send(fixed(clustered && kind.kind === "copies" ? kind.inner : kind, here), each);
    }
  }

  private send(sent: ReadonlyMap<string, number>, often: Often): void {
    if (this.looked++ >= MOST_SOURCES) throw new TooLarge();
    if (sent.size) this.sources.push({ sent, often });
  }
}

/** What a brick sends that draws nothing; one that draws is too much to ask. */
export function fixed(brick: Brick, names: Names): Map<string, number> {
  const sent = new Map<string, number>();
  const add = (more: ReadonlyMap<string, number>, often = 1): void =>
    more.forEach((number, message) => sent.set(message, (sent.get(message) ?? 0) + often * number));
  if (brick.kind === "emit") sent.set(brick.fields.map((field) => field.at(names)).join(), 1);
  else if (brick.kind === "all") brick.parts.forEach((part) => add(fixed(part, names)));
  else if (brick.kind === "copies" && !(brick.times instanceof Table)) {
    const often = Number(brick.times.at(names));
    if (often) add(fixed(brick.inner, names), often);
  } else if (brick.kind === "each" && brick.times <= MOST_SOURCES) {
    for (let turn = 0n; turn < brick.times; turn++) add(fixed(brick.inner, new Map(names).set(brick.name, turn)));
  } else throw new TooLarge();
  return sent;
}

/**
 * The law that a table of copies stands for, and how far it lies from it.
 *
 * From the first three masses, m1/m0 is the Poisson mean, and so is 2 m2/m1; for a negative binomial law the former is
 * shape times decay and the latter (shape + 1) times decay. A shape of one in the whole crowd is taken at its word.
 */
function standsFor(table: Table, people: number): { mean?: Fixed; often: Often; distance: number } {
  const [first = 0n, second = 0n, third = 0n] = table.masses;
  if (table.start !== 0n || first === 0n) throw new TooLarge();
  const mean = ratio(second, first);
  const near = distance(table, exponential(-mean), (mass, k) => times(mass, mean) / (k + 1n));
  if (near !== undefined) return { mean, often: poissonNumber(mean, people), distance: near };
  const decay = ratio(2n * third, second) - mean;
  if (decay <= 0n || decay >= ONE) throw new TooLarge();
  const crowd = BigInt(people);
  for (const [shape, all] of [[ONE / crowd, ONE], [ratio(mean, decay), ratio(mean, decay) * crowd]] as const) {
    const none = exponential(times(shape, logarithm(ONE - decay)));
    const away = distance(table, none, (mass, k) => times(times(mass, decay), shape + k * ONE) / (k + 1n));
    if (away !== undefined) return { often: negative(all, decay), distance: away };
  }
  throw new TooLarge();
}

/** The logarithmic law of a cluster's size, P[k] = decay^k / k / -log(1 - decay): there 2 m2/m1 is its decay. */
function clusters(table: Table): { decay: Fixed; distance: number } {
  const [none, one = 0n, two = 0n] = table.masses;
  if (table.start !== 0n || none !== 0n || two === 0n || 2n * two >= one) throw new TooLarge();
  const decay = ratio(2n * two, one);
  const first = ratio(decay, -logarithm(ONE - decay));
  const away = distance(table, 0n, (mass, k) => (k === 0n ? first : (times(mass, decay) * k) / (k + 1n)));
  if (away === undefined) throw new TooLarge();
  return { decay, distance: away };
}

/** The table has no mass beyond its cells, so that what it has too much of is all of the distance. */
function distance(table: Table, first: Fixed, next: (mass: Fixed, k: bigint) => Fixed): number | undefined {
  const { masses } = table;
  const total = masses.reduce((sum, mass) => sum + mass, 0n);
  let [ideal, excess] = [first, 0n];
  for (const [k, mass] of masses.entries()) {
    const over = ratio(mass, total) - ideal + ROUNDING * BigInt(k + 1);
    if (over > 0n) excess += over;
    if (excess > NEAR) return undefined;
    ideal = next(ideal, BigInt(k));
  }
  return double(excess);
}

function poissonNumber(mean: Fixed, people: number): Often {
  return { key: `poisson ${mean}`, law: () => poisson(double(mean) * people) };
}

function negative(shape: Fixed, decay: Fixed): Often {
  const law = (): Law => negativeBinomial(double(shape), double(decay));
  return { key: `negative ${shape} ${decay}`, decay: double(decay), shape, law };
}

/** A Poisson number of logarithmic clusters is negative binomial of shape -mean / log(1 - decay). */
function grouped(mean: Fixed, decay: Fixed, people: number): Often {
  return negative(ratio(mean, -logarithm(ONE - decay)) * BigInt(people), decay);
}
