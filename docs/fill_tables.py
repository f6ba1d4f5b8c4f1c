"""Put the figures of docs/data into the pages, between `<!-- table: NAME -->` and `<!-- end -->`."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

DOCS = Path(__file__).parent
DATA = DOCS / "data"
PAGES = (DOCS.parent / "README.md", *sorted(DOCS.glob("*.md")))
NOT_YET = "*(not measured yet: {how})*"

Row = dict[str, str]
Table = Callable[[list[Row]], list[str]]


def fill_pages() -> list[str]:
    """Fill every page; return the names of those that changed."""
    changed: list[str] = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        new = filled(text)
        if new != text:
            page.write_text(new, encoding="utf-8")
            changed.append(page.name)
    return changed


def filled(text: str) -> str:
    """A page's text with its tables made from the data."""
    pattern = re.compile(r"(<!-- table: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
    return pattern.sub(lambda m: m[1] + "\n" + "\n".join(table(m[2])) + "\n\n" + m[3], text)


def table(name: str) -> list[str]:
    """Lines of the table of that name."""
    how, file, make = TABLES[name]
    path = DATA / file
    return make(read(path)) if path.exists() else [NOT_YET.format(how=how)]


def read(path: Path) -> list[Row]:
    """Rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table, columns of numbers flush right."""
    rows = [list(row) for row in rows]
    number = [all(not row[i] or re.match(r"[−\d<]", row[i]) for row in rows) for i in range(len(header))]
    marks = ["--:" if right else "---" for right in number]
    return [f"| {' | '.join(line)} |" for line in (list(header), marks, *rows)]


def fixed(text: str, digits: int = 4) -> str:
    """A number with so many decimals; nothing for nothing."""
    if not text:
        return ""
    value = float(text)
    return f"{0.0 if abs(value) < 0.5 * 10**-digits else value:.{digits}f}".replace("-", "−")


def short(text: str) -> str:
    """A number in two significant digits."""
    return f"{float(text):.2g}"


def along_beta(graph: str) -> Table:
    """Both tables over β of a graph in one, at the values of β that they share."""

    def make(free: list[Row]) -> list[str]:
        budget = {row["beta"]: row for row in read(DATA / "beta_budget.csv") if row["graph"] == graph}
        rows = [(row, budget[row["beta"]]) for row in free if row["graph"] == graph and row["beta"] in budget]
        header = ["β", "K", "S", "D", "J", "S at 30 %", "D", "J", "components", "cut off"]
        return markdown(header, [_along(row, other) for row, other in rows])

    return make


def _along(free: Row, budget: Row) -> list[str]:
    terms = [fixed(row[key]) for row in (free, budget) for key in ("S", "D", "J")]
    size = f"{free['K']} ({100 * float(free['share_kept']):.0f} %)"
    return [f"{float(free['beta']):g}", size, *terms, budget["components_kept"], budget["nodes_cut_off"]]


def loose(rows: list[Row]) -> list[str]:
    return markdown(
        ["β", "K", "S", "D", "J", "components"],
        [[r["beta"], r["K"], *(fixed(r[k]) for k in ("S", "D", "J")), r["components_kept"]] for r in rows],
    )


def barrier(rows: list[Row]) -> list[str]:
    return markdown(
        ["keep", "β", "α", "K", "S", "D", "components", "cut off"],
        [
            [r["keep"] or "free", r["beta"].removesuffix(".0"), r["alpha"], r["K"]]
            + [fixed(r["S"]), fixed(r["D"]), r["components_kept"], r["nodes_cut_off"]]
            for r in rows
        ],
    )


def mixtures(rows: list[Row]) -> list[str]:
    return markdown(
        ["graph", "keep", "K", "edges in both choices", "D, equation", "D, listing"],
        [
            [*(r[k] for k in ("graph", "keep", "K", "in_both")), fixed(r["D_equation"]), fixed(r["D_listing"])]
            for r in rows
        ],
    )


def algorithm1(rows: list[Row]) -> list[str]:
    header = ["β", "seed", "K", "edges of a mean draw", "J", "CPU s", "J of the default solver at this K", "CPU s"]
    return markdown(header, [_algorithm1(r) for r in rows if r["beta"] != "1000"])


def _algorithm1(r: Row) -> list[str]:
    first = [r["beta"], r["seed"], r["K"], fixed(r["mean_draw"], 1), fixed(r["J"]), fixed(r["cpu_seconds"], 1)]
    return [*first, fixed(r["J_default_at_K"]), fixed(r["cpu_seconds_default"], 2)]


def listing(rows: list[Row]) -> list[str]:
    steps = {"listing": "10 000", "equation": "2 500"}
    return markdown(
        ["mixture", "steps", "seed", "most probable subset", "edges of a mean draw"],
        [
            [r["mixture"], steps[r["mixture"]], r["seed"], f"{r['K']} of 78", fixed(r["mean_draw"], 1)]
            for r in rows
            if r["beta"] == "1000"
        ],
    )


def gradient(rows: list[Row]) -> list[str]:
    header = ["karate", "largest error of ours", "printed over true, from", "to", "signs wrong"]
    return markdown(
        header,
        [
            ["weighted" if r["weighted"] == "True" else "unweighted", short(r["library_error"])]
            + [fixed(r["printed_ratio_smallest"], 1), fixed(r["printed_ratio_largest"], 1)]
            + [f"{r['signs_wrong']} of {r['edges']}"]
            for r in rows
        ],
    )


def entropies(rows: list[Row]) -> list[str]:
    header = ["graph", "N", "M", "S exact", "degree − S", "local − S", "bound on degree − S"]
    return markdown(
        header,
        [
            [r["graph"], r["nodes"], r["edges"]]
            + [fixed(r[k]) for k in ("S", "degree_minus_S", "local_minus_S", "bound")]
            for r in rows
        ],
    )


def assumption(rows: list[Row]) -> list[str]:
    return markdown(
        ["mean degree", "additions tried", "S did not fall, %", "paper, %"],
        [[r["mean_degree"], r["additions"], fixed(r["percent"], 1), fixed(r["paper"], 2)] for r in rows if r["graphs"]],
    )


def swaps(rows: list[Row]) -> list[str]:
    return markdown(
        ["graph", "β", "swaps", "median change of J", "largest error"],
        [
            [r["graph"], f"{float(r['beta']):g}", r["swaps"], short(r["median_change"]), short(r["largest_error"])]
            for r in rows
        ],
    )


def effort(rows: list[Row]) -> list[str]:
    cells = {(r["graph"], r["beta"], r["effort"]): r for r in rows}
    cases = dict.fromkeys((r["graph"], r["beta"]) for r in rows)
    lines: list[list[str]] = []
    for case in cases:
        levels = [cells[(*case, level)] for level in ("fast", "normal", "best")]
        least = min(float(r["J"]) for r in levels)
        gaps = [fixed(str(100 * (float(r["J"]) / least - 1)), 3) for r in levels]
        seconds = [fixed(r["cpu_seconds"], 2) for r in levels]
        lines.append([case[0], f"{float(case[1]):g}", fixed(str(least)), *gaps, *seconds])
    header = ["graph", "β", "least J", *(f"{level}, % above" for level in ("fast", "normal", "best"))]
    return markdown(header + [f"{level}, s" for level in ("fast", "normal", "best")], lines)


def reweight(rows: list[Row]) -> list[str]:
    return markdown(
        ["graph", "keep", "D", "D with new weights"],
        [[r["graph"], r["keep"], fixed(r["D"]), fixed(r["D_reweighted"])] for r in rows],
    )


def default_beta(rows: list[Row]) -> list[str]:
    """Means over graphs and budgets at each β."""
    budget = [r for r in rows if r["study"] == "budget"]
    ends = sorted({float(r["beta"]) for r in budget})[:: len({r["beta"] for r in budget}) - 1]
    d = {(r["graph"], r["keep"], float(r["beta"])): float(r["divergence"]) for r in budget}

    def fall(r: Row) -> float:
        first, last = (d[r["graph"], r["keep"], beta] for beta in ends)
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
    for beta in sorted({float(r["beta"]) for r in budget}):
        of_beta = [r for r in budget if float(r["beta"]) == beta]
        lines.append([f"{beta:g}", *(fixed(str(mean(map(value, of_beta))), 3) for value in shown.values())])
    return markdown(["β", *shown], lines)


def mean(values: Iterable[float]) -> float:
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
    kinds = ("exact", "local", "degree")
    cells = {(r["graph"], r["nodes"], r["entropy"]): r for r in rows if r["effort"] == "normal"}
    lines: list[list[str]] = []
    for name, nodes in dict.fromkeys((r["graph"], r["nodes"]) for r in rows):
        found = [cells.get((name, nodes, kind), {}) for kind in kinds]
        facts = next(r for r in rows if (r["graph"], r["nodes"]) == (name, nodes))
        lines.append([name, nodes, facts["edges"], facts["largest_component"]])
        lines[-1] += [fixed(r.get("cpu_seconds", ""), 2) for r in found]
        lines[-1] += [fixed(r.get("above_best_percent", ""), 3) for r in found]
    header = ["graph", "N", "M", "largest component", *(f"{kind}, s" for kind in kinds)]
    return markdown(header + [f"{kind}, % above" for kind in kinds], lines)


def bench(rows: list[Row]) -> list[str]:
    """Goals of `make bench`, with what was measured."""
    facts = {r["measure"]: r["value"] for r in rows if r["row"] == "environment"}
    checks = [r for r in rows if r["goal"]]
    said = f"Measured with Python {facts['python']}, {facts['cores']} cores, numpy {facts['numpy']}:"
    return [
        said,
        "",
        *markdown(
            ["what", "goal", "measured", "met"], [[r["measure"], r["goal"], r["value"], r["met"]] for r in checks]
        ),
    ]


MEASURE = "python docs/make_tables.py"
STUDY = "python benchmarks/defaults.py"
TABLES: dict[str, tuple[str, str, Table]] = {
    "along-beta-karate": (MEASURE, "beta_free.csv", along_beta("karate")),
    "along-beta-madrid": (MEASURE, "beta_free.csv", along_beta("madrid")),
    "along-beta-polbooks": (MEASURE, "beta_free.csv", along_beta("polbooks")),
    "along-beta-jazz": (MEASURE, "beta_free.csv", along_beta("jazz")),
    "loose": (MEASURE, "beta_loose.csv", loose),
    "barrier": (MEASURE, "barrier.csv", barrier),
    "mixtures": (MEASURE, "mixtures.csv", mixtures),
    "algorithm1": (MEASURE, "algorithm1.csv", algorithm1),
    "listing": (MEASURE, "algorithm1.csv", listing),
    "gradient": (MEASURE, "gradient.csv", gradient),
    "entropies": (MEASURE, "entropies.csv", entropies),
    "assumption": (MEASURE, "assumption.csv", assumption),
    "swaps": (MEASURE, "swaps.csv", swaps),
    "effort": (MEASURE, "effort.csv", effort),
    "reweight": (MEASURE, "reweight.csv", reweight),
    "default-beta": (STUDY, "default_beta.csv", default_beta),
    "default-beta-free": (STUDY, "default_beta.csv", default_beta_free),
    "entropy-by-size": (STUDY, "entropy_by_size.csv", entropy_by_size),
    "bench": ("make bench, then copy out/bench/bench.csv to docs/data", "bench.csv", bench),
}
"""How each table comes about, its file, and how the lines are made."""
