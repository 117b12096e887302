/** Reports to private counts, from a browser. */

export { Client, type Terms } from "./client.js";
export { BadArgument, Elsewhere, OverBudget, Refused, Unsupported } from "./errors.js";
export { type Limits, LIMITS } from "./limits.js";
export type { Collection, Plan } from "./plan.js";
export { type Receipt, receiptText } from "./receipt.js";
export { Remote } from "./remote.js";
export { BrowserStore, MemoryStore, type Store } from "./store.js";
export type { Answer } from "./domain.js";
