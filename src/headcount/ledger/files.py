"""Files that are locked, appended to and flushed to the disk. Lines end in a newline; what does not
is no line yet."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from headcount.errors import AlreadyThere, BadArgument, Unsupported
from headcount.phrases import Phrase

OURS = 0o600  # to be read and written by the owner only


@contextmanager
def locked(path: Path, *, alone: bool) -> Iterator[int]:
    """The file, opened anew and locked across threads and processes: by one `alone`, or by readers.

    The lock goes with this opening of the file, so that neither a thread nor a forked child has it
    by accident. It is given back by name, because a child that was forked meanwhile still holds the
    same opening. (Should its parent be killed first, the others wait for the child to end.)
    """
    fcntl = _locks()
    with reading_and_writing(path):
        file = os.open(path, (os.O_RDWR | os.O_APPEND if alone else os.O_RDONLY) | os.O_CLOEXEC)
        try:
            fcntl.flock(file, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
            try:
                yield file
            finally:
                fcntl.flock(file, fcntl.LOCK_UN)
        finally:
            os.close(file)


def whole_file(file: int) -> bytes:
    return os.pread(file, os.fstat(file).st_size, 0)


def append(file: int, line: bytes) -> None:
    """Append the lines, durably; if they cannot be written in full they are removed again."""
    before, left = os.fstat(file).st_size, memoryview(line)
    try:
        while left:
            left = left[os.write(file, left) :]
    except OSError:
        os.ftruncate(file, before)
        raise
    os.fsync(file)


def create(path: Path, line: bytes) -> None:
    """Create a file with this first line, atomically, and never in place of another."""
    _locks()
    if not path.parent.is_dir():
        raise BadArgument("ledger", f"{path} would be in a folder that does not exist", "make the folder first")
    with reading_and_writing(path):
        beginning = path.with_name(f"{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
        file = os.open(beginning, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, OURS)
        try:
            append(file, line)
            os.link(beginning, path)
        finally:
            os.close(file)
            beginning.unlink()
        folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def reading_and_writing(path: Path) -> Iterator[None]:
    """Raise system errors as a refusal of one line."""
    try:
        yield
    except FileExistsError:
        raise AlreadyThere("ledger", f"{path} exists already", "give the name of a new file, or open it") from None
    except FileNotFoundError:
        raise BadArgument(
            "ledger", f"{path} does not exist", Phrase("give {epsilon} and {delta} to begin it")
        ) from None
    except OSError as problem:
        raise BadArgument(
            "ledger", f"{path} cannot be used ({problem.strerror})", "check its disk and permissions; nothing was drawn"
        ) from None


def _locks() -> ModuleType:
    try:
        import fcntl
    except ImportError:
        raise Unsupported("a ledger file needs a system with flock, which this one lacks") from None
    return fcntl
