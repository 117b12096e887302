"""The report programme: what one person sends, what is kept of it, and what the trusted side adds.

Begin with `brick`. A protocol imports its bricks, draws and tallies from here. Imports common and
questions; knows no protocol.

Protocols of other packages may import from here: it changes with minor versions only (docs/api.md).
"""

from headcount.programme.brick import NOTHING, All, Brick, Copies, Each, Emit, Let, Maybe
from headcount.programme.chance import Chance
from headcount.programme.coins import Coins
from headcount.programme.draw import Below, From, Rounded
from headcount.programme.field import VALUE, Field
from headcount.programme.release import Release, Threshold, Unchanged
from headcount.programme.rows import Row, Shares, Subset
from headcount.programme.table import Table
from headcount.programme.tally import Batch, Tally

__all__ = [
    "NOTHING",
    "VALUE",
    "All",
    "Batch",
    "Below",
    "Brick",
    "Chance",
    "Coins",
    "Copies",
    "Each",
    "Emit",
    "Field",
    "From",
    "Let",
    "Maybe",
    "Release",
    "Rounded",
    "Row",
    "Shares",
    "Subset",
    "Table",
    "Tally",
    "Threshold",
    "Unchanged",
]
