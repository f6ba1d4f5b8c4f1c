"""Multi-task regression on a task graph: against dense solutions, refits and a generic optimiser; hostile input."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.model_selection import GridSearchCV, KFold

from graphpri import Graph, sparsify
from graphpri.apps import mtl
from graphpri.apps.mtl import GraphMTL, knn_graph, sparsify_guarded
from graphpri.apps.mtl_data import RIDGES
from graphpri.errors import GraphError, OptionError


def made(seed: int = 0, T: int = 6, P: int = 3, n: int = 12, noise: float = 0.3) -> tuple[list[Any], list[Any]]:
    """Tasks of two groups."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(2, P))
    X = [rng.normal(size=(n + t % 3, P)) for t in range(T)]
    y = [x @ (centres[t % 2] + 0.2 * rng.normal(size=P)) + t + noise * rng.normal(size=len(x)) for t, x in enumerate(X)]
    return X, y


def ring(T: int, weights: bool = False) -> Graph:
    at = np.arange(T)
    return Graph.from_edges(at, (at + 1) % T, np.linspace(0.5, 2, T) if weights else None)


def objective(w: Any, X: Any, y: Any, graph: Graph, gamma: float, ridge: float, penalty: str) -> float:
    """The objective as its definition has it, with intercepts at their best."""
    fit = sum((((v - v.mean()) - (x - x.mean(axis=0)) @ wt) ** 2).sum() for x, v, wt in zip(X, y, w, strict=True))
    d = w[graph.source] - w[graph.target]
    if penalty == "squared":
        return fit + ridge * (w**2).sum() + 2 * gamma * (graph.weights * (d**2).sum(axis=1)).sum()
    length = np.linalg.norm(d, axis=1)
    return 0.5 * fit + 0.5 * ridge * (w**2).sum() + 0.5 * gamma * (graph.weights * length).sum()


# Against other ways to the solution


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize(("gamma", "ridge"), [(0.0, 0.0), (0.7, 0.0), (3.0, 0.5), (1e4, 0.0)])
def test_squared_is_the_minimum_of_its_definition(gamma: float, ridge: float, weights: bool) -> None:
    X, y = made()
    graph = ring(6, weights)
    model = GraphMTL(gamma=gamma, ridge=ridge, graph=graph).fit(X, y)
    best = objective(model.coef_, X, y, graph, gamma, ridge, "squared")
    assert model.objective_history_ == pytest.approx([best])
    rng = np.random.default_rng(1)
    for _ in range(20):
        step = rng.normal(size=model.coef_.shape)
        around = [objective(model.coef_ + h * step, X, y, graph, gamma, ridge, "squared") for h in (-1e-4, 1e-4)]
        assert min(around) >= best - 1e-9 * best
        assert abs(around[1] - around[0]) < 1e-6 * max(best, 1)


@given(seed=st.integers(0, 10**6), gamma=st.sampled_from([0.0, 0.1, 1.0, 30.0]), ridge=st.sampled_from([0.0, 1.0]))
@settings(max_examples=20, deadline=None)
def test_conjugate_gradients_are_the_dense_solution(seed: int, gamma: float, ridge: float) -> None:
    X, y = made(seed)
    dense = GraphMTL(gamma=gamma, ridge=ridge, graph=ring(6, True)).fit(X, y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mtl, "DENSE", 0)
        sparse = GraphMTL(gamma=gamma, ridge=ridge, graph=ring(6, True)).fit(X, y)
    assert np.abs(dense.coef_ - sparse.coef_).max() < 1e-8 * np.abs(dense.coef_).max()


def test_without_a_graph_each_task_is_its_own_least_squares() -> None:
    X, y = made()
    model = GraphMTL(gamma=0.0).fit(X, y)
    for x, v, w, b in zip(X, y, model.coef_, model.intercept_, strict=True):
        own = np.linalg.lstsq(np.column_stack([x, np.ones(len(x))]), v, rcond=None)[0]
        assert np.allclose([*w, b], own, atol=1e-10)


