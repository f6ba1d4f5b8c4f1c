"""What §4.2 says of task graphs beside its figure: stars, local degree, the objective of CCMTL, and speed."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from graphpri._sparsify import sparsify
from graphpri.apps.mtl import GraphMTL
from graphpri.apps.mtl_data import Tasks, synthetic
from graphpri.apps.mtl_protocol import BASELINES, Pruning, errors_of, random_split, rmse, standardise
from graphpri.graph import FloatArray, Graph
from graphpri.measures import report
from graphpri.studies.mtl_synthetic import NAMES
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

_LEARN = 0.4
_PRI: dict[str, dict[str, Any]] = {"pri": {"effort": "fast"}, "pri β=2": {"effort": "fast", "beta": 2.0}}
_TITLES = NAMES | {"pri": "Graph-PRI, β = 50", "pri β=2": "Graph-PRI, β = 2"}
_SMALL = {"n_tasks": 12, "group_size": 6, "n": 40, "informative": 6, "irrelevant": 3}
_NEGLIGIBLE = 0.01
"""Share by which an error may rise and still count as hardly changed."""

_STAR = 0.8
"""Share of edges at the hub from which on a graph counts as nearly a star, which has them all there."""

SPEED_METHODS = ("random", "local-degree", "pri")


def cells(quick: bool) -> list[Cell]:
    """Pruned graphs and objectives draw by draw, and the time at several sizes."""
    sizes = _SMALL if quick else {}
    draws, keeps = (2, [0.7, 0.2]) if quick else (10, [0.9, 0.7, 0.5, 0.3, 0.2, 0.1])
    methods = ["pri", "pri β=2", "local-degree", "random"] if quick else [*_PRI, *BASELINES]
    head = {"sizes": sizes, "k": 5 if quick else 10}
    speed = [(60, 6)] if quick else [(5000, 15), (1000, 15)]
    return [
        *({"topic": "speed", "tasks": tasks, "columns": columns, "keeps": [0.5, 0.2]} for tasks, columns in speed),
        *({"topic": "pruned", "draw": i, "keeps": keeps, "methods": methods, **head} for i in range(draws)),
        *({"topic": "objective", "draw": i, "steps": 5 if quick else 13, **head} for i in range(2 if quick else 5)),
    ]


def work(cell: Cell, seed: int) -> Tables:
    """One piece, by its topic."""
    return {"speed": _speed, "pruned": _pruned, "objective": _objective}[cell["topic"]](cell, seed)


def _drawn(cell: Cell, seed: int) -> Tasks:
    return synthetic(generator(seed, "task-graphs", cell["draw"]), **cell["sizes"]).tasks


def _pruned(cell: Cell, seed: int) -> Tables:
    """Errors with γ fixed, and the shape of each pruned graph; tasks may lose all neighbours, as in the paper."""
    tasks = _drawn(cell, seed)
    rng = generator(seed, "task-graphs", "split", cell["draw"])
    split = standardise(tasks, random_split(tasks, _LEARN, rng))
    whole = GraphMTL(gamma="loo", k=cell["k"]).fit_rows(split.train)
    entry = errors_of(whole, split)
    rows = [{"draw": cell["draw"], "method": "none", "keep": 1.0, **_shape(whole.graph_), "rmse": rmse(entry.errors)}]
    for method in cell["methods"]:
        for keep in cell["keeps"]:
            pruning = Pruning(method.split()[0], keep, "fixed", 0, seed, _PRI.get(method, {}))
            model = pruning.apply(whole)
            found = rmse(errors_of(model, split, pruning).errors)
            rows.append({"draw": cell["draw"], "method": method, "keep": keep, **_shape(model.graph_), "rmse": found})
    return {"pruned": rows}


def _shape(graph: Graph) -> dict[str, float]:
    """Centralisation (0 of a regular graph, 1 of a star), share of edges at the hub, and tasks without an edge."""
    degrees = graph.degrees()
    return {
        "centralisation": report(graph, graph, measures=("centralisation",))["centralisation"],
        "hub": float(degrees.max() / graph.n_edges),
        "alone": int((degrees == 0).sum()),
    }


def _objective(cell: Cell, seed: int) -> Tables:
    """The printed objective at CCMTL's solutions for many λ, against its least value, at the γ that suits each best."""
    tasks = _drawn(cell, seed)
    task_graph = GraphMTL(gamma=1.0, k=cell["k"]).fit_rows(tasks).graph_
    strengths = np.geomspace(1e-2, 1e2, 4 * cell["steps"])
    least = [(float(gamma), _fit(tasks, task_graph, "squared", gamma)) for gamma in strengths]
    values = [(gamma, w, printed(tasks, task_graph, gamma, w)) for gamma, w in least]
    rows: list[dict[str, Any]] = []
    for lam in np.geomspace(1, 300, cell["steps"]):
        w = _fit(tasks, task_graph, "l2", lam)
        excess = [printed(tasks, task_graph, gamma, w) / value - 1 for gamma, _, value in values]
        near = [float(np.linalg.norm(w - other) / np.linalg.norm(w)) for _, other, _ in values]
        best = int(np.argmin(excess))
        head = {"draw": cell["draw"], "lambda": float(lam), "gamma": values[best][0]}
        rows.append({**head, "excess": excess[best], "distance": min(near)})
    return {"objective": rows}


