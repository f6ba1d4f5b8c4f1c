"""A report on the classification of connectomes: tables, figures, JSON, and one page that says what they mean."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import numpy as np
from numpy.typing import ArrayLike

from graphpri import _output
from graphpri._version import versions
from graphpri.apps import Records, brain_figures, brain_methods, brain_protocol
from graphpri.apps.brain_data import Connectomes, Rois, name_some
from graphpri.apps.brain_edges import all_edges, edge_table, ranked, system_table
from graphpri.apps.brain_graph import pairs, square
from graphpri.apps.brain_methods import CONFOUNDS, MethodSettings
from graphpri.apps.brain_protocol import Evaluation, Stability, Validation
from graphpri.apps.brain_scores import chance, differences, luck, main_measure
from graphpri.apps.brain_tests import PERMUTATIONS, EdgeTests, edge_tests
from graphpri.errors import OptionError, argument
from graphpri.graph import FloatArray, IntArray
from graphpri.io import ProgressCallback, tables

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
_LEVEL = 0.05
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch", "torch-geometric", "nilearn")


@dataclass(frozen=True)
class BrainRequest:
    """What to run.

    Parameters
    ----------
    methods : tuple of str
        Names of :func:`graphpri.apps.brain_methods.names`.
    protocol : Validation
    explained : str, optional
        The method whose edges the tables and figures have, one of `methods`; where absent edge-readout, or else the
        first of them that says how much edges count.
    top : int, optional
        Edges in tables and figures; 100 where absent, or a tenth of all where that is fewer.
    permuted : tuple of str, optional
        Methods to fit to permuted labels, as often as the protocol says; where absent all of `methods` that make no
        graphs, or all.
    edge_permutations : int
        Of labels, for the tests of edges.
    threshold : float, optional
        Of t or F, for the edges of components of the network-based statistic.

    Examples
    --------
    >>> request = BrainRequest(("linear-svm", "paper"), Validation(folds=3))
    >>> request.shown, request.shuffled
    ('linear-svm', ('linear-svm',))
    """

    methods: tuple[str, ...]
    protocol: Validation
    explained: str | None = None
    top: int | None = None
    permuted: tuple[str, ...] | None = None
    edge_permutations: int = PERMUTATIONS
    threshold: float | None = None

    @property
    def shown(self) -> str:
        """The method whose edges are shown.

        Raises
        ------
        OptionError
            Where it is not among the methods, as edges are shown only of what was scored, or none says which edges
            count.
        """
        able = [name for name in self.methods if brain_methods.find(name).explains]
        if self.explained is None:
            if able:
                return "edge-readout" if "edge-readout" in able else able[0]
            raise OptionError("no method says which edges count: add one that does, such as 'linear-svm'")
        if not brain_methods.find(self.explained).explains:
            raise OptionError(f"method {self.explained!r} says nothing of single edges: choose edge-readout, or an SVM")
        if self.explained not in self.methods:
            raise OptionError(
                f"{argument('explain', self.explained)}: edges are shown only of a method that is scored, one of "
                f"{', '.join(able) or 'those that say which edges count'}: add it to the methods"
            )
        return self.explained

    @property
    def shuffled(self) -> tuple[str, ...]:
        """Methods to fit to permuted labels."""
        if self.permuted is not None:
            return self.permuted
        return tuple(name for name in self.methods if not brain_methods.find(name).graphs) or self.methods


@dataclass(frozen=True)
class BrainFindings:
    """What was found.

    Parameters
    ----------
    scans : Connectomes
    request : BrainRequest
    evaluation : Evaluation
    stability : Stability
        Of the explained method.
    comparison : list of dict
        The evaluation's summary with each method's p, and each method against the best one: :func:`compared`.
    edges, systems : list of dict
        As :func:`graphpri.apps.brain_edges.edge_table` and ``system_table`` have them.
    chance : tuple of float
        As :func:`graphpri.apps.brain_scores.chance` has it.
    tests : EdgeTests
    confounds : dict, or None
        What the confounds alone predict: a row of the summary, with p and the difference from the best method.
    left_out : list of dict
        As `comparison`, with one site left out at a time; empty where there are no sites.

    Examples
    --------
    >>> from graphpri.apps.brain_methods import MethodSettings
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(0.6, n_rois=12, n_modules=2, n_planted=3, n_train=24, n_test=4)
    >>> quick = Validation(folds=2, half_samples=2, settings=MethodSettings(nested=False))
    >>> outcome = study(drawn.train, BrainRequest(("linear-svm",), quick, explained="linear-svm", top=3))
    >>> sorted(outcome.positions.tolist()) == np.flatnonzero(drawn.planted).tolist()
    True
    """

    scans: Connectomes
    request: BrainRequest
    evaluation: Evaluation
    stability: Stability
    comparison: Records
    edges: Records
    systems: Records
    chance: tuple[float, float, float]
    tests: EdgeTests
    confounds: dict[str, Any] | None = None
    left_out: Records = field(default_factory=list)

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
        """1 or -1 for each edge of the table, by its sign in the table; 1 of several classes."""
        return np.array([-1.0 if row.get("sign") == "-" else 1.0 for row in self.edges])

    @property
    def weights(self) -> FloatArray:
        """Signed importance of each edge of the table."""
        return self.signs * self.stability.importance[self.positions]


def study(
    scans: Connectomes,
    request: BrainRequest,
    step: ProgressCallback = lambda text, share: None,
    store: Path | None = None,
) -> BrainFindings:
    """Evaluate the methods, and look for stable edges of the explained one.

    Parameters
    ----------
    scans : Connectomes
    request : BrainRequest
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
    >>> from graphpri.apps.brain_methods import MethodSettings
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(0.6, n_rois=12, n_modules=2, n_planted=3, n_train=24, n_test=4)
    >>> quick = Validation(folds=2, half_samples=2, settings=MethodSettings(nested=False))
    >>> outcome = study(drawn.train, BrainRequest(("linear-svm", "t-test-svm"), quick, explained="linear-svm", top=3))
    >>> [row["method"] for row in outcome.comparison], len(outcome.edges), outcome.chance[0]
    (['t-test-svm', 'linear-svm'], 3, 0.5)
    """
    protocol = request.protocol
    _check(scans, request)
    top = _top(request.top, scans)
    request = replace(request, top=top, explained=request.shown, permuted=request.shuffled)
    stable = brain_protocol.stability(scans, request.shown, protocol, top=top, on_progress=step, store=store)
    both = (*request.methods, *([CONFOUNDS] if scans.confounds is not None else []))
    found = brain_protocol.evaluate(scans, both, protocol, step, store)
    permuted: dict[str, tuple[float, float]] = {}
    if protocol.permutations:
        permuted = brain_protocol.permutation_p(scans, request.shuffled, protocol, step, store)[0]
    comparison, confounds = compared(scans, found, permuted, protocol.seed)
    step("testing edges", 1.0)
    tests = edge_tests(scans, request.edge_permutations, request.threshold, protocol.seed)
    return BrainFindings(
        scans=scans,
        request=request,
        evaluation=found,
        stability=stable,
        comparison=comparison,
        edges=edge_table(scans, stable.importance, stable.frequency, top, tests),
        systems=system_table(scans, ranked(stable.importance, top), seed=protocol.seed),
        chance=chance(scans),
        tests=tests,
        confounds=confounds,
        left_out=_left_out(scans, both, protocol, step, store),
    )


def _by_site(protocol: Validation) -> Validation:
    return replace(protocol, repeats=1, settings=replace(protocol.settings, by="site"))


def _left_out(
    scans: Connectomes, methods: tuple[str, ...], protocol: Validation, step: ProgressCallback, store: Path | None
) -> Records:
    """Methods compared with one site left out at a time, the confounds alone last."""
    if scans.sites is None:
        return []
    found = brain_protocol.evaluate(scans, methods, _by_site(protocol), step, store)
    rows, confounds = compared(scans, found, {}, protocol.seed)
    return [*rows, *([confounds] if confounds else [])]


def compared(
    scans: Connectomes, evaluation: Evaluation, permuted: Mapping[str, tuple[float, float]], seed: int = 0
) -> tuple[Records, dict[str, Any] | None]:
    """The summary of an evaluation, the best method first, with p, and each method's difference from the best.

    Returns
    -------
    comparison : list of dict
        The row of :func:`graphpri.apps.brain_scores.summary`, p and p_best (of shuffled labels over the scores:
        :func:`graphpri.apps.brain_scores.luck`), permutation_p and permutation_p_best where methods were fitted anew,
        difference with difference_standard_error, difference_lower and difference_upper, and verdict.
    confounds : dict, or None
        The same of the confounds alone, which are no method; its difference is from the best method.

    Examples
    --------
    >>> from graphpri.apps.brain_data import from_matrices
    >>> from graphpri.apps.brain_scores import summary
    >>> scans = from_matrices([np.eye(3)] * 8, [0, 1] * 4)
    >>> found = [(i, m, x) for i in range(8) for m, x in [("a", 1.0), ("b", i % 2 - 0.5)]]
    >>> rows = [{"method": m, "repeat": 0, "subject": str(i), "label": i % 2, "score": x} for i, m, x in found]
    >>> [(row["method"], row["difference"] == 0) for row in compared(scans, Evaluation(rows, summary(rows)), {})[0]]
    [('b', True), ('a', False)]
    """
    sites = None if scans.sites is None else dict(zip(scans.groups, scans.sites, strict=True))
    scores = evaluation.scores
    methods = [row for row in scores if row["method"] != CONFOUNDS]
    recalls = {f"recall_{k}": f"recall_{name}" for k, name in enumerate(scans.classes)}
    by_method = {
        row["method"]: {recalls.get(key, key): value for key, value in row.items()} for row in evaluation.summary
    }
    p = luck(methods, seed, sites=sites)

    def whole(difference: Mapping[str, Any], own: tuple[float, float]) -> dict[str, Any]:
        name = difference["method"]
        row: dict[str, Any] = by_method[name] | {"p": own[0], "p_best": own[1]}
        if permuted:
            alone, best = permuted.get(name, (None, None))
            row |= {"permutation_p": alone, "permutation_p_best": best}
        row |= {"difference": difference["difference"]}
        row |= {f"difference_{key}": difference[key] for key in ("standard_error", "lower", "upper")}
        return row | {"verdict": difference["verdict"]}

    rows = [whole(row, p[row["method"]]) for row in differences(methods, seed)]
    if CONFOUNDS not in by_method:
        return rows, None
    alone = [row for row in scores if row["method"] == CONFOUNDS]
    beside = [row for row in scores if row["method"] in (CONFOUNDS, rows[0]["method"])]
    gap = next(row for row in differences(beside, seed) if row["method"] == CONFOUNDS)
    if gap["verdict"] == "best":  # its difference is then that of the best method, turned round
        other = next(row for row in differences(beside, seed) if row["method"] != CONFOUNDS)
        turned = {"difference": -other["difference"], "lower": -other["upper"], "upper": -other["lower"]}
        gap = other | turned | {"method": CONFOUNDS, "verdict": "above the best method"}
    return rows, whole(gap, luck(alone, seed, sites=sites)[CONFOUNDS])


def _check(scans: Connectomes, request: BrainRequest) -> None:
    """Refuse what would fail after much work.

    Raises
    ------
    OptionError
        For no method, unknown ones, methods to permute that aren't scored, repeats or permutations out of range, no
        edges to show, and folds that the subjects don't fill.
    MissingExtraError
        Where a library that pictures need is not installed.
    """
    if not request.methods:
        raise OptionError("no method: name one, or leave the list out for all")
    if twice := [name for name in request.methods if request.methods.count(name) > 1]:
        raise OptionError(f"method {twice[0]!r} is named {request.methods.count(twice[0])} times: once is enough")
    if request.protocol.repeats < 1 or min(request.protocol.permutations, request.edge_permutations) < 0:
        raise OptionError("give 1 repeat or more, and 0 permutations or more")
    if unscored := [name for name in request.shuffled if name not in request.methods]:
        raise OptionError(
            f"{argument('permute', unscored[0])}: labels are permuted only for a method that is scored, one of "
            f"{', '.join(request.methods)}: add it to the methods"
        )
    if request.threshold is not None and not 0 < request.threshold < np.inf:
        raise OptionError(f"{argument('nbs_threshold', request.threshold)}: give a positive t or F")
    _top(request.top, scans)
    protocol, every = request.protocol, (*request.methods, request.shown, *request.shuffled)
    brain_protocol.check_halves(protocol)
    for plan in (protocol, *([_by_site(protocol)] if scans.sites is not None else [])):
        brain_methods.check(every, scans, plan.settings, brain_protocol.outer_folds(scans, plan), plan.seed)
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
    "Causes, mechanisms or a diagnosis of single persons: the edges tell these groups apart in these scans.",
    "That it holds elsewhere: what differs between the classes besides the diagnosis (scanner, head motion, age, sex) "
    "is learned like the rest of it, unless it is among the confounds; and these are removed as far as edges follow "
    "them in a straight line.",
    "That an edge that is not listed does not differ: of edges that carry the same signal, a model needs one.",
    "Probabilities of edges: the Graph-PRI term doesn't change when the mask is multiplied by a constant, so that a "
    "mask value of .5 has no meaning. Edges are ranked, and judged by how often they are found again.",
)
"""What can't be concluded from any such analysis."""

