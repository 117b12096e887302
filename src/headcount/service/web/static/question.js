// The fields of a question: each a number that can be typed or slid, at round places; all of them in the address.

import { h, number, sentence, TRUST, whole } from "./dom.js";

const series = (from, to, steps) => {
  const found = [];
  for (let power = Math.floor(Math.log10(from)); 10 ** power <= to; power++) {
    for (const step of steps) found.push(Number((step * 10 ** power).toPrecision(3)));
  }
  return found.filter((value) => value >= from && value <= to);
};

const TASKS = {
  count: "a count: how many said yes", fraction: "a fraction: which part said yes",
  histogram: "a histogram: how many of each", sum: "a sum of numbers", mean: "a mean of numbers",
};
const FIELDS = {
  n: { label: "People", hint: "How many will report.", places: series(100, 1e7, [1, 2, 5]), first: 10000, whole: true },
  categories: { label: "Categories", hint: "How many there are to choose from.", places: series(2, 1e4, [1, 2, 5]), first: 10, whole: true, tasks: ["histogram"] },
  epsilon: { label: "Epsilon", hint: "", places: [0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 8], first: 1 },
  delta: { label: "Delta", hint: "", places: [0, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3], first: 1e-6 },
  honest: { label: "Honest share", hint: "", places: [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1], first: 1, percent: true },
  ones: { label: "Expected answer", hint: "", places: [null, 0, ...series(1, 1e6, [1, 2, 5])], first: null, none: "unknown", whole: true, tasks: ["count", "fraction", "histogram"] },
  cap: { label: "Messages, at most", hint: "", places: [1, 2, 3, 5, 10, 20, 50, 100, 1000, null], first: null, none: "no limit" },
};
const LABELS = { low: "Lower bound", high: "Upper bound", ...Object.fromEntries(Object.entries(FIELDS).map(([name, { label }]) => [name, label])) };
const MODELS = ["central", "shuffle-threshold", "shuffle-dummies", "shuffle", "local"];
const FIRST = { task: "count", low: 0, high: 100, models: ["shuffle-threshold", "shuffle", "local"] };

const tooLarge = (n) => `Too large for ${whole(n)} people: use less than ${number(1 / n)}.`;

/** What is answered, and yet should not be promised. */
export const caution = ({ n, delta }) => (n * delta >= 1 ? `Delta is ${tooLarge(n).replace("Too", "too")} With this one, some people may lose all privacy.` : "");

const hints = {
  epsilon: (value) => `At most ${value > 0.01 ? number(Math.exp(value)) : 1 + value} times as likely with one answer as with another.`,
  delta: (value, { n }) =>
    value === 0 ? "The promise never fails." : n * value >= 1 ? tooLarge(n) : "The chance that the promise fails, roughly.",
  honest: (value) => (value === 1 ? "Everybody keeps to the protocol." : `The promise holds if ${number(100 * value)}% keep to the protocol.`),
  ones: (value, { task }) => {
    const who = task === "histogram" ? "in a category" : "with a one";
    return value === null ? "Every protocol is judged by its worst case." : `About ${whole(value)} people ${who}.`;
  },
  cap: (value) => (value === null ? "A person may send as many as it takes." : "What a person may send, on average."),
};

const belongs = (name, task) => !FIELDS[name].tasks || FIELDS[name].tasks.includes(task);
const GROUPED = /^[-+]?\d{1,3}([,_\s]\d{3})+(\.\d+)?$/; // 10,000, and not 0,5
const PLAIN = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;

function numeric(text) {
  const bare = text.trim();
  const plain = GROUPED.test(bare) ? bare.replace(/[,_\s]/g, "") : bare;
  return PLAIN.test(plain) ? Number(plain) : NaN;
}

function written(name, value) {
  const { none, percent } = FIELDS[name];
  if (value === null) return none;
  if (percent) return `${Number((100 * value).toPrecision(6))}%`;
  const size = Math.abs(value);
  if (size >= 1e12 || (size !== 0 && size < 1e-3)) return value.toExponential();
  return size >= 1e4 ? value.toLocaleString("en", { maximumFractionDigits: 20 }) : String(value);
}

