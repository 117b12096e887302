// An operator's collections, as far as this party may see them. The token stays in this tab.

import { $, ask, askText, h, number, saved, sentence, whole } from "./dom.js";
import { bars } from "./charts.js";
import { Rounds } from "./series.js";

const KEPT = "headcount token";
const OFTEN = { shuffler: 3000, analyser: 10_000 }; // milliseconds between looks
const DRAWN = 100; // categories in a picture, at most
const DEMONSTRATION = /^demonstration visit \d+$/; // as the populations of visitors are called
let party = "";
let token = sessionStorage.getItem(KEPT) ?? "";
let timer = 0;
const drawn = new Map(); // by name: what an element was made of, and the element
const fixed = new Map(); // by address: what never changes

const WORDS = {
  open: "open for reports", sealed: "sealed", shuffled: "mixed", delivered: "delivered to the analyser", purged: "delivered, and forgotten here",
  receiving: "arriving", claimed: "paid for, being counted", released: "released", closed: "closed",
  refused: "refused: too few reports are sure to be whole", expired: "expired: its key is gone", awaited: "awaited",
};
const get = (path) => ask("GET", path, undefined, { token });
const facts = (all) => h("dl", { class: "facts" }, Object.entries(all).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
const moment = (seconds) => new Date(1000 * seconds).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
const id = (name) => h("code", { title: name }, name.slice(0, 12));
const demonstrations = h("details", {}, h("summary", {}), h("div", {}));
const forget = h("button", { type: "button", class: "quiet", onclick: () => leave() }, "Forget the token");

export function begin(about) {
  party = about.party;
  $("collections-lead").textContent = party === "shuffler"
    ? "How far the batches at this shuffler are. Answers are released at the analyser, and shown on its page."
    : "What has been spent, and the answers. Reports arrive at the shuffler, whose page shows how many have come.";
  if (token) look();
  else login();
}

/** Whenever this part is shown again: meanwhile it did not look. */
export function shown() {
  if (token) look();
}

function login(words = "") {
  clearTimeout(timer);
  const field = h("input", {
    type: "password", id: "token", autocomplete: "off", spellcheck: "false", "aria-invalid": String(words !== ""), "aria-describedby": "token-problem token-hint",
  });
  const form = h("form", {
    class: "login",
    onsubmit: (event) => {
      event.preventDefault();
      token = field.value.trim();
      if (/^[\x21-\x7e]+$/.test(token)) look();
      else leave("This is not a token: it has letters, digits and signs of ASCII only. Copy it again.");
    },
  }, h("label", { for: "token" }, `The operator’s token of this ${party}`, field), h("button", { class: "main" }, "Look"));
  $("collections").replaceChildren(form,
    h("p", { class: "error", role: "alert", id: "token-problem" }, words),
    h("p", { class: "status", id: "token-hint" }, "It is kept in this tab only, and sent to this party only. In a trial, both tokens stand in desk.json in its folder."));
}

function leave(words = "") {
  token = "";
  sessionStorage.removeItem(KEPT);
  drawn.clear();
  fixed.clear();
  login(words);
  $("token").focus();
}

async function look() {
  clearTimeout(timer);
  const own = token;
  try {
    const { collections } = await get("v1/collections");
    const cards = await (party === "shuffler" ? Promise.all(collections.map(atShuffler)) : atAnalyser(collections));
    if (token !== own) return;
    sessionStorage.setItem(KEPT, token); // now that it has served
    draw(cards);
    clearTimeout(timer);
    if (!$("view-collections").hidden) timer = setTimeout(look, OFTEN[party]);
  } catch (refusal) {
    if (token !== own) return;
    if (refusal.status === 401 || refusal.status === 403) leave(sentence(refusal.message));
    else {
      placed($("collections"), [
        h("p", { class: "error", role: "alert" }, sentence(refusal.message)), h("p", {}, h("button", { type: "button", onclick: look }, "Try again")), forget,
      ]);
    }
  }
}

/** Those of visitors stand behind an operator's own. */
function draw(cards) {
  const [own, visits] = [cards.filter(({ of }) => !DEMONSTRATION.test(of)), cards.filter(({ of }) => DEMONSTRATION.test(of))];
  const none = same("none", "", () => h("p", {}, "There are no collections yet. Make one: ", h("code", {}, "headcount collection create PLAN --data DIR --question …")));
  demonstrations.firstChild.textContent = visits.length === 1 ? "One demonstration visit" : `${visits.length} demonstration visits`;
  placed(demonstrations.lastChild, visits.map(({ element }) => element));
  const collections = own.some(({ element }) => element.dataset.collection);
  placed($("collections"), [...own.map(({ element }) => element), ...(collections ? [] : [none]), ...(visits.length ? [demonstrations] : []), forget]);
}

/** Only what is new is put there: focus, selection and whatever was opened stay where nothing has changed. */
function placed(parent, wanted) {
  for (const each of [...parent.children]) if (!wanted.includes(each)) each.remove();
  wanted.forEach((each, at) => parent.children[at] !== each && parent.insertBefore(each, parent.children[at] ?? null));
}

/** An element made of these data: the one there is, if they are the same. */
function same(name, data, make) {
  const text = JSON.stringify(data);
  if (drawn.get(name)?.text !== text) drawn.set(name, { text, element: make(data) });
  return drawn.get(name).element;
}

/** What is asked for once, since it never changes. */
async function once(path, work) {
  if (!fixed.has(path)) fixed.set(path, await work(path));
  return fixed.get(path);
}

async function atShuffler(name) {
  const { collection } = await once(`v1/collections/${name}`, get);
  const state = await get(`v1/collections/${name}/state`);
  return { of: collection.population, element: same(name, state, () => underWay(name, collection, state)) };
}

function underWay(name, collection, { batches, least }) {
  const { plan } = collection;
  return h("section", { class: "step", "data-collection": name }, h("h2", {}, collection.question),
    facts({
      collection: id(name), asks: plan.task.name, protocol: plan.protocol, population: collection.population,
      epsilon: number(plan.budget.epsilon), delta: number(plan.budget.delta),
    }),
    batches.map((batch) => h("div", { class: "batch" }, howFar(batch, least, collection.batches))));
}

const nobody = (added) => (added ? `, and ${whole(added)} of nobody to fill it up` : "");

function howFar({ batch, state, reports, added, closes }, least, last) {
  const name = `Batch ${batch} of ${last}`;
  if (state === "purged" && reports + added < least) return h("p", {}, h("b", {}, `${name}: destroyed unread`), ` · fewer reports came than ${whole(least)}`);
  const words = state === "open" ? `${whole(reports)} reports of at least ${whole(least)}` : `${whole(reports)} reports${nobody(added)}`;
  return [
    h("p", {}, h("b", {}, `${name}: ${WORDS[state] ?? state}`), ` · ${words}`, closes ? ` · closes ${moment(closes)}` : ""),
    state === "open" && h("progress", { max: least, value: Math.min(reports, least), "aria-label": `${name}: ${words}` }),
  ];
}

async function atAnalyser(names) {
  const [{ populations }, states] = await Promise.all([get("v1/populations"), Promise.all(names.map((name) => get(`v1/collections/${name}`)))]);
  const own = populations.filter(({ population }) => !DEMONSTRATION.test(population));
  const spent = same("spent", own, () => h("section", {},
    h("h2", {}, "What has been spent"), own.length ? spending(own) : h("p", {}, "No population has a budget yet."), h("h2", {}, "Answers")));
  const cards = states.map(async (state) => {
    const releases = await Promise.all(state.batches.map(({ batch, state: far }) => far === "released" && once(release(state.collection, batch), text)));
    const batchwise = same(state.collection, state, () => h("div", {}, batches(state, releases)));
    return { of: state.population, element: await (state.rounds > 1 ? inRounds(state, batchwise) : answers(state, batchwise)) };
  });
  return [{ of: "", element: spent }, ...(await Promise.all(cards))];
}

function spending(populations) {
  const head = ["population", "epsilon, delta", "spent of it", "left (promised)"];
  return h("table", { class: "modest" },
    h("thead", {}, h("tr", {}, head.map((words, at) => h("th", { scope: "col", class: at ? "number" : "" }, words)))),
    h("tbody", {}, populations.map((each) => h("tr", {}, h("th", { scope: "row" }, each.population),
      [`${number(each.epsilon)}, ${number(each.delta)}`, percent(each.spent, Math.ceil), `${percent(each.remaining, Math.floor)} (${percent(each.promised, Math.ceil)})`].map((told) => h("td", { class: "number" }, told))))));
}

/** A share of the budget: of what is spent rounded up, of what is left rounded down. */
const percent = (share, rounded) => `${rounded(1000 * share) / 10}%`;

const release = (name, batch) => `v1/collections/${name}/batches/${batch}/release`;
const text = (path) => askText("POST", path, undefined, { token });

function answers(asked, batchwise) {
  return same(`answers ${asked.collection}`, asked, ({ collection, question, task, population, epsilon, delta }) => h("section", { class: "step", "data-collection": collection }, h("h3", { class: "question", tabindex: -1 }, question),
    facts({ collection: id(collection), asks: task, population, epsilon: number(epsilon), delta: number(delta) }), batchwise));
}

function batches(asked, releases) {
  if (!asked.batches.length) return h("p", {}, "No batch has been delivered yet. One that is destroyed for too few reports never comes.");
  const { collection, last } = asked;
  return asked.batches.map(({ batch, state, reports, added }, at) => h("div", { class: "batch" },
    h("p", {}, h("b", {}, `Batch ${batch} of ${last}: ${state === "purged" ? "destroyed unread by the shuffler" : WORDS[state] ?? state}`),
      state === "purged" ? "" : ` · ${whole(reports - added)} reports${nobody(added)}`),
    state === "released" ? released(releases[at], collection, batch) : state === "delivered" || state === "claimed" ? releasing(asked, batch) : null));
}

/** Of a collection in rounds the series comes first; its batches one by one are behind it, where asked for. */
async function inRounds({ collection, question, task, population, epsilon, delta, last, rounds, batches: come }, batchwise) {
  const card = same(`rounds ${collection}`, null, () => {
    const series = new Rounds(collection, question, token);
    const each = h("details", {}, h("summary", {}, "Its batches, one by one"), h("div", {}));
    const far = h("p", { role: "status" });
    const promise = { "epsilon, all rounds": number(epsilon), "delta, all rounds": number(delta), "rounds paid for": whole(rounds) };
    const element = h("section", { class: "step", "data-collection": collection }, h("h3", { class: "question", tabindex: -1 }, question),
      facts({ collection: id(collection), asks: task, population, ...promise }), far, series.element, each);
    return { element, series, far, each };
  });
  const released = come.filter(({ state }) => state === "released").map(({ batch }) => batch);
  const words = `${whole(released.length)} of ${whole(last)} rounds are released.`;
  if (card.far.textContent !== words) card.far.textContent = words;
  placed(card.each.lastChild, [batchwise]);
  await card.series.update(released);
  return card.element;
}

const left = (name) => get("v1/populations").then(({ populations }) => populations.find(({ population }) => population === name).remaining).catch(() => null);

/** Pressed twice: the first time it says what that costs. */
function releasing({ collection: name, population, epsilon }, batch) {
  const words = h("p", { role: "status" });
  const button = h("button", {
    type: "button",
    onclick: async () => {
      if (!button.dataset.sure) {
        button.dataset.sure = "yes";
        button.textContent = "Release it, for good";
        const rest = await left(population);
        const told = rest === null ? "" : `, and ${percent(rest, Math.floor)} of its budget is left`;
        words.textContent = `This was paid for by “${population}” when it was delivered: the plan has epsilon ${number(epsilon)}${told}. ` +
          "The answer is the same whenever it is asked for again.";
        return;
      }
      button.disabled = true;
      try {
        await once(release(name, batch), text);
        await look();
        document.querySelector(`[data-collection="${name}"] h3`)?.focus();
      } catch (refusal) {
        words.textContent = sentence(refusal.message);
        button.disabled = false;
        button.focus();
      }
    },
  }, "Release the answer …");
  return h("div", {}, button, words);
}

function released(file, collection, batch) {
  const told = JSON.parse(file);
  const { estimate } = told;
  const cells = (estimate.cells ?? [estimate]).map((cell) => ({
    label: cell.label ?? cell.category ?? estimate.task, value: cell.value, low: cell.interval95[0], high: cell.interval95[1],
  }));
  const largest = cells.length > DRAWN ? [...cells].sort((a, b) => b.value - a.value).slice(0, DRAWN) : cells;
  const room = h("div", { class: "room" });
  new ResizeObserver(() => room.clientWidth > 100 && room.replaceChildren(bars(room.clientWidth, largest, `${told.question}: estimates with their 95% intervals`))).observe(room);
  const about = estimate.clipped_to ? ` of values clipped to [${estimate.clipped_to.join(", ")}]` : "";
  const single = estimate.cells ? null : h("p", { class: "question" }, `${number(estimate.value)}${about}, and 19 times in 20 between ${number(estimate.interval95[0])} and ${number(estimate.interval95[1])}`);
  const name = `release-${collection.slice(0, 12)}-${batch}.json`;
  return h("div", {}, single, room,
    largest !== cells && h("p", {}, `The ${DRAWN} largest of ${whole(cells.length)}; the file holds them all.`),
    facts({ people: whole(told.people), protocol: estimate.protocol }),
    h("button", { type: "button", onclick: () => saved(name, "application/json", file) }, "Download the release"),
    h("details", {}, h("summary", {}, "Certificate"),
      h("p", {}, "Whoever has the file can prove the guarantee again: ", h("code", {}, `headcount verify ${name}`), `. Signed by ${told.analyser.slice(0, 16)}….`),
      h("pre", { tabindex: 0, "aria-label": "The certificate" }, JSON.stringify(told.certificate, null, 1))));
}
