"""How methods are compared: repeated folds by subject, intervals over subjects, permutation, stability of edges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from graphpri.apps import ProgressCallback, Rows
from graphpri.apps.brain_data import Connectomes
from graphpri.apps.brain_edges import ranked
from graphpri.apps.brain_methods import Settings, find, subject_folds
from graphpri.errors import OptionError, argument
from graphpri.graph import BoolArray, FloatArray
from graphpri.io.pieces import Pieces

DRAWS = 2000
"""Times that subjects are drawn again, for intervals (bootstrap)."""

_LARGEST_SEED = 2**32 - 1  # of scikit-learn's

PLAIN = Settings()


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
        Halves of the subjects on which the stability of edges is looked at.
    settings : Settings
        How graphs are made, and hyper-parameters chosen within the training scans.

    Raises
    ------
    OptionError
        For a seed that scikit-learn does not take for each repeat.

    Examples
    --------
    >>> Validation(repeats=5, settings=Settings(density=0.1)).folds
    5
    """

    folds: int = 5
    repeats: int = 1
    seed: int = 0
    permutations: int = 0
    half_samples: int = 20
    settings: Settings = PLAIN

    def __post_init__(self) -> None:
        if not 0 <= self.seed <= _LARGEST_SEED - self.repeats:
            raise OptionError(
                f"{argument('seed', self.seed)}: give a whole number from 0 to {_LARGEST_SEED - self.repeats}"
            )


DEFAULT = Validation()


@dataclass(frozen=True)
class Evaluation:
    """Scores of every method on every scan when it had not seen its subject, and a summary by method.

    `scores` has the columns method, repeat, fold, scan, subject, label, score; `summary` method, accuracy and its
    standard_error, lower and upper end over subjects, balanced_accuracy, auc, sensitivity, specificity and
    paired_accuracy (of the subjects with a scan of each class: the scan of class 1 has the higher score).

    Examples
    --------
    >>> row = {"method": "a", "repeat": 0, "fold": 0, "scan": "1", "subject": "1", "label": 1, "score": 0.3}
    >>> scores = [row, row | {"scan": "2", "subject": "2", "label": 0, "score": -0.2}]
    >>> Evaluation(scores, summary(scores)).summary[0]["accuracy"]
    1.0
    """

    scores: Rows
    summary: Rows


@dataclass(frozen=True)
class Stability:
    """What methods fitted on halves of the subjects agree on.

    `frequency` is how often each edge is among the top ones, `importance` its mean importance, both of shape (E,);
    `jaccard` is the mean over pairs of halves of |A ∩ B| / |A ∪ B| of the top edges. As two halves have subjects in
    common, these are not near zero where nothing is to be found: `shared_by_luck` is the same overlap with labels that
    say nothing, `often_by_luck` the number of edges that are then among the top ones of more than half of the halves.

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
    >>> quick = Validation(folds=3, settings=Settings(nested=False))
    >>> found = evaluate(scans, ["linear-svm", "t-test-svm"], quick)
    >>> [(row["method"], round(row["accuracy"], 2)) for row in found.summary], len(found.scores)
    ([('linear-svm', 0.75), ('t-test-svm', 1.0)], 48)
    """
    for name in methods:
        find(name)
    settings = protocol.settings
    parts = [
        (repeat, fold, learn, test)
        for repeat in range(protocol.repeats)
        for fold, (learn, test) in enumerate(subject_folds(scans, protocol.folds, protocol.seed + repeat))
    ]
    scores: Rows = []
    pieces = Pieces(store)
    for i, (repeat, fold, learn, test) in enumerate(parts):
        for j, name in enumerate(methods):
            on_progress(f"{name}, fold {i + 1} of {len(parts)}", (i + j / len(methods)) / len(parts))
            key = ["scores", _content(scans), name, asdict(settings), protocol.seed + repeat, learn, test]
            make = partial(_score_fold, scans, name, settings, protocol.seed + repeat, learn, test)
            scores += [{"method": name, "repeat": repeat, "fold": fold, **row} for row in pieces.get(key, make)]
    on_progress("done", 1.0)
    return Evaluation(scores, summary(scores, protocol.seed))


def _score_fold(scans: Connectomes, name: str, settings: Settings, seed: int, learn: Any, test: Any) -> Rows:
    tested = scans.take(test)
    scores = find(name).train(scans.take(learn), settings, seed).decide(tested)
    return [
        {"scan": scan, "subject": subject, "label": int(label), "score": float(score)}
        for scan, subject, label, score in zip(tested.scans, tested.groups, tested.labels, scores, strict=True)
    ]


def _content(scans: Connectomes) -> tuple[Any, ...]:
    """All that scores depend on in the scans."""
    return scans.matrices, scans.series, scans.labels, scans.groups, scans.scans


