"""A folder with all pages: those written by hand, those of the repository's root, and those made from the code."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path

import bibliography
import error_figures
import glossary
import guide_figures
import protocol_pages
import study_pages
from pages import figure
from study_pages import STUDIES

from headcount.protocols import CATALOGUE

DOCS = Path(__file__).parent.parent
ROOT = DOCS.parent
ROOTED = {
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "promises.md",
    "THREATMODEL.md": "threats.md",
    "KNOWN_ISSUES.md": "issues.md",
}
KEPT = {".md", ".bib", ".svg", ".png"}
STATEMENTS = "statements.md"
BIBLIOGRAPHY = "references.bib"
LONG = ("almost-central-sum", "hadamard-shuffle")  # protocols whose figures take longest
IMAGE = re.compile(r"^!\[(.*?)\]\(([\w./-]+)\.svg\)$", re.MULTILINE)


def stage(folder: Path, cache: Path, *, full: bool = False) -> None:
    """Everything that Sphinx is to read. What has not changed keeps its date, so that it is not read again."""
    made = cache / f"{fingerprint()}-{'full' if full else 'quick'}"
    _computed(made, quick=not full)
    files = {str(path.relative_to(DOCS)): path for path in _written() if path.suffix not in {".md", ".bib"}}
    files |= {str(path.relative_to(made)): path for path in made.rglob("*") if path.suffix in {".svg", ".csv", ".json"}}
    texts = {**_by_hand(), **_rooted(), **_generated(made / "studies", quick=not full)}
    texts[BIBLIOGRAPHY] = bibliography.completed((DOCS / BIBLIOGRAPHY).read_text(encoding="utf-8"))
    for name, text in texts.items():
        _put(folder / name, light_and_dark(name, text, set(files)).encode())
    for name, path in files.items():
        _put(folder / name, path.read_bytes())
    _without_others(folder, {*texts, *files})


def light_and_dark(page: str, text: str, files: set[str]) -> str:
    """Wherever a page shows a picture of which there is a dark one, the reader sees the one that suits."""

    def both(found: re.Match[str]) -> str:
        here = os.path.normpath(os.path.join(os.path.dirname(page), f"{found[2]}-dark.svg"))  # noqa: PTH118, PTH120
        return figure(found[2], found[1]) if here in files else found[0]

    return IMAGE.sub(both, text)


def fingerprint() -> str:
    """Of all code from which figures are made."""
    code = hashlib.sha256()
    makers = [Path(one.__file__) for one in (error_figures, guide_figures)]
    for path in sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "survey").rglob("*.py"), *makers]):
        code.update(path.read_bytes())
    return code.hexdigest()[:16]


def _computed(made: Path, quick: bool) -> None:
    """Figures and studies that are not there yet, on all cores; the longest first."""
    tasks: list[tuple[Callable[..., None], str, Path]] = [
        *((guide_figures.draw, name, made) for name in guide_figures.FIGURES),
        *((_figure, name, made / "protocols") for name in LONG),
        *((partial(_study, quick=quick), study.name, made / "studies") for study in STUDIES),
        *((_figure, one.name, made / "protocols") for one in CATALOGUE if one.name not in LONG),
    ]
    missing = [task for task in tasks if not _mark(task).exists()]
    with ProcessPoolExecutor() as pool:
        jobs = {pool.submit(work, name, folder): (work, name, folder) for work, name, folder in missing}
        for done, job in enumerate(as_completed(jobs), 1):
            job.result()
            _mark(jobs[job]).touch()
            if sys.stdout.isatty():
                print(f"\r{done} of {len(jobs)} figures and studies: {jobs[job][1]:<40}", end="", flush=True)
    if jobs:
        print(f"\r{len(jobs)} figures and studies computed{'':<40}")


def _mark(task: tuple[Callable[..., None], str, Path]) -> Path:
    """There once the task is done."""
    return task[2] / f"{task[1]}.done"


def _figure(name: str, folder: Path) -> None:
    error_figures.draw(next(protocol for protocol in CATALOGUE if protocol.name == name), folder)


def _study(name: str, folder: Path, *, quick: bool) -> None:
    study_pages.run(next(study for study in STUDIES if study.name == name), folder, quick)


def _written() -> Iterable[Path]:
    return (path for path in DOCS.rglob("*") if path.suffix in KEPT and "extensions" not in path.parts)


def _by_hand() -> dict[str, str]:
    pages = (path for path in _written() if path.suffix == ".md")
    texts = {str(path.relative_to(DOCS)): path.read_text(encoding="utf-8") for path in pages}
    if STATEMENTS in texts:
        texts[STATEMENTS] = study_pages.with_statements(texts[STATEMENTS])
    return texts


def _rooted() -> dict[str, str]:
    """Pages of the root, whose links lead into docs/, or to each other."""

    def led(found: re.Match[str]) -> str:
        return f"]({ROOTED.get(found[1], found[1].removeprefix('docs/'))})"

    texts = {target: (ROOT / source).read_text(encoding="utf-8") for source, target in ROOTED.items()}
    return {target: re.sub(r"\]\(([\w./-]+)\)", led, text) for target, text in texts.items()}


def _generated(studies: Path, *, quick: bool) -> dict[str, str]:
    audited = (DOCS / "audit.md").read_text(encoding="utf-8")
    made = {f"protocols/{one.name}.md": protocol_pages.page(one, rows_of(audited, one.name)) for one in CATALOGUE}
    made |= {f"studies/{study.name}.md": study_pages.page(study, studies, quick) for study in STUDIES}
    made["protocols/index.md"] = protocol_pages.overview()
    made["studies/index.md"] = study_pages.overview(studies, unlisted())
    made["glossary.md"] = glossary.page()
    return made


def unlisted() -> list[Path]:
    """Pages in docs/ itself that the front page does not list: what studies wrote, now and later."""
    listed = set(re.findall(r"^([\w-]+)$", (DOCS / "index.md").read_text(encoding="utf-8"), re.MULTILINE))
    first = {"statements": 0, "errata": 1, "answers": 2}
    pages = (page for page in DOCS.glob("*.md") if page.stem not in {*listed, "index"})
    return sorted(pages, key=lambda page: (first.get(page.stem, 3), page.stem))


def rows_of(text: str, name: str) -> str:
    """Of a page with one table, its head and the rows that begin with this name; nothing if there are none."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    rows = [line for line in lines[2:] if line.split("|")[1].strip(" `") == name]
    return "\n".join([*lines[:2], *rows]) if rows else ""


def _put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != content:
        path.write_bytes(content)


def _without_others(folder: Path, names: set[str]) -> None:
    """What an earlier build left and this one does not have."""
    for path in folder.rglob("*"):
        if path.is_file() and str(path.relative_to(folder)) not in names:
            path.unlink()
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            shutil.rmtree(path)
