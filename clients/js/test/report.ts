/**
 * node report.js < told.json: devices that answer through the bundle as it is served, each with a store of its own.
 *
 * Told the text of an offer instead of an address, they report to nobody; what they would have sent is in what they kept.
 */

import { readFileSync } from "node:fs";

import type * as Bundle from "../src/index.js";

interface Told {
  address: string;
  offer?: string;
  name: string;
  hash?: string;
  answers: unknown[];
  limits: Partial<Bundle.Limits>;
  invitation: string;
  invitations?: string[]; // one for each answer, instead
  relay?: string;
}

const told = JSON.parse(readFileSync(0, "utf8")) as Told;
const bundle = new URL("../../../../service/src/headcount_service/web/static/client.js", import.meta.url).href;
const { Client, MemoryStore, receiptText } = (await import(bundle)) as typeof Bundle;
if (told.offer !== undefined) {
  globalThis.fetch = async (_, given) => new Response(given?.method === "GET" ? told.offer : '{"report":"taken"}');
}
/** Remembers the reports as they were made, of which nothing is kept once they are taken. */
class Watched extends MemoryStore {
  readonly made = new Map<string, string>();

  override async put(name: string, content: string): Promise<void> {
    if (!name.endsWith(".token") && !this.made.has(name)) this.made.set(name, content);
    await super.put(name, content);
  }
}

for (const [at, answer] of told.answers.entries()) {
  const store = new Watched();
  const client = new Client(store, told.limits);
  const invitation = told.invitations?.[at] ?? told.invitation;
  const terms = {
    invitation, ...(told.hash === undefined ? {} : { hash: told.hash }),
    ...(told.relay === undefined ? {} : { relay: told.relay }),
  };
  const receipt = await client.report(told.address, told.name, answer, terms);
  console.log(JSON.stringify({ receipt, text: receiptText(receipt), kept: [...store.content], made: [...store.made] }));
}
