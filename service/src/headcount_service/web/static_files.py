"""Files sent to a browser as they are: a page, a style, modules, and every figure's colours."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from headcount.figures.colours import DARK, LIGHT, Theme, dashes_of
from headcount.privacy.model import Model
from headcount.protocols import CATALOGUE
from headcount_service.runtime.http import Response

POLICY = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
HEADERS = ((b"content-security-policy", POLICY.encode()),)
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".svg": "image/svg+xml",
}
PAGE = "index.html"


@cache
def contents() -> dict[str, Response]:
    """Every file by its name."""
    found = {}
    for each in files("headcount_service.web").joinpath("static").iterdir():
        kind = KINDS.get(each.name[each.name.rfind(".") :])
        if kind is not None:
            found[each.name] = Response(200, each.read_bytes(), kind, HEADERS)
    found["colours.css"] = Response(200, colours().encode(), KINDS[".css"], HEADERS)
    return found


def colours() -> str:
    """Both themes as a style: paper, ink, a colour per model, a colour and dashes per protocol."""
    dark = "\n".join(f"  {line}" for line in _colours(DARK).splitlines())
    dashes = "\n".join(
        f".of-{kind.name} {{ stroke-dasharray: {' '.join(f'{dash:g}' for dash in dashes_of(kind.name)) or 'none'}; }}"
        for kind in CATALOGUE
    )
    return f"{_colours(LIGHT)}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n{dashes}\n"


def _colours(theme: Theme) -> str:
    plain = {"paper": theme.paper, "ink": theme.ink, "soft": theme.soft, "faint": theme.faint}
    plain |= {f"{model}-fill": theme.models[model] for model in Model}
    plain |= {f"{model}-word": theme.words[model] for model in Model}
    lines = [f":root {{ {' '.join(f'--{name}: {value};' for name, value in plain.items())} }}"]
    lines += [f".of-{kind.name} {{ --own: {theme.of(kind.name)}; }}" for kind in CATALOGUE]
    return "\n".join(lines)
