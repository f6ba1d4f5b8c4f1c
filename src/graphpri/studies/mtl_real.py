"""Figure "MTL", right: Parkinson's disease, and the School data beside it: what pruning the task graph does there."""

from __future__ import annotations

from itertools import product
from typing import Any

from graphpri import datasets
from graphpri.apps.mtl import MIN_DEGREE, GraphMTL
from graphpri.apps.mtl_data import Tasks, group_rows
from graphpri.apps.mtl_protocol import (
    BASELINES,
    Pruning,
    Split,
    errors_of,
    evaluate,
    ordered_split,
    random_split,
    standardise,
)
from graphpri.studies.mtl_synthetic import GAMMAS, changes, differences, draw_changes, least, row_of
from graphpri.studies.study import (
    Cell,
    Facts,
    Frames,
    Picture,
    Tables,
    Verdict,
    generator,
    grade,
    legend_below,
    panels,
    where,
)

_TARGETS = ("motor_UPDRS", "total_UPDRS")
_SAME = 5e-5  # RMSEs that agree to four decimals count as equal
_STRONGER = "graph, ten times that γ"
_MODELS = {
    "task mean": "mean",
    "per-task ridge": "ridge",
    "common slopes": "slopes",
    "graph": "graph",
    _STRONGER: "stronger",
}


def parkinsons(features: str) -> tuple[Tasks, Any]:
    """One task a person, with 19 columns or, without ``test_time``, 18; and the time of each row."""
    table = datasets.table("parkinsons")
    columns = [c for c in table.columns if c not in ("subject#", *_TARGETS) and (features == "19" or c != "test_time")]
    tasks = group_rows(table[columns].to_numpy(), table["motor_UPDRS"], table["subject#"], True)
    return tasks, table["test_time"].to_numpy()[tasks.order]


def school() -> Tasks:
    """One task a school, without columns that are constant over all rows."""
    table = datasets.table("school")
    X = table.drop(columns=["task", "y"])
    return group_rows(X.loc[:, X.nunique() > 1].to_numpy(), table["y"], table["task"], True)


def cells_parkinsons(quick: bool) -> list[Cell]:
    """One for each choice of columns, split and draw; a split by time has one draw."""
    keeps = [0.5] if quick else [0.9, 0.7, 0.5, 0.3]
    kinds = [("19", "random", 0)] if quick else list(product(("19", "18"), ("random",), range(5)))
    kinds += [] if quick else [("19", "time", 0), ("18", "time", 0)]
    return [
        {
            "features": features,
            "split": split,
            "draw": draw,
            "keeps": keeps,
            "tasks": 10 if quick else 42,
            "quick": quick,
        }
        for features, split, draw in kinds
    ]


def work_parkinsons(cell: Cell, seed: int) -> Tables:
    """Errors of all models on one split, half of the rows to learn from."""
    tasks, time = parkinsons(cell["features"])
    tasks = _first(tasks, cell["tasks"])
    if cell["split"] == "time":
        split = ordered_split(tasks, 0.5, time[: len(tasks.y)])
    else:
        split = random_split(tasks, 0.5, generator(seed, "parkinsons", cell["features"], cell["draw"]))
    head = {"split": f"{cell['features']} features, {'by time' if cell['split'] == 'time' else 'random'}"}
    return _errors(tasks, split, {**head, "draw": cell["draw"]}, _prunings(cell, seed))


def cells_school(quick: bool) -> list[Cell]:
    """One for each draw of the rows to learn from."""
    keeps = [0.5] if quick else [0.9, 0.7, 0.5, 0.3]
    return [
        {"draw": draw, "tasks": 12 if quick else 139, "keeps": keeps, "quick": quick}
        for draw in range(1 if quick else 2)
    ]


def work_school(cell: Cell, seed: int) -> Tables:
    """Errors of all models on one split, a fifth of the rows to learn from."""
    tasks = _first(school(), cell["tasks"])
    split = random_split(tasks, 0.2, generator(seed, "school", cell["draw"]))
    head = {"split": "random", "draw": cell["draw"]}
    return _errors(tasks, split, head, _prunings(cell, seed))


def _first(tasks: Tasks, count: int) -> Tasks:
    stop = tasks.starts[count]
    return Tasks(
        tasks.X[:stop], tasks.y[:stop], tasks.starts[: count + 1], tasks.labels[:count], tasks.order[:stop], True
    )


