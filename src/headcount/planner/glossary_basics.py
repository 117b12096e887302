"""What headcount's words mean, for people without statistics: a sentence or two each, all true."""

from __future__ import annotations

from headcount.planner.glossary_collecting import COLLECTING
from headcount.planner.glossary_records import AUDIT, FILES, LEDGER, PICTURES, PLAN, PROOF
from headcount.privacy.loss import KINDS

PROMISE: dict[str, str] = {
    "epsilon": "How much more likely any outcome may become because one person answers otherwise: at most e^epsilon "
    "times, which is 1.1 times for 0.1, 2.7 times for 1 and 20 times for 3. Smaller is more private.",
    "time": "The column of a table that says when something happened: a date, a time, or a text such as 2026-01-31.",
    "contributes": "In how many rounds a person counts at most, as those who sign up count in one. Rounds of people "
    "who are in more of them are drawn by lot.",
    "cumulative": "The sum of all rounds so far. As an option: that such sums matter more than single rounds.",
    "cell": "Of an answer about several categories or groups, one of them.",
    "timezone": "Where days, weeks and months begin, as Europe/Berlin: with 23 or 25 hours where clocks are changed. "
    "Times that tell no zone are in UTC.",
    "dates": "How text writes days, where that is not 2026-11-16: with %d, %m and %Y, and perhaps %H, %M and %S.",
    "best_for": "What of a distribution is to have the smallest error: ranges, quantiles or single bins.",
    "blanks": "Text that means nothing, as NA and -. It is missing, as blank text is.",
    "synonyms": "Other words for the same, as germany and Deutschland for Germany.",
    "numbers": "How text writes numbers, by the example 1,234.50 or 1.234,50 or 1 234,50 or 1'234.50.",
    "rounds": "How often the same people are asked the same question. The budget is for all rounds together, and the "
    "plan and its errors are for one of them.",
    "delta": "What may come on top of that factor, to the chance of any outcome: roughly, the chance that the promise "
    "fails. Keep it far below one over the number of people, as 1e-6 among 10,000; with 0 it never fails.",
    "delta_slack": "The part of delta that pays for what a computer rounds: tables of chances, and tails that are cut "
    "off. It is included in delta.",
    "budget": "What may be spent on privacy: an epsilon and a delta, between neighbours. Nothing is run that costs "
    "more.",
    "guarantee": "What is promised to everybody who takes part: the budget, the neighbours, the model of trust, and "
    "whether that was computed exactly.",
    "loss": "What a protocol gives away: for each epsilon, the smallest delta with which the promise holds.",
    "neighbours": "Which two crowds must look nearly alike: 'replace' (one person holds something else) or "
    "'add-remove' (one person is missing). An epsilon says nothing without it.",
    "replace": "Neighbouring crowds have as many people, of whom one holds another value. What a person holds is "
    "hidden; that they took part, and how many did, is not.",
    "add-remove": "Neighbouring crowds differ in whether one person is there at all. Even the number of people is "
    "hidden then, and not shown; central protocols and sample-threshold can do it.",
    "accounting": "How the loss was computed: 'exact', 'rounded' or 'bound'.",
    **{str(kind): f"Of the loss: {meaning}." for kind, meaning in KINDS.items()},
    "local_epsilon": "The epsilon that is left to a person if everybody else works against them, shuffler and "
    "analyser included. Where there is none (null), nothing is left.",
    "collusion": "That shuffler and analyser share what they see. Then messages are no longer mixed, and of the "
    "promise local_epsilon is left.",
    "dropouts": "People who were expected and do not report. They take their share of the noise along, so a plan says "
    "how many reports it needs at least, and with fewer nothing is released.",
    "together": "What several answers about the same people cost together. It is less than the sum of "
    "their budgets, or equal to it.",
}

