"""Appendix A.2, Lemma 3: its second inequality, on spectra of graphs and by a search for counterexamples."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphpri.graph import FloatArray, Graph
from graphpri.studies.graphs import absent_pairs, available, build, drawn
from graphpri.studies.study import Cell, Facts, Frames, Picture, Tables, Verdict, dots, generator, grade, panels

_STEP = 1e-4
"""Step of the central differences, as a share of the smallest eigenvalue over the largest change."""


def cells(quick: bool) -> list[Cell]:
    """Added edges graph by graph, and a search for each number of eigenvalues."""
    graphs = ["karate", "ER 20 4"] if quick else [*available(("polbooks", "madrid", "karate")), "BA 60 4", "ER 60 6"]
    graphs += [] if quick else ["WS 60 6", "weights 60 6"]
    sizes, starts, steps = ((3, 6), 10, 60) if quick else (range(2, 11), 30, 200)
    return [
        *({"topic": "edges", "graph": name, "pairs": 10 if quick else 200} for name in graphs),
        *({"topic": "search", "size": n, "starts": starts, "steps": steps} for n in sizes),
    ]


def work(cell: Cell, seed: int) -> Tables:
    """Slopes of S along the change, at its start and at its end."""
    rng = generator(seed, "lemma 3", cell)
    if cell["topic"] == "search":
        return {"search": [_search(cell["size"], cell["steps"], rng) for _ in range(cell["starts"])]}
    graph = build(cell["graph"], seed)
    lam = positive(graph)
    rows: list[dict[str, Any]] = []
    for u, v in zip(*drawn(absent_pairs(graph), cell["pairs"], rng), strict=True):
        ends = np.append(graph.source, u), np.append(graph.target, v)
        other = positive(Graph.from_edges(*ends, np.append(graph.weights, 1.0), n_nodes=graph.n_nodes))
        start, end = slopes(lam, other)
        rises = bits(other) >= bits(lam)
        rows.append({"graph": cell["graph"], "rises": bool(rises), "start": start, "end": end})
    return {"edges": rows}


def positive(graph: Graph) -> FloatArray:
    """Eigenvalues of the normalised Laplacian of a connected graph, rising, without the zero."""
    lam = np.linalg.eigvalsh(graph.laplacian(graph.weights).toarray())[1:]
    return lam / lam.sum()


def bits(lam: FloatArray) -> float:
    """The entropy of eigenvalues, in bits."""
    return -float((lam * np.log2(lam)).sum())


def slopes(lam: FloatArray, other: FloatArray) -> tuple[float, float]:
    """Slopes of S along v = λ' − λ at λ and at λ', by central differences: v dS/dλ of all that move."""
    v = other - lam
    step = _STEP * float(min(lam.min(), other.min())) / max(float(np.abs(v).max()), 1e-12)
    start, end = ((bits(x + step * v) - bits(x - step * v)) / (2 * step) for x in (lam, other))
    return start, end


def _search(n: int, steps: int, rng: np.random.Generator) -> dict[str, Any]:
    """Hill climbing for the largest slope at λ' less that at λ, over the squared length of the change."""
    lam, other = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(n))
    lam, other = (x + 1e-3 for x in (lam, other))
    lam, other = lam / lam.sum(), other / other.sum()
    if bits(other) < bits(lam):
        lam, other = other, lam
    best = _gap(lam, other)
    for _ in range(steps):
        tried = [np.abs(x * np.exp(0.2 * rng.standard_normal(n))) + 1e-6 for x in (lam, other)]
        a, b = (x / x.sum() for x in tried)
        if bits(b) >= bits(a) and float(np.abs(b - a).max()) > 1e-3 and (gap := _gap(a, b)) > best:
            lam, other, best = a, b, gap
    return {"size": n, "gap": best, "change": float(np.abs(other - lam).max())}


def _gap(lam: FloatArray, other: FloatArray) -> float:
    """What Lemma 2 gives for the slope at λ' less that at λ, over ‖λ' − λ‖²."""
    v = other - lam
    return float(-(v @ np.log2(other)) + v @ np.log2(lam)) / float(v @ v)


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
    """Whether the slope is nowhere larger at the end."""
    edges, search = frames["edges"], frames["search"]
    change = edges["end"] - edges["start"]
    facts.add("added", edges["rises"].sum(), "edges", "added edges that do not lower S")
    rises = facts.add("rises", change[edges["rises"]].max(), "edges", "largest slope at λ' less that at λ, bits")
    falling = change[~edges["rises"]]
    facts.add("lowering", len(falling), "edges", "added edges that lower S")
    falls = facts.add("falls", falling.max() if len(falling) else 0.0, "edges", "the same where S falls, bits")
    facts.add("starts", len(search), "search", "searches for a counterexample")
    most = facts.add("most", search["gap"].max(), "search", "largest difference that was found, over ‖λ' − λ‖², bits")
    return [
        Verdict(
            "Where S does not fall, Lemma 3's second inequality holds as well",
            "Appendix A.2, Lemma 3",
            "by central differences v dS/dλ is larger at λ' for none of {added:.0f} added edges that do not lower S "
            "(at most {rises:.1e} bits); {starts:.0f} searches for a counterexample end at {most:.2f} bits for a "
            "change of unit length at best"
            if max(rises, most) < 0
            else "v dS/dλ at λ' less that at λ is up to {rises:.1e} bits over {added:.0f} added edges, and up to "
            "{most:.2e} for a change of unit length in {starts:.0f} searches",
            grade(max(rises, most) < 0),
            "its condition is not needed: S is concave, and where S falls the difference is {falls:.1e} at most "
            "({lowering:.0f} edges); for eigenvalues that move: the lemma divides by each component of v"
            if max(rises, most) < 0 and falls <= 0
            else "",
        )
    ]


def draw(frames: Frames) -> list[Picture]:
    """Slope at the end against that at the start."""
    figure, axes = panels(1, 1, width=3.25, height=2.2)
    ax, edges = axes[0, 0], frames["edges"]
    for i, (chosen, label) in enumerate(((edges["rises"], "S does not fall"), (~edges["rises"], "S falls"))):
        ax.plot(edges[chosen]["start"], edges[chosen]["end"], label=label, **dots(i))
    ends = np.array([edges["start"].min(), edges["start"].max()])
    ax.plot(ends, ends, color="0.5", linewidth=0.8)
    ax.set(xlabel="slope of S along v at λ (bits)", ylabel="at λ' (bits)")
    ax.legend(loc="upper left")
    return [
        Picture(
            "lemma3",
            figure,
            "Slope of the entropy along the change v = λ' − λ of the eigenvalues that an added edge makes, at both "
            "ends: Lemma 3 says that no dot is above the line.",
        )
    ]