def _fit(tasks: Tasks, graph: Graph, penalty: Any, gamma: float) -> FloatArray:
    return GraphMTL(penalty, float(gamma), graph=graph, tol=1e-8).fit_rows(tasks).coef_


def printed(tasks: Tasks, graph: Graph, gamma: float, w: FloatArray) -> float:
    """The paper's Eq. obj_MTL at coefficients w, shape (T, P), each task with its best intercept."""
    x, y = tasks.centred
    errors = np.einsum("np,np->n", x, w[tasks.member]) - y
    lengths = ((w[graph.source] - w[graph.target]) ** 2).sum(axis=1)
    return float((errors**2).sum() + 2 * gamma * (graph.weights * lengths).sum())


def _speed(cell: Cell, seed: int) -> Tables:
    """CPU seconds of sparsifying and of learning over what is kept, for both penalties."""
    count, columns = cell["tasks"], cell["columns"]
    drawn = synthetic(
        generator(seed, "task-graphs", "speed"),
        n_tasks=count,
        group_size=50,
        n=20,
        informative=2 * columns // 3,
        irrelevant=columns // 3,
    ).tasks
    split = standardise(drawn, random_split(drawn, 0.75, generator(seed, "task-graphs", "speed", "split")))
    whole = GraphMTL(gamma=1.0, k=10).fit_rows(split.train).graph_
    graphs: list[tuple[str, float, Graph, float]] = [("none", 1.0, whole, 0.0)]
    for method in SPEED_METHODS:
        for keep in cell["keeps"]:
            start = time.process_time()
            kept = sparsify(whole, keep, method=method, seed=seed, **_PRI.get(method, {})).kept
            graphs.append((method, keep, kept, time.process_time() - start))
    rows: list[dict[str, Any]] = []
    for penalty, gamma in (("squared", 0.5), ("l2", 2.0)):
        for method, keep, graph, sparsifying in graphs:
            model = GraphMTL(penalty, gamma, graph=graph, ridge=1.0)  # pyright: ignore[reportArgumentType]
            start = time.process_time()
            model.fit_rows(split.train)
            learning = time.process_time() - start
            head = {"tasks": count, "edges": whole.n_edges, "penalty": penalty, "method": method, "keep": keep}
            found = {"rmse": rmse(errors_of(model, split).errors)}
            rows.append({**head, **found, "sparsifying_seconds": sparsifying, "learning_seconds": learning})
    return {"speed": rows}


# What the numbers say


def derive(frames: Frames) -> Frames:
    """Means over the draws by method and share kept."""
    pruned = frames["pruned"]
    whole = where(pruned, method="none").set_index("draw")["rmse"]
    table = pruned.assign(change=pruned["rmse"] - pruned["draw"].map(whole))
    grouped = table.groupby(["method", "keep"], sort=False)
    found = grouped[["centralisation", "hub", "alone", "change"]].mean()
    found["se"] = grouped["change"].std(ddof=1) / np.sqrt(grouped.size())
    return {"shapes": found.round(4).reset_index()}


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
    """Stars, local degree, the objective, and speed."""
    facts.add("draws", frames["pruned"]["draw"].nunique(), "pruned", "draws of the tasks")
    return [
        _star(frames, facts),
        _local_degree(frames, facts),
        _ccmtl(frames["objective"], facts),
        _faster(frames["speed"], facts),
    ]


def _paired(pruned: Any, method: str, other: str, keep: float) -> tuple[float, float]:
    """Mean over the draws of the RMSE of one method less that of another, and its standard error."""
    a, b = (where(pruned, method=name, keep=keep).set_index("draw")["rmse"] for name in (method, other))
    gap = (a - b).dropna()
    return float(gap.mean()), float(gap.std(ddof=1) / np.sqrt(len(gap)))