TRUST = {
    "model": "Whom people have to trust: the analyser with everything (central), a shuffler (shuffle, "
    "shuffle-dummies, shuffle-threshold), or nobody (local).",
    "central": "The analyser sees what everybody holds, adds noise to the answer, and is trusted with all of it. The "
    "most accurate model: at epsilon 1 a count is typically off by 1.4 people, however many there are.",
    "local": "Nobody is trusted: noise is added to each answer before it leaves its own device. The least accurate "
    "model: at epsilon 1 a count of 10,000 people is typically off by 96.",
    "shuffle": "A shuffler is trusted to mix the messages of all, so that nobody can tell whose is whose. At epsilon "
    "1 and delta 1e-6 a count of 10,000 people is typically off by 1.4, as if the analyser were trusted.",
    "shuffle-dummies": "A shuffler is trusted to mix the messages of all, to add some of its own, and to tell nobody "
    "how many of each kind. Everybody sends one message without noise, and at epsilon 1 and delta 1e-6 a count is "
    "typically off by 1.9 people, however many there are.",
    "shuffle-threshold": "A shuffler is trusted to count the messages of all and to drop every count that is too "
    "small; what only a few people hold is never shown.",
    "shuffler": "The party that receives everybody's messages, forgets who sent which, and passes them on in no order.",
    "analyser": "The party that computes the answer from what it is sent. Only the central model needs to trust it.",
    "trusted": "Who has to behave for the promise to hold.",
    "price_of_trust": "How many times as large the predicted error is as in the central model, where the analyser is "
    "trusted with everything. × 71 is what it may cost to trust nobody.",
    "honest": "How many of the reports (for advise: which fraction of them) come from people who follow the protocol. "
    "The promise counts on the noise of these alone.",
    "least": "The fewest reports with which an answer is released. The fewer are needed, the more noise each brings.",
    "corrupt": "How many of those reports may come from people who lie or work against the others. The promise to the "
    "others holds without their noise.",
    "crowd": "The people who are asked: how many are expected, how many must report at least, how many of those may "
    "lie.",
    "n": "How many people report. Not shown with add-remove, where it is private itself.",
    "people": "How many people there are.",
    "size": "How many people are expected.",
    "collectable": "Whether `headcount serve` can collect it from people's own devices: its shuffler mixes, and may "
    "add messages of its own.",
    "collected": "That reports are really collected from devices: messages are sealed, and everybody sends as many as "
    "everybody else. See wire_messages.",
}

ANSWER = {
    "value": "The answer, with its noise. On average it is right, unless it was clamped or its protocol has a bias; "
    "it may be negative.",
    "interval95": "A range that holds the truth in at least 19 of 20 repetitions. In an advice it is how far the "
    "range reaches to either side: 3 stands for the answer ± 3.",
    "confidence": "How often an interval holds the truth when everything is repeated: 0.95 is 19 times out of 20.",
    "simultaneous95": "In at least 19 of 20 repetitions all counts of a histogram are this close to their truths, all "
    "at once. An interval95 is no wider: it speaks of one count.",
    "std_error": "The size of a typical error at the answer itself. In an advice it is how much the answer scatters "
    "when everything is repeated, which is the same as the rmse if there is no bias.",
    "rmse": "The size of a typical error: the root of its mean square over many repetitions. An answer lies within "
    "twice that of the truth at least 3 times out of 4, and usually 19 times out of 20. Of a histogram of which "
    "nothing is known beforehand, the mean square is also over its categories: with most protocols that is the same "
    "however people are divided among them, and otherwise it is the largest that it can be.",
    "rmse_average": "The rmse where every number of ones is as likely as any other, rather than for the number that "
    "is hardest to estimate. Of a histogram, the rmse over its categories.",
    "rmse_worst": "The rmse for the number of ones, or of people in a category, that is hardest to estimate.",
    "bias": "How far off the answer is on average over many repetitions. Nearly all protocols have none.",
    "relative error": "A typical error as a part of the truth: 0.1 is a tenth of it. It takes a guess of the truth, "
    "--ones.",
    "worst bin": "How close all counts of a histogram are to their truths at once, with the confidence asked for.",
    "smallest detectable": "The fewest people with a one that can be told from nobody, each way with the confidence "
    "asked for: 'somebody' is rarely said of nobody, and rarely missed.",
    "liar": "How far one person who sends whatever the analyser takes can move a cell: up and down, in people, and in "
    "how many cells at once. Honest people move it by 1 at most. `consistent` bounds the same where answers are made "
    "consistent; `lifted` is how far where one report makes a small count pass a threshold.",
    "up": "How far a liar can move a cell upward, in people.",
    "down": "How far a liar can move a cell downward, in people.",
    "lifted": "How far a liar moves a cell where one more report makes a small count pass a threshold; 0 if none is.",
    "bounded": "Whether there is a limit to how far a liar can move an answer.",
    "padded": "Whether a device sends its answer without noise, for the shuffler to hide with messages that it adds.",
    "liars": "How many people who lie an answer is to be robust against.",
    "error with liars": "The root mean square of a typical error and of how far the liars can move a count together.",
    "minimax": "To judge a protocol by the data that are hardest for it. That is done wherever it is not said how "
    "many ones are expected; of a histogram, by the error over all of its categories.",
    "truth": "What the answer would be without noise. Known only where people are simulated.",
    "off by": "How far the answer is from the truth.",
    "category": "One of the labels that are counted, or one bin of numbers.",
    "cells": "The counts of a histogram, one for each category.",
    "other": "People in none of the categories, counted apart.",
}

