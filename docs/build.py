"""The documentation site, from nothing: `python docs/build.py --out build/site`.

Pages are gathered in a folder beside the site, figures and studies are computed if they are not there yet, and Sphinx
builds them with warnings as errors. Then every page is checked: links, pictures, formulas, and that nothing is fetched.
"""

import argparse
import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # workers share the cores
sys.path.insert(0, str(Path(__file__).parent / "extensions"))

from site_check import faults
from sphinx.cmd.build import build_main
from staging import DOCS, stage


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the documentation site.")
    parser.add_argument("--out", type=Path, default=Path("build/site"))
    parser.add_argument("--full", action="store_true", help="studies on their full grids: much longer")
    arguments = parser.parse_args()
    beside = arguments.out.parent
    pages = beside / "pages"
    stage(pages, beside / "figures", full=arguments.full)
    strict = ["-W", "--keep-going", "-a", "-q", "-j", "auto", "-b", "html"]
    code = build_main([*strict, "-c", str(DOCS), "-d", str(beside / "doctrees"), str(pages), str(arguments.out)])
    if code:
        return code
    found = faults(arguments.out)
    for fault in found:
        print(fault, file=sys.stderr)
    print(f"{arguments.out / 'index.html'}: {len(list(arguments.out.rglob('*.html')))} pages, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
