"""Differentiable entropies: they are the core's, in value and gradient, for every layout, entropy and dtype."""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import zoo

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from graphpri._entropy import LARGE_EDGES  # noqa: E402
from graphpri._entropy.by_name import EXACT_NODES, entropy_for  # noqa: E402
from graphpri._objective import Objective  # noqa: E402
from graphpri.errors import GraphError, MissingExtraError, OptionError  # noqa: E402
from graphpri.graph import Graph  # noqa: E402
from graphpri.torch import (  # noqa: E402
    EdgeGate,
    PRILoss,
    pri_objective,
    pri_objective_edges,
    qjs_divergence,
    qjs_divergence_edges,
    von_neumann_entropy,
    von_neumann_entropy_edges,
)
from graphpri.torch.entropy import (  # noqa: E402
    MOST_EXACT_NODES,
    log_mean_inverse,
)

ENTROPIES = ("exact", "degree", "local")
SMALL = {name: graph for name, graph in zoo.GRAPHS.items() if graph.n_nodes <= 100}
every_entropy = pytest.mark.parametrize("entropy", ENTROPIES)
every_graph = pytest.mark.parametrize("graph", SMALL.values(), ids=SMALL.keys())


def edge_index(graph: Graph) -> Any:
    """Both orientations of every edge, the second ones behind the first."""
    ends = np.array([graph.source, graph.target], np.int64)
    return torch.from_numpy(np.concatenate([ends, ends[::-1]], 1))


def matrix(graph: Graph, weights: Any) -> Any:
    """Adjacency of edge weights, differentiable in them."""
    empty = torch.zeros(graph.n_nodes, graph.n_nodes, dtype=weights.dtype)
    row, col = edge_index(graph)
    return empty.index_put((row, col), torch.cat([weights, weights]))


def some_weights(graph: Graph, seed: int = 0) -> np.ndarray[Any, Any]:
    """Selection with a zero where there are edges to spare."""
    w = np.random.default_rng(seed).uniform(0.1, 1.0, graph.n_edges)
    if w.size > 3:
        w[1] = 0.0
    return w


def dense_objective(graph: Graph, w: Any, beta: float, entropy: str) -> Any:
    mu = torch.tensor(graph.weights)
    return pri_objective(matrix(graph, w * mu), matrix(graph, mu * torch.ones_like(w)), beta, entropy)


def edge_objective(graph: Graph, w: Any, beta: float, entropy: str) -> Any:
    mu = torch.tensor(graph.weights) * torch.ones_like(w)
    y, whole = torch.cat([w * mu] * 2), torch.cat([mu] * 2)
    return pri_objective_edges(edge_index(graph), y, whole, beta, num_nodes=graph.n_nodes, entropy=entropy)[0]


@every_entropy
@every_graph
@pytest.mark.parametrize("objective", [dense_objective, edge_objective], ids=["dense", "edges"])
def test_values_and_gradients_are_those_of_the_core(objective: Callable[..., Any], graph: Graph, entropy: str) -> None:
    w = some_weights(graph)
    value, slope = Objective(graph, 3.0, entropy=entropy).value_and_gradient(w)
    x = torch.tensor(w, requires_grad=True)
    found = objective(graph, x, 3.0, entropy)
    found.backward()
    assert found.item() == pytest.approx(value, abs=1e-10)
    np.testing.assert_allclose(x.grad.numpy(), slope, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(slope).max()))


def graph_batch() -> tuple[list[Graph], Any, Any, Any]:
    """Graphs of unlike sizes, one with isolated nodes, as one list whose nodes are shuffled."""
    graphs = [zoo.star(3), zoo.random_graph(20, 50, 1), zoo.complete(5), zoo.disjoint(zoo.ring(4), isolated=3)]
    offsets = np.cumsum([0] + [g.n_nodes for g in graphs])
    moved = torch.from_numpy(np.random.default_rng(2).permutation(offsets[-1]))
    batch = torch.empty(offsets[-1], dtype=torch.int64)
    batch[moved] = torch.from_numpy(np.repeat(np.arange(len(graphs)), [g.n_nodes for g in graphs]))
    ends = torch.cat([moved[edge_index(g) + k] for g, k in zip(graphs, offsets, strict=False)], 1)
    weights = torch.cat([torch.tensor(some_weights(g, i)).repeat(2) for i, g in enumerate(graphs)])
    return graphs, ends, weights, batch


