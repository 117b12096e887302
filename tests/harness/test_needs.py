"""What a machine lacks skips a test, and fails it where everything must be there."""

import pytest

import needs

PROGRAMS = {"node": needs.node, "chromium": needs.chromium, "java": needs.java, "PostgreSQL": needs.postgresql}


@pytest.fixture(autouse=True)
def nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(needs, "CLUSTERS", tmp_path)


@pytest.mark.parametrize("name", PROGRAMS)
def test_without_it_a_test_is_skipped(name):
    with pytest.raises(needs.Absent, match=f"{name} is missing"):
        PROGRAMS[name]()


@pytest.mark.parametrize("name", PROGRAMS)
def test_in_continuous_integration_it_fails(name, monkeypatch):
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=f"{name} is missing"):
        PROGRAMS[name]()
