// An operator's collections, as far as this party may see them. The token stays in this tab.

import { $, ask, h, number } from "./dom.js";
import { bars } from "./charts.js";

const KEPT = "headcount token";
const OFTEN = 3000;
let party = "";
let token = sessionStorage.getItem(KEPT) ?? "";
let timer = 0;

const WORDS = {
  open: "open for reports", sealed: "sealed", shuffled: "mixed", delivered: "delivered to the analyser", purged: "done, and forgotten here",
  receiving: "arriving", claimed: "paid for, being counted", released: "released", closed: "closed",
};
const get = (path) => ask("GET", path, undefined, { token });

export function begin(about) {
  party = about.party;
  $("collections-lead").textContent = party === "shuffler"
    ? "How far the batches at this shuffler are. Answers are released at the analyser, and shown on its page."
    : "What has been spent, and the answers. Reports arrive at the shuffler, whose page shows how many have come.";
  if (token) look();
  else login();
}

function login(words = "") {
  clearTimeout(timer);
  const field = h("input", { type: "password", id: "token", autocomplete: "off", spellcheck: "false", "aria-describedby": "token-hint" });
  const form = h("form", {
    class: "login",
    onsubmit: (event) => {
      event.preventDefault();
      token = field.value.trim();
      sessionStorage.setItem(KEPT, token);
      look();
    },
  }, h("label", { for: "token" }, `The operator’s token of this ${party}`, field), h("button", { class: "main" }, "Look"));
  $("collections").replaceChildren(form,
    h("p", { class: "status", id: "token-hint" }, "It is kept in this tab only, and sent to this party only. In a trial, both tokens stand in desk.json in its folder."),
    ...(words ? [h("p", { class: "error", role: "alert" }, words)] : []));
}

function leave() {
  token = "";
  sessionStorage.removeItem(KEPT);
  login();
}

async function look() {
  clearTimeout(timer);
  try {
    const { collections } = await get("v1/collections");
    const shown = party === "shuffler" ? await Promise.all(collections.map(atShuffler)) : await atAnalyser(collections);
    const none = h("p", {}, "There are no collections yet. Make one: ", h("code", {}, "headcount collection create PLAN --data DIR --question …"));
    $("collections").replaceChildren(...(collections.length ? shown.flat() : [...shown.flat(), none]),
      h("button", { type: "button", class: "quiet", onclick: leave }, "Forget the token"));
    if (party === "shuffler" && !$("view-collections").hidden) timer = setTimeout(look, OFTEN);
  } catch (refusal) {
    if (refusal.status === 401 || refusal.status === 403) {
      sessionStorage.removeItem(KEPT);
      login(`${refusal.message.charAt(0).toUpperCase()}${refusal.message.slice(1)}.`);
    } else {
      $("collections").replaceChildren(h("p", { class: "error", role: "alert" }, refusal.message), h("button", { type: "button", onclick: look }, "Try again"));
    }
  }
}

const facts = (all) => h("dl", { class: "facts" }, Object.entries(all).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
const moment = (seconds) => new Date(1000 * seconds).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });

async function atShuffler(name) {
  const [{ collection }, state] = await Promise.all([get(`v1/collections/${name}`), get(`v1/collections/${name}/state`)]);
  const { plan } = collection;
  const batches = state.batches.map((batch) => {
    const words = `${number(batch.reports)} reports of at least ${number(state.least)}`;
    return h("div", { class: "batch" },
      h("p", {}, h("b", {}, `Batch ${batch.batch}: ${WORDS[batch.state] ?? batch.state}`), ` · ${words}`, batch.added ? ` (and ${number(batch.added)} of nobody)` : "",
        batch.closes ? ` · closes ${moment(batch.closes)}` : ""),
      h("progress", { max: state.least, value: Math.min(batch.reports, state.least), "aria-label": `Batch ${batch.batch}: ${words}` }));
  });
  return h("section", { class: "step", "data-collection": name }, h("h2", {}, collection.question),
    facts({ collection: name.slice(0, 12), asks: plan.task.name, protocol: plan.protocol, population: collection.population, epsilon: number(plan.budget.epsilon), delta: number(plan.budget.delta) }),
    batches);
}

