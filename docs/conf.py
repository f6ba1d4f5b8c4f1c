"""Settings of the documentation site; `make docs` builds it from the pages here and those at the root."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils.utils.math.latex2mathml import tex2mathml

from graphpri.version import __version__

ROOT = Path(__file__).resolve().parent.parent

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

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"
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
html_theme_options = {"navigation_with_keys": False, "show_prev_next": False, "secondary_sidebar_items": ["page-toc"]}
html_math_renderer = "mathml"


def _formula(self: Any, node: Any) -> None:
    self.body.append(tex2mathml(node.astext()))


def _displayed(self: Any, node: Any) -> None:
    self.body.append(tex2mathml(node.astext(), as_block=True))


def _leave(self: Any, node: Any) -> None:
    """Nothing is left to close."""


def _at_one_level(app: Any, name: str, text: list[str]) -> None:
    """Links between docs and the root, as a forge needs them, become links within the site."""
    if name in {"README", "CONTRIBUTING", "CHANGELOG"}:
        text[0] = re.sub(r"\]\(docs/", "](", text[0])
    else:
        text[0] = re.sub(r"\]\(\.\./(?=\w+\.md)", "](", text[0])


def setup(app: Any) -> None:
    """Formulas as MathML, which browsers draw without a script or a network."""
    app.add_html_math_renderer("mathml", (_formula, _leave), (_displayed, _leave))
    app.connect("source-read", _at_one_level)
