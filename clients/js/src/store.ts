/**
 * Where a device keeps what it has made: sealed bytes and what they cost, never an answer. What was made is sent again as
 * it is, so whoever empties the store lets somebody average the noise away: it should last as long as the device.
 */

import { Unsupported } from "./errors.js";

export interface Store {
  names(): Promise<string[]>;
  get(name: string): Promise<string | undefined>;
  /** On the disk when it returns. */
  put(name: string, content: string): Promise<void>;
  /** One at a time, also among windows that share the store. */
  alone<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** One after the other, in this window. */
export class Turns {
  private last: Promise<unknown> = Promise.resolve();

  take<Result>(work: () => Promise<Result>): Promise<Result> {
    const mine = this.last.then(work);
    this.last = mine.catch(() => undefined);
    return mine;
  }
}

/** For tests, and for a device whose host keeps the content elsewhere. Gone with the window. */
export class MemoryStore implements Store {
  private readonly turns = new Turns();

  constructor(readonly content = new Map<string, string>()) {}

  async names(): Promise<string[]> {
    return [...this.content.keys()].sort();
  }

  async get(name: string): Promise<string | undefined> {
    return this.content.get(name);
  }

  async put(name: string, content: string): Promise<void> {
    this.content.set(name, content);
  }

  alone<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.turns.take(work);
  }
}

const REPORTS = "reports";

/** In the browser, for this origin. */
export class BrowserStore implements Store {
  private constructor(private readonly database: IDBDatabase) {}

  static async open(name = "headcount"): Promise<BrowserStore> {
    if (!globalThis.indexedDB || !globalThis.navigator?.locks) {
      throw new Unsupported("this browser cannot keep a report safely (no IndexedDB, or no locks); use a newer one, on https");
    }
    await navigator.storage?.persist?.();
    const opening = indexedDB.open(name, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(REPORTS);
    return new BrowserStore(await done(opening));
  }

  async names(): Promise<string[]> {
    return (await done(this.reports("readonly").getAllKeys())).map(String).sort();
  }

  async get(name: string): Promise<string | undefined> {
    return (await done(this.reports("readonly").get(name))) as string | undefined;
  }

  async put(name: string, content: string): Promise<void> {
    const transaction = this.database.transaction(REPORTS, "readwrite", { durability: "strict" });
    transaction.objectStore(REPORTS).put(content, name);
    await new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = transaction.onerror = () => reject(full());
    });
  }

  async alone<Result>(work: () => Promise<Result>): Promise<Result> {
    return (await navigator.locks.request(`headcount ${this.database.name}`, work)) as Result;
  }

  private reports(mode: IDBTransactionMode): IDBObjectStore {
    return this.database.transaction(REPORTS, mode).objectStore(REPORTS);
  }
}

function full(): Unsupported {
  return new Unsupported("this browser did not keep the report, and so nothing was sent; make room and try again");
}

function done<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(full());
  });
}
