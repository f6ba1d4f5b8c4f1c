"""Draw the pictures of the pages into docs/pictures, from the library and from docs/data.

python docs/make_pictures.py                 all of them
python docs/make_pictures.py --only growth   one, repeatable

Those of HTML pages are taken by an installed Chromium.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from fill_tables import DATA, read
from PIL import Image
from scale_tables import cells

import graphpri
from graphpri._layout import spring
from graphpri.apps.brain_planted import planted_connectomes

PICTURES = Path(__file__).parent / "pictures"
LARGEST = 150_000
COLOURS = 128
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def karate() -> None:
    """The README's picture: karate, 30 % of its edges."""
    graph = nx.karate_club_graph()
    figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
    graphpri.plot.graph(graph, graphpri.sparsify(graph, keep=0.3), ax)
    save(figure, "karate")


def karate_over_beta() -> None:
    """Karate without a budget at β = 0, 2 and 5, nodes in the same places."""
    graph = graphpri.as_graph(nx.karate_club_graph(), weight=None)
    place = spring(graph)
    figure, axes = plt.subplots(1, 3, figsize=(12, 4.4), layout="constrained")
    for ax, beta in zip(axes, (0, 2, 5), strict=True):
        result = graphpri.sparsify(graph, beta=beta)
        graphpri.plot.graph(graph, result, ax, layout=place)
        ax.set_title(f"β = {beta}: {ax.get_title()}")
    save(figure, "karate_over_beta")


def karate_path() -> None:
    """J, S, D and the share of kept edges along β."""
    graph = graphpri.as_graph(nx.karate_club_graph(), weight=None)
    figure, ax = plt.subplots(figsize=(6.5, 4.5), layout="constrained")
    graphpri.plot.path(graphpri.path(graph, beta=[i / 2 for i in range(17)]), ax)
    save(figure, "karate_path")


def edges_over_beta() -> None:
    """Share of kept edges over β without a budget, the paper's four real graphs."""
    rows = read(DATA / "beta_free.csv")
    figure, ax = plt.subplots(figsize=(6.5, 4.5), layout="constrained")
    for name, marker in zip(dict.fromkeys(row["graph"] for row in rows), "os^D", strict=True):
        points = [(float(r["beta"]), 100 * float(r["share_kept"])) for r in rows if r["graph"] == name]
        ax.plot(*zip(*points, strict=True), marker=marker, markersize=4, label=name)
    ax.set_xlabel("β")
    ax.set_ylabel("edges kept, %")
    ax.set_ylim(0, 104)
    ax.legend(frameon=False)
    save(figure, "edges_over_beta")


def growth() -> None:
    """Time and memory over the number of edges, as `make bench` measured them."""
    found = list(cells(read(DATA / "bench.csv"), "growth"))
    names = {"degree": "degree entropy", "local": "local entropy", "NetworKit": "NetworKit, local degree"}
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    for (method, name), marker in zip(names.items(), "os^", strict=True):
        of_method = [cell for cell in found if cell["case"] == method]
        edges = [int(cell["edges"]) for cell in of_method]
        for ax, values in zip(axes, (_numbers(of_method, "s"), _numbers(of_method, "bytes an edge")), strict=True):
            ax.plot(edges, values, marker=marker, markersize=5, label=name)
    most, least = (f(int(cell["edges"]) for cell in found) for f in (max, min))
    start = min(float(cell["s"]) for cell in found if int(cell["edges"]) == most) * least / most
    axes[0].plot([least, most], [start, start * most / least], ":", color="grey", label="in proportion to the edges")
    for ax, what in zip(axes, ("seconds", "peak memory, bytes an edge"), strict=True):
        ax.set(xscale="log", yscale="log", xlabel="edges", ylabel=what)
        ax.grid(alpha=0.3)
    # Bytes an edge stay within a few octaves: powers of ten would leave the axis without numbers.
    axes[1].set_yticks(ticks := [10, 20, 40, 80, 160, 320, 640], map(str, ticks))
    axes[1].minorticks_off()
    axes[1].set_ylim(10, 700)
    axes[0].legend(frameon=False)
    axes[1].axhline(80, color="grey", linestyle=":")
    axes[1].annotate("goal", (least, 80), (2, 2), textcoords="offset points", color="grey")
    save(figure, "growth")


