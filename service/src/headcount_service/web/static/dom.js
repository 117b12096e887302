// Elements, numbers in words, and questions to the server.

export const $ = (id) => document.getElementById(id);

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const h = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
export const s = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/** With the digits that mean something. */
export function number(value) {
  if (value === null || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e4) return Math.round(value).toLocaleString("en");
  if (size < 1e-3) return value.toExponential(1).replace(".0e", "e");
  return Number(value.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 4 });
}

/** People and reports, to the last one. */
export const whole = (value) => Math.round(value).toLocaleString("en");

/** As short as an axis needs it. */
export function short(value) {
  if (value < 0) return `-${short(-value)}`;
  for (const [size, letter] of [[1e9, "bn"], [1e6, "m"], [1e3, "k"]]) {
    if (value >= size) return `${Number((value / size).toPrecision(3))}${letter}`;
  }
  return value >= 1e-3 || value === 0 ? String(Number(value.toPrecision(3))) : value.toExponential(0);
}

/** From words that begin or end anyhow. */
export function sentence(words) {
  const begun = /^https?:/.test(words) ? words : `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
  return /[.?!…]$/.test(begun) ? begun : `${begun}.`;
}

export class Told extends Error {
  constructor(words, status, { field, problem, remedy } = {}) {
    super(words);
    Object.assign(this, { status, field, problem, remedy });
  }
}

const parsed = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** An answer of the server, to the letter. */
export const askText = (...all) => received((response) => response.text(), ...all);

/** The same as bytes. */
export const askBytes = (...all) => received((response) => response.blob(), ...all);

async function received(read, method, path, content, { token, signal } = {}) {
  const headers = { ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  let response, body;
  try {
    response = await fetch(path, {
      method, headers, signal, cache: "no-store", credentials: "omit",
      body: content === undefined ? undefined : JSON.stringify(content),
    });
    body = await (response.ok ? read(response) : response.text());
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new Told("the server cannot be reached; is it still running?", 0);
  }
  if (response.ok) return body;
  const told = parsed(body);
  throw new Told(told?.error ?? `the server refused with ${response.status}`, response.status, told ?? {});
}

export async function ask(...all) {
  const told = parsed(await askText(...all));
  if (told === null) throw new Told("the answer is not one of this server’s; is something else between it and here?", 0);
  return told;
}

export const post = (path, content, signal) => ask("POST", path, content, { signal });

export function saved(name, kind, content) {
  const link = h("a", { href: URL.createObjectURL(new Blob([content], { type: kind })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

export const TRUST = {
  central: "the analyser, with everyone’s answer",
  "shuffle-threshold": "a shuffler that drops small counts",
  "shuffle-dummies": "a shuffler that adds messages of its own",
  shuffle: "a shuffler that mixes the messages",
  local: "nobody",
};
