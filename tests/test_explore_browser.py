"""The explorer's page in a browser: what is drawn is what Python kept, it asks for nothing, and everyone can use it."""

from __future__ import annotations

import io
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import graphpri
import zoo
from graphpri import Exploration, explore
from graphpri.explorer import page as explorer_page
from graphpri.graph import Graph

sync_api = pytest.importorskip("playwright.sync_api")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH: install it to test the page")

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
FLAGS += ["--disable-sync", "--no-first-run"]
NAMES = [
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "\"'><svg/onload=hacked=1>",
]
NAMES += ["שלום, עולם", '👩‍👩‍👧‍👦 "family"', "&lt;b&gt;", "a,b", " spaces ", "two\nlines", "#first", "7", "plain"]


class Tab:
    """A page in the browser that notes every request and every complaint."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page = browser.new_page(**{"viewport": {"width": 1440, "height": 900}, **options})
        self.page.set_default_timeout(20_000)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.goto(path.as_uri())
        self.page.wait_for_function("() => window.graphpri")

    def __call__(self, code: str, argument: Any = None) -> Any:
        return self.page.evaluate(code, argument)

    def picture(self) -> np.ndarray:
        """What is on the screen, shape (height, width, 3)."""
        Image = pytest.importorskip("PIL.Image")
        return np.asarray(Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")).astype(int)

    def download(self, button: str, folder: Path) -> Path:
        with self.page.expect_download() as found:
            self.page.click(button)
        path = folder / found.value.suggested_filename
        found.value.save_as(path)
        return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def open_tab(browser: Any) -> Iterator[Callable[..., Tab]]:
    tabs: list[Tab] = []

    def opened(path: Path, **options: Any) -> Tab:
        tabs.append(Tab(browser, path, **options))
        return tabs[-1]

    yield opened
    for tab in tabs:
        tab.page.close()
        assert len(tab.requests) == 1
        assert tab.requests[0].startswith("file:")
        assert [text for text in tab.complaints if "willReadFrequently" not in text] == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def karate(folder: Path) -> tuple[Exploration, Path]:
    page = explore(nx.karate_club_graph(), beta=[0, 1, 4, 20], keep=[0.05, 0.3, 0.6, 1.0], title="Karate club")
    page.save(folder / "karate.html")
    return page, folder / "karate.html"


@pytest.fixture(scope="module")
def ring(folder: Path) -> tuple[Exploration, Path]:
    """A ring and its chords, its nodes on a circle: edges far enough apart to look at their pixels."""
    n = 12
    angle = 2 * np.pi * np.arange(n) / n
    graph = Graph.from_edges(np.r_[np.arange(n), 0], np.r_[(np.arange(n) + 1) % n, 6])
    at = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    page = explore(graph, beta=[4], keep=[4, 9, 13], layout=at, methods=["random"])
    page.save(folder / "ring.html")
    return page, folder / "ring.html"


@pytest.fixture(scope="module")
def hostile(folder: Path) -> tuple[Exploration, Path]:
    graph = nx.relabel_nodes(nx.wheel_graph(len(NAMES)), dict(enumerate(NAMES)))
    for i, (u, v) in enumerate(graph.edges):
        graph.edges[u, v]["weight"] = 10.0 ** (25 * (i % 5) - 50) / 3
    nx.set_node_attributes(graph, {name: NAMES[i % 3] for i, name in enumerate(NAMES)}, NAMES[0])
    page = explore(graph, beta=[4], keep=[5, 12], title=NAMES[0])
    page.save(folder / "hostile.html")
    return page, folder / "hostile.html"


def test_sliders_show_exactly_the_edges_of_python(karate: Any, open_tab: Any) -> None:
    page, path = karate
    tab = open_tab(path)
    assert tab("graphpri.state().beta") == 4
    for name, stops in (("#keep", len(page.budgets)), ("#beta", len(page.betas))):
        for at in range(stops):
            tab.page.fill(name, str(at))
            tab("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            state = tab("graphpri.state()")
            wanted = page._grid.masks[page.betas.index(state["beta"]), page.budgets.index(state["keep"])]
            assert_array_equal(tab("graphpri.kept()"), np.flatnonzero(wanted))
            assert str(state["keep"]) in tab.page.inner_text("#keepNow")
    for m, method in enumerate(page.methods):
        tab.page.select_option("#baseline", str(m))
        for b, beta in enumerate(page.betas):
            for j, k in enumerate(page.budgets):
                kept, other = tab(
                    "([b, j]) => { graphpri.go(b, j); return [graphpri.kept(), graphpri.kept(1)]; }", [b, j]
                )
                assert_array_equal(kept, np.flatnonzero(page._grid.masks[b, j]))
                assert_array_equal(np.sort(other), np.sort(page._baselines[m].order[:k]))
                assert len(other) == k == page.mask(beta, k, method).sum()


def colours(tab: Tab, names: list[str]) -> list[np.ndarray]:
    found = tab(
        "(names) => names.map((n) => getComputedStyle(document.documentElement).getPropertyValue('--' + n).trim())",
        names,
    )
    return [np.array([int(text[i : i + 2], 16) for i in (1, 3, 5)]) for text in found]


def drawn_as(tab: Tab, edges: int, names: list[str], pane: int = 0) -> list[str]:
    """For every edge, the colour in whose direction the pixels a third along it differ from the ground."""
    screen, (ground, *inks) = tab.picture(), colours(tab, ["canvas", *names])
    wanted = np.array([(ink - ground) / np.linalg.norm(ink - ground) for ink in inks])
    found: list[str] = []
    for edge in range(edges):
        (ax, ay), (bx, by) = tab("([e, p]) => graphpri.place(e, p)", [edge, pane])
        x, y = round(ax + (bx - ax) / 3), round(ay + (by - ay) / 3)
        patch = screen[y - 2 : y + 3, x - 2 : x + 3].reshape(-1, 3) - ground
        darkest = patch[np.abs(patch).sum(axis=1).argmax()]
        found.append(names[int((wanted @ darkest).argmax())] if np.abs(darkest).sum() > 45 else "nothing")
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pixels_show_kept_edges_over_dropped_ones(ring: Any, open_tab: Any, scheme: str) -> None:
    page, path = ring
    tab = open_tab(path, color_scheme=scheme)
    tab.page.uncheck("#labels")
    for j, k in enumerate(page.budgets):
        tab("(j) => graphpri.go(0, j)", j)
        wanted = ["kept" if kept else "dropped" for kept in page.mask(4, k)]
        assert drawn_as(tab, 13, ["kept", "dropped"]) == wanted


def test_pixels_beside_show_the_other_method_and_what_differs(ring: Any, open_tab: Any) -> None:
    page, path = ring
    tab = open_tab(path)
    tab.page.uncheck("#labels")
    tab.page.select_option("#baseline", "0")
    for j, k in enumerate(page.budgets):
        tab("(j) => graphpri.go(0, j)", j)
        sides = page.mask(4, k), page.mask(4, k, "random")
        for pane, (mine, other) in enumerate((sides, sides[::-1])):
            wanted = np.where(mine, np.where(other, "kept", "only"), "dropped").tolist()
            assert drawn_as(tab, 13, ["kept", "only", "dropped"], pane) == wanted


def test_hostile_labels_are_shown_as_text(hostile: Any, open_tab: Any) -> None:
    tab = open_tab(hostile[1])
    assert tab.page.title() == f"{NAMES[0]} – graphpri explorer"
    assert tab.page.text_content("h1") == NAMES[0]
    for name in NAMES:
        tab.page.fill("#search", " ".join(name.split()))
        tab.page.press("#search", "Enter")
        assert tab.page.text_content("#picked strong") == name
    tab.page.keyboard.press("Escape")
    assert tab.page.text_content("#picked") == ""
    tab.page.select_option("#colour", "0")
    assert all(name in tab.page.text_content("#legend") for name in NAMES[:3])
    assert tab("typeof window.hacked") == "undefined"
    assert tab("document.querySelectorAll('img, iframe, script').length") == 1


def test_downloads_hold_what_is_shown(hostile: Any, open_tab: Any, tmp_path: Path) -> None:
    page, path = hostile
    tab = open_tab(path)
    tab("graphpri.go(0, 1)")
    graph = page.graph
    wanted = {frozenset(graph.edge_labels(e)): graph.weights[e] for e in np.flatnonzero(page._grid.masks[0, 1])}
    for button in ("#csv", "#graphml"):
        found = graphpri.as_graph(graphpri.read(tab.download(button, tmp_path)))
        assert {frozenset(found.edge_labels(e)): found.weights[e] for e in range(found.n_edges)} == wanted
    assert {found.label(i) for i in range(found.n_nodes)} == set(NAMES)
    png = tab.download("#png", tmp_path).read_bytes()
    assert png.startswith(b"\x89PNG")
    assert len(png) > 5000
    svg = ET.parse(tab.download("#svg", tmp_path)).getroot()
    space = "{http://www.w3.org/2000/svg}"
    paths = {p.get("class"): p.get("d", "").count("M") for p in svg.iter(f"{space}path")}
    assert paths == {"kept": 12, "dropped": graph.n_edges - 12}
    assert {t.text for t in svg.iter(f"{space}title")} == set(NAMES)


def svg_of(tab: Tab, folder: Path) -> ET.Element:
    return ET.parse(tab.download("#svg", folder)).getroot()


def test_files_hold_every_attribute_and_what_python_has(karate: Any, open_tab: Any, tmp_path: Path) -> None:
    page, path = karate
    tab = open_tab(path)
    tab("graphpri.go(2, 1)")
    wanted = page._grid.masks[2, 1]
    for pane, mask in (("0", wanted), ("1", np.isin(np.arange(78), page._baselines[1].order[:23]))):
        tab.page.select_option("#baseline", "1")
        tab.page.select_option("#which", pane)
        tab.page.select_option("#extent", "all")
        found = nx.read_graphml(tab.download("#graphml", tmp_path))
        assert found.number_of_nodes() == 34
        kept = np.zeros(78)
        for e in range(78):
            u, v = map(str, page.graph.edge_labels(e))
            assert found.edges[u, v]["weight"] == page.graph.weights[e]
            kept[e] = found.edges[u, v]["kept"]
            assert ("score_above_share_of_edges" in found.edges[u, v]) == (pane == "0")
        assert_array_equal(kept, mask)
        club = nx.karate_club_graph().nodes(data="club")
        degrees = page.graph.select(mask).degrees()
        for v, data in found.nodes(data=True):
            assert data["club"] == club[int(v)]
            assert data["edges_kept"] == degrees[int(v)]
            assert {"x", "y", "community (computed)"} <= set(data)
        tab.page.select_option("#extent", "kept")
        rows = tab.download("#csv", tmp_path).read_text().splitlines()
        assert len(rows) == 1 + mask.sum()
        assert len(tab.download("#nodesCsv", tmp_path).read_text().splitlines()) == 35
    values = tab.download("#valuesCsv", tmp_path).read_text().splitlines()
    assert len(values) == 1 + len(page.rows())


def test_svg_has_the_names_and_the_colours_of_the_comparison(karate: Any, open_tab: Any, tmp_path: Path) -> None:
    page, path = karate
    tab = open_tab(path)
    tab("graphpri.go(2, 1)")
    tab.page.select_option("#baseline", "1")
    ours, theirs = page._grid.masks[2, 1], np.isin(np.arange(78), page._baselines[1].order[:23])
    space, names = "{http://www.w3.org/2000/svg}", ["kept", "only"]
    inks = tab(
        "(n) => n.map((x) => getComputedStyle(document.documentElement).getPropertyValue('--' + x).trim())", names
    )
    for pane, mine, other in (("0", ours, theirs), ("1", theirs, ours)):
        tab.page.select_option("#which", pane)
        root = svg_of(tab, tmp_path)
        lines = {p.get("class"): (p.get("stroke"), p.get("d", "").count("M")) for p in root.iter(f"{space}path")}
        assert lines["kept"] == (inks[0], (mine & other).sum())
        assert lines["only"] == (inks[1], (mine & ~other).sum())
        assert lines["dropped"][1] == (~mine).sum()
        assert {str(v) for v in (0, 33)} <= {text.text for text in root.iter(f"{space}text")}
    tab.page.uncheck("#labels")
    assert not list(svg_of(tab, tmp_path).iter(f"{space}text"))


def test_address_restores_what_is_shown(karate: Any, open_tab: Any) -> None:
    tab = open_tab(karate[1])
    tab("graphpri.go(3, 2)")
    tab.page.select_option("#baseline", "2")
    tab("(document.querySelector('#drawing').open = true)")
    tab.page.select_option("#edgeBy", "weight")
    tab.page.wait_for_function("() => location.hash.includes('edges=weight')")
    address = tab("location.href")
    assert "#beta=20&keep=47&beside=local-similarity" in address
    assert tab.page.get_attribute("#link", "href") == address[address.index("#") :]
    before = tab("[graphpri.state(), graphpri.kept(), graphpri.kept(1)]")
    tab.page.goto("about:blank")
    tab.page.goto(address)
    tab.page.wait_for_function("() => window.graphpri")
    after = tab("[graphpri.state(), graphpri.kept(), graphpri.kept(1)]")
    for told in (before, after):
        del told[0]["firstPicture"], told[0]["lastStep"]
    assert after == before
    tab.requests[1:] = [address for address in tab.requests[1:] if not address.startswith(("file:", "about:"))]


def test_address_holds_filters_layout_and_the_node_that_is_picked(karate: Any, open_tab: Any) -> None:
    tab = open_tab(karate[1])
    tab("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    tab.page.select_option("#colour", "1")
    tab.page.select_option("#layout", "1")
    tab.page.fill("#least", "3")
    tab.page.uncheck("#labels")
    tab.page.check("#changes")
    tab.page.click("#legend .group >> nth=0")
    tab.page.fill("#search", "33")
    tab.page.press("#search", "Enter")
    tab.page.wait_for_function("() => location.hash.includes('node=33')")
    before = tab("[graphpri.state(), graphpri.seen(), graphpri.place(0)]")
    del before[0]["firstPicture"], before[0]["lastStep"]
    tab("(location.hash = '#beta=4&keep=23')")
    tab.page.wait_for_function("() => graphpri.seen().length === 34")
    plain = tab("graphpri.state()")
    assert (plain["colour"], plain["layout"], plain["least"], plain["labels"]) == (0, 0, 0, True)
    assert tab("graphpri.place(0)") != before[2]
    tab.page.go_back()
    tab.page.wait_for_function("() => graphpri.seen().length < 34")
    after = tab("[graphpri.state(), graphpri.seen(), graphpri.place(0)]")
    del after[0]["firstPicture"], after[0]["lastStep"]
    assert after == before
    assert "a filter hides it" in tab.page.inner_text("#picked") or 33 in after[1]


def test_command_and_python_line_are_those_of_the_drawing_chosen(karate: Any, open_tab: Any) -> None:
    page, path = karate
    tab = open_tab(path)
    tab("graphpri.go(2, 1)")
    tab.page.select_option("#baseline", label="local-degree")
    assert "method" not in tab.page.inner_text("#again")
    tab.page.select_option("#which", "1")
    wanted = np.isin(np.arange(78), tab("graphpri.kept(1)"))
    assert 'methods=["local-degree"]).mask(beta=4, keep=23, method="local-degree")' in tab.page.inner_text("#python")
    command = "graphpri sparsify INPUT --keep 23 --method local-degree"
    assert tab.page.inner_text("#command") == command
    assert_array_equal(graphpri.sparsify(nx.karate_club_graph(), 23, method="local-degree").mask, wanted)
    assert_array_equal(page.mask(4, 23, "local-degree"), wanted)
    tab.page.select_option("#baseline", label="nothing")
    assert "method" not in tab.page.inner_text("#again")


def test_numbers_stay_numbers_in_files_and_in_the_order_of_the_table(
    open_tab: Any, folder: Path, tmp_path: Path
) -> None:
    graph = nx.cycle_graph(5)
    graph.add_node(5)
    ages = dict(enumerate([9, 100, 20, None, 3]))
    nx.set_node_attributes(graph, {v: age for v, age in ages.items() if age is not None}, "age")
    nx.set_node_attributes(graph, {0: "007", 1: 7}, "mixed")
    nx.set_edge_attributes(graph, {edge: 0.5 + i for i, edge in enumerate(graph.edges)}, "length")
    nx.set_edge_attributes(graph, 2**60 + 1, "long")
    explore(graph, beta=[4], keep=[3], methods=["random"]).save(folder / "numbers.html")
    tab = open_tab(folder / "numbers.html")
    tab.page.select_option("#extent", "all")
    found = nx.read_graphml(tab.download("#graphml", tmp_path), node_type=int)
    assert {v: age for v, age in found.nodes(data="age") if age is not None} == {0: 9, 1: 100, 2: 20, 4: 3}
    assert all(isinstance(kept, int) for _, kept in found.nodes(data="edges_kept"))
    assert [found.nodes[v]["mixed"] for v in (0, 1)] == ["007", "7"]
    assert {frozenset(e[:2]): e[2] for e in found.edges(data="length")} == {
        frozenset(e[:2]): e[2] for e in graph.edges(data="length")
    }
    assert {long for *_, long in found.edges(data="long")} == {str(2**60 + 1)}
    tab.page.click("#data_ summary")
    for order in (["100", "20", "9", "3", "", ""], ["3", "9", "20", "100", "", ""]):
        tab.page.click("#table th button:text-is('age')")
        at = tab.page.locator("#table th").all_inner_texts().index("age")
        assert tab.page.locator(f"#table tbody td:nth-child({at + 1})").all_inner_texts() == order
    tab.page.fill("#search", "5")
    tab.page.press("#search", "Enter")
    assert "has none in the original" in tab.page.inner_text("#picked")


def test_filters_hide_nodes_from_drawing_table_and_files(karate: Any, open_tab: Any, tmp_path: Path) -> None:
    page, path = karate
    tab = open_tab(path)
    tab("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    tab.page.click("#legend .group >> nth=0")
    hidden = 34 - len(tab("graphpri.seen()"))
    assert hidden == 17
    tab.page.wait_for_function("() => document.querySelectorAll('#table tbody tr').length === 17")
    assert len(tab.download("#nodesCsv", tmp_path).read_text().splitlines()) == 18
    tab.page.click("#legend .group >> nth=0")
    tab.page.fill("#least", "9")
    assert tab("graphpri.seen()") == np.flatnonzero(page.graph.degrees() >= 9).tolist()
    tab.page.fill("#least", "0")
    tab.page.check("#keptOnly")
    root = svg_of(tab, tmp_path)
    assert "dropped" not in {p.get("class") for p in root.iter("{http://www.w3.org/2000/svg}path")}


def test_a_line_around_nodes_lists_them(ring: Any, open_tab: Any) -> None:
    tab = open_tab(ring[1])
    box = tab.page.locator("#view0").bounding_box()
    tab.page.keyboard.down("Shift")
    tab.page.mouse.move(box["x"] + 3, box["y"] + 3)
    tab.page.mouse.down()
    for dx, dy in ((0.5, 0), (0.5, 1), (0, 1)):
        tab.page.mouse.move(box["x"] + dx * box["width"] + 3, box["y"] + dy * (box["height"] - 6) + 3)
    tab.page.mouse.up()
    tab.page.keyboard.up("Shift")
    listed = int(tab.page.inner_text("#table caption").split()[0])
    assert 5 <= listed <= 7


def test_the_sentence_follows_the_sliders(karate: Any, open_tab: Any) -> None:
    page, path = karate
    tab = open_tab(path)
    for b, j in ((0, 1), (2, 1), (3, 2)):
        tab("([b, j]) => graphpri.go(b, j)", [b, j])
        row = next(r for r in page.rows() if (r["beta"], r["K"]) == (page.betas[b], page.budgets[j]))
        told = tab.page.inner_text("#sentence")
        weight = page.graph.weights[page._grid.masks[b, j]].sum() / page.graph.weights.sum()
        assert told.startswith(f"{page.budgets[j]} of 78 edges, {100 * weight:.0f}"[:24])
        lost = int(row["cut_off"])
        assert (f"{lost} node" in told) if lost else ("no node lost" in told)


def between_clubs(page: Exploration) -> np.ndarray:
    club = np.array([node["club"] == "Officer" for _, node in nx.karate_club_graph().nodes(data=True)])
    return club[page.graph.source] != club[page.graph.target]


def test_edges_between_groups_are_those_of_the_groups_shown(karate: Any, open_tab: Any) -> None:
    page, path = karate
    tab = open_tab(path)
    count = tab.page.locator("#curves .chart", has_text="between groups").locator("b")
    for method in (None, "local-degree"):
        if method:
            tab.page.select_option("#baseline", label=method)
        for j, k in enumerate(page.budgets):
            tab("(j) => graphpri.go(2, j)", j)
            wanted = (page.mask(4, k, method) if method else page.mask(4, k))[between_clubs(page)].sum()
            sync_api.expect(count.nth(int(bool(method)))).to_have_text(str(wanted))
    tab.page.click("#legend .group >> nth=0")
    sync_api.expect(count.first).to_have_text("0")
    tab.page.select_option("#colour", label="degree in the original")
    assert count.first.is_hidden()


def test_five_tasks_are_done_from_the_page_alone(karate: Any, open_tab: Any, tmp_path: Path) -> None:
    """Find where groups part, export a figure, compare with another method, find a node's last edge, share a link."""
    page, path = karate
    tab = open_tab(path)
    # 1. The β at which both clubs split: along β, the curve of edges between groups; a click goes there.
    tab.page.locator("#keep").fill("0")
    tab.page.check("[value=beta]")
    chart = tab.page.locator("#curves .chart", has_text="between groups")
    joining = [int(page.mask(beta, 4)[between_clubs(page)].sum()) for beta in page.betas]
    split = page.betas[joining.index(0)]
    assert split > 0
    box = chart.locator("svg").bounding_box()
    for b, count in enumerate(joining):
        at = {"x": box["width"] * (31 + 125 * b / 3) / 160, "y": box["height"] / 2}
        chart.locator("svg").click(position=at)
        tab.page.wait_for_function("(beta) => graphpri.state().beta === beta", arg=page.betas[b])
        sync_api.expect(chart.locator("b").first).to_have_text(str(count))
    assert f"minimum 0 at {split:g}" in chart.locator("svg").text_content()
    tab.page.locator("#beta").fill("0")
    tab.page.locator("#keep").fill("1")
    # 2. A figure.
    assert len(list(svg_of(tab, tmp_path).iter("{http://www.w3.org/2000/svg}circle"))) == 34
    # 3. Beside local degree.
    tab.page.select_option("#baseline", label="local-degree")
    assert "local-degree" in tab.page.inner_text("#caption1")
    assert_array_equal(np.sort(tab("graphpri.kept(1)")), np.flatnonzero(page.mask(4, 23, "local-degree")))
    # 4. Where node 11 loses its last edge.
    tab.page.fill("#search", "11")
    tab.page.press("#search", "Enter")
    without = [k for j, k in enumerate(page.budgets) if page.graph.select(page._grid.masks[0, j]).degrees()[11] == 0]
    told = tab.page.inner_text("#picked")
    assert "loses its last edge" in told
    assert all(str(k) in told for k in without[-1:])
    # 5. A link: copied by its button, it opens what is shown.
    tab.page.click("[data-copies=link]")
    tab.page.fill("#search", "")
    tab.page.press("#search", "Control+v")
    assert tab.page.input_value("#search") == f"{path.as_uri()}#beta=0&keep=23&beside=local-degree&along=beta&node=11"