_WORDS = {"balanced_accuracy": "balanced accuracy", "r": "correlation of prediction and score (r)"}


def conclusions(
    scans: Connectomes, comparison: Records, chance: tuple[float, float, float], permutations: int = 0
) -> list[str]:
    """What the results say.

    Parameters
    ----------
    scans : Connectomes
    comparison : sequence of mapping
        Rows of :func:`compared`, the best first.
    chance : tuple of float
        Chance level, and both ends of the interval that holds 95 % of guesses.
    permutations : int
        How many there were, for which methods were fitted anew.

    Examples
    --------
    >>> from graphpri.apps.brain_data import from_matrices
    >>> scans = from_matrices([np.eye(3)] * 4, [0, 0, 1, 1], groups=["a", "b", "c", "d"])
    >>> row = {"method": "paper", "balanced_accuracy": 0.55, "auc": 0.5, "lower": 0.4, "upper": 0.7}
    >>> row |= {"verdict": "best", "p": 0.2, "p_best": 0.2}
    >>> conclusions(scans, [row], (0.5, 0.25, 0.75))[1]
    "No method does better than luck explains (smallest p = 0.2): don't interpret edges or systems."
    """
    level, _, upper = chance
    best, several = comparison[0], len(comparison) > 1
    key = main_measure(best)
    interval = f"95 % interval {best['lower']:.3f} to {best['upper']:.3f}"
    area = f", area under the curve {best['auc']:.3f}" if "auc" in best else ""
    found = [
        f"{best['method']} has {'the best ' if several else 'a '}{_WORDS[key]}{',' if several else ' of'} "
        f"{best[key]:.3f} ({interval}){area}. Guessing has {level:.3g}, and up to {upper:.3f} by luck."
        + (f" It is the best of {len(comparison)}, chosen after the fact, which flatters it." if several else "")
    ]
    choice = f", corrected for the choice among {len(comparison)} methods" if several else ""
    if above := beyond_luck(comparison):
        found.append(f"Better than luck explains (p < .05{choice}): {name_some(above, 12)}.")
    else:
        least = min(_judged(row) for row in comparison)
        found.append(
            f"No method does better than luck explains (smallest p = {least:.3g}{choice}): don't interpret edges or "
            "systems."
        )
    if refitted := [row for row in comparison if row.get("permutation_p") is not None]:
        listed = "; ".join(f"{row['method']} {row['permutation_p']:.3g}" for row in refitted)
        found.append(f"p of {permutations} permutations of the labels, with everything fitted anew: {listed}.")
    else:
        found.append(
            "p by labels shuffled over the scores of test scans, nothing fitted anew, which is a little lenient: "
            "--permutations 1000 does the whole analysis again and again."
        )
    if worse := [row["method"] for row in comparison if several and row["verdict"] == "worse"]:
        found.append(f"Clearly behind {best['method']}: {name_some(worse, 12)}.")
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


