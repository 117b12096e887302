"""Examples in the pages: what they are, how they run, and what they print.

Every block of Python and of commands runs. What follows it as text is what it prints, up to the digits that chance
decides. Blocks run by themselves, unless the page begins with the mark of a session: then they run one after the other
in one folder, and names live on. A command with & at its end goes on beside those that follow it; parties are served at
ports that are free. `python docs/extensions/examples.py PAGE …` writes what is printed into the page.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SESSION = "% examples: one session\n"
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
REFUSED = "# refused"
BESIDE = "&"
USUAL = ("8401", "8402")  # where parties listen unless told
OTHER_COMMANDS = {"make", "pip"}  # what they do takes too long, or another machine
CLIENT = "from headcount.cli.main import main; main()"


@dataclass(frozen=True)
class Example:
    """Some code, and what it must print; nothing is said of that where `output` is None."""

    language: str
    code: str
    output: str | None


def examples(text: str) -> Iterator[Example]:
    return (Example(*found.groups()) for found in BLOCK.finditer(text))


def in_session(text: str) -> bool:
    return text.startswith(SESSION)


HASH = re.compile(r"\b(?=\d*[a-f])[0-9a-f]{12,}\b")
NUMBER = re.compile(r"-?[\d,.]*\d(?:e[-+]?\d+)?")


def shape(text: str) -> list[str]:
    """What is left when hashes, numbers, dates, how wide they are, and where lines are broken, do not matter."""
    return NUMBER.sub("#", HASH.sub("#", text)).split()


def commands(script: str) -> Iterator[tuple[list[str], int]]:
    """The arguments of each call of headcount, and the code with which it must end."""
    for line in script.splitlines():
        words = shlex.split(line, comments=True)
        if words and words[0] == "headcount":
            yield words[1:], 2 if REFUSED in line else 0
        elif words and words[0] not in OTHER_COMMANDS:
            raise ValueError(f"{words[0]} is no command that examples may use")


def run_alone(example: Example, folder: Path) -> str:
    """With names of its own, so that it imports what it uses; in a process of its own where it is a whole module."""
    if example.language == "python" and "__main__" in example.code:
        return _process(["-W", "error", "-c", example.code], folder)
    with Beside(folder) as beside, contextlib.chdir(folder):
        return Session(beside).run(example)


class Beside:
    """Commands that go on while others run, until the examples end."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.started = folder, list[subprocess.Popen[str]]()

    def start(self, words: list[str]) -> str:
        """Returns when it has said where it listens."""
        ports = [str(_free_port()) for _ in range(2)]
        started = subprocess.Popen(
            [sys.executable, "-c", CLIENT, *words, *(["--ports", *ports] if "--data" in words else [])],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=self.folder,
        )  # fmt: skip
        self.started.append(started)
        assert started.stdout is not None
        lines = [started.stdout.readline() for _ in range(2 if "--data" in words else 1)]
        if not all(lines):
            raise AssertionError(f"{shlex.join(words)} did not start")
        return re.sub("|".join(ports), lambda port: USUAL[ports.index(port[0])], "".join(lines))

    def __enter__(self) -> Beside:
        os.environ["XDG_STATE_HOME"] = str(self.folder / ".state")  # what the command line remembers of its runs
        return self

    def __exit__(self, *_: object) -> None:
        for each in self.started:
            each.terminate()
            each.communicate()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _process(arguments: list[str], folder: Path) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=folder, check=False)
    if done.returncode:
        raise AssertionError(f"ended with {done.returncode}, not 0: {done.stderr}")
    return done.stdout


class Session:
    """One folder and one set of names for all examples of a page. Use it where the folder is the current one."""

    def __init__(self, beside: Beside | None = None) -> None:
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.beside = beside

    def run(self, example: Example) -> str:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            if example.language == "python":
                exec(compile(example.code, "example", "exec"), self.names)  # noqa: S102
            else:
                for words, code in commands(example.code):
                    if words[-1] == BESIDE and self.beside is not None:
                        out.write(self.beside.start(words[:-1]))
                    else:
                        self._command([self._said(word) for word in words], code, out)
        return out.getvalue()

    def _said(self, word: str) -> str:
        """What the command within $(…) prints, where a word is one."""
        found = re.fullmatch(r"\$\((.*)\)", word)
        return self.run(Example("console", found[1], None)).strip() if found else word

    @staticmethod
    def _command(words: list[str], code: int, out: io.StringIO) -> None:
        from headcount.cli.main import main

        said, before = io.StringIO(), sys.argv
        sys.argv = ["headcount", *words]
        try:
            with contextlib.redirect_stderr(said):
                main()
            ended: Any = 0
        except SystemExit as end:
            ended = end.code or 0
        finally:
            sys.argv = before
        if ended != code:
            raise AssertionError(f"{shlex.join(words)} ended with {ended}, not {code}: {said.getvalue()}")
        if code:
            out.write(said.getvalue())


def people_in(folder: Path) -> None:
    """The data that examples ask about, where they run by themselves."""
    browsers = ("chrome", "firefox", "lynx")
    rows = "\n".join(f"{i},{i % 5 == 0:d},{browsers[i % 3]},{18 + i % 60}" for i in range(500))
    (folder / "people.csv").write_text(f"person,clicked,browser,age\n{rows}\n")


def written(text: str, folder: Path) -> str:
    """The page with what its examples print now, wherever it shows something else than up to what chance decides."""
    with Beside(folder) as beside:
        session = Session(beside)

        def again(found: re.Match[str]) -> str:
            example = Example(*found.groups())
            if example.output is None and not in_session(text):
                return found[0]
            printed = session.run(example) if in_session(text) else run_alone(example, folder)
            if example.output is not None and shape(printed) == shape(example.output):
                return found[0]
            output = "\n".join(line.rstrip() for line in printed.strip("\n").splitlines())
            shown = "" if example.output is None else f"\n```text\n{output}\n```\n"
            return f"```{example.language}\n{example.code}```\n{shown}"

        return BLOCK.sub(again, text)


if __name__ == "__main__":
    for page in map(Path.resolve, map(Path, sys.argv[1:])):
        with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
            people_in(Path(name))
            page.write_text(written(page.read_text(encoding="utf-8"), Path(name)), encoding="utf-8")
