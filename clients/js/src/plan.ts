/**
 * A collection and its plan, as the parties have agreed on them: read exactly, or refused. What it claims is proved by
 * `claim`, or was by whoever has pinned its hash.
 */

import { unhex } from "./bytes.js";
import { type Domain, domain } from "./domain.js";
import { BadArgument, Refused } from "./errors.js";
import { type Issuer, readIssuer, requireSigned } from "./issuer.js";
import { type Entries, fingerprint, type Json } from "./json.js";
import { type Padded, padded } from "./padded.js";
import { Programme } from "./programme.js";
import { boolean, fail, number, object, oneOf, string, whole } from "./reading.js";
import { recordForm, type RecordForm } from "./record.js";
import { type SuiteName, SUITES } from "./suites.js";
import { parts } from "./tree.js";
import { requireBounded } from "./work.js";

const FORMATS = ["headcount collection 1", "headcount collection 2"] as const; // 1 is that of version 0.2
const LARGEST_CROWD = 1e12;
const MOST_MESSAGES = 128;
const MOST_BATCHES = 1_000;
const MOST_ROUNDS = 10_000;
const LONGEST = 366 * 86_400; // seconds
const LONGEST_TEXT = 500;
const RANGES = [
  ["opens", 0, 2 ** 40], ["window", 1, LONGEST], ["batches", 1, MOST_BATCHES], ["holds", 0, 100],
] as const;
const NEIGHBOURS = ["replace", "add-remove"] as const;
const PLAN = ["protocol", "task", "crowd", "neighbours", "parameters", "budget", "wire", "device", "programme"];
const COLLECTION = [
  "format", "plan", "question", "population", "opens", "window", "shuffler", "analyser", "batches", "shortfall", "holds",
  "admission", "fixed", "nonce",
];
const MOST_REPORTS = 1e9;
const SINCE_2 = ["automatic", "most", "issuer"];

export interface Crowd {
  readonly least: number;
  readonly corrupt: number;
  readonly honest: number;
}

/** How a report is made of an answer. */
export interface Report {
  readonly domain: Domain;
  readonly programme: Programme;
  readonly record: RecordForm;
  readonly messages: number;
}

export interface Plan extends Report {
  readonly rounds: number; // in which the same person may be asked: all that is claimed is of them together
  readonly epsilon: number;
  readonly delta: number;
  readonly colluding: number | null; // the epsilon that is left if both operators are one; null if nothing is
  readonly padded: Padded | null; // by messages that the shuffler adds to answers without noise
  readonly crowd: Crowd;
  readonly suite: SuiteName;
}

export interface Collection {
  readonly hash: string;
  readonly plan: Plan;
  readonly question: string;
  readonly shuffler: string;
  readonly analyser: string;
  readonly topUp: boolean;
  readonly invited: boolean;
  readonly fixed: boolean;
  readonly issuer: Issuer | null; // who lets people in
}

/** What the parties have signed, and the one with this hash if one is given. */
export async function readCollection(source: Json | undefined, hash?: string): Promise<Collection> {
  const found = refusing(() => collection(source));
  if (found.issuer !== null) await requireSigned(found.issuer);
  const own = await fingerprint(source ?? null);
  if (hash !== undefined && own !== hash) {
    throw new BadArgument("collection", "has another hash than was expected", "ask its operators for the right one");
  }
  return { hash: own, ...found };
}

/** The parts of a plan that make a report. */
export function readReport(source: Entries): Report {
  const device = object(source.get("device"), ["record", "colluding"]);
  const wire = object(source.get("wire"), ["messages", "suite"]);
  const [held, programme] = [domain(source.get("task")), new Programme(source.get("programme"))];
  requireBounded(programme.brick, held.values);
  return {
    domain: held,
    programme,
    record: recordForm(device.get("record")),
    messages: whole(wire.get("messages"), 1, MOST_MESSAGES),
  };
}

function refusing<Found>(read: () => Found): Found {
  try {
    return read();
  } catch (problem) {
    if (problem instanceof Refused) throw problem;
    throw new BadArgument("collection", "is not one that this version can read", "ask its operators for the right one");
  }
}

function collection(source: Json | undefined): Omit<Collection, "hash"> {
  const format = oneOf(object(source, ["format"], [...COLLECTION, ...SINCE_2]).get("format"), FORMATS);
  const earlier = format === FORMATS[0];
  const told = object(source, earlier ? COLLECTION : [...COLLECTION, ...SINCE_2]);
  if (!earlier) boolean(told.get("automatic"));
  const most = told.get("most") ?? null;
  if (most !== null) whole(most, 1, MOST_REPORTS);
  for (const [name, low, high] of RANGES) whole(told.get(name), low, high);
  words(told.get("population"));
  key(told.get("nonce"), 16);
  const invited = oneOf(told.get("admission"), ["anyone", "invited"]) === "invited";
  const shuffler = key(told.get("shuffler"), 32);
  const plan = readPlan(told.get("plan"));
  const batches = whole(told.get("batches"), 1, plan.rounds > 1 ? Math.min(plan.rounds, MOST_BATCHES) : MOST_BATCHES);
  const issuer = told.get("issuer") ?? null;
  if ((issuer !== null) !== (invited && !earlier)) fail();
  return {
    plan,
    question: words(told.get("question")),
    shuffler,
    analyser: key(told.get("analyser"), 32),
    topUp: oneOf(told.get("shortfall"), ["hold", "top-up", "purge"]) === "top-up",
    invited,
    fixed: boolean(told.get("fixed")),
    issuer: issuer === null ? null : readIssuer(issuer, batches, shuffler),
  };
}

/** What everybody has agreed to send, and what that gives away. */
export function readPlan(source: Json | undefined): Plan {
  const told = object(source, PLAN);
  const budget = object(told.get("budget"), ["epsilon", "delta", "neighbours"], ["rounds"]);
  const relation = oneOf(budget.get("neighbours"), NEIGHBOURS);
  if (oneOf(told.get("neighbours"), NEIGHBOURS) !== relation) fail();
  const colluding = object(told.get("device"), ["record", "colluding"]).get("colluding");
  const report = readReport(told);
  return {
    ...report,
    padded: padded(string(told.get("protocol")), report.domain.values, parts(report.programme.brick), relation, told.get("parameters")),
    rounds: budget.has("rounds") ? whole(budget.get("rounds"), 2, MOST_ROUNDS) : 1,
    epsilon: within(number(budget.get("epsilon")), 1e-3, 50),
    delta: within(number(budget.get("delta")), 0, 1),
    colluding: colluding === null ? null : within(number(colluding), 0, Infinity),
    crowd: crowd(told.get("crowd")),
    suite: oneOf(object(told.get("wire"), ["messages", "suite"]).get("suite"), [...SUITES.keys()]),
  };
}

function crowd(source: Json | undefined): Crowd {
  const told = object(source, ["size", "least", "corrupt"]);
  const size = whole(told.get("size"), 1, LARGEST_CROWD);
  const least = whole(told.get("least"), 1, size);
  const corrupt = whole(told.get("corrupt"), 0, least - 1);
  return { least, corrupt, honest: least - corrupt };
}

function within(number: number, low: number, high: number): number {
  return low <= number && number <= high ? number : fail();
}

function words(source: Json | undefined): string {
  const found = string(source);
  const plain = !/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Z}]/u.test(found.replaceAll(" ", ""));
  return found.trim() && [...found].length <= LONGEST_TEXT && plain ? found : fail();
}

function key(source: Json | undefined, size: number): string {
  const found = string(source);
  return unhex(found)?.length === size ? found : fail();
}