ADVICE = {
    "objective": "What protocols are ranked by: rmse, interval, worst-bin, relative, detectable or robust.",
    "ones": "About how many people are a yes, or are in the category, as a guess made without looking at the data. "
    "Some protocols err less where there are few; left out, each is judged by its worst case.",
    "sparsity": "How few people are a yes: 10 of 10,000 are sparse. Some protocols err less then; say so with --ones.",
    "within": "How close the answer has to be: half the width of its interval, unless another objective is named. "
    "Advice then finds the smallest epsilon, or the fewest people, with which it is.",
    "smallest_n": "The fewest people with whom the protocol meets the budget and is better than to guess half of them.",
    "options": "The protocols that were looked at, the best first.",
    "best": "The protocol that comes first among those that can serve.",
    "feasible": "Whether the protocol can serve at all.",
    "reason": "Why it can serve, or what it lacks.",
    "out of proportion": "It would send more than 1,000 messages a person, and is ranked after all others.",
    "models": "The models of trust, one after the other.",
}

SENT = {
    "report": "What one person sends: some messages, or none.",
    "messages_per_person": "How many messages a person sends on average, if they hold the value that takes most.",
    "bits_per_person": "How many bits that is, before anything is sealed.",
    "wire_messages": "How many messages everybody sends in a real collection, with dummies to fill up: the same "
    "number for all, so that a listener learns nothing from it.",
    "wire_bytes": "How many bytes everybody sends in a real collection, seals and dummies included: the same for all.",
    "max_messages": "The most messages that a person may send.",
    "max_bytes": "The most bytes that a person may send.",
}

