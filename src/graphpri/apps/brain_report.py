"""A report on the classification of connectomes: tables, figures, JSON, and one page that says what they mean."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from graphpri import _output
from graphpri._version import versions
from graphpri.apps import ProgressCallback, Rows, brain_figures, brain_methods, brain_protocol
from graphpri.apps.brain_data import Connectomes, name_some
from graphpri.apps.brain_edges import edge_table, how_tested, ranked, system_table
from graphpri.apps.brain_methods import Settings
from graphpri.apps.brain_protocol import Evaluation, Stability, Validation, chance, comparison_table
from graphpri.errors import OptionError, argument
from graphpri.graph import FloatArray, IntArray
from graphpri.io import tables

INTERACTIVE = "connectome.html"
"""Name of the page with a brain to turn."""

REFERENCES = ("t-test-svm", "t-test-svm-rbf", "lasso-svm", "lasso-svm-rbf", "tangent-svm", "gcn", "gat")
"""Methods that others are measured against."""

TOP = 100
"""Edges in the table and the pictures."""

_LISTED = 30
_SIGNS = {
    "abs": "by |r|",
    "positive": "the largest positive",
    "two": "by |r|, positive and negative ones in channels of their own, of which pyg-gcn and gat see the sum",
}
_MEASURES = ("balanced_accuracy", "auc", "sensitivity", "specificity", "paired_accuracy")
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch", "torch-geometric", "nilearn")


@dataclass(frozen=True)
class Request:
    """What to run.

    Parameters
    ----------
    methods : tuple of str
        Names of :func:`graphpri.apps.brain_methods.names`.
    protocol : Validation
    explained : str
        The method whose edges the tables and figures have; one that has importances.
    top : int, optional
        Edges in tables and figures; 100 where absent, or a tenth of all where that is fewer.
    permuted : tuple of str
        Methods to permute labels for, as often as the protocol says.

    Examples
    --------
    >>> request = Request(("linear-svm", "paper"), Validation(folds=3), explained="linear-svm")
    >>> request.explained, request.permuted
    ('linear-svm', ())
    """

    methods: tuple[str, ...]
    protocol: Validation
    explained: str = "edge-readout"
    top: int | None = None
    permuted: tuple[str, ...] = ()


@dataclass(frozen=True)
class BrainFindings:
    """What was found.

    Parameters
    ----------
    scans : Connectomes
    request : Request
    evaluation : Evaluation
    stability : Stability
        Of the explained method.
    comparison : list of dict
        The evaluation's summary, and each method against the best one.
    edges, systems : list of dict
        As :func:`graphpri.apps.brain_edges.edge_table` and ``system_table`` have them.
    chance : tuple of float
        As :func:`graphpri.apps.brain_protocol.chance` has it.
    permutation_p : dict of str to float
        By method; empty where none was asked for.

    Examples
    --------
    >>> from graphpri.apps.brain_methods import Settings
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(0.6, n_rois=12, n_modules=2, n_planted=3, n_train=24, n_test=4)
    >>> quick = Validation(folds=2, half_samples=2, settings=Settings(nested=False))
    >>> outcome = study(drawn.train, Request(("linear-svm",), quick, explained="linear-svm", top=3))
    >>> sorted(outcome.positions.tolist()) == np.flatnonzero(drawn.planted).tolist()
    True
    """

    scans: Connectomes
    request: Request
    evaluation: Evaluation
    stability: Stability
    comparison: Rows
    edges: Rows
    systems: Rows
    chance: tuple[float, float, float]
    permutation_p: dict[str, float]

    @property
    def top(self) -> int:
        """How many edges to show."""
        return _top(self.request.top, self.scans)

    @property
    def positions(self) -> IntArray:
        """Positions of the edges of the table."""
        return ranked(self.stability.importance, self.top)

    @cached_property
    def picture(self) -> bytes | None:
        """The edges of the table in the brain, as PNG."""
        return brain_figures.connectome(self.scans, self.positions, self.signs)

    @property
    def signs(self) -> FloatArray:
        """1 or -1 for each edge of the table, by its sign in the table."""
        return np.array([1.0 if row["sign"] == "+" else -1.0 for row in self.edges])

    @property
    def weights(self) -> FloatArray:
        """Signed importance of each edge of the table."""
        return self.signs * self.stability.importance[self.positions]


def study(
    scans: Connectomes, request: Request, step: ProgressCallback = lambda text, share: None, store: Path | None = None
) -> BrainFindings:
    """Evaluate the methods, and look for stable edges of the explained one.

    Parameters
    ----------
    scans : Connectomes
    request : Request
    step : callable
        Called with a text and the share of the work that is done; may raise to stop.
    store : Path, optional
        Folder that keeps pieces that are done; a run with the same request goes on from them.

    Raises
    ------
    OptionError
        As :func:`graphpri.apps.brain_protocol.evaluate` has it.
    MissingExtraError
        Where a library that a method needs is not installed.

    Examples
    --------
    >>> from graphpri.apps.brain_methods import Settings
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(0.6, n_rois=12, n_modules=2, n_planted=3, n_train=24, n_test=4)
    >>> quick = Validation(folds=2, half_samples=2, settings=Settings(nested=False))
    >>> outcome = study(drawn.train, Request(("linear-svm", "t-test-svm"), quick, explained="linear-svm", top=3))
    >>> [row["method"] for row in outcome.comparison], len(outcome.edges), outcome.chance[0]
    (['t-test-svm', 'linear-svm'], 3, 0.5)
    """
    protocol = request.protocol
    _check(scans, request)
    top = _top(request.top, scans)
    stable = brain_protocol.stability(scans, request.explained, protocol, top=top, on_progress=step, store=store)
    found = brain_protocol.evaluate(scans, request.methods, protocol, step, store)
    permuted = request.permuted if protocol.permutations else ()
    return BrainFindings(
        scans=scans,
        request=replace(request, top=top),
        evaluation=found,
        stability=stable,
        comparison=comparison_table(found, protocol.seed),
        edges=edge_table(scans, stable.importance, stable.frequency, top),
        systems=system_table(scans, ranked(stable.importance, top), seed=protocol.seed),
        chance=chance(scans),
        permutation_p={name: brain_protocol.permutation_p(scans, name, protocol, step, store)[0] for name in permuted},
    )


def _check(scans: Connectomes, request: Request) -> None:
    """Refuse what would fail after much work.

    Raises
    ------
    OptionError
        For no method, unknown ones, repeats or permutations out of range, no edges to show, and folds that the
        subjects don't fill.
    MissingExtraError
        Where a library that pictures need is not installed.
    """
    if not request.methods:
        raise OptionError("no method: name one, or leave the list out for all")
    if twice := [name for name in request.methods if request.methods.count(name) > 1]:
        raise OptionError(f"method {twice[0]!r} is named {request.methods.count(twice[0])} times: once is enough")
    if request.protocol.repeats < 1 or request.protocol.permutations < 0:
        raise OptionError("give 1 repeat or more, and 0 permutations or more")
    _top(request.top, scans)
    protocol = request.protocol
    every = (*request.methods, request.explained, *request.permuted)
    brain_methods.check(every, scans, protocol.settings, protocol.folds, protocol.seed)
    brain_figures.check_drawable(scans)


def _top(top: int | None, scans: Connectomes) -> int:
    """How many edges to show."""
    n_edges = scans.n_rois * (scans.n_rois - 1) // 2
    usual = max(1, min(TOP, n_edges // 10))
    if top is None:
        return usual
    if not 1 <= top < n_edges:
        raise OptionError(
            f"{argument('top', top)}: there are {n_edges} edges, of which some are shown: give 1 or more, fewer than "
            "all, or leave "
            f"it out for {usual}"
        )
    return top


NOT_CONCLUDED = (
    "Causes, mechanisms or a diagnosis of single persons: the edges tell these two groups apart in these scans.",
    "That it holds elsewhere: scanner, site, head motion, age and sex are not modelled, and a difference in one of "
    "them between the classes is learned like any other.",
    "That an edge that is not listed does not differ: of edges that carry the same signal, a model needs one.",
    "Probabilities of edges: the Graph-PRI term doesn't change when the mask is multiplied by a constant, so that a "
    "mask value of .5 has no meaning. Edges are ranked, and judged by how often they are found again.",
)
"""What can't be concluded from any such analysis."""


