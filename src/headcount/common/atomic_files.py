"""Small files of text that are there in full or not at all."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from headcount.errors import BadArgument

SECRET = 0o600  # for its owner alone


def write_atomically(path: str | Path, text: str, mode: int = 0o666) -> Path:
    """Writes a file atomically: beside its place and then moved there, never half-written.

    The file is a new one with this mode, less the umask: permissions and open handles of an old
    file of this name do not extend to it.
    """
    path = Path(path)
    beginning = path.with_name(f"{path.name}.{os.getpid()}.{os.urandom(4).hex()}")

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags, mode)

    try:
        with open(beginning, "x", encoding="utf-8", newline="\n", opener=opener) as file:  # with a mode
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beginning.replace(path)
        sync_folder(path.parent)
    except OSError as problem:
        with suppress(OSError):
            beginning.unlink()
        works = "use a file in a folder that exists and may be written to"
        raise BadArgument("path", f"{path} cannot be written ({problem.strerror})", works) from None
    return path


def holds(path: Path, what: str) -> bool:
    """Whether a file is one of ours of this kind, such as a plan; else it must not be replaced."""
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["format"]).startswith(f"headcount {what} ")
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def write_over(path: str | Path, text: str, what: str) -> Path:
    """Writes a file atomically, in the place of nothing but another one of this kind."""
    if (path := Path(path)).exists() and not holds(path, what):
        raise BadArgument("path", f"{path} exists and is not a {what}", "give the name of a new file")
    return write_atomically(path, text)


def write_secret(path: Path, text: str) -> None:
    """Writes a file that only its owner reads, whatever was there before."""
    write_atomically(path, f"{text}\n", SECRET)


def sync_folder(folder: Path) -> None:
    """The names in a folder are on the disk."""
    try:
        file = os.open(folder, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except PermissionError:  # where a folder cannot be opened, its names need no flushing
        return
    try:
        os.fsync(file)
    finally:
        os.close(file)


def read_text(path: str | Path, what: str) -> str:
    """The text of a file that should be `what`."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        problem = "is not text"
    except OSError as refused:
        problem = f"cannot be read ({refused.strerror})"
    raise BadArgument("path", f"{path} {problem}", f"give the file of {what}")
