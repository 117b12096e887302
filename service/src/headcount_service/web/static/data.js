// Questions about a file: it is dropped or named, read on this machine, and never shown. What is on the page belongs to
// the question that the form asks now; where it is still being computed, the page says so.

import { Figure, cumulative } from "./charts.js";
import { $, ask, copied, h, number, post, saved, sentence, Told, whole } from "./dom.js";

const PAUSE = 250; // milliseconds after the last change before advice is asked for
const NAMES = /[^0-9A-Za-z ._~-]/g;

let file = null; // what the server told of it
let question = null; // which of its questions the form asks
let timer = 0;
let asking = null; // what is under way
let shown = null; // the command and the Python lines of what the form asks

const field = (name) => $(`data-form`).elements.namedItem(name);
const nearly = (share) => Math.min(99.99, Math.ceil(10_000 * share) / 100); // 99.8% is not all of it
const percent = (share) => `${share > 0.99 && share < 1 ? nearly(share) : share > 0.1 ? Math.ceil(100 * share) : Number((100 * share).toPrecision(2))}%`;

function say(words, wrong = false) {
  $("data-status").textContent = words;
  $("data-status").classList.toggle("wrong", wrong);
}

/** A file is sent to the server on this machine, which keeps it until it ends. */
async function take(chosen) {
  say(`${chosen.name} is being read …`);
  const began = performance.now();
  nothing();
  $("data-asking").hidden = true;
  try {
    const name = chosen.name.replace(NAMES, "_").slice(-64);
    const response = await fetch(`page/files/${encodeURIComponent(name)}`, { method: "POST", body: chosen, cache: "no-store", credentials: "omit" })
      .catch(() => { throw new Told("the server cannot be reached; is it still running?", 0); });
    const told = await response.json();
    if (!response.ok) throw new Told(told.error, response.status, told);
    await open(told);
    document.body.dataset.read = String(Math.round(performance.now() - began));
    field("task").focus();
  } catch (problem) {
    say(sentence(problem.message), true);
  }
}

function open(told) {
  file = told;
  $("data-name").textContent = told.name;
  $("data-columns").replaceChildren(...told.columns.map(({ name, type }) => h("li", {}, h("b", {}, name), ` ${type}`)));
  $("data-count").textContent = `${told.columns.length} columns`;
  for (const [name, none] of [["column", "choose a column"], ["by", "no groups"], ["and_by", "no more groups"], ["unit", "each row is a person"]]) {
    const kept = told.columns.map((column) => h("option", { value: column.name }, `${column.name} (${column.type})`));
    field(name).replaceChildren(h("option", { value: "" }, none), ...kept);
  }
  field("task").replaceChildren(...told.questions.map(({ name, asks }) => h("option", { value: name }, `${name}: ${asks}?`)));
  $("data-asking").hidden = false;
  ledger(told.ledger);
  choose();
  say(`${told.name} is open. Choose a column and what to ask of it.`);
}

/** The fields that the chosen question has to be told. */
function choose() {
  question = file.questions.find(({ name }) => name === field("task").value);
  if (!question.grouped) field("by").value = "";
  if (!field("by").value) field("and_by").value = "";
  if (!field("unit").value) field("max_contributions").value = "";
  for (const [name, needed] of [["by", question.grouped], ["and_by", field("by").value], ["max_contributions", field("unit").value]]) {
    field(name).closest(".field").hidden = !needed;
  }
  field("spelled").closest(".field").hidden = !question.spelled;
  if (!question.spelled) field("spelled").checked = false;
  const own = question.arguments.filter(({ grouped }) => !grouped || field("by").value).flatMap(fields);
  const where = question.where ? [text("where", "Counts as a one", "Which value: true, 1 or text, as it is written; a comma separates several (Yes, Y). Left out, the column holds 0 and 1.")] : [];
  const typed = asked();
  $("data-arguments").replaceChildren(...where, ...own);
  for (const each of $("data-arguments").querySelectorAll("input, textarea")) {
    if (each.type === "checkbox") each.checked = typed[each.name] === true;
    else each.value = typed[each.name] ?? "";
  }
  field("column").closest(".field").hidden = !question.column;
  changed();
}

function text(name, label, hint, typed = "") {
  const id = `data-${name}`;
  return h("div", { class: "field tall" }, h("label", { for: id }, label),
    h("input", { type: "text", id, name, autocomplete: "off", value: typed, "aria-describedby": `${id}-hint` }),
    h("p", { class: "hint", id: `${id}-hint` }, hint));
}