def _judged(row: Mapping[str, Any]) -> float:
    """The p to judge a method by: of permutations where it was fitted to them, for the best of all methods."""
    refitted = row.get("permutation_p_best")
    return float(row["p_best"] if refitted is None else refitted)


def beyond_luck(comparison: Records) -> list[str]:
    """Methods that do better than luck explains, p < .05 corrected for the choice among them.

    Examples
    --------
    >>> beyond_luck([{"method": "a", "p": 0.01, "p_best": 0.04}, {"method": "b", "p": 0.04, "p_best": 0.06}])
    ['a']
    """
    return [row["method"] for row in comparison if _judged(row) < _LEVEL]


def about_confounds(scans: Connectomes, comparison: Records, confounds: Mapping[str, Any]) -> list[str]:
    """What the confounds alone predict, beside the best method.

    Examples
    --------
    >>> from graphpri.apps.brain_data import from_matrices
    >>> age = {"age": [20, 30, 40, 50]}
    >>> scans = from_matrices([np.eye(3)] * 4, [0, 0, 1, 1], groups=["a", "b", "c", "d"], confounds=age)
    >>> row = {"method": "linear-svm", "balanced_accuracy": 0.7, "lower": 0.6, "upper": 0.8}
    >>> alone = row | {"balanced_accuracy": 0.65, "p": 0.04, "difference_lower": -0.2, "difference_upper": 0.1}
    >>> about_confounds(scans, [row], alone)[1]
    'The best method, with age removed within the training scans, is not clearly better than that.'
    """
    key, names = main_measure(confounds), ", ".join(scans.confound_names)
    clear, below = confounds["difference_upper"] < 0, confounds["difference_lower"] > 0
    than = "clearly better than that." if clear else "not clearly better than that."
    if below:
        differ = "the classes differ in" if scans.classes else f"{scans.score_name} goes with"
        than = f"clearly worse than that: {differ} {names}, so match the people before edges are read."
    return [
        f"The confounds alone ({names}) have a {_WORDS[key]} of {confounds[key]:.3f} ({confounds['lower']:.3f} to "
        f"{confounds['upper']:.3f}, p = {confounds['p']:.3g}), the best method {comparison[0][key]:.3f}.",
        f"The best method, with {names} removed within the training scans, is {than}",
    ]


