import numpy as np
import pytest

from graphpri.apps.brain_graph import candidates, connectome_graphs, features
from graphpri.apps.brain_models import EdgeReadout, MaskedGCN
from graphpri.apps.brain_planted import planted_connectomes

torch = pytest.importorskip("torch")
metrics = pytest.importorskip("sklearn.metrics")


@pytest.fixture(scope="module")
def planted():
    return planted_connectomes(0.4, 0, n_rois=30, n_modules=3, n_planted=8, n_train=60, n_test=40)


@pytest.fixture(scope="module")
def edges(planted):
    maker = features("correlation").fit(planted.train)
    return maker.transform(planted.train), maker.transform(planted.test)


def test_readout_finds_the_planted_edges_and_the_classes(planted, edges):
    z, held = edges
    model = EdgeReadout().fit(z, planted.train.labels)
    assert metrics.roc_auc_score(planted.planted, model.importance_) > 0.98
    assert ((model.decision(held) > 0) == planted.test.labels).mean() > 0.9
    np.testing.assert_allclose(model.importance_, model.mask_ * np.abs(model.weights_))


def test_spec_sized_planted_edges_are_found_among_the_candidates():
    drawn = planted_connectomes(0.08, 0)
    chosen = candidates(connectome_graphs(drawn.train.matrices))
    z = features("correlation").fit(drawn.train).transform(drawn.train)[:, chosen]
    model = EdgeReadout().fit(z, drawn.train.labels)
    assert metrics.roc_auc_score(drawn.planted[chosen], model.importance_) > 0.98


def test_mask_gets_gradient_and_closes_where_edges_say_nothing(planted, edges):
    z, _ = edges
    mask = EdgeReadout().fit(z, planted.train.labels).mask_
    assert mask[planted.planted].mean() > 3 * mask[~planted.planted].mean()
    assert (mask != 0.5).all()


def test_size_penalty_closes_the_mask(planted, edges):
    z, _ = edges
    means = [EdgeReadout(size=size).fit(z, planted.train.labels).mask_.mean() for size in (0.0, 10.0, 100.0)]
    assert means[0] > means[1] > means[2]


def test_pri_term_changes_the_mask_and_needs_graphs(planted, edges):
    z, _ = edges
    graphs = connectome_graphs(planted.train.matrices)
    plain = EdgeReadout().fit(z, planted.train.labels)
    drawn = EdgeReadout(pri=1.0).fit(z, planted.train.labels, graphs)
    assert not np.allclose(plain.mask_, drawn.mask_)
    assert drawn.losses_[-1] < drawn.losses_[0]


def test_fits_repeat_and_leave_the_callers_random_numbers_alone(planted):
    graphs = connectome_graphs(planted.train.matrices)
    torch.manual_seed(7)
    before = torch.random.get_rng_state()
    first, second = (
        MaskedGCN(epochs=5, seed=3).fit(planted.train.matrices, graphs, planted.train.labels) for _ in range(2)
    )
    assert torch.equal(before, torch.random.get_rng_state())
    assert first.losses_ == second.losses_
    other = MaskedGCN(epochs=5, seed=4).fit(planted.train.matrices, graphs, planted.train.labels)
    assert other.losses_ != first.losses_


@pytest.mark.parametrize("pri_on", ["mean", "each"])
def test_gcn_learns_with_its_mask(planted, pri_on):
    graphs = connectome_graphs(planted.train.matrices)
    model = MaskedGCN(epochs=40, pri_on=pri_on).fit(planted.train.matrices, graphs, planted.train.labels)
    assert model.losses_[-1] < model.losses_[0]
    assert model.importance_ is not None
    assert np.ptp(model.importance_) > 0
    scores = model.decision(planted.test.matrices, connectome_graphs(planted.test.matrices))
    np.testing.assert_array_equal(
        scores, model.decision(planted.test.matrices, connectome_graphs(planted.test.matrices))
    )


def test_gcn_without_mask_says_nothing_of_edges(planted):
    graphs = connectome_graphs(planted.train.matrices)
    model = MaskedGCN(mask=False, epochs=3).fit(planted.train.matrices, graphs, planted.train.labels)
    assert model.importance_ is None


def test_dropout_is_on_in_every_epoch(planted, monkeypatch):
    seen = []
    original = torch.nn.functional.dropout
    monkeypatch.setattr(
        torch.nn.functional, "dropout", lambda x, p, training: seen.append(training) or original(x, p, training)
    )
    graphs = connectome_graphs(planted.train.matrices)
    model = MaskedGCN(epochs=4).fit(planted.train.matrices, graphs, planted.train.labels)
    assert seen == [True] * 8
    model.decision(planted.train.matrices, graphs)
    assert seen[8:] == [False] * 2
