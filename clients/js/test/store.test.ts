/** What is kept stays kept, in windows that know nothing of each other, and one at a time decides. */

import "fake-indexeddb/auto";

import assert from "node:assert/strict";
import { test } from "node:test";

import { BrowserStore, MemoryStore, type Store, Turns } from "../src/store.js";

function locks(): LockManager {
  const turns = new Turns();
  return { request: (_: string, work: () => Promise<unknown>) => turns.take(work) } as unknown as LockManager;
}

function withNavigator(navigator: object): void {
  Object.defineProperty(globalThis, "navigator", { value: navigator, configurable: true, writable: true });
}

async function kept(store: Store, again: Store): Promise<void> {
  assert.equal(await store.get("a"), undefined);
  await store.put("b", "2");
  await store.put("a", "1");
  await store.put("b", "3");
  assert.deepEqual([await again.names(), await again.get("b")], [["a", "b"], "3"]);
  const order: number[] = [];
  const slow = (number: number) => async () => {
    order.push(number);
    await new Promise((wake) => setTimeout(wake, 5));
    order.push(number);
  };
  await Promise.all([store.alone(slow(1)), again.alone(slow(2)), store.alone(slow(3))]);
  assert.deepEqual(order, [1, 1, 2, 2, 3, 3]);
  await assert.rejects(store.alone(() => Promise.reject(new Error("mine"))), /mine/);
  assert.equal(await store.alone(async () => 4), 4);
}

test("in memory", async () => {
  const store = new MemoryStore();
  await kept(store, store);
});

test("in a browser, in two windows", async () => {
  let asked = 0;
  withNavigator({ locks: locks(), storage: { persist: async () => ++asked > 0 } });
  await kept(await BrowserStore.open(), await BrowserStore.open());
  assert.equal(asked, 2);
});

test("a browser that cannot lock, or keep, is refused", async () => {
  withNavigator({});
  await assert.rejects(BrowserStore.open(), /use a newer one, on https/);
  withNavigator({ locks: locks() });
  const store = await BrowserStore.open("full");
  const refusing = { transaction: () => { const made = { objectStore: () => ({ put: () => setTimeout(() => made.onabort?.()) }), onabort: undefined as undefined | (() => void) }; return made; } };
  Object.assign(store, { database: refusing });
  await assert.rejects(store.put("a", "1"), /nothing was sent; make room and try again/);
});
