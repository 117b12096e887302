/** node compare-all.js FOLDER: how many vectors of each kind are as in Python, as JSON; it fails where one is not. */

import { compareAnswers, compareBricks, compareProtocols, modules } from "./compare.js";

const folder = process.argv[2] ?? "";
const ours = await modules("../src");
const counts = { bricks: compareBricks(ours, folder), protocols: compareProtocols(ours, folder), answers: compareAnswers(ours, folder) };
console.log(JSON.stringify(counts));