def test_picture_downloaded_is_the_one_shown(ring: Any, open_tab: Any, tmp_path: Path) -> None:
    Image = pytest.importorskip("PIL.Image")
    tab = open_tab(ring[1])
    box = tab.page.locator(".layers").first.bounding_box()
    left, top = round(box["x"]), round(box["y"])
    twice = Image.open(tab.download("#png", tmp_path)).convert("RGB")
    assert twice.size == (2 * box["width"], 2 * round(box["height"]))
    png = np.asarray(twice.resize((twice.width // 2, twice.height // 2), Image.Resampling.BOX)).astype(int)
    height, width = png.shape[:2]
    shown = tab.picture()[top : top + height, left : left + width]
    inside = np.s_[5 : height - 200, 5 : width - 80]  # the buttons lie over the rest
    assert (np.abs(png - shown)[inside].max(axis=2) > 60).mean() < 0.002
    assert (np.abs(png - png[0, 0])[inside].max(axis=2) > 40).mean() > 0.004


def test_keys_do_everything(karate: Any, open_tab: Any) -> None:
    tab = open_tab(karate[1])
    tab("graphpri.go(1, 1)")
    for key, name, value in (
        ("]", "keep", 47),
        ("]", "keep", 78),
        ("[", "keep", 47),
        (".", "beta", 4),
        (",", "beta", 1),
    ):
        tab.page.keyboard.press(key)
        tab.page.wait_for_function("([n, v]) => graphpri.state()[n] === v", arg=[name, value])
    tab.page.keyboard.press("/")
    assert tab("document.activeElement.id") == "search"
    tab.page.keyboard.type("33[")
    assert tab("[graphpri.state().keep, document.querySelector('#search').value]") == [47, "33["]
    tab.page.focus("#view0")
    before = np.array(tab("graphpri.place(0)"))
    tab.page.keyboard.press("ArrowRight")
    tab.page.wait_for_function("(x) => graphpri.place(0)[0][0] < x", arg=before[0, 0] - 1)
    assert_allclose(np.array(tab("graphpri.place(0)")) - before, [[-60, 0]] * 2, atol=0.1)
    tab.page.keyboard.press("+")
    tab.page.wait_for_function(
        "(d) => { const [a, b] = graphpri.place(0); return Math.hypot(a[0] - b[0], a[1] - b[1]) > d; }",
        arg=float(np.hypot(*(before[0] - before[1]))) * 1.2,
    )
    tab.page.keyboard.press("0")
    tab.page.wait_for_function("(x) => Math.abs(graphpri.place(0)[0][0] - x) < 0.1", arg=before[0, 0])
    tab.page.keyboard.press("n")
    node = tab("graphpri.state().picked.node")
    tab.page.keyboard.press("e")
    edge = tab("graphpri.state().picked.edge")
    graph = karate[0].graph
    assert node in (graph.source[edge], graph.target[edge])
    assert edge in tab("graphpri.kept()")
    assert "score" in tab.page.inner_text("#picked")
    tab.page.keyboard.press("Escape")
    assert tab("graphpri.state().picked") is None


def test_pointing_tells_and_clicking_selects(ring: Any, open_tab: Any) -> None:
    page, path = ring
    tab = open_tab(path)
    edge = page.graph.n_edges - 1
    (ax, ay), (bx, by) = tab("(e) => graphpri.place(e)", edge)
    tab.page.mouse.move(ax + (bx - ax) / 2, ay + (by - ay) / 2)
    ends = " – ".join(map(str, page.graph.edge_labels(edge)))
    assert tab.page.inner_text("#tip").startswith(f"{ends}: ")
    tab.page.mouse.down()
    tab.page.mouse.up()
    assert tab("graphpri.state().picked") == {"edge": edge}
    assert tab.page.inner_text("#picked strong") == ends
    tab.page.mouse.move(ax, ay)
    assert f"of {page.graph.degrees()[page.graph.source[edge]]} edges kept" in tab.page.inner_text("#tip")
    tab.page.mouse.down()
    tab.page.mouse.move(ax + 40, ay + 25, steps=4)
    tab.page.mouse.up()
    tab.page.wait_for_function("(x) => graphpri.place(12)[0][0] > x + 30", arg=ax)


def test_curves_follow_and_lead(karate: Any, open_tab: Any) -> None:
    page, path = karate
    tab = open_tab(path)
    tab("graphpri.go(2, 1)")
    row = next(r for r in page.rows() if (r["beta"], r["K"]) == (4, page.budgets[1]))
    shown = tab.page.locator("#curves b").all_inner_texts()
    assert [float(text) for text in shown if text] == pytest.approx(
        [
            row["entropy"],
            row["divergence"],
            row["entropy"] + 8 * row["divergence"],
            row["spectral_distance"],
            row["centralisation"],
            row["components"],
            page.mask(4, page.budgets[1])[between_clubs(page)].sum(),
        ],
        rel=1e-3,
    )
    box = tab.page.locator("#curves svg").first.bounding_box()
    tab.page.mouse.click(box["x"] + box["width"] - 2, box["y"] + 20)
    tab.page.wait_for_function("() => graphpri.state().keep === 78")
    tab.page.check("[value=beta]")
    tab.page.mouse.move(box["x"] + box["width"] / 3, box["y"] + 20)
    assert "β 1: " in tab.page.locator("#curves svg").first.text_content()
    units = tab.page.locator("#curves svg").evaluate_all("all => all.map(svg => svg.textContent)")
    assert ["nats" in text for text in units] == [True] * 3 + [False] * (len(units) - 4) + [True]
    tab.page.mouse.click(box["x"] + 2, box["y"] + 20)
    tab.page.wait_for_function("() => graphpri.state().beta === 0")
    assert "along β" in tab.page.locator("#curves svg").first.get_attribute("aria-label")


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1440, "light")])
def test_page_fits_the_screen_and_passes_axe(karate: Any, open_tab: Any, width: int, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    tab = open_tab(karate[1], viewport={"width": width, "height": 800}, color_scheme=scheme)
    for change in ("graphpri.go(1, 1)", "document.querySelectorAll('details').forEach((d) => (d.open = true))"):
        tab(change)
    tab.page.select_option("#baseline", "1")
    tab.page.fill("#search", "3")
    tab.page.press("#search", "Enter")
    tab.page.fill("#search", "3")
    found = axe.run(tab.page)
    assert found.violations_count == 0, found.generate_report()
    assert tab("document.documentElement.scrollWidth") <= width
    for name in ("#keep", "#beta", "#baseline", "#search", "#csv", "#theme"):
        box = tab.page.locator(name).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    sizes = tab("[...document.querySelectorAll('.layers')].map((e) => [e.clientWidth, e.clientHeight])")
    assert np.min(sizes) >= 100


def test_theme_follows_the_system_and_its_button(karate: Any, open_tab: Any) -> None:
    tab = open_tab(karate[1], color_scheme="dark")
    dark = tab.picture()[450, 500].sum()
    tab.page.click("#theme")
    assert tab.picture()[450, 500].sum() > dark + 300
    for scheme in ("light", "dark"):
        tab.page.emulate_media(color_scheme=scheme)
        # Media queries report at a frame: without one between them, two changes that cancel are never seen.
        tab.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        tab.page.wait_for_function("(name) => document.documentElement.dataset.theme === name", arg=scheme)
    assert tab.picture()[450, 500].sum() == dark


def test_page_works_inside_a_notebook(karate: Any, browser: Any) -> None:
    outer = browser.new_page()
    outer.set_content(karate[0]._repr_html_())
    frame = next(f for f in outer.frames if f != outer.main_frame)
    frame.wait_for_function("() => window.graphpri", timeout=20_000)
    assert frame.evaluate("graphpri.kept().length") == 23
    outer.close()


def test_policy_stops_requests(karate: Any, browser: Any) -> None:
    page = browser.new_page()
    answered: list[str] = []
    failed: list[str | None] = []
    page.on("response", lambda response: answered.append(response.url))
    page.on("requestfailed", lambda request: failed.append(request.failure))
    page.goto(karate[1].as_uri())
    stopped = "fetch('https://example.org/').then(() => 'went', () => 'stopped')"
    assert page.evaluate(stopped) == "stopped"
    image = "new Image(), { src: 'https://example.org/x.png', onload: () => done(1), onerror: () => done(0) }"
    assert page.evaluate(f"new Promise((done) => document.body.append(Object.assign({image})))") == 0
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), { textContent: 'hacked = 1' }))"
    )
    assert page.evaluate("typeof hacked") == "undefined"
    assert answered in ([], [karate[1].as_uri()])
    assert set(failed) <= {"csp"}
    page.close()