def conclusions(
    scans: Connectomes,
    comparison: Rows,
    chance: tuple[float, float, float],
    permutation_p: Mapping[str, float],
    permutations: int = 0,
) -> list[str]:
    """What the accuracies say.

    Parameters
    ----------
    scans : Connectomes
    comparison : sequence of mapping
        Rows with method, accuracy, lower and upper end of its interval, and verdict, the best first.
    chance : tuple of float
        Chance level, and both ends of the interval that holds 95 % of guesses.
    permutation_p : mapping of str to float
        By method.
    permutations : int
        How many there were.

    Examples
    --------
    >>> import numpy as np
    >>> from graphpri.apps.brain_data import from_matrices
    >>> scans = from_matrices([np.eye(3)] * 4, [0, 0, 1, 1], groups=["a", "b", "c", "d"])
    >>> row = {"method": "paper", "accuracy": 0.55, "lower": 0.4, "upper": 0.7, "verdict": "best"}
    >>> conclusions(scans, [row], (0.5, 0.25, 0.75), {"paper": 0.2}, 200)[1:3]  # doctest: +NORMALIZE_WHITESPACE
    ["No method's interval lies above what luck explains: don't interpret edges or systems.",
     'paper does no better than permuted labels (p = 0.2, 200 permutations).']
    """
    level, _, upper = chance
    best, several = comparison[0], len(comparison) > 1
    interval = f"95 % interval {best['lower']:.3f} to {best['upper']:.3f}"
    if several:
        found = [
            f"{best['method']} is most accurate: {best['accuracy']:.3f}, {interval}. Guessing has {level:.3f}, and up "
            f"to {upper:.3f} by luck. It is the best of {len(comparison)}, chosen after the fact, which flatters it."
        ]
    else:
        found = [
            f"{best['method']} has an accuracy of {best['accuracy']:.3f}, {interval}; guessing has {level:.3f}, and up "
            f"to {upper:.3f} by luck."
        ]
    if above := [row["method"] for row in comparison if row["lower"] > upper]:
        found.append(f"The interval lies above all that luck explains for {name_some(above, 12)}.")
    else:
        found.append("No method's interval lies above what luck explains: don't interpret edges or systems.")
    for name, p in permutation_p.items():
        does = "beats" if p < 0.05 else "does no better than"
        found.append(f"{name} {does} permuted labels (p = {p:.3g}, {permutations} permutations).")
    if worse := [row["method"] for row in comparison if several and row["verdict"] == "worse"]:
        found.append(f"Clearly less accurate than {best['method']}: {name_some(worse, 12)}.")
    if alike := [row["method"] for row in comparison if several and row["verdict"] == "no clear difference"]:
        found.append(f"Not told apart from {best['method']} by these subjects: {name_some(alike, 12)}.")
    if scans.grouped:
        subjects = len(set(scans.groups))
        return [*found, f"All scans of a subject were in the same fold; intervals are over {subjects} subjects."]
    return [
        *found,
        "No subjects were given, and each scan counted as one. If a person has several scans here, test data "
        "leaked into training data, and nothing above holds.",
    ]


