/** What is refused, and how that is said: what was wrong, which argument, a value that would work. Never an answer. */

export class Refused extends Error {
  override name = "Refused";
}

/** An argument is out of range. */
export class BadArgument extends Refused {
  override name = "BadArgument";

  constructor(readonly argument: string, readonly problem: string, readonly remedy: string) {
    super(`${argument} ${problem}; ${remedy}`);
  }
}

/** This device, or this collection, does not offer that. */
export class Unsupported extends Refused {
  override name = "Unsupported";
}

/** The loss is larger than this device allows. */
export class OverBudget extends Refused {
  override name = "OverBudget";
}

/** The other side refused, or could not be reached. */
export class Elsewhere extends Refused {
  override name = "Elsewhere";

  constructor(words: string, readonly status = 0) {
    super(words);
  }
}
