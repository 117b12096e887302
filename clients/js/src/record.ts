/** A message as bytes: its fields one after the other, in the widths that the plan names, the lowest byte first. */

import { type Bytes, joined, lowestFirst } from "./bytes.js";
import type { Json } from "./json.js";
import type { Message } from "./programme.js";
import { fail, list, string } from "./reading.js";

interface Form {
  readonly signed: boolean;
  readonly size: number;
}

export type RecordForm = readonly Form[];

const WIDEST = 1 << 21; // bytes

/** Of a list of names and forms, such as ["kind", "u1"]. */
export function recordForm(source: Json | undefined): RecordForm {
  return list(source).map((each) => {
    const [name, form, ...more] = list(each);
    const found = /^([ui])([1-9][0-9]{0,6})$/.exec(string(form));
    const size = Number(found?.[2]);
    return string(name) && !more.length && size <= WIDEST ? { signed: found?.[1] === "i", size } : fail();
  });
}

export function recordBytes(form: RecordForm): number {
  return form.reduce((sum, { size }) => sum + size, 0);
}

export function record(message: Message, form: RecordForm): Bytes {
  if (message.length !== form.length) fail();
  return joined(...form.map((field, at) => part(message[at] ?? fail(), field)));
}

function part(value: bigint | Uint8Array, { signed, size }: Form): Uint8Array {
  if (value instanceof Uint8Array) return value.length === size ? value : fail();
  const bits = BigInt(8 * size);
  const [low, high] = signed ? [-(1n << (bits - 1n)), 1n << (bits - 1n)] : [0n, 1n << bits];
  return low <= value && value < high ? lowestFirst(BigInt.asUintN(8 * size, value), size) : fail();
}
