// The form of a question, as the server describes it: numbers that can be typed or slid, at round places; all of them
// in the address.

import { h, number, sentence, TRUST, whole } from "./dom.js";

const LABELLED = { local: "nobody: answers are hidden at home" };

const tooLarge = (n) => `too large for ${whole(n)} people: use less than ${number(1 / n)}`;

/** What is answered, and yet should not be promised. */
export const caution = ({ n, delta }) => (n * delta >= 1 ? `Delta is ${tooLarge(n)}. With this one, some people may lose all privacy.` : "");

/** What a value means, where that is not the same for all values. */
const HINTS = {
  epsilon: (value) => `At most ${value > 0.01 ? number(Math.exp(value)) : 1 + value} times as likely with one answer as with another.`,
  delta: (value, { n }) =>
    value === 0 ? "The promise never fails." : n * value >= 1 ? sentence(tooLarge(n)) : "The chance that the promise fails, roughly.",
  honest: (value) => (value === 1 ? "Everybody keeps to the protocol." : `The promise holds if ${number(100 * value)}% keep to the protocol.`),
  ones: (value, _, { several }) =>
    value === null ? "Every protocol is judged by its worst case." : `About ${whole(value)} people ${several ? "in a category" : "with a one"}.`,
  cap: (value) => (value === null ? "A person may send as many as it takes." : "What a person may send, on average."),
};

const GROUPED = /^[-+]?\d{1,3}([,_\s]\d{3})+(\.\d+)?$/; // 10,000, and not 0,5
const PLAIN = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;

function numeric(text) {
  const bare = text.trim();
  const plain = GROUPED.test(bare) ? bare.replace(/[,_\s]/g, "") : bare;
  return PLAIN.test(plain) ? Number(plain) : NaN;
}

function written({ none, percent, places }, value) {
  if (value === null) return none;
  if (percent) return `${Number((100 * value).toPrecision(6))}%`;
  const size = Math.abs(value);
  if (!places.length) return String(value);
  if (size >= 1e12 || (size !== 0 && size < 1e-3)) return value.toExponential();
  return size >= 1e4 ? value.toLocaleString("en", { maximumFractionDigits: 20 }) : String(value);
}

function typed({ none, percent, whole: counted }, text) {
  const plain = text.trim().toLowerCase();
  if (none && ["", "none", none].includes(plain)) return null;
  if (percent && plain.endsWith("%")) return numeric(plain.slice(0, -1)) / 100;
  if (counted && /^\d+\.\d*$/.test(plain)) return NaN; // 10.000 is ten thousand to many people
  const value = numeric(plain);
  return percent && value > 1 && value <= 100 ? value / 100 : value;
}

/** What can be typed into a field. */
function works({ none, percent, whole: counted }) {
  const kind = percent ? "a percentage such as 90%" : counted ? "a whole number such as 1,000" : "a number such as 0.5, with a point";
  return `Use ${kind}${none ? `, or “${none}”` : ""}.`;
}

export class Form {
  /** `described` is what the server says of questions and fields, `changed` is told of a new state, `unclear` of words that are no number. */
  constructor(form, described, changed, unclear) {
    this.questions = new Map(described.questions.map((each) => [each.name, each]));
    this.fields = new Map(described.fields.map((each) => [each.name, each]));
    this.models = described.models;
    this.changed = changed;
    this.unclear = unclear;
    this.shown = {};
    this.state = this.fromAddress();
    form.addEventListener("submit", (event) => event.preventDefault());
    const [needed, free] = [true, false].map((wanted) => described.fields.filter((field) => field.needed === wanted));
    form.append(this.task(), ...this.rows(needed), this.trust(), ...this.rows(free));
    this.refresh();
    this.intoAddress();
    addEventListener("popstate", () => this.intoAddress()); // what the fields say is what is asked, also after going back
  }

  /** The question of a state, as the server describes it. */
  question({ task } = this.state) {
    return this.questions.get(task);
  }

  /** What is sent to the server: the fields of the question, but for those that are left as they are. */
  asked(state, changes = {}) {
    const all = { ...state, ...changes };
    const own = this.question(state).fields.map((name) => this.fields.get(name));
    const told = own.filter(({ name, needed, first }) => needed || (all[name] !== null && all[name] !== first));
    return { task: all.task, models: all.models, ...Object.fromEntries(told.map(({ name }) => [name, all[name]])) };
  }

  /** What the address says, and what is usual where it says nothing. */
  fromAddress() {
    const given = new URLSearchParams(location.search);
    const found = { task: this.questions.keys().next().value, models: this.models.filter((model) => model !== "central") };
    for (const [name, field] of this.fields) {
      const value = given.has(name) ? typed(field, given.get(name)) : field.first;
      found[name] = Number.isNaN(value) ? field.first : value;
    }
    if (this.questions.has(given.get("task"))) found.task = given.get("task");
    const models = (given.get("trust") ?? "").split(",").filter((model) => this.models.includes(model));
    if (models.length) found.models = models;
    return found;
  }

  intoAddress() {
    const said = new URLSearchParams({ task: this.state.task });
    for (const name of this.question().fields) {
      const { needed, first } = this.fields.get(name);
      if (needed || this.state[name] !== first) said.set(name, this.state[name] ?? "");
    }
    said.set("trust", this.state.models.join(","));
    history.replaceState(null, "", `?${said.toString().replaceAll("%2C", ",")}${location.hash}`);
  }