def about_edges(
    explained: str, edges: Records, stable: Stability, top: int, n_edges: int, lucky: bool = False
) -> list[str]:
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
    lucky : bool
        Whether the method does no better than luck.

    Examples
    --------
    >>> stable = Stability(np.zeros(66), np.zeros(66), jaccard=0.1, shared_by_luck=0.1)
    >>> row = {"selection_frequency": 0.3, "q": 0.2, "p_family": 0.4}
    >>> about_edges("edge-readout", [row], stable, top=1, n_edges=66)[-1]
    "No more edges come back than with labels that say nothing: don't report single edges."
    """
    often = sum(row["selection_frequency"] > 0.5 for row in edges)
    luck = stable.often_by_luck
    found = [
        f"Of the {len(edges)} edges shown, {often} are among the top {top} of {explained} in more than half of the "
        f"half-samples of subjects; with labels that say nothing {luck} {'edge is' if luck == 1 else 'edges are'}. Two "
        f"halves without a subject in common share {stable.jaccard:.2f} of their edges (intersection over union), and "
        f"{stable.shared_by_luck:.2f} with such labels.",
    ]
    if not np.isnan([row["q"] for row in edges]).all():
        family = f", {sum(row['p_family'] < _LEVEL for row in edges)} p < .05 corrected for any false edge"
        permuted = not np.isnan([row["p_family"] for row in edges]).all()
        found.append(
            f"{sum(row['q'] < _LEVEL for row in edges)} of them have q < .05 (false discovery rate over all {n_edges} "
            f"edges){family if permuted else ''}. The tests use all scans, as the ranks do: they describe the edges, "
            "and don't confirm them."
        )
    if lucky:
        found.append(f"{explained} does no better than luck explains: don't interpret its edges.")
    if often > luck and stable.jaccard > stable.shared_by_luck:
        return found
    return [*found, "No more edges come back than with labels that say nothing: don't report single edges."]


def about_tests(tests: EdgeTests) -> list[str]:
    """What the tests of all edges say.

    Examples
    --------
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(0.4, n_rois=12, n_modules=2, n_planted=3)
    >>> about_tests(edge_tests(drawn.train, 199))[0]
    'Of all 66 edges, 3 have q < .05 (false discovery rate), 3 p < .05 corrected for any false edge (199 permutations).'
    """
    if np.isnan(tests.q).all():
        return ["No edge can be tested: the confounds leave nothing to test, or there are too few subjects."]
    q, family = (int((p < _LEVEL).sum()) for p in (tests.q, tests.p_family))
    first = f"Of all {tests.q.size} edges, {q} have q < .05 (false discovery rate)"
    if not tests.permutations:
        return [f"{first}; without permutations there is no p corrected for any false edge, and none of components."]
    found = [f"{first}, {family} p < .05 corrected for any false edge ({tests.permutations} permutations)."]
    name = "|t|" if tests.signed else "F"
    at = f"network-based statistic, {name} ≥ {tests.threshold:.2f}"
    clear = [row for row in tests.components if row["p"] is not None and row["p"] < _LEVEL]
    if not clear:
        return [*found, f"No component of edges is larger than permuted labels have ({at})."]
    parts = "; ".join(f"{row['edges']} edges of {row['regions']} regions (p = {row['p']:.2g})" for row in clear[:3])
    return [*found, f"Components larger than permuted labels have ({at}): {parts}. Their single edges are not tested."]


def about_systems(systems: Records, note: str) -> list[str]:
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
        f"<h2>How well {'the classes are told apart' if scans.classes else f'{escape(scans.score_name)} is predicted'}"
        "</h2>",
        *_results(outcome),
        *_beside(outcome),
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
    counts = [int((scans.labels == k).sum()) for k in range(len(scans.classes))]
    subjects, repeats = len(set(scans.groups)), protocol.repeats
    times = "once" if repeats == 1 else f"{repeats} times"
    absent = [name for name in REFERENCES if scans.classes and name not in outcome.request.methods]
    named = " and ".join(f"{n} {name}" for n, name in zip(counts, scans.classes, strict=True))
    if scans.target is not None:
        named = f"{scans.score_name} from {scans.target.min():.4g} to {scans.target.max():.4g}"
    return [
        f"<p>{escape(_asked(scans))}</p>",
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


def _asked(scans: Connectomes) -> str:
    """The question."""
    if scans.target is not None:
        return f"Can {scans.score_name} be predicted by functional connectivity, and by which edges?"
    if scans.n_classes > 2:
        return f"Can {', '.join(scans.classes)} be told apart by functional connectivity, and by which edges?"
    first, second = scans.classes
    return f"Can {second} be told from {first} by functional connectivity, and by which edges?"


def _hyper_parameters(settings: MethodSettings) -> str:
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
    key = main_measure(rows[0])
    chart = brain_figures.results(
        [row["method"] for row in rows],
        [row[key] for row in rows],
        [(row["lower"], row["upper"]) for row in rows],
        outcome.chance,
        _WORDS[key],
    )
    positive = f"Positive is {escape(outcome.scans.classes[1])}. " if len(outcome.scans.classes) == 2 else ""
    return [
        _output.items(conclusions(outcome.scans, rows, outcome.chance, permutations)),
        _output.picture(chart, "Each method with its interval, beside chance"),
        _compared(rows),
        "<p>Other measures:</p>",
        _table(rows, ("method", *(name for name in rows[0] if name not in _SHOWN))),
        f"<p class='small'>{positive}Standard errors and 95 % intervals by drawing subjects again; the difference is "
        "from the best method over the same draws, and its interval is not corrected for the number of methods. p: how "
        "often shuffled labels have as much balanced accuracy and area under the curve (their mean; of a score: as "
        "large an r), of this method alone, and corrected for the choice of the best by the largest value of all "
        "methods.</p>",
    ]


_SHOWN = frozenset(
    ("method", "balanced_accuracy", "r", "standard_error", "lower", "upper", "p", "p_best", "permutation_p", "verdict")
) | {"permutation_p_best", "difference", "difference_standard_error", "difference_lower", "difference_upper"}


def _compared(rows: Records) -> str:
    """Methods against luck and against the best one."""
    key, refitted = main_measure(rows[0]), any(row.get("permutation_p") is not None for row in rows)
    p = ("permutation_p", "permutation_p_best") if refitted else ("p", "p_best")
    head = ["method", _WORDS[key], "standard error", "95 % interval", "p", "p, as the best", "from the best"]
    return _output.table([*head, "95 % interval", ""], [_result(row, key, p) for row in rows])


def _beside(outcome: BrainFindings) -> list[str]:
    """What confounds alone predict, and other sites."""
    parts: list[str] = []
    if outcome.confounds is not None:
        sentences = about_confounds(outcome.scans, outcome.comparison, outcome.confounds)
        parts += ["<h2>Confounds</h2>", _output.items(sentences)]
    if outcome.left_out:
        sites = sorted(set(outcome.scans.sites or ()))
        parts += [
            "<h2>Other sites</h2>",
            f"<p>Each of the {len(sites)} sites ({escape(name_some(sites, 8))}) was left out in turn, and its scans "
            f"scored by what the others taught; labels are shuffled within sites for p. {_elsewhere(outcome)}</p>",
            _compared(outcome.left_out),
        ]
    return parts


def _elsewhere(outcome: BrainFindings) -> str:
    """What scans of other sites say of the methods."""
    above = beyond_luck([row for row in outcome.left_out if row["method"] != CONFOUNDS])
    if not above:
        return "No method does better there than luck explains."
    return f"Better there than luck explains: {escape(name_some(above, 12))}."


def _edges(outcome: BrainFindings) -> list[str]:
    scans, request = outcome.scans, outcome.request
    image = outcome.picture
    n_edges = scans.n_rois * (scans.n_rois - 1) // 2
    lucky = request.shown not in beyond_luck(outcome.comparison)
    sentences = about_edges(request.shown, outcome.edges, outcome.stability, outcome.top, n_edges, lucky)
    first = outcome.edges[:_LISTED]
    ring = brain_figures.ring(scans.rois, outcome.positions, outcome.signs, scans.classes)
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
        _output.picture(ring, "The edges on a ring of regions", _ring_caption(scans)) if ring else "",
        _edge_rows(first),
        f"<p class='small'>The first {len(first)} of {len(outcome.edges)}; edges.csv has these, all_edges.csv every "
        f"edge. {_sign(scans)}Tests: {escape(outcome.tests.how)}, of Fisher's z; q: false discovery rate over "
        f"{n_edges} edges; p, any: corrected for any false edge.</p>",
        "<h3>Tests of all edges</h3>",
        _output.items(about_tests(outcome.tests)),
    ]


def _ring_caption(scans: Connectomes) -> str:
    """What the ring shows."""
    by = "Regions by system" if scans.rois.systems else "Regions in their order"
    if scans.n_classes > 2:
        return f"{by}."
    if scans.classes:
        return f"{by}; red edges are stronger in {scans.classes[1]}, blue ones weaker."
    return f"{by}; red edges rise with {scans.score_name}, blue ones fall."


def _sign(scans: Connectomes) -> str:
    if scans.n_classes > 2:
        return ""
    *_, last = scans.classes or ("",)
    where = f"a larger correlation is seen in {escape(last)}" if last else f"it rises with {escape(scans.score_name)}"
    return f"Sign: + where {where}. "


def _edge_rows(rows: Records) -> str:
    """Edges as lines of a table that fits on a page: an edge, its systems, and numbers."""
    means = [key for key in (rows[0] if rows else ()) if key.startswith("mean_r_")]
    statistic = "F" if rows and "F" in rows[0] else "t"
    systems = bool(rows) and "system" in rows[0]
    signed = bool(rows) and "sign" in rows[0]
    head = [
        "edge",
        *(["sign"] if signed else []),
        *(["systems"] if systems else []),
        "importance",
        "found again",
        *map(_head, means),
        statistic,
    ]
    return _output.table(
        [*head, "q", "p, any"],
        [
            [
                f"{row['region']} – {row['other']}",
                *([str(row["sign"]).replace("-", "−")] if signed else []),
                *([f"{row['system']} – {row['other_system']}"] if systems else []),
                row["importance"],
                f"{row['selection_frequency']:.0%}",
                *(f"{row[key]:.2f}" for key in means),
                *(
                    "" if np.isnan(row[key]) else format(row[key], how)
                    for key, how in ((statistic, ".2f"), ("q", ".2g"), ("p_family", ".2g"))
                ),
            ]
            for row in rows
        ],
    )


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


def _result(row: Mapping[str, Any], key: str, p: tuple[str, str]) -> list[str | float | None]:
    ends = [f"{row[a]:.3f} to {row[b]:.3f}" for a, b in (("lower", "upper"), ("difference_lower", "difference_upper"))]
    best = row["verdict"] == "best"
    difference: list[str | float] = ["", ""] if best else [row["difference"], ends[1]]
    chances = ["" if row.get(name) is None else f"{row[name]:.2g}" for name in p]
    return [row["method"], row[key], row["standard_error"], ends[0], *chances, *difference, row["verdict"]]


def _table(rows: Records, columns: Iterable[str] | None = None) -> str:
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
            "confounds": list(scans.confound_names),
            "notes": list(scans.notes),
            "atlas_note": scans.rois.note,
        },
        "folds": _fold_rows(outcome.evaluation.scores),
        "chance": dict(zip(("level", "lower", "upper"), outcome.chance, strict=True)),
        "results": outcome.comparison,
        "confounds_alone": outcome.confounds,
        "sites_left_out": outcome.left_out,
        "stability": {
            "method": outcome.request.shown,
            "half_samples": outcome.request.protocol.half_samples,
            "jaccard": outcome.stability.jaccard,
            "jaccard_by_luck": outcome.stability.shared_by_luck,
            "often_by_luck": outcome.stability.often_by_luck,
        },
        "edges": outcome.edges,
        "systems": outcome.systems,
        "edge_tests": {
            "how": outcome.tests.how,
            "permutations": outcome.tests.permutations,
            "threshold": outcome.tests.threshold,
            "components": outcome.tests.components,
        },
    }


def _fold_rows(scores: Iterable[Mapping[str, Any]]) -> Records:
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
    >>> from graphpri.apps.brain_methods import MethodSettings
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(0.6, n_rois=12, n_modules=2, n_planted=3, n_train=24, n_test=4)
    >>> quick = Validation(folds=2, half_samples=2, settings=MethodSettings(nested=False))
    >>> outcome = study(drawn.train, BrainRequest(("linear-svm",), quick, explained="linear-svm", top=3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(outcome, Path(folder), "scans", "graphpri brain scans -o report")
    ...  # doctest: +NORMALIZE_WHITESPACE
    ['scores.csv', 'comparison.csv', 'edges.csv', 'all_edges.csv', 'importance.csv', 'components.csv',
     'connectome.edge', 'connectome.graphml', 'report.json', 'report.html', 'ring.svg']
    """
    scans, positions, weights = outcome.scans, outcome.positions, outcome.weights
    rois, importance = scans.rois, outcome.stability.importance
    texts = {
        "scores.csv": tables.as_csv(outcome.evaluation.scores),
        "comparison.csv": tables.as_csv(outcome.comparison),
        "edges.csv": tables.as_csv(outcome.edges),
        "all_edges.csv": tables.as_csv(all_edges(scans, importance, outcome.stability.frequency, outcome.tests)),
        "importance.csv": importance_matrix(rois, importance),
        "systems.csv": tables.as_csv(outcome.systems) if outcome.systems else None,
        "components.csv": tables.as_csv(outcome.tests.components) if outcome.tests.components else None,
        "left_out_sites.csv": tables.as_csv(outcome.left_out) if outcome.left_out else None,
        "connectome.node": brainnet_node(rois, positions),
        "connectome.edge": brainnet_edge(rois, positions, weights),
        "connectome.graphml": graphml(rois, positions, weights, outcome.edges),
        "report.json": json.dumps(_plain(_facts(outcome, source, command)), indent=2, allow_nan=False) + "\n",
        "report.html": _page(outcome, source, command),
        INTERACTIVE: brain_figures.interactive(scans, positions, weights),
    }
    ring = brain_figures.ring(rois, positions, outcome.signs, scans.classes)
    contents: dict[str, str | bytes | None] = {**texts, "connectome.png": outcome.picture, "ring.svg": ring}
    return tables.write_folder(out, {name: content for name, content in contents.items() if content is not None})