def test_a_heavy_graph_gives_common_slopes_and_own_intercepts() -> None:
    X, y = made()
    model = GraphMTL(gamma=1e9, graph=ring(6)).fit(X, y)
    centred = np.concatenate([x - x.mean(axis=0) for x in X]), np.concatenate([v - v.mean() for v in y])
    common = np.linalg.lstsq(*centred, rcond=None)[0]
    assert np.allclose(model.coef_, common, atol=1e-6)
    assert np.ptp(model.intercept_) > 1


@pytest.mark.parametrize("penalty", ["squared", "l2"])
@pytest.mark.parametrize("gamma", [1e12, 1e20, 1e308])
@pytest.mark.parametrize("dense", [0, 1500])
def test_a_graph_beyond_all_rounding_still_gives_common_slopes(penalty: Any, gamma: float, dense: int) -> None:
    X, y = made()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mtl, "DENSE", dense)
        model = GraphMTL(penalty, gamma=gamma, graph=ring(6)).fit(X, y)
    centred = np.concatenate([x - x.mean(axis=0) for x in X]), np.concatenate([v - v.mean() for v in y])
    assert np.allclose(model.coef_, np.linalg.lstsq(*centred, rcond=None)[0], atol=1e-5)


def test_without_a_graph_many_columns_that_are_constant_in_a_task_do_no_harm() -> None:
    rng = np.random.default_rng(0)
    X = [np.column_stack([rng.normal(size=(12, 20)), np.tile(rng.normal(size=20), (12, 1))]) for _ in range(60)]
    y = [x[:, 0] + rng.normal(size=12) for x in X]
    model = GraphMTL(gamma=0.0).fit(X, y)
    for x, v, w in zip(X, y, model.coef_, strict=True):
        own = np.linalg.lstsq(x - x.mean(axis=0), v - v.mean(), rcond=1e-10)[0]
        assert np.allclose(w, own, atol=1e-8)


@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_l2_never_rises_and_agrees_with_a_generic_optimiser(ridge: float) -> None:
    X, y = made(noise=1.0)
    graph = ring(6, True)
    model = GraphMTL("l2", gamma=2.0, ridge=ridge, graph=graph, tol=1e-15).fit(X, y)
    history = np.array(model.objective_history_)
    assert (np.diff(history) <= 1e-12 * history[0]).all()
    best = objective(model.coef_, X, y, graph, 2.0, ridge, "l2")

    def smooth(flat: Any) -> float:
        return objective(flat.reshape(6, 3), X, y, graph, 2.0, ridge, "l2")

    start = np.random.default_rng(0).normal(size=18)
    found = minimize(smooth, start, method="BFGS", options={"gtol": 1e-10})
    found = minimize(smooth, found.x, method="Nelder-Mead", options={"xatol": 1e-12, "fatol": 1e-13, "maxiter": 20000})
    assert best <= found.fun + 1e-9 * abs(best)


def test_l2_makes_some_neighbours_equal_and_leaves_others_apart() -> None:
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(2, 3))
    X = [rng.normal(size=(60, 3)) for _ in range(6)]
    y = [x @ centres[t % 2] + 0.1 * rng.normal(size=60) for t, x in enumerate(X)]
    model = GraphMTL("l2", gamma=1.0, graph=nx.complete_graph(6), tol=1e-12).fit(X, y)
    spread = np.linalg.norm(model.coef_[:, None] - model.coef_, axis=2)
    same = (np.arange(6)[:, None] - np.arange(6)) % 2 == 0
    assert spread[~same].min() > 100 * spread[same].max()


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_leave_one_out_is_what_refits_without_the_row_give(ridge: float, intercept: bool) -> None:
    X, y = made()
    options = {"ridge": ridge, "graph": ring(6, True), "fit_intercept": intercept}
    model = GraphMTL(gamma="loo", gammas=[0.5], **options).fit(X, y)
    errors = []
    for t, x in enumerate(X):
        for i in range(len(x)):
            rest = [np.delete(v, i, axis=0) if s == t else v for s, v in enumerate(X)]
            target = [np.delete(v, i) if s == t else v for s, v in enumerate(y)]
            other = GraphMTL(gamma=0.5, **options).fit(rest, target)
            errors.append(y[t][i] - x[i] @ other.coef_[t] - other.intercept_[t])
    assert model.loo_ == {0.5: pytest.approx(float(np.sqrt(np.mean(np.square(errors)))), rel=1e-8)}


