/**
 * Messages in which people hide behind noise that everybody adds, whatever they answer.
 *
 * Part of a report is decided by the answer alone, the rest does not depend on it. What is seen is how often each message
 * occurs: fixed numbers that one person changes, and the noise of all honest people. Messages whose noise has nothing to
 * do with those that change tell nothing, and groups of messages with noise of their own are independent.
 */

import { eitherOrder, type Pair, reversed, shifted } from "./divergence.js";
import { ONE } from "./fixed.js";
import { certain, type Crowd, geometricMore, TooLarge } from "./laws.js";
import { fixed, Noise, type Source } from "./noise.js";
import { type Brick, reads } from "./tree.js";

const MOST_VALUES = 1 << 12;
const FEW_VALUES = 48;

/** Delta at this epsilon among so many honest people, rounded up. */
export function added(brick: Brick, { values, honest, epsilon, effort }: Crowd): number {
  if (values > MOST_VALUES) throw new TooLarge();
  const parts = flat(brick);
  const own: Brick = { kind: "all", parts: parts.filter((part) => reads(part).has("value")) };
  const sent = Array.from({ length: values }, (_, value) => fixed(own, new Map([["value", BigInt(value)]])));
  const noise = new Noise(honest);
  parts.filter((part) => !reads(part).has("value")).forEach((part) => noise.add(part, new Map()));
  const groups = new Groups(noise.sources);
  const seen = new Map<string, number>();
  const held = chosen(sent, groups);
  held.forEach((first, at) => {
    for (const second of held.slice(at + 1)) compare(first, second, groups, seen, { epsilon, effort });
  });
  return Math.max(0, ...seen.values()) + (1 + Math.exp(epsilon)) * noise.distance;
}

function flat(brick: Brick): Brick[] {
  return brick.kind === "all" ? brick.parts.flatMap(flat) : [brick];
}

type Sent = ReadonlyMap<string, number>;

/** Values that are hidden alike need not be told apart: each against the first and the second of its like. */
function chosen(sent: readonly Sent[], groups: Groups): Sent[] {
  if (sent.length <= FEW_VALUES) return [...sent];
  const roots = new Set<string>();
  const alike = new Map<string, Sent[]>();
  for (const messages of sent) {
    const [[message, times] = ["", 0], ...more] = messages;
    if (!times || more.length) throw new TooLarge();
    roots.add(groups.root(message));
    const key = `${times} ${groups.of(message).key}`;
    alike.set(key, [...(alike.get(key) ?? []), messages].slice(0, 2));
  }
  if (roots.size < sent.length) throw new TooLarge();
  return [...alike.values()].flat();
}

function compare(
  first: Sent, second: Sent, groups: Groups, seen: Map<string, number>, { epsilon, effort }: Pick<Crowd, "epsilon" | "effort">,
): void {
  const moved = [...new Set([...first.keys(), ...second.keys()])]
    .map((message) => [message, (second.get(message) ?? 0) - (first.get(message) ?? 0)] as const)
    .filter(([, times]) => times !== 0);
  if (!moved.length) return;
  if (moved.length > 2 || new Set(moved.map(([message]) => groups.root(message))).size < moved.length) throw new TooLarge();
  const touched = moved.map(([message, times]) => ({ group: groups.of(message), times }));
  const key = touched.map(({ group, times }) => `${times} ${group.key}`).sort().join("; ");
  if (seen.has(key)) return;
  const [one, other] = touched.map(({ group, times }) => group.moved(times));
  effort.spend((one?.p.length ?? 0) + (other?.p.length ?? 0));
  seen.set(key, one ? eitherOrder(epsilon, one, other) : 0);
}

/** Messages that share noise, found by joining the members of each source. */
class Groups {
  private readonly parent = new Map<string, string>();
  private readonly members = new Map<string, Source[]>();

  constructor(sources: readonly Source[]) {
    for (const { sent } of sources) {
      const [first = "", ...more] = [...sent.keys()];
      more.forEach((message) => this.parent.set(this.root(message), this.root(first)));
    }
    for (const source of sources) {
      const root = this.root([...source.sent.keys()][0] ?? "");
      this.members.set(root, [...(this.members.get(root) ?? []), source]);
    }
  }

  root(message: string): string {
    const parent = this.parent.get(message);
    return parent === undefined || parent === message ? message : this.root(parent);
  }

  of(message: string): Group {
    return new Group(message, this.members.get(this.root(message)) ?? []);
  }
}

/** One message, and all the noise of those that share some with it. */
class Group {
  /** Equal for messages that are hidden alike: how often each law sends this one and how often others. */
  readonly key: string;

  constructor(private readonly message: string, private readonly members: readonly Source[]) {
    const roles = members.map(({ sent, often }) => {
      const all = [...sent.values()].reduce((sum, times) => sum + times, 0);
      return `${often.key} ${sent.get(message) ?? 0} of ${all}`;
    });
    this.key = roles.sort().join(", ");
  }

  /** What is seen of it, and the same with so many more. */
  moved(times: number): Pair {
    if (!this.members.length) return shifted(certain(0), times);
    const [only, ...more] = this.members;
    if (only && !more.length && is(only, this.message)) return shifted(only.often.law(), times);
    const pair = this.cancelling();
    if (Math.abs(times) !== 1) throw new TooLarge();
    return times > 0 ? pair : reversed(pair);
  }

  /**
   * Noise A on this message, B on another one, Z on both, with A and B geometric: P[k] = (1 - q) q^k.
   *
   * The view is (A - B, B + Z), of which w = A - B moves by one. With h the law of Z + Geom(q^2),
   * P[w, v] = (1 - q)/(1 + q) q^|w| h(v - max(0, -w)). All w > 0 have the likelihood ratio q and the mass q/(1 + q);
   * those w <= 0 with v + w = t have h(t) against q h(t - 1), and together 1/(1 + q) times that. More noise than
   * geometric is as good as noise that is added later.
   */
  private cancelling(): Pair {
    const others = new Set(this.members.flatMap(({ sent }) => [...sent.keys()]).filter((each) => each !== this.message));
    const [other = ""] = others;
    const [alone, away] = [this.message, other].map((message) => this.members.find((source) => is(source, message)));
    const both = this.members.find(({ sent }) => sent.size === 2 && sent.get(this.message) === 1 && sent.get(other) === 1);
    if (others.size !== 1 || this.members.length !== 3 || !alone || !away || !both) throw new TooLarge();
    const { key, decay: q, shape } = alone.often;
    if (q === undefined || shape === undefined || shape < ONE || away.often.key !== key) throw new TooLarge();
    const { masses, outside } = geometricMore(both.often.law(), q * q);
    const [p, before] = [new Float64Array(masses.length + 2), new Float64Array(masses.length + 2)];
    masses.forEach((mass, at) => {
      p[at] = mass / (1 + q);
      before[at + 1] = (q * mass) / (1 + q);
    });
    p[masses.length + 1] = q / (1 + q);
    before[masses.length + 1] = 1 / (1 + q);
    return { p, q: before, outside };
  }
}

function is({ sent }: Source, message: string): boolean {
  return sent.size === 1 && sent.get(message) === 1;
}