def _star(frames: Frames, facts: Facts) -> Verdict:
    shapes, pruned = frames["shapes"], frames["pruned"]
    fewest = facts.add("fewest", shapes["keep"].min(), "shapes", "least share of edges kept")
    facts.add("whole", where(shapes, method="none")["centralisation"].iloc[0], "shapes", "mean C_D of the whole graph")
    at = where(shapes, keep=fewest).set_index("method")
    for key, method in (("high", "pri"), ("low", "pri β=2"), ("random", "random")):
        name = _TITLES[method]
        facts.add(f"{key}_C", at.loc[method, "centralisation"], "shapes", f"mean C_D of the graph kept by {name}")
        facts.add(f"{key}_hub", at.loc[method, "hub"], "shapes", "mean share of its edges at the hub")
        facts.add(f"{key}_change", at.loc[method, "change"], "shapes", "mean change of RMSE by it, γ fixed")
    gap, se = _paired(pruned, "pri β=2", "random", fewest)
    facts.add("over_random", gap, "pruned", "mean RMSE over Graph-PRI's graph, β = 2, less that over a random one")
    facts.add("over_random_se", se, "pruned", "its standard error over the draws")
    star, worse = facts["low_hub"] >= _STAR, gap > 2 * se
    always = facts["high_hub"] >= _STAR
    most = facts["random_change"] > facts["low_change"] / 2
    why = "with β = 2 what is left is a star, with β = 50 it is none and fails too"
    return Verdict(
        "Pruning most of the task graph fails since what is left is nearly a star",
        "§4.2",
        "at {fewest:.0%} of the edges {low_hub:.0%} of them are at the hub by Graph-PRI with β = 2 (C_D {low_C:.2f}) "
        "and {high_hub:.0%} with β = 50 (C_D {high_C:.2f}; whole graph {whole:.2f}); the RMSE rises by "
        "{low_change:.3f} and {high_change:.3f}, and by {random_change:.3f} over random edges, of which "
        "{random_hub:.0%} are at the hub (β = 2 against random {over_random:+.3f} ± {over_random_se:.3f})",
        grade(star and always and worse, star and worse),
        why + ("; random edges, no star either, do most of the harm that the star does" if most else "")
        if star and not always and worse
        else f"{why}, and random edges, which are no star, fail as much"
        if star and not always
        else "",
    )


def _local_degree(frames: Frames, facts: Facts) -> Verdict:
    pruned = frames["pruned"]
    keeps = sorted(where(pruned, method="local-degree")["keep"].unique(), reverse=True)
    facts.add("shares", len(keeps), "pruned", "shares of edges kept")
    better = dict.fromkeys(("none", "pri", "random"), 0)
    worse = dict(better)
    whole = where(pruned, method="none").set_index("draw")["rmse"]
    for keep in keeps:
        for other in better:
            if other == "none":
                gap = where(pruned, method="local-degree", keep=keep).set_index("draw")["rmse"] - whole
                mean, se = float(gap.mean()), float(gap.std(ddof=1) / np.sqrt(len(gap)))
            else:
                mean, se = _paired(pruned, "local-degree", other, keep)
            better[other] += mean < -2 * se
            worse[other] += mean > 2 * se
    words = {"none": "no pruning", "pri": "Graph-PRI", "random": "random edges"}
    for other in better:
        facts.add(f"ld_better_{other}", better[other], "pruned", f"shares with clearly lower RMSE than {words[other]}")
        facts.add(f"ld_worse_{other}", worse[other], "pruned", f"shares with clearly higher RMSE than {words[other]}")
    not_compelling = better["none"] == 0 and better["random"] == 0
    return Verdict(
        "Local degree, which keeps centrality and spectral distance, is not compelling in applications",
        "§4.1",
        "as a way to prune task graphs it predicts clearly better than no pruning at {ld_better_none:.0f} of "
        "{shares:.0f} shares of edges and clearly worse at {ld_worse_none:.0f}; than random edges at "
        "{ld_better_random:.0f} and {ld_worse_random:.0f}; than Graph-PRI at {ld_better_pri:.0f} and "
        "{ld_worse_pri:.0f} ({draws:.0f} draws)",
        grade(not_compelling and better["pri"] == 0, not_compelling),
        "in multi-task learning; for node classification see the study node-classification",
    )


def _ccmtl(table: Any, facts: Facts) -> Verdict:
    facts.add("solutions", len(table), "objective", "solutions of CCMTL: strengths λ times draws")
    least = facts.add(
        "excess_least", table["excess"].min(), "objective", "least excess over the minimum, γ at its best"
    )
    facts.add("excess_median", table["excess"].median(), "objective", "median excess")
    facts.add("excess_most", table["excess"].max(), "objective", "largest excess")
    facts.add("distance_median", table["distance"].median(), "objective", "median relative distance to a minimiser")
    return Verdict(
        "CCMTL optimises the stated objective of multi-task learning",
        "§4.2, Eq. obj_MTL",
        "at the γ that suits each of {solutions:.0f} solutions of CCMTL best, the printed objective is "
        "{excess_least:.2%} to {excess_most:.1%} above its minimum (median {excess_median:.2%}); the coefficients "
        "differ from those of every γ by {distance_median:.1%} of their length in the median",
        grade(least < 1e-6 and facts["excess_most"] < 1e-6),
        "CCMTL has norms of differences where the equation has their squares",
    )


