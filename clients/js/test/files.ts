/** Vectors and modules, from the disk. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { COMPARISONS, type Modules } from "./compare.js";

export const VECTORS = new URL("../../vectors", import.meta.url).pathname;

const NAMES = ["bytes", "claim", "clones", "coins", "domain", "json", "laws", "odds", "plan", "programme", "reading", "record", "seal"] as const;

export async function modules(folder: string): Promise<Modules> {
  const found = await Promise.all(NAMES.map(async (name) => [name, await import(`${folder}/${name}.js`)] as const));
  return Object.fromEntries(found) as unknown as Modules;
}

export function vectors(name: string, folder = VECTORS): string {
  return readFileSync(join(folder, `${name}.json`), "utf8");
}

/** Everything there is in a folder, or what is asked for. */
export function compareAll(
  from: Modules, folder = VECTORS, kinds: readonly string[] = Object.keys(COMPARISONS),
): Record<string, Record<string, number>> {
  const chosen = Object.entries(COMPARISONS).filter(([name]) => kinds.includes(name));
  const counts = chosen.map(([name, compare]) => [name, compare(from, vectors(name, folder))]);
  return Object.fromEntries(counts) as Record<string, Record<string, number>>;
}
