// Pictures, drawn by hand: curves with their names beside them, points, a map, and bars with their errors.

import { h, number, s, saved, short } from "./dom.js";

const HEIGHT = 320;
const LETTER = 6.5; // pixels of a letter, about
const BIG = 7.6; // of one beside a bar
const LINE = 12; // letters of a name, where a picture is narrow
const NARROW = 460;
const MANY = 40; // rounds, from which on their intervals are a band

/** A figure that is drawn again when its width changes, and can be kept as a file. */
export class Figure {
  constructor(figure, name, caption, note) {
    this.figure = figure;
    this.name = name;
    this.noted = h("p", { class: "note" }, note);
    this.room = h("div", { class: "room" });
    this.button = h("button", { type: "button", class: "quiet save", "aria-label": `SVG: download the picture “${caption}”`, onclick: () => this.save() }, "SVG");
    figure.replaceChildren(this.button, h("figcaption", {}, caption), this.noted, this.room);
    new ResizeObserver(() => this.draw()).observe(this.room);
  }

  note(words) {
    this.noted.textContent = words;
  }

  /** What it showed belongs to another question. */
  wait() {
    this.make = null;
    this.room.replaceChildren(h("p", { class: "status" }, "Being computed …"));
  }

  show(make) {
    this.make = make;
    this.width = 0;
    this.draw();
  }

  draw() {
    const width = Math.floor(this.room.clientWidth);
    if (!this.make || width < 100 || width === this.width) return;
    this.width = width;
    this.room.replaceChildren(...[this.make(width)].flat());
  }

  save() {
    const drawn = this.room.querySelector("svg");
    if (!drawn) return;
    const copy = drawn.cloneNode(true);
    const pairs = [[drawn, copy], ...[...drawn.querySelectorAll("*")].map((each, at) => [each, copy.querySelectorAll("*")[at]])];
    for (const [from, to] of pairs) {
      const look = getComputedStyle(from);
      for (const part of ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family", "font-weight"]) {
        to.setAttribute(part, look.getPropertyValue(part));
      }
      to.removeAttribute("class");
    }
    const { width, height } = drawn.viewBox.baseVal;
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    copy.prepend(s("rect", { x: 0, y: 0, width, height, fill: getComputedStyle(document.documentElement).backgroundColor }));
    saved(`headcount-${this.name}.svg`, "image/svg+xml", copy.outerHTML);
  }
}

const log = (low, high, from, to) => (value) => from + ((Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low))) * (to - from);

function rounds(low, high, steps) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high * 1.001; power++) {
    for (const step of steps) if (step * 10 ** power >= low * 0.999 && step * 10 ** power <= high * 1.001) found.push(Number((step * 10 ** power).toPrecision(1)));
  }
  return found;
}

function ticks(low, high, most) {
  const [dense, middling, tens] = [[1, 2, 5], [1, 3], [1]].map((steps) => rounds(low, high, steps));
  const chosen = [dense, middling].find((found) => found.length <= most) ?? (tens.length >= 2 ? tens : dense);
  const every = Math.ceil(chosen.length / most);
  return chosen.filter((_, at) => at % every === 0);
}

