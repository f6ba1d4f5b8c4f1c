"""The tables that show what `make bench` measured: cells of its rows, and how its goals were met."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import groupby

from fill_tables import Cell, Row, Table, decimals, fixed, markdown

LARGE = (
    *("large-degree", "large-local", "conversions", "first-calls", "baselines", "resistances", "generators"),
    *("backbones", "growth", "threads", "end-to-end"),
    *(
        "options",
        "stochastic",
        "coverage",
        "stochastic-million",
        "gradients",
        "files",
        "strategy",
        "exact-gradients",
        "real-graphs",
        "partitions",
        "partitions-kinds",
        "partitions-every",
        "partitions-growth",
    ),
)
TITLES = {
    "best-known": "J against the best values known, the paper's graphs",
    "best-known-weighted": "J against the best values known, weighted graphs",
    "brute-force": "every subset of small graphs, default effort",
    "brute-force-best": 'every subset of small graphs, `effort="best"`',
    "symmetry": "J over relabellings of symmetric graphs",
    "karate-call": "one call on karate",
    "jazz-time": "every budget and β on jazz",
    "time-limits": "calls that may take 1 s, on graphs where they take longer",
    "free-path": "order and time of paths without a budget",
    "free-size": "calls without a budget, up to 500 nodes",
    "help-time": "`graphpri --help`",
    "other-methods": "J against other methods at equal K",
    "large-degree": "10⁶ edges, degree entropy, against NetworKit's local degree",
    "large-local": "10⁶ edges, local entropy, against NetworKit's local degree",
    "baselines": "local degree, local similarity and random, against NetworKit's own",
    "resistances": "effective resistances of large graphs",
    "generators": "random graphs of up to 10⁸ edges",
    "backbones": "scores of backbones at 10⁵ edges, against cppbone's",
    "growth": "10⁷ and 10⁸ edges, degree entropy",
    "threads": "searches of 10⁷ edges by several threads",
    "end-to-end": "the command on a parquet file of 10⁷ edges, against pyarrow",
    "weighted": "2·10⁵ edges with weights, default effort against the best, 48 cells",
    "weighted-every": "the same, all 384 cells",
    "weighted-million": "10⁶ edges with heavy weights, default effort against the best, 8 cells",
    "many-tasks": "multi-task regression with 23 812 tasks",
    "partitions": "10⁷ edges in parts, against the command in memory",
    "partitions-kinds": "10⁶ edges in parts, weighted and by the local entropy",
    "partitions-every": "10⁵ edges in parts: J of 192 cells against that in memory",
    "partitions-growth": "10⁷ and 10⁸ edges in parts",
    "stochastic": "S of 4000 nodes by probes, against scikit-primate",
    "coverage": "intervals of 95 % for S, D and J by probes",
    "stochastic-million": "S and D with error bars, 10⁶ nodes and 5·10⁶ edges",
    "gradients": "edge terms by probes, rank correlation with the exact ones",
    "files": "reading 10⁷ edges, against pyarrow",
    "strategy": "J of the strategy by size, against the all-exact solver",
    "interruptions": "`reproduce karate --quick`, cut at 30 random moments and gone on with",
    "choose": "`choose` on twelve other graphs, against the best of all methods and settings",
    "diffusion": "subsets and weights of the most similar diffusion, against the best of all methods",
}


def cells(rows: list[Row], name: str) -> Iterator[dict[str, str]]:
    """Cells of a row: case, nodes and edges, and its measures by name."""
    cell: dict[str, str] = {}
    for row in rows:
        if row["row"] != name or not row["case"]:
            continue
        if row["case"] != cell.get("case") or row["edges"] != cell["edges"] or row["measure"] in cell:
            if cell:
                yield cell
            cell = {key: row[key] for key in ("case", "nodes", "edges")}
        cell[row["measure"]] = row["value"]
    if cell:
        yield cell


def not_measured(name: str) -> list[str]:
    """What stands in place of a table that is not measured."""
    return [f"*(not measured yet: `make bench BENCH_ARGS='--only {name} --publish'`)*"]


def when(rows: list[Row], name: str) -> str:
    """When a row was measured, and how."""
    facts = {row["measure"]: row["value"] for row in rows if row["row"] == name and not row["case"]}
    made = {row["measure"]: row["value"] for row in rows if row["row"] == "environment"}
    quick = "; a quick run on smaller graphs, not the one that the goals are about" if facts["quick"] == "yes" else ""
    busy = f", {facts['load before']} other programs running" if float(facts["load before"]) >= 0.5 else ""
    return f"Measured on {facts['measured on']}, {facts.get('cores', made['cores'])} cores{busy}{quick}."


def of_parts(rows: list[Row]) -> list[str]:
    """J in parts above that in memory: a line for each kind of graph and entropy, the budgets in each cell."""
    found = list(cells(rows, "partitions-every"))
    if not found:
        return not_measured("partitions-every")
    measures = [name for name in found[0] if name.startswith("beta")]
    lines = []
    for kind, some in groupby(found, lambda cell: cell["case"].rpartition(", ")[0]):
        budgets = list(some)
        lines.append([kind, *(" / ".join(fixed(cell[name], 2) for cell in budgets) for name in measures)])
    heads = [f"β = {name.removeprefix('beta ').removesuffix(', %')}" for name in measures]
    return [when(rows, "partitions-every"), "", *markdown(["", *heads], lines)]


def of_row(name: str, shown: Mapping[str, str | Cell]) -> Table:
    """A table with a line for each cell of a row: headers, and a measure or a function for the columns."""

    def make(rows: list[Row]) -> list[str]:
        found = list(cells(rows, name))
        if not found:
            return not_measured(name)
        lines = [
            [cell.get(what, "") if isinstance(what, str) else what(cell) for what in shown.values()] for cell in found
        ]
        return [when(rows, name), "", *markdown(list(shown), lines)]

    return make


def figure(key: str) -> Cell:
    """Cells of a number in three digits; empty where there is none."""
    return lambda row: digits(row.get(key, ""))


def digits(text: str) -> str:
    """A number in three digits."""
    if text in ("", "nan"):
        return ""
    value = float(text)
    if not value:
        return "0"
    if not 1e-4 <= abs(value) < 1e6:
        return f"{value:.2g}".replace("-", "−")
    return fixed(value, max(0, 2 - _magnitude(value)))


def _magnitude(value: float) -> int:
    """Place of the first digit: 0 for 1 to 9, negative below."""
    return int(f"{value:e}".partition("e")[2]) if value else 0


def size(key: str) -> Cell:
    """Cells of a whole number, thousands apart."""
    return lambda row: f"{int(float(row[key])):,}".replace(",", " ") if row.get(key) else ""


def percent(key: str) -> Cell:
    """Cells of a share as percent."""
    return lambda row: fixed(100 * float(row[key]), 1)


def bytes_or(key: str) -> Cell:
    """Cells of bytes an edge."""
    return lambda row: fixed(row[key], 0) if row.get(key) not in (None, "", "nan") else ""


def unsure(short: str, prefix: str = "") -> Cell:
    """Cells of an estimate with its error."""

    def make(row: Row) -> str:
        value, error = row[f"{prefix}{short}"], float(row[f"{prefix}{short} error"])
        if not error:
            return fixed(value)
        places = max(0, 1 - _magnitude(error))
        return f"{fixed(value, places)} ± {fixed(error, places)}"

    return make


def growth(rows: list[Row]) -> list[str]:
    """A line for each size, the methods side by side."""
    found = list(cells(rows, "growth"))
    if not found:
        return not_measured("growth")
    header = ["edges", "degree, s", "bytes an edge", "local, s", "bytes an edge", "NetworKit, s", "bytes an edge"]
    lines: list[list[str]] = []
    for edges, of_size in groupby(found, key=lambda cell: cell["edges"]):
        by = {cell["case"]: cell for cell in of_size}
        line = [f"{int(edges):,}".replace(",", " ")]
        for method in ("degree", "local", "NetworKit"):
            line += [digits(by[method]["s"]), bytes_or("bytes an edge")(by[method])] if method in by else ["", ""]
        above = ""
        if {"degree", "local"} <= by.keys():
            above = fixed(100 * (float(by["degree"]["J"]) / float(by["local"]["J"]) - 1), 2)
        lines.append([*line, above])
    return [when(rows, "growth"), "", *markdown([*header, "J of degree, % above local's"], lines)]


def against_networkit(rows: list[Row]) -> list[str]:
    """Both entropies against NetworKit, by number of threads."""
    names = ("large-degree", "large-local")
    found = [(name.removeprefix("large-"), cell) for name in names for cell in cells(rows, name)]
    if not found:
        return not_measured("large-degree --only large-local")
    header = ["entropy", "", "CPU s", "s", "NetworKit's CPU s", "its s", "ratio of CPU", "J", "J of NetworKit's"]
    shown: list[Callable[[Row], str]] = [
        *(figure(key) for key in ("CPU s", "s", "NetworKit CPU s", "NetworKit s", "CPU ratio")),
        *(unsure("J"), unsure("J", "NetworKit ")),
    ]
    lines = [[entropy, cell["case"], *(make(cell) for make in shown)] for entropy, cell in found]
    return [when(rows, names[0]), "", *markdown(header, lines)]


def strategy(rows: list[Row]) -> list[str]:
    """A line for each graph: loss and speed-up of every way."""
    found = list(cells(rows, "strategy"))
    if not found:
        return not_measured("strategy")
    ways = [way for way in dict.fromkeys(cell["way"] for cell in found) if way != "all-exact"]
    header = ["graph", "N", *(f"{way}, % above" for way in ways), *(f"{way}, times faster" for way in ways)]
    lines: list[list[str]] = []
    for (case, nodes), group in groupby(found, key=lambda cell: (cell["case"], cell["nodes"])):
        by = {cell["way"]: cell for cell in group}
        exact = by["all-exact"]
        above = [fixed(by[way]["above %"], 3) for way in ways]
        faster = [f"{float(by[way]['speed-up']):.0f}" for way in ways]
        stopped = " (stopped)" if exact["status"].startswith("time limit") else ""
        lines.append([case, nodes, *above, *faster, digits(exact["CPU s"]) + stopped])
    return [when(rows, "strategy"), "", *markdown([*header, "all-exact, CPU s"], lines)]


def choices(rows: list[Row]) -> list[str]:
    """How often a choice is near the best of all, and first, by purpose."""
    found = [cell for cell in cells(rows, "choose") if "cells" in cell]
    if not found:
        return not_measured("choose")
    shown = {
        "near, %": "within 2 % of chance",
        "within 2 % of the least loss, %": "within 2 % of the least loss",
        "first, %": "first",
        "mean behind the best": "mean gap",
        "near by few, %": "within 2 % of chance, few",
        "best single way near, %": "within 2 % of chance, single",
        "best single way first, %": "first, single",
    }
    lines = [[cell["case"], cell["cells"], *(digits(cell[key]) for key in shown.values())] for cell in found]
    return [when(rows, "choose"), "", *markdown(["purpose", "cells", *shown], lines)]


def choice_betas(rows: list[Row]) -> list[str]:
    """Graph-PRI's mean rank on the twelve graphs by β."""
    found = [cell for cell in cells(rows, "choose") if "all" in cell]
    if not found:
        return not_measured("choose")
    kinds = ("all", "weighted", "unweighted")
    lines = [[kind, *(decimals(kind, 1)(cell) for cell in found)] for kind in kinds]
    return markdown(["graphs", *(cell["case"].split(", ")[1].replace(" = ", "=") for cell in found)], lines)


