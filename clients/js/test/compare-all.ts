/** node compare-all.js FOLDER: how many vectors of each kind are as in Python, as JSON; it fails where one is not. */

import { compareAll, modules } from "./files.js";

console.log(JSON.stringify(compareAll(await modules("../src"), process.argv[2])));
