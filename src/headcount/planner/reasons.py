"""An advice in plain sentences, for readers without statistics."""

from __future__ import annotations

import math
from collections.abc import Sequence

from headcount.common.plurals import counted, people
from headcount.common.short_decimals import rounded_down
from headcount.phrases import Aside, Phrase
from headcount.planner.objective import Objective
from headcount.planner.option import CalibratedOption, fewest_of, number
from headcount.planner.situation import Situation
from headcount.privacy.model import Model, Party

FEWER = (0.9, 0.5)  # honest, of those that a plan counts on
CLOSER = 1.5  # times as close is worth a word
AS_ANYBODY = 1.01


def reasons(ranked: Sequence[CalibratedOption]) -> str:
    """The choice and its error; what is trusted and promised; the effect of dropouts and collusion.

    And any objections: a delta that promises little, a claim that cannot be proved again, an answer
    that is no better than a guess.
    """
    first = ranked[0]
    sentences = [_choice(ranked), _promise(first), _between(first), delta_warning(first.situation)]
    sentences += [_otherwise(first), _unproved(first)]
    if first.situation.collected:
        sentences += [_fewer_honest(first)]
    if first.situation.collected or first.situation.objective is Objective.ROBUST:
        sentences += [_liars(ranked)]
    sentences += [_guesswork(ranked)] if first.guesswork else []
    return Phrase.joined(" ", filter(None, sentences))


def delta_warning(given: Situation) -> str:
    """A warning if delta is not below one over the number of people."""
    size, delta = given.crowd.size, given.budget.delta
    if size * delta < 1.0:
        return ""
    return (
        f"With δ={delta:g} among {people(size)}, the values of about {size * delta:,.0f} of them might be published "
        f"outright and the promise would still be kept: use a delta far below {1.0 / size:.2g}."
    )


def _choice(ranked: Sequence[CalibratedOption]) -> str:
    first = ranked[0]
    given = first.situation
    honest = " if nobody lies" if given.crowd.corrupt else ""
    each = f" in each of {given.rounds:,} rounds" if given.rounds > 1 else ""
    found = f"Use {first.name}: of {people(given.crowd.size * given.panels)} it {_tells(first)}{honest}{each}"
    other = next((option for option in ranked if option.kind.model is not first.kind.model), None)
    if other is None:
        return f"{found}."
    instead = f"{other.name} would {_instead(first, other)}{_sent(first, other)}"
    return f"{found}; trusting {other.kind.model.trusted}, {instead}."


def _sent(first: CalibratedOption, other: CalibratedOption) -> str:
    """In a collection, the number of messages after padding, where it is larger."""
    own, theirs = (option.situation.costs(option.protocol)[0] for option in (first, other))
    if not first.situation.collected or own == theirs:
        return ""
    return f", with {counted(theirs, 'message')} from everybody instead of {own:,.0f}"


def _tells(option: CalibratedOption) -> str:
    """The error, by the measure that options are ranked by."""
    given, often = option.situation, _often(option.situation.confidence)
    several, answer = given.task.shape.several, given.task.each
    match given.objective:
        case Objective.DETECTABLE if math.isinf(option.objective):
            return "cannot tell any number of ones from none"
        case Objective.DETECTABLE:
            who = "people in a category" if several else "ones"
            return f"tells {_amount(option.objective, given)} {who} or more from none {often}, either way"
        case Objective.RELATIVE:
            return f"tells {answer} with a typical error of {_share(option.objective)} of the truth"
        case Objective.WORST_BIN if several:
            return f"tells all counts at once within {_amount(option.objective, given)} of the truth {often}"
        case _ if math.isinf(option.half_width):
            return f"tells {answer} with a typical error of {_amount(option.rmse, given)}{_over(option)}"
        case Objective.RMSE if _over(option):
            typical = f"a typical error of {_amount(option.rmse, given)}{_over(option)}"
            within = f"within {_amount(option.half_width, given)} of the truth {often}"
            return f"tells {answer} with {typical}, and {within}"
        case _:
            return f"tells {answer} within {_amount(option.half_width, given)} of the truth {often}"


