// One ES module for browsers, beside the server that gives it to them; with --test, every module and test on its own.

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const common = { absWorkingDir: here, format: "esm", target: "es2022", logLevel: "warning", legalComments: "none" };
const BUNDLED = ["@hpke/core", "@hpke/common", "@hpke/dhkem-x25519", "@hpke/hybridkem-x-wing", "mlkem", "@noble/ed25519"];
const notice = "/* headcount client, Apache-2.0, with " + BUNDLED.join(", ") + ": see client.licenses.txt */";

// @hpke/core as it says of itself, but where bundlers do not look: no module of it does anything by being loaded. What it
// would ask of a Node older than the platform's own cryptography is left out, and its fields are set in fewer words.
const FIELD = /Object\.defineProperty\(this, "(\w+)", \{\s+enumerable: true,\s+configurable: true,\s+writable: true,\s+value: ([^]*?)\n {8}\}\);/g;
const shorter = {
  name: "shorter",
  setup(bundle) {
    bundle.onResolve({ filter: /^crypto$/ }, () => ({ path: "crypto", namespace: "platform" }));
    bundle.onLoad({ filter: /.*/, namespace: "platform" }, () => ({ contents: "export const webcrypto = globalThis.crypto;" }));
    bundle.onResolve({ filter: /./ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === shorter) return undefined;
      const found = await bundle.resolve(path, { ...from, pluginData: shorter });
      return /@hpke|mlkem/.test(found.path) ? { ...found, sideEffects: false } : found;
    });
    bundle.onLoad({ filter: /(@hpke|mlkem).*\.js$/ }, ({ path }) => ({ contents: readFileSync(path, "utf8").replace(FIELD, "this.$1 = $2;") }));
  },
};

if (process.argv.includes("--test")) {
  rmSync(join(here, "build"), { recursive: true, force: true });
  for (const folder of ["src", "test"]) {
    const entryPoints = readdirSync(join(here, folder)).filter((name) => name.endsWith(".ts")).map((name) => join(folder, name));
    await build({ ...common, entryPoints, outdir: join("build", folder) });
  }
  await build({ ...common, entryPoints: ["test/page.ts"], outfile: "build/page.js", bundle: true, plugins: [shorter] });
} else {
  const at = process.argv.indexOf("--out");
  const outfile = at > 0 ? process.argv[at + 1] : join(here, "../../service/src/headcount_service/web/static/client.js");
  await build({
    ...common, entryPoints: ["src/index.ts"], outfile, bundle: true, minify: true, mangleProps: /^_[a-z]/, charset: "utf8", plugins: [shorter],
    banner: { js: notice },
  });
  const licenses = BUNDLED.map((name) => `${name}\n\n${readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8").trim()}\n`);
  writeFileSync(outfile.replace(/\.js$/, ".licenses.txt"), licenses.join("\n\n"));
}
