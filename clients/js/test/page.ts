/** In a browser: the vectors, reports through the bundle that are kept in IndexedDB, and how fast it seals. Told to /done. */

import * as bytes from "../src/bytes.js";
import * as claim from "../src/claim.js";
import * as clones from "../src/clones.js";
import * as coins from "../src/coins.js";
import type * as Bundle from "../src/index.js";
import * as domain from "../src/domain.js";
import * as json from "../src/json.js";
import * as laws from "../src/laws.js";
import * as odds from "../src/odds.js";
import * as plan from "../src/plan.js";
import * as programme from "../src/programme.js";
import * as reading from "../src/reading.js";
import * as record from "../src/record.js";
import * as seal from "../src/seal.js";
import { SUITES } from "../src/suites.js";
import { COMPARISONS, entries } from "./compare.js";

const SEALS = 200;
const ours = { bytes, claim, clones, coins, domain, json, laws, odds, plan, programme, reading, record, seal };

async function text(path: string): Promise<string> {
  return (await fetch(path)).text();
}

async function compared(): Promise<Record<string, unknown>> {
  const counts: Record<string, unknown> = {};
  for (const [name, compare] of Object.entries(COMPARISONS)) counts[name] = compare(ours, await text(`/vectors/${name}.json`));
  return counts;
}

/** Twice each, from two stores: the second time the same is sent again. */
async function reported(): Promise<unknown[]> {
  const served = new URL("/client.js", location.href).href;
  const { BrowserStore, Client, receiptText } = (await import(served)) as typeof Bundle;
  const told = [];
  const answers = [1, 0, "yes", 33];
  for (const [at, line] of entries(await text("/vectors/collections.json")).entries()) {
    const { hash, offer } = JSON.parse(line) as { hash: string; offer: string };
    if (JSON.parse(offer).collection.issuer) continue; // who is nobody here
    for (const answer of [answers[at] ?? 1, at === 2 ? "no" : 1]) {
      const client = new Client(await BrowserStore.open(), { top_up: true, colluding: Infinity, padded: true, delta: 1 });
      const receipt = await client.report(location.origin, hash.slice(0, 32), answer, { hash, invitation: "ab".repeat(32) });
      told.push({ receipt, text: receiptText(receipt) });
    }
  }
  return told;
}

async function speed(): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const [suite, { hpke }] of SUITES) {
    const key = new Uint8Array(await hpke.kem.serializePublicKey((await hpke.kem.generateKeyPair()).publicKey));
    const began = performance.now();
    for (let at = 0; at < SEALS; at++) await seal.seal(suite, key, new Uint8Array(54), new Uint8Array(18));
    found[suite] = Math.round((1000 * SEALS) / (performance.now() - began));
  }
  return found;
}

/** Whether the policy under which this page runs is one: code that is made from text does not run. */
function strict(): boolean {
  try {
    return new Function("return false")() as boolean;
  } catch {
    return true;
  }
}

async function everything(): Promise<unknown> {
  try {
    return { counts: await compared(), reports: await reported(), seals: await speed(), strict: strict() };
  } catch (problem) {
    return { problem: String(problem) };
  }
}

await fetch("/done", { method: "POST", body: JSON.stringify(await everything()) });
