// Which part of the page is shown.

import { $, ask, h, sentence } from "./dom.js";

const PARTS = { advisor: "./advisor.js", data: "./data.js", ask: "./ask.js", collections: "./collections.js" };
const begun = new Set(); // parts that have been shown
let offered = [];
let about = {};

function wanted() {
  const named = location.hash.slice(1);
  return offered.includes(named) ? named : offered[0];
}

/** A part is shown once it listens: whatever is chosen earlier would be lost. */
async function show() {
  const part = wanted();
  const module = await import(PARTS[part]);
  if (part !== wanted()) return; // which is shown by a call of its own
  for (const name of Object.keys(PARTS)) $(`view-${name}`).hidden = name !== part;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.part === part) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${document.querySelector(`nav a[data-part="${part}"]`).textContent} · headcount`;
  if (begun.has(part)) {
    module.shown?.();
    return;
  }
  begun.add(part);
  module.begin(about);
}

async function begin() {
  $("trouble").replaceChildren();
  try {
    about = await ask("GET", "page/about");
  } catch (problem) {
    $("trouble").replaceChildren(h("p", { class: "error" }, sentence(problem.message)), h("button", { type: "button", onclick: begin }, "Try again"));
    return;
  }
  offered = about.parts.filter((part) => part in PARTS); // the first is shown
  for (const link of document.querySelectorAll("nav a")) link.hidden = !offered.includes(link.dataset.part);
  addEventListener("hashchange", () => {
    show();
    $("main").focus({ preventScroll: true });
  });
  await show();
  document.documentElement.dataset.ready = "yes";
}

// Not by its address, which is where the part of the page stands.
$("skip").addEventListener("click", (event) => {
  event.preventDefault();
  $("main").focus();
});
begin();