function frame(width, height, margin, x, y, xs, ys, words) {
  const [bottom, left] = [height - margin.bottom, margin.left];
  return [
    ys.map((value) => s("line", { class: "grid", x1: left, x2: width - margin.right, y1: y(value), y2: y(value) })),
    ys.map((value) => s("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, short(value))),
    s("line", { class: "axis", x1: left, x2: width - margin.right, y1: bottom, y2: bottom }),
    xs.map((value) => s("line", { class: "axis", x1: x(value), x2: x(value), y1: bottom, y2: bottom + 4 })),
    xs.map((value) => s("text", { x: x(value), y: bottom + 18, "text-anchor": "middle" }, short(value))),
    s("text", { x: (left + width - margin.right) / 2, y: height - 4, "text-anchor": "middle" }, words.x),
    s("text", { x: 0, y: 12 }, words.y),
  ];
}

const picture = (width, height, label, ...children) => s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, children);

/** In several lines where there is little room. */
function lines(name, narrow) {
  if (!narrow) return [name];
  return name.split(/(?<=-)/).reduce(([line, ...before], part) => (
    line.length + part.length > LINE && line ? [part, line, ...before] : [line + part, ...before]
  ), [""]).reverse();
}

/** Heights as near to the wished ones as they can be without touching. */
function apart(wished, low, high) {
  const places = wished.map(({ y, size }) => ({ y, size }));
  const order = places.map((_, at) => at).sort((a, b) => places[a].y - places[b].y);
  let floor = low;
  for (const at of order) {
    places[at].y = Math.max(places[at].y, floor);
    floor = places[at].y + places[at].size;
  }
  let ceiling = high;
  for (const at of order.reverse()) {
    places[at].y = Math.min(places[at].y, ceiling - places[at].size);
    ceiling = places[at].y;
  }
  return places.map(({ y }) => y);
}

/** Curves on two logarithmic axes; the names stand at their ends. */
export function curves(width, found, { label, words, now, dots = false }) {
  const narrow = width < NARROW;
  const all = found.flatMap(({ points }) => points);
  if (!all.length) return h("p", { class: "note" }, "There is nothing to draw here.");
  const names = found.map(({ protocol }) => lines(protocol, narrow));
  const longest = Math.max(...names.flat().map((text) => text.length));
  const margin = { left: 46, right: Math.min(longest * LETTER + 40, width * 0.46), top: 26, bottom: 42 };
  const ends = (values) => [Math.min(...values), Math.max(...values)];
  let [x0, x1] = ends([...all.map(([x]) => x), ...(now ? [now] : [])]);
  let [y0, y1] = ends(all.map(([, y]) => y));
  if (x1 / x0 < 4) [x0, x1] = [x0 / 2, x1 * 2];
  if (y1 / y0 < 4) [y0, y1] = [y0 / 2, y1 * 2];
  [y0, y1] = [rounds(y0 / 10, y0 / 1.12, [1, 2, 5]).pop(), y1 * 1.12]; // nobody lies on the axis
  const height = Math.max(HEIGHT, margin.top + margin.bottom + names.reduce((sum, text) => sum + 15 * text.length + 3, 0));
  const inset = dots ? 8 : 0;
  const x = log(x0, x1, margin.left + inset, width - margin.right - inset);
  const y = log(y0, y1, height - margin.bottom, margin.top);
  const last = found.map(({ points }) => points[points.length - 1]);
  const wished = found.map((_, at) => ({ y: y(last[at][1]) - 7.5 * names[at].length, size: 15 * names[at].length + 3 }));
  const heights = apart(wished, margin.top - 8, height - margin.bottom + 4);
  return picture(width, height, label,
    frame(width, height, margin, x, y, ticks(x0, x1, narrow ? 4 : 8), ticks(y0, y1, 7), words),
    now && s("line", { class: "now", x1: x(now), x2: x(now), y1: margin.top, y2: height - margin.bottom }),
    found.map(({ protocol, points }, at) => {
      const middle = heights[at] + 7.5 * names[at].length;
      const side = width - margin.right;
      return [
        s("line", { class: `leader of-${protocol}`, x1: x(last[at][0]) + 5, y1: y(last[at][1]), x2: side + 12, y2: middle }),
        s("line", { class: `curve of-${protocol}`, x1: side + 12, y1: middle, x2: side + 28, y2: middle }),
        points.length > 1 && s("polyline", { class: `curve of-${protocol}`, points: points.map(([a, b]) => `${x(a)},${y(b)}`).join(" ") }),
        (dots ? points : [last[at]]).map(([a, b]) => s("circle", { class: `dot of-${protocol}`, cx: x(a), cy: y(b), r: dots ? 4 : 3.4 })),
        names[at].map((text, line) => s("text", { class: "of", x: side + 33, y: heights[at] + 12 + 15 * line }, text)),
      ];
    }));
}

/** Who is best where: a cell for each number of people and of ones. */
export function map(width, columns, truths, sizes, here) {
  const narrow = width < NARROW;
  const margin = { left: 50, right: 8, top: 26, bottom: 42 };
  const height = narrow ? 300 : 360;
  const [w, t] = [(width - margin.left - margin.right) / sizes.length, (height - margin.top - margin.bottom) / truths.length];
  const left = (n) => margin.left + sizes.indexOf(n) * w;
  const top = (ones) => height - margin.bottom - (truths.indexOf(ones) + 1) * t;
  const inLog = (list, step, from) => (value) => from + step * (((Math.log(value) - Math.log(list[0])) / (Math.log(list[list.length - 1]) - Math.log(list[0]))) * (list.length - 1) + 0.5);
  const x = inLog(sizes, w, margin.left);
  const y = (value) => height - margin.bottom - (inLog(truths, t, 0)(value));
  const cells = columns.flatMap(({ n, cells: found }) => found.map((cell) => ({ ...cell, n })));
  const owners = new Map();
  for (const cell of cells) owners.set(cell.winner, [...(owners.get(cell.winner) ?? []), cell]);
  const drawn = picture(width, height, "Who has the smallest error, by the number of people and of ones",
    cells.map((cell) => s("rect", {
      class: `cell of-${cell.winner}${cell.useful ? "" : " useless"}`, x: left(cell.n), y: top(cell.ones), width: w + 0.4, height: t + 0.4,
    }, s("title", {}, `${number(cell.n)} people, ${number(cell.ones)} ones: ${cell.winner}, off by ${number(cell.rmse)}`))),
    frame(width, height, margin, x, y, ticks(sizes[0], sizes[sizes.length - 1], narrow ? 4 : 6), ticks(truths[0], truths[truths.length - 1], 7), { x: "people", y: "with a one" })
      .slice(1),
    here.ones > 0 && here.n >= sizes[0] && here.n <= sizes[sizes.length - 1] && here.ones <= truths[truths.length - 1] &&
      s("circle", { class: "place", cx: x(here.n), cy: y(here.ones), r: 6 }, s("title", {}, "here you are")),
    here.ones === null && here.n >= sizes[0] && here.n <= sizes[sizes.length - 1] &&
      s("line", { class: "here", x1: x(here.n), x2: x(here.n), y1: margin.top, y2: height - margin.bottom },
        s("title", {}, "here you are, with any number of ones")));
  const legend = h("ul", { class: "legend" }, [...owners].sort((a, b) => b[1].length - a[1].length)
    .map(([name, won]) => h("li", { class: `of-${name}` }, `${name}, ${Math.max(1, Math.round((100 * won.length) / cells.length))}%`)));
  return [drawn, legend];
}

/** Round numbers at even distances between two ends. */
function even(low, high, most) {
  const power = 10 ** Math.floor(Math.log10((high - low) / 2));
  const step = power * [1, 2, 5, 10].find((each) => (high - low) / (power * each) <= most);
  const marks = [];
  for (let at = Math.ceil(low / step); at * step <= high; at++) marks.push(at * step);
  return marks;
}

/** Estimates with the intervals that they have. */
export function bars(width, cells, label) {
  const room = Math.floor(Math.min(150, width * 0.34) / BIG) - 1; // letters of a label
  const longest = Math.max(...cells.map((cell) => String(cell.label).length));
  const margin = { left: BIG * Math.min(room, longest) + 14, right: 16, top: 8, bottom: 30 };
  const row = cells.length > 20 ? 22 : 30;
  const height = margin.top + margin.bottom + row * cells.length;
  const low = Math.min(0, ...cells.map((cell) => Math.min(cell.value, cell.low)));
  const high = Math.max(0, ...cells.map((cell) => Math.max(cell.value, cell.high))) || (low < 0 ? 0 : 1);
  const x = (value) => margin.left + ((value - low) / (high - low)) * (width - margin.left - margin.right);
  const marks = even(low, high, width < NARROW ? 3 : 6);
  return picture(width, height, label,
    marks.map((value) => [
      s("line", { class: "grid", x1: x(value), x2: x(value), y1: margin.top, y2: height - margin.bottom }),
      s("text", { x: x(value), y: height - 10, "text-anchor": "middle" }, short(value)),
    ]),
    cells.map((cell, at) => {
      const y = margin.top + row * at;
      const words = String(cell.label);
      return [
        s("text", { class: "big", x: margin.left - 10, y: y + row / 2 + 5, "text-anchor": "end" }, words.length > room ? `${words.slice(0, room - 5)}…${words.slice(-4)}` : words,
          s("title", {}, `${words}: ${number(cell.value)}, from ${number(cell.low)} to ${number(cell.high)}`)),
        s("rect", { class: "bar", x: Math.min(x(0), x(cell.value)), y: y + row / 5, width: Math.abs(x(cell.value) - x(0)), height: 0.6 * row, rx: 2 }),
        s("line", { class: "whisker", x1: x(cell.low), x2: x(cell.high), y1: y + row / 2, y2: y + row / 2 }),
        [cell.low, cell.high].map((end) => s("line", { class: "whisker", x1: x(end), x2: x(end), y1: y + row / 2 - 4, y2: y + row / 2 + 4 })),
      ];
    }),
    s("line", { class: "axis", x1: x(0), x2: x(0), y1: margin.top, y2: height - margin.bottom }));
}

/** The part of the people below a value, with a band that covers all of it, and a cross at one of the values. */
export function cumulative(width, { people, stops, ticks: marks }, chosen, label) {
  const margin = { left: 46, right: 24, top: 12, bottom: 30 };
  const height = width < NARROW ? 240 : HEIGHT - 20;
  const x = (at) => margin.left + at * (width - margin.left - margin.right);
  const y = (part) => height - margin.bottom - Math.min(Math.max(part, 0), 1) * (height - margin.top - margin.bottom);
  const here = stops[chosen];
  const edge = (part) => stops.map((stop) => `${x(stop.at)},${y(part(stop))}`);
  const room = Math.ceil((marks.reduce((sum, { text }) => sum + text.length + 2, 0) * LETTER) / (width - margin.left - margin.right));
  return picture(width, height, label,
    [0, 0.25, 0.5, 0.75, 1].map((part) => [
      s("line", { class: "grid", x1: margin.left, x2: width - margin.right, y1: y(part), y2: y(part) }),
      s("text", { x: margin.left - 8, y: y(part) + 4, "text-anchor": "end" }, `${100 * part}%`),
    ]),
    marks.filter((_, at) => at % room === 0).map(({ at, text }) => [
      s("line", { class: "axis", x1: x(at), x2: x(at), y1: y(0), y2: y(0) + 4 }),
      s("text", { x: x(at), y: height - 10, "text-anchor": "middle" }, text),
    ]),
    s("polygon", { class: "band of-central", points: [...edge(({ band }) => band[0]), ...edge(({ band }) => band[1]).reverse()].join(" ") }),
    s("polyline", { class: "curve of-central", points: edge(({ below }) => below / people).join(" ") }),
    s("line", { class: "here", x1: x(here.at), x2: x(here.at), y1: y(0), y2: y(here.below / people) }),
    s("line", { class: "here", x1: margin.left, x2: x(here.at), y1: y(here.below / people), y2: y(here.below / people) }),
    s("circle", { class: "dot of-central", cx: x(here.at), cy: y(here.below / people), r: 5 }));
}

/** Values round after round with their intervals: a panel below the other, and bands instead of bars if there are many. */
export function courses(width, panels, last, label) {
  const margin = { left: 50, right: 12, bottom: 42 };
  const [tall, head] = [width < NARROW ? 96 : 112, 34];
  const height = panels.length * (tall + head) + margin.bottom;
  const x = (round) => margin.left + ((round - 0.5) / last) * (width - margin.left - margin.right);
  const every = Math.ceil(last / (width < NARROW ? 5 : 10));
  const numbered = Array.from({ length: last }, (_, at) => at + 1).filter((round) => (round - 1) % every === 0);
  const bottom = height - margin.bottom;
  return picture(width, height, label,
    panels.map((panel, at) => course(panel, x, { top: at * (tall + head) + head, tall, from: margin.left, to: width - margin.right, band: last >= MANY })),
    s("line", { class: "axis", x1: margin.left, x2: width - margin.right, y1: bottom, y2: bottom }),
    numbered.map((round) => s("text", { x: x(round), y: bottom + 18, "text-anchor": "middle" }, String(round))),
    s("text", { x: (margin.left + width - margin.right) / 2, y: height - 4, "text-anchor": "middle" }, "round"));
}

function course({ label, points }, x, { top, tall, from, to, band }) {
  let [low, high] = [Math.min(...points.map(([, , least]) => least)), Math.max(...points.map(([, , , most]) => most))];
  if (low >= high) [low, high] = [low - 1, high + 1];
  const y = (value) => top + tall - 6 - ((value - low) / (high - low)) * (tall - 12);
  const told = ([round, value, least, most]) => s("title", {}, `Round ${round}: ${number(value)}, from ${number(least)} to ${number(most)}`);
  return [
    s("text", { class: "of", x: from, y: top - 10 }, label),
    even(low, high, 4).map((value) => [
      s("line", { class: "grid", x1: from, x2: to, y1: y(value), y2: y(value) }),
      s("text", { x: from - 8, y: y(value) + 4, "text-anchor": "end" }, short(value)),
    ]),
    low < 0 && high > 0 && s("line", { class: "axis", x1: from, x2: to, y1: y(0), y2: y(0) }),
    band && stretches(points).map((part) => [
      s("polygon", { class: "band of-shuffle", points: [...part.map(([round, , least]) => `${x(round)},${y(least)}`), ...part.map(([round, , , most]) => `${x(round)},${y(most)}`).reverse()].join(" ") }),
      s("polyline", { class: "curve of-shuffle", points: part.map(([round, value]) => `${x(round)},${y(value)}`).join(" ") }),
    ]),
    !band && points.map(([round, , least, most]) => [
      s("line", { class: "whisker", x1: x(round), x2: x(round), y1: y(least), y2: y(most) }),
      [least, most].map((end) => s("line", { class: "whisker", x1: x(round) - 4, x2: x(round) + 4, y1: y(end), y2: y(end) })),
    ]),
    points.map((point) => s("circle", { class: "dot of-shuffle", cx: x(point[0]), cy: y(point[1]), r: band ? 2 : 4.5 }, told(point))),
  ];
}

/** Rounds that follow each other without a gap. */
function stretches(points) {
  const found = [];
  for (const point of points) {
    if (found.length && found.at(-1).at(-1)[0] === point[0] - 1) found.at(-1).push(point);
    else found.push([point]);
  }
  return found;
}
