"""How good scores of scans are: measures, intervals over subjects, and what luck explains.

Rows of scores have method, repeat, subject and, for classes, label (a number from 0) and score (above 0 for class 1),
or of several classes a column ``score_`` of each; for a regression, target and predicted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from graphpri.apps import Records
from graphpri.apps.brain_data import Connectomes
from graphpri.errors import OptionError
from graphpri.graph import BoolArray, FloatArray, IntArray

DRAWS = 2000
"""Times that subjects are drawn again, for intervals (bootstrap)."""

SHUFFLES = 1999
"""Times that the labels of subjects are shuffled over the scores of test scans."""

_EACH = "score_"  # begins the columns of scores of several classes


def area_under_curve(truth: ArrayLike, scores: ArrayLike) -> float:
    """Area under the curve of each class against the others, their mean.

    Parameters
    ----------
    truth : array_like of int, shape (n,)
        Classes from 0.
    scores : array_like, shape (n,) or (n, C)
        Of class 1, or of each class.

    Examples
    --------
    >>> area_under_curve([0, 1, 0, 1], [-1.0, 0.5, 0.7, 2.0])
    0.75
    """
    each = _of_each_class(scores)
    codes = np.asarray(truth, np.int64)
    return float(_areas(_indicator(codes, each.shape[1])[None], _ranks(each))[0])


def balanced_accuracy(truth: ArrayLike, scores: ArrayLike) -> float:
    """Mean over the classes of the share of its scans that are called so.

    Parameters
    ----------
    truth, scores
        As in :func:`area_under_curve`.

    Examples
    --------
    >>> balanced_accuracy([0, 0, 0, 1], [-1.0, -1.0, 1.0, 1.0]).__round__(3)
    0.833
    """
    codes, called = np.asarray(truth, np.int64), _of_each_class(scores).argmax(axis=1)
    return float(np.mean([(called[codes == k] == k).mean() for k in np.unique(codes)]))


def quality(truth: ArrayLike, scores: ArrayLike, regression: bool = False) -> float:
    """What parameters are chosen by, and what is compared with luck.

    For classes the mean of balanced accuracy and area under the curve: the area alone does not see that all scans are
    called one class, the accuracy alone not how well they are ranked. For a regression the correlation.

    Examples
    --------
    >>> quality([0, 0, 1, 1], [-2.0, -1.0, 1.0, 2.0]), quality([0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0])
    (1.0, 0.75)
    """
    if regression:
        return _correlation(np.asarray(truth, np.float64), np.asarray(scores, np.float64))
    return (balanced_accuracy(truth, scores) + area_under_curve(truth, scores)) / 2


def score_row(decided: FloatArray, classes: Sequence[str]) -> list[dict[str, float]]:
    """Columns of a row of scores for what a classifier decided, shape (S,) or (S, C).

    Examples
    --------
    >>> score_row(np.array([0.5]), ("a", "b")), score_row(np.array([[0.5, 0.1, 0.2]]), ("a", "b", "c"))
    ([{'score': 0.5}], [{'score_a': 0.5, 'score_b': 0.1, 'score_c': 0.2}])
    """
    if decided.ndim == 1:
        name = "score" if classes else "predicted"
        return [{name: float(x)} for x in decided]
    return [{f"{_EACH}{k}": float(x) for k, x in zip(classes, row, strict=True)} for row in decided]


def _of_each_class(scores: ArrayLike) -> FloatArray:
    """Scores of each class, shape (n, C): that of class 1 and its negative where there are two."""
    held = np.asarray(scores, np.float64)
    return np.column_stack([-held, held]) if held.ndim == 1 else held


def _indicator(codes: IntArray, n: int) -> FloatArray:
    return (codes[:, None] == np.arange(n)).astype(np.float64)


def _ranks(scores: FloatArray) -> FloatArray:
    return stats.rankdata(scores, axis=0)


def _areas(indicators: FloatArray, ranks: FloatArray) -> FloatArray:
    """Mean area over the classes (Mann and Whitney) for several ways to deal out labels, shape (D, n, C) to (D,)."""
    count = indicators.sum(axis=1)
    sums = np.einsum("dnc,nc->dc", indicators, ranks)
    with np.errstate(invalid="ignore", divide="ignore"):
        each = (sums - count * (count + 1) / 2) / (count * (ranks.shape[0] - count))
    return np.nanmean(each, axis=1)


def _correlation(x: FloatArray, y: FloatArray) -> float:
    both = x.std() * y.std()
    return float(((x - x.mean()) * (y - y.mean())).mean() / both) if both > 1e-300 else 0.0


# What a method answered


@dataclass(frozen=True, eq=False)
class _Answers(ABC):
    """Answers of a method for n rows: the truth, scores, and number of the repeat and of the subject of each."""

    truth: FloatArray
    scores: FloatArray
    repeat: IntArray
    member: IntArray
    subjects: tuple[str, ...]

    @abstractmethod
    def measured(self) -> dict[str, float | None]:
        """Measures by name, the one that methods are compared by first."""

    @abstractmethod
    def drawn(self, weights: FloatArray) -> FloatArray:
        """That measure when subjects count as often as `weights` say, shape (D, subjects) to (D,)."""

    @abstractmethod
    def qualities(self, truths: FloatArray) -> FloatArray:
        """The quality of the scores by other truths, shape (D, n) to (D,)."""

    @abstractmethod
    def certain(self) -> tuple[float, float]:
        """An interval where subjects drawn again are all alike."""


@dataclass(frozen=True, eq=False)
class _OfClasses(_Answers):
    """Scores of classes, shape (n, C)."""

    @cached_property
    def _right(self) -> BoolArray:
        return self.scores.argmax(axis=1) == self.truth

    @cached_property
    def _counts(self) -> tuple[FloatArray, FloatArray]:
        """Right answers and all answers by class and subject, shape (C, subjects)."""
        codes, shape = self.truth.astype(np.int64), (self.scores.shape[1], len(self.subjects))
        hits, total = np.zeros(shape), np.zeros(shape)
        np.add.at(hits, (codes, self.member), self._right)
        np.add.at(total, (codes, self.member), 1.0)
        return hits, total

    def measured(self) -> dict[str, float | None]:
        right, codes = self._right, self.truth.astype(np.int64)
        recall = [float(right[codes == k].mean()) for k in range(self.scores.shape[1])]
        areas = [area_under_curve(codes[self.repeat == r], self.scores[self.repeat == r]) for r in set(self.repeat)]
        found: dict[str, float | None] = {
            "balanced_accuracy": float(np.mean(recall)),
            "auc": float(np.mean(areas)),
            "accuracy": float(right.mean()),
        }
        if len(recall) == 2:
            return found | {"sensitivity": recall[1], "specificity": recall[0], "paired_accuracy": self._paired()}
        return found | {f"recall_{k}": value for k, value in enumerate(recall)}

    def drawn(self, weights: FloatArray) -> FloatArray:
        hits, total = self._counts
        with np.errstate(invalid="ignore"):  # a draw may lack a class
            each = (weights @ hits.T) / (weights @ total.T)
        return np.nanmean(each, axis=1)

    def qualities(self, truths: FloatArray) -> FloatArray:
        codes, n = truths.astype(np.int64), self.scores.shape[1]
        called, found = self.scores.argmax(axis=1), np.zeros(len(codes))
        for r in set(self.repeat):
            at = self.repeat == r
            indicators = codes[:, at, None] == np.arange(n)
            count = indicators.sum(axis=1)
            right = (indicators & (called[at, None] == np.arange(n))).sum(axis=1)
            balanced = np.where(count, right / np.maximum(count, 1), np.nan)
            area = _areas(indicators.astype(np.float64), _ranks(self.scores[at]))
            found += (np.nanmean(balanced, axis=1) + area) / 2
        return found / len(set(self.repeat))

    def certain(self) -> tuple[float, float]:
        """The mean over the classes of the exact interval of as many independent subjects (Clopper and Pearson)."""
        hits, total = self._counts
        ends: list[tuple[float, float]] = []
        for mine, right in zip(total, hits, strict=True):
            n = int((mine > 0).sum())
            found = stats.binomtest(round(n * right.sum() / max(mine.sum(), 1)), n).proportion_ci(0.95)
            ends.append((float(found.low), float(found.high)))
        return float(np.mean([low for low, _ in ends])), float(np.mean([high for _, high in ends]))

    def _paired(self) -> float | None:
        """Share of a subject's pairs of scans whose scan of class 1 has the higher score; None without such pairs."""
        won = pairs = 0.0
        label, score = self.truth, self.scores[:, 1]
        both = np.flatnonzero((self._counts[1] > 0).all(axis=0))
        for subject in both:
            for r in set(self.repeat):
                mine = (self.repeat == r) & (self.member == subject)
                gaps = score[mine & (label == 1)][:, None] - score[mine & (label == 0)]
                won += float((gaps > 0).sum() + 0.5 * (gaps == 0).sum())
                pairs += gaps.size
        return won / pairs if pairs else None


