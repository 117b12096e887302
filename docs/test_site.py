"""The site: its parts are made from the code, a small one builds, and the check of one that is built finds faults."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

import error_figures
from bibliography import ENTRY, cited, completed, entry
from examples import SESSION
from leaf import PARTS, leaf, leaf_of, leaves
from pages import figure
from site_check import faults
from staging import DOCS, light_and_dark, rows_of, unlisted
from study_pages import with_statements

from headcount.protocols import CATALOGUE, named
from headcount.protocols.central.geometric import Geometric
from programme import readable

WRITTEN = (DOCS / "references.bib").read_text(encoding="utf-8")
BIBLIOGRAPHY = completed(WRITTEN)
GOOD = '<html><body><h1 id="top">One</h1><a href="two.html#here">two</a> <a href="https://elsewhere.example">out</a></body>'
OTHER = '<html><body><p id="here">Two, at $5 a piece, costs $10.</p><a href="index.html">back</a></body></html>'


@pytest.mark.parametrize("protocol", CATALOGUE, ids=lambda protocol: protocol.name)
def test_every_leaf_has_the_fixed_shape_and_its_papers_are_in_the_bibliography(protocol):
    for own in leaves(protocol):
        assert tuple(own.parts) == PARTS
        assert own.title
        assert own.says.endswith(".")
        for key in own.references:
            assert f"{{{key}," in BIBLIOGRAPHY


def test_the_bibliography_has_what_is_cited_and_nothing_else():
    """By the leaves with keys, by the survey's pages with numbers of arXiv."""
    pages = [(DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("statements", "errata", "answers")]
    numbers = set(re.findall(r"(?<![\d.])\d{4}\.\d{4,5}(?![\d])", " ".join(pages)))
    eprints = dict(re.findall(r"@\w+\{(\w+),(?:\n .*)*?\n  eprint = \{([\d.]+)\}", BIBLIOGRAPHY))
    assert numbers <= set(eprints.values())
    keys = ENTRY.findall(BIBLIOGRAPHY)
    assert set(keys) == cited().keys() | {key for key, eprint in eprints.items() if eprint in numbers}
    assert len(keys) == len(set(keys))


def test_an_entry_is_made_of_the_leafs_own_words():
    made = entry("GV16", cited()["GV16"])
    assert "  author = {Geng and Viswanath}," in made
    assert "  title = {The Optimal Noise-Adding Mechanism in Differential Privacy}," in made
    assert "  journal = {IEEE Trans. Inf. Theory}," in made
    assert "  year = {2016}," in made
    with pytest.raises(ValueError, match="is not of the form"):
        entry("GV16", "Geng and Viswanath, somewhere.")


@pytest.mark.parametrize("twin", ["Error:", "Randomiser:", "[BC20]: send", "[BC20] Balcer"])
def test_a_leaf_that_lacks_a_part_is_refused(twin):
    text = sys.modules[named("zsum").__module__].__doc__
    assert leaf(text)
    with pytest.raises(ValueError, match="the docstring that begins 'Zsum"):
        leaf(text.replace(twin, "nothing"))


@pytest.mark.parametrize("protocol", CATALOGUE, ids=lambda protocol: protocol.name)
def test_there_are_words_for_every_report_programme(protocol):
    for tiny in protocol.tinies():
        words = readable(tiny.programme, 10_000)
        assert "send" in words
        assert readable(tiny.programme, 3).count("\n") <= 2


def test_programmes_read_as_they_are_drawn():
    assert readable(named("zsum").tiny().programme) == (
        "value times:\n    send 0\nwith chance 0.4:\n    send nothing\notherwise:\n    send 0"
    )
    assert "mean 0.5; 0 with chance 0.6065" in readable(named("poisson-count").tiny().programme)


def test_simulated_errors_are_those_predicted_and_a_twin_is_refused():
    found = error_figures.tried(Geometric, error_figures.situations(Geometric, 500)["count"], 1, 100, 10)
    found.require()
    twin = error_figures.Trial(found.protocol, found.situation, 1.1 * found.errors)
    with pytest.raises(AssertionError, match="standard errors off its prediction"):
        twin.require()


def test_pictures_have_a_dark_one_where_there_is_one():
    text = "![alt](studies/a.svg)\n\n![alt](b.svg)\n"
    both = light_and_dark("errata.md", text, {"studies/a.svg", "studies/a-dark.svg", "b.svg"})
    assert both == text.replace("![alt](studies/a.svg)", figure("studies/a", "alt"))
    assert light_and_dark("studies/errata.md", "![x](../b.svg)", {"b.svg", "b-dark.svg"}) == figure("../b", "x")


def test_every_statement_is_in_the_index_with_its_verdict():
    statements = (DOCS / "statements.md").read_text(encoding="utf-8")
    rows = sum(line.startswith(("| S", "| [S")) for line in statements.splitlines())
    text = with_statements(statements)
    assert text.count("```{index} single: statements; S") == rows > 100
    assert "single: statements; S1.1, Lemma 3: the binomial law is smooth (holds with correction)\n" in text


def test_rows_are_those_of_the_protocol():
    audited = (DOCS / "audit.md").read_text(encoding="utf-8")
    assert rows_of(audited, "zsum").count("\n") == 2
    assert rows_of(audited, "zs") == ""


def test_pages_that_the_front_page_does_not_list_belong_to_the_studies():
    assert not {"start", "json", "audit", "index"} & {page.stem for page in unlisted()}


def sphinx(arguments):
    done = subprocess.run([sys.executable, "-m", "sphinx", *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_a_small_site_builds_strictly_and_offline(tmp_path):
    """With a formula, a citation and a figure; and a warning stops it."""
    pages, site = tmp_path / "pages", tmp_path / "site"
    pages.mkdir()
    (pages / "references.bib").write_text(BIBLIOGRAPHY)
    text = f"{SESSION}\n# One\n\n{leaf_of(named('zsum')).parts['Error']} {{cite:p}}`BC20`\n\n[two](two.md)\n"
    (pages / "index.md").write_text(text + "\n```{toctree}\ntwo\ngenindex\n```\n")
    (pages / "two.md").write_text("# Two\n\n```{bibliography}\n```\n")
    strict = ["-W", "-q", "-c", str(DOCS), "-d", str(tmp_path / "trees"), str(pages), str(site)]
    assert sphinx(strict) == (0, "")
    assert faults(site) == []
    front = (site / "index.html").read_text(encoding="utf-8")
    assert ">BC20<" in front
    assert (site / "_static" / "mathjax" / "tex-chtml.js").exists()
    (pages / "index.md").write_text(text + "\n[three](three.md)\n\n```{toctree}\ntwo\ngenindex\n```\n")
    code, said = sphinx(strict)
    assert code != 0
    assert "three.md" in said


def site_of(folder, **changes):
    pages = {"index.html": GOOD, "two.html": OTHER, "sheet.css": "p { background: url(data:abc) }", **changes}
    for name, text in pages.items():
        (folder / name).write_text(text)
    return folder


def test_a_good_site_has_no_fault(tmp_path):
    assert faults(site_of(tmp_path)) == []


@pytest.mark.parametrize(
    ("name", "added", "fault"),
    [
        ("two.html", '<a href="three.html">three</a>', "broken link three.html"),
        ("two.html", '<a href="index.html#nowhere">one</a>', "broken anchor index.html#nowhere"),
        ("two.html", '<img src="lost.svg">', "lacks lost.svg"),
        ("two.html", '<img src="https://elsewhere.example/a.png">', "from elsewhere"),
        ("two.html", '<script src="//elsewhere.example/a.js"></script>', "from elsewhere"),
        ("two.html", '<link rel="stylesheet" href="http://elsewhere.example/a.css">', "from elsewhere"),
        ("two.html", r"<p>so that \(x\) is</p>", "bare formula"),
        ("two.html", "<p>so that $x+1$ is</p>", "bare formula"),
        ("two.html", r"<p>\frac{1}{2}</p>", "bare formula"),
        ("two.html", "<p>see {cite:p}`BC20`</p>", "bare formula"),
        ("two.html", r'<span class="math">\(x\)</span>', "nothing to set them"),
        ("sheet.css", "@import 'https://elsewhere.example/font.css';", "fetches from elsewhere"),
        ("three.html", "<p>alone</p>", "no page leads here"),
    ],
)
def test_twins_of_a_good_site_are_caught(tmp_path, name, added, fault):
    site_of(tmp_path)
    with (tmp_path / name).open("a") as page:
        page.write(added)
    found = faults(tmp_path)
    assert len(found) == 1
    assert found[0].startswith(f"{name}: ")
    assert fault in found[0]


def test_signs_in_code_stand_for_themselves(tmp_path):
    code = r"<p><code>$x$</code></p><pre>\(x\)</pre>"
    assert faults(site_of(tmp_path, **{"two.html": OTHER + code})) == []
