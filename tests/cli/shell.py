"""The command line, as in a shell."""

from __future__ import annotations

import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess
from unittest.mock import patch

from headcount.cli.main import main


def headcount(*arguments: object, where: Path | None = None) -> CompletedProcess[str]:
    """In this process, where everything is loaded already."""
    words, out, err, code = ["headcount", *map(str, arguments)], StringIO(), StringIO(), 0
    with chdir(where or Path.cwd()), patch.object(sys, "argv", words), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return CompletedProcess(words, code, out.getvalue(), err.getvalue())


def alone(*arguments: object, where: Path | None = None) -> CompletedProcess[str]:
    """In a process of its own, as it is in earnest."""
    command = [sys.executable, "-m", "headcount", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=where, check=False)