def _faster(table: Any, facts: Facts) -> Verdict:
    tasks = table["tasks"].max()
    facts.add("tasks", tasks, "speed", "tasks of the largest graph")
    facts.add("edges", where(table, tasks=tasks)["edges"].iloc[0], "speed", "its edges")
    good = {"squared": 0, "l2": 0}
    for penalty in good:
        rows = where(table, tasks=tasks, penalty=penalty)
        whole = where(rows, method="none").iloc[0]
        facts.add(f"{penalty}_whole", whole["learning_seconds"], "speed", f"CPU seconds on the whole graph, {penalty}")
        rest = rows[rows["method"] != "none"]
        fewest = rest["keep"].min()
        facts.add("fewest_speed", fewest, "speed", "least share kept") if penalty == "squared" else None
        for method in ("random", "pri"):
            row = where(rest, method=method, keep=fewest).iloc[0]
            key = f"{penalty}_{method}"
            facts.add(f"{key}_learning", row["learning_seconds"], "speed", f"CPU seconds on {NAMES[method]}'s graph")
            facts.add(f"{key}_sparsifying", row["sparsifying_seconds"], "speed", f"CPU seconds of {NAMES[method]}")
            facts.add(f"{key}_error", row["rmse"] / whole["rmse"] - 1, "speed", "relative change of the RMSE")
        together = rest["learning_seconds"] + rest["sparsifying_seconds"]
        gains = (together < 0.8 * whole["learning_seconds"]) & (rest["rmse"] <= (1 + _NEGLIGIBLE) * whole["rmse"])
        good[penalty] = int(gains.sum())
        facts.add(f"{penalty}_gains", good[penalty], "speed", "ways that save a fifth of the time or more, error kept")
    facts.add("ways", len(where(table, tasks=tasks, penalty="l2")) - 1, "speed", "methods and shares kept")
    facts.add("negligible", _NEGLIGIBLE, "speed", "relative rise of the error that counts as negligible")
    text = "; ".join(
        f"{words}: {{{p}_whole:.2f}} s whole, {{{p}_random_learning:.2f}} s on random edges (error "
        f"{{{p}_random_error:+.1%}}), {{{p}_pri_learning:.2f}} s on Graph-PRI's and {{{p}_pri_sparsifying:.2f}} s to "
        f"choose them ({{{p}_pri_error:+.1%}})"
        for p, words in (("squared", "squares"), ("l2", "norms (CCMTL)"))
    )
    return Verdict(
        "Sparsifying speeds up graph-regularised learning, with negligible loss of accuracy",
        "§1, §4.2",
        f"{{tasks:.0f}} tasks, {{edges:.0f}} edges, {{fewest_speed:.0%}} of them kept, CPU time: {text}; a fifth of "
        "the time or more is saved, sparsifying counted, with at most {negligible:.0%} more error in "
        "{squared_gains:.0f} and {l2_gains:.0f} of {ways:.0f} ways",
        grade(all(good.values()), any(good.values())),
        "learning takes most of its time for each task's own rows, not for edges" if not all(good.values()) else "",
    )


# Pictures


def draw(frames: Frames) -> list[Picture]:
    """C_D and the change of RMSE against the share kept."""
    shapes = frames["shapes"]
    figure, axes = panels(1, 2, height=2.2)
    for ax, column, label in zip(
        axes[0], ("centralisation", "change"), ("centralisation C_D", "change of RMSE"), strict=True
    ):
        for i, (method, name) in enumerate(_TITLES.items()):
            rows = where(shapes, method=method)
            if len(rows):
                band = (rows["change"] - rows["se"], rows["change"] + rows["se"]) if column == "change" else None
                curve(ax, 100 * rows["keep"], rows[column], i, name, band)
        ax.axhline(where(shapes, method="none")[column].iloc[0], color="black", linewidth=0.6, linestyle="--")
        ax.set(xlabel="edges kept (%)", ylabel=label)
    legend_below(figure, axes[0, 0], 3)
    return [
        Picture(
            "task_graphs",
            figure,
            "Task graphs of synthetic tasks pruned without a guard, γ fixed: centralisation of what is kept (a star "
            "has 1), and change of the test RMSE. Means over draws, bands of one standard error; dashed: the whole.",
        )
    ]
