/** The suites of HPKE (RFC 9180) that a plan may name. It names one; nothing is negotiated. */

import { Aes128Gcm, CipherSuite, DhkemP256HkdfSha256, DhkemX25519HkdfSha256, HkdfSha256 } from "@hpke/core";

export type SuiteName = "x25519-sha256-aes128gcm" | "p256-sha256-aes128gcm";

export const SUITES: ReadonlyMap<SuiteName, { readonly hpke: CipherSuite; readonly keyBytes: number }> = new Map([
  ["x25519-sha256-aes128gcm", { hpke: suite(new DhkemX25519HkdfSha256()), keyBytes: 32 }],
  ["p256-sha256-aes128gcm", { hpke: suite(new DhkemP256HkdfSha256()), keyBytes: 65 }],
]);

function suite(kem: DhkemX25519HkdfSha256 | DhkemP256HkdfSha256): CipherSuite {
  return new CipherSuite({ kem, kdf: new HkdfSha256(), aead: new Aes128Gcm() });
}
