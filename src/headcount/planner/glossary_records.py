"""The words of plans, ledgers, certificates, audits and files."""

from __future__ import annotations

PLAN = {
    "protocol": "A way to answer a question: what each person sends, and how the answer is computed from that.",
    "parameters": "The numbers that a protocol is run with, such as how likely a lie is. They follow from the budget "
    "and the number of people, never from the data.",
    "plan": "A protocol with its parameters, and the budget it was made for. All parties hold the same one; in a "
    "ledger or a certificate it stands for the plan's hash.",
    "programme": "What one person sends, written down step by step with its exact chances.",
    "headcount": "To count people without learning about any one of them. In a plan's file: the version that wrote it.",
    "hash": "Sixty-four hexadecimal digits that stand for all of a text, and change with it.",
    "name": "What it is called.",
    "tasks": "What the protocol can answer.",
    "reference": "The paper that the protocol comes from.",
    "price": "What given parameters of a protocol cost: delta at an epsilon, or epsilon at a delta.",
    "compare": "To answer by the best protocol of every model of trust, side by side. Every answer counts as asked.",
    "difference": "By how much one answer is larger than another, with an interval that knows the errors of both.",
    "ratio": "How many times as large one answer is as another, with an interval that knows the errors of both; it has "
    "none where the second may be 0.",
    "first": "The answer that is compared.",
    "second": "The answer that the first is compared with.",
    "released": "What the trusted side let go, or the messages added up to, and by which protocol: the answer follows "
    "from it, and hc.load_answer reads it.",
    "install completion": "To have the shell complete commands and options of headcount when Tab is pressed.",
    "show completion": "To see what would be added to the shell's settings for that.",
}

LEDGER = {
    "ledger": "A record of all that was asked of one crowd. What is over its budget is refused before anything is "
    "drawn.",
    "charges": "The questions that were paid for, in order.",
    "questions": "How many questions were paid for.",
    "spent": "The share of the ledger's budget that the answers so far have used up, from 0 to 1.",
    "remaining": "The share of the ledger's budget that is left.",
    "left of delta": "What later questions may still have of a ledger's delta. Half of it is for their sum; the other "
    "half pays for the second rule by which a ledger accepts questions, that of divergences.",
    "plain sums": "One of a ledger's two rules: the epsilons of all questions are added up, and so are their deltas, "
    "which may come to half of the ledger's.",
    "divergence": "How far what is seen can differ between two neighbouring crowds. The second of a ledger's two rules "
    "adds up Rényi divergences; with many small questions it accepts more than plain sums do.",
    "order": "The order of the Rényi divergences that a ledger adds up. The first charge fixes it; it is null before.",
    "cost": "By which share of the ledger's budget a question would raise what is spent.",
    "outlook": "Which questions the ledger would still pay for, in words.",
    "fits": "Whether the ledger would pay for the question now.",
    "affords": "How many more such questions the ledger would pay for.",
    "day": "When a question was paid for. Nothing finer is kept.",
    "number": "Which charge it is, counted from 1.",
    "witness": "Of a ledger: a second file, in another place, that tells if charges are missing. Of a refuted "
    "certificate: two neighbouring crowds and an event that is too much more likely with one of them.",
    "witnessed": "Whether a witness was asked.",
}

PICTURES = {
    "frontier": "The protocols that are beaten by none: whatever is more accurate sends more messages, or asks for "
    "more trust.",
    "front": "Whether the protocol is on the frontier.",
    "against": "What the error is held against: messages, epsilon, the number of people (n), or dropouts.",
    "x": "The place along what the error is held against.",
    "over": "The range of what the error is held against.",
    "epsilon_left": "The epsilon that is left of a plan that counted on everybody, if this many drop out. Where there "
    "is none (null), nothing is left.",
    "map": "Which protocol counts best for each number of people and each number of ones among them.",
    "panels": "Maps side by side, each with its own rules.",
    "title": "What a panel shows.",
    "constants": "Where the noise comes from: from the papers' formulas (papers), or from exact accounting (exact), "
    "which needs less.",
    "protocols": "The protocols that take part.",
    "winners": "Who counts best: a row for each number of ones, and in it a column for each number of people.",
    "crossings": "Where sampling and the best of the others are equally good.",
    "above": "Who is better with more ones than that.",
    "situations": "Three typical crowds, to be marked on a map.",
    "theme": "The colours of a picture: light or dark.",
    "study": "A question about the protocols, computed, drawn and answered.",
    "question": "What is asked.",
    "quick": "On a coarser grid, to be done sooner.",
    "key": "What a statement, a slip or a question is called by, as S1.7, P4 or Q3.",
}

