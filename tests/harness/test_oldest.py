"""The oldest versions that `make oldest` installs are the lower bounds of both projects, all of them."""

import re
import tomllib

import pytest
from packaging.utils import canonicalize_name
from packaging.version import Version

from oldest import PROJECTS, ROOT, oldest

TABLE = """
[project]
name = "headcount"
dependencies = [{}]
optional-dependencies.more = ["headcount[all]", "b[c]>=2.1"]
"""


def test_every_dependency_has_its_bound():
    base, service = (tomllib.loads(path.read_text())["project"] for path in PROJECTS)
    extras = (each for extra in base["optional-dependencies"].values() for each in extra)
    needed = [*base["dependencies"], *extras, *service["dependencies"]]
    names = {re.split(r"[\[>=; ]", each)[0] for each in needed} - {base["name"]}
    assert {each.split("==")[0] for each in oldest()} == names
    for name, path in zip(("numpy", "sqlalchemy"), PROJECTS, strict=True):
        assert oldest(name) == [f"{name}=={each}" for each in re.findall(rf'"{name}>=([\d.]+)"', path.read_text())]


def test_a_bound_is_its_version_exactly_whatever_the_extra():
    assert oldest(projects=[TABLE.format("\"a>=1; python_version > '3'\"")]) == ["a==1", "b==2.1"]


@pytest.mark.parametrize("loose", ["a", "a<3", "a==1"])
def test_a_dependency_without_a_lower_bound_is_refused(loose):
    """The twin: nobody could say what the tests have run with."""
    with pytest.raises(ValueError, match="has no lower bound"):
        oldest(projects=[TABLE.format(f'"{loose}"')])


PINS = (ROOT / "constraints-dev.txt").read_text(encoding="utf-8")


def missed(pins):
    """Names of dependencies that no pin meets: there is none, or it is older than the lower bound."""
    pinned = {
        canonicalize_name(name): version for name, version in re.findall(r"^([\w.-]+)==(\S+)$", pins, re.MULTILINE)
    }
    bounds = {canonicalize_name(name): bound for name, bound in (each.split("==") for each in oldest())}
    return [name for name, bound in bounds.items() if name not in pinned or Version(pinned[name]) < Version(bound)]


def test_what_the_tests_were_run_with_meets_every_bound_and_names_no_place():
    assert missed(PINS) == []
    assert re.fullmatch(r"(#.*\n)+([a-z0-9-]+==[\w.]+\n)+", PINS)


def test_a_missing_and_an_old_pin_are_noticed():
    assert missed(re.sub("numpy==.*\n", "", PINS)) == ["numpy"]
    assert missed(re.sub("scipy==.*\n", "scipy==1.0\n", PINS)) == ["scipy"]
