"""§3.3 and §3.4: samples against direct gradients, selection by probabilities above one half, the barrier."""

from __future__ import annotations

import time
from itertools import product
from typing import Any

import numpy as np

from graphpri._objective import Objective
from graphpri._sparsify import sparsify
from graphpri.graph import BoolArray, FloatArray, Graph
from graphpri.studies.graphs import ALPHA, TITLES, build
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

WAYS = {"samples": "Gumbel-softmax samples", "direct": "projected gradients"}
_EQUAL = 1e-9
_ALPHAS = (0.0, 1e-4, 1e-3, ALPHA)
_LITTLE = 0.05
"""Share of the edges by which more may stay where sparsity counts as not compromised."""


def cells(quick: bool) -> list[Cell]:
    """A run each way for each graph, β and seed; runs with barriers; masks of made-up scans."""
    graphs = ("karate",) if quick else ("karate", "g1", "lesmis", "ER 50 6", "BA 50 6", "WS 50 6")
    betas, seeds, steps = ((2,), 1, 30) if quick else ((2, 5), 4, 500)
    pairs = [
        {"topic": "pairs", "graph": g, "beta": b, "draw": d, "steps": steps}
        for g, b, d in product(graphs, betas, range(seeds))
    ]
    barred = [
        {"topic": "barrier", "graph": g, "beta": b, "alpha": a, "steps": steps}
        for g, b, a in product(graphs, (0, 2), _ALPHAS)
    ]
    size = {"n_rois": 16, "n_modules": 2, "n_planted": 6, "n_train": 24, "n_test": 8} if quick else {}
    masks = [{"topic": "mask", "draw": d, "size": size} for d in range(1 if quick else 4)]
    return [*masks, *pairs, *barred]


def work(cell: Cell, seed: int) -> Tables:
    """One piece, by its topic."""
    return {"pairs": _pair, "barrier": _barred, "mask": _mask}[cell["topic"]](cell, seed)


def _pair(cell: Cell, seed: int) -> Tables:
    """Algorithm 1, and projected gradients of the relaxed selection with as many gradients, from the same start."""
    graph, beta, steps = build(cell["graph"], seed), cell["beta"], cell["steps"]
    objective = Objective(graph, beta)
    own = 1000 * seed + cell["draw"]
    start = time.process_time()
    sampled = sparsify(
        graph, beta=beta, solver="gumbel", steps=steps, learning_rate=0.05, patience=0, entropy="exact", seed=own
    )
    assert sampled.probabilities is not None
    found = {"samples": (sampled.probabilities, time.process_time() - start)}
    start = time.process_time()
    # Three samples a step, so three steps of one gradient each.
    relaxed = projected(objective, generator(own, "start").random(graph.n_edges), 3 * steps)
    found["direct"] = relaxed, time.process_time() - start
    head = {"graph": cell["graph"], "beta": beta, "draw": cell["draw"], "edges": graph.n_edges}
    chosen = {way: selections(objective, p) for way, (p, _) in found.items()}
    search = sparsify(graph, beta=beta, effort="fast", entropy="exact", seed=own).objective
    least = min(search, *(row["best"] for row in chosen.values()))
    rows = [{**head, "way": way, "least": least, **row, "seconds": found[way][1]} for way, row in chosen.items()]
    return {"runs": rows}


def projected(objective: Objective, w: FloatArray, steps: int) -> FloatArray:
    """Projected gradients on the box [0, 1], with Barzilai and Borwein's step lengths; the best point of all.

    J does not change where all of w is multiplied by a constant, so that its largest entry is held at one.
    """
    w = w / w.max()
    terms, slope = objective.terms_and_gradient(w)
    best, value, length = w, terms.objective, 0.1 / max(float(np.abs(slope).max()), 1e-12)
    for _ in range(steps - 1):
        moved = np.clip(w - length * slope, 0, 1)
        if not moved.max() > 0:
            length /= 2
            continue
        moved = moved / moved.max()
        terms, after = objective.terms_and_gradient(moved)
        step, change = moved - w, after - slope
        w, slope = moved, after
        if terms.objective < value:
            best, value = w, terms.objective
        curvature = abs(float(step @ change))
        if curvature <= 1e-15:
            break
        length = min(float(step @ step) / curvature, 1e3)
    return best


def selections(objective: Objective, p: FloatArray) -> dict[str, Any]:
    """J of the edges above one half, and of the best of all sets of highest p; how many edges each has."""
    half = p > 0.5
    order = np.argsort(-p, kind="stable")
    prefixes = np.tri(p.size, dtype=bool)[:, np.argsort(order, kind="stable")]
    values = objective.values(prefixes.astype(np.float64))
    k = int(np.argmin(values))
    return {
        "half": _value(objective, half),
        "half_edges": int(half.sum()),
        "best": float(values[k]),
        "best_edges": k + 1,
    }


def _value(objective: Objective, mask: BoolArray) -> float | None:
    return objective.value(mask.astype(np.float64)) if mask.any() else None


