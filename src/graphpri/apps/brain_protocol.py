"""How methods are compared: repeated folds by subject, intervals over subjects, permutation, stability of edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from graphpri.apps import Records
from graphpri.apps.brain_data import Connectomes
from graphpri.apps.brain_edges import ranked
from graphpri.apps.brain_methods import Folds, MethodSettings, find, site_folds, subject_folds, train
from graphpri.apps.brain_scores import best_p, mean_quality, score_row, shuffled, summary
from graphpri.errors import OptionError, argument
from graphpri.graph import BoolArray, FloatArray
from graphpri.io import ProgressCallback
from graphpri.io.pieces import Pieces

_LARGEST_SEED = 2**32 - 1  # of scikit-learn's

PLAIN = MethodSettings()


@dataclass(frozen=True)
class Validation:
    """How methods are compared.

    Parameters
    ----------
    folds, repeats : int
        Folds by subject, and how often they are drawn.
    seed : int
    permutations : int
        Labels that say nothing, drawn to see how well they are predicted.
    half_samples : int
        Halves of the subjects on which the stability of edges is looked at, in pairs that share no subject.
    settings : MethodSettings
        How graphs are made, and hyper-parameters chosen within the training scans.

    Raises
    ------
    OptionError
        For a seed that scikit-learn does not take for each repeat.

    Examples
    --------
    >>> Validation(repeats=5, settings=MethodSettings(density=0.1)).folds
    5
    """

    folds: int = 5
    repeats: int = 1
    seed: int = 0
    permutations: int = 0
    half_samples: int = 20
    settings: MethodSettings = PLAIN

    def __post_init__(self) -> None:
        if not 0 <= self.seed <= _LARGEST_SEED - self.repeats:
            raise OptionError(
                f"{argument('seed', self.seed)}: give a whole number from 0 to {_LARGEST_SEED - self.repeats}"
            )


DEFAULT = Validation()


@dataclass(frozen=True)
class Evaluation:
    """Scores of every method on every scan when it had not seen its subject, and a summary by method.

    `scores` has the columns method, repeat, fold, scan, subject and label and score (of several classes a score of
    each), or target and predicted; `summary` is that of :func:`graphpri.apps.brain_scores.summary`.

    Examples
    --------
    >>> row = {"method": "a", "repeat": 0, "fold": 0, "scan": "1", "subject": "1", "label": 1, "score": 0.3}
    >>> scores = [row, row | {"scan": "2", "subject": "2", "label": 0, "score": -0.2}]
    >>> Evaluation(scores, summary(scores)).summary[0]["balanced_accuracy"]
    1.0
    """

    scores: Records
    summary: Records


@dataclass(frozen=True)
class Stability:
    """What methods fitted on halves of the subjects agree on.

    `frequency` is how often each edge is among the top ones, `importance` its mean importance, both of shape (E,);
    `jaccard` is the mean of |A ∩ B| / |A ∪ B| of the top edges of two halves that have no subject in common.
    `shared_by_luck` is the same overlap with labels that say nothing, `often_by_luck` the number of edges that are then
    among the top ones of more than half of the halves.

    Examples
    --------
    >>> found = Stability(np.array([1.0, 0.25]), np.array([0.4, 0.1]), jaccard=0.5)
    >>> np.flatnonzero(found.frequency > 0.5).tolist()
    [0]
    """

    frequency: FloatArray
    importance: FloatArray
    jaccard: float
    shared_by_luck: float = 0.0
    often_by_luck: int = 0


def evaluate(
    scans: Connectomes,
    methods: Sequence[str],
    protocol: Validation = DEFAULT,
    on_progress: ProgressCallback = lambda text, share: None,
    store: Path | None = None,
) -> Evaluation:
    """Score every scan by every method that was fitted without its subject.

    Parameters
    ----------
    scans : Connectomes
    methods : sequence of str
        Names of :func:`graphpri.apps.brain_methods.names`.
    protocol : Validation
    on_progress : callable
        Gets a text and the share of the work that is done; what it raises ends the work.
    store : Path, optional
        Folder that keeps each finished piece as JSON; a later call with the same scans and protocol reads them.

    Raises
    ------
    OptionError
        For an unknown method, and for folds that the subjects don't fill.
    MissingExtraError
        Where a library that a method needs is not installed.

    Examples
    --------
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> scans = planted_connectomes(0.6, n_rois=12, n_modules=2, n_planted=3, n_train=24, n_test=4).train
    >>> quick = Validation(folds=3, settings=MethodSettings(nested=False))
    >>> found = evaluate(scans, ["linear-svm", "t-test-svm"], quick)
    >>> [(row["method"], round(row["balanced_accuracy"], 2)) for row in found.summary], len(found.scores)
    ([('linear-svm', 0.75), ('t-test-svm', 1.0)], 48)
    """
    for name in methods:
        find(name)
    settings = protocol.settings
    parts = [
        (repeat, fold, learn, test)
        for repeat in range(protocol.repeats)
        for fold, (learn, test) in enumerate(outer_folds(scans, protocol, repeat))
    ]
    scores: Records = []
    pieces = Pieces(store)
    for i, (repeat, fold, learn, test) in enumerate(parts):
        for j, name in enumerate(methods):
            on_progress(f"{name}, fold {i + 1} of {len(parts)}", (i + j / len(methods)) / len(parts))
            key = ["scores", _content(scans), name, asdict(settings), protocol.seed + repeat, learn, test]
            make = partial(_score_fold, scans, name, settings, protocol.seed + repeat, learn, test)
            scores += [{"method": name, "repeat": repeat, "fold": fold, **row} for row in pieces.get(key, make)]
    on_progress("done", 1.0)
    return Evaluation(scores, summary(scores, protocol.seed))


def outer_folds(scans: Connectomes, protocol: Validation, repeat: int = 0) -> Folds:
    """Training and test positions of a repeat of the cross-validation, by subject or by site.

    Examples
    --------
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> scans = planted_connectomes(n_rois=12, n_modules=2, n_planted=3, n_train=24, n_test=4).train
    >>> [test.size for _, test in outer_folds(scans, Validation(folds=3))]
    [8, 8, 8]
    """
    if protocol.settings.by == "site":
        return site_folds(scans)
    return subject_folds(scans, protocol.folds, protocol.seed + repeat)


def _score_fold(scans: Connectomes, name: str, settings: MethodSettings, seed: int, learn: Any, test: Any) -> Records:
    tested = scans.take(test)
    scores = train(name, scans.take(learn), settings, seed).decide(tested)
    known = "label" if scans.target is None else "target"
    return [
        {"scan": scan, "subject": subject, known: truth, **row}
        for scan, subject, truth, row in zip(
            tested.scans, tested.groups, tested.truth.tolist(), score_row(scores, tested.classes), strict=True
        )
    ]


def _content(scans: Connectomes) -> tuple[Any, ...]:
    """All that scores depend on in the scans."""
    more = scans.target, scans.confounds, scans.sites, list(scans.classes)
    return scans.matrices, scans.series, scans.labels, scans.groups, scans.scans, more


def permute_labels(scans: Connectomes, rng: np.random.Generator) -> Connectomes:
    """The scans with labels, or scores, that say nothing: :func:`graphpri.apps.brain_scores.shuffled` has how.

    Examples
    --------
    >>> from graphpri.apps.brain_data import from_matrices
    >>> scans = from_matrices([np.eye(3)] * 6, [0, 1, 1, 0, 0, 1], groups=["a", "a", "b", "b", "c", "c"])
    >>> found = permute_labels(scans, np.random.default_rng(0))
    >>> [sorted(pair) for pair in found.labels.reshape(3, 2).tolist()]  # each subject has both, as before
    [[0, 1], [0, 1], [0, 1]]
    """
    dealt = shuffled(scans.truth, scans.groups, rng, scans.sites)
    if scans.target is not None:
        return replace(scans, target=dealt)
    return replace(scans, labels=dealt.astype(np.int64))


def permutation_p(
    scans: Connectomes,
    names: Sequence[str],
    protocol: Validation = DEFAULT,
    on_progress: ProgressCallback = lambda text, share: None,
    store: Path | None = None,
) -> tuple[dict[str, tuple[float, float]], dict[str, FloatArray]]:
    """How often labels that say nothing are predicted as well by methods that are fitted anew on them.

    Parameters
    ----------
    scans : Connectomes
    names : sequence of str
        Of methods, each fitted to the same permuted labels.
    protocol : Validation
        With the number of permutations n; its folds are drawn once.
    on_progress, store
        As in :func:`evaluate`.

    Returns
    -------
    p : dict of str to (float, float)
        (1 + count) / (1 + n), of each method alone, and of the best of all under each permutation (maximum statistic):
        that is the p of the best method, chosen after the fact.
    null : dict of str to ndarray
        :func:`graphpri.apps.brain_scores.quality` under the permuted labels, shape (n,).

    Raises
    ------
    OptionError
        For no permutations, and as :func:`evaluate` has it.

    Examples
    --------
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> scans = planted_connectomes(0.6, n_rois=12, n_modules=2, n_planted=3, n_train=24, n_test=4).train
    >>> quick = Validation(folds=3, permutations=19, settings=MethodSettings(nested=False))
    >>> p, null = permutation_p(scans, ["linear-svm"], quick)
    >>> p, null["linear-svm"].shape  # none of 19 does as well
    ({'linear-svm': (0.05, 0.05)}, (19,))
    """
    if protocol.permutations < 1:
        raise OptionError(f"{argument('permutations', protocol.permutations)}: a p-value needs one or more")
    once, n, pieces = replace(protocol, repeats=1), protocol.permutations, Pieces(store)

    def reached(held: Connectomes, name: str) -> float:
        key = ["permutation", _content(held), name, asdict(once.settings), once.seed, once.folds]
        return pieces.get(key, lambda: mean_quality(evaluate(held, [name], once).scores))

    observed = {name: reached(scans, name) for name in names}
    rng = np.random.default_rng(protocol.seed)
    null = {name: np.empty(n) for name in names}
    for i in range(n):
        held = permute_labels(scans, rng)
        for j, name in enumerate(names):
            on_progress(f"{name}, permutation {i + 1} of {n}", (i + j / len(names)) / n)
            null[name][i] = reached(held, name)
    return best_p(null, observed), null


def stability(
    scans: Connectomes,
    name: str,
    protocol: Validation = DEFAULT,
    *,
    top: int = 100,
    on_progress: ProgressCallback = lambda text, share: None,
    store: Path | None = None,
) -> Stability:
    """Fit a method on halves of the subjects, and see which edges come up again.

    The subjects are dealt out to two halves, half as often as `protocol` has half-samples, and as often again with
    labels that say nothing (:func:`permute_labels`). Each half is fitted with the method's default hyper-parameters:
    chosen within the halves they would differ, and the edges with them.

    `store` is a folder that keeps what is done, as for :func:`evaluate`.

    Raises
    ------
    OptionError
        For a method that says nothing of edges, and a number of halves that is odd or below two.

    Examples
    --------
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(0.6, n_rois=12, n_modules=2, n_planted=3, n_train=24, n_test=4)
    >>> found = stability(drawn.train, "linear-svm", Validation(half_samples=4), top=3)
    >>> bool(found.frequency[drawn.planted].mean() > 0.5), found.jaccard > found.shared_by_luck
    (True, True)
    """
    check_halves(protocol)
    settings = replace(protocol.settings, nested=False, tune=False, time_budget=None)
    rng, pieces = np.random.default_rng(protocol.seed), Pieces(store)
    found: list[list[FloatArray]] = []
    for i, held in enumerate((scans, permute_labels(scans, rng))):
        text = f"{name}, half {{}} of {protocol.half_samples}{', random labels' * i}"
        importances: list[FloatArray] = []
        while len(importances) < protocol.half_samples:
            chosen = _half_of_subjects(held, rng)
            for side in (chosen, ~chosen):
                on_progress(text.format(len(importances) + 1), (i + len(importances) / protocol.half_samples) / 2)
                half = held.take(side)
                key = ["half", _content(half), name, asdict(settings), protocol.seed]
                make = partial(_importance, half, name, settings, protocol.seed)
                importances.append(np.array(pieces.get(key, make)))
        found.append(importances)
    frequency, jaccard = _agreement(found[0], top)
    by_luck, shared = _agreement(found[1], top)
    return Stability(frequency, np.mean(found[0], axis=0), jaccard, shared, int((by_luck > 0.5).sum()))


def check_halves(protocol: Validation) -> None:
    """Refuse a number of half-samples that is odd or below two.

    Examples
    --------
    >>> check_halves(Validation(half_samples=3))
    Traceback (most recent call last):
        ...
    graphpri.errors.OptionError: half_samples=3: halves come in pairs without a subject in common, give 2, 4, 6, ...
    """
    if protocol.half_samples < 2 or protocol.half_samples % 2:
        raise OptionError(
            f"{argument('half_samples', protocol.half_samples)}: halves come in pairs without a subject in common, "
            "give 2, 4, 6, ..."
        )


def _agreement(importances: list[FloatArray], top: int) -> tuple[FloatArray, float]:
    """How often each edge is among the top ones, none of importance 0, and the mean overlap of two halves' lists."""
    best = [set(ranked(found, top).tolist()) for found in importances]
    frequency = np.zeros(importances[0].size)
    for chosen in best:
        frequency[list(chosen)] += 1 / len(best)
    agreed = [len(a & b) / len(a | b) if a | b else 0.0 for a, b in zip(best[::2], best[1::2], strict=True)]
    return frequency, float(np.mean(agreed))


def _importance(half: Connectomes, name: str, settings: MethodSettings, seed: int) -> list[float]:
    found = train(name, half, settings, seed).importance
    if found is None:
        raise OptionError(f"method {name!r} says nothing of single edges: choose edge-readout, or an SVM")
    return found.tolist()


def _half_of_subjects(scans: Connectomes, rng: np.random.Generator) -> BoolArray:
    """Scans of half of the subjects, half of those of each class; neighbours by their score go to different halves.

    Where a class has an odd number of subjects, which half gets one more is drawn.
    """
    subjects, member = np.unique(scans.groups, return_inverse=True)
    kind = np.array([scans.truth[member == s].mean() for s in range(len(subjects))])
    order = rng.permutation(len(subjects))
    order = order[np.argsort(kind[order], kind="stable")]
    pair = np.arange(len(subjects)) // 2
    first = rng.integers(0, 2, pair.max() + 1)[pair]
    chosen = np.zeros(len(subjects), bool)
    chosen[order] = (np.arange(len(subjects)) % 2) == first
    return chosen[member]
