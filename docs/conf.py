"""Settings of the documentation site; `make docs` builds it from the pages here and those at the root."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

from graphpri._version import __version__

ROOT = Path(__file__).resolve().parent.parent
_BARS = re.compile(r"(``.*?``)|\|(?=\S)([^|`]+)(?<=\S)\|")

project = "graphpri"
author = "The graphpri developers"
project_copyright = author
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["templates"]
exclude_patterns = ["gallery/*.ipynb", "gallery/*.py", "templates"]
nitpicky = True
# Names of other libraries have no page here; references into this one must lead somewhere.
nitpick_ignore_regex = [("py:.*", r"(?!graphpri\b).*")]
# Parts of the inside that docstrings name for those who read the source.
nitpick_ignore = [("py:func", "graphpri.solvers.budgeted.solve")]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"
# Methods that scikit-learn makes, with links into its own pages.
autodoc_default_options = {"exclude-members": ", ".join(f"set_{name}_request" for name in ("fit", "predict", "score"))}
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "gallery",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "within_subsection_order": "ExampleTitleSortKey",
}

html_theme = "pydata_sphinx_theme"
html_title = "graphpri"
html_show_sourcelink = False
html_sidebars = {"*": []}
html_theme_options = {
    "header_links_before_dropdown": 8,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
}
html_math_renderer = "mathml"


def mathml(formula: str, *, block: bool = False) -> str:
    """A formula as MathML.

    Docutils wants braces around the digits of a fraction, and its low bar would hide in the roof of a σ.
    """
    braced = re.sub(r"(\\[dt]?frac)(\d)(\d)", r"\1{\2}{\3}", formula)
    return tex2mathml(re.sub(r"\\bar\b", r"\\overline", braced), as_block=block)


def _formula(self: Any, node: Any) -> None:
    self.body.append(mathml(node.astext()))
    raise SkipNode


def _displayed(self: Any, node: Any) -> None:
    self.body.append(mathml(node.astext(), block=True))
    raise SkipNode


def _at_one_level(app: Any, name: str, text: list[str]) -> None:
    """Links as a forge needs them become links within the site, with the title of the page in place of its file."""
    text[0] = re.sub(r"\[(?:docs/)?\w+\.md\]\(", "[](", text[0])
    if name in {"README", "CONTRIBUTING", "CHANGELOG"}:
        text[0] = re.sub(r"\]\(docs/", "](", text[0])
    else:
        text[0] = re.sub(r"\]\(\.\./(?=\w+\.md)", "](", text[0])


def _bars(app: Any, what: str, name: str, of: Any, options: Any, lines: list[str]) -> None:
    """|x| in a docstring is an absolute value, never a substitution of reStructuredText."""
    code = (">>>", "...")
    lines[:] = [line if line.lstrip().startswith(code) else _BARS.sub(_escaped, line) for line in lines]


def _escaped(found: re.Match[str]) -> str:
    return found[1] or rf"\|{found[2]}\|"


def setup(app: Any) -> None:
    """Formulas as MathML, which browsers draw without a script or a network."""
    app.add_html_math_renderer("mathml", (_formula, None), (_displayed, None))
    app.connect("source-read", _at_one_level)
    app.connect("autodoc-process-docstring", _bars)
