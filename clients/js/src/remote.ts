/** The shuffler's interface: requests are tried again, since nothing there counts twice; refusals are told as said. */

import type { Bytes } from "./bytes.js";
import { BadArgument, Elsewhere } from "./errors.js";
import { type Json, read } from "./json.js";

const TRIES = 5;
const TIMEOUT = 30_000; // milliseconds
const LONGEST_WAIT = 10; // seconds, whatever the other side says

export interface Answered {
  readonly status: number;
  readonly text: string;
  readonly wait: string | null;
}

export class Remote {
  readonly address: string;

  constructor(
    address: string,
    private readonly sleep = (seconds: number): Promise<void> => new Promise((wake) => setTimeout(wake, 1000 * seconds)),
  ) {
    if (!/^https?:\/\/[^/?#\s]+([/][^?#\s]*)?$/.test(address)) {
      throw new BadArgument("address", "is not one", "use http://host:port or https://host");
    }
    this.address = address.replace(/\/+$/, "");
  }

  async get(path: string): Promise<Json> {
    return this.answered(await this.tried("GET", path));
  }

  async post(path: string, content: Bytes): Promise<Json> {
    return this.answered(await this.tried("POST", path, content));
  }

  /** Without cookies, and without a word about the page. */
  protected async once(method: string, path: string, content?: Bytes): Promise<Answered> {
    const response = await fetch(this.address + encodeURI(path), {
      method, body: content ?? null, cache: "no-store", credentials: "omit", redirect: "error",
      referrerPolicy: "no-referrer", signal: AbortSignal.timeout(TIMEOUT),
    });
    return { status: response.status, text: await response.text(), wait: response.headers.get("Retry-After") };
  }

  private async tried(method: string, path: string, content?: Bytes): Promise<Answered> {
    let last: Answered | null = null;
    for (let attempt = 0; attempt < TRIES; attempt++) {
      if (attempt) await this.sleep(last ? told(last.wait) : 0.2 * 2 ** (attempt - 1));
      last = await this.once(method, path, content).catch(() => null);
      if (last && last.status !== 503) return last;
    }
    if (last) return last;
    throw new Elsewhere(`${this.address} cannot be reached; is it running, and does it let this page ask?`);
  }

  private answered({ status, text }: Answered): Json {
    let content: Json | undefined;
    try {
      content = read(text);
    } catch {
      content = undefined;
    }
    if (status >= 400) {
      const reason = content instanceof Map ? content.get("error") : undefined;
      throw new Elsewhere(typeof reason === "string" ? reason : `${this.address} refused with ${status}`, status);
    }
    if (content === undefined) throw new Elsewhere(`${this.address} does not answer as a party of a collection would`);
    return content;
  }
}

function told(wait: string | null): number {
  return Math.min(wait !== null && /^[0-9]+$/.test(wait) ? Number(wait) : 1, LONGEST_WAIT);
}