def diffusion_leads(rows: list[Row]) -> list[str]:
    """Today's best for each purpose, and by how many ranks the best of diffusion is before it."""
    found = [cell for cell in cells(rows, "diffusion") if "today" in cell]
    if not found:
        return not_measured("diffusion")

    def lead(cell: Row, group: str, kind: str) -> str:
        return " to ".join(decimals(f"{group}, {kind} {end}", 1)(cell) for end in ("low", "high"))

    header, lines = ["purpose", "today's best", "rank"], list[list[str]]()
    for group in ("weights", "subset"):
        header += [f"best {group} of diffusion", "rank", "lead", "lead, chosen on other graphs"]
    for cell in found:
        line = [cell["case"], cell["today"], decimals("today, rank", 1)(cell)]
        for group in ("weights", "subset"):
            line += [cell[group], decimals(f"{group}, rank", 1)(cell), lead(cell, group, "lead")]
            line.append(lead(cell, group, "unseen"))
        lines.append(line)
    return [when(rows, "diffusion"), "", *markdown(header, lines)]


def diffusion_scales(rows: list[Row]) -> list[str]:
    """Ranks by scale, of the best of all weights on subsets of diffusion."""
    found = [cell for cell in cells(rows, "diffusion") if "spectrum" in cell]
    purposes = [key for key in (found[0] if found else {}) if key not in ("case", "nodes", "edges")]
    lines = [[cell["case"], *(decimals(key, 1)(cell) for key in purposes)] for cell in found]
    return markdown(["subset", *purposes], lines) if found else not_measured("diffusion")