# Edges in the formats of programs that draw brains and networks.


def brainnet_node(rois: Rois, edges: ArrayLike) -> str | None:
    r"""BrainNet Viewer's table of nodes: x, y, z, colour (number of the system), size (degree) and name.

    None where the regions have no coordinates. White space in names becomes a dot, as the format splits there.

    Examples
    --------
    >>> rois = Rois(("left M1", "V1"), np.array([[-40.0, -20.0, 50.0], [0.0, -90.0, 0.0]]), ("motor", "visual"))
    >>> brainnet_node(rois, [0]).splitlines()
    ['-40\t-20\t50\t1\t1\tleft.M1', '0\t-90\t0\t2\t1\tV1']
    """
    if rois.coordinates is None:
        return None
    n, at = len(rois.names), np.asarray(edges, np.int64)
    names = sorted(set(rois.systems or ()))
    u, v = pairs(n)
    degree = np.bincount(np.concatenate([u[at], v[at]]), minlength=n)
    rows: list[str] = []
    for i, (name, (x, y, z)) in enumerate(zip(rois.names, rois.coordinates.tolist(), strict=True)):
        colour = names.index(rois.systems[i]) + 1 if rois.systems else 1
        label = re.sub(r"\s+", ".", name.strip()) or "-"
        rows.append(f"{x:.6g}\t{y:.6g}\t{z:.6g}\t{colour}\t{degree[i]}\t{label}\n")
    return "".join(rows)


