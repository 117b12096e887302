/**
 * What people hold, as a question's JSON tells it: which answers there are, and the whole number that stands for each.
 * The question's own name and fields do not matter here. An answer is never quoted.
 */

import { BadArgument } from "./errors.js";
import { type Entries, type Json, Numeral } from "./json.js";
import { boolean, fail, list, number, whole } from "./reading.js";
import * as values from "./values.js";

export type Answer = boolean | number | string | { readonly [column: string]: boolean | number | string };

/** How answers are encoded, as whole numbers from 0 on. */
export interface Domain {
  readonly values: number; // how many there are
  encoded(answer: unknown): bigint;
}

const REAL_STEPS = 2 ** 40;
const SLACK = 1e-6; // of a step
const MOST_CATEGORIES = 1 << 24;
/** The fields of each kind of domain; a bit has none that it must have. */
const KINDS: readonly (readonly [fields: readonly string[], read: (source: Entries) => Domain])[] = [
  [["bounds", "steps", "clip"], levels],
  [["bounds", "bins", "clip"], intervals],
  [["edges", "other"], (source) => listed(binned(source.get("edges")), source)],
  [["starts", "period", "other"], (source) => listed(periods(source.get("starts")), source)],
  [["categories", "other"], (source) => listed(labelled(source), source)],
  [["columns"], record],
];
const ELSEWHERE = ["within", "parts", "by", "dates"]; // fields of domains that no device is asked for
const RULES = ["missing", "spelled"]; // what any of them may say of values that are not plain
const FIELDS = new Set([...KINDS.flatMap(([fields]) => fields), ...ELSEWHERE]);
const DROPPED = "drop"; // with others, and not by a device: who has no answer does not report

/** How answers are encoded; whatever else is answered is refused, and so is a domain that this version does not know. */
export function domain(source: Json | undefined): Domain {
  if (!(source instanceof Map) || typeof source.get("name") !== "string") fail();
  const [fields, read] = KINDS.find(([names]) => names.every((name) => source.has(name))) ?? [[], bit];
  if ([...source.keys()].some((name) => FIELDS.has(name) && !fields.includes(name))) fail();
  if (RULES.some((name) => source.has(name)) && source.get("missing") === DROPPED) fail();
  return read(source);
}

function bit(source: Entries): Domain {
  const spelled = source.has("spelled") && boolean(source.get("spelled"));
  const works = spelled ? "answer yes or no" : "answer true or false, or 1 or 0";
  const encoded = (answer: unknown): bigint => {
    if (source.get("missing") === "no" && values.missing(answer)) return 0n;
    const found = (spelled ? values.spelled : values.truth)(answer);
    return found === undefined ? refuse("is neither 0 nor 1", works) : BigInt(found);
  };
  return { values: 2, encoded };
}

/** A value within bounds, which is brought to the nearer one or refused if it lies outside: its place on their line. */
interface Line {
  low: number;
  high: number;
  works: string;
  inside: (answer: unknown) => number;
}

const DAY = 86_400_000_000; // microseconds
const WHOLE_DAY = /^[0-9-]{10}$/;

/** What bounds may be: how they and answers are read, and where the line ends whose upper bound this is. */
const LINES: readonly {
  readonly one: string;
  readonly read: (value: unknown) => number | undefined;
  readonly end: (bound: unknown, at: number) => number;
}[] = [
  { one: "a number", read: values.number, end: (_, at) => at },
  { one: "a day or a moment", read: values.moment, end: (bound, at) => (WHOLE_DAY.test(String(bound)) ? at + DAY : at) },
  { one: "a duration", read: values.duration, end: (_, at) => at },
];

function bounded(source: Entries): Line {
  const [low, high, ...more] = list(source.get("bounds")).map((bound) => (bound instanceof Numeral ? number(bound) : bound));
  const clip = boolean(source.get("clip"));
  const kind = typeof low === "number" ? LINES[0] : LINES.find(({ read }, at) => at && read(low) !== undefined);
  if (!kind || typeof low !== typeof high || more.length) fail();
  const [least, last] = [kind.read(low) ?? fail(), kind.read(high) ?? fail()];
  const most = kind.end(high, last);
  if (!(least < most)) fail();
  const works = `answer with ${kind.one} from ${low} to ${high}`;
  const said = source.get("missing");
  const filled = said instanceof Numeral ? number(said) : undefined;
  const inside = (answer: unknown): number => {
    const held = filled !== undefined && values.missing(answer) ? filled : kind.read(answer);
    const given = held ?? refuse(`is not ${kind.one}`, works);
    const found = clip ? Math.min(Math.max(given, least), most) : given;
    return least <= found && found <= most ? found : refuse("lies outside the bounds", works);
  };
  return { low: least, high: most, works, inside };
}

/** In equal steps. */
function levels(source: Entries): Domain {
  if (list(source.get("bounds")).some((bound) => !(bound instanceof Numeral))) fail();
  const { low, high, works, inside } = bounded(source);
  const steps = whole(source.get("steps"), 1, REAL_STEPS);
  const encoded = (answer: unknown): bigint => {
    const exact = (inside(answer) - low) * (steps / (high - low));
    const nearest = toEven(exact);
    if (steps < REAL_STEPS && Math.abs(exact - nearest) > SLACK) {
      refuse("lies between two steps", `${works}, in ${steps} equal steps`);
    }
    return BigInt(nearest);
  };
  return { values: steps + 1, encoded };
}