def test_leave_one_out_takes_the_best_of_what_it_tries() -> None:
    X, y = made(T=10, noise=2.0)
    model = GraphMTL(gamma="loo", k=4).fit(X, y)
    assert model.loo_ is not None
    assert len(model.loo_) == 13
    assert model.loo_[model.gamma_] == min(model.loo_.values())


def test_own_ridges_are_those_of_scikit_learn() -> None:
    X, y = made(noise=2.0)
    model = GraphMTL(gamma=0.0, ridge="own").fit(X, y)
    for x, v, w, b, ridge in zip(X, y, model.coef_, model.intercept_, model.ridge_, strict=True):
        unit = ((x - x.mean(axis=0)) ** 2).sum() / x.shape[1]
        other = RidgeCV(alphas=unit * np.array(RIDGES)).fit(x, v)
        assert ridge == pytest.approx(other.alpha_)
        assert np.allclose([*w, b], [*other.coef_, other.intercept_], atol=1e-9)


def test_with_own_ridges_the_graph_may_be_left_out() -> None:
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(30, 3)) for _ in range(8)]
    y = [x @ rng.normal(size=3) * 10 for x in X]
    assert GraphMTL(gamma="loo", ridge="own", k=2).fit(X, y).gamma_ == 0


# What must not matter


def test_the_order_of_tasks_and_rows_does_not_matter() -> None:
    X, y = made()
    rows, target = np.concatenate(X), np.concatenate(y)
    tasks = np.repeat(np.arange(6), [len(x) for x in X])
    model = GraphMTL(gamma=0.5, k=2).fit(X, y)
    order = np.random.default_rng(3).permutation(len(tasks))
    mixed = GraphMTL(gamma=0.5, k=2).fit(rows[order], target[order], tasks=tasks[order])
    assert np.allclose(model.coef_, mixed.coef_, atol=1e-10)
    assert np.allclose(mixed.predict(rows[order], tasks[order]), np.concatenate(model.predict(X))[order])
    turned = GraphMTL(gamma=0.5, k=2).fit(X[::-1], y[::-1])
    assert np.allclose(turned.coef_[::-1], model.coef_, atol=1e-10)


def test_a_task_without_neighbours_is_its_own_ridge_regression() -> None:
    X, y = made()
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], n_nodes=6)
    model = GraphMTL(gamma=5.0, ridge=0.7, graph=graph).fit(X, y)
    x, v = X[5] - X[5].mean(axis=0), y[5] - y[5].mean()
    assert np.allclose(model.coef_[5], np.linalg.solve(x.T @ x + 0.7 * np.eye(3), x.T @ v), atol=1e-10)


def test_components_of_the_graph_do_not_see_each_other() -> None:
    X, y = made()
    graph = Graph.from_edges([0, 1, 3, 4], [1, 2, 4, 5])
    whole = GraphMTL(gamma=2.0, graph=graph).fit(X, y)
    part = GraphMTL(gamma=2.0, graph=Graph.from_edges([0, 1], [1, 2])).fit(X[:3], y[:3])
    assert np.allclose(whole.coef_[:3], part.coef_, atol=1e-10)


def test_a_graph_may_name_the_tasks() -> None:
    X, y = made(T=4)
    names = ["d", "a", "c", "b"]
    path = nx.Graph([("a", "b"), ("b", "c")])
    path.add_node("d")
    model = GraphMTL(gamma=2.0, graph=path).fit(X, y, tasks=names)
    assert model.tasks_ == ("d", "a", "c", "b")
    assert {tuple(sorted(names[i] for i in e)) for e in zip(model.graph_.source, model.graph_.target, strict=True)} == {
        ("a", "b"),
        ("b", "c"),
    }


# Few rows, odd columns, one task