def summary(scores: Iterable[dict[str, Any]], seed: int = 0) -> Rows:
    """How well each method did, a row each; standard errors and 95 % intervals by drawing subjects again.

    Where all or none are right the interval is the exact one of as many independent subjects (Clopper and Pearson).

    Examples
    --------
    >>> scored = [("1", 1, 0.8), ("2", 0, -0.5), ("3", 1, -0.1), ("4", 0, -0.6)]
    >>> rows = [{"method": "a", "repeat": 0, "subject": s, "label": y, "score": x} for s, y, x in scored]
    >>> found = summary(rows)[0]
    >>> found["accuracy"], found["sensitivity"], found["specificity"], found["auc"]
    (0.75, 0.5, 1.0, 1.0)
    """
    held: dict[str, Rows] = {}
    for row in scores:
        held.setdefault(row["method"], []).append(row)
    return [{"method": name, **_summary(rows, seed)} for name, rows in held.items()]


def _summary(rows: Rows, seed: int) -> dict[str, Any]:
    from sklearn.metrics import roc_auc_score

    label = np.array([row["label"] for row in rows])
    score = np.array([row["score"] for row in rows])
    repeat = np.array([row["repeat"] for row in rows])
    right = (score > 0) == (label == 1)
    subjects, member = np.unique([row["subject"] for row in rows], return_inverse=True)
    hits, total = np.bincount(member, right), np.bincount(member)
    drawn = np.random.default_rng(seed).integers(0, len(subjects), (DRAWS, len(subjects)))
    again = hits[drawn].sum(axis=1) / total[drawn].sum(axis=1)
    lower, upper = np.quantile(again, [0.025, 0.975])
    if hits.sum() in (0, total.sum()):  # subjects drawn again are all alike
        lower, upper = stats.binomtest(len(subjects) * int(right[0]), len(subjects)).proportion_ci(0.95)
    sensitivity, specificity = float(right[label == 1].mean()), float(right[label == 0].mean())
    return {
        "accuracy": float(right.mean()),
        "standard_error": float(again.std()),
        "lower": float(lower),
        "upper": float(upper),
        "balanced_accuracy": (sensitivity + specificity) / 2,
        "auc": float(np.mean([roc_auc_score(label[repeat == r], score[repeat == r]) for r in np.unique(repeat)])),
        "sensitivity": sensitivity,
        "specificity": specificity,
        "paired_accuracy": _paired(label, score, repeat, member),
    }


def _paired(label: Any, score: Any, repeat: Any, member: Any) -> float | None:
    """Share of a subject's pairs of scans whose scan of class 1 has the higher score; None without such pairs."""
    won = pairs = 0.0
    for key in set(zip(repeat.tolist(), member.tolist(), strict=True)):
        mine = (repeat == key[0]) & (member == key[1])
        gaps = score[mine & (label == 1)][:, None] - score[mine & (label == 0)]
        won += float((gaps > 0).sum() + 0.5 * (gaps == 0).sum())
        pairs += gaps.size
    return won / pairs if pairs else None


def differences(scores: Iterable[Mapping[str, Any]], seed: int = 0, draws: int = DRAWS) -> Rows:
    """Accuracy of each method against the most accurate one, over the same test scans.

    Parameters
    ----------
    scores : iterable of mapping
        Rows with method, subject, label (0 or 1) and score (above 0 for class 1), of all repeats.
    seed : int
    draws : int
        Of subjects, with replacement, the same for all methods.

    Returns
    -------
    list of dict
        method, accuracy, difference from the best, standard_error, lower and upper (95 % interval of the difference)
        and verdict: best, worse, or no clear difference. The best first. The interval is of one difference, not
        corrected for their number.

    Raises
    ------
    OptionError
        Where methods were tested on different scans.

    Examples
    --------
    >>> found = [("a", 1.0), ("b", -1.0)]
    >>> rows = [{"method": m, "subject": i, "label": 1, "score": x} for i in range(30) for m, x in found]
    >>> [(row["method"], row["difference"], row["verdict"]) for row in differences(rows)]
    [('a', 0.0, 'best'), ('b', -1.0, 'worse')]
    """
    right, total, methods = _right_by_subject(list(scores))
    accuracy = right.sum(axis=1) / total.sum()
    order = np.argsort(-accuracy, kind="stable")
    rng = np.random.default_rng(seed)
    n = total.size
    weights = rng.multinomial(n, np.full(n, 1 / n), size=draws).astype(np.float64)
    drawn = (weights @ right.T) / (weights @ total)[:, None]
    rows: Rows = []
    for i in order:
        difference = drawn[:, i] - drawn[:, order[0]]
        lower, upper = np.quantile(difference, [0.025, 0.975])
        rows.append(
            {
                "method": methods[i],
                "accuracy": float(accuracy[i]),
                "difference": float(accuracy[i] - accuracy[order[0]]),
                "standard_error": float(difference.std(ddof=1)),
                "lower": float(lower),
                "upper": float(upper),
                "verdict": "best" if i == order[0] else "worse" if upper < 0 else "no clear difference",
            }
        )
    return rows