def _over(option: CalibratedOption) -> str:
    """The worst category's error, where the typical error is over all categories."""
    if not option.situation.averaged or option.protocol.steady:
        return ""
    return f" over the categories ({_amount(option.rmse_worst, option.situation)} in the worst)"


def _instead(first: CalibratedOption, other: CalibratedOption) -> str:
    """How another option does by the same measure; solved backwards, what it needs instead."""
    given = other.situation
    if given.budget != first.situation.budget:
        return f"need ε={given.budget.epsilon:.3g} for that"
    if given.crowd != first.situation.crowd:
        return f"need {people(given.crowd.size)} for that"
    match given.objective:
        case Objective.DETECTABLE if math.isinf(other.objective):
            return "not tell any number from none"
        case Objective.DETECTABLE:
            return f"need {_amount(other.objective, given)} or more"
        case Objective.RELATIVE:
            return f"typically be off by {_share(other.objective)}"
        case Objective.WORST_BIN:
            return f"come within {_amount(other.objective, given)}"
        case _ if math.isinf(other.half_width):
            return f"typically be off by {_amount(other.rmse, given)}{_over(other)}"
        case Objective.RMSE if _over(first):
            within = _amount(other.half_width, given)
            return f"typically be off by {_amount(other.rmse, given)}{_over(other)}, and come within {within}"
        case _:
            return f"come within {_amount(other.half_width, given)}"


def _amount(width: float, given: Situation) -> str:
    return f"{number(100.0 * width)} percentage points" if given.task.percent else number(width)


def _share(part: float) -> str:
    return f"{100.0 * part:,.3g}%"


def _often(confidence: float) -> str:
    rare = 1.0 / (1.0 - confidence)
    if abs(rare - round(rare)) > 1e-6 * rare:
        return f"{100.0 * confidence:.6g}% of the time"
    return f"{counted(round(rare) - 1, 'time')} out of {round(rare):,}"


def _promise(first: CalibratedOption) -> str:
    """The meaning of (epsilon, delta), with the odds as a number."""
    budget, trust = first.situation.budget, first.kind.model.trusted
    whom = "Nobody has to be trusted" if first.kind.model is Model.LOCAL else f"You trust {trust}"
    change = "answered anything else" if budget.neighbours == "replace" else "not taken part"
    panels = first.situation.panels
    once = f", being asked in one of {panels:,} rounds, which is drawn by lot beforehand" if panels > 1 else ""
    odds = math.exp(budget.epsilon)
    factor = f"{odds:,.3g} times" if odds < 1e6 else f"10^{budget.epsilon / math.log(10):.0f} times"
    rarely = f", except with a chance of {budget.delta:g}" if budget.delta else ""
    return (
        f"{whom}, and each person is promised {budget}{once}: whatever is seen is at most "
        f"{factor} as likely as if they had {change}{rarely}."
    )


def _between(first: CalibratedOption) -> str:
    """How much of the promise some crowds lose, where it is a bound."""
    least = first.epsilon_at_least
    if first.protocol.loss.kind != "bound" or least is None:
        return ""
    return f"That is a bound: some crowds lose ε={rounded_down(least, 3):g}, and whether any loses more is not known."


def _otherwise(first: CalibratedOption) -> str:
    return Phrase("{}; {}.", _dropouts(first), _collusion(first))


def _dropouts(first: CalibratedOption) -> str:
    """The effect of dropouts, who take their share of the noise along in the shuffle model."""
    crowd = first.situation.crowd
    if first.protocol.neighbours.hides_size:
        return "However many report, there is an answer: their number is private"
    if crowd.least == 1:
        return "If nobody reports, nothing is released"
    liars = f", of which {crowd.corrupt:,} may be lies" if crowd.corrupt else ""
    noiseless = (Model.LOCAL, Model.CENTRAL, Model.DUMMIES)  # where nobody else's noise is needed
    free = ": the promise holds without them" if first.kind.model in noiseless else ""
    wish = "" if crowd.least < crowd.size else Aside(" (plan with a smaller {least} if some may stay away{})", free)
    fewer = counted(crowd.least, "report")
    return Phrase("If fewer than {} come{}, nothing is released{}", fewer, liars, wish)


