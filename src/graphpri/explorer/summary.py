"""A page about one result: what was asked, what was kept, and all measures beside other methods' at the same size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import nan
from typing import Any

from graphpri import _output, plot
from graphpri._choose import PURPOSES, kept_distances, loss, nine_digits, purpose_ranks
from graphpri._sparsify import Sparsified, sparsify
from graphpri._version import versions
from graphpri.errors import GraphPRIError, MissingExtraError
from graphpri.measures import MEASURES, Report, report
from graphpri.measures.reports import describe

BASELINES = ("random", "local-degree", "local-similarity", "effective-resistance")
"""Methods that the result's own is compared with, where they are others."""

_LIBRARIES = ("numpy", "scipy", "networkx", "networkit", "numba", "matplotlib")


def page(
    result: Sparsified,
    *,
    title: str | None = None,
    command: str = "",
    baselines: Sequence[str] = BASELINES,
) -> str:
    """A self-contained HTML page about a result of :func:`graphpri.sparsify`.

    Parameters
    ----------
    result : Sparsified
    title : str, optional
    command : str, optional
        How to make the result again.
    baselines : sequence of str
        Other methods, which keep as many edges of the same graph with the same seed; one that can't says why.

    Returns
    -------
    str
        HTML that needs no other file and no network.

    Raises
    ------
    MissingExtraError
        Where matplotlib is not installed.

    Examples
    --------
    >>> import networkx as nx, graphpri
    >>> from graphpri.explorer.summary import page
    >>> html = page(graphpri.sparsify(nx.karate_club_graph(), keep=0.3), title="Karate", baselines=["random"])
    >>> "<h1>Karate</h1>" in html, "local-degree" in html
    (True, False)
    """
    facts, name = result.report(), str(result.settings["method"])
    others, failed = _baselines(result, [method for method in baselines if method != name])
    reports = {method: report(result.original, other) for method, other in {name: result, **others}.items()}
    parts = [
        f"<p>{_sentence(facts)}</p>",
        "<h2>What was kept</h2>",
        _picture(result, {name: result}),
        f"<p>{escape(str(facts['status']))}</p>",
        "<h2>What it is good for, beside other methods that keep as many edges</h2>" if others else "",
        _purposes(reports) if others else "",
        _picture(result, others) if others else "",
        "<h2>Measures, by purpose</h2>",
        _measures(reports),
        _output.items([*failed, *_notes(reports)]),
        "<h2>What was asked</h2>",
        _output.table(["setting", "value"], [[str(key), _setting(value)] for key, value in _settings(facts).items()]),
        "<h2>How to make it again</h2>",
        f"<p><code>{escape(command)}</code></p>" if command else "",
        _output.table(["library", "version"], [[library, found] for library, found in versions(*_LIBRARIES).items()]),
    ]
    return _output.document(title or f"Sparsified graph: {facts['edges_kept']} of {facts['edges']} edges", *parts)


def _baselines(result: Sparsified, names: Sequence[str]) -> tuple[dict[str, Sparsified], list[str]]:
    """What other methods keep at the same size; why some can't."""
    found: dict[str, Sparsified] = {}
    failed: list[str] = []
    size, facts = int(result.mask.sum()), result.report()
    for name in names if size else ():
        try:
            found[name] = sparsify(
                result.original, keep=size, method=name, connected=bool(facts["connected"]), seed=int(facts["seed"])
            )
        except GraphPRIError as error:
            failed.append(f"{name}: {error}")
    return found, failed


def _sentence(facts: Mapping[str, Any]) -> str:
    cut = facts["nodes_cut_off"]
    return (
        f"{facts['edges_kept']} of {facts['edges']} edges kept ({facts['share_kept']:.1%}) of {facts['nodes']} nodes, "
        f"in {facts['components_kept']} component{'s' * (facts['components_kept'] != 1)} "
        f"(original: {facts['components']})"
        + (f"; {cut} of the nodes lost all their edges." if cut else "; no node lost all its edges.")
    )


