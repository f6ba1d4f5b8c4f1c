"""§3.2.1: whether ε and the number of edges of a spectral sparsifier are monotonically related."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from graphpri._laplacian import leverages
from graphpri.graph import FloatArray, Graph
from graphpri.studies.graphs import PAPER, TITLES, build
from graphpri.studies.study import (
    Cell,
    Facts,
    Frames,
    Picture,
    Tables,
    Verdict,
    curve,
    generator,
    grade,
    legend_below,
    panels,
    where,
)

_CONSTANT = 4 / 30
"""Rudelson and Vershynin's C as PyGSP has it, whose sparsifier the paper took."""

_TRIES = 10
WAYS = {"once": "drawn once", "again": "smaller ε while it falls apart"}
"""As Spielman and Srivastava draw, and as PyGSP does."""


def cells(quick: bool) -> list[Cell]:
    """One for each of the paper's graphs."""
    graphs = ("g1", "karate") if quick else PAPER[::-1]
    return [{"graph": name, "steps": 5 if quick else 12, "draws": 6 if quick else 50} for name in graphs]


def work(cell: Cell, seed: int) -> Tables:
    """Edges of the sparsifiers over ε from just above 1/√N, the least that is allowed, to 1."""
    name = cell["graph"]
    graph = build(name, seed)
    p = leverages(graph, resistance="exact")
    p /= p.sum()
    rows: list[dict[str, Any]] = []
    for i, epsilon in enumerate(np.geomspace(1.01 / np.sqrt(graph.n_nodes), 1, cell["steps"])):
        draws = samples(graph, epsilon)
        expected = -float(np.expm1(draws * np.log1p(-p)).sum())
        head = {"graph": name, "edges": graph.n_edges, "step": i, "epsilon": float(epsilon), "samples": draws}
        for draw in range(cell["draws"]):
            rng = generator(seed, "spectral", name, i, draw)
            once, again = sparsifiers(graph, p, epsilon, rng)
            rows.append({**head, "expected": expected, "draw": draw, "once": once, "again": again})
    return {"sizes": rows}


def samples(graph: Graph, epsilon: float) -> int:
    """Draws with replacement for an ε: 9 C² N ln N / ε² (Spielman and Srivastava, SIAM J. Comput. 40, 2011)."""
    n = graph.n_nodes
    return round(9 * _CONSTANT**2 * n * np.log(n) / epsilon**2)


def sparsifiers(graph: Graph, p: FloatArray, epsilon: float, rng: np.random.Generator) -> tuple[int, int]:
    """Distinct edges of one draw, and after draws again with ε half-way to 1/√N as long as the graph falls apart."""
    mask = rng.multinomial(samples(graph, epsilon), p) > 0
    once = int(mask.sum())
    for _ in range(_TRIES - 1):
        if graph.select(mask).components()[0] == 1:
            break
        epsilon -= (epsilon - 1 / np.sqrt(graph.n_nodes)) / 2
        mask = rng.multinomial(samples(graph, epsilon), p) > 0
    return once, int(mask.sum())


