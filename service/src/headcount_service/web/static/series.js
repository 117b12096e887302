// A collection in rounds: a table and a chart of what was released so far, and files of it. The server computes all of it.

import { ask, askBytes, h, saved, sentence } from "./dom.js";
import { Figure, courses } from "./charts.js";

const KINDS = { csv: "text/csv", parquet: "application/vnd.apache.parquet" };
const CAPTION = "Round by round, with 95% intervals";

/** One collection's rounds. It stays in its place as others come: focus and the category that was chosen stay, too. */
export class Rounds {
  constructor(collection, question, token) {
    this.collection = collection;
    this.question = question;
    this.token = token;
    this.released = ""; // the batches of which it tells
    this.status = h("p", { class: "status", role: "status" });
    this.choice = h("select", { onchange: () => this.look() });
    this.category = h("label", { class: "category", hidden: true }, "Category ", this.choice);
    this.chart = h("figure", { class: "card" });
    this.figure = new Figure(this.chart, `series-${this.short}`, CAPTION, "What was released so far. Sums and changes are of the released answers and cost nothing.");
    this.table = h("table", { class: "rounds" });
    this.element = h("div", { class: "series", hidden: true }, this.category, this.chart,
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `All rounds of: ${question}` }, this.table),
      h("div", { class: "buttons" }, Object.keys(KINDS).map((kind) => h("button", { type: "button", onclick: () => this.save(kind) }, `Download ${kind === "csv" ? "CSV" : "Parquet"}`))), this.status);
  }

  get short() {
    return this.collection.slice(0, 12);
  }

  path(part) {
    return `page/series/${this.collection}/${part}`;
  }

  /** Asks again if there are other releases than last time. */
  async update(released) {
    this.element.hidden = !released.length;
    if (released.length && this.released !== String(released) && (await this.look())) this.released = String(released);
  }

  async look() {
    const place = this.choice.selectedIndex;
    try {
      const told = await ask("GET", this.path(Math.max(0, place)), undefined, { token: this.token });
      if (this.choice.selectedIndex !== place) return false; // another category was chosen meanwhile, and is asked for
      this.show(told);
      this.status.textContent = "";
      return true;
    } catch (refusal) {
      this.status.textContent = sentence(refusal.message);
      return false;
    }
  }

  show({ cells, sheet, courses: panels }) {
    this.category.hidden = !cells.length;
    if (JSON.stringify(cells) !== JSON.stringify([...this.choice.options].map(({ text }) => text))) {
      const chosen = this.choice.value;
      this.choice.replaceChildren(...cells.map((cell) => h("option", { selected: cell === chosen }, cell)));
    }
    const drawn = panels.filter(({ points }) => points.length);
    const cell = cells.length ? `, ${this.choice.value}` : "";
    this.figure.show((width) => courses(width, drawn, sheet.rows.length, `${this.question}${cell}: ${drawn.map(({ label }) => label).join(", ")}, round by round, with 95% intervals`));
    this.table.replaceChildren(...rows(sheet));
  }

  async save(kind) {
    try {
      saved(`series-${this.short}.${kind}`, KINDS[kind], await askBytes("GET", this.path(kind), undefined, { token: this.token }));
      this.status.textContent = "";
    } catch (refusal) {
      this.status.textContent = sentence(refusal.message);
    }
  }
}

/** Each interval stands below its value. */
function rows({ headings, rows: every }) {
  const pairs = (row) => Array.from({ length: (row.length - 1) / 2 }, (_, at) => [row[2 * at + 1], row[2 * at + 2]]);
  return [
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, headings[0]),
      pairs(headings).map(([name, interval]) => h("th", { scope: "col", class: "number" }, name, h("small", {}, interval))))),
    h("tbody", {}, every.map((row) => h("tr", {}, h("th", { scope: "row" }, row[0]),
      pairs(row).map(([value, interval]) => h("td", { class: "number" }, value, h("small", {}, interval)))))),
  ];
}