@every_entropy
def test_a_batch_of_edge_lists_is_its_graphs(entropy: str) -> None:
    graphs, ends, weights, batch = graph_batch()
    weights = weights.requires_grad_()
    found = pri_objective_edges(ends, weights, torch.ones_like(weights), 2.0, batch, entropy=entropy)
    found.sum().backward()
    alone = [Objective(g, 2.0, entropy=entropy).value_and_gradient(some_weights(g, i)) for i, g in enumerate(graphs)]
    np.testing.assert_allclose(found.detach().numpy(), [value for value, _ in alone], atol=1e-12)
    # Each orientation has half of the edge's gradient.
    halves = np.concatenate([np.tile(slope / 2, 2) for _, slope in alone])
    np.testing.assert_allclose(weights.grad.numpy(), halves, atol=1e-9)


@every_entropy
def test_batches_of_matrices_are_their_matrices(entropy: str) -> None:
    graph = zoo.random_graph(12, 30, 0)
    stack = torch.stack([matrix(graph, torch.tensor(some_weights(graph, s))) for s in range(6)]).view(2, 3, 12, 12)
    found = qjs_divergence(stack, stack[0, 0], entropy)
    assert found.shape == (2, 3)
    for i, j in np.ndindex(2, 3):
        assert found[i, j].item() == pytest.approx(qjs_divergence(stack[i, j], stack[0, 0], entropy).item(), abs=1e-14)


@every_entropy
@pytest.mark.parametrize("graph", [zoo.complete(5), zoo.random_graph(7, 12, 3)], ids=["complete", "random"])
def test_first_and_second_derivatives(graph: Graph, entropy: str) -> None:
    w = torch.tensor(np.random.default_rng(1).uniform(0.5, 1.0, graph.n_edges), requires_grad=True)
    for objective in (dense_objective, edge_objective):
        function = partial(objective, graph, beta=2.5, entropy=entropy)
        assert torch.autograd.gradcheck(function, (w,))
        assert torch.autograd.gradgradcheck(function, (w,), atol=1e-4)