function fields({ name, label, told, help, needed }) {
  const words = needed ? label : `${label} (if any)`;
  if (told === "flag") {
    return [h("div", { class: "field tall" }, h("label", { class: "flag" }, h("input", { type: "checkbox", name }), ` ${label}`), h("p", { class: "hint" }, help))];
  }
  if (told === "bounds" || told === "limits") {
    return [text(`${name}.low`, `Lower bound${needed ? "" : " (if any)"}`, told === "limits" ? "The smallest possible value, known without looking: a number or a day (2026-01-01)." : "The smallest possible value, known without looking."), text(`${name}.high`, `Upper bound${needed ? "" : " (if any)"}`, "The largest possible value.")];
  }
  if (told === "columns") {
    const id = `data-${name}-said`;
    const first = file.columns.slice(0, 2).map((column) => `${column.name}=…`).join("\n");
    return [h("div", { class: "field tall" }, h("label", { for: id }, words),
      h("textarea", { id, name, rows: 5, spellcheck: "false", placeholder: first, "aria-describedby": `${id}-hint` }),
      h("p", { class: "hint", id: `${id}-hint` }, "A line for each: sex=f,m for categories, age=0:18:65:120 for bins between these edges, age=0:120/12 for 12 equal bins, joined=2026-01-01:2026-12-31/month for months; with + at the end, others apart."))];
  }
  return [text(name, words, help)];
}

/** Whether enough is said to ask for advice. */
const chosen = () => (question.column ? field("column").value : question.arguments.every(({ name, needed }) => !needed || field(name).value.trim()));

function asked() {
  const told = {};
  for (const each of $("data-form").elements) {
    if (!each.name) continue;
    if (each.type === "checkbox") told[each.name] = each.checked;
    else told[each.name] = each.value.trim();
  }
  return told;
}

/** Whatever is shown belongs to an earlier question: it goes. */
function nothing() {
  asking?.abort();
  clearTimeout(timer);
  shown = null;
  $("data-answer").hidden = true;
  $("data-picture").replaceChildren();
  $("data-advice").textContent = "";
  $("data-lines").hidden = true;
  document.body.dataset.told = document.body.dataset.advised = "";
  for (const each of $("data-form").elements) each.removeAttribute("aria-invalid");
}

function changed() {
  nothing();
  if (!chosen()) {
    $("data-advice").textContent = question.column ? "Choose a column." : "Say which columns.";
    return;
  }
  $("data-advice").textContent = "How wrong it would be is being computed …";
  timer = setTimeout(advise, PAUSE);
}

async function advise() {
  const own = (asking = new AbortController());
  try {
    const told = await post(`page/files/${file.number}/advice`, asked(), own.signal);
    if (own.signal.aborted) return;
    const unit = told.percent ? " of everybody" : told.unit && ` ${told.unit}`;
    const error = told.percent ? `${number(100 * told.off)}%` : number(told.off);
    const fits = told.fits ? `It would take ${percent(told.share)} of the ledger.` : "The ledger does not pay for it any more.";
    const of = told.people === null ? "" : ` of ${told.people.toLocaleString("en")} people,`;
    const off = told.off === null ? "how wrong it is depends on how many people there are" : `typically off by ${error}${unit}`;
    $("data-advice").textContent = `Best is ${told.protocol}:${of} ${off}. ${fits} Nothing is spent until you ask.`;
    lines(told);
    document.body.dataset.advised = "yes";
  } catch (problem) {
    if (problem.name !== "AbortError" && !own.signal.aborted) refused(problem, "data-advice");
  }
}

function refused(problem, place) {
  $(place).textContent = sentence(problem.message);
  const wrong = problem.field && (field(problem.field) ?? field(`${problem.field}.low`));
  wrong?.setAttribute?.("aria-invalid", "true");
}

function lines({ command, python }) {
  shown = { command, python };
  $("data-command").textContent = command;
  $("data-python").textContent = python;
  $("data-lines").hidden = false;
}

async function answer(event) {
  event.preventDefault();
  if (!file || !chosen()) {
    changed();
    (question.column ? field("column") : $("data-arguments").querySelector("textarea, input")).focus();
    return;
  }
  nothing();
  const own = (asking = new AbortController());
  const typed = asked();
  say("Your question is being answered …");
  $("data-ask").disabled = true;
  try {
    const told = await post(`page/files/${file.number}/answer`, typed, own.signal);
    ledger(told.ledger);
    if (own.signal.aborted) {
      say("A question was answered and charged, and the form asks another by now.");
      return;
    }
    show(told);
    say(`${file.name} is open.`);
  } catch (problem) {
    if (own.signal.aborted) return;
    say(`${file.name} is open.`);
    refused(problem, "data-advice");
    $("data-advice").scrollIntoView({ block: "nearest" });
  } finally {
    $("data-ask").disabled = false;
  }
}

function show(told) {
  $("data-asked").textContent = told.asked;
  $("data-value").textContent = told.value;
  $("data-value").hidden = $("data-interval").hidden = !told.value;
  $("data-interval").textContent = told.interval;
  const tables = told.sheets.map(({ title, headings, rows, figures }) => [h("h3", {}, title), sheet(headings, rows, figures)]);
  if (told.rows.length) tables.push(sheet(["", "answer", "95% interval"], told.rows, [1, 2]));
  $("data-rows").replaceChildren(...tables.flat());
  slide(told);
  $("data-rules").textContent = told.rules;
  $("data-guarantee").textContent = [told.note && sentence(told.note), told.guarantee].filter(Boolean).join(" ");
  $("data-answer").hidden = false;
  lines(told);
  picture(told);
  document.body.dataset.told = String(told.number);
  $("data-asked").focus({ preventScroll: true });
  $("data-answer").scrollIntoView({ block: "nearest" });
}