def diffusion_medians(rows: list[Row]) -> list[str]:
    """Medians over all cells of what the claims are about."""
    found = [cell for cell in cells(rows, "diffusion") if cell["case"].startswith("median: ")]
    keys = ("quadratic_error", "eigenvalue_error", "spectral_distance", "divergence", "community_nmi")
    lines = [[cell["case"].removeprefix("median: "), *(decimals(key, 3)(cell) for key in keys)] for cell in found]
    return markdown(["edges, weights", *(key.replace("_", " ") for key in keys)], lines)


def diffusion_optima(rows: list[Row]) -> list[str]:
    """How often the search ends at the best of all subsets of small graphs, and how far above it else."""
    found = [cell for cell in cells(rows, "diffusion") if cell["case"].startswith("all subsets")]
    header, lines = ["scale", "graphs"], list[list[str]]()
    for starts in ("one start", "three starts"):
        header += [f"optimum, {starts}, %", "most above, nats"]
    for cell in found:
        line = [cell["case"].partition("τ=")[2], cell["graphs"]]
        for starts in ("one start", "three starts"):
            line += [figure(f"optimum, {starts}, %")(cell), figure(f"above, {starts}")(cell)]
        lines.append(line)
    return markdown(header, lines)


def diffusion_seconds(rows: list[Row]) -> list[str]:
    """Processor time of weights of diffusion, by scale."""
    found = [cell for cell in cells(rows, "diffusion") if cell["case"].startswith("seconds: ")]
    scales = [key for key in (found[0] if found else {}) if key.startswith("τ=")]
    lines = [
        [cell["case"].removeprefix("seconds: "), cell["nodes"], cell["edges"], *(figure(key)(cell) for key in scales)]
        for cell in found
    ]
    return markdown(["graph", "nodes", "edges", *scales], lines)


