// Which part of the page is shown.

import { $, ask, h, sentence } from "./dom.js";

const PARTS = { advisor: "./advisor.js", data: "./data.js", ask: "./ask.js", collections: "./collections.js" };
const begun = new Map(); // the modules of parts that have been shown
let offered = [];
let about = {};

async function show() {
  const wanted = location.hash.slice(1);
  const part = offered.includes(wanted) ? wanted : offered[0];
  for (const name of Object.keys(PARTS)) $(`view-${name}`).hidden = name !== part;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.part === part) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${document.querySelector(`nav a[data-part="${part}"]`).textContent} · headcount`;
  if (begun.has(part)) {
    begun.get(part)?.shown?.();
    return;
  }
  begun.set(part, null);
  begun.set(part, await import(PARTS[part]));
  begun.get(part).begin(about);
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
