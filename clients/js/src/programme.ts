/**
 * The report programme of a plan, carried out for one person: no randomiser is written here. Where a brick runs several
 * times, all of them take a step before any takes the next.
 */

import { type Coins, Table } from "./coins.js";
import { modulo, type Names } from "./field.js";
import type { Json } from "./json.js";
import { fail } from "./reading.js";
import { type Brick, brick, type Draw, MOST } from "./tree.js";

/** The fields of a message; a row of bits is its bytes, the first bit in the lowest place. */
export type Message = readonly (bigint | Uint8Array)[];
type Run = (people: readonly Names[], coins: Coins, send: (message: Message) => void) => void;
type Numbers = (people: readonly Names[], coins: Coins) => bigint[];
type Of<Kind> = Extract<Brick, { kind: Kind }>;

const PIECE = 1 << 20; // bits of rows at a time
const LARGE_PIECE = 1 << 23;

export class Programme {
  readonly brick: Brick;
  private readonly run: Run;

  constructor(source: Json | undefined) {
    this.brick = brick(source);
    this.run = runs(this.brick);
  }

  /** What somebody with this value sends. */
  messages(value: bigint, coins: Coins): Message[] {
    const sent: Message[] = [];
    this.run([new Map([["value", value]])], coins, (message) => sent.push(message));
    return sent;
  }
}

function runs(brick: Brick): Run {
  switch (brick.kind) {
    case "emit":
      return (people, _, send) => people.forEach((names) => send(brick.fields.map((each) => each.at(names))));
    case "all": {
      const parts = brick.parts.map(runs);
      return (people, coins, send) => parts.forEach((part) => part(people, coins, send));
    }
    case "maybe":
      return maybe(brick);
    case "copies":
      return copies(brick);
    case "let":
      return bind(brick);
    case "each":
      return each(brick);
    case "row":
      return row(brick);
    case "subset":
      return subset(brick);
    case "shares":
      return shares(brick);
  }
}

function maybe(brick: Of<"maybe">): Run {
  const [then, otherwise] = [runs(brick.then), runs(brick.otherwise)];
  return (people, coins, send) => {
    const yes = coins.bernoulli(brick.chance, people.length);
    then(people.filter((_, at) => yes[at]), coins, send);
    otherwise(people.filter((_, at) => !yes[at]), coins, send);
  };
}

function copies(brick: Of<"copies">): Run {
  const [amount, inner] = [brick.times, runs(brick.inner)];
  const times: Numbers = amount instanceof Table ? from(amount) : (people) => people.map((names) => amount.at(names));
  return (people, coins, send) => {
    const often = times(people, coins).map((number) => size(number));
    inner(people.flatMap((names, at) => Array.from({ length: often[at] ?? 0 }, () => names)), coins, send);
  };
}

function bind(brick: Of<"let">): Run {
  const [draw, inner] = [drawn(brick.draw), runs(brick.inner)];
  return (people, coins, send) => {
    const numbers = draw(people, coins);
    inner(people.map((names, at) => new Map(names).set(brick.name, numbers[at] ?? fail())), coins, send);
  };
}

function each(brick: Of<"each">): Run {
  const inner = runs(brick.inner);
  return (people, coins, send) => {
    for (let turn = 0n; turn < brick.times; turn++) {
      inner(people.map((names) => new Map(names).set(brick.name, turn)), coins, send);
    }
  };
}

/** A word for each bit, and then one for the bit at `here`, which takes the place of the one drawn before. */
function row({ width, here, off, on }: Of<"row">): Run {
  return (people, coins, send) => {
    for (const some of pieces(people, width, PIECE)) {
      const bits = coins.bernoulli(off, some.length * width);
      const own = here && coins.bernoulli(on, some.length);
      some.forEach((names, at) => {
        const line = bits.slice(at * width, (at + 1) * width);
        if (here && own) line[place(here.at(names), width)] = own[at] ?? fail();
        send([packed(line)]);
      });
    }
  };
}

/** A word says whether `here` is on; the others are chosen by Floyd's algorithm, one draw below j + 1 for each j. */
function subset({ width, amount, here, chance }: Of<"subset">): Run {
  return (people, coins, send) => {
    const inside = coins.bernoulli(chance, people.length);
    for (const yes of [true, false]) {
      const chosen = people.filter((_, at) => inside[at] === yes);
      for (const some of pieces(chosen, width, LARGE_PIECE)) {
        const at = some.map((names) => place(here.at(names), width));
        const lines = at.map(() => new Array<boolean>(width).fill(false));
        for (let last = width - 1 - amount + (yes ? 1 : 0); last < width - 1; last++) {
          coins.below(BigInt(last + 1), some.length).forEach((number, who) => {
            const [line, own] = [lines[who] ?? fail(), at[who] ?? fail()];
            const found = beside(Number(number), own);
            line[line[found] ? beside(last, own) : found] = true;
          });
        }
        lines.forEach((line, who) => {
          line[at[who] ?? fail()] = yes;
          send([packed(line)]);
        });
      }
    }
  };
}

/** A place among the others, which leaves one's own out. */
function beside(place: number, own: number): number {
  return place + (place >= own ? 1 : 0);
}

function shares({ total, modulus, count }: Of<"shares">): Run {
  return (people, coins, send) => {
    let last = people.map((names) => modulo(total.at(names), modulus));
    for (let turn = 1; turn < count; turn++) {
      const drawn = coins.below(modulus, people.length);
      drawn.forEach((share) => send([share]));
      last = last.map((rest, at) => modulo(rest - (drawn[at] ?? fail()), modulus));
    }
    last.forEach((share) => send([share]));
  };
}

function drawn(draw: Draw): Numbers {
  if (draw.kind === "below") return (people, coins) => coins.below(draw.bound, people.length);
  if (draw.kind === "table") return from(draw.table);
  const { of, steps, levels } = draw;
  return (people, coins) => {
    const drawn = coins.below(steps, people.length);
    return people.map((names, at) => {
      const scaled = of.at(names) * levels;
      const rest = modulo(scaled, steps);
      return (scaled - rest) / steps + ((drawn[at] ?? fail()) < rest ? 1n : 0n);
    });
  };
}

function from(table: Table): Numbers {
  return (people, coins) => coins.draw(table, people.length);
}

function size(number: bigint): number {
  return number >= 0n && number <= BigInt(MOST) ? Number(number) : fail();
}

function place(number: bigint, width: number): number {
  return number >= 0n && number < BigInt(width) ? Number(number) : fail();
}

function pieces<Thing>(things: readonly Thing[], width: number, bits: number): Thing[][] {
  const length = Math.max(1, Math.floor(bits / width));
  const parts = Math.ceil(things.length / length);
  return Array.from({ length: parts }, (_, at) => things.slice(at * length, (at + 1) * length));
}

function packed(bits: readonly boolean[]): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(bits.length / 8));
  bits.forEach((bit, at) => (bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (Number(bit) << (at & 7))));
  return bytes;
}
