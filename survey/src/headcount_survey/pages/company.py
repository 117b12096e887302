"""The page about company A.

    python -m headcount_survey.pages.company [--runs 20000] [--out docs/company-a.md]

Every number and every sentence that hangs on one is computed. The command fails if a prediction is
off by more than five standard errors of its simulation.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from textwrap import fill

from headcount.planner.option import number
from headcount.planner.smallest_crowd import smallest_crowd
from headcount.privacy.crowd import Crowd
from headcount.protocols import named
from headcount.questions.count import Count
from headcount_survey.pages.company_cases import BUDGET, CASES, LIMIT, Answer, Case, published_need
from headcount_survey.pages.situations import RUNS


def _row(answer: Answer, papers: Answer) -> str:
    if answer.protocol is None:
        return f"| {answer.by} | {answer.name}: {answer.why} | | | | |"
    cells = [
        answer.by,
        answer.name,
        number(answer.predicted),
        number(answer.simulated),
        f"{answer.spent:.2f}",
        "" if answer is papers else _against(answer.predicted, papers.predicted),
    ]
    return "| " + " | ".join(cells) + " |"


def _against(error: float, papers: float) -> str:
    return f"{_times(papers / error)} times less" if error <= papers else f"{_times(error / papers)} times more"


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10.0 else f"{ratio:.1f}"


def _wrapped(text: str) -> str:
    return fill(text, 120, break_long_words=False, break_on_hyphens=False)


def _by_the_papers(case: Case) -> str:
    zsum, sampled = case.papers
    none = [answer for answer in case.papers if answer.protocol is None]
    gone = (
        f"The papers' formulas leave no choice: {none[0].name} {none[0].why}, and there are {case.people:,}. "
        if none
        else ""
    )
    said = f"They advise {case.paper.name}, which is off by {number(case.paper.predicted)} in a typical answer"
    other = sampled if case.paper is zsum else zsum
    rather = f", against {number(other.predicted)} for {other.name}" if other.protocol else ""
    blind = ""
    if case.paper.predicted >= 0.5 * case.ones:
        blind = f" With {case.ones:,} ones to be found, that is hardly an answer: mostly it says 0."
    elif sampled.predicted >= 0.9 * case.ones:
        blind = f" Sampled so thinly, the {case.ones:,} ones are nearly always dropped, and {sampled.name} says 0."
    return (
        f"**What the papers' constants say.** {gone}{said}{rather}.{blind} The company pays for ε={BUDGET.epsilon:g}, "
        f"and this plan uses ε={case.paper.spent:.2f} of it: the rest is lost in the proof."
    )


def _by_accounting(case: Case) -> str:
    zsum, sampled = case.exact
    worse = sampled if case.better is zsum else zsum
    ratio = worse.predicted / case.better.predicted
    alike = "about as good as" if ratio < 1.25 else f"{_times(ratio)} times better than"
    same = case.better.name == case.paper.name
    change = "The same algorithm, with" if same else f"The other algorithm, {case.better.name}, with"
    need = ""
    if not same:
        fewest = smallest_crowd(named(case.better.name), Count(), Crowd(case.people), BUDGET)
        need = f" It works from {fewest:,} people on, not from {published_need():,}." if fewest else ""
    return (
        f"**What exact accounting says of the same two.** {change} the least noise that the budget really asks for, is "
        f"off by {number(case.better.predicted)}: {_against(case.better.predicted, case.paper.predicted)}. It is "
        f"{alike} {worse.name} ({number(worse.predicted)}).{need}{_tuned(case)}"
    )


def _tuned(case: Case) -> str:
    """The dependence of sampling's error on the threshold."""
    sampled = case.exact[1]
    if sampled.protocol is None:
        return ""
    threshold, half = sampled.protocol.parameters["threshold"], case.ones // 2
    return (
        f" That {sampled.name} comes to {number(sampled.predicted)} takes a threshold that is tuned to the count, here "
        f"{threshold:,}; with it, if {half:,} held a one, it would be off by {number(sampled.protocol.rmse(half))}."
    )


