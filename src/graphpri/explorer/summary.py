"""A page about one result: what was asked, what was kept, and all measures beside other methods' at the same size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from graphpri import _output, plot
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
        "<h2>Measures, beside other methods that keep as many edges</h2>",
        _measures(reports),
        _picture(result, others) if others else "",
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


def _measures(reports: Mapping[str, Report]) -> str:
    """A row a measure, by group: the original's value, each method's, the best marked, and which end is better."""
    first = next(iter(reports.values()))
    rows: list[list[str | float | None] | _output.Rows] = []
    best: dict[int, list[int]] = {}
    group = None
    for m in (MEASURES[name] for name in first if name in MEASURES):
        if m.group != group:
            rows.append(_output.Rows(group := m.group))
        values = [found.get(m.name) for found in reports.values()]
        best[len(rows)] = _best(values, m.better)
        cells = [_value(first.get(f"{m.name}_original")), *map(_value, values)]
        better = {"low": "less", "high": "more", None: None}[m.better]
        rows.append([f"{m.name}: {m.summary}", *cells, better])
    settings = f'<p class="small">{escape(describe(first.settings))}; ✓ marks the best of a row.</p>'
    return settings + _output.table(["measure", "original", *reports, "better"], rows, best=best)


def _best(values: Sequence[float | None], better: str | None) -> list[int]:
    """Columns of the best values; none where no end is better, and where all are alike."""
    there = [value for value in values if value is not None and value == value]
    if better is None or len(set(there)) < 2:
        return []
    least = min(there) if better == "low" else max(there)
    return [i + 2 for i, value in enumerate(values) if value == least]


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
