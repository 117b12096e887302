/** Seals are those of RFC 9180, keys must be usable, and signatures those of the party that should have signed. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { hex, unhex } from "../src/bytes.js";
import type { Entries } from "../src/json.js";
import { Numeral, read } from "../src/json.js";
import { announced } from "../src/keys.js";
import { seal } from "../src/seal.js";
import { SUITES, type SuiteName } from "../src/suites.js";
import { entries } from "./compare.js";
import { vectors } from "./files.js";

const bytes = (digits: string) => unhex(digits) ?? assert.fail();

const INFO = bytes("4f6465206f6e2061204772656369616e2055726e");
const PLAIN = "4265617574792069732074727574682c20747275746820626561757479";
const AAD = bytes("436f756e742d30");

// RFC 9180, A.1.1 and A.3.1: what the keys of both sides are derived from, the sender's public key, and the first text.
const SPECIFIED: [SuiteName, string, string, string, string][] = [
  [
    "x25519-sha256-aes128gcm",
    "7268600d403fce431561aef583ee1613527cff655c1343f29812e66706df3234",
    "6db9df30aa07dd42ee5e8181afdb977e538f5e1fec8a06223f33f7013e525037",
    "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431",
    "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a",
  ],
  [
    "p256-sha256-aes128gcm",
    "4270e54ffd08d79d5928020af4686d8f6b7d35dbe470265f1f5aa22816ce860e",
    "668b37171f1072f3cf12ea8a236a45df23fc13b82af3609ad1e354f6ef817550",
    "04a92719c6195d5085104f469a8b9814d5838ff72b60501e2c4466e5e67b325ac98536d7b61a1af4b78e5b7f951c0900be863c403ce65c9bfcb9382657222d18c4",
    "5ad590bb8baa577f8619db35a36311226a896e7342a6d836d8b7bcd2f20b6c7f9076ac232e3ab2523f39513434",
  ],
];
const SMALL_ORDER = [
  "00".repeat(32), `01${"00".repeat(31)}`, `ec${"ff".repeat(30)}7f`, `ed${"ff".repeat(30)}7f`, `ee${"ff".repeat(30)}7f`,
  "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
  "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
];

for (const [suite, senders, receivers, enc, first] of SPECIFIED) {
  const hpke = (SUITES.get(suite) ?? assert.fail()).hpke;

  test(`the vector of the specification: ${suite}`, async () => {
    const ekm = await hpke.kem.deriveKeyPair(bytes(senders).buffer);
    const receiver = await hpke.kem.deriveKeyPair(bytes(receivers).buffer);
    const sender = await hpke.createSenderContext({ recipientPublicKey: receiver.publicKey, info: INFO, ekm });
    assert.equal(hex(new Uint8Array(sender.enc)), enc);
    assert.equal(hex(new Uint8Array(await sender.seal(bytes(PLAIN), AAD))), first);
  });
}

for (const [suite, { hpke }] of SUITES) {
  test(`what is sealed is opened by its receiver, and differs each time: ${suite}`, async () => {
    const pair = await hpke.kem.generateKeyPair();
    const key = new Uint8Array(await hpke.kem.serializePublicKey(pair.publicKey));
    const both = await Promise.all([seal(suite, key, INFO, bytes(PLAIN)), seal(suite, key, INFO, bytes(PLAIN))]);
    assert.notDeepEqual(both[0], both[1]);
    for (const sealed of both) {
      const enc = sealed.slice(0, hpke.kem.encSize);
      const opened = await hpke.open({ recipientKey: pair.privateKey, enc, info: INFO }, sealed.slice(hpke.kem.encSize));
      assert.equal(hex(new Uint8Array(opened)), PLAIN);
    }
  });
}

for (const point of SMALL_ORDER) {
  test(`nobody seals to a key that makes a secret known to all: ${point.slice(0, 8)}`, async () => {
    await assert.rejects(seal("x25519-sha256-aes128gcm", bytes(point), INFO, bytes(PLAIN)), { name: "BadArgument" });
  });
}

for (const point of [`04${"00".repeat(64)}`, `04${"ff".repeat(64)}`, `02${"00".repeat(64)}`, "00".repeat(65)]) {
  test(`nobody seals to a point that is not on the curve: ${point.slice(0, 4)}`, async () => {
    await assert.rejects(seal("p256-sha256-aes128gcm", bytes(point), INFO, bytes(PLAIN)), { name: "BadArgument" });
  });
}

const offers = entries(vectors("collections")).map((line) => {
  const offer = read(String((read(line) as Entries).get("offer"))) as Entries;
  return { offer, collection: offer.get("collection") as Entries };
});

for (const { offer, collection } of offers) {
  for (const role of ["shuffler", "analyser"] as const) {
    const signer = String(collection.get(role));
    const told = offer.get(role) as Entries;

    test(`an announcement of the ${role} is believed as it was signed, and not otherwise`, async () => {
      assert.equal((await announced(told, signer, role)).role, role);
      const other = String(collection.get(role === "shuffler" ? "analyser" : "shuffler"));
      await assert.rejects(announced(told, other, role), /signature is not that of the party/);
      await assert.rejects(announced(told, signer, role === "shuffler" ? "analyser" : "shuffler"), /was announced by/);
      for (const [name, forged] of [["key", "00".repeat(32)], ["expires", new Numeral("1")], ["number", new Numeral("7.0")], ["more", null]] as const) {
        await assert.rejects(announced(new Map(told).set(name, forged), signer, role), /signature is not that/);
      }
    });
  }
}
