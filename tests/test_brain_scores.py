"""Measures of scores, their intervals over subjects, and what luck explains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from graphpri.apps.brain_data import from_matrices
from graphpri.apps.brain_scores import (
    area_under_curve,
    balanced_accuracy,
    best_p,
    chance,
    differences,
    luck,
    shuffled,
    summary,
)
from graphpri.errors import OptionError


def rows(label: Any, score: Any, method: str = "m", subjects: Any = None) -> list[dict[str, Any]]:
    names = range(len(label)) if subjects is None else subjects
    return [
        {
            "method": method,
            "repeat": 0,
            "fold": 0,
            "scan": f"{i:03}",
            "subject": str(s),
            "label": int(y),
            "score": float(x),
        }
        for i, (s, y, x) in enumerate(zip(names, label, score, strict=True))
    ]


def test_measures_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    label, score = rng.integers(0, 2, 40), np.round(rng.normal(size=40), 1)
    assert area_under_curve(label, score) == pytest.approx(metrics.roc_auc_score(label, score))
    assert balanced_accuracy(label, score) == pytest.approx(metrics.balanced_accuracy_score(label, score > 0))
    three, each = rng.integers(0, 3, 60), rng.normal(size=(60, 3))
    each /= each.sum(axis=1, keepdims=True)
    own = [metrics.roc_auc_score(three == k, each[:, k]) for k in range(3)]
    assert area_under_curve(three, each) == pytest.approx(np.mean(own))
    assert balanced_accuracy(three, each) == pytest.approx(metrics.balanced_accuracy_score(three, each.argmax(axis=1)))


def test_known_scores_have_the_known_summary() -> None:
    held = rows([0, 1] * 3, [-1.0, 2.0, 0.5, 1.0, -1.0, -2.0], subjects=[0, 0, 1, 1, 2, 2])
    (found,) = summary(held)
    for key in ("accuracy", "balanced_accuracy", "sensitivity", "specificity", "paired_accuracy"):
        assert found[key] == pytest.approx(2 / 3)
    assert found["auc"] == pytest.approx(6 / 9, abs=0.06)


def test_one_class_for_all_has_half_of_the_balanced_accuracy() -> None:
    (found,) = summary(rows([0] * 40 + [1] * 8, [-1.0] * 48))
    assert found["accuracy"] == pytest.approx(40 / 48)
    assert found["balanced_accuracy"] == 0.5
    assert found["lower"] < 0.5 < found["upper"]


@pytest.mark.parametrize("right", [True, False])
def test_where_all_are_right_or_none_the_interval_is_the_exact_one(right: bool) -> None:
    label = np.arange(24) % 2
    (found,) = summary(rows(label, (2.0 * label - 1) * (1 if right else -1)))
    ends = (found["lower"], found["upper"])
    assert ends == pytest.approx((0.025 ** (1 / 12), 1) if right else (0, 1 - 0.025 ** (1 / 12)))


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    rng, held = np.random.default_rng(0), 0
    for _ in range(100):
        label = np.repeat([0, 1], [40, 15])
        right = rng.random(55) < np.where(label == 1, 0.7, 0.8)
        (found,) = summary(rows(label, np.where(right, 1, -1) * (2 * label - 1)), draws=300)
        held += found["lower"] <= 0.75 <= found["upper"]
    assert held >= 86


def test_scores_of_a_regression_have_their_correlation() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=50)
    y = 0.5 * x + rng.normal(size=50)
    held = [
        {"method": "m", "subject": str(i), "target": a, "predicted": b}
        for i, (a, b) in enumerate(zip(x, y, strict=True))
    ]
    (found,) = summary(held)
    assert found["r"] == pytest.approx(stats.pearsonr(x, y).statistic)
    assert found["mean_absolute_error"] == pytest.approx(np.abs(x - y).mean())
    assert found["r2"] == pytest.approx(metrics.r2_score(x, y))
    assert found["lower"] < found["r"] < found["upper"]
    ((alone, best),) = luck(held).values()
    assert alone == best < 0.05


def test_shuffled_labels_stay_within_sites() -> None:
    label, sites = np.repeat([0.0, 1.0, 0.0, 1.0], [8, 2, 3, 7]), ["a"] * 10 + ["b"] * 10
    rng = np.random.default_rng(0)
    for _ in range(5):
        found = shuffled(label, range(20), rng, sites)
        assert found[:10].sum() == 2
        assert found[10:].sum() == 7


def test_p_of_guesses_is_uniform_and_that_of_the_best_is_no_smaller() -> None:
    rng = np.random.default_rng(0)
    label = np.repeat([0, 1], [20, 8])
    alone, best = [], []
    for _ in range(60):
        held = [row for m in "abc" for row in rows(label, rng.normal(size=28), m)]
        found = luck(held, shuffles=99)
        alone.append(found["a"][0])
        best.append(min(p for _, p in found.values()))
        assert all(p <= family for p, family in found.values())
    assert 0.3 < np.mean(alone) < 0.7
    assert np.mean(np.array(best) <= 0.1) < 0.25


def test_the_best_of_permuted_methods_is_judged_by_the_best_of_each_permutation() -> None:
    null = {"a": np.array([0.5, 0.9, 0.5, 0.5]), "b": np.array([0.5, 0.5, 0.9, 0.5])}
    assert best_p(null, {"a": 0.8, "b": 0.4}) == {"a": (0.4, 0.6), "b": (1.0, 1.0)}


def test_methods_are_told_apart_only_where_subjects_say_so() -> None:
    label = np.arange(40) % 2
    good = 2.0 * label - 1
    good[:4] *= -1
    near = 2.0 * label - 1
    near[4:8] *= -1
    found = {row["method"]: row for row in differences(rows(label, good, "good") + rows(label, near, "near"))}
    assert found["near"]["verdict"] == "no clear difference"
    with pytest.raises(OptionError, match="different scans"):
        differences(rows(label, good, "a") + rows(label[1:], good[1:], "b"))


def test_the_chance_level_is_that_of_guesses_over_subjects() -> None:
    label = np.repeat([0, 1], [40, 8])
    level, lower, upper = chance(from_matrices([np.eye(3)] * 48, label))
    assert level == 0.5
    deviation = np.sqrt(0.25 / 40 + 0.25 / 8) / 2
    assert (lower, upper) == pytest.approx((0.5 - 1.96 * deviation, 0.5 + 1.96 * deviation), abs=0.03)
    twice = from_matrices([np.eye(3)] * 24, [0, 1] * 12, groups=[i // 2 for i in range(24)])
    assert chance(twice)[1:] == pytest.approx(np.array(stats.binom.interval(0.95, 12, 0.5)) / 12)
    assert chance(from_matrices([np.eye(3)] * 30, [*"abc"] * 10))[0] == pytest.approx(1 / 3)
