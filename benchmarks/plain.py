"""Other people's messages, as they may be printed: one line, without addresses and without paths of this machine."""

from __future__ import annotations

import re

PLACE = re.compile(r"\(?(?:from )?(?:\w+:/+[^\s)'\"]+|(?<![\w.])~?/[^\s)'\"]+)\)?")
HOST = re.compile(r"host='[^']*'(?:, port=\d+)?")
LONGEST = 200


def without_places(text: str) -> str:
    told = " ".join(HOST.sub("", PLACE.sub("", " ".join(text.split()))).split())
    told = told.replace("|", "/")  # it may stand in a table
    return told if len(told) <= LONGEST else f"{told[:LONGEST].rsplit(' ', 1)[0]} …"
