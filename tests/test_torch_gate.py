"""Gates on the edges of any graph, and gates beside which self-loops keep their weight."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import zoo

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from graphpri.errors import GraphError, OptionError  # noqa: E402
from graphpri.torch import EdgeGate, InductiveGate, PRILoss  # noqa: E402

MODES = ("gumbel", "concrete", "sigmoid")


def seeded(seed: int) -> Any:
    return torch.Generator().manual_seed(seed)


def columns(graph: Any) -> Any:
    """Both orientations of every edge, one after the other."""
    ends = np.stack([graph.source, graph.target]).astype(np.int64)
    return torch.from_numpy(np.concatenate([ends, ends[::-1]], 1))


def sample(seed: int, n: int = 12, m: int = 25) -> tuple[Any, Any, Any]:
    """Features of nodes, columns and features of edges of a random graph."""
    ends = columns(zoo.random_graph(n, m, seed))
    noise = seeded(seed)
    return torch.randn(n, 4, generator=noise), ends, torch.randn(m, 2, generator=noise).repeat(2, 1)


def gate_of(**options: Any) -> InductiveGate:
    torch.manual_seed(3)
    return InductiveGate(4, 2, 16, **options)


@pytest.mark.parametrize("mode", MODES)
def test_a_constant_gate_of_unit_mean_is_no_gate_to_a_layer_with_self_loops(mode: Any) -> None:
    conv = pytest.importorskip("torch_geometric.nn").GCNConv(4, 3)
    x, ends, _ = sample(0)
    plain = conv(x, ends)
    gate = EdgeGate.for_edges(ends, mode, init=0.3, unit_mean=True).eval()
    torch.testing.assert_close(conv(x, ends, gate()), plain)
    scaled = EdgeGate.for_edges(ends, mode, init=0.3).eval()
    assert not torch.allclose(conv(x, ends, scaled()), plain, atol=1e-2)
    anywhere = InductiveGate(4, mode=mode, unit_mean=True).eval()
    torch.nn.init.zeros_(anywhere.score.weight)
    torch.testing.assert_close(conv(x, ends, anywhere(x, ends)), plain)


def test_gates_of_unit_mean_differ_by_a_factor_and_closed_ones_stay_zero() -> None:
    init = torch.rand(6, generator=seeded(1)) * 0.8 + 0.1
    plain = EdgeGate.for_nodes(4, "sigmoid", init=init)
    mean = EdgeGate.for_nodes(4, "sigmoid", init=init, unit_mean=True)
    torch.testing.assert_close(mean(), plain() / plain().sum() * 12)
    assert mean(3).sum((1, 2)).tolist() == pytest.approx([12] * 3)
    closed = EdgeGate(5, hard=True, init=1e-6, unit_mean=True).eval()
    gates = closed()
    gates.sum().backward()
    assert gates.tolist() == [0] * 5
    assert closed.logits.grad is not None
    assert bool(closed.logits.grad.isfinite().all())


@pytest.mark.parametrize("budget", [None, 0.4])
def test_gates_of_unseen_graphs_follow_nodes_and_columns_in_any_order(budget: float | None) -> None:
    gate = gate_of(hard=budget is not None, budget=budget).eval()
    for seed in range(5):
        x, ends, attr = sample(seed)
        node, column = (torch.randperm(k, generator=seeded(seed)) for k in (len(x), ends.shape[1]))
        place = torch.argsort(node)
        found = gate(x[node], place[ends[:, column]], attr[column])
        torch.testing.assert_close(found, gate(x, ends, attr)[column], atol=1e-6, rtol=1e-5)
        assert found.std() > 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("hard", [False, True])
def test_both_orientations_share_a_draw_whatever_the_order_of_columns(mode: Any, hard: bool) -> None:
    gate = gate_of(mode=mode, hard=hard)
    x, ends, attr = sample(0)
    gates = gate(x, ends, attr, generator=seeded(1))
    assert torch.equal(gates[:25], gates[25:])
    order = torch.randperm(50, generator=seeded(2))
    again = gate(x, ends[:, order], attr[order], generator=seeded(1))
    torch.testing.assert_close(again, gates[order])
    if mode != "sigmoid":
        assert not torch.equal(gates, gate(x, ends, attr, generator=seeded(2)))


@pytest.mark.parametrize("options", [{}, {"unit_mean": True}, {"hard": True, "budget": 0.3}])
def test_a_batch_is_its_graphs(options: dict[str, Any]) -> None:
    gate = gate_of(**options).eval()
    parts = [sample(seed, 8 + seed, 10 + seed) for seed in range(3)]
    starts = np.cumsum([0] + [len(x) for x, _, _ in parts])
    x, attr = torch.cat([x for x, _, _ in parts]), torch.cat([a for _, _, a in parts])
    ends = torch.cat([e + int(start) for (_, e, _), start in zip(parts, starts, strict=False)], 1)
    batch = torch.arange(3).repeat_interleave(torch.tensor([len(x) for x, _, _ in parts]))
    alone = torch.cat([gate(*part) for part in parts])
    torch.testing.assert_close(gate(x, ends, attr, batch), alone, atol=1e-6, rtol=1e-5)


def test_a_budget_holds_in_every_draw_of_every_graph_and_gradients_pass() -> None:
    gate = gate_of(hard=True, budget=0.4)
    (x, ends, attr), (y, more, other) = sample(0), sample(1, 9, 14)
    ends, batch = torch.cat([ends, more + 12], 1), torch.tensor([0] * 12 + [1] * 9)
    features = torch.cat([x, y]), ends, torch.cat([attr, other]), batch
    kept = gate.keep(0.4, *features)
    noise, differs = seeded(0), False
    for _ in range(20):
        gates = gate(*features, generator=noise).detach()
        assert set(gates.tolist()) == {0.0, 1.0}
        assert [float(gates[:50].sum()), float(gates[50:].sum())] == [20, 12]
        differs = differs or not torch.equal(gates.bool(), kept)
    assert differs
    gates = gate(*features, generator=noise)
    (gates * torch.arange(78)).sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in gate.parameters())
    assert torch.equal(gate.eval()(*features).bool(), kept)


def test_equal_scores_go_to_the_edges_of_the_lowest_ends() -> None:
    _, ends, _ = sample(0)
    gate = InductiveGate(4).eval()
    kept = gate.keep(10, torch.ones(12, 4), ends.flip(1))
    assert torch.equal(kept.flip(0)[:25], torch.arange(25) < 10)


def test_what_is_learnt_on_some_graphs_holds_on_others() -> None:
    def blocks(seed: int) -> tuple[Any, Any, Any]:
        ends = columns(zoo.random_graph(20, 60, seed))
        kind = torch.arange(20) % 2
        return torch.nn.functional.one_hot(kind, 4).float(), ends, kind[ends[0]] == kind[ends[1]]

    torch.manual_seed(0)
    gate = InductiveGate(4, hidden=8, mode="sigmoid")
    optimizer = torch.optim.Adam(gate.parameters(), lr=0.05)
    for step in range(40):
        x, ends, within = blocks(step % 4)
        optimizer.zero_grad()
        gates = gate(x, ends)
        (gates[~within].mean() - gates[within].mean()).backward()
        optimizer.step()
    x, ends, within = blocks(99)
    gates = gate.eval()(x, ends).detach()
    assert float(gates[within].min()) > float(gates[~within].max()) + 0.2


def test_the_loss_trains_it_through_hard_gates() -> None:
    gate, pri = gate_of(hard=True, budget=0.5), PRILoss(1.0, "local")
    x, ends, attr = sample(0)
    whole = torch.ones(ends.shape[1])
    optimizer = torch.optim.Adam(gate.parameters(), lr=0.05)
    values, noise = [], seeded(0)
    for _ in range(60):
        optimizer.zero_grad()
        value = pri(gate(x, ends, attr, generator=noise), whole, edge_index=ends, num_nodes=12)
        value.backward()
        optimizer.step()
        values.append(value.item())
    assert np.mean(values[-10:]) < np.mean(values[:10]) - 0.02


def test_probabilities_are_the_shares_of_open_gates() -> None:
    gate = gate_of(hard=True)
    x, ends, attr = sample(0)
    noise = seeded(0)
    share = sum(gate(x, ends, attr, generator=noise) for _ in range(600)) / 600
    torch.testing.assert_close(share, gate.probabilities(x, ends, attr), atol=0.1, rtol=0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: InductiveGate(0), "in_channels=0"),
        (lambda: InductiveGate(2, -1), "edge_channels=-1"),
        (lambda: InductiveGate(2, budget=0.5), r"budget=0.5 needs hard=True"),
        (lambda: InductiveGate(2, hard=True, budget=0), "budget=0"),
        (lambda: InductiveGate(2, hard=True, budget=1.5), "budget=1.5"),
        (lambda: InductiveGate(2, mode="soft"), "mode='soft'"),  # type: ignore[arg-type]
        (lambda: gate_of()(torch.ones(12, 3), sample(0)[1]), r"x has the shape \(12, 3\).*\(N, 4\)"),
        (lambda: gate_of()(*sample(0)[:2]), r"edge_attr has the shape \(50, 0\).*\(50, 2\)"),
        (
            lambda: gate_of()(sample(0)[0].double(), sample(0)[1]),
            "x is torch.float64 and the gate torch.float32",
        ),
        (lambda: InductiveGate(4)(*sample(0)), r"edge_attr has the shape \(50, 2\).* with edge_channels=2"),
        (lambda: gate_of().keep(26, *sample(0)), "graph 0: keep=26"),
        (lambda: gate_of(hard=True, budget=26)(*sample(0)), "graph 0: budget=26"),
        (lambda: gate_of().keep(5, sample(0)[0] * torch.nan, *sample(0)[1:]), r"the score of the edge .* is NaN"),
    ],
)
def test_what_it_can_not_take_is_refused(make: Any, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        make()


def test_an_edge_in_one_orientation_is_refused() -> None:
    x, ends, attr = sample(0)
    with pytest.raises(GraphError, match="ToUndirected"):
        gate_of()(x, ends[:, :-1], attr[:-1])


def test_copies_and_files_of_a_gate_do_not_hold_the_last_graph() -> None:
    gate = gate_of().eval()
    x, ends, attr = sample(0)
    gates, empty = gate(x, ends, attr), len(pickle.dumps(gate_of().eval()))
    assert len(pickle.dumps(gate)) == empty
    assert torch.equal(copy.deepcopy(gate)(x, ends, attr), gates)


@pytest.mark.parametrize("width", [1, 6])
def test_compiled_scores_are_the_formula_with_its_gradients(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x, ends, _ = sample(0, 60, 200)
    x[:5] = x[5]  # ends that agree
    gate = InductiveGate(4, hidden=width, mode="sigmoid").double()
    x = x.double().requires_grad_()

    inputs = [x, *gate.parameters()]

    def found() -> list[Any]:
        gates = gate(x, ends)
        slopes = torch.autograd.grad((gates * torch.arange(400)).sum(), inputs, create_graph=True)
        curve = torch.autograd.grad(sum((slope**2).sum() for slope in slopes), inputs)
        return [gates, *slopes, *curve]

    formula = found()
    monkeypatch.setattr("graphpri.torch.entropy.LARGE_EDGES", 10)
    for one, other in zip(found(), formula, strict=True):
        torch.testing.assert_close(one, other)


def test_threads_do_not_change_compiled_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    x, ends, _ = sample(0, 60, 200)
    monkeypatch.setattr("graphpri.torch.entropy.LARGE_EDGES", 10)
    gate, found = InductiveGate(4), []
    for threads, chunk in ((1, 1 << 18), (3, 7)):
        monkeypatch.setenv("GRAPHPRI_THREADS", str(threads))
        monkeypatch.setattr("graphpri._runtime.in_chunks.__defaults__", (chunk,))
        gates = gate.eval()(x, ends)
        found.append([gates, *torch.autograd.grad(gates.sum(), list(gate.parameters()))])
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))


def test_the_state_of_a_gate_is_for_its_own_columns() -> None:
    ends = sample(0)[1]
    gate = EdgeGate.for_edges(ends)
    gate.step()
    again = EdgeGate.for_edges(ends.clone())
    again.load_state_dict(gate.state_dict())
    assert again.steps == 1
    for other in (ends.flip(1), sample(1)[1]):
        with pytest.raises(OptionError, match="the state is that of a gate on other edges"):
            EdgeGate.for_edges(other).load_state_dict(gate.state_dict())


@pytest.mark.parametrize("options", [{}, {"unit_mean": True}, {"hard": True, "budget": 0.5}])
def test_a_batch_without_any_edge_has_no_gates(options: dict[str, Any]) -> None:
    gate, none = InductiveGate(4, **options), torch.empty(2, 0, dtype=torch.int64)
    x, batch = torch.randn(3, 4), torch.tensor([0, 1, 1])
    for found in (gate(x, none, batch=batch), gate.keep(0.5, x, none), gate.probabilities(x, none)):
        assert found.shape == (0,)
    gate(x, none).sum().backward()


@pytest.mark.parametrize("threshold", [10, 10_000])
def test_gates_and_loss_are_single_precision_under_autocast(threshold: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphpri.torch.entropy.LARGE_EDGES", threshold)
    x, ends, _ = sample(0, 60, 200)
    gate, pri = InductiveGate(4, mode="sigmoid"), PRILoss(2.0, "local")
    whole = torch.ones(400)
    plain = pri(gate(x, ends), whole, edge_index=ends)
    with torch.autocast("cpu", torch.bfloat16):
        gates = gate(x, ends)
        value = pri(gates, whole, edge_index=ends)
    assert gates.dtype == value.dtype == torch.float32
    value.backward()
    torch.testing.assert_close(value, plain, rtol=1e-2, atol=0)
