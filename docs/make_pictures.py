"""Draw the pictures of the pages into docs/pictures, from the library and from docs/data.

python docs/make_pictures.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import networkx as nx
from fill_tables import DATA, read

import graphpri
from graphpri.layout import spring

PICTURES = Path(__file__).parent / "pictures"
LARGEST = 150_000


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


def save(figure: plt.Figure, name: str) -> None:
    """Write a PNG and refuse one that is too large for a page."""
    path = PICTURES / f"{name}.png"
    figure.savefig(path, dpi=110, bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)
    if path.stat().st_size > LARGEST:
        raise SystemExit(f"{path} has {path.stat().st_size} bytes, more than {LARGEST}")
    print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    for draw in (karate, karate_over_beta, karate_path, edges_over_beta):
        draw()