def _barred(cell: Cell, seed: int) -> Tables:
    """Edges and nodes without any in the most probable subset of Algorithm 1."""
    graph = build(cell["graph"], seed)
    found = sparsify(
        graph,
        beta=cell["beta"],
        alpha=cell["alpha"],
        solver="gumbel",
        steps=cell["steps"],
        learning_rate=0.05,
        patience=0,
        entropy="exact",
        seed=seed,
    )
    head = {key: cell[key] for key in ("graph", "beta", "alpha")}
    return {"barrier": [{**head, "share": float(found.mask.mean()), "alone": _alone(graph, found.mask)}]}


def _alone(graph: Graph, mask: BoolArray) -> float:
    """Share of nodes that lost their last edge."""
    return float((graph.select(mask).degrees() == 0).mean())


def _mask(cell: Cell, seed: int) -> Tables:
    """The mask of the paper's brain network on made-up scans: edges above one half, and as many as differ on top."""
    from graphpri.apps.brain_graph import candidates, connectome_graphs
    from graphpri.apps.brain_models import MaskedGCN
    from graphpri.apps.brain_planted import planted_connectomes

    drawn = planted_connectomes(0.8, 1000 * seed + cell["draw"], **cell["size"])
    graphs = connectome_graphs(drawn.train.matrices)
    net = MaskedGCN(epochs=150 if not cell["size"] else 30, seed=seed)
    net.fit(drawn.train.matrices, graphs, drawn.train.labels)
    assert net.importance_ is not None
    among = candidates(graphs)
    p, true = net.importance_[among], drawn.planted[among]
    top = np.argsort(-p, kind="stable")[: int(true.sum())]
    row = {
        "draw": cell["draw"],
        "candidates": p.size,
        "above": int((p > 0.5).sum()),
        "above_true": float(true[p > 0.5].mean()) if (p > 0.5).any() else 0.0,
        "true": float(true.mean()),
        "top_true": float(true[top].mean()),
    }
    return {"masks": [row]}


