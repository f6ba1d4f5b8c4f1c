"""The scalar PRI: its objective against its definition, descent, the estimator, and hostile input."""

from __future__ import annotations

import math
import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from graphpri.apps import scalar
from graphpri.apps.scalar import (
    EXPECTED_FAILED_CHECKS,
    NEAR,
    Cloud,
    ScalarPRI,
    clusters,
    descend,
    draw,
    evaluate,
    silverman,
)
from graphpri.errors import GraphPRIError, OptionError
from graphpri.studies import scalar_pri
from graphpri.studies.scalar_pri import crossing

BETAS = (0.0, 0.1, 0.5, 1.0, 3.0, 100.0, math.inf)
every_beta = pytest.mark.parametrize("beta", BETAS)


def cloud(seed: int, n: int = 9, d: int = 2, spread: float = 1.5, *, weighted: bool = True) -> Cloud:
    rng = np.random.default_rng(seed)
    w = rng.uniform(0.2, 1, n) if weighted else np.ones(n)
    return Cloud(spread * rng.normal(size=(n, d)), w / w.sum())


def window(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * ((a[:, None] - b[None]) ** 2).sum(axis=2))


def direct(X: Cloud, S: Cloud, beta: float) -> tuple[float, float, float]:
    """J, H₂ and D_cs as they are defined, with plain sums."""
    within, across, own = (a.weights @ window(a.points, b.points) @ b.weights for a, b in ((X, X), (X, S), (S, S)))
    h, d = -np.log(within), -2 * np.log(across) + np.log(within) + np.log(own)
    return d if math.isinf(beta) else h + beta * d, h, d


# The objective


@every_beta
@pytest.mark.parametrize("d", [1, 2, 7])
def test_the_objective_is_its_definition(beta: float, d: int) -> None:
    X, S = cloud(0, 8, d), cloud(1, 11, d)
    found = evaluate(X, S, beta)
    assert (found.objective, found.entropy, found.divergence) == pytest.approx(direct(X, S, beta), rel=1e-12)


@every_beta
def test_the_gradient_is_that_of_central_differences(beta: float) -> None:
    X, S = cloud(2), cloud(3, 12)
    found, h = evaluate(X, S, beta).gradient, 1e-5
    for i, j in np.ndindex(X.points.shape):
        ends = []
        for sign in (1, -1):
            points = X.points.copy()
            points[i, j] += sign * h
            ends.append(direct(X.moved(points), S, beta)[0])
        assert found[i, j] == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-6, abs=1e-8 * max(1, min(beta, 100)))


@every_beta
def test_the_step_leads_down(beta: float) -> None:
    X, S = cloud(4), cloud(5, 12)
    found = evaluate(X, S, beta)
    slopes = (found.gradient * (found.target - X.points)).sum(axis=1)
    assert (slopes < 0).all()


def test_at_beta_1_the_step_is_mean_shift_on_the_data() -> None:
    X, S = cloud(6), cloud(7, 12)
    g = window(X.points, S.points) * S.weights
    np.testing.assert_allclose(evaluate(X, S, 1.0).target, g @ S.points / g.sum(axis=1, keepdims=True), rtol=1e-12)


def test_at_beta_0_the_step_is_blurring_mean_shift() -> None:
    X, S = cloud(8), cloud(9, 12)
    g = window(X.points, X.points) * X.weights
    np.testing.assert_allclose(evaluate(X, S, 0.0).target, g @ X.points / g.sum(axis=1, keepdims=True), rtol=1e-12)


@pytest.mark.parametrize("beta", [1.0, 1.7, 6.0, 100.0])
def test_from_beta_1_the_step_is_the_printed_fixed_point(beta: float) -> None:
    X, S = cloud(10, weighted=False), cloud(11, 12, weighted=False)
    own, theirs = window(X.points, X.points), window(X.points, S.points)
    c = theirs.mean() * 12 / (own.mean() * 9)
    sums = theirs.sum(axis=1, keepdims=True)
    pull = own @ X.points - X.points * own.sum(axis=1, keepdims=True)
    expected = theirs @ S.points / sums + c * (1 - beta) / beta * pull / sums
    np.testing.assert_allclose(evaluate(X, S, beta).target, expected, rtol=1e-10)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    X, S = cloud(12, 40), cloud(13, 50)
    whole = evaluate(X, S, 3.0)
    monkeypatch.setattr(scalar, "BLOCK", 64)
    pieces = evaluate(Cloud(X.points, X.weights), Cloud(S.points, S.weights), 3.0)
    np.testing.assert_allclose(pieces.gradient, whole.gradient, rtol=1e-12)
    assert pieces.objective == pytest.approx(whole.objective, rel=1e-14)