@pytest.mark.parametrize("penalty", ["squared", "l2"])
def test_fewer_rows_than_columns_and_constant_columns_are_fine(penalty: str) -> None:
    rng = np.random.default_rng(0)
    X = [np.column_stack([rng.normal(size=(n, 5)), np.full(n, 3.0)]) for n in (1, 2, 3, 30, 30)]
    y = [x[:, 0] + 0.1 * rng.normal(size=len(x)) for x in X]
    model = GraphMTL(penalty, gamma=1.0, k=2).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.abs(model.coef_[:, 5]).max() < 1e-8
    assert all(np.isfinite(found).all() for found in model.predict(X))


def test_one_task_is_a_regression() -> None:
    X, y = made(T=1)
    model = GraphMTL().fit(X, y)
    assert model.graph_.n_edges == 0
    assert model.score(X, y) > 0.5


def test_the_first_fit_of_tasks_with_few_rows_does_not_run_wild() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=10)
    X = [rng.normal(size=(11, 10)) for _ in range(30)]
    y = [x @ truth + rng.normal(size=11) for x in X]
    rows = GraphMTL().fit(X, y)._rows
    centred = [(x - x.mean(axis=0), v - v.mean()) for x, v in zip(X, y, strict=True)]
    least_squares = np.array([np.linalg.lstsq(x, v, rcond=None)[0] for x, v in centred])
    error = np.abs(rows.single_task_fits() - truth).max(), np.abs(least_squares - truth).max()
    assert error[0] < 2 < 10 < error[1]


# The task graph


def test_the_graph_of_neighbours_joins_both_directions() -> None:
    points = np.array([[0.0], [1.0], [2.1], [10.0]])
    graph = knn_graph(points, 1)
    assert list(zip(graph.source.tolist(), graph.target.tolist(), strict=True)) == [(0, 1), (1, 2), (2, 3)]
    weighted = knn_graph(points, 1, "similarity")
    squares = np.array([1.0, 1.1**2, 7.9**2])
    assert np.allclose(weighted.weights, np.exp(-squares / np.median(squares)))
    assert knn_graph(points, 10).n_edges == 6
    assert knn_graph(points[:1], 10).n_edges == 0


@pytest.mark.parametrize("method", ["pri", "random", "local-similarity", "weight"])
def test_sparsifying_keeps_the_budget_and_every_task_its_neighbours(method: str) -> None:
    graph = knn_graph(np.random.default_rng(0).normal(size=(40, 3)), 6, "similarity")
    kept = sparsify_guarded(graph, 80, 3, method=method, seed=0)
    assert kept.kept.n_edges == 80
    assert kept.kept.degrees().min() >= 3
    free = sparsify_guarded(graph, 0.5, 0, method=method, seed=0)
    assert (free.mask == sparsify(graph, keep=0.5, method=method, seed=0).mask).all()


def test_a_budget_too_small_for_the_neighbours_is_refused() -> None:
    with pytest.raises(OptionError, match="min_degree"):
        sparsify_guarded(ring(10), 5, 3)


def test_a_sparsified_model_is_another_model_on_the_same_rows() -> None:
    X, y = made(T=12, noise=1.0)
    model = GraphMTL(gamma="loo", k=6, edge_weights="similarity").fit(X, y)
    before = model.coef_.copy()
    edges = model.graph_.n_edges
    fixed = model.sparsify_tasks(0.6, gamma="fixed")
    rescaled = model.sparsify_tasks(0.6, gamma="rescaled")
    again = model.sparsify_tasks(0.6)
    assert (model.coef_ == before).all()
    assert model.graph_.n_edges == edges
    assert fixed.graph_.n_edges == rescaled.graph_.n_edges == again.graph_.n_edges == int(0.6 * edges + 0.5)
    assert rescaled.graph_.weights.sum() == pytest.approx(model.graph_.weights.sum())
    assert fixed.gamma_ == rescaled.gamma_ == model.gamma_
    assert again.loo_ is not None
    assert again.sparsified_ is not None
    assert np.allclose(fixed.coef_, GraphMTL(gamma=model.gamma_, graph=fixed.graph_).fit(X, y).coef_)