def _by_the_advisor(case: Case) -> str:
    best, analyser, nobody = (case.advised[trust] for trust in ("a shuffler", "the analyser", "nobody"))
    drops = case.advised["a shuffler that drops small counts"]
    hardly = best.predicted <= 1.05 * analyser.predicted
    all_of_it = "hardly change that" if hardly else "change that"
    more = (
        "A shuffler that drops small counts too would buy nothing"
        if drops.name == best.name
        else f"If it may drop small counts too, {drops.name} is off by {number(drops.predicted)}"
    )
    dear = nobody.predicted / best.predicted
    hopeless = ", more than there are to be counted" if nobody.predicted > case.ones else ""
    return (
        f"**What we recommend.** Neither: {best.name}, for which a shuffler needs only to mix, is off by "
        f"{number(best.predicted)}, {_times(case.shrinks)} times less than what the papers advise. {more}, and handing "
        f"everything to an analyser would {all_of_it} ({number(analyser.predicted)}, {analyser.name}). Trusting "
        f"nobody costs {_times(dear)} times as much: off by {number(nobody.predicted)}{hopeless} ({nobody.name})."
    )


HEAD = """# Which algorithm should company A use?

A company has people who each hold a zero or a one, and a privacy budget of {budget}; it wants the number of ones, as
nearly as it can be had. It hesitates between two algorithms: dummy ones that everybody adds (`zsum`), or asking a few
and dropping small counts (`sample-threshold`). Three crowds, made up for this page, are answered in three ways: by the
constants of the two papers, by exact accounting of the same two, and by the advisor from the whole catalogue.

An error is the root of its mean square, in people, predicted from the exact law and confirmed by {runs:,} simulated
runs each (within {limit:g} standard errors; the worst is {worst:.1f}). Made by `make company`: every number and every
sentence that hangs on one is computed.

| crowd | ones | the papers advise | off by | exact, of the same two | off by | we recommend | off by | less error |
|---:|---:|---|---:|---|---:|---|---:|---:|
"""


def page(cases: tuple[Case, ...] = CASES) -> str:
    worst = max(abs(answer.z) for case in cases for answer in case.answers)
    head = HEAD.format(budget=BUDGET, runs=cases[0].runs, limit=LIMIT, worst=worst)
    return head + "".join(f"{_line(case)}\n" for case in cases) + "".join(_section(case) for case in cases)


def _line(case: Case) -> str:
    three = (
        part for answer in (case.paper, case.better, case.best) for part in (answer.name, number(answer.predicted))
    )
    cells = [f"{case.people:,}", f"{case.ones:,}", *three, f"{_times(case.shrinks)} times"]
    return "| " + " | ".join(cells) + " |"


def _section(case: Case) -> str:
    rows = "".join(f"{_row(answer, case.paper)}\n" for answer in case.answers)
    reasons = "\n\n".join(_wrapped(f"*Trusting {trust}*: {answer.why}") for trust, answer in case.advised.items())
    prose = "\n\n".join(_wrapped(write(case)) for write in (_by_the_papers, _by_accounting, _by_the_advisor))
    return f"""
## {case.title}

{case.people:,} people, {case.ones:,} ones, {BUDGET}.

{prose}

| by | protocol | off by | simulated | ε spent at δ={BUDGET.delta:g} | than the papers' advice |
|---|---|---:|---:|---:|---:|
{rows}
In the advisor's words:

{reasons}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Three crowds, by two papers' constants and by exact accounting.")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    cases = tuple(Case(case.title, case.people, case.ones, given.runs) for case in CASES)
    if given.out:
        given.out.write_text(page(cases), encoding="utf-8")
    else:
        print(page(cases))
    sys.exit(not all(case.confirmed for case in cases))


if __name__ == "__main__":
    main()