@every_beta
def test_points_far_from_everything_do_not_underflow(beta: float) -> None:
    S = cloud(14, 12)
    X = Cloud(np.array([[1e4, 0.0], [0.0, -3e5]]), np.array([0.5, 0.5]))
    found = evaluate(X, S, beta)
    assert np.isfinite(found.objective)
    assert np.isfinite(found.target).all()
    assert np.isfinite(found.gradient).all()
    if beta == 1:
        nearest = [S.points[:, 0].argmax(), S.points[:, 1].argmin()]
        np.testing.assert_allclose(found.target, S.points[nearest], rtol=1e-6)
    assert np.diff(descend(X, S, beta, max_iter=30, tol=1e-6).history).max(initial=0) <= 0


# Descent


@settings(max_examples=40)
@given(
    st.integers(0, 10_000),
    st.integers(1, 25),
    st.integers(1, 4),
    st.sampled_from([0.0, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.9, 1.0, 1.5, 3.0, 30.0, 1e3, 1e6, math.inf]),
    st.sampled_from([0.1, 1.0, 5.0, 40.0]),
    st.booleans(),
)
def test_the_objective_never_rises(seed: int, n: int, d: int, beta: float, spread: float, at_data: bool) -> None:
    S = cloud(seed, n, d, spread)
    start = S if at_data else cloud(seed + 1, n + 2, d, spread)
    found = descend(start, S, beta, max_iter=60, tol=1e-6)
    assert np.isfinite(found.history).all()
    assert np.diff(found.history).max(initial=0) <= 0
    assert found.history[-1] == found.state.objective
    assert len(found.history) <= 61


def test_the_plain_fixed_point_would_raise_it_where_the_damped_does_not() -> None:
    S = Cloud(crossing(80, 0, 0) / 0.05, np.full(80, 1 / 80))
    plain = scalar_pri._plain(S, 0.3, 60)
    assert not np.isfinite(plain).all() or np.diff(plain).max() > 1e-3
    assert np.diff(descend(S, S, 0.3, max_iter=200, tol=1e-6).history).max() <= 0


@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0, 3.0, 6.0, 100.0])
def test_the_gradient_vanishes_at_the_end(beta: float) -> None:
    X = crossing(60, 1, 0)
    model = ScalarPRI(beta, 0.2).fit(X)
    assert model.gradient_norm_ <= 1e-6
    S = Cloud(X / 0.2, np.full(60, 1 / 60))
    assert np.linalg.norm(evaluate(S.moved(model.points_ / 0.2), S, beta).gradient) <= 1.1e-6


def test_beta_0_gathers_everything_at_one_point() -> None:
    for seed in range(5):
        model = ScalarPRI(0, 1.0).fit(np.random.default_rng(seed).normal(size=(30, 3)))
        assert len(model.modes_) == 1
        assert np.ptp(model.points_, axis=0).max() < 1e-3
        assert model.entropy_ == pytest.approx(0, abs=1e-6)


def test_beta_1_climbs_to_the_modes_of_the_density() -> None:
    X = crossing(100, 0, 1)
    model = ScalarPRI(1, 0.25).fit(X)
    g = window(model.modes_ / 0.25, X / 0.25)
    np.testing.assert_allclose(g @ X / g.sum(axis=1, keepdims=True), model.modes_, atol=1e-5)
    assert 1 < len(model.modes_) < 10


def test_infinite_beta_leaves_the_data() -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = ScalarPRI(math.inf).fit(X)
    np.testing.assert_allclose(model.points_, X, atol=1e-14)
    assert model.objective_ == model.divergence_ == pytest.approx(0, abs=1e-12)
    Y = np.random.default_rng(1).normal(size=(5, 2))
    np.testing.assert_allclose(model.transform(Y), Y, atol=1e-6)
    near = ScalarPRI(1e4).fit(X)
    assert np.linalg.norm(near.points_ - X) < 0.2 * np.linalg.norm(ScalarPRI(10).fit(X).points_ - X)


