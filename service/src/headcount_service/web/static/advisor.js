// The advisor: what is asked is answered quickly, then wholly, then in pictures. The newest question wins.

import { $, copied, h, number, post, saved, sentence, TRUST } from "./dom.js";
import { curves, Figure, map } from "./charts.js";
import { caution, Form } from "./form.js";

const LATER = 1500; // milliseconds after which a server that is busy is asked again
const PAUSE = 60; // milliseconds after the last change, where changes come one upon another
const ROWS = 8;
const DRAWN = 6; // curves
const COMPARED = [100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000, 1000000];
const TRUTHS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000, 1000000];

let form;
let figures;
let asking = null; // what is under way
let thorough = Promise.resolve(); // the last question in the queue
let timer = 0;
let last = -Infinity; // when something changed
let answer = null;
let everything = false;

const amount = (value, { percent }) => (percent ? `${number(100 * value)}%` : number(value));

/** What an answer is counted in. */
const unit = ({ unit: words, percent, several }) => (percent ? " of everybody" : words && ` ${words}${several ? " in a category" : ""}`);

/** Between backticks there is code. */
const inWords = (text) => text.split("`").map((part, at) => (at % 2 ? h("code", {}, part) : part));

/** A line breaks before an option, never within it. */
const unbroken = (command) => command.split(/ (?=--)/).flatMap((part, at) => [at ? " " : "", h("span", { class: "whole" }, part)]);

function status(words, wrong = false) {
  $("status").textContent = words;
  $("status").classList.toggle("wrong", wrong);
  $("again").hidden = true;
}

/** What takes seconds is asked one after another; whoever is not wanted any more when its turn comes is not asked at all. */
function thoroughly(path, content, signal) {
  const turn = thorough.then(async () => {
    signal?.throwIfAborted();
    const told = await post(path, content);
    signal?.throwIfAborted();
    return told;
  });
  thorough = turn.catch(() => {});
  return turn;
}

/** A first change is answered at once, a slider that is being dragged when it rests. */
function changed(state) {
  clearTimeout(timer);
  asking?.abort();
  const dragged = performance.now() - last < 4 * PAUSE;
  last = performance.now();
  if (dragged) timer = setTimeout(() => answerTo({ ...state }), PAUSE);
  else answerTo({ ...state });
}

async function answerTo(state) {
  const own = (asking = new AbortController());
  const began = performance.now();
  for (const figure of Object.values(figures)) figure.wait();
  document.body.dataset.answered = document.body.dataset.drawn = document.body.dataset.quick = "";
  try {
    const soon = await post("page/quick", form.asked(state), own.signal);
    if (own.signal.aborted) return;
    show(soon, state);
    document.body.dataset.quick = String(Math.round(performance.now() - began));
    const all = await thoroughly("page/advice", form.asked(state), own.signal);
    show(all, state);
    document.body.dataset.answered = location.search;
    await pictures(state, all, own.signal);
    document.body.dataset.drawn = location.search;
  } catch (problem) {
    if (problem.name === "AbortError" || own.signal.aborted) return;
    if (problem.status === 503) {
      status("The server is busy; it is asked again in a moment.");
      timer = setTimeout(() => answerTo(state), LATER);
    } else {
      refused(problem, state);
    }
  }
}

function refused(problem, state) {
  answer = null;
  $("best").textContent = "No answer yet";
  $("best").parentElement.className = "best";
  $("best-figures").textContent = $("why").textContent = $("command").textContent = $("glance").textContent = "";
  $("caution").hidden = true;
  $("ranking").replaceChildren();
  $("lacking").hidden = true;
  for (const figure of Object.values(figures)) figure.figure.hidden = true;
  status(form.refused(problem), true);
  $("again").hidden = problem.status >= 400 && problem.status < 500;
  $("again").onclick = () => {
    $("main").focus({ preventScroll: true });
    answerTo(state);
  };
}

