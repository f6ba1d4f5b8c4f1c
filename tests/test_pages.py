"""Every page that the library writes: one look, for every reader, in light and dark, on small screens and on paper."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import graphpri
from graphpri import _output
from graphpri._output import RowTitle, document, table
from graphpri.explorer import summary
from graphpri.measures.reports import Report

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    """Contrast ratio as WCAG 2 defines it."""
    high, low = sorted([luminance(one), luminance(other)], reverse=True)
    return (high + 0.05) / (low + 0.05)


def seen(colour: str, kind: str) -> np.ndarray:
    """A colour as it is seen by readers without one kind of cones, after Viénot, Brettel and Mollon, 1999."""
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    to_lms = np.array([[17.8824, 43.5161, 4.11935], [3.45565, 27.1554, 3.86714], [0.0299566, 0.184309, 1.46709]])
    lms = to_lms @ linear
    if kind == "protan":
        lms[0] = 2.02344 * lms[1] - 2.52581 * lms[2]
    elif kind == "deutan":
        lms[1] = 0.494207 * lms[0] + 1.24827 * lms[2]
    back = np.clip(np.linalg.solve(to_lms, lms), 0, 1)
    return 255 * np.where(back <= 0.0031308, 12.92 * back, 1.055 * back ** (1 / 2.4) - 0.055)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_stand_out_from_what_they_are_written_on(theme: str) -> None:
    names = _output.NAMES[theme]
    for ink in ("ink", "soft", "kept", "only"):
        for ground in ("paper", "card", "canvas"):
            assert contrast(names[ink], names[ground]) >= 4.5, (ink, ground)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["normal", "protan", "deutan"])
def test_colours_differ_for_any_colour_vision(theme: str, kind: str) -> None:
    names = _output.NAMES[theme]
    lines = [seen(names[name], kind) for name in ("kept", "only", "dropped")]
    assert min(np.linalg.norm(a - b) for i, a in enumerate(lines) for b in lines[:i]) > 45
    groups = [seen(colour, kind) for colour in _output.GROUPS[theme]]
    assert min(np.linalg.norm(a - b) for i, a in enumerate(groups) for b in groups[:i]) > 20


def test_tables_mark_the_best_and_name_groups_of_rows() -> None:
    html = table(["measure", "a", "b"], [RowTitle("distances"), ["<x>", 1.0, 2.0]], best={1: [2]})
    assert '<th class="rows" scope="rowgroup" colspan="3">distances</th>' in html
    assert '<td>&lt;x&gt;</td><td class="number">1</td><td class="number best">2</td>' in html


def test_purposes_have_the_winner_by_their_measures() -> None:
    original = {"clustering_original": 0.5}
    a = {"divergence": 0.1, "clustering": 0.9, "flow_ratio": 0.9, "connected_pairs": 0.5, "stretch": 1.0}
    b = {"divergence": 0.2, "clustering": 0.4, "flow_ratio": 1.2, "connected_pairs": 1.0, "stretch": 1.5}
    settings = dict(graphpri.report(nx.path_graph(3), nx.path_graph(3), measures=["edges"]).settings)
    reports = {name: Report({**values, **original}, {}, (), settings) for name, values in (("a", a), ("b", b))}
    wanted = {"information": "a", "clustering": "b", "flows": "a", "distances": "b", "connectivity": "b"}
    by_purpose, measures = summary._purposes(reports), summary._measures(reports)
    for purpose, best in wanted.items():
        assert (
            f'<tr id="for-{purpose}"><th class="rows" scope="rowgroup" colspan="5">{purpose}: best {best}' in measures
        )
        first, second = ('class="number best">0', 'class="number">100')[:: 1 if best == "a" else -1]
        assert f'<a href="#for-{purpose}">{purpose}</a></td><td {first}</td><td {second}</td>' in by_purpose
    assert "hubs" not in by_purpose
    assert '<td class="number best">0.9</td><td class="number">1.2</td><td>near 1</td>' in measures
    assert '<td class="number">0.9</td><td class="number best">0.4</td><td>as the original</td>' in measures


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on the PATH: install it to test the pages")
    with pytest.importorskip("playwright.sync_api").sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield chromium
        chromium.close()


def report_page(folder: Path) -> str:
    pytest.importorskip("matplotlib")
    result = graphpri.sparsify(nx.karate_club_graph(), keep=0.3, effort="fast")
    return summary.page(result, title="Karate", command="graphpri sparsify karate", baselines=["random"])


def tasks_page(folder: Path) -> str:
    pytest.importorskip("sklearn")
    import pandas as pd

    from graphpri.apps.mtl_report import TaskRequest, _page, study

    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["hours", "age", "score"])
    frame["school"] = np.repeat(list("abcd"), 15)
    request = TaskRequest("school", "score", keep=0.8, folds=2, min_degree=2)
    return _page(study(frame, request), request, "exams.csv", "graphpri mtl exams.csv")


def brain_page(folder: Path) -> str:
    pytest.importorskip("sklearn")
    pytest.importorskip("torch")
    from graphpri.apps.brain_methods import MethodSettings
    from graphpri.apps.brain_planted import planted_connectomes
    from graphpri.apps.brain_protocol import Validation
    from graphpri.apps.brain_report import BrainRequest, _page, study

    drawn = planted_connectomes(0.6, n_rois=12, n_modules=2, n_planted=3, n_train=24, n_test=4)
    quick = Validation(folds=2, half_samples=2, settings=MethodSettings(nested=False))
    return _page(
        study(drawn.train, BrainRequest(("linear-svm",), quick, explained="linear-svm", top=3)), "scans", "graphpri"
    )


def studies_page(folder: Path) -> str:
    pytest.importorskip("matplotlib")
    from graphpri.studies import reproduce
    from graphpri.studies.page import write_page

    return write_page(reproduce(["assumption"], folder, quick=True), folder).read_text("utf-8")


@pytest.mark.parametrize("made", [report_page, tasks_page, brain_page, studies_page])
def test_every_page_passes_axe_and_fits_the_screen(made: Any, browser: Any, tmp_path: Path) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    path = tmp_path / "page.html"
    path.write_text(made(tmp_path), "utf-8")
    for width, scheme in ((360, "dark"), (1440, "light")):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.goto(path.as_uri())
        found = axe.run(page)
        assert found.violations_count == 0, found.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        paper = _output.NAMES[scheme]["paper"]
        assert ground == f"rgb({', '.join(str(int(paper[i : i + 2], 16)) for i in (1, 3, 5))})"
        page.close()


def test_pages_print_dark_on_white(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    caption = "<figure><figcaption>What it shows</figcaption></figure>"
    path.write_text(document("A page", table(["a", "b"], [["x", 1.0]]), caption), "utf-8")
    page = browser.new_page(color_scheme="dark")
    page.goto(path.as_uri())
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    ink = _output.NAMES["light"]["ink"]
    wanted = f"rgb({', '.join(str(int(ink[i : i + 2], 16)) for i in (1, 3, 5))})"
    assert page.evaluate("getComputedStyle(document.body).color") == wanted
    text, small = (
        page.evaluate("(name) => parseFloat(getComputedStyle(document.querySelector(name)).fontSize)", name)
        for name in ("main", "figcaption")
    )
    assert small < text
    page.close()
