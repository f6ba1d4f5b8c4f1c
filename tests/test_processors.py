"""The same on every processor: rounding errors of other libraries and other cores change no result."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product

import networkx as nx
import numpy as np
import pytest

import graphpri
from covering import each_pair
from disturbing import disturbed
from graphpri._layout import spring
from graphpri.apps.scalar import ScalarPRI
from graphpri.baselines import METHODS
from graphpri.graph import Graph

SEEDS = (0, 1)
NETWORKS = {
    "ring": nx.cycle_graph(12),
    "torus": nx.convert_node_labels_to_integers(nx.grid_2d_graph(4, 4, periodic=True)),
    "petersen": nx.petersen_graph(),
    "cube": nx.convert_node_labels_to_integers(nx.hypercube_graph(4)),
    "karate": nx.karate_club_graph(),
}
BY_NETWORKIT = {"simmelian"}


def network(name: str, weighted: bool) -> Graph:
    """A symmetric graph, or karate; weights repeat, and their sums are rounded."""
    edges = np.array(sorted(tuple(sorted(edge)) for edge in NETWORKS[name].edges))
    weights = np.array([0.1, 0.2, 0.3])[edges.sum(axis=1) % 3] if weighted else None
    return Graph.from_edges(*edges.T, weights)


def found(graph: Graph, **options) -> tuple[bytes, str, str]:
    s = graphpri.sparsify(graph, **options)
    return s.mask.tobytes(), s.status, f"{s.objective:.8f}"


@each_pair(name=NETWORKS.keys(), weighted=[False, True], keep=[0.3, 0.7])
def test_subsets_of_a_budget_stay(name, weighted, keep):
    graph = network(name, weighted)
    here = found(graph, keep=keep)
    with disturbed(int(weighted)):
        assert found(graph, keep=keep) == here


@pytest.mark.parametrize(
    "options",
    [
        {"beta": 1.0},
        {"beta": 5.0, "alpha": 0.005, "keep": 0.5},
        {"connected": True, "keep": 0.9},
        {"entropy": "local", "keep": 0.5, "effort": "fast"},
        {"entropy": "degree", "keep": 0.5},
    ],
    ids=lambda options: " ".join(f"{k}={v}" for k, v in options.items()),
)
@pytest.mark.parametrize("name", ["torus", "karate"])
def test_subsets_of_other_searches_stay(name, options):
    graph = network(name, weighted=False)
    here = found(graph, **options)
    with disturbed(0):
        assert found(graph, **options) == here


def test_points_of_a_path_stay():
    graph = network("petersen", weighted=False)

    def along() -> list[bytes]:
        return [point.mask.tobytes() for point in graphpri.path(graph, beta=[0, 1, 3, 8])]

    here = along()
    with disturbed(0):
        assert along() == here


@pytest.mark.parametrize("name", sorted(set(METHODS) - BY_NETWORKIT))
def test_subsets_of_other_methods_stay(name):
    for network_name, weighted in product(("torus", "karate"), (False, True)):
        graph = network(network_name, weighted)
        here = graphpri.sparsify(graph, method=name, keep=0.5).mask
        for seed in SEEDS:
            with disturbed(seed):
                assert np.array_equal(graphpri.sparsify(graph, method=name, keep=0.5).mask, here)


@pytest.mark.parametrize("name", ["ring", "karate"])
def test_measures_stay(name):
    graph = network(name, weighted=False)
    kept = graphpri.sparsify(graph, keep=0.9).kept

    def measured() -> dict[str, float]:
        found = graphpri.report(graph, kept)
        return {key: found[key] for key in found}

    here = measured()
    with disturbed(0):
        there = measured()
    assert there == pytest.approx(here, rel=1e-6, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("name", NETWORKS)
def test_layouts_stay(name):
    graph = network(name, weighted=False)
    here = spring(graph)
    with disturbed(0):
        assert spring(graph) == pytest.approx(here, abs=1e-3)


@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_modes_of_points_stay(beta):
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(60, 2)) + np.repeat([[0, 0], [6, 0], [3, 6]], 20, axis=0)
    here = ScalarPRI(beta=beta, bandwidth=1.5).fit(samples)
    with disturbed(0):
        there = ScalarPRI(beta=beta, bandwidth=1.5).fit(samples)
    assert np.array_equal(there.labels_, here.labels_)
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-6, abs=1e-9)


SCRIPT = """
import hashlib
from dataclasses import replace
import numpy as np, graphpri
from graphpri.graph import Graph
from graphpri.solvers.budgeted import EFFORTS
EFFORTS["normal"] = replace(EFFORTS["normal"], work=0.1)
nodes = np.arange(30)
edges = np.array(sorted({tuple(sorted((int(i), int((i + s) % 30)))) for i in nodes for s in (1, 2)})).T
digest = hashlib.sha256()
for graph in (Graph.from_edges(*edges), Graph.from_edges(*edges, 0.1 * (1 + edges.sum(axis=0) % 3))):
    for keep in (0.4, 0.7):
        digest.update(graphpri.sparsify(graph, keep=keep).mask.tobytes())
m = 60_000
rng = np.random.default_rng(0)
u, v = rng.integers(0, 8000, (2, m))
large = graphpri.as_graph(Graph.from_edges(*np.unique(np.sort([u[u != v], v[u != v]], axis=0), axis=1)))
digest.update(graphpri.sparsify(large, keep=0.3, entropy="local", effort="fast").mask.tobytes())
print(digest.hexdigest())
"""


def test_subsets_stay_with_other_instructions_and_threads():
    def threads(count: int) -> dict[str, str]:
        return dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "GRAPHPRI_THREADS"), str(count))

    settings = [
        {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX2 FMA3 AVX512F", "NUMBA_CPU_NAME": "generic"} | threads(1),
        threads(2),
    ]
    printed = set()
    for setting in settings:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", SCRIPT],
            env=os.environ | setting,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        printed.add(done.stdout)
    assert len(printed) == 1


def test_the_disturbance_is_felt():
    matrix = np.diag([1.0, 1.0, 2.0])
    with disturbed(0):
        lam, vectors = np.linalg.eigh(matrix)
    assert 0 < np.abs(lam - [1, 1, 2]).max() < 1e-13
    assert np.abs(vectors).max(axis=1).min() < 1 - 1e-3  # another basis of the repeated eigenvalue