@dataclass(frozen=True, eq=False)
class _OfScore(_Answers):
    """Predictions of a number, shape (n,)."""

    def measured(self) -> dict[str, float | None]:
        error, spread = self.scores - self.truth, self.truth - self.truth.mean()
        return {
            "r": _correlation(self.truth, self.scores),
            "r2": float(1 - (error**2).sum() / (spread**2).sum()),
            "mean_absolute_error": float(np.abs(error).mean()),
        }

    def drawn(self, weights: FloatArray) -> FloatArray:
        w = weights[:, self.member]
        w = w / w.sum(axis=1, keepdims=True)
        x, y = self.truth - self.truth.mean(), self.scores - self.scores.mean()
        mean_x, mean_y = w @ x, w @ y
        spread = (w @ x**2 - mean_x**2) * (w @ y**2 - mean_y**2)
        return (w @ (x * y) - mean_x * mean_y) / np.sqrt(np.maximum(spread, 1e-300))

    def qualities(self, truths: FloatArray) -> FloatArray:
        x, y = truths - truths.mean(axis=1, keepdims=True), self.scores - self.scores.mean()
        return (x @ y) / np.maximum(np.linalg.norm(x, axis=1) * np.linalg.norm(y), 1e-300)

    def certain(self) -> tuple[float, float]:
        return -1.0, 1.0


