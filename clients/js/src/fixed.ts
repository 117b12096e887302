/** Numbers with 256 binary digits after the point, as whole numbers of 2^-256; each operation is wrong by a few of them. */

export type Fixed = bigint;

const DIGITS = 256n;
export const ONE: Fixed = 1n << DIGITS;

export function ratio(over: bigint, under: bigint): Fixed {
  return (over << DIGITS) / under;
}

export function times(one: Fixed, other: Fixed): Fixed {
  return (one * other) >> DIGITS;
}

/** e to the power of something from -64 to 0: the series of a small part of it, squared as often as it was halved. */
export function exponential(power: Fixed): Fixed {
  const halvings = 16n;
  const small = power >> halvings;
  let [sum, term] = [ONE, ONE];
  for (let k = 1n; term !== 0n && term !== -1n; k++) sum += term = times(term, small) / k;
  for (let k = 0n; k < halvings; k++) sum = times(sum, sum);
  return sum;
}

/** The natural logarithm of something above 0 and up to 1: that of 2^-k y with y from 1/2 on, by the series of atanh. */
export function logarithm(number: Fixed): Fixed {
  let [scaled, halvings] = [number, 0n];
  for (; scaled < ONE >> 1n; halvings++) scaled <<= 1n;
  return atanh(scaled) + (halvings ? halvings * atanh(ONE >> 1n) : 0n);
}

function atanh(number: Fixed): Fixed {
  const part = ((number - ONE) << DIGITS) / (number + ONE);
  const square = times(part, part);
  let sum = 0n;
  for (let [term, k] = [part, 1n]; term !== 0n && term !== -1n; k += 2n) {
    sum += term / k;
    term = times(term, square);
  }
  return 2n * sum;
}

export function double(number: Fixed): number {
  const digits = number.toString(2).length;
  return digits > 1000 ? Infinity : Number(number) / 2 ** 256;
}