function show(told, state) {
  answer = { ...told, state };
  const question = form.question(state);
  const [first] = told.ranking;
  const waiting = told.waiting.length;
  const best = $("best").parentElement;
  best.className = `best${first ? ` of-${first.model}` : ""}`;
  if (first) {
    $("best").textContent = first.protocol;
    $("best-figures").replaceChildren(
      "typically off by ", h("b", {}, amount(first.rmse, question)), unit(question),
      ...(first.worst === null || first.worst === first.rmse ? [] : [" over the categories, ", h("b", {}, amount(first.worst, question)), " in the worst"]),
      ...(first.interval === null ? [] : ["; 19 times in 20 within ", h("b", {}, amount(first.interval, question))]),
      `. Trusted: ${TRUST[first.model]}.`);
  } else {
    $("best").textContent = waiting ? "…" : "Nobody can serve";
    $("best-figures").textContent = waiting ? "" : "Allow more trust, more people or a larger budget; below is what each of them lacks.";
  }
  $("glance").textContent = first ? `${first.protocol}, off by ${amount(first.rmse, question)}${unit(question)}` : $("best").textContent;
  $("caution").textContent = first ? caution(state) : "";
  $("caution").hidden = !$("caution").textContent;
  $("why").replaceChildren(...inWords(told.why ?? ""));
  $("command").replaceChildren(...unbroken(told.command ?? ""));
  status(waiting ? `Still being computed: ${told.waiting.join(", ")}, and intervals.` : "");
  table(answer);
  const lacking = told.lacking ?? [];
  $("lacking").hidden = !lacking.length;
  const many = lacking.reduce((sum, { protocols }) => sum + protocols.length, 0);
  $("lacking").querySelector("summary").textContent = `${many} more cannot serve here`;
  $("lacking").querySelector("ul").replaceChildren(...lacking.map(({ reason, protocols }) => h("li", {}, h("b", {}, protocols.join(", ")), ` ${reason}`)));
  if (!first && !waiting) $("lacking").open = true;
}

function table({ ranking, state }) {
  const question = form.question(state);
  if (!ranking.length) {
    $("ranking").replaceChildren();
    return;
  }
  const rows = everything ? ranking : ranking.slice(0, ROWS);
  const worst = rows.some((row) => row.worst !== null); // of a histogram: the error is over all categories
  const cells = rows.map((row) => h("tr", { "data-protocol": row.protocol },
    h("th", { scope: "row" }, row.protocol, h("span", { class: `trust of-${row.model}` }, row.model)),
    h("td", { class: "number" }, amount(row.rmse, question)),
    worst && h("td", { class: "number wide" }, amount(row.worst, question)),
    h("td", { class: "number" }, row.interval === null ? "…" : `± ${amount(row.interval, question)}`),
    h("td", { class: "number" }, number(row.messages), row.proportionate ? null : h("span", { class: "trust-free" }, " too many")),
    h("td", { class: "wide" }, row.accounting, row.at_least === null ? null : `, ε ≥ ${Math.floor(1000 * row.at_least) / 1000}`)));
  const head = h("tr", {}, h("th", { scope: "col" }, "protocol"), h("th", { scope: "col", class: "number" }, "typical error"),
    worst && h("th", { scope: "col", class: "number wide" }, "worst category"),
    h("th", { scope: "col", class: "number" }, "95% interval"), h("th", { scope: "col", class: "number" }, "messages"),
    h("th", { scope: "col", class: "wide" }, "accounting"));
  const more = ranking.length > ROWS && h("button", {
    type: "button", class: "quiet", "aria-expanded": String(everything),
    onclick: () => { everything = !everything; table(answer); },
  }, everything ? "Show the best only" : `Show all ${ranking.length}`);
  $("ranking").replaceChildren(...[h("table", {}, h("thead", {}, head), h("tbody", {}, cells)), more].filter(Boolean));
}

/** The best of each model, and then the next best. */
function chosen(ranking) {
  const sensible = ranking.filter((row) => row.proportionate);
  const firsts = sensible.filter((row, at) => sensible.findIndex((other) => other.model === row.model) === at);
  const names = [...firsts, ...sensible.filter((row) => !firsts.includes(row))].slice(0, DRAWN).map((row) => row.protocol);
  return sensible.map((row) => row.protocol).filter((name) => names.includes(name));
}

async function pictures(state, { ranking }, signal) {
  const protocols = chosen(ranking);
  const { counts: counting } = form.question(state);
  figures.n.figure.hidden = figures.messages.figure.hidden = !protocols.length;
  figures.map.figure.hidden = !counting || !ranking.length;
  if (!protocols.length) return;
  await againstMessages(state, protocols, signal);
  await againstPeople(state, protocols, signal);
  if (counting) await whoWins(state, signal);
}

