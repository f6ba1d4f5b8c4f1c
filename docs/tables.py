"""The tables of the pages: how each comes about, its file in docs/data, and what its columns are."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import scale_tables
from fill_tables import DATA, Row, Table, columns, decimals, fixed, markdown, read, shortest, significant

MEASURE = "python docs/make_tables.py"
STUDY = "python benchmarks/defaults.py"
REPRODUCE = "graphpri reproduce --all"

MARKS = {"reproduced": "✓", "conditional": "◐", "not reproduced": "✗", "not testable": "–"}

LEVELS = ("fast", "normal", "best")
ENTROPIES = ("exact", "local", "degree")


def plain(where: Callable[[Row], bool] = lambda row: True, leave_out: tuple[str, ...] = ()) -> Table:
    """All columns as they stand in the file, but those left out."""

    def make(rows: list[Row]) -> list[str]:
        header = [key for key in rows[0] if key not in leave_out] if rows else []
        cells = [[told(row[key]) for key in header] for row in rows if where(row)]
        return markdown([key.replace("_", " ") for key in header], cells)

    return make


def told(cell: str) -> str:
    """A cell as it stands in the file; nothing for what is not a number."""
    return "" if cell == "nan" else cell.replace("|", "\\|")


def main_tasks(row: Row) -> bool:
    """Whether a row of the synthetic tasks is of the main setting: γ chosen again, 40 % of the rows to learn from."""
    return (row["gamma"], row["train"], row["noise"]) == ("loo", "40%", "std")


def claims(where: Callable[[Row], bool]) -> Table:
    """The ledger: claims with their verdicts, and the command that repeats them."""

    def measured(row: Row) -> str:
        return row["measured"].replace("|", "\\|") + (f". *{row['condition']}*" if row["condition"] else "")

    shown = {"claim": "claim", "source": "source", "measured": measured}
    shown |= {"verdict": lambda row: f"{MARKS[row['verdict']]} {row['verdict']}"}
    shown |= {"command": lambda row: f"`{row['command']}`" if row["command"] else ""}
    return columns(shown, where)


PROTOTYPE_EOEC = {
    "edge-readout": ".830 / .905",
    "edge-readout-tangent": ".867 / .925",
    "tangent-svm": ".872 / .954",
    "t-test-svm": ".770 / .841",
    "lasso-svm": ".826 / .898",
    "gcn": ".61 to .68 / .68 to .74",
    "paper": ".61 to .68 / .68 to .74",
    "paper-exact": ".61 to .68 / .68 to .74",
}
PROTOTYPE_DEVFMRI = {"linear-svm": ".924", "edge-readout": ".880", "gcn": ".783"}


def methods(prototype: dict[str, str]) -> Table:
    """Accuracies of methods on brain networks, their gaps to the best, and what a prototype and the paper have."""

    def make(rows: list[Row]) -> list[str]:
        paper = any(row.get("paper") for row in rows)
        measure = list(rows[0])[1].replace("_", " ")  # accuracy, or balanced accuracy, to which the intervals belong
        header = ["method", measure, "95 % interval", "AUC", "against the best", "prototype", *["the paper"] * paper]
        return markdown(header, [_method(row, prototype, paper) for row in rows])

    return make


def _method(row: Row, prototype: dict[str, str], paper: bool) -> list[str]:
    ends, gap = (f"{fixed(row[f'{key}lower'], 3)} to {fixed(row[f'{key}upper'], 3)}" for key in ("", "difference_"))
    against = "best" if row["verdict"] == "best" else f"{row['verdict']}: {fixed(row['difference'], 3)} ({gap})"
    cells = [row["method"], f"{fixed(row[list(row)[1]], 3)} ± {fixed(row['standard_error'], 3)}", ends]
    cells += [fixed(row["auc"], 3), against, prototype.get(row["method"], "")]
    if not paper:
        return cells
    known = row["paper"] not in ("", "nan")
    return [*cells, f"{fixed(row['paper'], 3)} ± {fixed(row['paper_deviation'], 3)}" if known else ""]


def learning(rows: list[Row]) -> list[str]:
    """Accuracy of each method on a graph with noise, marked where it clearly differs from the network alone."""
    ways = list(dict.fromkeys(row["method"] for row in rows))

    def cell(row: Row) -> str:
        mark = " ▲" if float(row["low"]) > 0 else " ▼" if float(row["high"]) < 0 else ""
        return fixed(row["test"], 3) + mark

    lines: list[list[str]] = []
    for graph, noise in dict.fromkeys((row["graph"], row["noise"]) for row in rows):
        found = {row["method"]: cell(row) for row in rows if (row["graph"], row["noise"]) == (graph, noise)}
        lines.append([graph, f"{float(noise):.0%}", *(found[way] for way in ways)])
    return markdown(["graph", "added", *ways], lines)


def along_beta(graph: str) -> Table:
    """Without a budget and with one, at the values of β that both were measured at."""

    def make(free: list[Row]) -> list[str]:
        budget = {row["beta"]: row for row in read(DATA / "beta_budget.csv") if row["graph"] == graph}
        both = [(row, budget[row["beta"]]) for row in free if row["graph"] == graph and row["beta"] in budget]
        header = ["β", "K", "S", "D", "J", "S at 30 %", "D", "J", "components", "cut off"]
        return markdown(header, [_along(*pair) for pair in both])

    return make


def _along(free: Row, budget: Row) -> list[str]:
    terms = [fixed(row[key]) for row in (free, budget) for key in ("S", "D", "J")]
    size = f"{free['K']} ({100 * float(free['share_kept']):.0f} %)"
    return [f"{float(free['beta']):g}", size, *terms, budget["components_kept"], budget["nodes_cut_off"]]


def effort(rows: list[Row]) -> list[str]:
    """How far each level stays above the best of them, and its time; a row a case."""
    cells = {(r["graph"], r["beta"], r["effort"]): r for r in rows}
    lines: list[list[str]] = []
    for graph, beta in dict.fromkeys((r["graph"], r["beta"]) for r in rows):
        levels = [cells[graph, beta, level] for level in LEVELS]
        least = min(float(r["J"]) for r in levels)
        gaps = [fixed(100 * (float(r["J"]) / least - 1), 3) for r in levels]
        lines.append([graph, f"{float(beta):g}", fixed(least), *gaps, *(fixed(r["cpu_seconds"], 2) for r in levels)])
    above, seconds = ([f"{level}, {unit}" for level in LEVELS] for unit in ("% above", "s"))
    return markdown(["graph", "β", "least J", *above, *seconds], lines)


def default_beta(rows: list[Row]) -> list[str]:
    """Means over graphs and budgets at each β."""
    budget = [r for r in rows if r["study"] == "budget"]
    betas = sorted({float(r["beta"]) for r in budget})
    d = {(r["graph"], r["keep"], float(r["beta"])): float(r["divergence"]) for r in budget}

    def fall(r: Row) -> float:
        first, last = (d[r["graph"], r["keep"], beta] for beta in (betas[0], betas[-1]))
        return (first - float(r["divergence"])) / (first - last) if first > last else 1.0

    shown: dict[str, Callable[[Row], float]] = {
        "S over the original's": lambda r: float(r["entropy"]) / float(r["entropy_original"]),
        "fall of D made, %": lambda r: 100 * fall(r),
        "nodes cut off, %": lambda r: 100 * float(r["cut_off"]) / float(r["nodes"]),
        "connected pairs, %": lambda r: 100 * float(r["connected_pairs"]),
        "degree ranks": lambda r: float(r["degree_rank"] or "nan"),
        "PageRank ranks": lambda r: float(r["pagerank_rank"] or "nan"),
        "communities, NMI": lambda r: float(r["community_nmi"] or "nan"),
    }
    lines: list[list[str]] = []
    for beta in betas:
        of_beta = [r for r in budget if float(r["beta"]) == beta]
        lines.append([f"{beta:g}", *(fixed(_mean(map(value, of_beta)), 3) for value in shown.values())])
    return markdown(["β", *shown], lines)


def _mean(values: Iterable[float]) -> float:
    """Mean of those that are defined."""
    defined = [value for value in values if value == value]
    return sum(defined) / len(defined) if defined else float("nan")


def default_beta_free(rows: list[Row]) -> list[str]:
    """Percent of the edges kept without a budget, a row a graph."""
    free = [r for r in rows if r["study"] == "free"]
    betas = sorted({float(r["beta"]) for r in free})
    share = {(r["graph"], float(r["beta"])): 100 * int(r["edges_kept"]) / int(r["edges"]) for r in free}
    graphs = dict.fromkeys(r["graph"] for r in free)
    lines = [[name, *(f"{share[name, b]:.0f}" if (name, b) in share else "" for b in betas)] for name in graphs]
    return markdown(["graph", *(f"β = {beta:g}" for beta in betas)], lines)


def entropy_by_size(rows: list[Row]) -> list[str]:
    """Seconds and loss of each entropy at normal effort, a row a graph."""
    cells = {(r["graph"], r["nodes"], r["entropy"]): r for r in rows if r["effort"] == "normal"}
    lines: list[list[str]] = []
    for name, nodes in dict.fromkeys((r["graph"], r["nodes"]) for r in rows):
        found = [cells.get((name, nodes, kind), {}) for kind in ENTROPIES]
        facts = next(r for r in rows if (r["graph"], r["nodes"]) == (name, nodes))
        seconds = [fixed(r.get("cpu_seconds", ""), 2) for r in found]
        above = [fixed(r.get("above_best_percent", ""), 3) for r in found]
        lines.append([name, nodes, facts["edges"], facts["largest_component"], *seconds, *above])
    seconds, above = ([f"{kind}, {unit}" for kind in ENTROPIES] for unit in ("s", "% above"))
    return markdown(["graph", "N", "M", "largest component", *seconds, *above], lines)


TABLES: dict[str, tuple[str, str, Table]] = {
    **{f"along-beta-{g}": (MEASURE, "beta_free.csv", along_beta(g)) for g in ("karate", "madrid", "polbooks", "jazz")},
    "loose": (
        MEASURE,
        "beta_loose.csv",
        columns({"β": "beta", "K": "K"} | {k: decimals(k) for k in "SDJ"} | {"components": "components_kept"}),
    ),
    "barrier": (
        MEASURE,
        "barrier.csv",
        columns(
            {"keep": lambda r: r["keep"] or "free", "β": shortest("beta"), "α": "alpha", "K": "K"}
            | {"S": decimals("S"), "D": decimals("D"), "components": "components_kept", "cut off": "nodes_cut_off"}
        ),
    ),
    "mixtures": (
        MEASURE,
        "mixtures.csv",
        columns(
            {"graph": "graph", "keep": "keep", "K": "K", "edges in both choices": "in_both"}
            | {"D, equation": decimals("D_equation"), "D, listing": decimals("D_listing")}
        ),
    ),
    "algorithm1": (
        MEASURE,
        "algorithm1.csv",
        columns(
            {"β": "beta", "seed": "seed", "K": "K", "edges of a mean draw": decimals("mean_draw", 1)}
            | {"J": decimals("J"), "CPU s": decimals("cpu_seconds", 1)}
            | {"J, default solver": decimals("J_default_at_K"), "its CPU s": decimals("cpu_seconds_default", 2)},
            lambda r: r["beta"] != "1000",
        ),
    ),
    "listing": (
        MEASURE,
        "algorithm1.csv",
        columns(
            {"mixture": "mixture", "steps": lambda r: {"listing": "10 000", "equation": "2 500"}[r["mixture"]]}
            | {"seed": "seed", "most probable subset": lambda r: f"{r['K']} of 78"}
            | {"edges of a mean draw": decimals("mean_draw", 1)},
            lambda r: r["beta"] == "1000",
        ),
    ),
    "gradient": (
        MEASURE,
        "gradient.csv",
        columns(
            {"karate": lambda r: "weighted" if r["weighted"] == "True" else "unweighted"}
            | {"largest error of ours": significant("library_error")}
            | {"printed over true, from": decimals("printed_ratio_smallest", 1)}
            | {
                "to": decimals("printed_ratio_largest", 1),
                "signs wrong": lambda r: f"{r['signs_wrong']} of {r['edges']}",
            }
        ),
    ),
    "entropies": (
        MEASURE,
        "entropies.csv",
        columns(
            {"graph": "graph", "N": "nodes", "M": "edges", "S exact": decimals("S")}
            | {"degree − S": decimals("degree_minus_S"), "local − S": decimals("local_minus_S")}
            | {"bound on degree − S": decimals("bound")}
        ),
    ),
    "assumption": (
        MEASURE,
        "assumption.csv",
        columns(
            {"mean degree": "mean_degree", "additions tried": "additions"}
            | {"S did not fall, %": decimals("percent", 1), "paper, %": decimals("paper", 2)}
        ),
    ),
    "swaps": (
        MEASURE,
        "swaps.csv",
        columns(
            {"graph": "graph", "β": shortest("beta"), "swaps": "swaps"}
            | {"median change of J": significant("median_change"), "largest error": significant("largest_error")}
        ),
    ),
    "effort": (MEASURE, "effort.csv", effort),
    "reweight": (
        MEASURE,
        "reweight.csv",
        columns(
            {"graph": "graph", "keep": "keep", "weights": "reweight", "D": decimals("divergence")}
            | {"quadratic form": decimals("quadratic_error", 3), "lowest eigenvalues": decimals("eigenvalue_error", 2)}
        ),
    ),
    "claims-paper": (REPRODUCE, "claims.csv", claims(lambda row: row["source"] != "graphpri")),
    "claims-tasks": (REPRODUCE, "claims.csv", claims(lambda row: row["study"].startswith(("mtl-", "task-graphs")))),
    "claims-brain": (REPRODUCE, "claims.csv", claims(lambda row: row["study"].startswith("brain-"))),
    "brain-eoec": (REPRODUCE, "brain_eoec.csv", methods(PROTOTYPE_EOEC)),
    "brain-devfmri": (REPRODUCE, "brain_devfmri.csv", methods(PROTOTYPE_DEVFMRI)),
    "brain-planted": (REPRODUCE, "brain_planted.csv", plain()),
    "brain-term": (REPRODUCE, "brain_term.csv", plain()),
    "claims-points": (REPRODUCE, "claims.csv", claims(lambda row: row["study"] == "scalar-pri")),
    "claims-landscape": (REPRODUCE, "claims.csv", claims(lambda row: row["study"] == "landscape")),
    "landscape-purposes": (REPRODUCE, "landscape_purposes.csv", plain()),
    "landscape-betas": (REPRODUCE, "landscape_betas.csv", plain()),
    "landscape-default": (REPRODUCE, "landscape_default.csv", plain(leave_out=("names",))),
    "tasks-synthetic": (REPRODUCE, "tasks_synthetic.csv", plain(main_tasks, ("gamma", "train", "noise"))),
    "tasks-parkinsons": (REPRODUCE, "tasks_parkinsons.csv", plain()),
    "tasks-school": (REPRODUCE, "tasks_school.csv", plain()),
    "claims-learning": (REPRODUCE, "claims.csv", claims(lambda row: row["study"] == "node-classification")),
    "learning": (REPRODUCE, "learning.csv", learning),
    "claims-ours": (REPRODUCE, "claims.csv", claims(lambda row: row["source"] == "graphpri")),
    "default-beta": (STUDY, "default_beta.csv", default_beta),
    "default-beta-free": (STUDY, "default_beta.csv", default_beta_free),
    "entropy-by-size": (STUDY, "entropy_by_size.csv", entropy_by_size),
    **scale_tables.TABLES,
}
