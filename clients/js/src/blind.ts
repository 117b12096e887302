/**
 * Blind RSA signatures by RFC 9474, in its variant RSABSSA-SHA384-PSS-Randomized, as a device uses them.
 *
 * A message is hidden under a random factor, the signer signs what it cannot read, and the factor is taken off.
 */

import { type Bytes, hex, joined, unhex } from "./bytes.js";
import { fail } from "./reading.js";

export const PREFIX = 32; // random bytes before the message: nobody can try out messages
const EXPONENT = 65_537n;
const HASH = 48; // bytes of SHA-384
const SALT = HASH;

/** What a device draws for one signature. The factor is secret for ever: with it, issuing and using are linked. */
export interface Blinding {
  readonly prefix: Bytes;
  readonly salt: Bytes;
  readonly factor: bigint;
}

export function drawn(modulus: bigint): Blinding {
  return { prefix: random(PREFIX), salt: random(SALT), factor: unit(modulus) };
}

/** What the signer is sent. */
export async function blinded({ prefix, salt, factor }: Blinding, modulus: bigint, message: Bytes): Promise<Bytes> {
  const encoded = await encode(joined(prefix, message), bits(modulus), salt);
  return bytesOf((numberOf(encoded) * power(factor, EXPONENT, modulus)) % modulus, sizeOf(modulus));
}

/** The signature of prefix and message, made of the signer's answer; null if that answer is none. */
export async function finished(
  { prefix, factor }: Blinding, modulus: bigint, message: Bytes, answer: Bytes,
): Promise<Bytes | null> {
  const inverse = inverted(factor, modulus);
  if (answer.length !== sizeOf(modulus) || inverse === null) return null;
  const signature = bytesOf((numberOf(answer) * inverse) % modulus, answer.length);
  return (await verifies(modulus, joined(prefix, message), signature)) ? signature : null;
}

/** Whether this is a signature of the message. */
export async function verifies(modulus: bigint, message: Bytes, signature: Bytes): Promise<boolean> {
  const n = base64url(bytesOf(modulus, sizeOf(modulus)));
  const scheme = { name: "RSA-PSS", hash: "SHA-384" };
  const key = await crypto.subtle.importKey("jwk", { kty: "RSA", n, e: "AQAB" }, scheme, false, ["verify"]);
  return crypto.subtle.verify({ name: "RSA-PSS", saltLength: SALT }, key, signature, message);
}

/** EMSA-PSS (RFC 8017, 9.1.1) with SHA-384, in one bit less than the modulus has. */
async function encode(message: Bytes, modulusBits: number, salt: Bytes): Promise<Bytes> {
  const size = Math.ceil((modulusBits - 1) / 8);
  const digest = await sha384(joined(new Uint8Array(8), await sha384(message), salt));
  const block = joined(new Uint8Array(size - salt.length - HASH - 2), Uint8Array.of(1), salt);
  const mask = await stretched(digest, block.length);
  const masked = block.map((byte, at) => byte ^ (mask[at] ?? fail()));
  masked[0] = (masked[0] ?? fail()) & (0xff >> (8 * size - (modulusBits - 1)));
  return joined(masked, digest, Uint8Array.of(0xbc));
}

/** MGF1 (RFC 8017, B.2.1). */
async function stretched(seed: Bytes, size: number): Promise<Bytes> {
  const blocks = [];
  for (let at = 0; at * HASH < size; at++) blocks.push(await sha384(joined(seed, bytesOf(BigInt(at), 4))));
  return joined(...blocks).slice(0, size);
}

async function sha384(content: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest("SHA-384", content));
}

/** A number that has an inverse, each as likely as any other. */
function unit(modulus: bigint): bigint {
  for (;;) {
    const found = numberOf(random(sizeOf(modulus)));
    if (found > 0n && found < modulus && inverted(found, modulus) !== null) return found;
  }
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  for (let [square, rest] = [base % modulus, exponent]; rest; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

function inverted(number: bigint, modulus: bigint): bigint | null {
  let [here, there, mine, theirs] = [number, modulus, 1n, 0n];
  while (there) [here, there, mine, theirs] = [there, here % there, theirs, mine - (here / there) * theirs];
  return here === 1n ? ((mine % modulus) + modulus) % modulus : null;
}

function random(size: number): Bytes {
  return crypto.getRandomValues(new Uint8Array(size));
}

function numberOf(bytes: Bytes): bigint {
  return BigInt(`0x${hex(bytes)}`);
}

function bytesOf(number: bigint, size: number): Bytes {
  return unhex(number.toString(16).padStart(2 * size, "0")) ?? fail();
}

function bits(modulus: bigint): number {
  return modulus.toString(2).length;
}

function sizeOf(modulus: bigint): number {
  return Math.ceil(bits(modulus) / 8);
}

function base64url(bytes: Bytes): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
