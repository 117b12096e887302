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

const YES = /^(1|on|t|true|y|yes)$/i;
const NO = /^(0|f|false|n|no|off)$/i;

/** A truth value in any spelling: besides those of `truth`, yes and no, y and n, t and f, on and off. */
export function spelled(value: unknown): boolean | undefined {
  const said = typeof value === "string" ? trimmed(value) : "";
  return YES.test(said) ? true : NO.test(said) ? false : truth(value);
}

const MOMENT =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?$/;

/** Microseconds since 1970, of a day its midnight; text is as ISO 8601 has it, and a `Date` is the moment that it is. */
export function moment(value: unknown): number | undefined {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.getTime() * 1000;
  const found = typeof value === "string" ? MOMENT.exec(trimmed(value)) : null;
  if (!found) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found.slice(1, 7).map((part) => Number(part ?? 0));
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, day);
  at.setUTCHours(hour, minute, second);
  const told = [at.getUTCFullYear(), at.getUTCMonth() + 1, at.getUTCDate(), at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()];
  if (year < 1 || told.some((part, place) => part !== [year, month, day, hour, minute, second][place])) return undefined;
  const zone = found[8] ?? "Z";
  const [hours, minutes] = zone === "Z" ? [0, 0] : [Number(zone.slice(1, 3)), Number(zone.slice(-2))];
  if (hours * 60 + minutes >= 24 * 60) return undefined;
  const shift = (hours * 60 + minutes) * (zone[0] === "-" ? -1 : 1);
  return (at.getTime() - shift * 60_000) * 1000 + Number((found[7] ?? "").padEnd(6, "0").slice(0, 6));
}

const CLOCK =
  /^(?:([+-]?)(?:([0-9]{1,6}) days?,? )?([0-9]{1,6}):([0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]{1,9}))?)?|([+-]?[0-9]{1,6}) days?)$/;

/** Microseconds of a duration: of text that is hours, minutes and perhaps seconds, or days. */
export function duration(value: unknown): number | undefined {
  const found = typeof value === "string" ? CLOCK.exec(trimmed(value)) : null;
  if (!found) return undefined;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = found.slice(2, 6).map((part) => Number(part ?? 0));
  if (found[7] !== undefined) return Number(found[7]) * 86_400_000_000;
  const whole = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
  return (found[1] === "-" ? -1 : 1) * (whole * 1_000_000 + Number((found[6] ?? "").padEnd(6, "0").slice(0, 6)));
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