# What the numbers say


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
    """Samples, probabilities, the barrier."""
    runs = frames["runs"]
    facts.add("runs", len(runs) // len(WAYS), "runs", "runs each way: graphs × β × seeds")
    return [
        _eases(runs, facts),
        _above_half(runs, frames["masks"], facts),
        _barrier(frames["barrier"], facts),
    ]


def _eases(runs: Any, facts: Facts) -> Verdict:
    """Samples against direct gradients, with as many gradients each."""
    index = ["graph", "beta", "draw"]
    at = {way: where(runs, way=way).set_index(index) for way in WAYS}
    for column, words in (("half", "edges above one half"), ("best", "the best set of highest values")):
        gap = (at["samples"][column] - at["direct"][column]).dropna()
        facts.add(f"{column}_better", (gap < -_EQUAL).sum(), "runs", f"runs in which samples have the lower J, {words}")
        facts.add(f"{column}_worse", (gap > _EQUAL).sum(), "runs", f"runs in which they have the higher J, {words}")
        facts.add(f"{column}_gap", gap.median(), "runs", f"median of J by samples less J by gradients, nats, {words}")
        for way, name in WAYS.items():
            above = (at[way][column] - at[way]["least"]).median()
            facts.add(f"{way}_{column}", above, "runs", f"median of J above the least known, {name}, {words}")
    for way, name in WAYS.items():
        facts.add(f"{way}_seconds", at[way]["seconds"].median(), "runs", f"median CPU seconds of a run, {name}")
    runs_ = facts["runs"]
    eased = [facts[f"{column}_better"] >= 0.9 * runs_ for column in ("half", "best")]
    mostly = [facts[f"{column}_better"] > 2 * facts[f"{column}_worse"] for column in ("half", "best")]
    return Verdict(
        "Gumbel-softmax sampling eases the optimisation, though the gradient is analytical",
        "§3.3",
        "with as many gradients from {runs:.0f} starts J of the edges above one half is lower by samples in "
        "{half_better:.0f} runs and higher in {half_worse:.0f} (median {half_gap:+.3f} nats); of the best set of "
        "highest values in {best_better:.0f} and {best_worse:.0f} ({best_gap:+.3f}); medians above the least known "
        "{samples_best:.3f} by samples and {direct_best:.3f} by gradients; CPU time {samples_seconds:.2f} and "
        "{direct_seconds:.2f} s",
        grade(all(eased), any(mostly)),
        ""
        if all(eased)
        else "where edges above one half are taken: projected gradients leave values between 0 and 1, whose size means "
        "nothing to J"
        if mostly[0] and not mostly[1]
        else "not in every run"
        if all(mostly)
        else "",
    )


def _above_half(runs: Any, masks: Any, facts: Facts) -> Verdict:
    """One half against the best number of most probable edges."""
    rows = where(runs, way="samples")
    loss = rows["half"] - rows["best"]
    facts.add("lost_none", (loss <= _EQUAL).mean(), "runs", "share of runs where one half is the best place to cut")
    facts.add("lost_median", loss.median(), "runs", "median of J lost by cutting at one half, nats")
    facts.add("lost_most", loss.max(), "runs", "most of it, nats")
    mask = masks.mean()
    facts.add("candidates", mask["candidates"], "masks", "mean number of candidate edges")
    facts.add("above", mask["above"], "masks", "of them above one half, mean over draws")
    facts.add("above_true", mask["above_true"], "masks", "share of these that differ between the classes")
    facts.add("base_true", mask["true"], "masks", "share of the candidates that differ: a blind choice")
    facts.add("top_true", mask["top_true"], "masks", "share among as many most probable edges as differ")
    sampled = facts["lost_median"] <= _LITTLE and facts["lost_none"] > 0.5
    masked = facts["above_true"] > 2 * facts["base_true"]
    return Verdict(
        "Edges with a probability above 50 % are those selected",
        "§4.3, Figure brain",
        "after Algorithm 1 one half is the best number of most probable edges in {lost_none:.0%} of {runs:.0f} runs (J "
        "lost {lost_median:.4f} nats in the median, {lost_most:.3f} at most); of the mask of the paper's brain network "
        "{above:.0f} of {candidates:.0f} edges are above it, {above_true:.1%} of which differ between the classes, "
        "{base_true:.1%} of all and {top_true:.1%} of as many on top as differ",
        grade(sampled and masked, sampled),
        "where hard samples are drawn; a mask that is only multiplied with the graph has no such threshold, since the "
        "Graph-PRI term does not change with its scale"
        if sampled and not masked
        else "one half is not where J is least"
        + (", and most edges of the mask above it do not differ" if facts["above_true"] < 0.5 else "")
        if not sampled
        else "",
    )


def _barrier(table: Any, facts: Facts) -> Verdict:
    """Nodes without edges, and edges kept, with the barrier and without."""
    mean = table.groupby("alpha")[["share", "alone"]].mean()
    small = [a for a in mean.index if 0 < a < ALPHA]
    for key, alpha in (("bare", 0.0), ("barred", ALPHA), *((f"small_{i}", a) for i, a in enumerate(small))):
        facts.add(f"{key}_alpha", alpha, "barrier", "an α")
        facts.add(f"{key}_share", mean.loc[alpha, "share"], "barrier", f"mean share of edges kept, α = {alpha:g}")
        facts.add(
            f"{key}_alone", mean.loc[alpha, "alone"], "barrier", f"mean share of nodes without edges, α = {alpha:g}"
        )
    between = ", ".join(
        f"α = {{small_{i}_alpha:g}} {{small_{i}_share:.0%}} and {{small_{i}_alone:.0%}}" for i in range(len(small))
    )
    helps = facts["barred_alone"] < facts["bare_alone"] / 10
    costs = facts["barred_share"] - facts["bare_share"] > _LITTLE
    return Verdict(
        "The degree barrier keeps nodes from losing all edges without compromising sparsity",
        "§3.4",
        "with the paper's α Algorithm 1 keeps {barred_share:.0%} of the edges, and {barred_alone:.0%} of the nodes "
        f"lose all; with α = 0 {{bare_share:.0%}} and {{bare_alone:.0%}} ({between}; means over graphs and β)",
        grade(helps and not costs, helps and not costs),
        "it keeps nodes covered by keeping nearly all edges" if helps and costs else "",
    )


# Pictures


def draw(frames: Frames) -> list[Picture]:
    """J above the least known by β, and what the barrier keeps."""
    runs, barrier = frames["runs"], frames["barrier"]
    figure, axes = panels(1, 2, height=2.1)
    i = 0
    for way, name in WAYS.items():
        for column, words in (("half", "above one half"), ("best", "best cut")):
            rows = where(runs, way=way)
            above = (rows[column] - rows["least"]).groupby(rows["beta"]).median()
            curve(axes[0, 0], above.index, above, i, f"{name}, {words}")
            i += 1
    axes[0, 0].set(xlabel="β", ylabel="J above the least known (nats)")
    for i, (graph, rows) in enumerate(barrier.groupby("graph", sort=False)):
        share = 100 * rows.groupby("alpha")["share"].mean()
        curve(axes[0, 1], share.index, share, i, TITLES.get(graph, graph))
    axes[0, 1].set(xlabel="α", ylabel="edges kept by Algorithm 1 (%)", xscale="symlog")
    axes[0, 1].set_xscale("symlog", linthresh=1e-4)
    axes[0, 1].legend(loc="best")
    legend_below(figure, axes[0, 0], 2)
    return [
        Picture(
            "optimisation",
            figure,
            "Left: J of what samples and projected gradients select, above the least of these and of the library's "
            "search; medians over graphs and starts. Right: edges that Algorithm 1 keeps by the weight α of the degree "
            "barrier, means over β.",
        )
    ]
