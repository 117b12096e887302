/**
 * Exact draws from 64-bit words, the lowest byte first, in the order of docs/client-vectors.md. Several draws of one kind
 * take a word each; those that must be drawn again follow when all others have theirs.
 */

export const WORD = 1n << 64n;

/** Masses of cells in units of 2^-64; a word beyond them is followed by one for the fine masses, or by another try. */
export class Table {
  readonly spills: boolean;
  private readonly edges: readonly bigint[];
  private readonly again: readonly bigint[];

  constructor(
    readonly start: bigint, private readonly coarse: readonly bigint[], private readonly fine: readonly bigint[],
  ) {
    this.edges = edges(coarse);
    this.again = fine.length ? edges(fine) : this.edges;
    const last = this.edges.at(-1) ?? 0n;
    this.spills = last < WORD;
    const filled = !fine.length || (fine.length === coarse.length && this.again.at(-1) === WORD);
    if (![...coarse, ...fine].every((mass) => mass >= 0n) || last <= 0n || last > WORD || !filled) {
      throw new TypeError("masses that do not fill a word");
    }
  }

  get cells(): number {
    return this.edges.length;
  }

  /** How likely each cell is, in parts of their sum. */
  get masses(): bigint[] {
    const spill = WORD - (this.edges.at(-1) ?? 0n);
    return this.coarse.map((mass, at) => (this.fine.length ? (mass << 64n) + spill * (this.fine[at] ?? 0n) : mass));
  }

  /** The number of edges at or below the word; all are looked at, whatever the word. */
  cell(word: bigint, second: boolean): number {
    return (second ? this.again : this.edges).reduce((cells, edge) => cells + (edge <= word ? 1 : 0), 0);
  }
}

function edges(masses: readonly bigint[]): bigint[] {
  let sum = 0n;
  return masses.map((mass) => (sum += mass));
}

export abstract class Coins {
  /** The next bytes. */
  abstract stream(size: number): Uint8Array<ArrayBuffer>;

  words(amount: number): bigint[] {
    const view = new DataView(this.stream(8 * amount).buffer);
    return Array.from({ length: amount }, (_, at) => view.getBigUint64(8 * at, true));
  }

  /** A word each: yes if it lies below the threshold. */
  bernoulli(threshold: bigint, amount: number): boolean[] {
    return this.words(amount).map((word) => word < threshold);
  }

  /** A word each, and more for those that fall beyond the table's coarse masses. */
  draw(table: Table, amount: number): bigint[] {
    const cells = this.words(amount).map((word) => table.cell(word, false));
    while (table.spills) {
      const spilt = places(cells, (cell) => cell === table.cells);
      if (!spilt.length) break;
      this.words(spilt.length).forEach((word, at) => (cells[spilt[at] as number] = table.cell(word, true)));
    }
    return cells.map((cell) => table.start + BigInt(cell));
  }

  /** Evenly from 0 to bound - 1: a word each, and more for the few words that are left over. */
  below(bound: bigint, amount: number): bigint[] {
    const part = WORD / bound;
    const drawn = this.words(amount).map((word) => (bound === 1n ? 0n : word / part));
    const over = places(drawn, (number) => number >= bound);
    if (over.length) this.below(bound, over.length).forEach((number, at) => (drawn[over[at] as number] = number));
    return drawn;
  }

  /** In an order that means nothing: that of as many 128-bit numbers, whose lower halves are drawn first. */
  mixed<Thing>(things: readonly Thing[]): Thing[] {
    const words = this.words(2 * things.length);
    const keys = things.map((_, at) => ((words[things.length + at] as bigint) << 64n) | (words[at] as bigint));
    const order = [...keys.keys()].sort((one, other) => Number(sign((keys[one] as bigint) - (keys[other] as bigint))));
    return order.map((at) => things[at] as Thing);
  }
}

function places<Thing>(things: readonly Thing[], wanted: (thing: Thing) => boolean): number[] {
  return [...things.keys()].filter((at) => wanted(things[at] as Thing));
}

function sign(difference: bigint): number {
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
}

const MOST = 65_536; // bytes that a browser gives at a time

/** The browser's own, fresh for every draw. */
export class SecretCoins extends Coins {
  override stream(size: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(size);
    for (let at = 0; at < size; at += MOST) crypto.getRandomValues(bytes.subarray(at, at + MOST));
    return bytes;
  }
}