# Symmetries


@pytest.mark.parametrize("beta", [0.0, 0.4, 1.0, 4.0])
def test_order_place_and_scale_do_not_matter(beta: float) -> None:
    rng = np.random.default_rng(3)
    X, order = rng.normal(size=(25, 2)) + np.repeat([[0, 0], [5, 0]], [12, 13], axis=0), rng.permutation(25)
    base = ScalarPRI(beta, 1.0).fit(X)
    permuted = ScalarPRI(beta, 1.0).fit(X[order])
    np.testing.assert_allclose(permuted.points_, base.points_[order], atol=2e-3)
    moved = ScalarPRI(beta, 0.01).fit(0.01 * X + [100.0, -7.0])
    np.testing.assert_allclose((moved.points_ - [100.0, -7.0]) / 0.01, base.points_, atol=2e-3)
    assert permuted.objective_ == pytest.approx(base.objective_, abs=1e-9)
    assert moved.objective_ == pytest.approx(base.objective_, abs=1e-9)


@pytest.mark.parametrize("beta", [0.0, 1.0, 3.0])
def test_a_weight_is_a_repetition_and_zero_is_absence(beta: float) -> None:
    rng = np.random.default_rng(4)
    X, w = rng.normal(size=(20, 2)), rng.integers(0, 4, 20)
    weighted = ScalarPRI(beta, 0.8).fit(X, sample_weight=w)
    repeated = ScalarPRI(beta, 0.8).fit(np.repeat(X, w, axis=0))
    assert weighted.objective_ == pytest.approx(repeated.objective_, abs=1e-8)
    first = np.cumsum(w)[w > 0] - 1
    np.testing.assert_allclose(weighted.points_[w > 0], repeated.points_[first], atol=2e-3)
    np.testing.assert_allclose(weighted.points_[w == 0], weighted.transform(X[w == 0]), atol=1e-12)
    np.testing.assert_allclose(ScalarPRI(beta, 0.8).fit(X, sample_weight=7.0 * w).points_, weighted.points_)


# The estimator


def test_scikit_learns_checks_pass_but_for_those_declared() -> None:
    results = check_estimator(ScalarPRI(), expected_failed_checks=EXPECTED_FAILED_CHECKS, on_skip=None, on_fail="raise")
    status = {r["check_name"]: r["status"] for r in results}
    assert sum(s == "passed" for s in status.values()) >= 45
    assert {name for name, s in status.items() if s == "xfail"} == set(EXPECTED_FAILED_CHECKS)


@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0])
def test_fitted_samples_go_to_their_points_up_to_beta_1(beta: float) -> None:
    X = np.random.default_rng(5).normal(size=(40, 2)) + np.repeat([[0, 0], [8, 0]], 20, axis=0)
    model = ScalarPRI(beta, 1.2).fit(X)
    np.testing.assert_allclose(model.transform(X), model.points_, atol=1e-3)


def test_new_samples_move_to_the_curve() -> None:
    model, new = ScalarPRI(3, 0.2).fit(crossing(100, 0, 0)), crossing(30, 0, 1)
    before, after = (np.sqrt((scalar_pri._to_segments(x) ** 2).mean()) for x in (new, model.transform(new)))
    assert after < 0.5 * before


def test_far_samples_come_to_a_mode() -> None:
    X = np.random.default_rng(6).normal(size=(30, 2))
    model = ScalarPRI(1, 1.0).fit(X)
    found = model.transform(np.array([[500.0, 0.0], [-1e4, 2e4]]))
    assert np.linalg.norm(found[:, None] - model.modes_[None], axis=2).min(axis=1).max() < 1e-3