# pandas and scikit-learn


def test_data_frames_go_in_and_series_come_out() -> None:
    X, y = made(T=3)
    frame = pd.DataFrame(np.concatenate(X), columns=["a", "b", "c"])
    frame["school"] = np.repeat(["x", "y", "z"], [len(x) for x in X])
    frame.index = frame.index + 100
    target = pd.Series(np.concatenate(y))
    model = GraphMTL(k=1).fit(frame, target, tasks="school")
    found = model.predict(frame, tasks="school")
    assert isinstance(found, pd.Series)
    assert list(found.index) == list(frame.index)
    plain = GraphMTL(k=1).fit(np.concatenate(X), np.concatenate(y), tasks=frame["school"].to_numpy())
    assert np.allclose(plain.coef_, model.coef_)
    assert model.score(frame, target, tasks="school") == pytest.approx(
        plain.score(np.concatenate(X), np.concatenate(y), tasks=frame["school"])
    )
    with pytest.raises(OptionError, match="fit saw a, b, c"):
        model.predict(frame[["b", "a", "c", "school"]], tasks="school")


def test_a_search_finds_tasks_in_their_column() -> None:
    X, y = made(T=4, n=20)
    frame = pd.DataFrame(np.concatenate(X), columns=["a", "b", "c"])
    frame["school"] = np.repeat(["w", "x", "y", "z"], [len(x) for x in X])
    search = GridSearchCV(GraphMTL(k=2, task_column="school"), {"gamma": [0.1, 1e6]}, cv=KFold(3, shuffle=True))
    search.fit(frame, np.concatenate(y))
    assert search.best_params_ == {"gamma": 0.1}
    assert search.best_estimator_.feature_names_in_.tolist() == ["a", "b", "c"]
    direct = GraphMTL(k=2, gamma=0.1).fit(frame, np.concatenate(y), tasks="school")
    assert np.allclose(search.predict(frame), direct.predict(frame, "school"))


def test_tasks_keep_the_labels_that_they_have() -> None:
    X, y = made(T=3)
    rows, target, sizes = np.concatenate(X), np.concatenate(y), [len(x) for x in X]
    for names in ([1, "b", 2.5], [pd.Timestamp("2020-01-01"), pd.Timestamp("2021-01-01"), pd.Timestamp("2022-01-01")]):
        tasks = [name for name, size in zip(names, sizes, strict=True) for _ in range(size)]
        model = GraphMTL(k=1).fit(rows, target, tasks=tasks)
        assert list(model.tasks_) == names
        assert np.allclose(model.predict(rows, tasks), np.concatenate(GraphMTL(k=1).fit(X, y).predict(X)))


def test_similar_coefficients_weigh_more_than_nothing_however_far_apart() -> None:
    graph = knn_graph([[0.0], [1.0], [2.0], [3.0], [1e6]], 2, "similarity")
    assert graph.weights.min() > 0
    assert np.isfinite(sparsify(graph, keep=4, method="effective-resistance").scores).all()


def test_it_can_be_cloned_and_fitting_leaves_parameters_alone() -> None:
    X, y = made()
    model = GraphMTL("l2", gamma=2.0, k=3, edge_weights="similarity")
    before = model.get_params()
    assert clone(model.fit(X, y)).get_params() == before


# Bad input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"penalty": "l1"}, "penalty='l1'"),
        ({"gamma": -1.0}, "gamma=-1.0"),
        ({"gamma": float("nan")}, "gamma=nan"),
        ({"gamma": "auto"}, "gamma='auto'"),
        ({"ridge": -1}, "ridge=-1"),
        ({"k": 0}, "k=0"),
        ({"k": 1.5}, "k=1.5"),
        ({"edge_weights": "none"}, "edge_weights='none'"),
        ({"unseen": "guess"}, "unseen='guess'"),
        ({"graph": "mst"}, "graph='mst'"),
        ({"penalty": "l2", "gamma": "loo"}, "squared penalty"),
        ({"gamma": "loo", "gammas": [-1.0]}, "gammas=-1.0"),
        ({"gamma": "loo", "gammas": []}, "one value or more"),
        ({"gamma": "loo", "gammas": 3.0}, "one value or more"),
        ({"fit_intercept": "no"}, "fit_intercept='no'"),
    ],
)
def test_parameters_out_of_range_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        GraphMTL(**change).fit(*made())