def comparison_table(evaluation: Evaluation, seed: int = 0) -> Rows:
    """The summary of an evaluation, the best method first, and each method's difference from the best.

    Further columns are difference, its difference_standard_error, difference_lower, difference_upper, and verdict.

    Examples
    --------
    >>> found = [(i, m, x) for i in range(9) for m, x in [("a", 1.0), ("b", -1.0)]]
    >>> rows = [{"method": m, "repeat": 0, "subject": i, "label": i % 2, "score": x} for i, m, x in found]
    >>> [(row["method"], row["difference"] == 0) for row in comparison_table(Evaluation(rows, summary(rows)))]
    [('b', True), ('a', False)]
    """
    by_method = {row["method"]: row for row in evaluation.summary}
    return [
        by_method[row["method"]]
        | {"difference": row["difference"]}
        | {f"difference_{key}": row[key] for key in ("standard_error", "lower", "upper")}
        | {"verdict": row["verdict"]}
        for row in differences(evaluation.scores, seed)
    ]


def chance(scans: Connectomes) -> tuple[float, float, float]:
    """Accuracy of guesses: its expectation, and both ends of the interval that holds 95 % of them.

    Of always naming the larger class, in as many independent guesses as there are subjects, as scans of a subject
    are not independent.

    Examples
    --------
    >>> from graphpri.apps.brain_data import from_matrices
    >>> scans = from_matrices([np.eye(3)] * 40, [0, 1] * 20, groups=range(40))
    >>> chance(scans)
    (0.5, 0.35, 0.65)
    """
    share = max(np.mean(scans.labels), 1 - np.mean(scans.labels))
    n = len(set(scans.groups))
    lower, upper = stats.binom.interval(0.95, n, share)
    return float(share), float(lower / n), float(upper / n)


def _right_by_subject(rows: list[Mapping[str, Any]]) -> tuple[FloatArray, FloatArray, list[str]]:
    """Right answers of each method for each subject, and the number of answers of each subject."""
    methods = list(dict.fromkeys(str(row["method"]) for row in rows))
    subjects = list(dict.fromkeys(str(row["subject"]) for row in rows))
    at_method, at_subject = ({name: i for i, name in enumerate(names)} for names in (methods, subjects))
    right, total = (np.zeros((len(methods), len(subjects))) for _ in range(2))
    for row in rows:
        at = at_method[str(row["method"])], at_subject[str(row["subject"])]
        total[at] += 1
        right[at] += (float(row["score"]) > 0) == (int(row["label"]) == 1)
    if (total != total[0]).any():
        raise OptionError("methods were tested on different scans: their accuracies can't be compared")
    return right, total[0], methods


def permute_labels(scans: Connectomes, rng: np.random.Generator) -> Connectomes:
    """The scans with labels that say nothing: swapped within subjects at random, or dealt out among subjects.

    The labels of subjects with scans of both classes are swapped or not; those of the others are shuffled over these
    subjects, whose scans keep a label in common.

    Examples
    --------
    >>> from graphpri.apps.brain_data import from_matrices
    >>> scans = from_matrices([np.eye(3)] * 6, [0, 1, 1, 0, 0, 1], groups=["a", "a", "b", "b", "c", "c"])
    >>> found = permute_labels(scans, np.random.default_rng(0))
    >>> [sorted(pair) for pair in found.labels.reshape(3, 2).tolist()]  # each subject has both, as before
    [[0, 1], [0, 1], [0, 1]]
    """
    subjects, member = np.unique(scans.groups, return_inverse=True)
    first = np.array([scans.labels[member == s][0] for s in range(len(subjects))])
    both = np.array([len(set(scans.labels[member == s])) == 2 for s in range(len(subjects))])
    swapped, dealt = np.zeros(len(subjects), np.int64), first.copy()
    swapped[both] = rng.integers(0, 2, int(both.sum()))
    dealt[~both] = rng.permutation(first[~both])
    own = np.where(swapped[member] == 1, 1 - scans.labels, scans.labels)
    return replace(scans, labels=np.where(both[member], own, dealt[member]))


