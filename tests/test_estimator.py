"""The scikit-learn estimator: scikit-learn's own checks, use in pipelines, matrix types, and refusals."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.cluster import SpectralClustering
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import graphpri
from graphpri import GraphPRI
from graphpri.datasets import stochastic_block_model
from graphpri.errors import GraphError, OptionError
from graphpri.estimator import EXPECTED_FAILED_CHECKS
from graphpri.solvers.budgeted import EFFORTS

KARATE = nx.to_numpy_array(nx.karate_club_graph())
CONTAINERS = {
    "dense": np.asarray,
    "csr_array": sp.csr_array,
    "csr_matrix": sp.csr_matrix,
    "csc_array": sp.csc_array,
    "coo_array": sp.coo_array,
}
every_container = pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS.keys())


def dense(X: object) -> np.ndarray:
    return X if isinstance(X, np.ndarray) else X.toarray()


def test_scikit_learns_checks_pass_but_for_those_on_rows_as_samples(monkeypatch: pytest.MonkeyPatch):
    # Without the look at all single moves after each of the many fits, which takes nine tenths of their time.
    monkeypatch.setitem(EFFORTS, "fast", replace(EFFORTS["fast"], check=0.0))
    estimator = GraphPRI(keep=0.5, entropy="degree", effort="fast")
    results = check_estimator(estimator, expected_failed_checks=EXPECTED_FAILED_CHECKS, on_skip=None, on_fail="raise")
    status = {r["check_name"]: r["status"] for r in results}
    assert sum(s == "passed" for s in status.values()) >= 41
    assert {name for name, s in status.items() if s == "xfail"} == set(EXPECTED_FAILED_CHECKS)


def test_fit_is_sparsify():
    estimator = GraphPRI(keep=0.5, beta=2, random_state=3).fit(KARATE)
    result = graphpri.sparsify(KARATE, keep=0.5, beta=2, seed=3)
    np.testing.assert_array_equal(estimator.transform(KARATE), result.graph)
    assert estimator.objective_ == pytest.approx(result.objective)
    assert estimator.entropy_ == pytest.approx(result.entropy)
    assert estimator.divergence_ == pytest.approx(result.divergence)
    assert estimator.report_["edges_kept"] == 39
    assert estimator.n_features_in_ == 34


@every_container
def test_the_type_that_came_in_comes_back(container):
    X = container(KARATE)
    before = dense(X).copy()
    estimator = GraphPRI(keep=0.4, effort="fast")
    Y = estimator.fit_transform(X)
    assert type(Y) is type(X)
    assert Y.dtype == X.dtype
    assert getattr(Y, "format", None) == getattr(X, "format", None)
    np.testing.assert_array_equal(dense(X), before)
    kept = dense(Y) != 0
    np.testing.assert_array_equal(kept, kept.T)
    np.testing.assert_array_equal(dense(Y)[kept], KARATE[kept])
    assert kept.sum() == 2 * 31


@every_container
def test_edges_scores_and_weights_line_up(container):
    X = container(KARATE)
    estimator = GraphPRI(keep=0.4, effort="fast").fit(X)
    Y = dense(estimator.transform(X))
    u, v = estimator.edges_.T
    assert (u < v).all()
    np.testing.assert_array_equal(Y[u, v], estimator.weights_)
    np.testing.assert_array_equal(Y[u, v] > 0, estimator.mask_)
    np.testing.assert_array_equal(estimator.get_support(), estimator.mask_)
    np.testing.assert_array_equal(estimator.get_support(indices=True), np.flatnonzero(estimator.mask_))
    assert estimator.scores_.shape == estimator.mask_.shape == (78,)
    assert np.lexsort((v, u)).tolist() == list(range(78))


def test_integers_and_float32_keep_their_type():
    for dtype in (np.int64, np.float32):
        assert GraphPRI(keep=0.4, effort="fast").fit_transform(KARATE.astype(dtype)).dtype == dtype


def test_new_weights_come_out():
    estimator = GraphPRI(keep=0.5, reweight=True, effort="fast")
    Y = estimator.fit_transform(KARATE)
    u, v = estimator.edges_.T
    np.testing.assert_array_equal(Y[u, v], estimator.weights_)
    assert Y.sum() == pytest.approx(KARATE.sum())
    assert (Y[u, v] != KARATE[u, v]).any()
    # Another matrix on the same edges: the same factors.
    np.testing.assert_allclose(estimator.transform(3 * KARATE), 3 * Y, rtol=1e-12)


def test_other_values_on_the_same_edges_keep_the_same_edges():
    estimator = GraphPRI(keep=0.5, effort="fast").fit(KARATE)
    squared = KARATE**2
    squared[0, 1] = squared[1, 0] = 0  # an edge may be missing
    Y = estimator.transform(squared)
    mask = estimator.transform(KARATE) != 0
    np.testing.assert_array_equal(Y, np.where(mask, squared, 0))


def test_an_edge_that_was_not_fitted_is_named():
    estimator = GraphPRI(keep=0.5, effort="fast").fit(KARATE)
    other = KARATE.copy()
    other[4, 5] = other[5, 4] = 1
    with pytest.raises(GraphError, match=r"edge \(4, 5\) of X is not in the graph"):
        estimator.transform(other)
    with pytest.raises(ValueError, match="34 features"):
        estimator.transform(KARATE[:5, :5])


def test_weighted_false_chooses_by_the_edges_alone_and_keeps_the_values():
    signed = KARATE.copy()
    signed[0, 1] = signed[1, 0] = -2
    with pytest.raises(GraphError, match="Negative values in data"):
        GraphPRI(keep=0.5).fit(signed)
    absolute = GraphPRI(keep=0.5, beta=2, effort="fast", negative="abs").fit(signed)
    assert "1 edge of negative weight taken as absolute values" in absolute.report_["weights"]
    assert absolute.transform(signed).min() == 0
    estimator = GraphPRI(keep=0.5, beta=2, weighted=False)
    Y = estimator.fit_transform(signed)
    plain = graphpri.sparsify(nx.karate_club_graph(), keep=0.5, beta=2, weight=None)
    assert estimator.objective_ == pytest.approx(plain.objective)
    np.testing.assert_array_equal(Y[Y != 0], signed[Y != 0])


def test_the_diagonal_is_dropped_and_reported_or_refused():
    X = KARATE + np.eye(34)
    estimator = GraphPRI(keep=0.5, effort="fast")
    np.testing.assert_array_equal(estimator.fit_transform(X), GraphPRI(keep=0.5, effort="fast").fit_transform(KARATE))
    assert "diagonal of 34 equal entries (1) left out" in estimator.report_["weights"]
    X = KARATE + np.diag(np.arange(1.0, 35))
    assert "34 self-loops dropped" in GraphPRI(keep=0.5, effort="fast").fit(X).report_["weights"]
    with pytest.raises(GraphError, match="34 self-loops"):
        GraphPRI(keep=0.5, loops="refuse").fit(X)


def test_rounding_errors_are_averaged_and_asymmetry_is_refused_or_symmetrised():
    X = KARATE.copy()
    X[0, 1] *= 1 + 1e-15
    estimator = GraphPRI(keep=0.9, effort="fast")
    Y = estimator.fit_transform(X)
    np.testing.assert_array_equal(Y, Y.T)
    assert "rounding" in estimator.report_["weights"]
    assert "rounding" not in GraphPRI(keep=0.5, effort="fast").fit(KARATE).report_["weights"]
    X[0, 1] = 9
    with pytest.raises(GraphError, match="not symmetric"):
        GraphPRI(keep=0.5).fit(X)
    total = GraphPRI(keep=1.0, directed="symmetrize").fit_transform(np.triu(KARATE))
    np.testing.assert_array_equal(total, KARATE)


def test_stored_zeros_are_no_edges():
    X = sp.csr_array(KARATE)
    with_zeros = X.copy()
    with_zeros.data[0] = 0
    cleaned = KARATE.copy()
    cleaned[0, X.indices[0]] = 0
    cleaned[X.indices[0], 0] = 0
    with_zeros[X.indices[0], 0] = 0
    estimator = GraphPRI(keep=0.5, effort="fast").fit(with_zeros)
    assert estimator.mask_.size == 77
    np.testing.assert_array_equal(estimator.transform(with_zeros).toarray(), estimator.transform(cleaned))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"keep": 2.0}, "keep=2.0"),
        ({"keep": 0.5, "beta": -1}, "beta=-1"),
        ({"keep": 0.5, "method": "randm"}, "did you mean 'random'"),
        ({"keep": 0.5, "method": "random", "method_options": {"exponent": 1}}, "does not use exponent"),
        ({"keep": 0.2, "connected": True}, "at least 33 edges"),
        ({"keep": 0.5, "random_state": "7"}, "random_state='7'"),
        ({"keep": 0.5, "random_state": -7}, "random_state=-7"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(OptionError, match=message):
        GraphPRI(**parameters).fit(KARATE)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((3, 4)), "not a square"),
        (np.zeros((4, 4)), "no edges"),
        (np.full((4, 4), np.nan), "NaN"),
        (np.ones(4), "1D array"),
        (np.eye(1), "1 sample"),
    ],
)
def test_wrong_matrices_are_named(X, message):
    with pytest.raises(ValueError, match=message):
        GraphPRI(keep=0.5).fit(X)


def test_nothing_works_before_fit():
    for call in (lambda e: e.transform(KARATE), lambda e: e.get_support()):
        with pytest.raises(NotFittedError):
            call(GraphPRI(keep=0.5))


def test_parameters_survive_clone_set_params_and_pickle():
    estimator = GraphPRI(keep=0.5, beta=2, method="local-degree", method_options={"exponent": 0.5})
    copy = clone(estimator)
    assert copy.get_params() == estimator.get_params()
    assert copy.set_params(keep=0.3, method_options=None).fit(KARATE).mask_.sum() == 23
    fitted = estimator.fit(KARATE)
    loaded = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(loaded.transform(KARATE), fitted.transform(KARATE))


def test_a_grid_of_parameters_is_a_grid_of_results():
    estimator = GraphPRI(effort="fast")
    sizes = [
        clone(estimator).set_params(**p).fit(KARATE).mask_.sum()
        for p in ParameterGrid({"keep": [0.2, 0.5], "beta": [0, 9]})
    ]
    assert sorted(sizes) == [16, 16, 39, 39]


def test_random_states_of_every_kind_are_repeatable():
    for make in (lambda: 5, lambda: np.random.default_rng(5), lambda: np.random.RandomState(5), lambda: None):
        masks = [GraphPRI(keep=0.5, method="random", random_state=make()).fit(KARATE).mask_ for _ in range(2)]
        np.testing.assert_array_equal(*masks)
    one, two = (GraphPRI(keep=0.5, method="random", random_state=s).fit(KARATE).mask_ for s in (1, 2))
    assert (one != two).any()


def test_spectral_clustering_behind_it_finds_the_communities():
    blocks = stochastic_block_model(seed=3)
    truth = np.repeat(np.arange(4), 30)
    pipeline = make_pipeline(
        GraphPRI(keep=0.7, beta=10, connected=True, entropy="degree", effort="fast"),
        SpectralClustering(4, affinity="precomputed", random_state=0, assign_labels="cluster_qr"),
    )
    for X in (blocks.adjacency().toarray(), blocks.adjacency()):
        found = pipeline.fit_predict(X)
        assert adjusted_rand_score(truth, found) > 0.6


def test_a_search_over_its_parameters_in_a_pipeline_finds_what_a_loop_finds():
    X, truth = stochastic_block_model(seed=3).adjacency(), np.repeat(np.arange(4), 30)
    clustering = SpectralClustering(4, affinity="precomputed", random_state=0, assign_labels="cluster_qr")
    pipeline = make_pipeline(GraphPRI(connected=True, entropy="degree", effort="fast"), clustering)
    grid = {"graphpri__keep": [0.4, 0.8], "graphpri__beta": [0.5, 50]}

    def agreement(fitted, X, y):
        return adjusted_rand_score(y, fitted[-1].labels_)

    # Nodes of one graph are no samples to hold out: all of them are fitted and judged.
    every = np.arange(len(truth))
    search = GridSearchCV(pipeline, grid, scoring=agreement, cv=[(every, every)]).fit(X, truth)
    by_hand = [agreement(clone(pipeline).set_params(**p).fit(X), X, truth) for p in ParameterGrid(grid)]
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], by_hand)
    assert len(set(by_hand)) > 1
    assert search.best_score_ == max(by_hand)
    kept = search.best_estimator_[0]
    assert kept.keep == search.best_params_["graphpri__keep"]
    assert kept.get_support().sum() == len(kept.get_support(indices=True)) < kept.edges_.shape[0]


def test_folds_of_a_pairwise_matrix_are_graphs_on_the_training_nodes():
    from sklearn.utils import get_tags
    from sklearn.utils.metaestimators import _safe_split

    estimator = GraphPRI(keep=0.5, effort="fast")
    assert get_tags(estimator).input_tags.pairwise
    assert get_tags(make_pipeline(estimator)).input_tags.pairwise
    nodes = np.arange(20)
    part, _ = _safe_split(estimator, KARATE, None, nodes)
    np.testing.assert_array_equal(part, KARATE[:20, :20])
    assert estimator.fit(part).n_features_in_ == 20


def test_affinities_of_points_are_sparsified_and_clustered():
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(c, 0.4, (20, 2)) for c in (0, 3)])
    pipeline = make_pipeline(
        GraphPRI(keep=0.2, beta=100, connected=True, entropy="degree", effort="fast"),
        SpectralClustering(2, affinity="precomputed", random_state=0),
    )
    assert adjusted_rand_score(np.repeat([0, 1], 20), pipeline.fit_predict(rbf_kernel(points))) == 1


def test_pandas_output_has_the_names_of_the_nodes():
    pd = pytest.importorskip("pandas")
    names = [f"n{i}" for i in range(34)]
    X = pd.DataFrame(KARATE, index=names, columns=names)
    Y = GraphPRI(keep=0.5, effort="fast").set_output(transform="pandas").fit_transform(X)
    assert list(Y.columns) == names
    assert list(Y.index) == names
    assert (Y.to_numpy() != 0).sum() == 78


def test_without_scikit_learn_the_extra_is_named():
    code = "import sys; sys.modules['sklearn'] = None; import graphpri; graphpri.GraphPRI"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "MissingExtraError: GraphPRI needs scikit-learn" in done.stderr
    assert "graphpri[sklearn]" in done.stderr


def test_estimated_entropies_have_their_errors_in_the_report():
    graph = graphpri.datasets.barabasi_albert(200, 4, seed=2)
    A = graph.adjacency()
    fitted = GraphPRI(keep=0.4, entropy="stochastic", effort="fast").fit(A)
    exact = graphpri.report(graph, graph.select(fitted.mask_), entropy="exact", measures=["entropy", "divergence"])
    for name in ("entropy", "divergence"):
        assert abs(fitted.report_[name] - exact[name]) <= 4 * fitted.report_[f"{name}_error"] < 0.005


def test_a_dense_matrix_beyond_the_memory_is_refused_and_a_sparse_one_is_not(monkeypatch):
    A = graphpri.datasets.barabasi_albert(500, 2, seed=2).adjacency()
    monkeypatch.setenv("GRAPHPRI_MEMORY", "2MB")
    estimator = GraphPRI(keep=0.4, method="random", entropy="degree")
    with pytest.raises(
        graphpri.MemoryLimitError, match=r"dense matrix of 500 nodes as a graph needs about 2\.1 MB.*csr_array"
    ):
        estimator.fit(A.toarray())
    assert estimator.fit(A).mask_.sum() == 398


def test_graphs_of_other_libraries_are_told_what_to_pass() -> None:
    graph = nx.karate_club_graph()
    with pytest.raises(GraphError, match=r"not a graph of networkx: pass networkx\.to_scipy_sparse_array\(X\)"):
        GraphPRI(keep=0.3).fit_transform(graph)
    with pytest.raises(GraphError, match=r"not a graph of graphpri: pass X\.adjacency\(\)"):
        GraphPRI(keep=0.3).fit(graphpri.as_graph(graph))
    assert GraphPRI(keep=23).fit_transform(nx.to_scipy_sparse_array(graph)).nnz == 46


def test_the_budget_may_be_the_second_argument() -> None:
    graph = nx.karate_club_graph()
    assert graphpri.sparsify(graph, 5, beta=1).mask.sum() == 5
