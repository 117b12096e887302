/** Bytes, and the digits that they are written in. */

export type Bytes = Uint8Array<ArrayBuffer>;

export function joined(...parts: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Nothing but small letters and whole bytes; null for anything else. */
export function unhex(digits: string): Bytes | null {
  if (!/^([0-9a-f]{2})*$/.test(digits)) return null;
  return Uint8Array.from({ length: digits.length / 2 }, (_, at) => parseInt(digits.slice(2 * at, 2 * at + 2), 16));
}

export function text(words: string): Bytes {
  return new TextEncoder().encode(words);
}

/** A whole number in so many bytes, the lowest first. */
export function lowestFirst(number: bigint, size: number): Bytes {
  const bytes = new Uint8Array(size);
  for (let at = 0, rest = number; at < size; at++, rest >>= 8n) bytes[at] = Number(rest & 255n);
  return bytes;
}

export async function sha256(content: Bytes): Promise<string> {
  return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", content)));
}