def about_edges(explained: str, edges: Rows, stable: Stability, top: int, n_edges: int) -> list[str]:
    """What the table of edges says.

    Parameters
    ----------
    explained : str
        The method.
    edges : sequence of mapping
        Rows of :func:`graphpri.apps.brain_edges.edge_table`.
    stable : Stability
        Of the method's `top` edges.
    top, n_edges : int

    Examples
    --------
    >>> import numpy as np
    >>> stable = Stability(np.zeros(66), np.zeros(66), jaccard=0.1, shared_by_luck=0.1)
    >>> about_edges("edge-readout", [{"selection_frequency": 0.3, "q": 0.2}], stable, top=1, n_edges=66)[-1]
    "No more edges come back than with labels that say nothing: don't report single edges."
    """
    often = sum(row["selection_frequency"] > 0.5 for row in edges)
    luck = stable.often_by_luck
    found = [
        f"Of the {len(edges)} edges shown, {often} are among the top {top} of {explained} in more than half of the "
        f"half-samples of subjects; with labels that say nothing {luck} {'edge is' if luck == 1 else 'edges are'}. Two "
        f"half-samples share {stable.jaccard:.2f} of their edges (intersection over union), and "
        f"{stable.shared_by_luck:.2f} with such labels: half of the subjects of two half-samples are the same.",
        f"{sum(row['q'] < 0.05 for row in edges)} of them differ between the classes at q < .05, corrected for all "
        f"{n_edges} edges. The tests use all scans, as the ranks do: they describe the edges, and don't confirm them.",
    ]
    if often > luck and stable.jaccard > stable.shared_by_luck:
        return found
    return [*found, "No more edges come back than with labels that say nothing: don't report single edges."]