def _numbers(of_method: list[dict[str, str]], key: str) -> list[float]:
    return [float(cell[key]) for cell in of_method]


def report() -> None:
    """The page that `graphpri sparsify --report` writes."""
    with TemporaryDirectory() as name:
        run("sparsify", "lesmis", "--keep", "0.3", "--report", "report.html", "--quiet", folder=Path(name))
        fold(Path(name) / "report.html", "report", tops=(0, 1940), height=1400)


def brain_report() -> None:
    """The page that `graphpri brain` writes about scans with 20 planted edges, with places and systems made up."""
    drawn = planted_connectomes(n_rois=60, n_modules=4, n_planted=20, n_train=64, n_test=4)
    centres = np.array([[-38, 10, 35], [38, 10, 35], [0, -75, 10], [0, 45, 0]])
    places = centres[drawn.modules] + np.random.default_rng(0).normal(0, 12, (60, 3))
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "scans").mkdir()
        for scan, matrix in zip(drawn.train.scans, drawn.train.matrices, strict=True):
            np.savetxt(folder / "scans" / f"sub-{int(scan):02}.csv", matrix, delimiter=",")
        people = [(f"sub-{int(s):02}", "AB"[y]) for s, y in zip(drawn.train.scans, drawn.train.labels, strict=True)]
        write(folder / "participants.csv", [("participant_id", "group"), *people])
        regions = enumerate(zip(places, drawn.modules, strict=True), start=1)
        rows = [(f"R{i}", *map(int, place), f"module {module + 1}") for i, (place, module) in regions]
        write(folder / "atlas.csv", [("name", "x", "y", "z", "system"), *rows])
        inputs = ("scans", "--labels", "participants.csv", "--atlas", "atlas.csv", "-o", "report")
        methods = "edge-readout,linear-svm,t-test-svm,lasso-svm"
        run("brain", *inputs, "--methods", methods, "--top", "20", "--quiet", folder=folder)
        fold(folder / "report" / "report.html", "brain-report", tops=(0, 1216), height=906)


def explorer() -> None:
    """Pages of the explorer at 360, 768 and 1440 pixels, light and dark, from 78 to 99 975 edges."""
    pages = {
        "karate": (graphpri.datasets.load("karate"), {"title": "Karate club"}),
        "lesmis": (graphpri.datasets.load("lesmis"), {"title": "Les Misérables"}),
        "jazz": (graphpri.datasets.load("jazz"), {"title": "Jazz musicians"}),
    }
    few = {"beta": [1, 4, 16], "keep": [0.02, 0.05, 0.1, 0.3], "methods": ["local-degree"]}
    for edges, (nodes, degree) in {30: (5000, 6), 100: (20_000, 5)}.items():
        grown = graphpri.datasets.barabasi_albert(nodes, degree, 0)
        pages[f"pa{edges}"] = (grown, {"title": f"Preferential attachment, {grown.n_edges} edges", **few})
    with TemporaryDirectory() as name:
        for page, (graph, options) in pages.items():
            graphpri.explore(graph, **options).save(Path(name) / f"{page}.html")
        shots(Path(name))


HERO = "explore-karate", "karate", "beside=local-degree"
STATES = {"lesmis": "edges=weight"}
"""Of pages that are not looked at as they open: the state in the address."""


