"""The oldest versions that `make oldest` installs are the lower bounds of pyproject.toml, all of them."""

import re
import tomllib

import pytest

from oldest import PROJECT, oldest

TABLE = """
[project]
name = "ours"
dependencies = [{}]
optional-dependencies.more = ["ours[all]", "b[c]>=2.1"]
"""


def test_every_dependency_has_its_bound():
    table = tomllib.loads(PROJECT.read_text())["project"]
    needed = [*table["dependencies"], *(each for extra in table["optional-dependencies"].values() for each in extra)]
    names = {re.split(r"[\[>=; ]", each)[0] for each in needed} - {table["name"]}
    assert {each.split("==")[0] for each in oldest()} == names
    assert oldest("numpy") == [f"numpy=={bound}" for bound in re.findall(r'"numpy>=([\d.]+)"', PROJECT.read_text())]


def test_a_bound_is_its_version_exactly_whatever_the_extra():
    assert oldest(project=TABLE.format("\"a>=1; python_version > '3'\"")) == ["a==1", "b==2.1"]


@pytest.mark.parametrize("loose", ["a", "a<3", "a==1"])
def test_a_dependency_without_a_lower_bound_is_refused(loose):
    """The twin: nobody could say what the tests have run with."""
    with pytest.raises(ValueError, match="has no lower bound"):
        oldest(project=TABLE.format(f'"{loose}"'))