@pytest.mark.parametrize("entropy", ["degree", "local"])
def test_second_derivatives_where_all_degrees_agree(entropy: str) -> None:
    w = torch.ones(6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(
        partial(dense_objective, zoo.ring(6), beta=2.0, entropy=entropy), (w,), atol=1e-4
    )


def test_third_derivatives_of_the_exact_entropy_are_refused() -> None:
    w = torch.rand(6, dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(dense_objective(zoo.ring(6), w, 1.0, "exact"), w, create_graph=True)
    with pytest.raises(OptionError, match=r"no third derivative.*'local'"):
        torch.autograd.grad(first.square().sum(), w, create_graph=True)


def through_eigenvectors(adjacency: Any) -> Any:
    """The entropy by autograd alone."""
    laplacian = torch.diag(adjacency.sum(-1)) - adjacency
    lam, vectors = torch.linalg.eigh(laplacian / laplacian.trace())
    log = vectors @ torch.diag(lam.clamp(min=1e-12).log()) @ vectors.T
    return -(laplacian / laplacian.trace() @ log).trace()


def test_repeated_eigenvalues_and_isolated_nodes_give_no_nan() -> None:
    graph = zoo.disjoint(zoo.complete(6), isolated=1)
    for build, finite in ((through_eigenvectors, False), (von_neumann_entropy, True)):
        w = torch.ones(graph.n_edges, dtype=torch.float64, requires_grad=True)
        build(matrix(graph, w)).backward()
        assert bool(torch.isfinite(w.grad).all()) is finite
    np.testing.assert_allclose(w.grad.numpy(), 0.0, atol=1e-12)  # K₆ is where the entropy is largest


@every_entropy
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_matrix_gradients_are_symmetric_and_zero_on_the_diagonal(entropy: str, dtype: Any) -> None:
    a = matrix(zoo.random_graph(9, 20, 4), torch.tensor(some_weights(zoo.random_graph(9, 20, 4)))).to(dtype)
    a.requires_grad_()
    pri_objective(a, (a.detach() > 0).to(dtype), 2.0, entropy).backward()
    assert torch.equal(a.grad.diagonal(), torch.zeros(9, dtype=dtype))
    torch.testing.assert_close(a.grad, a.grad.T)
    assert a.grad.dtype == dtype


@every_entropy
@pytest.mark.parametrize("layout", [dense_objective, edge_objective], ids=["dense", "edges"])
def test_float32_is_near_float64(layout: Callable[..., Any], entropy: str) -> None:
    graph = zoo.random_graph(40, 120, 5)
    w = torch.tensor(some_weights(graph), requires_grad=True)
    x = w.detach().float().requires_grad_()
    double = layout(graph, w, 3.0, entropy)
    double.backward()
    unit = torch.ones(graph.n_edges)
    if layout is dense_objective:
        single = pri_objective(matrix(graph, x), matrix(graph, unit), 3.0, entropy)
    else:
        single = pri_objective_edges(edge_index(graph), x.repeat(2), unit.repeat(2), 3.0, entropy=entropy)[0]
    single.backward()
    assert single.dtype == torch.float32
    assert single.item() == pytest.approx(double.item(), abs=2e-5)
    torch.testing.assert_close(x.grad.double(), w.grad, atol=2e-5, rtol=1e-3)


@every_entropy
@given(exponent=st.integers(-30, 30), seed=st.integers(0, 100))
def test_neither_scale_nor_node_order_matters(entropy: str, exponent: int, seed: int) -> None:
    graph = zoo.random_graph(8, 14, seed)
    a = matrix(graph, torch.tensor(some_weights(graph, seed)))
    order = torch.from_numpy(np.random.default_rng(seed).permutation(8))
    found = von_neumann_entropy(torch.stack([a, a * 10.0**exponent, a[order][:, order]]), entropy)
    torch.testing.assert_close(found, found[:1].expand(3), atol=1e-12, rtol=0)
    single = von_neumann_entropy((a * 10.0**exponent).float(), entropy)
    assert single.item() == pytest.approx(found[0].item(), abs=1e-5)


@every_entropy
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_weights_at_the_ends_of_the_range_have_the_values_and_gradients_of_others(dtype: Any, entropy: str) -> None:
    info = torch.finfo(dtype)
    graph = zoo.random_graph(9, 20, 3)
    ends = edge_index(graph)
    w = torch.tensor(some_weights(graph, 1), dtype=dtype)
    exact = {"atol": 100 * info.eps, "rtol": 100 * info.eps}

    def objectives(gates: Any, scale: float, other: float) -> Any:
        """A graph in and one out of range, as matrices and as edge lists."""
        ones = torch.ones_like(gates)
        a = torch.stack([matrix(graph, gates) * scale, matrix(graph, gates)])
        originals = torch.stack([matrix(graph, ones) * other, matrix(graph, ones)])
        weights = torch.cat([gates * scale] * 2 + [gates] * 2), torch.cat([ones * other] * 2 + [ones] * 2)
        batch = torch.arange(2).repeat_interleave(9)
        listed = pri_objective_edges(torch.cat([ends, ends + 9], 1), *weights, 2.0, batch, entropy=entropy)
        mean = PRILoss(2.0, entropy, "mean")(a, originals)
        return torch.cat([pri_objective(a, originals, 2.0, entropy), listed, mean[None]])

    def slope(scale: float, other: float) -> Any:
        gates = w.clone().requires_grad_()
        return torch.autograd.grad(objectives(gates, scale, other).sum(), gates)[0]

    large, small = 2.0 ** (math.frexp(info.max)[1] - 1), info.tiny
    for scale, other in ((large, small), (small, large), (large, large)):
        torch.testing.assert_close(objectives(w, scale, other), objectives(w, 1.0, 1.0), **exact)
        torch.testing.assert_close(
            slope(scale, other), slope(1.0, 1.0), atol=3e-4 if dtype == torch.float32 else 1e-8, rtol=1e-3
        )
        torch.testing.assert_close(
            qjs_divergence(matrix(graph, w) * scale, matrix(graph, w.flip(0)) * other, entropy),
            qjs_divergence(matrix(graph, w), matrix(graph, w.flip(0)), entropy),
            **exact,
        )


@every_entropy
def test_derivatives_of_weights_beyond_the_range_of_sums(entropy: str) -> None:
    graph = zoo.random_graph(6, 10, 0)

    def far(w: Any) -> Any:
        ones = torch.ones_like(w)
        return pri_objective(matrix(graph, w) * 1e200, matrix(graph, ones) * 1e-200, 2.0, entropy)

    w = torch.tensor(np.random.default_rng(0).uniform(0.5, 1.0, 10), requires_grad=True)
    assert torch.autograd.gradcheck(far, w)
    assert torch.autograd.gradgradcheck(far, w)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@every_entropy
def test_a_nearly_closed_gate_gives_finite_gradients(entropy: str, dtype: Any) -> None:
    graph = zoo.path(4)
    expected = Objective(zoo.path(3), 0.0, entropy=entropy).original_entropy
    for light in (1e-7, 1e-12, 1e-20, 1e-38, 1e-300):
        w = torch.tensor([1.0, 1.0, light], dtype=dtype, requires_grad=True)
        value = von_neumann_entropy(matrix(graph, w), entropy)
        value.backward()
        assert value.item() == pytest.approx(expected, abs=1e-5)
        assert torch.isfinite(w.grad).all()


@given(st.floats(1e-8, 1.0), st.floats(1e-8, 1.0))
def test_the_mean_inverse_lies_between_its_ends(x: float, y: float) -> None:
    found = log_mean_inverse(torch.tensor(x, dtype=torch.float64), torch.tensor(y, dtype=torch.float64)).item()
    assert 1 / max(x, y) * (1 - 1e-12) <= found <= 1 / min(x, y) * (1 + 1e-12)
    if abs(x - y) > 0.01 * max(x, y):
        assert found == pytest.approx((math.log(x) - math.log(y)) / (x - y), rel=1e-12)


@pytest.mark.parametrize("entropy", ["exact", "degree"])
def test_divergence_between_zero_and_ln_2(entropy: str) -> None:
    left, right = torch.zeros(2, 5, 5, dtype=torch.float64)
    left[0, 1] = left[1, 0] = 3.0
    right[2, 3] = right[3, 2] = 0.2
    assert qjs_divergence(left, right, entropy).item() == pytest.approx(math.log(2), abs=1e-12)
    assert qjs_divergence(left, left * 7, entropy).item() == 0.0
    ends = torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]])
    a, b = torch.tensor([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    assert qjs_divergence_edges(ends, a, b, entropy=entropy).item() == pytest.approx(math.log(2), abs=1e-6)


def test_closed_forms() -> None:
    n = 9
    star = matrix(zoo.star(n), torch.ones(n - 1, dtype=torch.float64))
    lam = np.array([n, *[1] * (n - 2)]) / (2 * (n - 1))
    assert von_neumann_entropy(star).item() == pytest.approx(-(lam * np.log(lam)).sum(), abs=1e-12)
    complete = 1 - torch.eye(n, dtype=torch.float64)
    assert von_neumann_entropy(complete).item() == pytest.approx(math.log(n - 1), abs=1e-12)
    assert von_neumann_entropy(complete, "degree").item() == pytest.approx(math.log(n), abs=1e-12)
    assert von_neumann_entropy_edges(edge_index(zoo.complete(n))).item() == pytest.approx(math.log(n - 1), abs=1e-6)


def test_digits_do_not_depend_on_threads_or_neighbours() -> None:
    graphs = [zoo.random_graph(30, 90, seed, weighted=True) for seed in range(40)]
    stack = torch.stack([matrix(g, torch.tensor(g.weights)) for g in graphs])
    before = torch.get_num_threads()
    found: list[Any] = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            a = stack.clone().requires_grad_()
            value = von_neumann_entropy(a)
            value.sum().backward()
            found += [value.detach(), a.grad]
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert torch.equal(found[0], found[2])
    assert torch.equal(found[1], found[3])
    assert torch.equal(found[0][17], von_neumann_entropy(stack[17].clone().requires_grad_()).detach())


def test_a_known_original_entropy_changes_nothing() -> None:
    graph = zoo.random_graph(10, 20, 6)
    a, original = matrix(graph, torch.tensor(some_weights(graph))), matrix(graph, torch.ones(20, dtype=torch.float64))
    known = von_neumann_entropy(original)
    assert pri_objective(a, original, 2.0, original_entropy=known) == pri_objective(a, original, 2.0)
    with pytest.raises(OptionError, match=r"original_entropy has the shape \(3,\)"):
        pri_objective(a, original, 2.0, original_entropy=known.expand(3))


def broken(*changes: tuple[int, int, float]) -> Any:
    """Two triangles as matrices, the second one changed."""
    stack = (1 - torch.eye(3)).repeat(2, 1, 1)
    for i, j, value in changes:
        stack[1, i, j] = value
    return stack


EMPTY = [(i, j, 0.0) for i in range(3) for j in range(3)]


@pytest.mark.parametrize(
    ("adjacency", "words"),
    [
        (broken((0, 2, math.nan)), r"adjacency\[1, 0, 2\] = nan is NaN"),
        (broken((0, 2, math.inf), (2, 0, math.inf)), r"adjacency\[1, 0, 2\] = inf is NaN or infinite"),
        (broken((0, 2, -1.0), (2, 0, -1.0)), r"adjacency\[1, 0, 2\] = -1 is negative"),
        (broken((2, 2, 0.5)), r"adjacency\[1, 2, 2\] = 0.5 is a self-loop"),
        (broken((0, 1, 0.5)), r"adjacency\[1, 0, 1\] = 0.5 is not that of the opposite"),
        (broken(*EMPTY), r"adjacency\[1\] has no edges"),
        (torch.zeros(3, 3), "^adjacency has no edges"),
        (torch.zeros(2, 3), r"shape \(2, 3\)"),
        (torch.zeros(0, 3, 3), r"shape \(0, 3, 3\)"),
    ],
)
def test_matrices_that_are_no_graphs_are_refused(adjacency: Any, words: str) -> None:
    with pytest.raises(GraphError, match=words):
        von_neumann_entropy(adjacency)


def test_unchecked_self_loops_are_ignored_and_rounding_passes() -> None:
    triangles = broken((2, 2, 0.5))
    assert torch.equal(*von_neumann_entropy(triangles, "degree", check=False))
    rounded = broken((0, 1, 1 + 1e-6))
    torch.testing.assert_close(*von_neumann_entropy(rounded))


PAIR = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"edge_index": PAIR[:, :3]}, r"column 2 of edge_index, the edge \(1, 2\), has no opposite.*ToUndirected"),
        ({"edge_index": torch.tensor([[0, 1, 2], [1, 0, 2]])}, r"column 2 .* self-loop; .*RemoveSelfLoops"),
        ({"edge_index": PAIR.repeat(1, 2)}, r"is there twice; coalesce"),
        ({"edge_index": PAIR[:, :0]}, "no columns"),
        ({"edge_index": PAIR.T}, r"shape \(4, 2\)"),
        ({"edge_index": PAIR.float()}, "torch.float32: it must be"),
        ({"num_nodes": 2}, r"column 2 of edge_index, the edge \(1, 2\), names a node"),
        ({"batch": torch.tensor([0, 0, 1])}, r"the edge \(1, 2\), joins two graphs"),
        (
            {"batch": torch.tensor([0, 0, 0, 1])},
            "graph 1 of the batch has no edge with an entry of edge_weight above 0.*: leave graphs without",
        ),
        ({"batch": torch.tensor([0.0, 0.0, 0.0])}, "batch is torch.float32"),
        ({"edge_weight": torch.ones(3)}, r"edge_weight has the shape \(3,\)"),
        ({"edge_weight": torch.tensor([1.0, 1.0, 2.0, 1.0])}, r"differs in edge_weight from its opposite.*\(2\)"),
        ({"edge_weight": -torch.ones(4)}, r"is negative in edge_weight \(-1\)"),
        ({"edge_weight": torch.ones(4) / 0}, r"NaN or infinite in edge_weight \(inf\)"),
        ({"edge_weight": torch.zeros(4)}, "the graph has no edge with an entry of edge_weight above 0"),
    ],
)
def test_edge_lists_that_are_no_graphs_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(GraphError, match=words):
        von_neumann_entropy_edges(**{"edge_index": PAIR} | arguments)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: a.to_sparse(), r"layout torch.sparse_coo: .*WHAT\.to_dense\(\)"),
        (lambda a: a.to_sparse_csr(), r"layout torch.sparse_csr: .*WHAT\.to_dense\(\)"),
        (lambda a: torch.nested.as_nested_tensor([a]), r"layout nested: .*WHAT\.to_padded_tensor"),
        (lambda a: a.numpy(), r"of type numpy.ndarray: .*torch\.from_numpy\(WHAT\)"),
        (lambda a: a.tolist(), r"of type list: .*torch\.tensor\(\.\.\.\)"),
        (lambda a: zoo.ring(3), r"of type graphpri.graph.Graph: .*torch\.tensor\(\.\.\.\)"),
        (lambda a: a.to(torch.complex64), r"torch.complex64: .*WHAT\.abs\(\)"),
    ],
)
def test_what_is_no_dense_real_tensor_is_named_with_the_way_to_one(change: Callable[[Any], Any], words: str) -> None:
    triangle = 1 - torch.eye(3)
    calls: dict[str, Callable[[Any], Any]] = {
        "adjacency": von_neumann_entropy,
        "b": lambda x: qjs_divergence(triangle, x, check=False),
        "original": lambda x: PRILoss()(triangle, x),
        "original_entropy": lambda x: pri_objective(triangle, triangle, 1.0, original_entropy=x),
        "edge_index": von_neumann_entropy_edges,
        "batch": lambda x: von_neumann_entropy_edges(PAIR, batch=x),
        "candidates": lambda x: EdgeGate.for_nodes(3, candidates=x),
        "scores": lambda x: EdgeGate(3).top_k(1, x),
    }
    for what, call in calls.items():
        with pytest.raises(OptionError, match=f"^{what} is .*{words.replace('WHAT', what)}"):
            call(change(triangle))