def spoilt(value: float, where: str) -> tuple[list[Any], list[Any]]:
    X, y = made()
    (X if where == "X" else y)[2][4] = value
    return X, y


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("where", ["X", "y"])
def test_numbers_that_are_none_name_task_and_row(value: float, where: str) -> None:
    with pytest.raises(OptionError, match=rf"{where} of task 2 has NaN or an infinite entry in its row 4"):
        GraphMTL().fit(*spoilt(value, where))


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_numbers_whose_squares_can_not_be_summed_are_refused(size: float) -> None:
    X, y = made()
    with pytest.raises(OptionError, match="column 1 of X has numbers up to"):
        GraphMTL().fit([x * [1, size, 1] for x in X], y)
    with pytest.raises(OptionError, match="y has numbers up to"):
        GraphMTL().fit(X, [v * size for v in y])


def test_what_is_no_number_and_no_task_is_refused() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": pd.to_datetime(["2020", "2021", "2022"])})
    y, tasks = [1.0, 2.0, 4.0], ["s", "s", "t"]
    with pytest.raises(OptionError, match="column 'b' of X has entries that are not numbers"):
        GraphMTL().fit(frame, y, tasks=tasks)
    with pytest.raises(OptionError, match="not numbers: they are complex128"):
        GraphMTL().fit(frame[["a"]], np.array(y) + 1j, tasks=tasks)
    for missing in (None, np.nan, pd.NA, pd.NaT):
        with pytest.raises(OptionError, match="no task for row 1"):
            GraphMTL().fit(frame[["a"]], y, tasks=pd.Series(["s", missing, "t"], dtype=object))
    with pytest.raises(OptionError, match="a list of rows"):
        GraphMTL().fit([[1.0], [2.0], [3.0]], y, tasks=tasks)
    with pytest.raises(OptionError, match="y=None"):
        GraphMTL().fit([frame[["a"]]], None)
    with pytest.raises(OptionError, match="NaN or an infinite entry in its row 1"):
        GraphMTL(k=1).fit(frame[["a"]], y, tasks=tasks).predict(pd.DataFrame({"a": [1.0, np.nan]}), ["s", "t"])


def test_neighbours_to_leave_are_a_whole_number_and_lengths_have_no_leave_one_out() -> None:
    model = GraphMTL(k=2).fit(*made())
    for least in (-1, 2.5, "a"):
        with pytest.raises(OptionError, match="min_degree="):
            model.sparsify_tasks(0.9, min_degree=least)  # pyright: ignore[reportArgumentType]
    with pytest.raises(OptionError, match="choose 'fixed' or 'rescaled'"):
        GraphMTL("l2", k=2).fit(*made()).sparsify_tasks(0.9)


def test_shapes_that_do_not_fit_name_the_task() -> None:
    X, y = made()
    with pytest.raises(OptionError, match="task 1 has 2 columns, and task 0 has 3"):
        GraphMTL().fit([X[0], X[1][:, :2], *X[2:]], y)
    with pytest.raises(OptionError, match="task 3 has 12 rows and 5 targets"):
        GraphMTL().fit(X, [*y[:3], y[3][:5], *y[4:]])
    with pytest.raises(OptionError, match="task 0 has no rows"):
        GraphMTL().fit([X[0][:0], *X[1:]], [y[0][:0], *y[1:]])
    with pytest.raises(OptionError, match="5 targets"):
        GraphMTL().fit(X, y[:5])
    with pytest.raises(OptionError, match="empty list"):
        GraphMTL().fit([], [])
    with pytest.raises(OptionError, match="same name"):
        GraphMTL().fit(X, y, tasks=[0, 1, 2, 3, 4, 4])
    with pytest.raises(OptionError, match="tasks= is missing"):
        GraphMTL().fit(X[0], y[0])
    with pytest.raises(OptionError, match="one value a row"):
        GraphMTL().fit(X[0], y[0], tasks=[0, 1])
    with pytest.raises(OptionError, match="not numbers"):
        GraphMTL().fit([[["a"]]], [[1.0]])
    with pytest.raises(OptionError, match="several columns called 'a'"):
        GraphMTL().fit(pd.DataFrame(np.ones((2, 2)), columns=["a", "a"]), [1.0, 2.0], tasks=[0, 1])
    with pytest.raises(OptionError, match="'school' is no column"):
        GraphMTL().fit(pd.DataFrame(np.ones((2, 2)), columns=["a", "b"]), [1.0, 2.0], tasks="school")


