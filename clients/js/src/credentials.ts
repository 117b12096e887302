/**
 * What lets a device report: nothing, an invitation, or a token that it got for one.
 *
 * A token is asked for once. What the device drew is in its store before the issuer is asked, so that asking again, after
 * a crash or a lost answer, is asking for the same. Once a report with it is taken, that there was one is all that is kept.
 */

import { blinded, type Blinding, drawn, finished } from "./blind.js";
import { type Bytes, hex, joined, sha256, text, unhex } from "./bytes.js";
import { BadArgument, Elsewhere, Refused, Unsupported } from "./errors.js";
import { type Issuer, tokenMessage } from "./issuer.js";
import type { Collection } from "./plan.js";
import { fail } from "./reading.js";
import { Remote } from "./remote.js";
import { CREDENTIAL } from "./seal.js";
import type { Store } from "./store.js";

const FORMAT = "headcount token 1";

/** The same as the Python client keeps in a file. */
interface Kept {
  readonly format: string;
  readonly spent?: boolean; // then there is nothing else
  readonly prefix?: string;
  readonly salt?: string;
  readonly factor?: string;
  readonly signature?: string;
}

/** Of one device, for one batch of a collection. */
export class Credentials {
  constructor(
    private readonly store: Store, private readonly collection: Collection, private readonly batch: number,
    private readonly invitation: string,
  ) {}

  /** What is put into an upload. */
  async shown(): Promise<Bytes> {
    if (!this.collection.invited) return new Uint8Array(CREDENTIAL);
    const code = this.code();
    if (this.collection.issuer === null) return code;
    const kept = await this.read();
    if (kept?.spent) throw new Unsupported("this device has spent its token for the batch");
    if (!kept?.signature) throw new Unsupported("this device has no token for the batch yet; ask for one first");
    return joined(unhex(kept.prefix ?? "") ?? fail(), unhex(kept.signature) ?? fail());
  }

  /** Asks the issuer for the token, where one is needed and not there. */
  async obtain(remote?: Remote): Promise<void> {
    const { issuer } = this.collection;
    const kept = await this.read();
    if (issuer === null || kept?.signature || kept?.spent) return;
    const code = this.code();
    const modulus = this.modulus(issuer);
    const message = tokenMessage(this.collection.hash, this.batch);
    const blinding = await this.blinding(modulus);
    const path = `/v1/issuing/collections/${this.collection.hash.slice(0, 32)}/batches/${this.batch}/tokens`;
    const asked = joined(code, await blinded(blinding, modulus, message));
    const told = await (remote ?? new Remote(issuer.address)).post(path, asked);
    const answer = told instanceof Map ? told.get("signature") : undefined;
    const content = typeof answer === "string" ? unhex(answer) : null;
    const signature = content && (await finished(blinding, modulus, message, content));
    if (!signature) {
      throw new Elsewhere("the issuer's answer is not a token for this batch; nothing was sent to anybody");
    }
    await this.keep({ format: FORMAT, prefix: hex(blinding.prefix), signature: hex(signature) });
  }

  private modulus({ tokens }: Issuer): bigint {
    return BigInt(`0x${tokens[this.batch - 1] ?? fail()}`);
  }

  /** What was drawn, now or before. */
  private async blinding(modulus: bigint): Promise<Blinding> {
    const kept = await this.read();
    if (kept) {
      const [prefix, salt] = [unhex(kept.prefix ?? ""), unhex(kept.salt ?? "")];
      if (prefix && salt && kept.factor) return { prefix, salt, factor: BigInt(`0x${kept.factor}`) };
    }
    const made = drawn(modulus);
    const { prefix, salt, factor } = made;
    await this.keep({ format: FORMAT, prefix: hex(prefix), salt: hex(salt), factor: factor.toString(16) });
    return made;
  }

  private code(): Bytes {
    const found = unhex(this.invitation);
    if (found?.length === CREDENTIAL) return found;
    throw new BadArgument("invitation", "is not one", `give the ${2 * CREDENTIAL} digits that you were sent`);
  }

  private async keep(made: Kept): Promise<void> {
    await this.store.put(await token(this.collection.hash, this.batch, this.invitation), JSON.stringify(made));
  }

  private async read(): Promise<Kept | undefined> {
    const content = await this.store.get(await token(this.collection.hash, this.batch, this.invitation));
    if (content === undefined) return undefined;
    const kept = JSON.parse(content) as Kept;
    if (kept.format === FORMAT) return kept;
    throw new Refused("what is kept as a token is none that was kept here; empty the store");
  }
}

/** The token for this batch, if there is one, is spent: it would tell which report was this device's. */
export async function forgetToken(store: Store, collection: string, batch: number, invitation: string): Promise<void> {
  const name = await token(collection, batch, invitation);
  if ((await store.get(name)) !== undefined) await store.put(name, JSON.stringify({ format: FORMAT, spent: true } satisfies Kept));
}

/** One for each invitation: somebody who was sent another one begins anew. */
async function token(collection: string, batch: number, invitation: string): Promise<string> {
  const of = (await sha256(text(invitation))).slice(0, 16);
  return `${collection}-${batch}-${of}.token`;
}
