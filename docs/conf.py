"""The site. `make docs` gathers its pages with docs/build.py and builds them with this."""

import sys
from pathlib import Path

import headcount

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "headcount"
author = "The headcount authors"
copyright = author
release = version = headcount.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinxcontrib.bibtex",
    "sphinx_design",
    "key_labels",
]
default_role = "code"  # docstrings write names in single backticks
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
autodoc_typehints = "none"  # the docstrings say them in words
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_class_signature = "mixed"
myst_enable_extensions = ["amsmath", "attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "keys"
mathjax_path = "mathjax/tex-chtml.js"
mathjax3_config = {"options": {"enableMenu": False}}  # the menu would fetch more

nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types in docstrings are words; most are of other libraries, or internal
pygments_style, pygments_dark_style = "a11y-light", "a11y-dark"
html_theme = "furo"
html_title = "headcount"
html_static_path = ["static"]
html_css_files = ["headcount.css"]
html_copy_source = False
html_show_sourcelink = False
html_domain_indices = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#00734f", "color-brand-content": "#005f95"},
    "dark_css_variables": {
        "color-brand-primary": "#46d3a9",
        "color-brand-content": "#6fbaf0",
        "color-background-primary": "#16181c",  # the paper of dark figures
        "color-background-secondary": "#1b1e23",
    },
}
