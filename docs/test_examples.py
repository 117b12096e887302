"""Every example in the documentation runs and prints what it says, up to the digits that chance decides."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from protocol_table import README, written

PAGES = [README, *sorted(Path(__file__).parent.glob("**/*.md")), README.parent / "CONTRIBUTING.md"]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def blocks(language):
    return [
        pytest.param(found[2], found[3], id=f"{page.name}-{number}")
        for page in PAGES
        for number, found in enumerate(BLOCK.finditer(page.read_text(encoding="utf-8")))
        if found[1] == language
    ]


def shape(text):
    """What is left when numbers, and how wide they are, do not matter."""
    return [re.sub(r"\s+", " ", re.sub(r"-?[\d,.]*\d", "#", line)).strip() for line in text.splitlines()]


def run(command, folder):
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


@pytest.mark.parametrize(("code", "output"), blocks("python"))
def test_python_examples_run(code, output, tmp_path):
    done = run([sys.executable, "-W", "error", "-c", code], tmp_path)
    assert done.returncode == 0, done.stderr
    if output is not None:
        assert shape(done.stdout) == shape(output)


@pytest.mark.parametrize(("script", "output"), blocks("console"))
def test_commands_run(script, output, tmp_path):
    browsers = ("chrome", "firefox", "lynx")
    rows = "\n".join(f"{i},{i % 5 == 0:d},{browsers[i % 3]},{18 + i % 60}" for i in range(500))
    (tmp_path / "people.csv").write_text(f"person,clicked,browser,age\n{rows}\n")
    for line in script.splitlines():
        words = shlex.split(line, comments=True)
        if words and words[0] == "headcount":
            done = run([sys.executable, "-c", "from headcount.cli.main import main; main()", *words[1:]], tmp_path)
            assert done.returncode == 0, done.stderr
            if output is not None:
                assert shape(done.stdout) == shape(output)
        else:
            assert not words or words[0] in {"make", "pip"}


def test_the_readme_lists_the_catalogue():
    text = README.read_text(encoding="utf-8")
    assert text == written(text), "run python docs/protocol_table.py"