def brainnet_edge(rois: Rois, edges: ArrayLike, values: ArrayLike) -> str:
    """BrainNet Viewer's matrix of edges: signed importance, 0 for edges that are not shown.

    Examples
    --------
    >>> [row.split() for row in brainnet_edge(Rois(("a", "b", "c")), [1], [-0.5]).splitlines()]
    [['0', '0', '-0.5'], ['0', '0', '0'], ['-0.5', '0', '0']]
    """
    rows = _matrix(rois, edges, values)
    return "".join("\t".join(f"{x:.6g}" for x in row) + "\n" for row in rows)


def importance_matrix(rois: Rois, importance: ArrayLike) -> str:
    """Importances of all edges as a symmetric matrix in CSV, with names of regions in its first row and column.

    Examples
    --------
    >>> print(importance_matrix(Rois(("a", "b")), [0.5]), end="")
    ,a,b
    a,0.0,0.5
    b,0.5,0.0
    """
    held = io.StringIO()
    writer = csv.writer(held, lineterminator="\n")
    writer.writerow(["", *rois.names])
    rows = square(np.asarray(importance, np.float64), len(rois.names)).tolist()
    writer.writerows([name, *row] for name, row in zip(rois.names, rows, strict=True))
    return held.getvalue()


def graphml(rois: Rois, edges: ArrayLike, values: ArrayLike, rows: Records) -> str:
    """The edges as GraphML: nodes with name, system and place, edges with signed importance as weight, and `rows`.

    Examples
    --------
    >>> text = graphml(Rois(("a", "b"), None, ("motor", "visual")), [0], [0.5], [{"q": 0.01}])
    >>> '<data key="weight">0.5</data>' in text, '<data key="system">motor</data>' in text
    (True, True)
    """
    root = Xml.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    numbers = [key for key in (rows[0] if rows else ()) if key in _OF_EDGES]
    node_keys = ["name", *(["system"] if rois.systems else []), *("xyz" if rois.coordinates is not None else "")]
    for keys, holder in ((node_keys, "node"), (["weight", *numbers], "edge")):
        for key in keys:
            kind = "string" if key in ("name", "system") else "double"
            Xml.SubElement(root, "key", {"id": key, "for": holder, "attr.name": key, "attr.type": kind})
    graph = Xml.SubElement(root, "graph", edgedefault="undirected")
    for i, name in enumerate(rois.names):
        node = Xml.SubElement(graph, "node", id=f"n{i + 1}")
        facts = {"name": name} | ({"system": rois.systems[i]} if rois.systems else {})
        if rois.coordinates is not None:
            facts |= dict(zip("xyz", map(repr, rois.coordinates[i].tolist()), strict=True))
        _add(node, facts)
    at = np.asarray(edges, np.int64)
    u, v = (ends[at] for ends in pairs(len(rois.names)))
    for a, b, value, row in zip(u, v, np.asarray(values, np.float64).tolist(), rows, strict=True):
        edge = Xml.SubElement(graph, "edge", source=f"n{a + 1}", target=f"n{b + 1}")
        _add(edge, {"weight": repr(value)} | {key: repr(float(row[key])) for key in numbers if row[key] == row[key]})
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


_OF_EDGES = frozenset({"importance", "selection_frequency", "t", "F", "p", "q", "p_family"})


def _add(element: Xml.Element, facts: dict[str, str]) -> None:
    for key, text in facts.items():
        Xml.SubElement(element, "data", key=key).text = _CONTROL.sub("", text)


_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")  # not allowed in XML


def _matrix(rois: Rois, edges: ArrayLike, values: ArrayLike) -> list[list[float]]:
    n = len(rois.names)
    held = np.zeros(n * (n - 1) // 2)
    held[np.asarray(edges, np.int64)] = values
    return square(held, n).tolist()