PROOF = {
    "certify": "To write a plan's promise down in a file, with all that is needed to prove it again.",
    "certificate": "A file with a plan's promise and all that is needed to prove it again, without trusting its "
    "author.",
    "verify": "To prove a certificate again, by code that shares nothing with what wrote it; or to check that nobody "
    "has changed a ledger.",
    "claim": "The delta that a certificate promises at its epsilon.",
    "claimed": "The delta, or the epsilon, that is promised.",
    "curve": "More points of the promise: a delta at each of several epsilons.",
    "points": "In a verdict, the epsilons at which the promise was looked at. In a picture, the places that were "
    "computed, or how many of them.",
    "proved": "The promise is true: the largest delta that is possible was computed with every rounding error "
    "bounded, and is no larger.",
    "refuted": "The promise is false, and there is a witness to it.",
    "cannot prove": "Neither proved nor refuted, for the reason given.",
    "because": "Why the verdict is what it is.",
    "of": "What the verdict is about.",
    "unproved": "What else a certificate says and no proof looks at: names, words, and whether its accounting is "
    "exact.",
    "effort": "How much work a proof takes, or may take, in units of about a microsecond. The author of a "
    "certificate chose its numbers, which may be enormous; a proof that takes more is given up.",
    "low": "The smallest that the truth could be.",
    "high": "The largest that the truth could be.",
    "chance": "How likely the event is with one of the crowds, at least.",
    "chance_of_neighbour": "How likely it is with the other, at most.",
    "slack": "The part of delta that pays for rounded tables.",
    "values": "How many values a person may choose from.",
    "tally": "Whether messages are counted, or added up.",
    "release": "What the trusted side does before anybody sees the counts: add noise, drop small ones, or nothing.",
    "add": "Tables of the noise that the trusted side adds.",
    "threshold": "Counts below this are dropped.",
    "format": "How the answer is printed: a table, JSON for programs, CSV for spreadsheets or Markdown for documents. "
    "In a file: of which kind it is.",
    "versions": "Which versions of headcount and of its libraries wrote the file.",
}

AUDIT = {
    "audit": "To attack a protocol from the outside: two neighbouring crowds are run many times, and what tells them "
    "apart is held against the promise.",
    "seen": "What the attacker looks at: everything that is shown (view), one person's message, or what is released.",
    "crowds": "How many people hold each value, in either of the two crowds that are to be told apart.",
    "event": "What was looked for in the runs.",
    "hits": "In how many runs of each crowd it happened.",
    "runs": "How many runs of each crowd the event was counted in.",
    "samples": "How many times each crowd was run.",
    "error": "In an audit, the chance that what it proves is wrong. Elsewhere, how far an answer is from the truth.",
    "epsilon_at_least": "The smallest epsilon that is still possible: after what was seen, or because certain crowds "
    "lose it.",
    "epsilon_claimed": "The epsilon that is promised.",
    "violated": "Whether more was proved than is promised.",
    "replay": "Neighbouring crowds run on the same coins, where nothing but one person's report may differ.",
    "pairs": "How many such pairs of crowds were run.",
    "found": "How often something differed that must not.",
    "joint": "Tests of whether the reports of different people hang together, which they must not.",
    "tests": "How many such tests there were.",
    "worst": "The most suspicious of them.",
    "stands": "Whether nothing was found.",
}

FILES = {
    "explain": "To say what a word means, as here.",
    "topic": "What a group of words is about.",
    "word": "What is explained.",
    "meaning": "What the word means.",
    "file": "A CSV or Parquet file with a row for each person.",
    "out": "The file to write into.",
    "save": "The file to write the best plan into.",
    "plot": "The file to draw into.",
    "version": "Which version of headcount this is.",
    "description": "What the published answer is, in a sentence or two.",
    "curator": "Who publishes the answer.",
    "curator-type": "What they are: government, industry or nonprofit.",
    "published": "The day on which the answer was published first, as 2026-05-01.",
    "use": "What the answer is for.",
    "region": "Whom the answer is about, and whose laws apply.",
    "sector": "The part of the economy: technology, healthcare, education, government, energy or finance.",
    "releases": "Whether the answer is published once or many times.",
    "data-source": "Whether new data come in (dynamic) or not (static).",
    "later": "What else will be asked of the same people.",
    "prepared": "How the data were prepared before they were protected.",
    "kept": "How the data are kept before they are protected, and who may see them.",
    "justification": "Why this budget and this model of trust were chosen.",
    "author": "Who fills in the record.",
    "source": "A page that describes the deployment. Of a study, where its question comes from.",
    "registry": "A public list of deployments of differential privacy, kept by OpenDP. Plans can be written down for "
    "it.",
}
