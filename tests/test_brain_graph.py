"""Graphs and features of connectomes: exactly the strongest edges, networkx's clustering, nothing of the test scans."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nilearn.connectome import ConnectivityMeasure
from numpy.typing import NDArray

from graphpri.apps.brain_data import Connectomes, from_matrices, from_series, named
from graphpri.apps.brain_graph import (
    Correlation,
    Tangent,
    candidates,
    clustering,
    connectome_graphs,
    features,
    fisher_z,
    n_kept,
    pairs,
    square,
    upper,
)
from graphpri.errors import OptionError


def scans(count: int = 12, n: int = 8, t: int = 60, seed: int = 0) -> Connectomes:
    rng = np.random.default_rng(seed)
    mix = np.eye(n) + 0.4 * rng.normal(size=(n, n))
    return from_series([rng.normal(size=(t, n)) @ mix for _ in range(count)], [i % 2 for i in range(count)])


def without_series(found: Connectomes) -> Connectomes:
    return from_matrices(found.matrices, found.labels)


@st.composite
def correlations(draw: st.DrawFn) -> NDArray[np.float64]:
    """Symmetric matrices with many ties and some zeros."""
    n = draw(st.integers(3, 9))
    entries = draw(st.lists(st.integers(-4, 4), min_size=n * (n - 1), max_size=n * (n - 1)))
    return square(np.reshape(entries, (2, -1)) / 5.0, n) + np.eye(n)


# Graphs


@given(correlations(), st.sampled_from([0.1, 0.2, 0.5, 0.9]), st.sampled_from(["abs", "positive", "two"]))
def test_graphs_have_exactly_the_strongest_edges(matrices: Any, density: float, signs: Any) -> None:
    n = matrices.shape[-1]
    count = round(density * n * (n - 1) / 2)
    strength = np.maximum(upper(matrices), 0) if signs == "positive" else np.abs(upper(matrices))
    if not count or ((strength > 0).sum(axis=1) < count).any():
        with pytest.raises(OptionError, match=r"density=.* without edges|fewer than the"):
            connectome_graphs(matrices, density, signs)
        return
    found = connectome_graphs(matrices, density, signs)
    total = found.sum(axis=1) if signs == "two" else found
    for R, A, s in zip(matrices, total, strength, strict=True):
        expected = sorted(range(s.size), key=lambda e: (-s[e], e))[:count]
        assert np.flatnonzero(upper(A)).tolist() == sorted(expected)
        np.testing.assert_array_equal(A[A > 0], np.abs(R)[A > 0])
        np.testing.assert_array_equal(A, A.T)
        assert not A.diagonal().any()
    if signs == "two":
        np.testing.assert_array_equal(found[:, 0] - found[:, 1], np.where(total > 0, matrices, 0))


def test_upper_and_square_are_each_others_inverse_in_the_order_of_pairs() -> None:
    n = 5
    u, v = pairs(n)
    values = np.arange(2 * u.size, dtype=float).reshape(2, -1)
    matrices = square(values, n)
    np.testing.assert_array_equal(upper(matrices), values)
    assert [matrices[1, i, j] for i, j in zip(u, v, strict=True)] == values[1].tolist()
    assert list(zip(u.tolist(), v.tolist(), strict=True)) == [(i, j) for i in range(n) for j in range(i + 1, n)]


@pytest.mark.parametrize(("n", "density", "count"), [(116, 0.2, 1334), (64, 0.2, 403), (10, 1.0, 45)])
def test_number_of_edges_is_the_share_of_pairs(n: int, density: float, count: int) -> None:
    assert n_kept(n, density) == count


@pytest.mark.parametrize("density", [0.0, -0.1, 1.1, float("nan"), 0.001])
def test_densities_that_give_no_graph_are_refused(density: float) -> None:
    with pytest.raises(OptionError, match="density="):
        connectome_graphs(scans().matrices, density)


def test_matrices_without_enough_edges_are_refused() -> None:
    matrices = scans().matrices.copy()
    matrices[5] = np.eye(8)
    with pytest.raises(OptionError, match="scan number 5 has 0 non-zero correlations, fewer than the 6"):
        connectome_graphs(matrices)
    with pytest.raises(OptionError, match="scan number 0 has 0 positive"):
        connectome_graphs(-np.abs(matrices), signs="positive")
    with pytest.raises(OptionError, match="signs='negative'"):
        connectome_graphs(matrices, signs=cast("Any", "negative"))


def test_candidates_stand_in_the_share_of_graphs() -> None:
    first, second, third = np.eye(6)[:3]
    graphs = square(np.stack([first, first + second, first + second + third, first]), 4)
    for share, found in ((0.25, 3), (0.5, 2), (0.51, 1), (1.0, 1)):
        assert candidates(graphs, share).tolist() == [i < found for i in range(6)]
    two = np.stack([square([first, third, third, third], 4), square([second, first, 0 * first, first], 4)], axis=1)
    assert candidates(two, 0.75).tolist() == [True, False, True, False, False, False]
    with pytest.raises(OptionError, match="share=0"):
        candidates(graphs, 0)
    with pytest.raises(OptionError, match="no edge stands in 1 of"):
        candidates(square(np.eye(6), 4), 1)


@pytest.mark.parametrize("density", [0.1, 0.3, 0.8])
def test_clustering_is_that_of_networkx(density: float) -> None:
    found = connectome_graphs(scans(n=15).matrices, density)
    expected = [[*cast("Any", nx.clustering(nx.from_numpy_array(A), weight="weight")).values()] for A in found]
    np.testing.assert_allclose(clustering(found), expected, atol=1e-12)


def test_clustering_of_a_graph_without_edges_is_refused() -> None:
    graphs = connectome_graphs(scans().matrices)
    graphs[3] = 0
    with pytest.raises(OptionError, match="graph 3 has no edges"):
        clustering(graphs)


# Features


def test_fisher_z_is_finite_and_odd() -> None:
    r = np.array([-1, -0.5, 0, 0.5, 1])
    z = fisher_z(r)
    assert np.isfinite(z).all()
    np.testing.assert_allclose(z, -z[::-1])
    assert z[3] == pytest.approx(0.5 * np.log(3))


def test_correlation_features_are_standardised_on_the_training_scans() -> None:
    found = scans()
    train, test = found.take(range(8)), found.take(range(8, 12))
    made = Correlation().fit(train)
    X = made.transform(train)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1)
    z = np.arctanh(upper(found.matrices))
    np.testing.assert_allclose(made.transform(test), (z[8:] - z[:8].mean(axis=0)) / z[:8].std(axis=0))


def test_an_edge_that_never_varies_gives_zeros() -> None:
    matrices = scans().matrices.copy()
    matrices[:, 0, 1] = matrices[:, 1, 0] = 0.3
    found = Correlation().fit(from_matrices(matrices, [0, 1] * 6)).transform(from_matrices(matrices, [0, 1] * 6))
    assert not found[:, 0].any()
    assert np.isfinite(found).all()


@pytest.mark.parametrize("series", [True, False])
@pytest.mark.parametrize("kind", ["correlation", "tangent"])
def test_test_scans_tell_the_features_nothing(kind: Any, series: bool) -> None:
    found = scans() if series else without_series(scans())
    made = features(kind).fit(found.take(range(8)))
    together = made.transform(found)
    np.testing.assert_allclose(made.transform(found.take([9, 8])), together[[9, 8]], atol=1e-9)
    np.testing.assert_allclose(made.transform(found.take([9])), together[[9]], atol=1e-9)
    refit = features(kind).fit(found.take(range(8))).transform(found)
    np.testing.assert_array_equal(refit, together)
    np.testing.assert_allclose(together[:8].mean(axis=0), 0, atol=1e-9)
    other = features(kind).fit(found.take(range(1, 9))).transform(found)
    assert np.abs(other - together).max() > 1e-3


def test_tangent_features_are_nilearns() -> None:
    found = scans()
    assert found.series is not None
    measure = ConnectivityMeasure(kind="tangent").fit(found.series[:8])
    entries = measure.transform(found.series)[:, *pairs(8)]
    expected = (entries - entries[:8].mean(axis=0)) / entries[:8].std(axis=0)
    np.testing.assert_allclose(Tangent().fit(found.take(range(8))).transform(found), expected, atol=1e-9)


def test_tangent_features_of_matrices_are_logarithms_of_the_whitened_matrices() -> None:
    found, a = without_series(scans()), 0.2
    shrunk = (1 - a) * found.matrices + a * np.eye(8)
    train = found.take(range(8))
    made = Tangent(a).fit(train)
    mean = made._measure.mean_  # pyright: ignore[reportPrivateUsage]
    # The geometric mean is where the logarithms of the training matrices add up to nothing.
    w, q = np.linalg.eigh(mean)
    root = (q / np.sqrt(w)) @ q.T
    logs = []
    for C in shrunk:
        d, p = np.linalg.eigh(root @ C @ root)
        logs.append((p * np.log(d)) @ p.T)
    np.testing.assert_allclose(np.mean(logs[:8], axis=0), 0, atol=1e-5)
    entries = upper(np.stack(logs))
    expected = (entries - entries[:8].mean(axis=0)) / entries[:8].std(axis=0)
    np.testing.assert_allclose(made.transform(found), expected, atol=1e-6)


def test_matrices_without_an_inverse_need_shrinkage() -> None:
    rng = np.random.default_rng(0)
    found = without_series(from_series([rng.normal(size=(6, 9)) for _ in range(8)], [0, 1] * 4))
    assert Tangent().fit(found).transform(found).shape == (8, 36)
    with pytest.raises(OptionError, match="scan 0: shrinkage=0 leaves its matrix without an inverse"):
        Tangent(0).fit(found)
    with pytest.raises(OptionError, match="shrinkage=1"):
        Tangent(1)
    with pytest.raises(OptionError, match="features='rows': choose"):
        features(cast("Any", "rows"))


# Real scans


def test_eoec_graphs_have_the_papers_size(data: Path) -> None:
    found = connectome_graphs(named("eoec").matrices)
    assert ((found > 0).sum(axis=(1, 2)) == 2 * 1334).all()
    isolated = (found.sum(axis=2) == 0).sum(axis=1)
    assert isolated.mean() == pytest.approx(1.3, abs=0.05)
    np.testing.assert_array_equal(found, found.swapaxes(1, 2))


def test_devfmri_graphs_and_features_are_made(data: Path) -> None:
    found = named("devfmri")
    assert ((connectome_graphs(found.matrices) > 0).sum(axis=(1, 2)) == 2 * 403).all()
    X = Tangent().fit(found.take(range(0, 83, 2))).transform(found)
    assert X.shape == (83, 2016)
    assert np.isfinite(X).all()
