/** What a value means: a function of that value and of what was asked, as in Python (docs/reading.md). */

const SPACE = /^[ \t\n\r\v\f]+|[ \t\n\r\v\f]+$/g;
const NUMERAL = /^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$/;

/** Null and undefined, NaN, and blank text. */
export function missing(value: unknown): boolean {
  return typeof value === "string" ? trimmed(value) === "" : value === null || value === undefined || Number.isNaN(value);
}

/** True and false, 1 and 0, and text that says or reads as one of them; undefined otherwise. */
export function truth(value: unknown): boolean | undefined {
  const said = typeof value === "string" ? trimmed(value) : "";
  if (/^(true|false)$/i.test(said)) return said.length === 4;
  const found = number(value);
  return found === 0 || found === 1 ? found === 1 : undefined;
}

/** The nearest double: of a number, of a truth value (1 or 0), or of text that is a decimal numeral. */
export function number(value: unknown): number | undefined {
  if (typeof value === "string") return NUMERAL.test(trimmed(value)) ? Number(trimmed(value)) : undefined;
  return typeof value === "boolean" || typeof value === "number" || typeof value === "bigint" ? Number(value) : undefined;
}

/** Text without white space around it; numbers in their decimal digits, written out. */
export function text(value: unknown): string | undefined {
  if (typeof value === "string") return trimmed(value);
  if (typeof value === "boolean" || typeof value === "bigint") return String(value);
  if (typeof value !== "number") return undefined;
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  return Number.isInteger(value) ? String(BigInt(value)) : writtenOut(value);
}

/** The shortest decimal that reads as this number, which is not whole, without an exponent. */
function writtenOut(value: number): string {
  const [digits = "", exponent = "0"] = String(Math.abs(value)).split("e");
  const [whole = "", part = ""] = digits.split(".");
  const zeros = -Number(exponent) - whole.length; // a number with an exponent that is not whole is small
  const said = zeros < 0 ? digits : `0.${"0".repeat(zeros)}${whole}${part}`;
  return value < 0 ? `-${said}` : said;
}

function trimmed(value: string): string {
  return value.replace(SPACE, "");
}