def test_other_options_are_refused() -> None:
    triangle = 1 - torch.eye(3)
    with pytest.raises(OptionError, match=r"entropy='stochastic': choose from 'exact', 'degree', 'local'"):
        von_neumann_entropy(triangle, "stochastic")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match=r"torch.int64.*adjacency.float\(\)"):
        von_neumann_entropy(triangle.long())
    with pytest.raises(OptionError, match=r"torch\.bfloat16"):
        von_neumann_entropy(triangle.bfloat16())
    with pytest.raises(OptionError, match="bring them together"):
        qjs_divergence(triangle, triangle.double())
    with pytest.raises(GraphError, match="do not fit each other"):
        qjs_divergence(triangle, 1 - torch.eye(4))
    with pytest.raises(OptionError, match="beta=-1"):
        pri_objective(triangle, triangle, -1)
    with pytest.raises(OptionError, match="num_nodes=4, but batch has 3"):
        von_neumann_entropy_edges(PAIR, batch=torch.zeros(3, dtype=torch.int64), num_nodes=4)


def test_auto_means_what_it_means_to_sparsify_by_the_number_of_nodes():
    for graph in (zoo.star(9), zoo.path(EXACT_NODES), zoo.path(EXACT_NODES + 1)):
        ends, name = edge_index(graph), entropy_for(graph)
        assert von_neumann_entropy_edges(ends, entropy="auto") == von_neumann_entropy_edges(ends, entropy=name)
    assert name == "local"
    ring = matrix(zoo.ring(6), torch.ones(6))
    assert von_neumann_entropy(ring, "auto") == von_neumann_entropy(ring, "exact")
    both = torch.cat([edge_index(zoo.path(EXACT_NODES + 1)), edge_index(zoo.ring(6)) + EXACT_NODES + 1], 1)
    batch = torch.tensor([0] * (EXACT_NODES + 1) + [1] * 6)
    with pytest.raises(OptionError, match="'auto' means 'exact' and 'local' for graphs of these sizes"):
        von_neumann_entropy_edges(both, batch=batch, entropy="auto")


