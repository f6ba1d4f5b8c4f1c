"""Theorem 4, the appendix's gradient of the entropy, and Lemmas 1 to 3, against central differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphpri.graph import FloatArray, Graph
from graphpri.objective import Objective
from graphpri.studies.families import absent_pairs, build, drawn
from graphpri.studies.study import Cell, Facts, Frames, Outcome, Tables, Verdict, generator

_STEP = 1e-4
_AGREE = 1e-6
"""Largest difference, relative to the largest derivative, that central differences leave to a right formula."""


def gradients(cell: Cell, seed: int) -> Tables:
    """The library's gradient, the printed U g, and what each is the derivative of."""
    graph = build(cell["graph"], seed)
    w = generator(seed, "theorem 4", cell["graph"]).uniform(0.2, 1, graph.n_edges)
    rows: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    for beta in cell["betas"]:
        found = _Derivatives(graph, w, beta)
        rows.append({"graph": cell["graph"], "weighted": graph.is_weighted, "beta": beta, **found.compared()})
        if cell["graph"].split()[0] == "karate":
            edges += found.listed(cell["graph"])
    return {"gradients": rows} | ({"edges": edges} if edges else {})


class _Derivatives:
    """Derivatives of J at one selection w: by formulas, and by central differences."""

    def __init__(self, graph: Graph, w: FloatArray, beta: float) -> None:
        objective = Objective(graph, beta)
        share = w / w.sum()
        self.graph, self.beta = graph, beta
        self.ours = objective.gradient(w)
        self.printed = self._printed(share)
        self.partial = np.array([_slope(objective.value, w, e) for e in np.eye(w.size)])
        # w_i up by one unit of the normalised w, the others down in proportion.
        directions = (np.eye(w.size) - share) / (1 - share)[:, None]
        self.along = np.array([_slope(objective.value, share, v) for v in directions])
        self.literal = np.array([_slope(self._literal, share, v) for v in directions])

    def _printed(self, share: FloatArray) -> FloatArray:
        """U g of Theorem 4, with w̃ = w/Σw and no other normalisation."""
        u, v = self.graph.source, self.graph.target
        own, mixed = (_matrix_log(self.graph, x) for x in (share, self._mixed(share)))
        inner = (1 - self.beta) * own + self.beta * mixed
        g = -self.graph.weights * (inner[u, u] + inner[v, v] - 2 * inner[u, v])
        return (g - share @ g) / (1 - share)

    def _mixed(self, share: FloatArray) -> FloatArray:
        return (share + 1 / share.size) / 2

    def _literal(self, share: FloatArray) -> float:
        """J with the matrices of Theorem 4, whose traces are not one, in −tr σ ln σ."""
        own, mixed = (_plain_entropy(self.graph, x, 0.0) for x in (share, self._mixed(share)))
        return (1 - self.beta) * own + 2 * self.beta * mixed

    def compared(self) -> dict[str, float]:
        largest = np.abs(self.partial).max()
        return {
            "edges": self.partial.size,
            "library_error": float(np.abs(self.ours - self.partial).max() / largest),
            "signs_wrong": int((np.sign(self.printed) != np.sign(self.partial)).sum()),
            "partial_ratio_least": float((self.printed / self.partial).min()),
            "partial_ratio_most": float((self.printed / self.partial).max()),
            "along_error": float(np.abs(self.printed - 2 * self.along).max() / np.abs(self.printed).max()),
            "literal_error": float(np.abs(self.printed - self.literal).max() / np.abs(self.printed).max()),
        }

    def listed(self, name: str) -> list[dict[str, Any]]:
        columns = zip(self.partial, self.ours, self.printed, self.along, strict=True)
        return [
            {"graph": name, "beta": self.beta, "edge": i, "partial": p, "library": o, "printed": t, "along": a}
            for i, (p, o, t, a) in enumerate(columns)
        ]


def _slope(f: Callable[[FloatArray], float], x: FloatArray, direction: FloatArray) -> float:
    """Central difference, with a step that is small beside every entry of x."""
    step = _STEP * float(x.min()) / max(1.0, float(np.abs(direction).max())) / 0.2
    return (f(x + step * direction) - f(x - step * direction)) / (2 * step)