def means(table: Any) -> Any:
    """Mean edges by graph and ε."""
    columns = ["graph", "step", "epsilon", "edges", "expected"]
    return table.groupby(columns, sort=False)[list(WAYS)].mean().reset_index().sort_values(["graph", "step"])


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
    """In expectation, in the mean of draws, and in single draws."""
    table, mean = frames["sizes"], means(frames["sizes"])
    facts.add("graphs", table["graph"].nunique(), "sizes", "graphs")
    facts.add("draws", table["draw"].nunique(), "sizes", "draws at each ε")
    expected = [rows["expected"] for _, rows in mean.groupby("graph")]
    fall = [bool((np.diff(rows) < 0).all()) for rows in expected]
    falls = facts.add("falls", sum(fall), "sizes", "graphs whose expected number of edges falls with every larger ε")
    for way, words in WAYS.items():
        steps, rises, most = _rises(table, way)
        facts.add(f"{way}_steps", steps, "sizes", f"pairs of neighbouring ε, each draw with its own number, {words}")
        facts.add(f"{way}_rises", rises / steps, "sizes", f"share of them where the larger ε has more edges, {words}")
        facts.add(f"{way}_most", most, "sizes", f"largest such rise as a share of the graph's edges, {words}")
        ranks = [stats.spearmanr(rows["epsilon"], rows[way])[0] for _, rows in table.groupby("graph")]
        facts.add(f"{way}_rank", max(ranks), "sizes", f"weakest rank correlation of ε and edges, {words}")
    ends = mean.groupby("graph").agg({"once": ["first", "last"], "edges": "first"})
    share = ends["once"].div(ends["edges", "first"], axis=0)
    for key, name in (("first", "tight"), ("last", "loose")):
        facts.add(f"{name}_least", share[key].min(), "sizes", f"least mean share kept at the {name}est ε over graphs")
        facts.add(f"{name}_most", share[key].max(), "sizes", "largest mean share kept there")
    monotone = falls == facts["graphs"]
    return [
        Verdict(
            "In a spectral sparsifier ε and the number of edges are not monotonically related",
            "§3.2.1",
            "the expected number of edges falls with every larger ε on {falls:.0f} of {graphs:.0f} graphs; in single "
            "draws a neighbouring larger ε has more edges in {once_rises:.0%} of {once_steps:.0f} pairs, by at most "
            "{once_most:.1%} of the graph's (rank correlation {once_rank:.2f} or stronger), and in {again_rises:.0%}, "
            "by {again_most:.1%} ({again_rank:.2f}), where ε is made smaller while the draw falls apart, as PyGSP does",
            grade(not monotone, facts["again_rank"] > -0.9 and facts["once_rank"] < facts["again_rank"]),
            "what PyGSP gives for an ε is not monotone, since it draws again with a smaller one; the sparsifier itself "
            "is, but for the luck of a draw"
            if monotone and facts["again_rank"] > -0.9
            else "",
        ),
        Verdict(
            "ε does not say how many edges a spectral sparsifier has: the same ε keeps other shares of other graphs",
            "§3.2.1, graphpri",
            "at the smallest ε that is allowed {tight_least:.0%} to {tight_most:.0%} of the edges stay, at ε = 1 "
            "{loose_least:.0%} to {loose_most:.0%}",
            grade(facts["loose_most"] - facts["loose_least"] > 0.1),
        ),
    ]


def _rises(table: Any, way: str) -> tuple[int, int, float]:
    """Pairs of neighbouring ε, how many of them have more edges at the larger, and by what share at most."""
    steps = rises = 0
    most = 0.0
    for _, rows in table.groupby("graph"):
        sizes = rows.pivot(index="step", columns="draw", values=way).to_numpy()
        change = np.diff(sizes, axis=0)
        steps, rises = steps + change.size, rises + int((change > 0).sum())
        most = max(most, float(change.max()) / rows["edges"].iloc[0])
    return steps, rises, most


def draw(frames: Frames) -> list[Picture]:
    """Share of edges against ε, in both ways of drawing."""
    table = means(frames["sizes"])
    figure, axes = panels(1, 2, height=2.1, sharey=True)
    for ax, (way, title) in zip(axes[0], WAYS.items(), strict=True):
        for i, name in enumerate(dict.fromkeys(table["graph"])):
            rows = where(table, graph=name)
            curve(ax, rows["epsilon"], 100 * rows[way] / rows["edges"], i, TITLES[name])
        ax.set(title=title, xlabel="ε that was asked for", xscale="log")
    axes[0, 0].set_ylabel("edges kept (%)")
    legend_below(figure, axes[0, 0], 6)
    return [
        Picture(
            "spectral_sparsifiers",
            figure,
            "Mean share of edges of spectral sparsifiers drawn by effective resistance, by ε: as Spielman and "
            "Srivastava draw them, and with the smaller ε that PyGSP takes while a draw falls apart.",
        )
    ]