def gains(way: str) -> dict[str, Cell]:
    """Columns of a way to search on from the local entropy's solution."""
    return {f"{way}, gain %": decimals(f"{way}, gain %", 3), f"{way}, CPU s": figure(f"{way}, CPU s")}


def goals(rows: list[Row]) -> list[str]:
    """Every goal of the large rows that was judged, with what was measured."""
    found = [row for row in rows if row["row"] in LARGE and row["met"] in ("yes", "no")]
    if not found:
        return ["*(no goal of this page has been judged yet: `make bench BENCH_ARGS=--publish`)*"]
    lines = [[row["row"], row["measure"], row["goal"], digits(row["value"]), row["met"]] for row in found]
    return markdown(["row", "what", "goal", "measured", "met"], lines)


def missed(rows: list[Row]) -> list[str]:
    """The goals that were missed."""
    found = [row for row in rows if row["met"] == "no"]
    if not found:
        return ["No goal that was judged was missed."]
    lines = [[row["row"], row["measure"], row["goal"], digits(row["value"])] for row in found]
    return markdown(["row", "what", "goal", "measured"], lines)


def by_row(rows: list[Row]) -> list[str]:
    """A line for each row of the benchmark: goals met, and the figure that comes nearest to its goal, or misses it."""
    facts = {row["measure"]: row["value"] for row in rows if row["row"] == "environment"}
    said = f"Python {facts['python']}, numpy {facts['numpy']}, numba {facts['numba']}, NetworKit {facts['networkit']}"
    lines: list[list[str]] = []
    for name, group in groupby((row for row in rows if row["row"] != "environment"), key=lambda row: row["row"]):
        of_name = list(group)
        judged = [row for row in of_name if row["met"] in ("yes", "no")]
        if not judged:
            continue
        worst = min(judged, key=_room)
        shown = f"{worst['measure']}: {digits(worst['value'])} ({worst['goal']})"
        met = sum(row["met"] == "yes" for row in judged)
        lines.append([TITLES.get(name, name), f"{met} of {len(judged)}", shown])
    return [f"{said}, {facts['cores']} cores:", "", *markdown(["work", "goals met", "nearest to its goal"], lines)]