@pytest.fixture(scope="module")
def large() -> tuple[Any, Any]:
    """Columns, in any order, and weights of a graph for which there are compiled loops; one in ten weighs 0."""
    graph = zoo.random_graph(3100, LARGE_EDGES, 0)
    rng = np.random.default_rng(1)
    w = rng.random(LARGE_EDGES) * (rng.random(LARGE_EDGES) < 0.9)
    order = torch.from_numpy(rng.permutation(2 * LARGE_EDGES))
    return edge_index(graph)[:, order], torch.from_numpy(w).repeat(2)[order]


@pytest.mark.parametrize("entropy", ["degree", "local"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_compiled_loops_give_the_values_and_gradients_of_sums(
    large: Any, entropy: Any, dtype: Any, weighted: bool, monkeypatch
) -> None:
    ends, w = large
    original = (0.5 + 7 * (w * 1000 % 1) if weighted else torch.ones_like(w)).to(dtype)
    found: list[Any] = []
    for threshold in (LARGE_EDGES, 10 * LARGE_EDGES):
        monkeypatch.setattr("graphpri.torch.entropy.LARGE_EDGES", threshold)
        weights = w.to(dtype, copy=True).requires_grad_()
        value = pri_objective_edges(ends, weights, original, 2.0, entropy=entropy)
        (gradient,) = torch.autograd.grad(value, weights)
        assert value.dtype == gradient.dtype == dtype
        found.append((value.detach(), gradient))
    exact = dtype == torch.float64
    torch.testing.assert_close(found[0][0], found[1][0], rtol=1e-12 if exact else 2e-6, atol=0)
    scale = float(found[1][1].abs().max())
    torch.testing.assert_close(found[0][1], found[1][1], rtol=0, atol=scale * (1e-10 if exact else 2e-4))


def test_second_derivatives_beside_compiled_loops(large: Any) -> None:
    ends, w = large
    weights = (w + 0.5).requires_grad_()
    value = von_neumann_entropy_edges(ends, weights, entropy="local")
    (slope,) = torch.autograd.grad(value, weights, create_graph=True)
    (curve,) = torch.autograd.grad((slope * w).sum(), weights)
    (near,) = torch.autograd.grad(von_neumann_entropy_edges(ends, weights + 1e-6 * w, entropy="local"), weights)
    torch.testing.assert_close((near - slope) / 1e-6, curve, rtol=1e-3, atol=1e-3 * float(curve.abs().max()))


def test_second_derivatives_of_the_objective_beside_compiled_loops(large: Any, monkeypatch) -> None:
    ends, w = large
    curves: list[Any] = []
    for threshold in (LARGE_EDGES, 10 * LARGE_EDGES):
        monkeypatch.setattr("graphpri.torch.entropy.LARGE_EDGES", threshold)
        weights = (w + 0.5).requires_grad_()
        value = pri_objective_edges(ends, weights, 2 - w, 2.0, entropy="local")
        (slope,) = torch.autograd.grad(value, weights, create_graph=True)
        curves.append(torch.autograd.grad((slope * w).sum(), weights)[0])
    torch.testing.assert_close(*curves, rtol=1e-9, atol=1e-9 * float(curves[1].abs().max()))


def test_an_original_that_was_changed_in_place_is_read_again(large: Any) -> None:
    ends, w = large
    pri, original = PRILoss(2.0, "local"), w + 1
    before = pri(w + 0.5, original, edge_index=ends)
    original[(ends == 0).any(0)] = 9
    after = pri(w + 0.5, original, edge_index=ends)
    assert after != before
    assert after == PRILoss(2.0, "local")(w + 0.5, original.clone(), edge_index=ends)


def test_an_unchecked_node_beyond_the_graph_is_refused_before_loops_read_it(large: Any) -> None:
    ends, w = large
    with pytest.raises(GraphError, match="not among the 3000 there are"):
        von_neumann_entropy_edges(ends, w, num_nodes=3000, entropy="degree", check=False)


def test_the_exact_entropy_of_a_large_edge_list_names_the_others() -> None:
    large = edge_index(zoo.ring(MOST_EXACT_NODES + 1))
    with pytest.raises(OptionError, match="entropy='local' or 'degree'"):
        von_neumann_entropy_edges(large)
    assert von_neumann_entropy_edges(large, entropy="degree").item() == pytest.approx(math.log(MOST_EXACT_NODES + 1))


def test_a_missing_torch_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("graphpri.torch")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"graphpri\[torch\]"):
        importlib.import_module("graphpri.torch")


def test_the_old_name_of_the_option_is_refused_with_the_new_one() -> None:
    ends = torch.tensor([[0, 1], [1, 0]])
    triangle = torch.ones(3, 3) - torch.eye(3)
    for call in (
        lambda: von_neumann_entropy(triangle, method="degree"),  # type: ignore[call-arg]
        lambda: von_neumann_entropy_edges(ends, method="degree"),  # type: ignore[call-arg]
        lambda: qjs_divergence(triangle, triangle, method="degree"),  # type: ignore[call-arg]
        lambda: pri_objective(triangle, triangle, 1.0, method="degree"),  # type: ignore[call-arg]
        lambda: PRILoss(method="degree"),  # type: ignore[call-arg]
    ):
        with pytest.raises(OptionError, match="no argument method; did you mean entropy"):
            call()
