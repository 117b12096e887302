/**
 * The report programme of a plan, carried out for one person. It is a small tree of bricks, read from the plan's JSON:
 * no randomiser is written here. Where a brick runs several times, all of them take a step before any takes the next.
 */

import { type Coins, Table, WORD } from "./coins.js";
import { type Field, field, modulo, type Names } from "./field.js";
import type { Entries, Json } from "./json.js";
import { fail, integer, list, object, string, whole } from "./reading.js";

/** The fields of a message; a row of bits is its bytes, the first bit in the lowest place. */
export type Message = readonly (bigint | Uint8Array)[];
type Brick = (people: readonly Names[], coins: Coins, send: (message: Message) => void) => void;
type Draw = (people: readonly Names[], coins: Coins) => bigint[];

const MOST = 1 << 24; // of anything that a device can be asked to do
const PIECE = 1 << 20; // bits of rows at a time
const LARGE_PIECE = 1 << 23;

export class Programme {
  private readonly brick: Brick;

  constructor(source: Json | undefined) {
    this.brick = brick(source);
  }

  /** What somebody with this value sends. */
  messages(value: bigint, coins: Coins): Message[] {
    const sent: Message[] = [];
    this.brick([new Map([["value", value]])], coins, (message) => sent.push(message));
    return sent;
  }
}

const BRICKS = new Map<string, (source: Entries) => Brick>([
  ["emit", emit], ["all", all], ["maybe", maybe], ["copies", copies], ["let", bind], ["each", each], ["row", row],
  ["subset", subset], ["shares", shares],
]);

function brick(source: Json | undefined): Brick {
  if (!(source instanceof Map)) fail();
  const kinds = [...BRICKS.keys()].filter((kind) => source.has(kind));
  const make = kinds.length === 1 ? BRICKS.get(kinds[0] as string) : undefined;
  return make ? make(source) : fail();
}

function emit(source: Entries): Brick {
  const fields = list(object(source, ["emit"]).get("emit")).map(field);
  return (people, _, send) => people.forEach((names) => send(fields.map((each) => each(names))));
}

function all(source: Entries): Brick {
  const parts = list(object(source, ["all"]).get("all")).map(brick);
  return (people, coins, send) => parts.forEach((part) => part(people, coins, send));
}

function maybe(source: Entries): Brick {
  object(source, ["maybe", "then", "else"]);
  const chance = threshold(source.get("maybe"));
  const [then, otherwise] = [brick(source.get("then")), brick(source.get("else"))];
  return (people, coins, send) => {
    const yes = coins.bernoulli(chance, people.length);
    then(people.filter((_, at) => yes[at]), coins, send);
    otherwise(people.filter((_, at) => !yes[at]), coins, send);
  };
}

function copies(source: Entries): Brick {
  object(source, ["copies", "brick"]);
  const [amount, inner] = [source.get("copies"), brick(source.get("brick"))];
  const times = amount instanceof Map && amount.has("coarse") ? from(table(amount)) : valued(field(amount));
  return (people, coins, send) => {
    const often = times(people, coins).map((number) => size(number));
    inner(people.flatMap((names, at) => Array.from({ length: often[at] ?? 0 }, () => names)), coins, send);
  };
}

function bind(source: Entries): Brick {
  object(source, ["let", "be", "in"]);
  const [name, draw, inner] = [string(source.get("let")), drawn(source.get("be")), brick(source.get("in"))];
  return (people, coins, send) => {
    const numbers = draw(people, coins);
    inner(people.map((names, at) => new Map(names).set(name, numbers[at] ?? fail())), coins, send);
  };
}

function each(source: Entries): Brick {
  object(source, ["each", "below", "do"]);
  const [name, times, inner] = [string(source.get("each")), bound(source.get("below")), brick(source.get("do"))];
  return (people, coins, send) => {
    for (let turn = 0n; turn < times; turn++) inner(people.map((names) => new Map(names).set(name, turn)), coins, send);
  };
}

/** A word for each bit, and then one for the bit at `here`, which takes the place of the one drawn before. */
function row(source: Entries): Brick {
  object(source, ["row", "here", "off", "on"]);
  const width = whole(source.get("row"), 1, MOST);
  const here = source.get("here") === null ? null : field(source.get("here"));
  const [off, on] = [threshold(source.get("off")), threshold(source.get("on"))];
  return (people, coins, send) => {
    for (const some of pieces(people, width, PIECE)) {
      const bits = coins.bernoulli(off, some.length * width);
      const own = here && coins.bernoulli(on, some.length);
      some.forEach((names, at) => {
        const line = bits.slice(at * width, (at + 1) * width);
        if (here && own) line[place(here(names), width)] = own[at] ?? fail();
        send([packed(line)]);
      });
    }
  };
}

/** A word says whether `here` is on; the others are chosen by Floyd's algorithm, one draw below j + 1 for each j. */
function subset(source: Entries): Brick {
  object(source, ["subset", "size", "here", "with"]);
  const [width, amount] = [whole(source.get("subset"), 1, MOST), whole(source.get("size"), 0, MOST)];
  const [here, chance] = [field(source.get("here")), threshold(source.get("with"))];
  return (people, coins, send) => {
    const inside = coins.bernoulli(chance, people.length);
    for (const yes of [true, false]) {
      const chosen = people.filter((_, at) => inside[at] === yes);
      for (const some of pieces(chosen, width, LARGE_PIECE)) {
        const at = some.map((names) => place(here(names), width));
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

function shares(source: Entries): Brick {
  object(source, ["shares", "modulus", "count"]);
  const [total, modulus] = [field(source.get("shares")), bound(source.get("modulus"))];
  const count = whole(source.get("count"), 1, MOST);
  return (people, coins, send) => {
    let last = people.map((names) => modulo(total(names), modulus));
    for (let turn = 1; turn < count; turn++) {
      const drawn = coins.below(modulus, people.length);
      drawn.forEach((share) => send([share]));
      last = last.map((rest, at) => modulo(rest - (drawn[at] ?? fail()), modulus));
    }
    last.forEach((share) => send([share]));
  };
}

function drawn(source: Json | undefined): Draw {
  if (!(source instanceof Map)) fail();
  if (source.has("below")) {
    const most = bound(object(source, ["below"]).get("below"));
    return (people, coins) => coins.below(most, people.length);
  }
  if (source.has("table")) return from(table(object(source, ["table"]).get("table")));
  object(source, ["round", "from", "to"]);
  const [rounded, steps, levels] = [field(source.get("round")), bound(source.get("from")), bound(source.get("to"))];
  return (people, coins) => {
    const drawn = coins.below(steps, people.length);
    return people.map((names, at) => {
      const scaled = rounded(names) * levels;
      const rest = modulo(scaled, steps);
      return (scaled - rest) / steps + ((drawn[at] ?? fail()) < rest ? 1n : 0n);
    });
  };
}

function from(table: Table): Draw {
  return (people, coins) => coins.draw(table, people.length);
}

function valued(field: Field): Draw {
  return (people) => people.map(field);
}

function table(source: Json | undefined): Table {
  const entries = object(source, ["start", "coarse", "fine"]);
  const [coarse, fine] = [list(entries.get("coarse")).map(integer), list(entries.get("fine")).map(integer)];
  return new Table(integer(entries.get("start")), coarse, fine);
}

function threshold(source: Json | undefined): bigint {
  const found = integer(source);
  return found >= 0n && found <= WORD ? found : fail();
}

function bound(source: Json | undefined): bigint {
  const found = integer(source);
  return found >= 1n && found <= WORD ? found : fail();
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