def test_a_graph_of_other_nodes_is_refused() -> None:
    X, y = made()
    with pytest.raises(GraphError, match="5 nodes and there are 6 tasks"):
        GraphMTL(graph=ring(5)).fit(X, y)
    with pytest.raises(GraphError, match="'q', which is no task"):
        GraphMTL(graph=nx.Graph([("a", "b"), ("c", "q")])).fit(X[:4], y[:4], tasks=["a", "b", "c", "d"])


def test_a_task_that_was_not_fitted_is_refused_or_gets_the_mean() -> None:
    X, y = made()
    with pytest.raises(OptionError, match="task 17 was not fitted"):
        GraphMTL().fit(X, y).predict(X[0], [17] * len(X[0]))
    model = GraphMTL(unseen="mean").fit(X, y)
    found = model.predict(X[0], [17] * len(X[0]))
    assert np.allclose(found, X[0] @ model.coef_.mean(axis=0) + model.intercept_.mean())


def test_leave_one_out_of_too_many_coefficients_says_so() -> None:
    X, y = made(T=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mtl, "LEAVE_ONE_OUT", 10)
        with pytest.raises(OptionError, match="12 coefficients"):
            GraphMTL(gamma="loo").fit(X, y)


def test_tasks_pass_through_a_pipeline_by_metadata_routing() -> None:
    pytest.importorskip("sklearn", "1.8", reason="pipelines pass metadata on to score from scikit-learn 1.8 on")
    from sklearn import config_context
    from sklearn.model_selection import cross_validate
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = made()
    rows, target = np.concatenate(X), np.concatenate(y)
    tasks = np.repeat(list("abcdef"), [len(x) for x in X])
    with config_context(enable_metadata_routing=True):
        model = GraphMTL(k=3).set_fit_request(tasks=True).set_predict_request(tasks=True).set_score_request(tasks=True)
        pipe = make_pipeline(StandardScaler(), model)
        found = pipe.fit(rows, target, tasks=tasks).predict(rows, tasks=tasks)
        scaled = StandardScaler().fit_transform(rows)
        known = GraphMTL(k=3).fit(scaled, target, tasks).predict(scaled, tasks)
        np.testing.assert_allclose(found, known)
        folds = KFold(3, shuffle=True, random_state=0)
        search = GridSearchCV(pipe, {"graphmtl__gamma": [0.1, 1.0]}, cv=folds).fit(rows, target, tasks=tasks)
        scores = cross_validate(pipe, rows, target, cv=folds, params={"tasks": tasks})["test_score"]
    assert search.best_params_["graphmtl__gamma"] in (0.1, 1.0)
    assert scores.mean() > 0.5


def weighted_rows() -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(0)
    X, tasks = rng.normal(size=(60, 2)), np.tile([0, 1, 2], 20)
    return X, X @ [1.0, -1.0] + tasks + rng.normal(size=60), tasks, rng.integers(0, 4, 60)