def _answers(scores: Iterable[Mapping[str, Any]]) -> dict[str, _Answers]:
    """The answers of each method, rows in the order of repeats and scans, so that those of methods belong together.

    Raises
    ------
    OptionError
        Where methods were tested on different scans.
    """
    held: dict[str, list[Mapping[str, Any]]] = {}
    for row in scores:
        held.setdefault(str(row["method"]), []).append(row)
    found: dict[str, _Answers] = {}
    tested = None
    for name, rows in held.items():
        keys = [(int(row.get("repeat", 0)), str(row.get("scan", "")), str(row["subject"])) for row in rows]
        order = sorted(range(len(rows)), key=keys.__getitem__)
        rows, keys = [rows[i] for i in order], [keys[i] for i in order]
        if keys != (tested := tested or keys):
            raise OptionError("methods were tested on different scans: their results can't be compared")
        subjects, member = np.unique([key[2] for key in keys], return_inverse=True)
        where = np.array([key[0] for key in keys]), member, tuple(map(str, subjects))
        if "target" in rows[0]:
            x, y = (np.array([row[key] for row in rows], np.float64) for key in ("target", "predicted"))
            found[name] = _OfScore(x, y, *where)
            continue
        label = np.array([row["label"] for row in rows], np.float64)
        each = [key for key in rows[0] if key.startswith(_EACH)]
        score = [[row[key] for key in each] for row in rows] if each else [row["score"] for row in rows]
        found[name] = _OfClasses(label, _of_each_class(score), *where)
    return found


def summary(scores: Iterable[Mapping[str, Any]], seed: int = 0, draws: int = DRAWS) -> Records:
    """How well each method did, a row each; standard error and 95 % interval by drawing subjects again.

    Of classes balanced_accuracy with standard_error, lower and upper, auc, accuracy, and of two sensitivity,
    specificity and paired_accuracy (of the subjects with a scan of each class: the scan of class 1 has the higher
    score), of more the recall of each; of a score r with its interval, r2 (against the mean of all), and
    mean_absolute_error. Where subjects drawn again are all alike, as where all answers are right, the interval is the
    exact one of as many independent subjects (Clopper and Pearson), meant over the classes.

    Examples
    --------
    >>> scored = [("1", 1, 0.8), ("2", 0, -0.5), ("3", 1, -0.1), ("4", 0, -0.6)]
    >>> rows = [{"method": "a", "repeat": 0, "subject": s, "label": y, "score": x} for s, y, x in scored]
    >>> found = summary(rows)[0]
    >>> found["balanced_accuracy"], found["sensitivity"], found["specificity"], found["auc"]
    (0.75, 0.5, 1.0, 1.0)
    """
    rows: Records = []
    for name, answers in _answers(scores).items():
        again = answers.drawn(_weights(answers, seed, draws))
        lower, upper = answers.certain() if np.ptp(again) < 1e-9 else np.quantile(again, [0.025, 0.975])
        (first, value), *rest = answers.measured().items()
        ends = {"standard_error": float(again.std()), "lower": float(lower), "upper": float(upper)}
        rows.append({"method": name, first: value, **ends, **dict(rest)})
    return rows