def permutation_p(
    scans: Connectomes,
    name: str,
    protocol: Validation = DEFAULT,
    on_progress: ProgressCallback = lambda text, share: None,
    store: Path | None = None,
) -> tuple[float, FloatArray]:
    """How often labels that say nothing are predicted as well: (1 + count) / (1 + n), and the accuracies under them.

    n are the permutations of `protocol`, whose folds are drawn once; `store` is a folder that keeps what is done, as
    for :func:`evaluate`.

    Raises
    ------
    OptionError
        For no permutations, and as :func:`evaluate` has it.

    Examples
    --------
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> scans = planted_connectomes(0.6, n_rois=12, n_modules=2, n_planted=3, n_train=24, n_test=4).train
    >>> quick = Validation(folds=3, permutations=19, settings=Settings(nested=False))
    >>> p, null = permutation_p(scans, "linear-svm", quick)
    >>> p, null.shape  # none of 19 does as well
    (0.05, (19,))
    """
    if protocol.permutations < 1:
        raise OptionError(f"{argument('permutations', protocol.permutations)}: a p-value needs one or more")
    once, n, pieces = replace(protocol, repeats=1), protocol.permutations, Pieces(store)

    def accuracy(held: Connectomes) -> float:
        key = ["permutation", _content(held), name, asdict(once.settings), once.seed, once.folds]
        return pieces.get(key, lambda: evaluate(held, [name], once).summary[0]["accuracy"])

    observed = accuracy(scans)
    rng = np.random.default_rng(protocol.seed)
    null = np.empty(n)
    for i in range(n):
        on_progress(f"{name}, permutation {i + 1} of {n}", i / n)
        null[i] = accuracy(permute_labels(scans, rng))
    return float((1 + (null >= observed - 1e-12).sum()) / (1 + n)), null


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

    There are as many halves as `protocol` says, and as many again with labels that say nothing
    (:func:`permute_labels`). Each is fitted with the method's default hyper-parameters: chosen within the halves they
    would differ, and the edges with them.

    `store` is a folder that keeps what is done, as for :func:`evaluate`.

    Raises
    ------
    OptionError
        For a method that says nothing of edges, and fewer than two halves.

    Examples
    --------
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(0.6, n_rois=12, n_modules=2, n_planted=3, n_train=24, n_test=4)
    >>> found = stability(drawn.train, "linear-svm", Validation(half_samples=4), top=3)
    >>> bool(found.frequency[drawn.planted].mean() > 0.5), found.jaccard > found.shared_by_luck
    (True, True)
    """
    if protocol.half_samples < 2:
        raise OptionError(f"{argument('half_samples', protocol.half_samples)}: stability needs two or more")
    settings = replace(protocol.settings, nested=False, tune=False, time_budget=None)
    rng, pieces = np.random.default_rng(protocol.seed), Pieces(store)
    found: list[list[FloatArray]] = []
    for i, held in enumerate((scans, permute_labels(scans, rng))):
        text = f"{name}, half {{}} of {protocol.half_samples}{', random labels' * i}"
        importances: list[FloatArray] = []
        for j in range(protocol.half_samples):
            on_progress(text.format(j + 1), (i + j / protocol.half_samples) / 2)
            half = held.take(_half_of_subjects(held, rng))
            key = ["half", _content(half), name, asdict(settings), protocol.seed]
            make = partial(_importance, half, name, settings, protocol.seed)
            importances.append(np.array(pieces.get(key, make)))
        found.append(importances)
    frequency, jaccard = _agreement(found[0], top)
    by_luck, shared = _agreement(found[1], top)
    return Stability(frequency, np.mean(found[0], axis=0), jaccard, shared, int((by_luck > 0.5).sum()))


def _agreement(importances: list[FloatArray], top: int) -> tuple[FloatArray, float]:
    """How often each edge is among the top ones, and the mean overlap of two such lists; no edge of importance 0 is."""
    best = [set(ranked(found, top).tolist()) for found in importances]
    frequency = np.zeros(importances[0].size)
    for chosen in best:
        frequency[list(chosen)] += 1 / len(best)
    agreed = [len(a & b) / len(a | b) if a | b else 0.0 for a, b in combinations(best, 2)]
    return frequency, float(np.mean(agreed))


def _importance(half: Connectomes, name: str, settings: Settings, seed: int) -> list[float]:
    found = find(name).train(half, settings, seed).importance
    if found is None:
        raise OptionError(f"method {name!r} says nothing of single edges: choose edge-readout, or an SVM")
    return found.tolist()


def _half_of_subjects(scans: Connectomes, rng: np.random.Generator) -> BoolArray:
    """Scans of half of the subjects; where subjects have one class each, of half of those of each class."""
    subjects, member = np.unique(scans.groups, return_inverse=True)
    kind = np.array([scans.labels[member == s].mean() for s in range(len(subjects))])
    chosen = np.zeros(len(subjects), bool)
    for value in np.unique(kind):
        mine = rng.permutation(np.flatnonzero(kind == value))
        chosen[mine[: -(-mine.size // 2)]] = True
    return chosen[member]