def _collusion(first: CalibratedOption) -> str:
    if first.kind.model is Model.LOCAL:
        return "and nobody could break it by colluding"
    if first.kind.model is Model.CENTRAL:
        return "but nothing keeps the analyser from looking at every answer"
    left = first.protocol.group_local_epsilon
    whole = "nothing is left of it" if left is None else f"each person is still promised ε={left:.3g}"
    if first.kind.model is Model.DUMMIES:
        return f"and if the shuffler and the analyser collude, {whole}. {_added_by_shuffler(first)}"
    return f"and if the shuffler and the analyser collude, {whole}"


def _added_by_shuffler(first: CalibratedOption) -> str:
    """What it means to trust a shuffler that adds messages."""
    hidden = (
        "The shuffler has to add its messages and tell nobody how many of each kind, or the analyser sees every total"
    )
    own = first.protocol.views()[Party.SHUFFLER]
    if own is None:
        return f"{hidden}; the shuffler itself does as soon as it reads the answer"
    return f"{hidden}; the shuffler itself, reading the answer, learns no more than ε={own.epsilon(0.0):.3g} allows"


def _fewer_honest(first: CalibratedOption) -> str:
    """What is left of the promise if others take their noise away."""
    left = {part: first.epsilon_if(part) for part in FEWER}
    if max(left.values()) <= first.situation.budget.epsilon:
        return "The promise to each holds as it is, however few of the others are honest."
    most, half = (f"ε={each:.3g}" if math.isfinite(each) else "nothing that is proved" for each in left.values())
    return (
        f"It counts on the noise of others: of the promise, {most} is left if only {FEWER[0]:.0%} of those that it "
        f"counts on are honest, and {half} if {FEWER[1]:.0%} are."
    )


def _liars(ranked: Sequence[CalibratedOption]) -> str:
    """How far one liar moves the answer, and who would hold them closer."""
    first = ranked[0]
    what = "a count" if first.situation.task.shape.several else first.situation.task.each
    own = first.reach
    if own is None or not own.bounded:
        return f"One person who lies can move {what} by any amount."
    if own.furthest <= AS_ANYBODY:
        return f"One person who lies can move {what} by {_people(own.furthest)}, hardly more than anybody."
    cells = f" in {own.cells:,} categories at once" if own.cells > 1 else ""
    moved = f"One person who lies can move {what} by up to {_people(own.furthest)}{cells} (anybody can move it by 1)"
    moved = f"{moved}, and a thousand of them a thousand times as far"
    bounded = [(option, option.reach) for option in ranked if option.reach is not None and option.reach.bounded]
    closer, reach = min(bounded, key=lambda each: (each[1].furthest, each[0].rmse))
    if reach.furthest > own.furthest / CLOSER:
        return f"{moved}."
    return f"{moved}; {closer.name} would hold each to {_people(reach.furthest)} at an error of {number(closer.rmse)}."


def _people(reach: float) -> str:
    return f"{reach:,.4g}"


def _unproved(first: CalibratedOption) -> str:
    if first.protocol.provable:
        return ""
    theorem = f"it is a bound that rests on the theorem of {first.kind.reference}"
    return f"`headcount verify` knows no proof of this promise: {theorem}."


def _guesswork(ranked: Sequence[CalibratedOption]) -> str:
    """Which guess is as good, and with how many people which protocol would be better."""
    guess = ranked[0].situation.task.guess
    enough = fewest_of(ranked)
    more = "no number of people would change that"
    if enough is not None:
        more = f"with {people(enough[0])} or more, {enough[1]} would be better"
    return f"But that is no better than {guess} without asking anybody; {more}."
