"""Tests of single edges: t and F of SciPy, permutations that keep their level, and the network-based statistic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from graphpri.apps.brain_data import Connectomes, from_matrices
from graphpri.apps.brain_graph import fisher_z, pairs, square, upper
from graphpri.apps.brain_planted import planted_connectomes
from graphpri.apps.brain_tests import edge_tests
from graphpri.errors import OptionError


def noise(seed: int = 0, count: int = 30, n: int = 10) -> Connectomes:
    rng = np.random.default_rng(seed)
    matrices = square(np.tanh(rng.normal(0, 0.3, (count, n * (n - 1) // 2))), n) + np.eye(n)
    return from_matrices(matrices, np.arange(count) % 2)


def test_t_is_that_of_students_test_over_subjects() -> None:
    held = noise()
    z = fisher_z(upper(held.matrices))
    known = stats.ttest_ind(z[1::2], z[::2])
    found = edge_tests(held, 0)
    np.testing.assert_allclose(found.statistic, known.statistic)
    np.testing.assert_allclose(found.p, known.pvalue)
    np.testing.assert_allclose(found.q, stats.false_discovery_control(known.pvalue))
    assert np.isnan(found.p_family).all()


def test_scans_of_both_classes_of_a_subject_are_paired_and_doubles_count_once() -> None:
    held = replace(noise(), groups=tuple(str(i // 2) for i in range(30)))
    z = fisher_z(upper(held.matrices))
    found = edge_tests(held, 0)
    known = stats.ttest_rel(z[1::2], z[::2])
    np.testing.assert_allclose(found.statistic, known.statistic)
    np.testing.assert_allclose(found.p, known.pvalue)
    doubled = edge_tests(held.take(np.repeat(np.arange(30), 2)), 0)
    np.testing.assert_allclose(doubled.statistic, found.statistic)
    assert found.how == "t, paired over 15 subjects"


def test_several_classes_have_the_f_of_an_analysis_of_variance() -> None:
    held = noise()
    three = replace(held, labels=np.arange(30) % 3, classes=("a", "b", "c"))
    z = fisher_z(upper(held.matrices))
    known = stats.f_oneway(z[::3], z[1::3], z[2::3])
    found = edge_tests(three, 0)
    np.testing.assert_allclose(found.statistic, known.statistic)
    np.testing.assert_allclose(found.p, known.pvalue)
    assert not found.signed


def test_a_score_has_the_t_of_its_correlation_and_with_confounds_of_the_partial_one() -> None:
    held, rng = noise(), np.random.default_rng(5)
    age, motion = rng.normal(size=(2, 30))
    scored = replace(held, target=age, classes=(), labels=np.zeros(30, np.int64))
    z = fisher_z(upper(held.matrices))
    known = [stats.pearsonr(column, age) for column in z.T]
    found = edge_tests(scored, 0)
    np.testing.assert_allclose(found.p, [one.pvalue for one in known])
    np.testing.assert_array_equal(np.sign(found.statistic), np.sign([one.statistic for one in known]))
    beside = edge_tests(replace(scored, confounds=motion[:, None]), 0)
    columns = np.column_stack([np.ones(30), age, motion])
    b, rest = np.linalg.lstsq(columns, z, rcond=None)[:2]
    spread = np.linalg.inv(columns.T @ columns)[1, 1]
    np.testing.assert_allclose(beside.statistic, b[1] / np.sqrt(rest / 27 * spread))


@pytest.mark.parametrize("kind", ["two", "paired", "confounds"])
def test_permutations_keep_their_level(kind: str) -> None:
    false = components = 0
    for seed in range(20):
        held = noise(seed, 24, 8)
        if kind == "paired":
            held = replace(held, groups=tuple(str(i // 2) for i in range(24)))
        elif kind == "confounds":
            held = replace(held, confounds=held.labels[:, None] + np.random.default_rng(seed).normal(size=(24, 1)))
        found = edge_tests(held, 99, threshold=1.5, seed=seed)
        false += bool((found.p_family <= 0.1).any())
        components += bool(found.components) and found.components[0]["p"] <= 0.1
    # 20 tests at level .1: more than 6 come by chance twice in a thousand times.
    assert false <= 6
    assert components <= 6


def test_planted_edges_are_found_and_make_a_component() -> None:
    drawn = planted_connectomes(0.4, 0, n_rois=24, n_modules=3, n_planted=8, n_train=48, n_test=4)
    found = edge_tests(drawn.train, 499)
    assert (found.p_family[drawn.planted] < 0.05).mean() > 0.6
    assert (found.p_family[~drawn.planted] < 0.05).sum() <= 1
    assert (found.q[drawn.planted] < 0.05).mean() >= (found.p_family[drawn.planted] < 0.05).mean()
    assert found.components[0]["p"] < 0.05


def test_components_are_those_of_the_edges_above_the_threshold() -> None:
    networkx = pytest.importorskip("networkx")
    held = noise(3)
    found = edge_tests(held, 19, threshold=1.2)
    u, v = pairs(held.n_rois)
    above = np.flatnonzero(np.abs(found.statistic) >= 1.2)
    graph = networkx.Graph(zip(u[above].tolist(), v[above].tolist(), strict=True))
    sizes = sorted(
        (graph.subgraph(nodes).number_of_edges() for nodes in networkx.connected_components(graph)), reverse=True
    )
    assert [row["edges"] for row in found.components] == sizes
    assert ((found.component > 0) == (np.abs(found.statistic) >= 1.2)).all()
    for row in found.components:
        assert (found.component == row["component"]).sum() == row["edges"]


def test_confounds_are_exchanged_within_sites_and_too_few_subjects_have_no_test() -> None:
    held = replace(noise(), sites=tuple("ab"[i // 15] for i in range(30)))
    first, again = (edge_tests(held, 99) for _ in range(2))
    np.testing.assert_array_equal(first.p_family, again.p_family)
    few = edge_tests(noise(count=4).take([0, 1]), 9)
    assert np.isnan(few.statistic).all()
    with pytest.raises(OptionError, match="threshold=-1"):
        edge_tests(held, 9, threshold=-1.0)
