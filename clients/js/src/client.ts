/**
 * One person's device: it looks at what is asked, randomises once, seals, and keeps what it sent.
 *
 * The answer itself is never stored. What was made is sent again, byte for byte, until it is taken: to randomise anew
 * would let somebody average the noise away. Once it is taken, only its receipt is kept. The device has limits of its
 * own, whatever a collection says.
 */

import { type Bytes, hex, unhex } from "./bytes.js";
import { requireProved } from "./claim.js";
import { type Coins, SecretCoins } from "./coins.js";
import { Credentials, forgetToken } from "./credentials.js";
import { BadArgument, Elsewhere, Refused, Unsupported } from "./errors.js";
import { type Entries, type Json, Numeral } from "./json.js";
import { type Announced, announced } from "./keys.js";
import { type Exact, exactly, inexactly, type Limits, limitsWith, requireWithin } from "./limits.js";
import { type Collection, readCollection } from "./plan.js";
import { type Receipt, type State } from "./receipt.js";
import { whole } from "./reading.js";
import { Remote } from "./remote.js";
import { IDENTITY, sealed, upload } from "./seal.js";
import type { Store } from "./store.js";

const FORMAT = "headcount report 1";

/** What a report is sent from. */
interface Sealed {
  readonly messages: readonly string[];
  readonly identity: string;
  readonly key: number;
  readonly invitation: string;
  readonly body: string;
}

/** What is kept of a report; the same as the Python client keeps in a file. */
interface Kept extends Partial<Sealed> {
  readonly format: string;
  readonly collection: string;
  readonly question: string;
  readonly batch: number;
  readonly state: State;
  readonly epsilon: number;
  readonly delta: number;
  readonly least: number;
  readonly colluding: number | null;
  readonly top_up: boolean;
  readonly corrupt?: number; // this and the next three were not noted by earlier versions
  readonly anyone?: boolean;
  readonly fixed?: boolean;
  readonly padded?: boolean;
  readonly rounds?: number; // of a series
  readonly pinned: boolean;
  readonly sent?: { readonly messages: number; readonly bytes: number }; // instead, once it is taken
}

/**
 * Which collection it must be, and what allows to report to it. Whoever gives a hash vouches for what the collection with
 * that hash claims; without one, the claim is proved here, or the collection refused.
 */
export interface Terms {
  readonly hash?: string;
  readonly invitation?: string;
  readonly relay?: string; // somebody's address to send to instead of the shuffler's, which then learns none
}

interface Offered {
  readonly collection: Collection;
  readonly batch: number;
  readonly offer: Entries;
}

/** The reports of one device, in a store. */
export class Client {
  readonly limits: Limits;

  constructor(readonly store: Store, limits: Partial<Limits> = {}, private readonly clock = () => Date.now() / 1000) {
    this.limits = limitsWith(limits);
  }

  /** Answers now. Asked again, the same report is sent again; `hash` says which collection it must be. */
  async report(at: string | Remote, name: string, answer: unknown, terms: Terms = {}): Promise<Receipt> {
    const remote = reached(at, terms);
    const offer = await remote.get(`/v1/collections/${name}`);
    const before = await this.reports();
    await this.obtain(offer, name, terms);
    const report = await this.prepare(offer, name, answer, terms);
    return { ...(await this.send(report, remote)), again: before.includes(report) };
  }

  /** What is asked, and to what one would agree: to be shown before anybody answers. Nothing is made or kept. */
  async look(at: string | Remote, name: string, terms: Terms = {}): Promise<Collection> {
    const remote = reached(at, terms);
    const { collection } = await this.offered(await remote.get(`/v1/collections/${name}`), name, terms);
    await this.requireAgreed(collection);
    return collection;
  }

  /** Asks the issuer for this device's token, where the collection needs one. Better long before the report. */
  async obtain(source: Json, name: string, terms: Terms = {}, issuer?: Remote): Promise<void> {
    const { collection, batch } = await this.offered(source, name, terms);
    await this.store.alone(async () => {
      if ((await this.store.get(`${collection.hash}-${batch}.json`)) === undefined) {
        await this.requireAgreed(collection);
      }
      await new Credentials(this.store, collection, batch, terms.invitation ?? "").obtain(issuer);
    });
  }