QUESTION = {
    "quantiles": "Values below which 5%, 25%, 50%, 75% and 95% of the people lie, where noise does not hide so few.",
    "at": "The part of the people that lie below a quantile: 0.5 is the median.",
    "counts": "How many people lie in each bin of a distribution.",
    "column": "The column of the file that holds people's answers.",
    "where": "The value that counts as yes. Anything else, or nothing, counts as no.",
    "unit": "The column of person ids, where a person may have several rows. Without it each row is taken for a "
    "person, and the promise to somebody with ten rows holds with ten times the epsilon only.",
    "max_contributions": "How many of a person's rows count, each for itself. The promise is for all of them together, "
    "so that more rows take more noise; which rows are kept of somebody who has more is drawn by lot. More than one "
    "needs the relation add-remove: the number of all rows would tell how many a person has.",
    "engine": "Where the work is done: here, in memory or by DuckDB, or on Spark. The answer is the same.",
    "by": "The column of groups, to count the ones in each of them.",
    "categories": "The labels to count, or how many there are. Say them without looking at the data.",
    "unknown keys": "Labels that nobody listed beforehand. Only those that enough people share can be shown, because "
    "a label may itself give somebody away.",
    "columns": "The columns of a table, each with its categories or bins.",
    "windows": "Spans of rounds, one after the other, for each of which a budget is given anew. What somebody did in "
    "two rounds side by side may be in two of them, and who stays is in all.",
    "periods": "How many days, weeks or months there are, of which everybody comes in one at most.",
    "noise on": "What noise is added to: periods, blocks of several periods as well, or weighted sums of the past.",
    "margins": "How many columns of a table at most are told together; smaller tables follow from these.",
    "bins": "The edges between which numbers are counted, or how many equal bins there are within the bounds.",
    "bounds": "The smallest and the largest value that anybody could hold. Say them without looking at the data; the "
    "wider they are, the more noise it takes.",
    "whole": "That all values are whole numbers, which then need no rounding.",
    "clip": "To bring values outside the bounds to the nearer one, instead of refusing them. The answer and its "
    "interval are then about the clipped values, and say so; the mean of the data may be far from theirs.",
    "clipped_to": "Between which bounds values were brought before they were added up: the answer is about the clipped "
    "ones. None where values outside the bounds are refused.",
    "simulated": "That people's devices and all parties were simulated by the data holder: "
    "the answer is as wrong as theirs would be, and only those who see nothing else are kept from the rest.",
    "rules": "What was declared of values that are not plain: which values count as yes, what a missing one counts "
    "as. To how many rows a rule applied is not told: that would be an answer of its own.",
    "missing": "What a missing value counts as: it is refused unless this says no, other, category (one of its own) "
    "or, for sums, a number; or, where the number of people is private, drop, which leaves its row out.",
    "spelled": "To read yes and no in any spelling: yes, y, true, t, on and 1, and no, n, false, f, off and 0.",
    "sort": "The order of categories: by value, the largest first, or by category.",
    "top": "How many of the largest categories to show, with what is true of ranks.",
    "k": "How many of the largest categories are asked for.",
    "surely": "Which categories are among the largest whatever the noise may have been, with 95% confidence for all.",
    "maybe": "Which categories may be among the largest; with 95% confidence none of them is left out.",
    "hidden": "Whether a category may be among the largest that is not shown, since nobody listed it.",
    "clamp": "To bring the answer into the range of what is possible, as no count below 0. It is then never further "
    "from the truth, but no longer right on average.",
    "consistent": "To bring the counts of a histogram to the nearest ones that are not negative and add up to the "
    "number of people. They are then no longer right on average.",
    "fractions": "To give the counts of a histogram as fractions of the people.",
}

ASKED = "the question"
TOPICS = {
    "the promise": PROMISE,
    "who is trusted": TRUST,
    "the answer": ANSWER,
    "advice": ADVICE,
    "what is sent": SENT,
    ASKED: QUESTION,
    "plans and protocols": PLAN,
    "several questions": LEDGER,
    "collecting over a network": COLLECTING,
    "pictures and studies": PICTURES,
    "proof": PROOF,
    "attack": AUDIT,
    "files, and the registry of deployments": FILES,
}

ALSO = {
    "ε": "epsilon",
    "δ": "delta",
    "privacy budget": "budget",
    "replace-one": "replace",
    "add-or-remove-one": "add-remove",
    "neighbors": "neighbours",
    "relations": "neighbours",
    "relation": "neighbours",
    "if they collude": "collusion",
    "if everybody else colludes": "collusion",
    "drop out": "dropouts",
    "analyzer": "analyser",
    "you trust": "trusted",
    "answer": "value",
    "95% interval": "interval95",
    "interval": "interval95",
    "low95": "interval95",
    "high95": "interval95",
    "all at once": "simultaneous95",
    "all at once, 95%": "simultaneous95",
    "all within": "simultaneous95",
    "error (rmse)": "rmse",
    "each count is off by": "rmse",
    "standard error": "std_error",
    "on average": "rmse_average",
    "worst category": "rmse_worst",
    "relative": "relative error",
    "detectable": "smallest detectable",
    "one liar": "liar",
    "robust": "error with liars",
    "bin": "category",
    "messages": "messages_per_person",
    "messages sent": "messages_per_person",
    "bytes": "wire_bytes",
    "bits": "bits_per_person",
    "panel": "panels",
    "winner": "winners",
    "crossing": "crossings",
    "param": "parameters",
    "spent so far": "spent",
    "charge": "charges",
    "claimed delta": "claimed",
    "true delta, at least": "low",
    "at most": "high",
    "happens": "hits",
    "same coins": "replay",
    "independence": "joint",
    "differential privacy": "epsilon",
}
