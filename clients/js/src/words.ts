/** Numbers as people read them. */

/** To so many digits, as short as it goes; of two that are as near, the one with an even last digit. */
export function general(number: number, digits = 6): string {
  if (number === 0 || !Number.isFinite(number)) return number === 0 ? "0" : number > 0 ? "inf" : String(number);
  const [mantissa = "", power = ""] = Math.abs(number).toExponential(100).split("e");
  const exact = mantissa.replace(".", "");
  let [kept, exponent] = [BigInt(exact.slice(0, digits)), Number(power)];
  const rest = exact.slice(digits).replace(/0+$/, "");
  if (rest > "5" || (rest === "5" && kept % 2n === 1n)) kept += 1n;
  if (kept === 10n ** BigInt(digits)) [kept, exponent] = [kept / 10n, exponent + 1];
  const sign = number < 0 ? "-" : "";
  const figures = kept.toString();
  if (exponent < -4 || exponent >= digits) {
    const short = trimmed(`${figures[0]}.${figures.slice(1)}`);
    return `${sign}${short}e${exponent < 0 ? "-" : "+"}${Math.abs(exponent).toString().padStart(2, "0")}`;
  }
  const padded = figures.padStart(digits - Math.min(0, exponent), "0");
  const point = padded.length - (digits - 1 - exponent);
  return sign + trimmed(`${padded.slice(0, point)}.${padded.slice(point)}`);
}

function trimmed(decimal: string): string {
  return decimal.replace(/0+$/, "").replace(/\.$/, "");
}

/** A whole number with its thousands apart. */
export function grouped(number: number): string {
  return number.toString().replace(/\B(?=([0-9]{3})+$)/g, ",");
}
