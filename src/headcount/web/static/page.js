// Which part of the page is shown.

import { $, ask } from "./dom.js";

const PARTS = { advisor: "./advisor.js", ask: "./ask.js", collections: "./collections.js" };
const begun = new Set();
let offered = [];
let about = {};

async function show() {
  const wanted = location.hash.slice(1);
  if (wanted === "main") return;
  const part = offered.includes(wanted) ? wanted : offered[0];
  for (const name of Object.keys(PARTS)) $(`view-${name}`).hidden = name !== part;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.part === part) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${document.querySelector(`nav a[data-part="${part}"]`).textContent} · headcount`;
  if (begun.has(part)) return;
  begun.add(part);
  (await import(PARTS[part])).begin(about);
}

about = await ask("GET", "page/about");
offered = Object.keys(PARTS).filter((part) => about.parts.includes(part));
for (const link of document.querySelectorAll("nav a")) link.hidden = !offered.includes(link.dataset.part);
addEventListener("hashchange", () => {
  show();
  if (location.hash !== "#main") $("main").focus({ preventScroll: true });
});
await show();
document.documentElement.dataset.ready = "yes";