/** In equal bins, which include their lower edge. */
function intervals(source: Entries): Domain {
  const { low, high, inside } = bounded(source);
  const bins = whole(source.get("bins"), 1, MOST_CATEGORIES);
  const edge = (at: number): number => (at === bins ? high : low + ((high - low) * at) / bins);
  const encoded = (answer: unknown): bigint => {
    const given = inside(answer);
    let at = Math.min(Math.floor(((given - low) / (high - low)) * bins), bins - 1);
    while (at > 0 && given < edge(at)) at--;
    while (at < bins - 1 && given >= edge(at + 1)) at++;
    return BigInt(at);
  };
  return { values: bins, encoded };
}

/** Where an answer that is not missing belongs, or -1. */
type Places = { categories: number; works: string; place: (answer: unknown) => number; no?: number };

/** One of several categories, or perhaps none of them. */
function listed(found: Places, source: Entries): Domain {
  const other = boolean(source.get("other"));
  const missing = source.get("missing");
  const apart = missing === "category";
  if ((missing === "other" && !other) || (missing === "no" && found.no === undefined)) fail();
  const last = found.categories + Number(apart);
  const encoded = (answer: unknown): bigint => {
    if (values.missing(answer)) {
      if (apart) return BigInt(found.categories);
      if (missing === "no" && found.no !== undefined) return BigInt(found.no);
      return missing === "other" ? BigInt(last) : refuse("is missing", found.works);
    }
    const at = found.place(answer);
    if (at < 0 && !other) refuse("is in none of the categories", found.works);
    return BigInt(at < 0 ? last : at);
  };
  return { values: last + Number(other), encoded };
}

/** Bins include their lower edge, the last one also its upper. */
function binned(source: Json | undefined): Places {
  const edges = list(source).map(number);
  const [first, last] = [edges[0], edges.at(-1)];
  if (edges.length < 2 || edges.some((edge, at) => at > 0 && !((edges[at - 1] ?? edge) < edge))) fail();
  const works = `answer with a number from ${first} to ${last}`;
  const place = (answer: unknown): number => {
    const given = values.number(answer) ?? Number.NaN;
    if (given === last) return edges.length - 2;
    const below = edges.filter((edge) => edge <= given).length;
    return below < edges.length ? below - 1 : -1; // also of what is not a number, which no edge is below
  };
  return { categories: edges.length - 1, works, place };
}

/** Periods begin at their own moment and end before the next one's. */
function periods(source: Json | undefined): Places {
  const told = list(source);
  const starts = told.map((start) => values.moment(start) ?? fail());
  if (starts.length < 2 || starts.some((start, at) => at > 0 && !((starts[at - 1] ?? start) < start))) fail();
  const works = `answer with a day from ${told[0]} to before ${told.at(-1)}`;
  const place = (answer: unknown): number => {
    const given = values.moment(answer) ?? Number.NaN;
    const below = starts.filter((start) => start <= given).length;
    return below < starts.length ? below - 1 : -1;
  };
  return { categories: starts.length - 1, works, place };
}

function labelled(told: Entries): Places {
  const source = told.get("categories");
  const spelled = told.has("spelled") && boolean(told.get("spelled"));
  if (source instanceof Numeral) {
    if (spelled) fail();
    const categories = whole(source, 1, MOST_CATEGORIES);
    const works = `answer with a whole number from 0 to ${categories - 1}`;
    const place = (answer: unknown): number => {
      const given = values.number(answer) ?? -1;
      return Number.isInteger(given) && given >= 0 && given < categories ? given : -1;
    };
    return { categories, works, place };
  }
  const labels = list(source);
  const [yes, no] = [labels.indexOf("yes"), labels.indexOf("no")];
  const bits = labels.length === 2 && yes >= 0 && no >= 0;
  if (spelled && !bits) fail();
  if (spelled) {
    const said = { true: yes, false: no, undefined: -1 };
    return { categories: 2, works: "answer yes or no", no, place: (answer) => said[`${values.spelled(answer)}`] };
  }
  const works = `answer with one of the ${labels.length} categories, as the collection names them`;
  if (labels.every((label) => typeof label === "string")) {
    const place = (answer: unknown): number => labels.indexOf(values.text(answer) ?? "");
    return { categories: labels.length, works, place, ...(bits ? { no } : {}) };
  }
  const numbers = labels.map(number);
  return { categories: labels.length, works, place: (answer) => numbers.indexOf(values.number(answer) ?? Number.NaN) };
}

/** Columns of a table: an answer has a value for each of their names, and the last one's code changes fastest. */
function record(source: Entries): Domain {
  const columns = list(source.get("columns")).map((column) => {
    const name = column instanceof Map ? column.get("column") : undefined;
    if (!(column instanceof Map) || typeof name !== "string" || column.has("columns")) fail();
    return { name, of: domain(new Map([...column, ["name", name]])) };
  });
  const names = new Set(columns.map((column) => column.name));
  const size = columns.reduce((product, column) => product * column.of.values, 1);
  if (!columns.length || names.size < columns.length || size > Number.MAX_SAFE_INTEGER) fail();
  const works = `answer with a value for each of: ${[...names].join(", ")}`;
  const encoded = (answer: unknown): bigint => {
    if (typeof answer !== "object" || answer === null) refuse("has no values by name", works);
    const given = new Map(Object.entries(answer));
    if (given.size !== names.size || [...names].some((name) => !given.has(name))) refuse("has other names", works);
    const codes = columns.map((column) => ({ code: column.of.encoded(given.get(column.name)), of: column.of }));
    return codes.reduce((found, { code, of }) => found * BigInt(of.values) + code, 0n);
  };
  return { values: size, encoded };
}

function refuse(problem: string, works: string): never {
  throw new BadArgument("answer", problem, works);
}

/** The nearest whole number; of two, the even one. */
function toEven(number: number): number {
  const down = Math.floor(number);
  const rest = number - down;
  return rest > 0.5 || (rest === 0.5 && down % 2 !== 0) ? down + 1 : down;
}