def test_a_path_starts_each_beta_at_the_next_larger() -> None:
    X, model = crossing(40, 0, 0), ScalarPRI(bandwidth=0.3)
    found = model.path(X, [1, 100, 10])
    assert [fit.beta for fit in found] == [1, 100, 10]
    assert not hasattr(model, "points_")
    start = evaluate(*(Cloud((x - x0) / 0.3, np.full(40, 1 / 40)) for x, x0 in ((found[1].points_, 0), (X, 0))), 10)
    assert found[2].history_[0] == pytest.approx(start.objective, abs=1e-9)
    assert found[1].history_ == ScalarPRI(100, 0.3).fit(X).history_
    assert found[0].divergence_ > found[2].divergence_ > found[1].divergence_


def test_points_can_start_elsewhere_or_be_fewer() -> None:
    X = np.random.default_rng(7).normal(size=(50, 2))
    few = ScalarPRI(3, 1.0, init=8, random_state=1).fit(X)
    assert few.points_.shape == (8, 2) == few.fit_transform(X)[:8].shape
    assert few.fit_transform(X).shape == (50, 2)
    np.testing.assert_array_equal(few.points_, clone(few).fit(X).points_)
    assert (few.points_ != clone(few).set_params(random_state=2).fit(X).points_).any()
    given_start = ScalarPRI(1, 1.0, init=[[0.0, 0.0], [40.0, 0.0]]).fit(X)
    assert np.abs(given_start.points_).max() < 3
    for init in (0, 51, [[1.0]], [[math.nan, 0.0]], np.zeros((0, 2)), [1.0, 2.0]):
        with pytest.raises(OptionError, match="init"):
            ScalarPRI(init=init).fit(X)


def test_one_sample_and_samples_that_are_all_the_same() -> None:
    for X in ([[3.0, 4.0]], [[3.0, 4.0]] * 6, [[1e300, 1e-300]] * 3):
        for beta in (0, 0.5, 1, 5, math.inf):
            model = ScalarPRI(beta).fit(X)
            np.testing.assert_allclose(model.points_, X)
            assert (model.labels_ == 0).all()
            assert model.bandwidth_ == 1


def test_many_columns() -> None:
    X = np.random.default_rng(8).normal(size=(40, 200)) + np.repeat([[0.0], [3.0]], 20, axis=0)
    model = ScalarPRI(1, 12.0).fit(X)
    assert len(model.modes_) == 2
    assert set(model.labels_[:20]) == {0}
    assert set(model.labels_[20:]) == {1}


def test_silverman_is_its_formula_and_follows_the_scale() -> None:
    X = np.random.default_rng(9).normal(size=(200, 3))
    expected = np.sqrt(X.var(axis=0).mean()) * (4 / (5 * 200)) ** (1 / 7)
    assert silverman(X) == pytest.approx(expected)
    assert ScalarPRI().fit(X).bandwidth_ == pytest.approx(expected)
    assert silverman(1e200 * X + 1e200) == pytest.approx(1e200 * expected)
    assert silverman(X, np.full(200, 5.0)) == pytest.approx(expected)
    halved = silverman(np.vstack([X, X + 50]), np.repeat([1.0, 0.0], 200))
    assert halved == pytest.approx(expected)