def test_small_and_odd_graphs_are_drawn(open_tab: Any, folder: Path) -> None:
    odd = zoo.disjoint(zoo.star(4), zoo.path(2), isolated=3)
    for name, graph in (("one", zoo.path(2)), ("odd", zoo.reweighted(odd, [1e-300, 1e300, 1.0, 3.5]))):
        page = explore(graph, beta=[4], keep=[graph.n_edges])
        page.save(folder / f"{name}.html")
        tab = open_tab(folder / f"{name}.html")
        assert tab("graphpri.kept().length") == graph.n_edges
        assert tab("document.querySelector('#keep').disabled")


@pytest.mark.parametrize(("m", "sampled"), [(3000, False), (4500, True)])
def test_large_graphs_say_what_is_sampled(
    open_tab: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, m: int, sampled: bool
) -> None:
    # A tenth of what is large, since Chromium takes long to draw that without a graphics card.
    shutil.copytree(Path(explorer_page.__file__).parent / "assets", tmp_path / "assets")
    script, most = tmp_path / "assets" / "draw.js", "const MOST_DROPPED = {};"
    assert most.format(40000) in script.read_text("utf-8")
    script.write_text(script.read_text("utf-8").replace(most.format(40000), most.format(4000)), "utf-8")
    monkeypatch.setattr(explorer_page, "files", lambda _: tmp_path)
    n = 600
    graph, at = zoo.random_graph(n, m, 0), np.random.default_rng(0).normal(size=(n, 2))
    page = explore(graph, beta=[4], keep=[0.3, 1.0], entropy="degree", layout=at, methods=["random"])
    page.save(folder / f"{m}.html")
    tab = open_tab(folder / f"{m}.html")
    assert tab("graphpri.state().firstPicture") > 0
    tab("graphpri.go(0, 1)")
    assert len(tab("graphpri.kept()")) == m
    assert ("1 in 2 drawn" in tab.page.inner_text("#legend")) == sampled


