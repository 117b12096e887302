"""Other people's messages, as they may be printed: one line, without this machine's name, addresses and paths."""

from __future__ import annotations

import re
from socket import gethostname

PLACE = re.compile(r"\(?(?:from )?(?:\w+:/+[^\s)'\"]+|(?<![\w.])~?/[^\s)'\"]+)\)?")
HOST = re.compile(rf"host='[^']*'(?:, port=\d+)?|\b{re.escape(gethostname())}\b|\b\d+(?:\.\d+){{3}}(?::\d+)?\b")
LONGEST = 200


def without_places(text: str) -> str:
    told = " ".join(HOST.sub("", PLACE.sub("", " ".join(text.split()))).split())
    told = told.replace("|", "/")  # it may stand in a table
    return told if len(told) <= LONGEST else f"{told[:LONGEST].rsplit(' ', 1)[0]} …"