def about_systems(systems: Rows, note: str) -> list[str]:
    """What the table of systems says; `note` is the caveat of the atlas.

    Examples
    --------
    >>> about_systems([{"system": "motor", "other_system": "visual", "q": 0.01}], "")
    ["More of the shown edges than the systems' sizes explain (q < .05) join motor–visual."]
    """
    if not systems:
        return ["The regions have no systems: an atlas with a column system adds a table of them."]
    more = [f"{row['system']}–{row['other_system']}" for row in systems if row["q"] < 0.05]
    found = (
        f"More of the shown edges than the systems' sizes explain (q < .05) join {name_some(more)}."
        if more
        else "No two systems are joined by more of the shown edges than their sizes explain (q < .05)."
    )
    return [found, *([f"Of the atlas: {note}."] if note else [])]


def _page(outcome: BrainFindings, source: str, command: str) -> str:
    """The outcome as one self-contained HTML page."""
    scans = outcome.scans
    return _output.document(
        f"Brain networks: {source}",
        *_question(outcome),
        "<h2>How well the classes are told apart</h2>",
        *_results(outcome),
        "<h2>Edges</h2>",
        *_edges(outcome),
        "<h2>Systems</h2>",
        *_systems(outcome),
        "<h2>What can't be concluded</h2>",
        _output.items(NOT_CONCLUDED),
        *(["<h2>Notes on the data</h2>", _output.items(scans.notes)] if scans.notes else []),
        "<h2>Again</h2>",
        f"<p><code>{escape(command)}</code></p>",
        f"<p class='small'>{escape(', '.join(f'{name} {v}' for name, v in versions(*_LIBRARIES).items()))}</p>",
    )


def _question(outcome: BrainFindings) -> list[str]:
    scans, protocol = outcome.scans, outcome.request.protocol
    signs = protocol.settings.signs
    counts = [int((scans.labels == k).sum()) for k in (0, 1)]
    subjects, repeats = len(set(scans.groups)), protocol.repeats
    times = "once" if repeats == 1 else f"{repeats} times"
    absent = [name for name in REFERENCES if name not in outcome.request.methods]
    named = " and ".join(f"{n} {name}" for n, name in zip(counts, scans.classes, strict=True))
    return [
        f"<p>Can {escape(scans.classes[1])} be told from {escape(scans.classes[0])} by functional connectivity, and by "
        "which edges?</p>",
        f"<p>{scans.n_scans} scans ({escape(named)}) of {subjects} subjects, {scans.n_rois} regions. "
        f"{protocol.folds}-fold cross-validation by subject, {times}, seed {protocol.seed}; "
        f"everything is fitted on the training scans, {_hyper_parameters(protocol.settings)}.</p>",
        f"<p>Graphs have the strongest {protocol.settings.density:.0%} of all pairs as edges ({_SIGNS[signs]}); models "
        f"of edges read all pairs. {protocol.half_samples} half-samples, {protocol.permutations or 'no'} permutations."
        "</p>",
        *(
            [f"<p>Of the references {name_some(absent, len(absent))} did not run: leave out --methods for all.</p>"]
            if absent
            else []
        ),
    ]