def _prunings(cell: Cell, seed: int) -> list[Pruning]:
    methods = ("pri", "random") if cell["quick"] else ("pri", *BASELINES)
    return [
        Pruning(method, keep, after, MIN_DEGREE, seed)
        for method in methods
        for keep, after in product(cell["keeps"], GAMMAS)
    ]


def _errors(tasks: Tasks, split: Split, head: dict[str, Any], prunings: list[Pruning]) -> Tables:
    taken = standardise(tasks, split)
    rows = [{**head, "graph": "unit", "ridge": "none", **row_of(entry)} for entry in evaluate(taken, prunings)]
    for graph, ridge in (("similarity", "none"), ("unit", "own")):
        given: dict[str, Any] = {"gamma": "loo", "edge_weights": graph, "ridge": "own" if ridge == "own" else 0.0}
        model = GraphMTL(**given).fit_rows(taken.train)
        rows.append({**head, "graph": graph, "ridge": ridge, **row_of(errors_of(model, taken))})
    chosen = next(row["gamma"] for row in rows if row["model"] == "graph")
    stronger = row_of(errors_of(GraphMTL(gamma=10 * float(chosen)).fit_rows(taken.train), taken))
    rows.append({**head, "graph": "unit", "ridge": "none", **stronger, "model": _STRONGER})
    return {"errors": rows}


def derive(frames: Frames) -> Frames:
    """Mean changes of the error by pruning with γ fixed, and errors without any pruning."""
    import pandas as pd

    table = frames["errors"]
    plain = where(table, graph="unit", ridge="none")
    splits = [({"split": str(split)}, rows) for split, rows in plain.groupby("split", sort=False)]
    whole = table[table["method"].fillna("") == ""]
    models = whole["model"] + whole["graph"].map({"unit": "", "similarity": ", weighted"})
    models += whole["ridge"].map({"none": "", "own": ", own ridges"})
    unpruned = whole.assign(model=models).pivot_table(index="model", columns="split", values="rmse", sort=False)
    return {
        "changes": pd.DataFrame([row for after in GAMMAS for row in changes(splits, after)]),
        "unpruned": unpruned.round(4).reset_index(),
    }


def judge_parkinsons(frames: Frames, facts: Facts) -> list[Verdict]:
    """What the paper says of its data."""
    return _judge("parkinsons", frames, facts)


def judge_school(frames: Frames, facts: Facts) -> list[Verdict]:
    """The same of School data, and whether schools differ in their slopes."""
    return [*_judge("school", frames, facts), _slopes(facts)]


def _judge(study: str, frames: Frames, facts: Facts) -> list[Verdict]:
    """How far pruning moves the error, and how the graph stands against each task on its own."""
    table = frames["errors"]
    plain = where(table, graph="unit", ridge="none")
    for split, rows in plain.groupby("split", sort=False):
        for model, short in _MODELS.items():
            value = where(rows, model=model)["rmse"].mean()
            facts.add(f"{short}_{_key(split)}", value, "errors", f"mean RMSE of {model}, {split}")
    return [_similar(study, plain, facts), _against_ridge(table, facts)]


def _key(text: Any) -> str:
    return str(text).replace(" ", "_").replace(",", "")


def _similar(study: str, plain: Any, facts: Facts) -> Verdict:
    """All methods are close to no pruning, and PRI is slightly better; the same with γ chosen again."""
    whole = float(where(plain, model="graph")["rmse"].mean())
    facts.add("typical", whole, "errors", "mean RMSE of the whole graph")
    facts.add("splits", plain["split"].nunique(), "errors", "kinds of split")
    for after in ("fixed", "loo"):
        found = [differences(rows, after) for _, rows in plain.groupby("split")]
        best = [least(where(table, method="pri"))["change"] for table in found]
        largest = max(float(table["change"].abs().max()) for table in found)
        strength = "γ fixed" if after == "fixed" else "γ chosen again"
        facts.add(f"largest_{after}", largest, "errors", f"largest mean change of RMSE by pruning, {strength}")
        facts.add(f"best_{after}", min(best), "errors", f"lowest mean change of RMSE by Graph-PRI, {strength}")
        lowered = sum(change < -0.0005 for change in best)
        facts.add(f"lower_{after}", lowered, "errors", f"kinds of split where it lowers the RMSE by 0.0005, {strength}")
    close = facts["largest_fixed"] <= 0.05 * facts["typical"]
    better = facts["lower_fixed"] == facts["splits"]
    text = "most methods stay close to no pruning, and Graph-PRI is slightly better"
    parts = "γ fixed", "γ chosen again by leave-one-out"
    measured = "; ".join(
        f"{part}: at most {{largest_{after}:.3f}} of {{typical:.2f}}, Graph-PRI lowers the RMSE on "
        f"{{lower_{after}:.0f}} of {{splits:.0f}} kinds of split, by {{best_{after}:+.4f}} at best"
        for part, after in zip(parts, ("fixed", "loo"), strict=True)
    )
    return Verdict(
        f"On Parkinson's data {text}" if study == "parkinsons" else f"The same on School data: {text}",
        "§4.2, Figure MTL" if study == "parkinsons" else "graphpri",
        f"change of the mean RMSE by pruning, {measured}",
        grade(close and better, close),
        "the first half holds" if close and not better else "",
    )