def test_it_works_in_pipelines_and_can_be_stored() -> None:
    X = np.random.default_rng(10).normal(size=(30, 2)) * [1, 1000]
    found = make_pipeline(StandardScaler(), ScalarPRI(beta=1)).fit_transform(X)
    assert found.shape == (30, 2)
    model = ScalarPRI(2).fit(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(X), model.transform(X))
    with pytest.raises(NotFittedError):
        ScalarPRI().transform(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"beta": -1}, "beta=-1 must be a number, 0 or more"),
        ({"beta": math.nan}, "beta=nan"),
        ({"beta": "3"}, "beta='3'"),
        ({"bandwidth": 0}, "bandwidth=0 must be a finite number above 0"),
        ({"bandwidth": -2.0}, "bandwidth=-2.0"),
        ({"bandwidth": math.inf}, "bandwidth=inf"),
        ({"bandwidth": "scott"}, "choose 'silverman' or pass a number"),
        ({"bandwidth": 1e-200}, "pass a larger bandwidth"),
        ({"max_iter": 0}, "max_iter=0 must be a whole number"),
        ({"tol": -1e-3}, "tol=-0.001"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        ScalarPRI(**parameters).fit([[0.0, 1.0], [1.0, 0.0]])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[0.0, math.nan], [1.0, 0.0]], "NaN"),
        (np.zeros((0, 2)), "0 sample"),
        ([1.0, 2.0, 3.0], "Expected 2D array"),
        ([["a"], ["b"]], "could not convert"),
    ],
)
def test_samples_that_are_no_table_of_numbers_are_refused(X: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ScalarPRI().fit(X)


@pytest.mark.parametrize(
    ("weights", "message"),
    [([1, -1], "-1.0 at 1"), ([0, 0], "zero for every sample"), ([1], "2 samples"), ([math.inf, 1], "inf at 0")],
)
def test_weights_that_are_none_are_refused(weights: list[float], message: str) -> None:
    with pytest.raises(GraphPRIError, match=message):
        ScalarPRI().fit([[0.0], [1.0]], sample_weight=weights)


def test_too_few_steps_are_a_warning_that_says_what_to_do() -> None:
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol") as seen:
        model = ScalarPRI(3, max_iter=2).fit(crossing(40, 0, 0))
    assert model.n_iter_ == 2
    assert seen[0].filename == __file__


def test_clusters_are_joined_by_short_steps() -> None:
    line = np.c_[np.r_[0:1:0.1, 3:4:0.1, [10.0]], np.zeros(21)]
    np.testing.assert_array_equal(clusters(line, 0.11), np.repeat([0, 1, 2], [10, 10, 1]))
    assert clusters(line, 0.09).max() == 20


def test_a_picture_shows_samples_and_points() -> None:
    X = np.random.default_rng(11).normal(size=(20, 3))
    ax = draw(ScalarPRI(0, 2.0).fit(X), columns=(0, 2))
    assert ax.get_title() == "β = 0: 1 mode"
    assert ax.get_ylabel() == "column 2"
    samples, points = ax.collections
    np.testing.assert_allclose(samples.get_offsets(), X[:, [0, 2]])
    assert np.ptp(points.get_offsets(), axis=0).max() < 1e-3
    with pytest.raises(OptionError, match="columns 0 to 2"):
        draw(ScalarPRI().fit(X), columns=(0, 3))


# What fails where the line that it is about is taken out


def column(values: list[float], weights: list[float] | None = None) -> Cloud:
    w = np.ones(len(values)) if weights is None else np.array(weights)
    return Cloud(np.array(values)[:, None], w / w.sum())


def test_above_beta_1_a_full_step_can_raise_j_and_the_line_search_shortens_it() -> None:
    data = column([-0.1003, -0.0742, 0.1796, -0.115, -0.0729, -0.2252])
    start = column([22.155, 5.2236, -17.5447, 3.7474, 4.7345, 18.4287, 3.2649], [2039, 938, 775, 2120, 518, 1542, 2069])
    values, here = [], start
    for _ in range(3):
        state = evaluate(here, data, 1.5)
        values.append(state.objective)
        here = here.moved(state.target)
    assert np.diff(values).max() > 0.01
    assert np.diff(descend(start, data, 1.5, max_iter=50, tol=1e-6).history).max() <= 0


def test_starts_are_drawn_by_the_samples_weights() -> None:
    X = np.concatenate([np.linspace(0, 1, 30), np.linspace(50, 51, 30)])[:, None]
    w = np.repeat([1.0, 1e-9], 30)
    model = ScalarPRI(1, 1.0, init=8).fit(X, sample_weight=w)
    assert model.points_.max() < 2


@pytest.mark.parametrize(("apart", "modes"), [(0.9, 1), (1.1, 2)])
def test_modes_are_apart_by_more_than_a_twentieth_of_the_bandwidth(apart: float, modes: int) -> None:
    model = ScalarPRI(np.inf, 3.0).fit([[0.0], [3.0 * NEAR * apart]])
    assert len(model.modes_) == modes


def test_windows_are_held_in_blocks() -> None:
    points = np.random.default_rng(0).normal(size=(5000, 2))
    cloud = Cloud(points, np.full(5000, 1 / 5000))
    tracemalloc.start()
    evaluate(cloud, Cloud(points, cloud.weights), 3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6 < points.shape[0] ** 2 * 8  # all windows at once would be 200 MB
