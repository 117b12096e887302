"""A messy table of customers, drawn from a seed: spellings, blanks, outliers, refunds, copies of rows, and dates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import pandas as pd

PEOPLE, COPIES = 50_000, 1_500
YES, NO = ("Yes", "Y", "yes ", "true", "1", "TRUE"), ("No", "n", "false", "0", " NO")
WHERE = ["Yes", "Y", "yes", "true", "TRUE", 1]
PLANS, COUNTRIES = ("free", "pro", "team"), ("DE", "FR", "NL", "AT")
FIRST = date(2025, 1, 1)
DAYS = 181
PRODUCTS = 200


@dataclass(frozen=True)
class Messy:
    """The table as people have it, with a row or two for each, and what is true of the people in it."""

    table: pd.DataFrame
    people: pd.DataFrame
    orders: pd.DataFrame


def messy(seed: int, people: int = PEOPLE, copies: int = COPIES) -> Messy:
    rng = np.random.default_rng(seed)  # noqa: TID251 - of the table, not of an answer
    churned = rng.random(people) < 0.18
    plan = rng.choice(PLANS, people, p=[0.7, 0.28, 0.02])
    country = rng.choice([*COUNTRIES, ""], people, p=[0.55, 0.25, 0.15, 0.03, 0.02])
    spend = np.round(rng.lognormal(3.5, 0.8, people), 2)
    spend[rng.random(people) < 0.02] *= -1.0  # refunds
    spend[rng.random(people) < 0.001] *= 1_000.0  # outliers
    blank = rng.random(people) < 0.01
    joined = rng.integers(0, DAYS, people)
    truth = pd.DataFrame(
        {
            "customer": np.arange(people), "churned": churned, "plan": plan, "country": country, "spend": spend,
            "blank": blank, "joined": joined,
        }
    )  # fmt: skip
    said = np.where(churned, rng.choice(YES, people), rng.choice(NO, people))
    said[rng.random(people) < 0.02] = ""
    truth["churned"] &= said != ""
    rows = pd.DataFrame(
        {
            "customer": [f"c{number:06}" for number in range(people)],
            "churned": said,
            "plan": np.where(rng.random(people) < 0.1, np.char.add(plan, " "), plan),
            "country": country,
            "spend": np.where(blank, "", [f"{each:.2f}" for each in spend]),
            "joined": [_written(day, rng.random()) for day in joined.tolist()],
        }
    )
    table = pd.concat([rows, rows.sample(copies, random_state=seed)]).sample(frac=1.0, random_state=seed)
    buyers = rng.integers(0, people, 3 * people)
    shares = 1.0 / np.arange(1, PRODUCTS + 1)
    bought = rng.choice(PRODUCTS, 3 * people, p=shares / shares.sum())
    orders = pd.DataFrame(
        {"customer": [f"c{number:06}" for number in buyers], "product": [f"p{each:03}" for each in bought]}
    )
    return Messy(table.reset_index(drop=True), truth, orders)


def _written(day: int, how: float) -> str:
    at = FIRST + timedelta(days=day)
    return f"{at}T{int(how * 24):02}:30:00" if how < 0.3 else f"{at} 08:15" if how < 0.4 else f" {at}"
