"""The documentation site: every page has its place, and formulas and links survive the way there."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("docutils")

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "docs")]

import conf  # noqa: E402
import fill_tables  # noqa: E402
import run_blocks  # noqa: E402

PAGES = [page for page in fill_tables.PAGES if page.parent == ROOT / "docs"]
AT_ROOT = ("README", "CONTRIBUTING", "CHANGELOG")


def test_every_page_has_a_place_in_the_index() -> None:
    text = (ROOT / "docs" / "index.md").read_text("utf-8")
    trees = re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL)
    listed = [place for tree in trees for place in re.findall(r"<([\w/]+)>$", tree, re.MULTILINE)]
    assert sorted(listed) == sorted([*({p.stem for p in PAGES} - {"index"}), *AT_ROOT, "api", "gallery/index"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_formulas_are_drawn_without_a_script(page: Path) -> None:
    prose = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    for block, inline in re.findall(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", prose.replace("\\\n", "\n"), re.DOTALL):
        assert "<math" in conf.mathml(block or inline, block=bool(block))


def test_fractions_without_braces_and_bars_are_read_as_latex_reads_them() -> None:
    assert conf.mathml(r"\tfrac12 (x + y)") == conf.mathml(r"\tfrac{1}{2} (x + y)")
    assert conf.mathml(r"\bar\sigma") == conf.mathml(r"\overline\sigma")
    assert re.search(r"<mfrac>\s*<mn>1</mn>\s*<mn>2</mn>\s*</mfrac>", conf.mathml(r"\frac12 x"))


@pytest.mark.parametrize("name", AT_ROOT)
def test_links_between_the_root_and_the_pages_lead_within_the_site(name: str) -> None:
    text = [(ROOT / f"{name}.md").read_text("utf-8")]
    conf._at_one_level(None, name, text)
    assert "](docs/" not in text[0]
    page = ["[limits](../README.md#limits) and [code](../src/x.py)"]
    conf._at_one_level(None, "claims", page)
    assert page == ["[limits](README.md#limits) and [code](../src/x.py)"]


def test_links_by_file_get_the_title_of_the_page() -> None:
    for name, text in (
        ("start", "see [scale.md](scale.md#files)"),
        ("README", "see [docs/scale.md](docs/scale.md#files)"),
    ):
        page = [text]
        conf._at_one_level(None, name, page)
        assert page == ["see [](scale.md#files)"]


def test_bars_in_docstrings_are_absolute_values() -> None:
    lines = ["the |x| of an edge, |A ∩ B|, not a | b | c, ``a|b|c``", ">>> print(1 |2| 3)"]
    conf._bars(SimpleNamespace(), "function", "f", None, None, lines)
    assert lines == ["the \\|x\\| of an edge, \\|A ∩ B\\|, not a | b | c, ``a|b|c``", ">>> print(1 |2| 3)"]


def test_messages_on_the_error_page_are_raised_by_its_code() -> None:
    """``test_docs`` compares what the blocks print; here: each section of errors has such a block, and its kind."""
    page = ROOT / "docs" / "faq.md"
    found = run_blocks.blocks(page)
    shown = [line for block in found if block.kind == "text" for line in block.lines]
    kinds = {line.split(":")[0] for line in shown}
    assert kinds == {"GraphError", "OptionError", "FileError", "MissingExtraError", "MemoryLimitError"}
    calls = sum(line.startswith("told(") for block in found if block.kind == "python" for line in block.lines)
    assert calls == len(shown) >= 25