def _settings(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that the result was made with."""
    keys = (
        "method",
        "keep",
        "weights",
        "beta",
        "alpha",
        "connected",
        "reweight",
        "solver",
        "effort",
        "entropy_by",
        "mixture",
        "seed",
    )
    settings = {key: facts[key] for key in keys if facts.get(key) not in (None, "")}
    return settings | {"weights": str(facts["weights"]).removeprefix("weights: ")}


def _setting(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _ranks(rows: list[dict[str, Any]]) -> dict[str, list[float]]:
    """By purpose, the rank of each method: the mean share of the others that do better, in percent."""
    original = {name: rows[0].get(f"{name}_original", nan) for name in MEASURES}
    return {
        purpose: purpose_ranks(purpose, rows, original).tolist()
        for purpose, kinds in PURPOSES.items()
        if any(name in rows[0] for name in kinds)
    }


def _with_distances(reports: Mapping[str, Report]) -> list[dict[str, Any]]:
    """The measures of each method, and how well distances are kept where pairs were looked at."""
    rows: list[dict[str, Any]] = [dict(report) for report in reports.values()]
    for row in rows:
        if "connected_pairs" in row and "stretch" in row:
            row["kept_distances"] = float(kept_distances(row["connected_pairs"], row["stretch"]))
    return rows


def _purposes(reports: Mapping[str, Report]) -> str:
    """A row a purpose: how the methods rank, the best marked."""
    rows: list[list[str | float | None]] = []
    best: dict[int, list[int]] = {}
    for purpose, ranks in _ranks(_with_distances(reports)).items():
        best[len(rows)] = [i + 1 for i in _least(ranks)]
        link = _output.Markup(f'<a href="#{_anchor(purpose)}">{purpose}</a>')
        rows.append([link, *map(round, ranks), ", ".join(PURPOSES[purpose])])
    text = (
        "How many of the other methods do better, in percent, in the mean over the measures of a purpose; "
        "✓ marks the best. The purposes are those of graphpri.choose, which tries more methods and settings."
    )
    return f"<p>{text}</p>" + _output.table(["for", *reports, "measured by"], rows, best=best)


def _anchor(purpose: str) -> str:
    return f"for-{purpose}"


_KEPT_DISTANCES = "share of the original's connected pairs still connected, over their mean stretch"
_BETTER = {"low": "less", "high": "more", "one": "near 1", "same": "as the original", None: None}


def _measures(reports: Mapping[str, Report]) -> str:
    """A row a measure, by purpose: the original's value, each method's, the best marked, and which end is better."""
    columns = _with_distances(reports)
    first, ranks = columns[0], _ranks(columns)
    kinds = {name: (purpose, kind) for purpose, of in PURPOSES.items() for name, kind in of.items()}
    groups: dict[str, list[str]] = {purpose: [] for purpose in PURPOSES}
    for name in (name for name in first if name in MEASURES or name in kinds):
        groups.setdefault(kinds[name][0] if name in kinds else f"others: {MEASURES[name].group}", []).append(name)
    rows: list[list[str | float | None] | _output.RowTitle] = []
    best: dict[int, list[int]] = {}
    ids: list[str] = []
    for group, names in groups.items():
        if not names:
            continue
        winners = [list(reports)[i] for i in _least(ranks.get(group, []))]
        rows.append(_output.RowTitle(f"{group}: best {', '.join(winners)}" if winners else group))
        ids.append(_anchor(group) if group in ranks else "")
        for name in names:
            kind = kinds[name][1] if name in kinds else MEASURES[name].better
            summary = MEASURES[name].summary if name in MEASURES else _KEPT_DISTANCES
            original, values = first.get(f"{name}_original"), [column.get(name) for column in columns]
            losses = [nan if v is None or kind is None else float(loss(kind, v, original)) for v in values]
            best[len(rows)] = [i + 2 for i in _least(losses)]
            rows.append([f"{name}: {summary}", _value(original), *map(_value, values), _BETTER[kind]])
            ids.append("")
    asked = describe(next(iter(reports.values())).settings)
    settings = f'<p class="small">{escape(asked)}; ✓ marks the best of a row.</p>'
    return settings + _output.table(["measure", "original", *reports, "better"], rows, best=best, ids=ids)


def _least(values: Sequence[float]) -> list[int]:
    """Places of the least values, to nine digits; none where all are alike."""
    there = [nine_digits(value) for value in values]
    known = {value for value in there if value == value}
    return [i for i, value in enumerate(there) if value == min(known)] if len(known) > 1 else []


def _value(value: Any) -> str | float | None:
    """A value as a cell: None where the measure has none, and n/a, as notes call it, where it is not defined."""
    return "n/a" if isinstance(value, float) and value != value else value


def _notes(reports: Mapping[str, Report]) -> list[str]:
    """What was left out, and what to know about values, each once."""
    first = next(iter(reports.values()))
    left = [f"left out: {name} ({why})" for name, why in first.left_out.items()]
    return list(dict.fromkeys([*left, *(note for found in reports.values() for note in found.notes)]))


def _picture(result: Sparsified, drawn: Mapping[str, Sparsified]) -> str:
    """The kept edges of each method over the dropped ones, as a PNG within the page, with the same bytes each time."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plot", "drawing a report's pictures") from error
    columns = min(len(drawn), 2)
    rows = -(-len(drawn) // columns)
    side = 6.5 if columns == 1 else 4.5
    figure = Figure(figsize=(side * columns, side * rows), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax, (method, kept) in zip(panels, drawn.items(), strict=False):
        plot.graph(result.original, kept, ax)
        ax.set_title(f"{method}: {ax.get_title()}")
    for ax in panels[len(drawn) :]:
        ax.set_axis_off()
    names = ", ".join(drawn)
    content = plot.as_bytes(figure, "png", dpi=110, bbox_inches="tight", pad_inches=0.05)
    return _output.picture(content, f"Edges kept by {names}, over the dropped ones", kind="png")
