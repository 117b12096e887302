/**
 * Who lets people in to a collection: an issuer signs tokens that it cannot read, and the shuffler takes each once.
 *
 * Every batch has a key of its own. All are in the collection, under its hash, so that nobody can be given another key
 * than everybody else and be recognised by it.
 */

import { type Bytes, joined, text, unhex } from "./bytes.js";
import type { Json } from "./json.js";
import { FORMAT, verified } from "./keys.js";
import { fail, list, object, string } from "./reading.js";

const ROLE = "issuer";
const TOKEN = "headcount/1 token\0";
const SIZE = 256; // bytes of a modulus
const LONGEST_ADDRESS = 200;

export interface Issuer {
  readonly key: string;
  readonly address: string;
  readonly tokens: readonly string[]; // the modulus of each batch's key
  readonly signature: string;
}

/** As a collection names it, with a key for each of so many batches. */
export function readIssuer(source: Json, batches: number, shuffler: string): Issuer {
  const told = object(source, ["key", "address", "tokens", "signature"]);
  const address = string(told.get("address"));
  const tokens = list(told.get("tokens")).map((token) => modulus(string(token)));
  if (!/^https?:\/\/[^/?#\s]/.test(address) || address.length > LONGEST_ADDRESS || tokens.length !== batches) fail();
  if (new Set(tokens).size !== tokens.length) fail(); // with one key for two batches, both tokens could be spent on one
  const key = string(told.get("key"));
  if (key === shuffler) fail();
  return { key, address, tokens, signature: string(told.get("signature")) };
}

/** Refuses keys that the issuer has not signed. */
export async function requireSigned({ key, tokens, signature }: Issuer): Promise<void> {
  const signed = new Map<string, Json>([["format", FORMAT], ["role", ROLE], ["tokens", [...tokens]]]);
  await verified(signed.set("signature", signature), key);
}

/** What every token of a batch signs, after a prefix of its own. */
export function tokenMessage(hash: string, batch: number): Bytes {
  const number = new Uint8Array(4);
  new DataView(number.buffer).setUint32(0, batch);
  return joined(text(TOKEN), unhex(hash) ?? fail(), number);
}

function modulus(digits: string): string {
  const found = unhex(digits) ?? fail();
  const [first = 0, last = 0] = [found[0], found[SIZE - 1]];
  return found.length === SIZE && first >= 0x80 && last % 2 === 1 ? digits : fail();
}
