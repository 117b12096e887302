/** A public key, what it is for and until when it is used, as the party that owns it has signed. */

import { verifyAsync } from "@noble/ed25519";

import { type Bytes, text, unhex } from "./bytes.js";
import { BadArgument } from "./errors.js";
import { canonical, type Entries, type Json } from "./json.js";
import { fail, object, oneOf, string, whole } from "./reading.js";
import { SUITES, type SuiteName } from "./suites.js";

export const FORMAT = "headcount announcement 2";
const ROLES = ["shuffler", "analyser"] as const;
export type Role = (typeof ROLES)[number];

export interface Announced {
  readonly role: Role;
  readonly purpose: string; // the collection and batch of an analyser's key; the shuffler's are for everything
  readonly number: number;
  readonly suite: SuiteName;
  readonly key: Bytes;
  readonly expires: number; // seconds since 1970
}

/** The announcement that this party has signed for itself; anything else is refused. */
export async function announced(source: Json | undefined, signer: string, role: Role): Promise<Announced> {
  const content = await verified(source, signer);
  let found: Announced;
  try {
    found = read(content);
  } catch {
    throw new BadArgument("key", "is not an announced key", "ask its owner for it again");
  }
  if (found.role !== role) throw new BadArgument("key", `was announced by the ${found.role}`, `give one of the ${role}`);
  return found;
}

/**
 * What the owner of this public key has announced. What is signed is bound to its purpose; version 0.2 signed the bare
 * JSON, which has no format and is still read.
 */
export async function verified(source: Json | undefined, signer: string): Promise<Entries> {
  try {
    const content = new Map(source instanceof Map ? source : fail());
    const signature = unhex(string(content.get("signature"))) ?? fail();
    content.delete("signature");
    const bound = content.has("format") ? `headcount/2 announcement\0${canonical(content)}` : canonical(content);
    if (content.has("format")) oneOf(content.get("format"), [FORMAT]);
    content.delete("format");
    if (await verifyAsync(signature, text(bound), unhex(signer) ?? fail(), { zip215: false })) return content;
  } catch {
    // said below
  }
  throw new BadArgument("signature", "is not that of the party that should have signed", "do not use it");
}

function read(content: Entries): Announced {
  object(content, ["role", "purpose", "number", "suite", "key", "expires"]);
  const suite = oneOf(content.get("suite"), [...SUITES.keys()]);
  const key = unhex(string(content.get("key"))) ?? fail();
  if (key.length !== SUITES.get(suite)?.keyBytes) fail();
  return {
    role: oneOf(content.get("role"), ROLES),
    purpose: string(content.get("purpose")),
    number: whole(content.get("number"), 0, 2 ** 31),
    suite,
    key,
    expires: whole(content.get("expires"), 0, 2 ** 53),
  };
}