@pytest.mark.parametrize("penalty", ["squared", "l2"])
@pytest.mark.parametrize("intercept", [True, False])
def test_whole_weights_are_repeated_rows(penalty: Any, intercept: bool) -> None:
    X, y, tasks, weight = weighted_rows()
    path = Graph.from_edges([0, 1], [1, 2])
    model = GraphMTL(penalty, 2.0, ridge=0.5, graph=path, fit_intercept=intercept, tol=1e-10)
    repeated = [np.repeat(values, weight, axis=0) for values in (X, y, tasks)]
    expected = clone(model).fit(repeated[0], repeated[1], tasks=repeated[2])
    found = model.fit(X, y, tasks=tasks, sample_weight=weight)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-6)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
def test_weighted_leave_one_out_is_what_weighted_refits_give(intercept: bool) -> None:
    X, y, tasks, weight = weighted_rows()
    path = Graph.from_edges([0, 1], [1, 2])
    model = GraphMTL(gamma="loo", gammas=[0.3, 3.0], ridge=0.5, graph=path, fit_intercept=intercept)
    found = model.fit(X, y, tasks=tasks, sample_weight=weight).loo_
    assert found is not None
    for gamma, error in found.items():
        other, squares = clone(model).set_params(gamma=gamma), []
        for i in range(60):
            rest = np.arange(60) != i
            other.fit(X[rest], y[rest], tasks=tasks[rest], sample_weight=weight[rest])
            squares.append((y[i] - other.predict(X[i : i + 1], tasks=tasks[i : i + 1])[0]) ** 2)
        assert error == pytest.approx(np.sqrt(np.average(squares, weights=weight)))


def test_own_ridges_follow_weights() -> None:
    X, y, tasks, weight = weighted_rows()
    repeated = [np.repeat(values, weight, axis=0) for values in (X, y, tasks)]
    path = Graph.from_edges([0, 1], [1, 2])
    model = GraphMTL(gamma=0.0, ridge="own", graph=path).fit(X, y, tasks=tasks, sample_weight=weight)
    for task, ridge in enumerate(model.ridge_):
        one = repeated[2] == task
        alone = Ridge(alpha=ridge).fit(repeated[0][one], repeated[1][one])
        np.testing.assert_allclose(model.coef_[task], alone.coef_, rtol=1e-8)


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (np.ones(59), r"sample_weight has shape \(59,\), and there are 60 rows"),
        (-np.ones(60), "sample_weight is -1 for row 0"),
        (np.full(60, np.nan), "sample_weight is nan for row 0"),
        (np.tile([1.0, 0.0, 1.0], 20), "sample_weight is 0 in all rows of task 1"),
    ],
)
def test_weights_that_are_none_are_refused(weight: Any, words: str) -> None:
    X, y, tasks, _ = weighted_rows()
    with pytest.raises(OptionError, match=words):
        GraphMTL().fit(X, y, tasks=tasks, sample_weight=weight)


def test_predicting_without_tasks_names_the_column_that_has_them() -> None:
    frame = pd.DataFrame({"x": [1.0, 2, 3, 4], "school": list("abab")})
    model = GraphMTL().fit(frame, [1.0, 2, 3, 5], tasks="school")
    with pytest.raises(OptionError, match="pass tasks='school'"):
        model.predict(frame)


@pytest.mark.parametrize("name", ["y", "tasks", "sample_weight"])
def test_a_series_in_another_order_than_the_rows_is_refused(name: str) -> None:
    frame = pd.DataFrame({"x": [1.0, 2, 3, 4]}, index=[3, 1, 2, 0])
    given = {"y": [1.0, 2, 3, 5], "tasks": list("abab"), "sample_weight": [1.0, 2, 1, 2]}
    series = {key: pd.Series(values, index=frame.index) for key, values in given.items()}
    aligned = GraphMTL().fit(frame, **series)
    with pytest.raises(OptionError, match=rf"{name} has the index of X in another order: pass {name}.loc"):
        GraphMTL().fit(frame, **(series | {name: series[name].sort_index()}))
    if name != "tasks":
        with pytest.raises(OptionError, match=f"{name} has the index of X in another order"):
            aligned.score(frame, **(series | {name: series[name].sort_index()}))
    by_place = GraphMTL().fit(frame, **(series | {name: series[name].set_axis([10, 11, 12, 13])}))
    np.testing.assert_array_equal(by_place.coef_, aligned.coef_)