def _hyper_parameters(settings: Settings) -> str:
    """How hyper-parameters came about."""
    if not settings.nested:
        return "with default hyper-parameters"
    folds = f"on {settings.inner} folds within them"
    if not settings.tune:
        return f"and hyper-parameters are chosen {folds}"
    budget = "" if settings.time_budget is None else f", {settings.time_budget:g} s for each"
    return f"and hyper-parameters are tuned {folds}{budget}"


def _results(outcome: BrainFindings) -> list[str]:
    rows, permutations = outcome.comparison, outcome.request.protocol.permutations
    names = [row["method"] for row in rows]
    chart = brain_figures.accuracies(
        names, [row["accuracy"] for row in rows], [(row["lower"], row["upper"]) for row in rows], outcome.chance
    )
    return [
        _output.items(conclusions(outcome.scans, rows, outcome.chance, outcome.permutation_p, permutations)),
        _output.picture(chart, "Accuracy of each method with its interval, beside chance"),
        _output.table(
            ["method", "accuracy", "standard error", "95 % interval", "from the best", "95 % interval", ""],
            [_result(row) for row in rows],
        ),
        "<p>Other measures:</p>",
        _table(rows, ("method", *_MEASURES)),
        f"<p class='small'>Positive is {escape(outcome.scans.classes[1])}. Standard errors and 95 % intervals by "
        "drawing subjects again (of a method that is always right or always wrong, the exact interval); the difference "
        "is from the best method over the same draws, and its interval is not corrected for the number of methods.</p>",
    ]


def _edges(outcome: BrainFindings) -> list[str]:
    scans, request = outcome.scans, outcome.request
    image = outcome.picture
    n_edges = scans.n_rois * (scans.n_rois - 1) // 2
    sentences = about_edges(request.explained, outcome.edges, outcome.stability, outcome.top, n_edges)
    first = outcome.edges[:_LISTED]
    caption = (
        "Each half of an edge has the colour of the system that it ends in; grey regions have none of these edges."
    )
    return [
        _output.items(sentences),
        _output.picture(image, "The edges in the brain", caption if scans.rois.systems else "", "png")
        if image
        else "<p>There is no picture of them, as the regions have no coordinates: an atlas with columns x, y and z "
        "adds it.</p>",
        *([f'<p>The same to turn: <a href="{INTERACTIVE}">{INTERACTIVE}</a></p>'] if image else []),
        _table([{key: value for key, value in row.items() if key != "p"} for row in first]),
        f"<p class='small'>The first {len(first)} of {len(outcome.edges)}; edges.csv has all. Sign: + where a larger "
        f"correlation is seen in {escape(scans.classes[1])}. t: {how_tested(scans)}, of Fisher's z; q: its p, "
        f"corrected for {n_edges} edges.</p>",
    ]


def _systems(outcome: BrainFindings) -> list[str]:
    image = brain_figures.system_matrix(outcome.systems)
    sentences = _output.items(about_systems(outcome.systems, outcome.scans.rois.note))
    if image is None:
        return [sentences]
    rows = [row for row in outcome.systems if row["selected"]]
    return [
        sentences,
        _output.picture(image, "Edges between systems", "Number of shown edges; stars: p < .05 of permuted systems."),
        _table(rows),
    ]


def _result(row: Mapping[str, Any]) -> list[str | float]:
    ends = [f"{row[a]:.3f} to {row[b]:.3f}" for a, b in (("lower", "upper"), ("difference_lower", "difference_upper"))]
    best = row["verdict"] == "best"
    difference: list[str | float] = ["", ""] if best else [row["difference"], ends[1]]
    return [row["method"], row["accuracy"], row["standard_error"], ends[0], *difference, row["verdict"]]


