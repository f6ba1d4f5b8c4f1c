"""The loss is the objective, and gates are what their mode says."""

from __future__ import annotations

import copy
import io
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import zoo

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from graphpri._entropy.by_name import EXACT_NODES  # noqa: E402
from graphpri._objective import Objective  # noqa: E402
from graphpri.errors import GraphError, OptionError  # noqa: E402
from graphpri.torch import Anneal, EdgeGate, PRILoss, pri_objective, von_neumann_entropy  # noqa: E402
from graphpri.torch.entropy import EdgeLists  # noqa: E402

ENTROPIES = ("exact", "degree", "local")
MODES = ("gumbel", "concrete", "sigmoid")
every_entropy = pytest.mark.parametrize("entropy", ENTROPIES)
every_mode = pytest.mark.parametrize("mode", MODES)
PATH = torch.tensor([[0, 2, 1, 1, 2, 3], [1, 1, 0, 2, 3, 2]])


def originals(count: int = 4, n: int = 10, seed: int = 0) -> Any:
    """Weighted graphs on the same nodes."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((count, n, n)) * (rng.random((count, n, n)) < 0.6), 1)
    return torch.from_numpy(upper + upper.transpose(0, 2, 1))


def mask_of(n: int = 10, seed: int = 1) -> Any:
    gate = EdgeGate.for_nodes(n, "sigmoid", init=torch.rand(n * (n - 1) // 2, generator=seeded(seed)) * 0.9 + 0.05)
    return gate.double()


def seeded(seed: int) -> Any:
    return torch.Generator().manual_seed(seed)


@every_entropy
def test_the_loss_is_the_mean_objective_of_the_core(entropy: str) -> None:
    graphs = [zoo.random_graph(10, 20, seed) for seed in range(3)]
    w = np.random.default_rng(0).uniform(0.1, 1, 20)
    expected = [Objective(g, 2.0, entropy=entropy).value(w) for g in graphs]
    whole = torch.from_numpy(np.stack([g.adjacency().toarray() for g in graphs]))
    gated = torch.from_numpy(np.stack([g.adjacency(w).toarray() for g in graphs]))
    found = PRILoss(2.0, entropy, reduction="none")(gated, whole)
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)
    assert PRILoss(2.0, entropy)(gated, whole).item() == pytest.approx(np.mean(expected), abs=1e-12)
    assert PRILoss(2.0, entropy, reduction="sum")(gated, whole).item() == pytest.approx(np.sum(expected), abs=1e-12)


@every_entropy
@pytest.mark.parametrize("pri_on", ["each", "mean"])
def test_precomputed_entropies_change_no_digit(entropy: str, pri_on: Any) -> None:
    whole, gate = originals(), mask_of()
    loss = PRILoss(3.0, entropy, pri_on)
    known = loss.precompute(whole)
    assert known.shape == (() if pri_on == "mean" else (4,))
    assert not known.requires_grad
    assert torch.equal(loss(gate() * whole, whole, known), loss(gate() * whole, whole))


@every_entropy
def test_the_mean_is_of_normalised_graphs(entropy: str) -> None:
    whole, mask = originals(), mask_of()()
    x, y = ((a / a.sum((1, 2), keepdim=True)).mean(0) for a in (mask * whole, whole))
    expected = pri_objective(x, y, 2.0, entropy)
    # A graph's own scale has no say in the average.
    scales = torch.tensor([1.0, 10.0, 0.1, 3.0], dtype=torch.float64)[:, None, None]
    torch.testing.assert_close(PRILoss(2.0, entropy, "mean")(mask * whole * scales, whole / scales), expected)
    one = PRILoss(2.0, entropy, "mean")(mask * whole[0], whole[0])
    torch.testing.assert_close(one, PRILoss(2.0, entropy)(mask * whole[0], whole[0]))


@every_entropy
@pytest.mark.parametrize("pri_on", ["each", "mean"])
def test_the_loss_does_not_see_the_scale_of_the_mask(entropy: str, pri_on: Any) -> None:
    whole = originals()
    loss = PRILoss(2.0, entropy, pri_on)
    mask = mask_of()().detach().requires_grad_()
    small = (mask.detach() * 0.01).requires_grad_()
    values = [loss(m * whole, whole) for m in (mask, small)]
    torch.testing.assert_close(*values, atol=1e-13, rtol=0)
    for value in values:
        value.backward()
    torch.testing.assert_close(small.grad, 100 * mask.grad, atol=1e-10, rtol=1e-9)
    # So along the mask itself it is flat: it makes nothing sparse.
    assert (mask.grad * mask).sum().item() == pytest.approx(0.0, abs=1e-12)


def test_edge_lists_and_matrices_have_one_loss() -> None:
    graphs = [zoo.random_graph(8, 15, seed) for seed in range(3)]
    w = [torch.tensor(np.random.default_rng(i).uniform(0.1, 1, 15)) for i in range(3)]
    whole = torch.from_numpy(np.stack([g.adjacency().toarray() for g in graphs]))
    gated = torch.from_numpy(np.stack([g.adjacency(x.numpy()).toarray() for g, x in zip(graphs, w, strict=True)]))
    ends = [np.array([[*g.source, *g.target], [*g.target, *g.source]], np.int64) + 8 * i for i, g in enumerate(graphs)]
    edge_index, batch = torch.from_numpy(np.concatenate(ends, 1)), torch.arange(3).repeat_interleave(8)
    weights = torch.cat([x.repeat(2) for x in w])
    loss = PRILoss(2.0)
    where = {"edge_index": edge_index, "batch": batch}
    known = loss.precompute(torch.ones_like(weights), **where)
    torch.testing.assert_close(loss(weights, torch.ones_like(weights), known, **where), loss(gated, whole))
    torch.testing.assert_close(known, von_neumann_entropy(whole))


def test_each_graph_of_a_batch_has_the_entropy_of_its_size() -> None:
    sizes = (6, EXACT_NODES + 1, 9)
    graphs = [zoo.ring(n) for n in sizes]
    ends = [np.array([[*g.source, *g.target], [*g.target, *g.source]], np.int64) for g in graphs]
    starts = np.cumsum([0, *sizes])
    edge_index = torch.from_numpy(np.concatenate([e + s for e, s in zip(ends, starts, strict=False)], 1))
    batch = torch.arange(3).repeat_interleave(torch.tensor(sizes))
    w = torch.rand(edge_index.shape[1] // 2, generator=seeded(0), dtype=torch.float64)
    w = torch.cat([part.repeat(2) for part in w.split(list(sizes))])
    loss = PRILoss(2.0, reduction="none")
    found = loss(w, torch.ones_like(w), edge_index=edge_index, batch=batch)
    for i, (part, name) in enumerate(zip(ends, ("exact", "local", "exact"), strict=True)):
        own, column = w[batch[edge_index[0]] == i], torch.from_numpy(part)
        alone = PRILoss(2.0, name)(own, torch.ones_like(own), edge_index=column, num_nodes=sizes[i])
        assert found[i].item() == pytest.approx(alone.item(), abs=1e-12)


def test_an_edge_list_that_comes_again_is_read_once_and_changes_in_place_are_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads: list[int] = []
    check = EdgeLists.check_structure
    monkeypatch.setattr(EdgeLists, "check_structure", lambda self: (reads.append(1), check(self))[1])
    loss, weights, ends = PRILoss(), torch.ones(6), PATH.clone()
    known = loss.precompute(weights, edge_index=ends)
    for _ in range(3):
        loss(weights, weights, known, edge_index=ends)
    assert len(reads) == 1
    copy.deepcopy(loss)(weights, weights, edge_index=ends)
    assert len(reads) == 2
    ends[0, 0] = 1
    with pytest.raises(GraphError, match="self-loop"):
        loss(weights, weights, known, edge_index=ends)


def test_a_step_on_the_gates_lowers_the_loss() -> None:
    whole, gate = originals(6), mask_of()
    loss = PRILoss(1.0)
    known = loss.precompute(whole)
    optimizer = torch.optim.Adam(gate.parameters(), lr=0.1)
    values: list[float] = []
    for _ in range(30):
        optimizer.zero_grad()
        value = loss(gate() * whole, whole, known)
        value.backward()
        optimizer.step()
        values.append(value.item())
    assert values[-1] < values[0] - 0.02


def test_the_entropy_of_another_number_of_graphs_is_refused_for_the_mean() -> None:
    whole = originals(6)
    loss = PRILoss(pri_on="mean")
    known = loss.precompute(whole)
    with pytest.raises(OptionError, match=r"average of 6 graphs, and here are 2: call precompute"):
        loss(whole[:2], whole[:2], known)
    few = loss.precompute(whole[:2])
    assert torch.equal(loss(whole[:2], whole[:2], few), loss(whole[:2], whole[:2]))
    assert torch.equal(loss(whole, whole, known), loss(whole, whole))
    # Each graph has its own entropy where they are not averaged.
    each = PRILoss()
    assert torch.equal(each(whole[:2], whole[:2], each.precompute(whole)[:2]), each(whole[:2], whole[:2]))


@pytest.mark.parametrize("dense", [False, True])
def test_a_graph_whose_gates_are_all_closed_gives_the_remedy_and_it_works(dense: bool) -> None:
    def failures(**options: Any) -> list[str]:
        gate = EdgeGate.for_nodes(4, **options) if dense else EdgeGate.for_edges(PATH, **options)
        original = 1 - torch.eye(4) if dense else torch.ones(6)
        where: dict[str, Any] = {} if dense else {"edge_index": PATH}
        noise, found = seeded(0), []
        for _ in range(50):
            try:
                PRILoss()(gate(generator=noise), original, **where)
            except GraphError as error:
                found.append(str(error))
        return found

    closed = failures(hard=True, init=0.01)
    assert len(closed) > 25
    words = "gated has no edges" if dense else "the graph has no edge with an entry of gated above 0"
    assert all(words in line for line in closed)
    assert all("raise their init" in line and "hard=False" in line for line in closed)
    assert not failures(hard=True, init=0.99)
    assert not failures(hard=False, init=0.01)
    assert len(failures(mode="concrete", init=0.01, temperature=0.1)) > 25
    assert not failures(mode="concrete", init=0.01, temperature=10.0)


def test_bad_options_of_the_loss_are_refused() -> None:
    for options in ({"beta": -1}, {"entropy": "no"}, {"pri_on": "all"}, {"reduction": "max"}, {"check": "no"}):
        with pytest.raises(OptionError, match=f"{next(iter(options))}="):
            PRILoss(**options)
    with pytest.raises(OptionError, match="go with edge_index"):
        PRILoss()(originals(), originals(), batch=torch.zeros(3, dtype=torch.int64))
    with pytest.raises(OptionError, match="pri_on='mean' averages"):
        PRILoss(pri_on="mean")(torch.ones(6), torch.ones(6), edge_index=PATH)
    whole = originals()
    with pytest.raises(GraphError, match=r"gated\[0\] has no edges"):
        PRILoss()(whole * 0, whole)
    assert torch.isnan(PRILoss(1.0, "degree", check=False)(whole * 0, whole))
    assert "beta=2, entropy='local'" in repr(PRILoss(2, "local"))


@every_mode
@pytest.mark.parametrize("hard", [False, True])
def test_gates_lie_in_the_unit_interval_and_get_gradients(mode: Any, hard: bool) -> None:
    gate = EdgeGate(200, mode, hard=hard, init=torch.linspace(0.05, 0.95, 200))
    for training in (True, False):
        gate.train(training)
        gate.zero_grad()
        values = gate(generator=seeded(0))
        assert values.shape == (200,)
        assert ((values >= 0) & (values <= 1)).all()
        assert set(values.unique().tolist()) <= {0.0, 1.0} or not hard
        values.sum().backward()
        # Where a stretched gate is clipped it is flat.
        assert (gate.logits.grad != 0).sum() == 200 or (mode == "concrete" and (gate.logits.grad != 0).any())


@every_mode
def test_draws_repeat_by_generator_and_evaluation_has_no_noise(mode: Any) -> None:
    gate = EdgeGate(50, mode)
    assert torch.equal(gate(generator=seeded(3)), gate(generator=seeded(3)))
    assert torch.equal(gate(generator=seeded(3)), gate(generator=seeded(4))) is (mode == "sigmoid")
    many = gate(4, generator=seeded(3))
    assert many.shape == (4, 50)
    state = torch.random.get_rng_state()
    gate.eval()
    assert torch.equal(gate(), gate())
    assert torch.equal(state, torch.random.get_rng_state())


@pytest.mark.parametrize(
    ("mode", "hard"), [("gumbel", True), ("gumbel", False), ("concrete", True), ("concrete", False)]
)
@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_open_gates_are_as_many_as_expected(mode: Any, hard: bool, temperature: float) -> None:
    gate = EdgeGate(3, mode, hard=hard, temperature=temperature, init=torch.tensor([0.2, 0.5, 0.9]))
    draws = gate(20_000, generator=seeded(0))
    is_open = draws > (0 if mode == "concrete" and not hard else 0.5)
    shares = is_open.double().mean(0)
    expected = gate.probabilities().detach().double()
    error = (expected * (1 - expected) / 20_000).sqrt()
    assert ((shares - expected).abs() <= 4.5 * error).all()
    assert gate.expected_size().item() == pytest.approx(expected.sum().item())
    if hard or mode == "gumbel":
        torch.testing.assert_close(expected, torch.tensor([0.2, 0.5, 0.9], dtype=torch.float64), atol=1e-6, rtol=0)


def test_a_soft_gate_is_gumbel_softmax_of_two_classes() -> None:
    gate = EdgeGate(1, "gumbel", temperature=0.7, init=0.3)
    draws = gate(20_000, generator=seeded(0)).detach().flatten().double().numpy()
    rng = np.random.default_rng(0)
    classes = (np.log([0.3, 0.7]) + rng.gumbel(size=(20_000, 2))) / 0.7
    softmax = 1 / (1 + np.exp(classes[:, 1] - classes[:, 0]))
    points = np.quantile(softmax, np.linspace(0.05, 0.95, 19))
    np.testing.assert_allclose(np.searchsorted(np.sort(draws), points) / 20_000, np.linspace(0.05, 0.95, 19), atol=0.02)


def test_a_sigmoid_gate_is_the_sigmoid() -> None:
    gate = EdgeGate(2, "sigmoid", temperature=2.0, init=torch.tensor([0.1, 0.6]))
    torch.testing.assert_close(gate(), torch.sigmoid(gate.logits / 2))
    assert gate.expected_size() == gate().sum()


def test_the_penalty_is_the_weighted_share_of_open_gates_and_closes_them() -> None:
    gate = EdgeGate(10, "sigmoid", size=4.0, init=0.25)
    assert gate.penalty().item() == pytest.approx(1.0)
    gate.penalty().backward()
    assert (gate.logits.grad > 0).all()


def test_both_orientations_share_a_gate() -> None:
    gate = EdgeGate.for_edges(PATH, init=torch.tensor([0.1, 0.5, 0.9]))
    assert gate.num_edges == 3
    assert gate.spread(torch.arange(3)).tolist() == [0, 1, 0, 1, 2, 2]  # edges 0-1, 1-2 and 2-3, as they come
    values = gate(generator=seeded(0))
    assert values.shape == (6,)
    assert torch.equal(values[[0, 1, 4]], values[[2, 3, 5]])
    with pytest.raises(GraphError, match="no opposite"):
        EdgeGate.for_edges(PATH[:, :3])


def test_a_dense_mask_is_symmetric_with_a_zero_diagonal() -> None:
    candidates = torch.zeros(5, 5, dtype=torch.bool)
    candidates[0, 1] = candidates[2, 4] = True
    full, some = EdgeGate.for_nodes(5), EdgeGate.for_nodes(5, candidates=candidates)
    assert (full.num_edges, some.num_edges) == (10, 2)
    for gate in (full, some):
        mask = gate(3, generator=seeded(0))
        assert mask.shape == (3, 5, 5)
        assert torch.equal(mask, mask.mT)
        assert (mask.diagonal(dim1=1, dim2=2) == 0).all()
    assert torch.equal(some.spread(torch.ones(2)) > 0, candidates | candidates.T)
    order = torch.triu_indices(5, 5, 1)
    assert full.spread(torch.arange(1, 11))[order[0], order[1]].tolist() == list(range(1, 11))
    assert torch.equal(
        EdgeGate.for_nodes(5, candidates=candidates.T).spread(torch.ones(2)) > 0, candidates | candidates.T
    )
    with pytest.raises(GraphError, match=r"must be bool of \(5, 5\)"):
        EdgeGate.for_nodes(5, candidates=torch.ones(5, 5))
    with pytest.raises(GraphError, match="candidates has no True off the diagonal"):
        EdgeGate.for_nodes(5, candidates=torch.eye(5, dtype=torch.bool))
    for few in (1, -2, 2.5):
        with pytest.raises(OptionError, match=f"^n_nodes={few} must be a whole number, 2 or more"):
            EdgeGate.for_nodes(few)  # type: ignore[arg-type]


@given(k=st.integers(0, 30), seed=st.integers(0, 50))
def test_top_k_is_exact_and_by_rank(k: int, seed: int) -> None:
    gate = EdgeGate(30)
    with torch.no_grad():
        gate.logits.copy_(torch.randint(0, 5, (30,), generator=seeded(seed)))  # many ties
    chosen = gate.top_k(k)
    assert chosen.sum() == k
    kept, dropped = gate.logits[chosen], gate.logits[~chosen]
    assert not len(kept) or not len(dropped) or kept.min() >= dropped.max()
    if k:
        ties = (gate.logits == kept.min()).nonzero().flatten()
        assert torch.equal(chosen[ties].long().sort(descending=True).values, chosen[ties].long())  # the first of them
    reverse = gate.top_k(k, scores=-gate.logits.detach())
    assert not k or (gate.logits[reverse].max() <= gate.logits[~reverse].min() if k < 30 else reverse.all())


def test_keep_counts_as_sparsify_does() -> None:
    gate = EdgeGate.for_edges(PATH, init=torch.tensor([0.9, 0.1, 0.5]))
    assert gate.keep(0.5).tolist() == [True, False, True, False, True, True]
    assert gate.keep(1).tolist() == [True, False, True, False, False, False]
    assert EdgeGate.for_nodes(6).keep(0.2).sum() == 2 * 3
    for bad in (0, 4, 0.0, 1.5, True):
        with pytest.raises(OptionError, match="keep="):
            gate.keep(bad)


@pytest.mark.parametrize("shape", ["linear", "exponential"])
def test_temperatures_fall_from_start_to_end_and_stay(shape: Any) -> None:
    gate = EdgeGate(2, temperature=Anneal(2.0, 0.5, 4, shape))
    seen: list[float] = []
    for _ in range(7):
        seen.append(gate.temperature)
        gate.step()
    assert (seen[0], seen[4], seen[6]) == (2.0, 0.5, 0.5)
    assert seen == sorted(seen, reverse=True)
    assert seen[2] == pytest.approx(1.25 if shape == "linear" else 1.0)
    assert EdgeGate(2, temperature=lambda step: 1 / (step + 1)).temperature == 1.0


def test_a_saved_gate_goes_on_at_its_temperature() -> None:
    gate = EdgeGate(3, temperature=Anneal(1.0, 0.1, 5), init=0.3)
    gate.step()
    file = io.BytesIO()
    torch.save(gate.state_dict(), file)
    file.seek(0)
    other = EdgeGate(3, temperature=Anneal(1.0, 0.1, 5))
    other.load_state_dict(torch.load(file, weights_only=True))
    assert other.temperature == gate.temperature < 1.0
    assert torch.equal(other.logits, gate.logits)


def test_a_cold_gate_is_nearly_hard() -> None:
    gate = EdgeGate(1000, temperature=0.01)
    values = gate(generator=seeded(0))
    assert ((values < 0.01) | (values > 0.99)).double().mean() > 0.9
    warm = EdgeGate(1000, temperature=1.0)(generator=seeded(0))
    assert torch.equal(values > 0.5, warm > 0.5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"num_edges": 0}, "num_edges=0"),
        ({"num_edges": 2.5}, "num_edges=2.5 must be a whole number"),
        ({"num_edges": "3"}, "num_edges='3'"),
        ({"hard": "yes"}, "hard='yes' must be True or False"),
        ({"temperature": "a"}, "temperature='a'"),
        ({"size": "a"}, "size='a'"),
        ({"init": "a"}, "init='a' must be a probability"),
        ({"mode": "soft"}, "mode='soft': choose from 'gumbel', 'concrete', 'sigmoid'"),
        ({"temperature": 0}, "temperature=0"),
        ({"temperature": math.nan}, "temperature=nan"),
        ({"size": -1.0}, "size=-1.0"),
        ({"init": 1.0}, "init must be probabilities"),
        ({"init": torch.full((2,), 0.5)}, r"init has the shape \(2,\)"),
    ],
)
def test_bad_options_of_a_gate_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        EdgeGate(**{"num_edges": 3} | options)


def test_bad_calls_of_a_gate_are_refused() -> None:
    gate = EdgeGate(3, temperature=lambda step: 1.0 - step)
    gate.step()
    with pytest.raises(OptionError, match=r"temperature=0.0 at step 1"):
        gate()
    for call in (lambda: gate.top_k(4), lambda: gate.top_k(1, torch.ones(2)), lambda: gate.spread(torch.ones(2))):
        with pytest.raises(OptionError, match="3"):
            call()
    for k in (2.5, -1, True, "1"):
        with pytest.raises(OptionError, match=f"^k={k!r} must be a whole number"):
            gate.top_k(k)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match=r"^scores\[1\] is NaN"):
        gate.top_k(1, torch.tensor([0.0, math.nan, 1.0]))
    for samples in (-1, 2.5):
        with pytest.raises(OptionError, match=f"^samples={samples} must be a whole number"):
            gate(samples)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="temperature='cold' at step 0"):
        EdgeGate(3, temperature=lambda step: "cold")()  # type: ignore[arg-type,return-value]
    bads = ({"start": 0}, {"start": "a"}, {"end": math.inf}, {"steps": 0}, {"steps": 2.5}, {"shape": "cubic"})
    for bad in bads:
        with pytest.raises(OptionError, match=f"{next(iter(bad))}="):
            Anneal(**bad)


@pytest.mark.parametrize(("pri_on", "graphs"), [("each", 2 * 40), ("mean", 2)])
def test_a_step_decomposes_the_kept_graph_and_the_mixture_only(
    pri_on: Any, graphs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, gate = originals(40), mask_of()
    loss = PRILoss(2.0, pri_on=pri_on)
    known = loss.precompute(whole)
    counted: list[int] = []
    for name in ("eigh", "eigvalsh"):
        decompose = getattr(torch.linalg, name)

        def counting(matrices: Any, decompose: Any = decompose) -> Any:
            counted.append(len(matrices))
            return decompose(matrices)

        monkeypatch.setattr(torch.linalg, name, counting)
    loss(gate() * whole, whole, known).backward()
    assert sum(counted) == graphs
