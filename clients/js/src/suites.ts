/**
 * The suites of HPKE (RFC 9180) that a plan may name. It names one; nothing is negotiated. The hybrid one (X-Wing, KEM
 * 0x647A) holds as long as ML-KEM-768 or X25519 does.
 */

import { Aes128Gcm, CipherSuite, DhkemP256HkdfSha256, DhkemX25519HkdfSha256, HkdfSha256, type KemInterface } from "@hpke/core";
import { XWing } from "@hpke/hybridkem-x-wing";

export type SuiteName = "mlkem768-x25519-sha256-aes128gcm" | "x25519-sha256-aes128gcm" | "p256-sha256-aes128gcm";

export const SUITES: ReadonlyMap<SuiteName, { readonly hpke: CipherSuite; readonly keyBytes: number }> = new Map([
  ["mlkem768-x25519-sha256-aes128gcm", { hpke: suite(new XWing()), keyBytes: 1216 }],
  ["x25519-sha256-aes128gcm", { hpke: suite(new DhkemX25519HkdfSha256()), keyBytes: 32 }],
  ["p256-sha256-aes128gcm", { hpke: suite(new DhkemP256HkdfSha256()), keyBytes: 65 }],
]);

function suite(kem: KemInterface): CipherSuite {
  return new CipherSuite({ kem, kdf: new HkdfSha256(), aead: new Aes128Gcm() });
}