  set(changes, from) {
    Object.assign(this.state, changes);
    this.refresh(from);
    this.intoAddress();
    this.changed(this.state);
  }

  task() {
    const options = [...this.questions.values()].map(({ name, called }) => h("option", { value: name, selected: name === this.state.task }, called));
    const chosen = h("select", { id: "task", "aria-describedby": "task-hint", onchange: () => this.set({ task: chosen.value }) }, options);
    this.asks = h("p", { class: "hint", id: "task-hint" });
    return h("div", { class: "field tall" }, h("label", { for: "task" }, "You want"), chosen, this.asks);
  }

  /** A row for each field, or for those that stand side by side. */
  rows(fields) {
    const beside = ({ group }) => fields.filter((other) => group && other.group === group);
    const first = (field) => !field.group || beside(field)[0] === field;
    return fields.filter(first).map((field) => (field.group ? this.together(field.group, beside(field)) : this.number(field)));
  }

  input(field, described) {
    const { name, label, group } = field;
    return h("input", {
      type: "text", id: name, inputmode: "decimal", autocomplete: "off", "aria-label": group ? label : null, "aria-describedby": described,
      onchange: () => this.typed(field),
    });
  }

  number(field) {
    const { name, label, places } = field;
    const text = this.input(field, `${name}-hint`);
    const slider = places.length && h("input", {
      type: "range", id: `${name}-slider`, min: 0, max: places.length - 1, step: 1, "aria-label": label,
      oninput: () => this.set({ [name]: places[slider.value] }, slider),
    });
    const words = h("p", { class: "hint", id: `${name}-hint` });
    const row = h("div", { class: "field", "data-field": name }, h("label", { for: name }, label), text, slider || null, words);
    this.shown[name] = { row, text, slider, words };
    return row;
  }

  /** A range: its ends side by side. */
  together(label, ends) {
    const hint = `${ends[0].argument}-hint`;
    const words = h("p", { class: "hint", id: hint });
    const texts = ends.map((field) => this.input(field, hint));
    const row = h("div", { class: "field", role: "group", "aria-label": label },
      h("span", { class: "label" }, `${label} from`),
      h("span", { class: "pair" }, texts.flatMap((text, at) => (at ? ["to", text] : [text]))), words);
    ends.forEach(({ name }, at) => { this.shown[name] = { row, text: texts[at], words }; });
    return row;
  }

  typed(field) {
    const value = typed(field, this.shown[field.name].text.value);
    if (!Number.isNaN(value)) return this.set({ [field.name]: value });
    this.mark(field.name, works(field));
    return this.unclear(`“${field.label}” cannot be read. ${works(field)} The answer is still that for ${written(field, this.state[field.name])}.`);
  }

  /** A field in which something is wrong, and what would work. */
  mark(name, words) {
    const { text, words: hint } = this.shown[name];
    text.setAttribute("aria-invalid", "true");
    hint.textContent = words;
    hint.classList.add("wrong");
  }

  /** What the server has refused, in the words of the fields. */
  refused({ message, field, problem, remedy }) {
    if (!this.shown[field]) return sentence(message);
    this.mark(field, sentence(remedy));
    return sentence(`“${this.fields.get(field).label}” ${problem}; ${remedy}`);
  }

  trust() {
    this.trusts = this.models.map((model) => {
      const box = h("input", {
        type: "checkbox", id: `trust-${model}`, value: model,
        onchange: () => {
          const models = this.trusts.filter((each) => each.checked).map((each) => each.value);
          if (models.length) this.set({ models });
          else box.checked = true; // somebody, or nobody, must be trusted
        },
      });
      return box;
    });
    const rows = this.trusts.map((box) => h("label", { for: box.id }, box, LABELLED[box.value] ?? TRUST[box.value]));
    return h("fieldset", { class: "field" }, h("legend", {}, "People may have to trust"), h("div", { class: "trusts" }, rows));
  }

  /** Everything as the state says, but for the slider under somebody's finger. */
  refresh(from) {
    const question = this.question();
    this.asks.textContent = `${question.asks}.`;
    for (const [name, { row, text, slider, words }] of Object.entries(this.shown)) {
      const [field, value] = [this.fields.get(name), this.state[name]];
      row.hidden = !question.fields.includes(name);
      text.setAttribute("aria-invalid", "false");
      text.value = written(field, value);
      words.classList.remove("wrong");
      words.textContent = HINTS[name]?.(value, this.state, question) ?? field.hint;
      if (!slider) continue;
      if (slider !== from) slider.value = nearest(field.places, value);
      slider.setAttribute("aria-valuetext", written(field, value));
    }
    for (const box of this.trusts) box.checked = this.state.models.includes(box.value);
  }
}

function nearest(places, value) {
  if (value === null) return places.indexOf(null);
  const far = (place) => (place === null ? Infinity : Math.abs(Math.log((place + 1e-14) / (value + 1e-14))));
  return places.reduce((best, place, at) => (far(place) < far(places[best]) ? at : best), places.findIndex((place) => place !== null));
}