function typed(name, text) {
  const { none, percent, whole: counted } = FIELDS[name];
  const plain = text.trim().toLowerCase();
  if (none && ["", "none", none].includes(plain)) return null;
  if (percent && plain.endsWith("%")) return numeric(plain.slice(0, -1)) / 100;
  if (counted && /^\d+\.\d*$/.test(plain)) return NaN; // 10.000 is ten thousand to many people
  const value = numeric(plain);
  return percent && value > 1 && value <= 100 ? value / 100 : value;
}

/** What can be typed into a field. */
function works(name) {
  const { none, percent, whole: counted } = FIELDS[name];
  const kind = percent ? "a percentage such as 90%" : counted ? "a whole number such as 1,000" : "a number such as 0.5, with a point";
  return `Use ${kind}${none ? `, or “${none}”` : ""}.`;
}

/** What the address says, and what is usual where it says nothing. */
function fromAddress() {
  const given = new URLSearchParams(location.search);
  const found = { ...FIRST };
  for (const [name, { first }] of Object.entries(FIELDS)) {
    const text = given.get(name);
    const value = text === null ? first : typed(name, text);
    found[name] = Number.isNaN(value) ? first : value;
  }
  if (Object.hasOwn(TASKS, given.get("task") ?? "")) found.task = given.get("task");
  for (const name of ["low", "high"]) if (given.has(name) && !Number.isNaN(numeric(given.get(name)))) found[name] = numeric(given.get(name));
  const models = (given.get("trust") ?? "").split(",").filter((model) => MODELS.includes(model));
  if (models.length) found.models = models;
  return found;
}

function intoAddress(state) {
  const said = new URLSearchParams({ task: state.task });
  for (const [name, { first }] of Object.entries(FIELDS)) {
    if (belongs(name, state.task) && (state[name] !== first || ["n", "epsilon", "delta"].includes(name))) said.set(name, state[name] ?? "");
  }
  if (["sum", "mean"].includes(state.task)) for (const name of ["low", "high"]) said.set(name, state[name]);
  said.set("trust", state.models.join(","));
  history.replaceState(null, "", `?${said.toString().replaceAll("%2C", ",")}${location.hash}`);
}

/** What is sent to the server. */
export function asked(state, changes = {}) {
  const { task, models, ...rest } = { ...state, ...changes };
  const sent = { task, models, n: rest.n, epsilon: rest.epsilon, delta: rest.delta };
  if (rest.honest !== 1) sent.honest = rest.honest;
  if (task === "histogram") sent.categories = rest.categories;
  if (task === "sum" || task === "mean") Object.assign(sent, { low: rest.low, high: rest.high });
  else if (rest.ones !== null) sent.ones = rest.ones;
  if (rest.cap !== null) sent.cap = rest.cap;
  return sent;
}

export class Form {
  /** `changed` is told of a new state, `unclear` of words that are no number. */
  constructor(form, changed, unclear) {
    this.changed = changed;
    this.unclear = unclear;
    this.state = fromAddress();
    this.shown = {};
    form.addEventListener("submit", (event) => event.preventDefault());
    form.append(this.task(), this.number("n"), this.number("categories"), this.bounds(), this.number("epsilon"), this.number("delta"),
      this.trust(), this.number("honest"), this.number("ones"), this.number("cap"));
    this.refresh();
    intoAddress(this.state);
    addEventListener("popstate", () => intoAddress(this.state)); // what the fields say is what is asked, also after going back
  }

  set(changes, from) {
    Object.assign(this.state, changes);
    this.refresh(from);
    intoAddress(this.state);
    this.changed(this.state);
  }

  task() {
    const options = Object.entries(TASKS).map(([name, words]) => h("option", { value: name, selected: name === this.state.task }, words));
    const chosen = h("select", { id: "task", onchange: () => this.set({ task: chosen.value }) }, options);
    return h("div", { class: "field tall" }, h("label", { for: "task" }, "You want"), chosen);
  }

