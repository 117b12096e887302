/** node open.js < told.json: what Python has sealed, opened with the private key that is told along. */

import { readFileSync } from "node:fs";

import { hex, unhex } from "../src/bytes.js";
import { SUITES, type SuiteName } from "../src/suites.js";

interface Told {
  suite: SuiteName;
  key: string;
  info: string;
  sealed: string[];
}

const told = JSON.parse(readFileSync(0, "utf8")) as Told;
const bytes = (digits: string): Uint8Array<ArrayBuffer> => unhex(digits) ?? new Uint8Array();
const { hpke } = SUITES.get(told.suite) ?? { hpke: undefined };
if (!hpke) throw new Error(told.suite);
const recipientKey = await hpke.kem.deserializePrivateKey(bytes(told.key).buffer);
const opened = told.sealed.map(async (each) => {
  const [enc, sealed] = [bytes(each).slice(0, hpke.kem.encSize), bytes(each).slice(hpke.kem.encSize)];
  return hex(new Uint8Array(await hpke.open({ recipientKey, enc, info: bytes(told.info) }, sealed)));
});
console.log(JSON.stringify(await Promise.all(opened)));