def _weights(answers: _Answers, seed: int, draws: int) -> FloatArray:
    """How often each subject is drawn, shape (draws, subjects)."""
    n = len(answers.subjects)
    return np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=draws).astype(np.float64)


def main_measure(row: Mapping[str, Any]) -> str:
    """What methods are compared by: balanced_accuracy, or r of a regression.

    Examples
    --------
    >>> main_measure({"method": "a", "r": 0.4})
    'r'
    """
    return "r" if "r" in row else "balanced_accuracy"


def differences(scores: Iterable[Mapping[str, Any]], seed: int = 0, draws: int = DRAWS) -> Records:
    """Each method against the best one, over the same test scans.

    Parameters
    ----------
    scores : iterable of mapping
        Rows of all methods and repeats.
    seed : int
    draws : int
        Of subjects, with replacement, the same for all methods.

    Returns
    -------
    list of dict
        method, balanced_accuracy (or r), difference from the best, standard_error, lower and upper (95 % interval of
        the difference) and verdict: best, worse, or no clear difference. The best first. The interval is of one
        difference, not corrected for their number.

    Raises
    ------
    OptionError
        Where methods were tested on different scans.

    Examples
    --------
    >>> found = [("a", 1.0), ("b", -1.0)]
    >>> rows = [(m, i, i % 2, x * (i % 2 or -1)) for i in range(30) for m, x in found]
    >>> rows = [dict(zip(("method", "subject", "label", "score"), row)) for row in rows]
    >>> [(row["method"], row["difference"], row["verdict"]) for row in differences(rows)]
    [('a', 0.0, 'best'), ('b', -1.0, 'worse')]
    """
    found = _answers(scores)
    methods, answers = list(found), list(found.values())
    measured = [next(iter(x.measured().items())) for x in answers]
    values = np.array([value for _, value in measured])
    order = np.argsort(-values, kind="stable")
    weights = _weights(answers[0], seed, draws)
    best = answers[order[0]].drawn(weights)
    rows: Records = []
    for i in order:
        difference = answers[i].drawn(weights) - best
        lower, upper = np.quantile(difference, [0.025, 0.975])
        rows.append(
            {
                "method": methods[i],
                measured[i][0]: float(values[i]),
                "difference": float(values[i] - values[order[0]]),
                "standard_error": float(difference.std(ddof=1)),
                "lower": float(lower),
                "upper": float(upper),
                "verdict": "best" if i == order[0] else "worse" if upper < 0 else "no clear difference",
            }
        )
    return rows


# Luck


def shuffled(
    truth: ArrayLike, groups: ArrayLike, rng: np.random.Generator, sites: ArrayLike | None = None
) -> FloatArray:
    """Labels, or targets, that say nothing: dealt out anew within subjects and among them.

    Those of a subject whose scans differ are shuffled within the subject; those of the others are shuffled over these
    subjects, whose scans keep a value in common, within each site where sites are given.

    Parameters
    ----------
    truth, groups, sites : array_like, shape (S,)
    rng : Generator

    Examples
    --------
    >>> found = shuffled([0, 1, 1, 0, 0, 1], ["a", "a", "b", "b", "c", "c"], np.random.default_rng(0))
    >>> [sorted(pair) for pair in found.reshape(3, 2).tolist()]  # each subject has both, as before
    [[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]
    """
    values = np.array(truth, np.float64)
    _, first, member = np.unique(np.asarray(groups), return_index=True, return_inverse=True)
    differ = np.zeros(first.size, bool)
    np.logical_or.at(differ, member, values != values[first][member])
    for subject in np.flatnonzero(differ):
        mine = member == subject
        values[mine] = rng.permutation(values[mine])
    place = np.zeros(values.size, np.int64) if sites is None else np.unique(np.asarray(sites), return_inverse=True)[1]
    own = values[first]
    for site in np.unique(place):
        these = np.flatnonzero(~differ & (place[first] == site))
        own[these] = own[rng.permutation(these)]
    return np.where(differ[member], values, own[member])