def test_between_two_groups_of_a_large_graph_there_is_one_line(open_tab: Any, folder: Path, tmp_path: Path) -> None:
    n, m = 3000, 10_500
    graph, at = zoo.random_graph(n, m, 0), np.random.default_rng(0).normal(size=(n, 2))
    kind = np.arange(n) % 3
    options = {"beta": [4], "keep": [0.3, 1.0], "entropy": "degree", "layout": at, "methods": ["random"]}
    explore(graph, attributes={"kind": [f"kind {k}" for k in kind]}, **options).save(folder / "kinds.html")
    tab = open_tab(folder / "kinds.html")
    tab("graphpri.go(0, 1)")

    def lines() -> dict[str, int]:
        found: dict[str, int] = {}
        for path in svg_of(tab, tmp_path).iter("{http://www.w3.org/2000/svg}path"):
            found[path.get("class", "")] = found.get(path.get("class", ""), 0) + path.get("d", "").count("M")
        return found

    within = int((kind[graph.source] == kind[graph.target]).sum())
    assert lines() == {"dropped": 0, "bundle": 3, "kept": within}
    tab("graphpri.go(0, 0)")
    tab.page.select_option("#baseline", "0")
    assert lines()["bundle-only"] == 3
    tab.page.select_option("#baseline", "")
    tab("(document.querySelector('#drawing').open = true)")
    tab.page.select_option("#bundles", "0")
    assert lines()["kept"] == len(tab("graphpri.kept()"))
    tab.page.select_option("#bundles", "")
    for _ in range(2):
        tab.page.click("#in")
    tab.page.wait_for_function("() => !document.querySelector('#legend').innerText.includes('between two groups')")
    assert "bundle" not in lines()