async function atAnalyser(names) {
  const { populations } = await get("v1/populations");
  const spent = h("section", {}, h("h2", {}, "What has been spent"), h("table", {},
    h("thead", {}, h("tr", {}, ["population", "epsilon in all", "spent", "left"].map((words, at) => h("th", { scope: "col", class: at ? "number" : "" }, words)))),
    h("tbody", {}, populations.map((each) => h("tr", {}, h("th", { scope: "row" }, each.population),
      [each.epsilon, each.spent, each.remaining].map((value) => h("td", { class: "number" }, number(value))))))));
  const states = await Promise.all(names.map((name) => get(`v1/collections/${name}`)));
  return [spent, h("h2", {}, "Answers"), ...(await Promise.all(states.map(answers)))];
}

async function answers({ collection, population, batches }) {
  const parts = await Promise.all(batches.map(async ({ batch, state, reports }) => {
    const head = h("p", {}, h("b", {}, `Batch ${batch}: ${WORDS[state] ?? state}`), ` · ${number(reports)} reports`);
    if (state === "released") return [head, release(await answer(collection, batch))];
    return state === "delivered" || state === "claimed" ? [head, releasing(collection, batch, population)] : [head];
  }));
  return h("section", { class: "step", "data-collection": collection }, h("h3", {}, `Collection ${collection.slice(0, 12)}`),
    batches.length ? parts : h("p", {}, "No batch has been delivered yet."));
}

const answer = (name, batch) => ask("POST", `v1/collections/${name}/batches/${batch}/release`, undefined, { token });

/** Pressed twice: the first time it says what that costs. */
function releasing(name, batch, population) {
  const words = h("p", { role: "status" });
  const button = h("button", {
    type: "button",
    onclick: async () => {
      if (!button.dataset.sure) {
        button.dataset.sure = "yes";
        button.textContent = "Release it, and spend the budget";
        words.textContent = `This is paid for by “${population}”, once. The answer is the same whenever it is asked for again.`;
        return;
      }
      button.disabled = true;
      try {
        await answer(name, batch);
        look();
      } catch (refusal) {
        words.textContent = refusal.message;
        button.disabled = false;
      }
    },
  }, "Release the answer …");
  return h("div", {}, button, words);
}

function release(told) {
  const { estimate } = told;
  const cells = (estimate.cells ?? [estimate]).map((cell) => ({
    label: cell.label ?? cell.category ?? estimate.task, value: cell.value, low: cell.interval95[0], high: cell.interval95[1],
  })).slice(0, 60);
  const room = h("div", { class: "room" });
  new ResizeObserver(() => room.clientWidth > 100 && room.replaceChildren(bars(room.clientWidth, cells, `${told.question}: estimates with their 95% intervals`))).observe(room);
  const single = estimate.cells ? null : h("p", { class: "question" }, `${number(estimate.value)}, and 19 times in 20 between ${number(estimate.interval95[0])} and ${number(estimate.interval95[1])}`);
  return h("div", {}, h("p", { class: "question" }, told.question), single, room,
    facts({ people: number(told.people), protocol: estimate.protocol, epsilon: number(estimate.epsilon), delta: number(estimate.delta) }),
    h("details", {}, h("summary", {}, "Certificate"),
      h("p", {}, "Whoever has it can prove the guarantee again: ", h("code", {}, "headcount verify FILE"), `. Signed by ${told.analyser.slice(0, 16)}….`),
      h("pre", { tabindex: 0, "aria-label": "The certificate" }, JSON.stringify(told.certificate, null, 1).slice(0, 6000))));
}