def _room(row: Row) -> tuple[bool, float]:
    """How far a figure is inside its goal: missed ones first."""
    mark, limit = row["goal"].split()[:2]
    value, bound = float(row["value"]), float(limit)
    ratio = value / bound if mark == "≥" and bound else bound / value if value > 0 and bound else float("inf")
    return row["met"] == "yes", ratio


HOW = "make bench BENCH_ARGS=--publish"
FILE = "bench.csv"

TABLES: dict[str, tuple[str, str, Table]] = {
    "bench": (HOW, FILE, by_row),
    "growth": (HOW, FILE, growth),
    "networkit": (HOW, FILE, against_networkit),
    "conversions": (
        HOW,
        FILE,
        of_row(
            "conversions",
            {
                "from": "case",
                "edges": size("edges"),
                "s": figure("s"),
                "NetworKit from the same, s": figure("NetworKit s"),
            }
            | {"bytes an edge": bytes_or("bytes an edge")},
        ),
    ),
    "first-calls": (
        HOW,
        FILE,
        of_row(
            "first-calls",
            {"call": "case", "edges": size("edges"), "first ever, s": figure("compiling s")}
            | {"first in a later process, s": figure("compiled before s"), "second, s": figure("second call s")},
        ),
    ),
    "threads": (
        HOW,
        FILE,
        of_row(
            "threads",
            {"search": "case", "edges": size("edges"), "s": figure("s"), "CPU s": figure("CPU s")}
            | {"s / of 1 thread": decimals("s ratio", 2), "CPU s / of 1": decimals("CPU s ratio", 2)},
        ),
    ),
    "end-to-end": (
        HOW,
        FILE,
        of_row(
            "end-to-end",
            {"command": "case", "edges": size("edges"), "s": figure("s"), "CPU s": figure("CPU s")}
            | {"pyarrow's read and write, s": figure("pyarrow s"), "ratio": decimals("ratio", 1)},
        ),
    ),
    "options": (
        HOW,
        FILE,
        of_row(
            "options",
            {"call": "case", "edges": size("edges"), "entropy": "entropy", "s": figure("s"), "CPU s": figure("CPU s")}
            | {"bytes an edge": bytes_or("bytes an edge"), "K": size("K"), "components": size("components")}
            | {"J": decimals("J"), "D": decimals("D")},
        ),
    ),
    **{
        name: (
            HOW,
            FILE,
            of_row(
                name,
                {"edges": size("edges"), "": "case", "J": decimals("J"), "CPU s": figure("CPU s")}
                | {"largest process, MB": figure("MB")},
            ),
        )
        for name in ("partitions", "partitions-kinds", "partitions-growth")
    },
    "partitions-every": (HOW, FILE, of_parts),
    "choose": (HOW, FILE, choices),
    "choose-betas": (HOW, FILE, choice_betas),
    "diffusion": (HOW, FILE, diffusion_leads),
    "diffusion-scales": (HOW, FILE, diffusion_scales),
    "diffusion-medians": (HOW, FILE, diffusion_medians),
    "diffusion-optima": (HOW, FILE, diffusion_optima),
    "diffusion-seconds": (HOW, FILE, diffusion_seconds),
    "strategy": (HOW, FILE, strategy),
    "exact-gradients": (
        HOW,
        FILE,
        of_row(
            "exact-gradients",
            {"graph": "case", "N": "nodes", "J local": decimals("J local")}
            | gains("exact gradient")
            | gains("stochastic gradient")
            | gains("exact prices"),
        ),
    ),
    "stochastic": (
        HOW,
        FILE,
        of_row(
            "stochastic",
            {"graph": "case", "N": "nodes", "M": size("edges"), "S": decimals("S")}
            | {"rms error, %": figure("rms error %"), "largest, %": figure("largest error %")}
            | {"seeds within 2 s.e., %": percent("within 2 bars"), "CPU s": figure("CPU s")}
            | {"primate: rms error, %": figure("primate rms error %"), "CPU s ": figure("primate CPU s")}
            | {"eigvalsh, CPU s": figure("LAPACK CPU s")},
        ),
    ),
    "coverage": (
        HOW,
        FILE,
        of_row(
            "coverage",
            {"graph": "case", "N": "nodes", "subset": "subset", "asked by": "asked", "seeds": "seeds"}
            | {f"{of}: inside, %": percent(f"{of}: within 1.96 errors") for of in ("S kept", "S", "D", "J")}
            | {"D: error": figure("D: error"), "its chance": figure("D: chance measured")}
            | {"its bias, stated": figure("D: bias stated"), "measured": figure("D: bias measured")}
            | {"CPU s": figure("CPU s")},
        ),
    ),
    "stochastic-million": (
        HOW,
        FILE,
        of_row(
            "stochastic-million",
            {"N": size("nodes"), "M": size("edges"), "S": "S", "S kept": "S kept", "D": "D", "J": "J"}
            | {"s": figure("seconds"), "CPU s": figure("CPU s"), "peak, GB": figure("peak GB")},
        ),
    ),
    "gradients": (
        HOW,
        FILE,
        of_row(
            "gradients",
            {"graph": "case", "N": "nodes"}
            | {
                f"{what}, {how}": decimals(f"{how} {what}", 4)
                for what in "SJ"
                for how in ("degree", "local", "stochastic")
            }
            | {"CPU s": figure("CPU s"), "exact, CPU s": figure("exact CPU s")},
        ),
    ),
    "files": (
        HOW,
        FILE,
        of_row(
            "files",
            {"file": "file", "edges": size("edges"), "MB": bytes_or("megabytes"), "work": "work"}
            | {"s": figure("seconds"), "CPU s": figure("cpu_seconds"), "baseline": "baseline"}
            | {
                "its s": figure("baseline_seconds"),
                "ratio": figure("ratio"),
                "bytes an edge": bytes_or("bytes_per_edge"),
            },
        ),
    ),
    "baselines": (
        HOW,
        FILE,
        of_row(
            "baselines",
            {"method, graph": "case", "edges": size("edges"), "sparsify, CPU s": figure("sparsify CPU s")}
            | {"score and selection, CPU s": figure("core CPU s"), "NetworKit's CPU s": figure("NetworKit CPU s")}
            | {"K": size("sparsify K"), "NetworKit's K": size("NetworKit K")},
        ),
    ),
    "resistances": (
        HOW,
        FILE,
        of_row(
            "resistances",
            {"graph": "case", "nodes": size("nodes"), "edges": size("edges"), "s": figure("seconds")}
            | {"bytes an edge": bytes_or("bytes an edge"), "Σ μR off its law by, %": decimals("law error %", 3)},
        ),
    ),
    "generators": (
        HOW,
        FILE,
        of_row(
            "generators",
            {"graph": "case", "edges": size("edges"), "s": figure("seconds")}
            | {"bytes an edge": bytes_or("bytes an edge")},
        ),
    ),
    "real-graphs": (
        HOW,
        FILE,
        of_row(
            "real-graphs",
            {"graph": "case", "nodes": size("nodes"), "edges": size("edges"), "K": size("K"), "entropy": "entropy"}
            | {"s": figure("s"), "MB": bytes_or("MB"), "J": unsure("J"), "S": unsure("S"), "D": unsure("D")}
            | {"components": size("components"), "kept": size("components kept"), "estimate, s": figure("estimate s")},
        ),
    ),
    "goals": (HOW, FILE, goals),
    "missed": (HOW, FILE, missed),
}