  /** Makes the report, once, and keeps it. It may be sent at any moment until the batch closes. */
  async prepare(
    source: Json, name: string, answer: unknown, terms: Terms = {}, coins: Coins = new SecretCoins(),
  ): Promise<string> {
    const { collection, batch, offer } = await this.offered(source, name, terms);
    const invitation = terms.invitation ?? "";
    const report = `${collection.hash}-${batch}.json`;
    await this.store.alone(async () => {
      if ((await this.store.get(report)) !== undefined) {
        await this.resealed(report, collection, batch, offer, invitation);
        return;
      }
      await this.requireAgreed(collection);
      const key = await announced(offer.get("analyser"), collection.analyser, "analyser");
      if (key.purpose !== `${collection.hash} ${batch}`) {
        throw new BadArgument("analyser", "announced this key for something else", "do not answer");
      }
      this.usable(key, collection);
      const messages = await sealed(collection, batch, answer, key, coins);
      const identity = new SecretCoins().stream(IDENTITY);
      const outer = await this.outer(collection, batch, offer, invitation, identity, messages);
      await this.keep(report, { ...kept(collection, batch, terms.hash !== undefined), messages: messages.map(hex), ...outer });
    });
    return report;
  }

  /** What was made, as often as it takes. */
  async send(report: string, remote: Remote): Promise<Receipt> {
    const made = await this.read(report);
    if (made.state !== "taken") {
      const whole = sealedOf(made, report);
      const body = unhex(whole.body) ?? damaged(report);
      const state = await remote
        .post(`/v1/collections/${made.collection.slice(0, 32)}/batches/${made.batch}/reports`, body)
        .then((): State => "taken")
        .catch((refusal: unknown): State => {
          if (refusal instanceof Elsewhere && refusal.status === 409) return "closed";
          throw refusal;
        });
      await this.store.alone(async () => {
        await this.keep(report, state === "taken" ? taken(made, whole) : { ...made, state });
        if (state === "taken") await forgetToken(this.store, made.collection, made.batch, whole.invitation);
      });
    }
    return this.receipt(report);
  }

  async receipt(report: string): Promise<Receipt> {
    const made = await this.read(report);
    const { format, messages, identity, key, invitation, body, sent, ...own } = made;
    const { epsilon, delta } = await this.spent();
    return {
      ...own, corrupt: own.corrupt ?? null, anyone: own.anyone ?? null, fixed: own.fixed ?? null, padded: own.padded ?? null,
      rounds: own.rounds ?? null, ...(sent ?? sentOf(sealedOf(made, report))), lifetime_epsilon: inexactly(epsilon),
      lifetime_delta: inexactly(delta), again: false, number: own.rounds ? await this.numberOf(made) : null,
    };
  }

  /** Which of this device's reports to the collection it is: batches to which it did not report are left out. */
  private async numberOf({ collection, batch }: Kept): Promise<number> {
    const own = (await this.reports()).filter((name) => name.startsWith(`${collection}-`));
    return own.filter((name) => Number.parseInt(name.slice(collection.length + 1), 10) <= batch).length;
  }

  async receipts(): Promise<Receipt[]> {
    return Promise.all((await this.reports()).map((report) => this.receipt(report)));
  }

  /** The sum over all reports ever made here, sent or not: an upper bound on what they give away together. A series counts once. */
  async spent(): Promise<{ epsilon: Exact; delta: Exact }> {
    const kept = await Promise.all((await this.reports()).map((report) => this.read(report)));
    const all = [...new Map(kept.map((each) => [`${each.collection}-${each.rounds ? 0 : each.batch}`, each])).values()];
    const sum = (costs: number[]): Exact => costs.reduce((total, cost) => total + exactly(cost), 0n);
    return { epsilon: sum(all.map((each) => each.epsilon)), delta: sum(all.map((each) => each.delta)) };
  }

  private async requireAgreed(collection: Collection): Promise<void> {
    const agreed = collection.plan.rounds > 1 && (await this.reports()).some((name) => name.startsWith(`${collection.hash}-`));
    requireWithin(this.limits, collection, await this.spent(), agreed);
  }

  private async offered(source: Json, name: string, terms: Terms): Promise<Offered> {
    const offer: Entries = source instanceof Map ? source : new Map();
    const collection = await readCollection(offer.get("collection"), terms.hash);
    if (terms.hash === undefined) requireProved(collection.plan);
    if (collection.hash.slice(0, 32) !== name) {
      throw new BadArgument("collection", "is another one than was asked for", "do not answer");
    }
    const number = offer.get("batch") ?? null;
    if (number === null) throw new Unsupported("the collection takes no reports now");
    const batch = numbered(number);
    const { rounds } = collection.plan;
    if (rounds > 1 && !(batch >= 1 && batch <= rounds)) throw new BadArgument("batch", "is no round of the series", "do not answer");
    return { collection, batch, offer };
  }