def _spectrum(graph: Graph, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    return np.linalg.eigh(graph.laplacian(graph.weights * y).toarray())


def _matrix_log(graph: Graph, y: FloatArray) -> FloatArray:
    """Logarithm of Σ y μ b bᵀ on its range."""
    lam, vectors = _spectrum(graph, y)
    return (vectors * np.log(np.where(lam > 1e-13 * lam.max(), lam, 1.0))) @ vectors.T


def _plain_entropy(graph: Graph, y: FloatArray, linear: float) -> float:
    """−Σ (λ ln λ − linear · λ) of a Laplacian that is not normalised."""
    lam = np.maximum(np.linalg.eigvalsh(graph.laplacian(graph.weights * y).toarray()), 0.0)
    return float(-(lam * np.log(np.where(lam > 0, lam, 1.0))).sum() + linear * lam.sum())


def appendix(cell: Cell, seed: int) -> Tables:
    """The appendix's gradient of −tr(σ ln σ − σ), and the three lemmas, on each graph."""
    rows: list[dict[str, Any]] = []
    lemmas: list[dict[str, Any]] = []
    for name in cell["graphs"]:
        rng = generator(seed, "appendix", name)
        graph = build(name, seed)
        w = rng.uniform(0.2, 1, graph.n_edges)
        inner, (u, v) = _matrix_log(graph, w), (graph.source, graph.target)
        printed = -graph.weights * (inner[u, u] + inner[v, v] - 2 * inner[u, v])
        central = np.array([_slope(lambda x, g=graph: _plain_entropy(g, x, 1.0), w, e) for e in np.eye(w.size)])
        error = float(np.abs(printed - central).max() / np.abs(central).max())
        rows.append({"graph": name, "weighted": graph.is_weighted, "edges": w.size, "error": error})
        lemmas.append({"graph": name, **_lemmas(graph, cell["pairs"], rng)})
    return {"appendix": rows, "lemmas": lemmas}


def _lemmas(graph: Graph, pairs: int, rng: np.random.Generator) -> dict[str, float]:
    lam = _positive(graph)
    found = [_moved(lam, rng) for _ in range(pairs)]
    return {
        "lemma1_error": _lemma1(lam),
        "lemma2_error": max(error for error, _ in found),
        "lemma3_least": min(least for _, least in found),
        **_lemma3(graph, pairs, rng),
    }


def _positive(graph: Graph) -> FloatArray:
    """Eigenvalues of the normalised Laplacian of a connected graph, without the zero."""
    return _spectrum(graph, np.full(graph.n_edges, 0.5 / graph.weights.sum()))[0][1:]


def _bits(lam: FloatArray) -> float:
    return -float((lam * np.log2(lam)).sum())


def _lemma1(lam: FloatArray) -> float:
    """Largest difference of Lemma 1's derivative from a central one, relative to the largest."""
    printed = -(_bits(lam) + np.log2(lam)) / (1 - lam)
    directions = (np.eye(lam.size) - lam) / (1 - lam)[:, None]
    # Along these directions the i-th eigenvalue moves by one.
    central = np.array([_slope(_bits, lam, v) for v in directions])
    return float(np.abs(printed - central).max() / np.abs(printed).max())


def _moved(lam: FloatArray, rng: np.random.Generator) -> tuple[float, float]:
    """Along a random change v of sum zero: Lemma 2's relative error, and Σ v (log λ' − log λ) of Lemma 3."""
    v = rng.standard_normal(lam.size)
    v -= v.mean()
    central = _slope(_bits, lam, v)
    scale = float(np.abs(v * np.log2(lam)).sum())
    error = abs(-float(v @ np.log2(lam)) - central) / scale
    step = v * (0.9 * rng.random() * float((lam / np.maximum(np.abs(v), 1e-12)).min()))
    return error, float(step @ (np.log2(lam + step) - np.log2(lam)))


def _lemma3(graph: Graph, pairs: int, rng: np.random.Generator) -> dict[str, float]:
    """Lemma 3 between the spectra of a graph and of the graph with an edge more, whether S rises or falls."""
    lam = _positive(graph)
    rises, falls = [], []
    for u, v in zip(*drawn(absent_pairs(graph), pairs, rng), strict=True):
        ends = np.append(graph.source, u), np.append(graph.target, v)
        weights = np.append(graph.weights, 1.0)
        other = _positive(Graph.from_edges(*ends, weights, n_nodes=graph.n_nodes))
        value = float((other - lam) @ (np.log2(other) - np.log2(lam)))
        (rises if _bits(other) >= _bits(lam) else falls).append(value)
    return {
        "rises": len(rises),
        "rises_least": min(rises, default=np.nan),
        "falls": len(falls),
        "falls_least": min(falls, default=np.nan),
    }


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
    """Theorem 4, the library's gradient, the appendix's gradient, the lemmas."""
    table = frames["gradients"]
    plain, weighted = table[~table["weighted"]], table[table["weighted"]]
    facts.add("edge_cases", table["edges"].sum(), "gradients", "edges, summed over graphs and β")
    return [
        _theorem4(plain, weighted, facts),
        _library(table, facts),
        _appendix(frames["appendix"], facts),
        *_of_lemmas(frames["lemmas"], facts),
    ]


def _theorem4(plain: Any, weighted: Any, facts: Facts) -> Verdict:
    facts.add("ratio_least", plain["partial_ratio_least"].min(), "gradients", "least U g over ∂J/∂w, equal weights")
    facts.add("ratio_most", plain["partial_ratio_most"].max(), "gradients", "largest U g over ∂J/∂w, equal weights")
    signs = facts.add("signs_plain", plain["signs_wrong"].sum(), "gradients", "edges with another sign, equal weights")
    facts.add("edges_plain", plain["edges"].sum(), "gradients", "edges, summed over graphs of equal weights and β")
    facts.add("signs_weighted", weighted["signs_wrong"].sum(), "gradients", "edges with another sign, weighted graphs")
    facts.add("edges_weighted", weighted["edges"].sum(), "gradients", "edges, summed over weighted graphs and β")
    along = facts.add("along", plain["along_error"].max(), "gradients", "U g against 2 dJ along w_i up, equal weights")
    facts.add("literal", plain["literal_error"].max(), "gradients", "U g against dJ along it, J of traces as printed")
    off = facts.add("literal_weighted", weighted["literal_error"].max(), "gradients", "the same, weighted graphs")
    partial = max(abs(facts["ratio_least"] - 1), abs(facts["ratio_most"] - 1)) < _AGREE
    outcome: Outcome = "reproduced" if partial else "conditional" if signs == 0 and along < _AGREE else "not reproduced"
    why = (
        "where all edge weights are equal U g is the derivative of J along w_i up and the others down in proportion: "
        "twice that of the normalised J (to {along:.1e}), once that of J with the printed matrices, of trace two (to "
        "{literal:.1e}); for unequal weights it is neither (off by up to {literal_weighted:.0%})"
    )
    return Verdict(
        "The gradient of the objective in w is U g",
        "Theorem 4",
        "U g is {ratio_least:.3g} to {ratio_most:.3g} times the partial derivatives where weights are equal, with the "
        "other sign on {signs_plain:.0f} of {edges_plain:.0f} edges; in weighted graphs the sign differs on "
        "{signs_weighted:.0f} of {edges_weighted:.0f}",
        outcome,
        why if along < _AGREE < off else "",
    )


def _library(table: Any, facts: Facts) -> Verdict:
    error = facts.add("library", table["library_error"].max(), "gradients", "largest error of this library's gradient")
    return Verdict(
        "The gradient of this library is the partial derivative of J, on weighted graphs too",
        "graphpri",
        "differs from central differences by at most {library:.1e} of the largest, over {edge_cases:.0f} edges",
        "reproduced" if error < _AGREE else "not reproduced",
    )


def _appendix(table: Any, facts: Facts) -> Verdict:
    error = facts.add("appendix", table["error"].max(), "appendix", "largest error relative to the largest derivative")
    facts.add("appendix_graphs", len(table), "appendix", "graphs, weighted ones included")
    return Verdict(
        "The gradient of −tr(σ ln σ − σ) of the Laplacian without normalisation is −diag(Bᵀ ln σ B)",
        "Appendix A.3, Theorem 5",
        "differs from central differences by at most {appendix:.1e} of the largest on {appendix_graphs:.0f} graphs",
        "reproduced" if error < _AGREE else "not reproduced",
    )


def _of_lemmas(table: Any, facts: Facts) -> list[Verdict]:
    first = facts.add("lemma1", table["lemma1_error"].max(), "lemmas", "largest relative error of Lemma 1")
    second = facts.add("lemma2", table["lemma2_error"].max(), "lemmas", "largest relative error of Lemma 2")
    facts.add("lemma_graphs", len(table), "lemmas", "graphs whose spectra were taken")
    facts.add("rises", table["rises"].sum(), "lemmas", "added edges that raise S")
    facts.add("falls", table["falls"].sum(), "lemmas", "added edges that lower S")
    third = facts.add("lemma3", table["rises_least"].min(), "lemmas", "least E_v log₂λ' − E_v log₂λ, S rising, bits")
    facts.add("lemma3_falls", table["falls_least"].min(), "lemmas", "the same where S falls, bits")
    facts.add("lemma3_random", table["lemma3_least"].min(), "lemmas", "the same for random changes, bits")
    return [
        Verdict(
            "Lemmas 1 and 2 give the derivatives of the entropy in its eigenvalues",
            "Appendix A.2, Lemmas 1 and 2",
            "they differ from central differences by at most {lemma1:.1e} and {lemma2:.1e} on {lemma_graphs:.0f} "
            "spectra",
            "reproduced" if max(first, second) < _AGREE else "not reproduced",
            "for positive eigenvalues: at zero, which every Laplacian has, the slope is infinite",
        ),
        Verdict(
            "Where S does not fall from λ to λ', E_v log λ' is at least E_v log λ",
            "Appendix A.2, Lemma 3",
            "the least difference is {lemma3:.1e} bits over {rises:.0f} added edges that raise S",
            "reproduced" if third >= 0 else "not reproduced",
            "the condition is not needed: it is {lemma3_falls:.1e} bits or more over {falls:.0f} edges that lower S, "
            "and {lemma3_random:.1e} or more for random changes",
        ),
    ]