def _table(rows: Rows, columns: Iterable[str] | None = None) -> str:
    """Rows under the names of their columns; columns without values are left out."""
    keys = list(rows[0] if rows else ()) if columns is None else columns
    there = [key for key in keys if any(row.get(key) is not None for row in rows)]
    return _output.table([_head(key) for key in there], [[row.get(key) for key in there] for row in rows])


def _head(key: str) -> str:
    """A column's name in words; names of classes stay as they are."""
    return f"mean r, {key.removeprefix('mean_r_')}" if key.startswith("mean_r_") else key.replace("_", " ")


def _facts(outcome: BrainFindings, source: str, command: str) -> dict[str, Any]:
    """The outcome in types that JSON has: settings, data, folds, results, versions."""
    scans = outcome.scans
    return {
        "source": source,
        "command": command,
        "versions": versions(*_LIBRARIES),
        "settings": asdict(outcome.request),
        "data": {
            "scans": scans.n_scans,
            "subjects": len(set(scans.groups)),
            "subjects_given": scans.grouped,
            "regions": scans.n_rois,
            "classes": list(scans.classes),
            "notes": list(scans.notes),
            "atlas_note": scans.rois.note,
        },
        "folds": _fold_rows(outcome.evaluation.scores),
        "chance": dict(zip(("level", "lower", "upper"), outcome.chance, strict=True)),
        "results": outcome.comparison,
        "permutation_p": outcome.permutation_p,
        "stability": {
            "method": outcome.request.explained,
            "half_samples": outcome.request.protocol.half_samples,
            "jaccard": outcome.stability.jaccard,
            "jaccard_by_luck": outcome.stability.shared_by_luck,
            "often_by_luck": outcome.stability.often_by_luck,
        },
        "edges": outcome.edges,
        "systems": outcome.systems,
    }


def _fold_rows(scores: Iterable[Mapping[str, Any]]) -> Rows:
    """Test scans of each fold of each repeat."""
    held: dict[tuple[int, int], dict[str, None]] = {}
    for row in scores:
        held.setdefault((int(row["repeat"]), int(row["fold"])), {})[str(row["scan"])] = None
    return [{"repeat": r, "fold": f, "test": list(names)} for (r, f), names in sorted(held.items())]


def _plain(value: Any) -> Any:
    """In types of JSON; a number that is not finite becomes null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def write(outcome: BrainFindings, out: Path, source: str, command: str) -> list[str]:
    """Write all tables, pictures and the report into a folder; returns their names.

    Examples
    --------
    >>> import tempfile
    >>> from graphpri.apps.brain_methods import Settings
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(0.6, n_rois=12, n_modules=2, n_planted=3, n_train=24, n_test=4)
    >>> quick = Validation(folds=2, half_samples=2, settings=Settings(nested=False))
    >>> outcome = study(drawn.train, Request(("linear-svm",), quick, explained="linear-svm", top=3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(outcome, Path(folder), "scans", "graphpri brain scans -o report")
    ['scores.csv', 'comparison.csv', 'edges.csv', 'report.json', 'report.html']
    """
    scans = outcome.scans
    texts = {
        "scores.csv": tables.as_csv(outcome.evaluation.scores),
        "comparison.csv": tables.as_csv(outcome.comparison),
        "edges.csv": tables.as_csv(outcome.edges),
        "systems.csv": tables.as_csv(outcome.systems) if outcome.systems else None,
        "report.json": json.dumps(_plain(_facts(outcome, source, command)), indent=2, allow_nan=False) + "\n",
        "report.html": _page(outcome, source, command),
        INTERACTIVE: brain_figures.interactive(scans, outcome.positions, outcome.weights),
    }
    contents: dict[str, str | bytes | None] = {**texts, "connectome.png": outcome.picture}
    return tables.write_folder(out, {name: content for name, content in contents.items() if content is not None})