async function againstMessages(state, protocols, signal) {
  const { points } = await thoroughly("page/costs", { ...form.asked(state, { cap: null }), protocols }, signal);
  const found = protocols.map((protocol) => ({
    protocol, points: points.filter((point) => point.protocol === protocol).map((point) => [point.messages, point.rmse]).sort((a, b) => a[0] - b[0]),
  })).filter((curve) => curve.points.length);
  figures.messages.note(`What a person has to send for accuracy: every choice that the best protocols have.${state.cap ? " The dotted line is your limit." : ""}`);
  figures.messages.show((width) => curves(width, found, {
    label: `Error against messages a person of ${protocols.join(", ")}`, dots: true, now: state.cap, words: { x: "messages a person sends, on average", y: axis(form.question(state)) },
  }));
}

/** What a vertical axis shows. */
const axis = ({ unit: words, percent, several }) =>
  `typical error${several ? " over the categories" : ""}${percent ? ", as a fraction" : words && `, ${words}`}`;

async function againstPeople(state, protocols, signal) {
  const { ones = 0 } = form.asked(state);
  const near = COMPARED.filter((n) => n >= state.n / 100 && n <= state.n * 100);
  const sizes = [...new Set([...near.filter((_, at) => near.length < 9 || at % 2 === near.indexOf(state.n) % 2), state.n])].sort((a, b) => a - b);
  const found = new Map(protocols.map((protocol) => [protocol, []]));
  const draw = () => {
    const drawn = protocols.map((protocol) => ({ protocol, points: [...found.get(protocol)].sort((a, b) => a[0] - b[0]) })).filter((curve) => curve.points.length);
    figures.n.show((width) => curves(width, drawn, {
      label: `Error against the number of people of ${protocols.join(", ")}`, now: state.n, words: { x: "people", y: axis(form.question(state)) },
    }));
  };
  for (const n of sizes.sort((a, b) => Math.abs(Math.log(a / state.n)) - Math.abs(Math.log(b / state.n)))) {
    if (ones > n) continue;
    const { rmse } = await thoroughly("page/errors", { ...form.asked(state, { n }), protocols }, signal);
    for (const [protocol, error] of Object.entries(rmse)) found.get(protocol).push([n, error]);
    draw();
  }
}

async function whoWins(state, signal) {
  const columns = [];
  const sizes = COMPARED;
  for (const n of sizes) {
    columns.push(await thoroughly("page/column", { ...form.asked(state, { n, ones: null, cap: null }), truths: TRUTHS }, signal));
    figures.map.show((width) => map(width, columns, TRUTHS, sizes, state));
  }
}

function take(id, work) {
  $(id).addEventListener("click", async () => {
    $("taken").textContent = "";
    if (!answer?.ranking.length) {
      $("taken").textContent = "There is no answer to take yet.";
      return;
    }
    try {
      $("taken").textContent = await work(answer);
    } catch (problem) {
      $("taken").textContent = sentence(problem.message);
    }
  });
}

const copy = async (what, text) => ((await copied(text)) ? `${what} is copied.` : text);

export function begin({ form: described }) {
  figures = {
    messages: new Figure($("figure-messages"), "messages", "What accuracy costs in messages", ""),
    n: new Figure($("figure-n"), "people", "What more people are worth", "The best protocols, and the best of each kind of trust. The dotted line is where you are."),
    map: new Figure($("figure-map"), "map", "Who counts best", "By how many are asked and how many of them are a yes, whatever they send, each cell calibrated exactly. Pale: so few ones that “nobody” is as good an answer."),
  };
  for (const figure of Object.values(figures)) figure.figure.hidden = true;
  form = new Form($("question"), described, changed, (words) => status(words, true));
  $("question").append(h("p", { id: "glance", class: "glance", "aria-hidden": "true" }));
  $("copy-link").addEventListener("click", async () => {
    $("taken").textContent = await copy("The link", location.href);
  });
  take("copy-python", ({ python }) => copy("The Python", python));
  take("copy-command", ({ command }) => copy("The command", command));
  take("save-plan", async ({ state, ranking: [first] }) => {
    const { file } = await thoroughly("page/plan", { ...form.asked(state), protocol: first.protocol });
    saved(`${first.protocol}.plan.json`, "application/json", file);
    return `Carry it out: headcount run ${first.protocol}.plan.json FILE --column COLUMN`;
  });
  take("save-json", async ({ state }) => {
    $("taken").textContent = "Computing what else there is to say …";
    const { advice } = await thoroughly("page/complete", form.asked(state));
    saved("headcount-advice.json", "application/json", JSON.stringify(advice, null, 1));
    return "As headcount advise --format json prints it.";
  });
  answerTo({ ...form.state });
}