  /** All of it once more, sealed to the shuffler. */
  private async outer(
    collection: Collection, batch: number, offer: Entries, invitation: string, identity: Bytes,
    messages: readonly Bytes[],
  ): Promise<Omit<Sealed, "messages">> {
    const key = await announced(offer.get("shuffler"), collection.shuffler, "shuffler");
    this.usable(key, collection);
    const credential = await new Credentials(this.store, collection, batch, invitation).shown();
    const body = await upload(collection, batch, key, identity, credential, messages);
    return { identity: hex(identity), key: key.number, invitation, body: hex(body) };
  }

  private usable(key: Announced, collection: Collection): void {
    if (key.expires < this.clock()) throw new BadArgument("keys", "have expired", "ask for the collection again");
    if (key.suite !== collection.plan.suite) {
      throw new BadArgument("keys", "are of another suite than was agreed", "do not answer");
    }
  }

  /**
   * The same messages to a key that took the place of the one they were sealed to, or with another invitation.
   *
   * Nothing is drawn anew: to do that whenever somebody asks would let them average the noise away.
   */
  private async resealed(
    report: string, collection: Collection, batch: number, offer: Entries, invitation: string,
  ): Promise<void> {
    const made = await this.read(report);
    if (made.state === "taken") return;
    const whole = sealedOf(made, report);
    const told = offer.get("shuffler");
    const number = told instanceof Map ? told.get("number") : undefined;
    const stale = !(number instanceof Numeral && number.digits === String(made.key));
    if (!stale && whole.invitation === invitation) return;
    const messages = whole.messages.map((each) => unhex(each) ?? damaged(report));
    const identity = unhex(whole.identity) ?? damaged(report);
    const outer = await this.outer(collection, batch, offer, invitation, identity, messages);
    await this.keep(report, { ...made, ...outer });
  }

  /** The names of what is kept, without tokens. */
  private async reports(): Promise<string[]> {
    return (await this.store.names()).filter((name) => !name.endsWith(".token"));
  }

  private async keep(report: string, made: Kept): Promise<void> {
    await this.store.put(report, JSON.stringify(made));
  }

  private async read(report: string): Promise<Kept> {
    try {
      const made = JSON.parse((await this.store.get(report)) ?? "") as Kept;
      if (made.format === FORMAT && Number.isFinite(made.epsilon) && Number.isFinite(made.delta)) return made;
    } catch {
      // said below
    }
    return damaged(report);
  }
}

function kept(collection: Collection, batch: number, pinned: boolean) {
  const { plan, hash, question, topUp, invited, fixed } = collection;
  return {
    format: FORMAT, collection: hash, question, batch, state: "made" as State, epsilon: plan.epsilon, delta: plan.delta,
    least: plan.crowd.least, colluding: plan.colluding, top_up: topUp, corrupt: plan.crowd.corrupt, anyone: !invited,
    fixed, padded: plan.padded !== null, pinned, ...(plan.rounds > 1 ? { rounds: plan.rounds } : {}),
  };
}

function sealedOf({ messages, identity, key, invitation, body }: Kept, report: string): Sealed {
  const whole = messages !== undefined && identity !== undefined && key !== undefined && invitation !== undefined && body !== undefined;
  return whole ? { messages, identity, key, invitation, body } : damaged(report);
}

function sentOf({ messages, body }: Sealed): { messages: number; bytes: number } {
  return { messages: messages.length, bytes: body.length / 2 };
}

/** What stays of a report that was taken: nothing that could be opened, or fits what the shuffler has seen. */
function taken({ messages, identity, key, invitation, body, ...own }: Kept, whole: Sealed): Kept {
  return { ...own, state: "taken", sent: sentOf(whole) };
}

function numbered(source: Json): number {
  try {
    return whole(source, 0, 2 ** 32 - 1);
  } catch {
    throw new BadArgument("batch", "is not a number", "do not answer");
  }
}

function reached(at: string | Remote, { relay }: Terms): Remote {
  if (relay !== undefined) return new Remote(relay);
  return typeof at === "string" ? new Remote(at) : at;
}

function damaged(report: string): never {
  throw new Refused(`${report} is not a report that was made here; move it away`);
}
