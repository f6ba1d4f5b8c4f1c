"""Planted edges: the generator has the means, deviations and differences that its description states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2, norm, ttest_ind
from sklearn.metrics import roc_auc_score

from graphpri.apps.brain_graph import candidates, connectome_graphs, fisher_z, pairs, upper
from graphpri.apps.brain_planted import ACROSS, NOISE, SPREAD, STRONG, SUBJECT, WITHIN, planted_connectomes
from graphpri.errors import OptionError

ALPHA = 1e-4


def is_deviation(values: Any, expected: float) -> bool:
    """Whether a sample of a normal distribution may have this deviation."""
    share = chi2.cdf(np.var(values, ddof=1) * (values.size - 1) / expected**2, values.size - 1)
    return bool(ALPHA < share < 1 - ALPHA)


def is_mean(values: Any, expected: float, deviation: float) -> bool:
    return bool(abs(values.mean() - expected) < norm.isf(ALPHA) * deviation / np.sqrt(values.size))


def test_sizes_are_those_of_the_description() -> None:
    found = planted_connectomes()
    assert found.train.matrices.shape == (96, 116, 116)
    assert found.test.matrices.shape == (48, 116, 116)
    assert np.bincount(found.train.labels).tolist() == [48, 48]
    assert np.bincount(found.test.labels).tolist() == [24, 24]
    assert len(set(found.train.groups)) == 96
    assert sorted(np.bincount(found.modules)) == [19, 19, 19, 19, 20, 20]
    assert found.planted.sum() == 40
    u, v = pairs(116)
    assert (found.modules[u] == found.modules[v])[found.planted].all()
    assert (found.base[found.planted] > STRONG).all()
    assert set(np.round(np.abs(found.shift[found.planted]), 12)) == {0.15}
    assert not found.shift[~found.planted].any()
    assert 8 <= (found.shift > 0).sum() <= 32


def test_base_differs_within_and_across_modules() -> None:
    found = planted_connectomes(seed=1)
    u, v = pairs(116)
    within = found.modules[u] == found.modules[v]
    for values, mean in ((found.base[within], WITHIN), (found.base[~within], ACROSS)):
        assert is_mean(values, mean, SPREAD)
        assert is_deviation(values, SPREAD)


def test_subjects_and_noise_have_their_deviations() -> None:
    found = planted_connectomes(0.0, seed=2, n_train=400)
    u, v = pairs(116)
    member = np.where(found.modules[u] == found.modules[v], found.modules[u], -1)
    rest = fisher_z(upper(found.train.matrices)) - found.base
    every = rest[:, member < 0].mean(axis=1)
    assert is_mean(every, 0, SUBJECT)
    assert is_deviation(every, SUBJECT)
    own = np.stack([rest[:, member == m].mean(axis=1) - every for m in range(6)])
    assert is_deviation(own.ravel(), np.hypot(SUBJECT, NOISE / np.sqrt(171)))
    np.testing.assert_allclose(np.corrcoef(own) - np.eye(6), 0, atol=0.2)
    noise = rest[:, member < 0] - every[:, None]
    assert noise.std() == pytest.approx(NOISE, rel=0.005)


def test_classes_differ_by_delta_at_the_planted_edges_only() -> None:
    found = planted_connectomes(0.3, seed=3, n_train=400)
    z = fisher_z(upper(found.train.matrices))
    y = found.train.labels
    # Less its mean over the module, which takes the subject's own effect away.
    u, v = pairs(116)
    for m in range(6):
        inside = (found.modules[u] == m) & (found.modules[v] == m)
        quiet = inside & ~found.planted
        z[:, inside] -= z[:, quiet].mean(axis=1, keepdims=True)
    gap = z[y == 1].mean(axis=0) - z[y == 0].mean(axis=0)
    error = 2 * NOISE / np.sqrt(400)
    inside = found.modules[u] == found.modules[v]
    score = (gap - found.shift)[inside] / error
    assert np.abs(score).max() < norm.isf(ALPHA / score.size)
    assert is_deviation(score, 1.0)


def test_planted_edges_are_candidates_and_a_t_test_finds_many() -> None:
    found = planted_connectomes(seed=4)
    chosen = candidates(connectome_graphs(found.train.matrices))
    assert chosen[found.planted].all()
    z, y = fisher_z(upper(found.train.matrices)), found.train.labels
    t = np.abs(ttest_ind(z[y == 1], z[y == 0]).statistic)
    assert roc_auc_score(found.planted[chosen], t[chosen]) > 0.95
    nothing = planted_connectomes(0.0, seed=4)
    z = fisher_z(upper(nothing.train.matrices))
    t = np.abs(ttest_ind(z[y == 1], z[y == 0]).statistic)
    assert 0.3 < roc_auc_score(nothing.planted[chosen], t[chosen]) < 0.7


def test_same_seed_same_scans_and_another_seed_others() -> None:
    sizes: Any = {"n_rois": 20, "n_modules": 2, "n_planted": 4, "n_train": 6, "n_test": 4}
    one, two = planted_connectomes(seed=5, **sizes), planted_connectomes(seed=np.random.default_rng(5), **sizes)
    other = planted_connectomes(seed=6, **sizes)
    for a, b in ((one.train, two.train), (one.test, two.test)):
        np.testing.assert_array_equal(a.matrices, b.matrices)
    np.testing.assert_array_equal(one.shift, two.shift)
    assert not np.array_equal(one.train.matrices, other.train.matrices)
    assert not np.array_equal(one.train.matrices[:4], one.test.matrices)


@pytest.mark.parametrize(
    "options",
    [
        {"n_modules": 0},
        {"n_modules": 60},
        {"n_rois": 3, "n_modules": 1},
        {"n_train": 3},
        {"n_test": 2},
        {"n_planted": 0},
        {"n_planted": 5000},
        {"delta": -0.1},
        {"delta": float("nan")},
    ],
)
def test_sizes_out_of_range_are_refused(options: Any) -> None:
    with pytest.raises(OptionError, match=next(iter(options))):
        planted_connectomes(**options)
