/** What a person is told about their own report: what left the device, and what it gives away. */

import { general, grouped } from "./words.js";

/** Nothing in it depends on the answer. */
export interface Receipt {
  readonly question: string;
  readonly collection: string;
  readonly batch: number;
  readonly state: State;
  readonly messages: number;
  readonly bytes: number;
  readonly epsilon: number;
  readonly delta: number;
  readonly least: number;
  readonly colluding: number | null; // the epsilon that is left if shuffler and analyser are one; null if nothing is
  readonly lifetime_epsilon: number;
  readonly lifetime_delta: number;
  readonly again: boolean; // whether it had been made before
  readonly top_up: boolean; // whether reports of nobody may stand in for people who stay away
  readonly corrupt: number | null; // how many of the least may lie or collude; null if that was not noted
  readonly anyone: boolean | null; // whether strangers may report
  readonly fixed: boolean | null; // whether batches end with their windows
  readonly padded: boolean | null; // whether the answer itself was sent, which only messages that the shuffler adds hide
  readonly pinned: boolean; // whether the claim was not worked out here, but vouched for by a hash
  readonly rounds: number | null; // of a series: epsilon and delta are those of all of them
  readonly number: number | null; // of a series, which of this device's own reports to it this is
}

const LEFT = {
  made: "has been made and is still on this device",
  taken: "has left this device, and was taken",
  closed: "came when the batch took no reports",
};

const BARE =
  "Your answer is in it as it is, without noise: you trust the shuffler to add its messages, and to tell nobody how many of each kind.";

export type State = keyof typeof LEFT;

export function receiptText(told: Receipt): string {
  const people = `at least ${grouped(told.least - 1)} others${told.top_up ? ", or of nobody" : ""}`;
  const others = told.padded === true ? `${people} and messages that the shuffler adds` : people;
  const odds = times(Math.exp(told.epsilon));
  return [
    `“${told.question}”`,
    `Your report ${LEFT[told.state]}: ${told.messages} sealed message${told.messages === 1 ? "" : "s"}, ${grouped(told.bytes)} bytes, ` +
      "as from everybody else.",
    ...(told.again ? ["It was made before: what is answered now changes nothing."] : []),
    `Mixed with those of ${others}, whatever is learnt is at most ${odds} as likely for one answer ` +
      `as for another, but for a chance of ${general(told.delta)}.${together(told)}`,
    ...(told.padded === true ? [BARE] : []),
    ...(told.corrupt === 0 && relies(told) ? ["That holds only if all of them are honest."] : []),
    ...(told.anyone === true ? ["Anybody may report, as often as they like: many of them may be one."] : []),
    ...(told.fixed === false ? ["Its operator may end it at any moment, and so choose with whom you are mixed."] : []),
    told.colluding === null
      ? "If the shuffler and the analyser work together, they learn the answer."
      : "If the shuffler and the analyser work together, the messages are at most " +
        `${times(Math.exp(told.colluding))} as likely for one answer as for another.`,
    ...(told.pinned ? ["This device did not work that out: it relies on the hash that it was given."] : []),
    `All your reports together: epsilon ${general(told.lifetime_epsilon, 4)}, delta ${general(told.lifetime_delta, 3)}.`,
  ].join("\n");
}

/** Of a series, what holds for all of its rounds. */
function together({ number, rounds, epsilon, delta }: Receipt): string {
  if (number === null || rounds === null) return "";
  const come = `come to epsilon ${general(epsilon)}, delta ${general(delta)} in all`;
  return ` That holds for all rounds together: this is report ${number} of at most ${grouped(rounds)}, which ${come}.`;
}

/** Whether others hide this report: by itself it gives away more than the guarantee says. */
function relies(told: Receipt): boolean {
  return told.padded !== true && (told.colluding === null || told.colluding > told.epsilon);
}

function times(factor: number): string {
  return factor < 1e6 ? `${general(factor, 3)} times` : "some millions of times";
}
