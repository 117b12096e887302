// A questionnaire to try: the answer is randomised and sealed here, and only that is sent.

import { ask, h, number, post, sentence } from "./dom.js";
import { bars } from "./charts.js";
import { Client, MemoryStore, receiptText } from "./client.js";

const OFTEN = 400; // milliseconds between looks
const $ask = document.getElementById("ask");
const here = () => location.origin;

/** What a device keeps, and the report as it was made: once it is taken, nothing is kept of it but a receipt. */
class Watched extends MemoryStore {
  async put(name, content) {
    this.made ??= content;
    await super.put(name, content);
  }
}

const step = (title, ...content) => h("section", { class: "step" }, h("h2", { tabindex: -1 }, title), content);
const facts = (all) => h("dl", { class: "facts" }, Object.entries(all).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));

/** What went wrong, once, and how to go on. */
function problem(place, refusal) {
  place.querySelector(".problem")?.remove();
  const lost = refusal.status === 404; // the server was started anew, and knows nothing of this visit
  place.append(h("div", { class: "problem" },
    h("p", { class: "error", role: "alert" }, lost ? "This visit is not known any more." : sentence(refusal.message)),
    h("button", { type: "button", onclick: again }, "Start again")));
}

async function again() {
  await begin();
  $ask.querySelector("h2")?.focus();
}

export async function begin() {
  $ask.replaceChildren(h("p", { role: "status" }, "A collection is being agreed on …"));
  try {
    const visit = await post("page/visits");
    const client = new Client(new Watched(), { colluding: Infinity }); // which is said before anybody answers
    const { plan } = await client.look(here(), visit.collection, { hash: visit.hash });
    question(visit, client, plan);
  } catch (refusal) {
    $ask.replaceChildren();
    problem($ask, refusal);
  }
}

function question(visit, client, plan) {
  const choose = async (answer) => {
    for (const button of buttons) button.disabled = true;
    try {
      const receipt = await client.report(here(), visit.collection, answer, { hash: visit.hash });
      first.querySelector(".problem")?.remove();
      for (const button of buttons) button.remove();
      first.append(h("p", {}, "You have answered. Your answer itself was sent to nobody, and this page does not keep it."));
      left(visit, receipt, JSON.parse(client.store.made));
    } catch (refusal) {
      problem(first, refusal);
      for (const button of buttons) button.disabled = false;
    }
  };
  const buttons = [["Yes", true], ["No", false]].map(([words, answer]) => h("button", { type: "button", class: "main", onclick: () => choose(answer) }, words));
  const first = step("1. You answer",
    h("p", { class: "question" }, visit.question),
    h("p", {}, `Your answer will be hidden among those of ${visit.people - 1} simulated people. Unless the shuffler and the analyser work together, ` +
      `whatever anybody learns is at most ${number(Math.exp(plan.epsilon))} times as likely with a yes as with a no. ` +
      (plan.colluding === null ? "If these two work together, they learn your answer: answer only if you agree to that." : "")),
    h("p", {}, "In earnest these are two parties on two machines. In this demonstration one process is both, so do not tell it a secret."),
    h("div", { class: "buttons" }, buttons));
  $ask.replaceChildren(first);
}

function left(visit, receipt, kept) {
  const messages = kept.messages.map((each, at) => `message ${at + 1}: ${each}`).join("\n");
  const watch = h("button", { type: "button", class: "main", onclick: () => { watch.remove(); crowd(visit); } }, "Let the others answer");
  const seen = step("2. What has left your browser",
    facts({
      "sealed messages": String(receipt.messages), "bytes in all": number(receipt.bytes), "odds given away": `${number(Math.exp(receipt.epsilon))} : 1`,
      "chance that it fails": number(receipt.delta),
    }),
    h("p", {}, "Everybody sends exactly as many messages of exactly this length. Some of yours may be dummies, and some noise: " +
      "the analyser, who opens them all, one by one and mixed with the others’, still cannot tell what you said. " +
      "The shuffler knows which are yours, and cannot open them."),
    h("details", {}, h("summary", {}, "Every byte of it"),
      h("pre", { tabindex: 0, "aria-label": "What was sent" }, `${messages}\n\nall of it once more, sealed to the shuffler:\n${kept.body}`)),
    h("h3", {}, "Your receipt"), h("pre", { id: "receipt", tabindex: 0, "aria-label": "Your receipt" }, receiptText(receipt)),
    watch);
  $ask.append(seen);
  seen.querySelector("h2").focus();
}

const STATES = { reporting: "Devices report", counting: "Sealed, mixed, delivered, opened and counted …", released: "Released" };

async function crowd(visit) {
  const bar = h("progress", { max: visit.people, value: 1, "aria-label": "Reports" });
  const words = h("p", {}, "The others answer …");
  const room = h("div", { role: "status" }, bar, words);
  const third = step("3. Everybody together", room);
  $ask.append(third);
  third.querySelector("h2").focus();
  try {
    let told = await post(`page/visits/${visit.collection}/crowd`);
    while (told.state !== "released" && told.state !== "failed") {
      bar.value = told.reports;
      words.textContent = told.state === "reporting" ? `${STATES.reporting}: ${told.reports} of ${told.people}` : STATES[told.state];
      await new Promise((wake) => setTimeout(wake, OFTEN));
      told = await ask("GET", `page/visits/${visit.collection}`);
    }
    if (told.state === "failed") throw new Error(told.problem);
    room.replaceChildren(...released(told));
    third.append(h("button", { type: "button", onclick: again }, "Answer again, in another crowd"));
    third.scrollIntoView({ block: "nearest" });
  } catch (refusal) {
    problem(third, refusal);
  }
}

function released({ release, yes, people, protocol, proof }) {
  const { estimate } = release;
  const [low, high] = estimate.interval95;
  const room = h("div", { class: "room" });
  const cells = [{ label: "yes", value: estimate.value, low, high }];
  new ResizeObserver(() => room.clientWidth > 100 && room.replaceChildren(bars(room.clientWidth, cells, "The estimate, with its interval"))).observe(room);
  return [
    h("p", { class: "question", id: "estimate" }, `About ${number(Math.round(Math.max(0, estimate.value)))} of ${people} say yes.`),
    h("p", {}, `19 times out of 20 the truth lies between ${number(Math.max(0, low))} and ${number(Math.min(people, high))}.`),
    room,
    h("p", {}, `Since the others are simulated, their truth can be told: ${yes} of the ${people - 1} said yes, and nobody but you knows whether that makes ${yes} or ${yes + 1}.`),
    facts({ protocol, "epsilon spent": number(estimate.epsilon), "the guarantee is": proof, "signed by": `${release.analyser.slice(0, 8)}…` }),
  ];
}