def luck(
    scores: Iterable[Mapping[str, Any]],
    seed: int = 0,
    shuffles: int = SHUFFLES,
    sites: Mapping[str, str] | None = None,
) -> dict[str, tuple[float, float]]:
    """How often, for each method, often shuffled labels have scores of such quality; and the best of all methods.

    Labels are shuffled over the scores that test scans have (:func:`shuffled`), the same way for all methods, and
    nothing is fitted again. The second p is by the largest quality over the methods (maximum statistic, P. H. Westfall
    and S. S. Young, 1993), so that choosing the best of several is accounted for.

    Parameters
    ----------
    scores : iterable of mapping
    seed, shuffles : int
    sites : mapping of str to str, optional
        Site of each subject, within which labels are shuffled.

    Examples
    --------
    >>> rows = [{"method": "a", "subject": i, "label": i % 2, "score": (i % 2) - 0.5} for i in range(30)]
    >>> luck(rows, shuffles=99)
    {'a': (0.01, 0.01)}
    """
    found = _answers(scores)
    one = next(iter(found.values()))
    names = np.array(one.subjects)[one.member]
    at = None if sites is None else [sites[name] for name in names]
    rng = np.random.default_rng(seed)
    first = one.repeat == one.repeat[0]
    where = {key: i for i, key in enumerate(zip(*_key(one, first), strict=True))}
    again = [where[key] for key in zip(*_key(one, np.ones(first.size, bool)), strict=True)]
    part = None if at is None else [x for x, chosen in zip(at, first, strict=True) if chosen]
    truths = np.array([shuffled(one.truth[first], names[first], rng, part) for _ in range(shuffles)])[:, again]
    observed = {name: float(x.qualities(one.truth[None])[0]) for name, x in found.items()}
    null = np.array([x.qualities(truths) for x in found.values()])
    most = null.max(axis=0)
    return {
        name: (_share_above(null[i], value), _share_above(most, value))
        for i, (name, value) in enumerate(observed.items())
    }


def mean_quality(scores: Iterable[Mapping[str, Any]]) -> float:
    """The :func:`quality` of the scores of one method, the mean over repeats.

    Examples
    --------
    >>> mean_quality([{"method": "a", "subject": i, "label": i % 2, "score": (i % 2) - 0.5} for i in range(6)])
    1.0
    """
    (one,) = _answers(scores).values()
    return float(one.qualities(one.truth[None])[0])


def _key(answers: _Answers, chosen: Any) -> tuple[IntArray, IntArray]:
    """Subject of each row, and the number of the row among those of its subject in its repeat."""
    member, repeat = answers.member[chosen], answers.repeat[chosen]
    count: dict[tuple[int, int], int] = {}
    number: list[int] = []
    for key in zip(repeat.tolist(), member.tolist(), strict=True):
        number.append(count.get(key, 0))
        count[key] = number[-1] + 1
    return member, np.array(number)


def _share_above(null: FloatArray, value: float) -> float:
    return float((1 + (null >= value - 1e-12).sum()) / (1 + null.size))


def best_p(null: Mapping[str, FloatArray], observed: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """The p of each method by the qualities under permuted labels, alone and for the best of all methods.

    Examples
    --------
    >>> best_p({"a": np.array([0.5, 0.6, 0.7])}, {"a": 0.9})
    {'a': (0.25, 0.25)}
    """
    most = np.max(list(null.values()), axis=0)
    return {name: (_share_above(null[name], value), _share_above(most, value)) for name, value in observed.items()}


def chance(scans: Connectomes, draws: int = 20000) -> tuple[float, float, float]:
    """What guesses have: the expectation, and both ends of the interval that holds 95 % of them.

    Of classes the balanced accuracy, of as many independent guesses as there are subjects, as scans of a subject are
    not independent: all scans of a subject are right or wrong together. Of a score the correlation, about
    ±1.96/√(subjects − 1).

    Examples
    --------
    >>> from graphpri.apps.brain_data import from_matrices
    >>> scans = from_matrices([np.eye(3)] * 40, [0, 1] * 20, groups=range(40))
    >>> chance(scans)
    (0.5, 0.35, 0.65)
    """
    subjects, member = np.unique(scans.groups, return_inverse=True)
    if scans.target is not None:
        end = min(1.0, 1.96 / max(len(subjects) - 1, 1) ** 0.5)
        return 0.0, -end, end
    n = len(scans.classes)
    total = np.zeros((n, len(subjects)))
    np.add.at(total, (scans.labels, member), 1.0)
    right = np.random.default_rng(0).random((draws, len(subjects))) < 1 / n
    found = (right @ (total / np.maximum(total.sum(axis=1, keepdims=True), 1)).T).mean(axis=1)
    lower, upper = np.quantile(found, [0.025, 0.975])
    return 1 / n, float(lower), float(upper)
