// The fields of a question: each a number that can be typed or slid, at round places; all of them in the address.

import { h, number, TRUST } from "./dom.js";

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
export const FIELDS = {
  n: { label: "People", hint: "How many will report.", places: series(100, 1e7, [1, 2, 5]), first: 10000 },
  categories: { label: "Categories", hint: "How many there are to choose from.", places: series(2, 1e4, [1, 2, 5]), first: 10, tasks: ["histogram"] },
  epsilon: { label: "Epsilon", hint: "", places: [0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 8], first: 1 },
  delta: { label: "Delta", hint: "", places: [0, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3], first: 1e-6 },
  honest: { label: "Honest share", hint: "", places: [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1], first: 1, percent: true },
  ones: { label: "Expected answer", hint: "", places: [null, 0, ...series(1, 1e6, [1, 2, 5])], first: null, none: "unknown", tasks: ["count", "fraction", "histogram"] },
  cap: { label: "Messages, at most", hint: "", places: [1, 2, 3, 5, 10, 20, 50, 100, 1000, null], first: null, none: "no limit" },
};
const MODELS = ["central", "shuffle-threshold", "shuffle", "local"];
const FIRST = { task: "count", low: 0, high: 100, models: ["shuffle-threshold", "shuffle", "local"] };

const hints = {
  epsilon: (value) => `At most ${number(Math.exp(value))} times as likely with one answer as with another.`,
  delta: (value, { n }) =>
    value === 0 ? "The promise never fails." : n * value >= 1 ? `Too large for ${number(n)} people: use less than ${number(1 / n)}.` : "The chance that the promise fails, roughly.",
  honest: (value) => (value === 1 ? "Everybody keeps to the protocol." : `The promise holds if ${number(100 * value)}% keep to the protocol.`),
  ones: (value, { task }) => {
    const who = task === "histogram" ? "in a category" : "with a one";
    return value === null ? "Every protocol is judged by its worst case." : `About ${number(value)} people ${who}.`;
  },
  cap: (value) => (value === null ? "A person may send as many as it takes." : "What a person may send, on average."),
};

const belongs = (name, task) => !FIELDS[name].tasks || FIELDS[name].tasks.includes(task);
const numeric = (text) => (text.trim() === "" ? NaN : Number(text.replaceAll(",", "").replaceAll("_", "").trim()));

function written(name, value) {
  const { none, percent } = FIELDS[name];
  if (value === null) return none;
  if (percent) return `${Number((100 * value).toPrecision(6))}%`;
  return value >= 1e4 ? value.toLocaleString("en") : value !== 0 && value < 1e-3 ? value.toExponential().replace(/e-/, "e-") : String(value);
}

function typed(name, text) {
  const { none, percent } = FIELDS[name];
  const plain = text.trim().toLowerCase();
  if (none && (plain === "" || plain === none)) return null;
  if (percent && plain.endsWith("%")) return numeric(plain.slice(0, -1)) / 100;
  return numeric(plain);
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
  if (given.get("task") in TASKS) found.task = given.get("task");
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
  constructor(form, changed) {
    this.form = form;
    this.changed = changed;
    this.state = fromAddress();
    this.shown = {};
    form.addEventListener("submit", (event) => event.preventDefault());
    form.append(this.task(), this.number("n"), this.number("categories"), this.bounds(), this.number("epsilon"), this.number("delta"),
      this.trust(), this.number("honest"), this.number("ones"), this.number("cap"));
    this.refresh();
    intoAddress(this.state);
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
    const { text } = this.shown[name];
    const value = typed(name, text.value);
    const wrong = Number.isNaN(value);
    text.setAttribute("aria-invalid", String(wrong));
    if (!wrong) this.set({ [name]: value });
  }

  bounds() {
    const input = (name, label) => {
      const text = h("input", {
        type: "text", id: name, inputmode: "decimal", "aria-label": label, value: this.state[name],
        onchange: () => {
          const value = numeric(text.value);
          text.setAttribute("aria-invalid", String(Number.isNaN(value)));
          if (!Number.isNaN(value)) this.set({ [name]: value });
        },
      });
      return text;
    };
    this.boundsField = h("div", { class: "field", role: "group", "aria-label": "Bounds of the numbers" },
      h("span", { class: "label" }, "Numbers from"),
      h("span", { class: "pair" }, input("low", "Lower bound"), "to", input("high", "Upper bound")),
      h("p", { class: "hint" }, "The smallest and the largest that a person may hold."));
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
      field.hidden = !belongs(name, this.state.task);
      text.value = written(name, value);
      text.setAttribute("aria-invalid", "false");
      if (slider !== from) slider.value = nearest(FIELDS[name].places, value);
      slider.setAttribute("aria-valuetext", written(name, value));
      if (hints[name]) words.textContent = hints[name](value, this.state);
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