  number(name) {
    const { label, hint, places } = FIELDS[name];
    const text = h("input", {
      type: "text", id: name, inputmode: "decimal", autocomplete: "off", "aria-describedby": `${name}-hint`,
      onchange: () => this.typed(name),
    });
    const slider = h("input", {
      type: "range", id: `${name}-slider`, min: 0, max: places.length - 1, step: 1, "aria-label": label,
      oninput: () => this.set({ [name]: places[slider.value] }, slider),
    });
    const words = h("p", { class: "hint", id: `${name}-hint` }, hint);
    const field = h("div", { class: "field", "data-field": name }, h("label", { for: name }, label), text, slider, words);
    this.shown[name] = { field, text, slider, words };
    return field;
  }

  typed(name) {
    const value = typed(name, this.shown[name].text.value);
    if (Number.isNaN(value)) this.misread(name, works(name), written(name, this.state[name]));
    else this.set({ [name]: value });
  }

  misread(name, words, still) {
    this.mark(name, words);
    this.unclear(`“${LABELS[name]}” cannot be read. ${words} The answer is still that for ${still}.`);
  }

  /** A field in which something is wrong, and what. */
  mark(name, words) {
    const { text, words: hint } = this.shown[name];
    text.setAttribute("aria-invalid", "true");
    hint.textContent = words;
    hint.classList.add("wrong");
  }

  /** What the server has refused, in the words of the fields. */
  refused({ message, field }) {
    if (!this.shown[field] || !message.startsWith(field)) return sentence(message);
    const words = `“${LABELS[field]}”${message.slice(field.length)}`;
    this.mark(field, sentence(message.slice(message.indexOf("; ") + 2)));
    return sentence(words);
  }

  bounds() {
    const words = h("p", { class: "hint", id: "bounds-hint" });
    const input = (name) => {
      const text = h("input", {
        type: "text", id: name, inputmode: "decimal", "aria-label": LABELS[name], "aria-describedby": "bounds-hint", value: this.state[name],
        onchange: () => {
          const value = numeric(text.value);
          if (Number.isNaN(value)) this.misread(name, "Use a number such as 0.5, with a point.", this.state[name]);
          else this.set({ [name]: value });
        },
      });
      this.shown[name] = { text, words };
      return text;
    };
    this.boundsField = h("div", { class: "field", role: "group", "aria-label": "Bounds of the numbers" },
      h("span", { class: "label" }, "Numbers from"),
      h("span", { class: "pair" }, input("low"), "to", input("high")), words);
    return this.boundsField;
  }

  trust() {
    this.trusts = MODELS.map((model) => {
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
    const rows = this.trusts.map((box) => h("label", { for: box.id }, box, box.value === "local" ? "nobody: answers are hidden at home" : TRUST[box.value]));
    return h("fieldset", { class: "field" }, h("legend", {}, "People may have to trust"), h("div", { class: "trusts" }, rows));
  }

  /** Everything as the state says, but for the slider under somebody's finger. */
  refresh(from) {
    for (const [name, { field, text, slider, words }] of Object.entries(this.shown)) {
      const value = this.state[name];
      text.setAttribute("aria-invalid", "false");
      words.classList.remove("wrong");
      if (!slider) {
        text.value = value;
        words.textContent = "The smallest and the largest that a person may hold.";
        continue;
      }
      field.hidden = !belongs(name, this.state.task);
      text.value = written(name, value);
      if (slider !== from) slider.value = nearest(FIELDS[name].places, value);
      slider.setAttribute("aria-valuetext", written(name, value));
      words.textContent = hints[name]?.(value, this.state) ?? FIELDS[name].hint;
    }
    this.boundsField.hidden = !["sum", "mean"].includes(this.state.task);
    for (const box of this.trusts) box.checked = this.state.models.includes(box.value);
  }
}

function nearest(places, value) {
  if (value === null) return places.indexOf(null);
  const far = (place) => (place === null ? Infinity : Math.abs(Math.log((place + 1e-14) / (value + 1e-14))));
  return places.reduce((best, place, at) => (far(place) < far(places[best]) ? at : best), places.findIndex((place) => place !== null));
}