def shots(folder: Path) -> None:
    """Pictures of the explorer's pages in a folder: one large, and of each page three widths, light and dark."""
    from playwright.sync_api import sync_playwright

    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])

        def shot(page: Path, state: str, width: int, scheme: str) -> Image.Image:
            tab = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            tab.goto(f"{page.as_uri()}#{state}")
            tab.wait_for_function("() => window.graphpri")
            tab.wait_for_timeout(600)
            taken = Image.open(BytesIO(tab.screenshot())).convert("RGB")
            tab.close()
            return taken

        name, page, state = HERO
        fit(shot(folder / f"{page}.html", state, 1440, "light"), name)
        for path in sorted(folder.glob("*.html")):
            views = [
                [shot(path, STATES.get(path.stem, ""), width, scheme) for width in WIDTHS]
                for scheme in ("light", "dark")
            ]
            fit(sheet(views), f"explore-{path.stem}-sizes")
        chromium.close()


WIDTHS = (360, 768, 1440)


def sheet(rows: list[list[Image.Image]]) -> Image.Image:
    """Pictures in rows, at half their size."""
    gap = 20
    width = sum(view.width + gap for view in rows[0]) - gap
    whole = Image.new("RGB", (width, sum(row[0].height + gap for row in rows) - gap), "white")
    for i, row in enumerate(rows):
        left = 0
        for view in row:
            whole.paste(view, (left, i * (view.height + gap)))
            left += view.width + gap
    return whole.resize((whole.width // 2, whole.height // 2), Image.Resampling.LANCZOS)


def fit(whole: Image.Image, name: str) -> None:
    """Write a picture with as many colours, and then as many pixels, as its size allows."""
    path = PICTURES / f"{name}.png"
    for part, colours in ((1, COLOURS), (1, COLOURS // 2), (1, COLOURS // 4), (0.9, COLOURS // 2), (0.8, COLOURS // 2)):
        size = round(whole.width * part), round(whole.height * part)
        small = whole if part == 1 else whole.resize(size, Image.Resampling.LANCZOS)
        small.quantize(colours, Image.Quantize.FASTOCTREE).save(path, optimize=True)
        if path.stat().st_size <= LARGEST:
            break
    check(path)


def write(path: Path, rows: list[tuple[object, ...]]) -> None:
    """Write rows as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def run(*arguments: str, folder: Path) -> None:
    """Run a command of graphpri in a folder."""
    subprocess.run([sys.executable, "-m", "graphpri", *arguments], cwd=folder, check=True)


def fold(page: Path, name: str, tops: tuple[int, int], height: int, width: int = 920) -> None:
    """Write a picture of two pieces of an HTML page, side by side; `tops` are where they begin, in pixels."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit(f"{name}: pictures of HTML pages need Chromium ({', '.join(BROWSERS)})")
    whole = page.with_suffix(".png")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    size = f"--window-size={width},{max(tops) + height}"
    subprocess.run(
        [browser, *flags, size, f"--screenshot={whole}", page.as_uri()], check=True, stderr=subprocess.DEVNULL
    )
    shot = Image.open(whole).convert("RGB")
    both = Image.new("RGB", (2 * width + 20, height), "white")
    for left, top in zip((0, width + 20), tops, strict=True):
        both.paste(shot.crop((0, top, width, top + height)), (left, 0))
    fit(both, name)


def save(figure: plt.Figure, name: str) -> None:
    """Write a PNG."""
    path = PICTURES / f"{name}.png"
    figure.savefig(path, dpi=110, bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)
    check(path)


def check(path: Path) -> None:
    """Refuse a picture that is too large for a page."""
    if path.stat().st_size > LARGEST:
        raise SystemExit(f"{path} has {path.stat().st_size} bytes, more than {LARGEST}")
    print(f"{path.name}: {path.stat().st_size} bytes")


DRAWINGS = (karate, karate_over_beta, karate_path, edges_over_beta, growth, report, brain_report, explorer)
DRAWN = {draw.__name__: draw for draw in DRAWINGS}


def main() -> None:
    """Draw the pictures asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=DRAWN)
    args = parser.parse_args()
    PICTURES.mkdir(exist_ok=True)
    for name in args.only or DRAWN:
        DRAWN[name]()


if __name__ == "__main__":
    main()