const sheet = (headings, rows, figures) => {
  const side = (at) => (figures.includes(at) ? { class: "number" } : {});
  return h("div", { class: "sheet" }, h("table", {},
    h("thead", {}, h("tr", {}, headings.map((heading, at) => h("th", { scope: "col", ...side(at) }, heading)))),
    h("tbody", {}, rows.map(([first, ...rest]) => h("tr", {}, h("th", { scope: "row" }, first), rest.map((cell, at) => h("td", side(at + 1), cell)))))));
};

/** A curve with its band; a slider goes along it, and what lies below it is told in words. */
function slide({ curve, asked }) {
  $("data-curve").hidden = !curve;
  if (!curve) return;
  const { people, stops } = curve;
  const range = $("data-slider");
  range.max = stops.length - 1;
  range.value = stops.findIndex(({ below }) => below >= people / 2);
  const figure = new Figure($("data-cumulative"), "curve", asked, "The line is the part of the people below a value; the band around it covers all of the line at once (95%).");
  const move = () => {
    const { text, below, low, high } = stops[range.value];
    const [least, most] = [Math.max(0, low), Math.min(people, high)];
    const words = `${whole(below)} of ${whole(people)} people (${(100 * below / people).toFixed(1)}%) lie below ${text}; 95% interval ${whole(least)} to ${whole(most)}`;
    $("data-below").textContent = `${words}.`;
    range.setAttribute("aria-valuetext", words);
    figure.show((width) => cumulative(width, curve, Number(range.value), words));
  };
  range.oninput = move;
  move();
}

/** Drawn by the server for both themes; until it has come, the page says that it is being drawn. */
function picture(told) {
  const of = `page/files/${file.number}/pictures/${told.number}`;
  const waiting = h("p", { class: "status" }, "The picture is being drawn …");
  const image = h("img", { src: `${of}/light`, alt: `${told.asked} ${told.value || told.rows.map(([name, value]) => `${name} ${value}`).join(", ")}` });
  image.addEventListener("load", () => {
    waiting.remove();
    image.dataset.drawn = "yes";
  });
  image.addEventListener("error", () => waiting.replaceChildren("There is no picture: it needs pip install 'headcount[plots]'."));
  $("data-picture").replaceChildren(waiting, h("picture", {}, h("source", { srcset: `${of}/dark`, media: "(prefers-color-scheme: dark)" }), image));
}

function ledger(told) {
  $("data-budget").textContent = `${percent(told.spent)} of ${told.budget} is spent (kept ${told.kept}).`;
  $("data-spent").value = told.spent;
  $("data-spent").textContent = percent(told.spent);
  $("data-outlook").textContent = `${told.outlook}.`;
  $("data-charges").replaceChildren(...told.charges.map(({ asks, epsilon, spent }) => h("li", {}, `${asks}, ε=${number(epsilon)}: ${percent(spent)} spent by then`)));
}

const copy = (what, text) => async () => {
  $("data-taken").textContent = (await copied(text())) ? `${what} copied.` : text();
};

export async function begin({ files }) {
  const zone = $("data-drop");
  $("data-file").addEventListener("change", ({ target }) => target.files.length && take(target.files[0]));
  for (const name of ["dragenter", "dragover"]) {
    addEventListener(name, (event) => {
      if (![...(event.dataTransfer?.types ?? [])].includes("Files") || $("view-data").hidden) return;
      event.preventDefault();
      zone.classList.add("over");
    });
  }
  addEventListener("dragleave", (event) => event.relatedTarget ?? zone.classList.remove("over"));
  addEventListener("drop", (event) => {
    if (!event.dataTransfer?.files.length || $("view-data").hidden) return;
    event.preventDefault();
    zone.classList.remove("over");
    take(event.dataTransfer.files[0]);
  });
  $("data-form").addEventListener("submit", answer);
  $("data-form").addEventListener("input", (event) => (["task", "by", "unit"].includes(event.target.name) ? choose() : changed()));
  $("data-copy-command").addEventListener("click", copy("The command is", () => shown.command));
  $("data-copy-python").addEventListener("click", copy("The Python is", () => shown.python));
  $("data-save-plan").addEventListener("click", async () => {
    try {
      const { file: plan, command } = await post(`page/files/${file.number}/plan`, asked());
      saved("plan.json", "application/json", plan);
      $("data-taken").textContent = `Made for this file, it answers once more: ${command}`;
    } catch (problem) {
      $("data-taken").textContent = sentence(problem.message);
    }
  });
  if (files) open(await ask("GET", `page/files/${files - 1}`));
}
