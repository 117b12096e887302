"""What may be wrong with a built site: links that lead nowhere, lost pictures, bare formulas, things fetched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "srcset", "video": "src", "audio": "src"}
SHEETS = {"stylesheet", "icon", "preload", "preconnect", "dns-prefetch", "modulepreload"}
SILENT = {"script", "style", "code", "pre", "svg", "title"}  # where signs stand for themselves
BARE = re.compile(
    r"\$[^$\s](?:[^$]*[^$\s])?\$(?!\d)|\\\(|\\\[|\{(?:cite|doc|ref|download)\b|\]\([\w./-]+\)"
    r"|\\(?:frac|epsilon|delta|hat|mathrm)\b"
)
FETCHED = re.compile(r"url\(\s*['\"]?(?:https?:)?//|@import\s+['\"]?(?:https?:)?//")
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


class Page(HTMLParser):
    """What a page links to, loads, names and says outside of code and formulas."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[str] = []
        self.loads: list[str] = []
        self.ids: set[str] = set()
        self.words: list[str] = []
        self.formulas: list[str] = []
        self._open: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "form" and "action" in given:
            self.links.append(given["action"])
        if LOADED.get(tag) in given:
            self.loads.append(given[LOADED[tag]])
        if tag == "link" and SHEETS & set(given.get("rel", "").split()):
            self.loads.append(given.get("href", ""))
        if tag not in VOID:
            math = "math" in given.get("class", "").split()
            self._open.append((tag, "math" if math or self._in("math") else tag))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._in("math"):
            self.formulas.append(data)
        elif not any(tag in SILENT for tag, _ in self._open):
            self.words.append(data)

    def _in(self, what: str) -> bool:
        return bool(self._open) and self._open[-1][1] == what


def faults(site: Path) -> list[str]:
    """One line for each; none if all is well."""
    site = site.resolve()
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found = [
        f"{path.relative_to(site)}: {fault}" for path, page in pages.items() for fault in _faults(path, page, pages)
    ]
    for sheet in sorted(site.rglob("*.css")):
        if FETCHED.search(sheet.read_text(encoding="utf-8")):
            found.append(f"{sheet.relative_to(site)}: fetches from elsewhere")
    found += [f"{path.relative_to(site)}: no page leads here" for path in _lost(site, pages)]
    return found


def _faults(path: Path, page: Page, pages: dict[Path, Page]) -> Iterator[str]:
    for link in page.links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue  # leads elsewhere, which is allowed and cannot be known offline
        target = _resolved(path, parts.path)
        if not target.exists():
            yield f"broken link {link}"
        elif parts.fragment and target in pages and unquote(parts.fragment) not in {*pages[target].ids, "top"}:
            yield f"broken anchor {link}"
    for load in page.loads:
        parts = urlsplit(load)
        if parts.scheme == "data":
            continue
        if parts.scheme or parts.netloc:
            yield f"loads {load} from elsewhere"
        elif not _resolved(path, parts.path).exists():
            yield f"lacks {load}"
    for bare in BARE.findall(" ".join(page.words)):
        yield f"has a bare formula or markup {bare[:60]!r}"
    if page.formulas and not any("mathjax" in load for load in page.loads):
        yield "has formulas and nothing to set them"
    for formula in page.formulas:
        if formula.replace(r"\{", "").count("{") != formula.replace(r"\}", "").count("}"):
            yield f"has a formula with an open brace {formula[:60]!r}"


def _resolved(path: Path, link: str) -> Path:
    return _real(path if not link else path.parent / unquote(link))


@cache
def _real(path: Path) -> Path:
    return path.resolve()


def _lost(site: Path, pages: dict[Path, Page]) -> list[Path]:
    """Pages that a reader who starts at the front page can never reach."""
    known = {_real(path): page for path, page in pages.items()}
    todo, seen = [_real(site / "index.html")], set()
    while todo:
        at = todo.pop()
        if at in seen or at not in known:
            continue
        seen.add(at)
        todo += [_resolved(at, urlsplit(link).path) for link in known[at].links if not urlsplit(link).scheme]
    return [path for path in pages if _real(path) not in seen]