def _against_ridge(table: Any, facts: Facts) -> Verdict:
    """With each task's own ridge the graph does no worse than ridge regression of each task alone."""
    ridge = table[table["model"] == "per-task ridge"].groupby(["split", "draw"])["rmse"].first()
    own = where(table, model="graph", ridge="own", graph="unit")
    change = own.set_index(["split", "draw"])["rmse"] - ridge
    facts.add("runs", len(change), "errors", "splits and draws")
    facts.add(
        "no_worse",
        int((change <= _SAME).sum()),
        "errors",
        "of them, where own ridges with the graph do no worse than per-task ridge, to four decimals",
    )
    facts.add("worst", change.max(), "errors", "largest excess of RMSE over per-task ridge")
    facts.add("gain", change.mean(), "errors", "mean change of RMSE against per-task ridge")
    mean = change.groupby("split").mean().max()
    facts.add("worst_mean", mean, "errors", "largest excess of the mean RMSE over a kind of split")
    return Verdict(
        "A task graph on top of each task's own ridge does no worse than the ridge alone",
        "graphpri",
        "no worse in {no_worse:.0f} of {runs:.0f} runs (at most {worst:+.4f}), {gain:+.4f} in the mean",
        grade(facts["worst_mean"] <= _SAME, facts["worst_mean"] <= 0.005),
        "" if facts["worst_mean"] <= _SAME else "in the mean of a kind of split the excess is at most {worst_mean:.4f}",
    )


def _slopes(facts: Facts) -> Verdict:
    """Common slopes against the graph; leave-one-out on a graph made from the same rows takes too small a γ."""
    gained = facts["ridge_random"] - facts["slopes_random"]
    behind = facts["graph_random"] - facts["slopes_random"]
    stronger = facts["stronger_random"] - facts["slopes_random"]
    facts.add("behind", behind, "errors", "RMSE of the graph less that of common slopes")
    limit = 0.05 * gained
    return Verdict(
        "Schools are so alike that common slopes do as well as the graph, and far better than each school alone",
        "graphpri",
        "RMSE {ridge_random:.2f} by per-task ridge, {slopes_random:.2f} by common slopes, {graph_random:.2f} by graph",
        grade(abs(behind) <= limit < gained, abs(stronger) <= limit < gained),
        ""
        if abs(behind) <= limit
        else "the task graph comes from the same rows, so leave-one-out takes too small a γ: with ten times that the "
        "graph has {stronger_random:.2f}",
    )


def draw_parkinsons(frames: Frames) -> list[Picture]:
    """Change of RMSE against pruning."""
    return _draw("parkinsons", frames)


def draw_school(frames: Frames) -> list[Picture]:
    """Change of RMSE against pruning."""
    return _draw("school", frames)


def _draw(name: str, frames: Frames) -> list[Picture]:
    """Change of RMSE against pruning, a panel a kind of split."""
    table = frames["errors"]
    plain = where(table, graph="unit", ridge="none")
    splits = list(dict.fromkeys(plain["split"]))
    figure, axes = panels(1, max(len(splits), 2), height=2.0)
    for ax, split in zip(axes[0], splits, strict=False):
        draw_changes(ax, differences(where(plain, split=split), "fixed"))
        ax.set_title(split)
        ax.set_xlabel("edges pruned (%)")
    for ax in axes[0][len(splits) :]:
        ax.set_axis_off()
    axes[0, 0].set_ylabel("change of RMSE")
    legend_below(figure, axes[0, 0], 5)
    caption = (
        "Change of the test RMSE by pruning the unweighted task graph with γ fixed, against no pruning (dashed). "
        "Lines: means over draws; bands: one standard error where there are several."
    )
    return [Picture(f"mtl_{name}", figure, caption)]
