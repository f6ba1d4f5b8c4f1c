"""The graph networks and the readout of brain networks: what they learn, their masks, and that runs repeat."""

import numpy as np
import pytest

from graphpri.apps.brain_graph import candidates, connectome_graphs, features
from graphpri.apps.brain_models import ConvolutionNet, EdgeReadout, MaskedGCN
from graphpri.apps.brain_planted import planted_connectomes
from graphpri.errors import OptionError

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


@pytest.mark.parametrize(("delta", "least"), [(0.08, 0.98), (0.06, 0.93)])
def test_spec_sized_planted_edges_are_found_among_the_candidates(delta, least):
    drawn = planted_connectomes(delta, 0)
    chosen = candidates(connectome_graphs(drawn.train.matrices))
    z = features("correlation").fit(drawn.train).transform(drawn.train)[:, chosen]
    model = EdgeReadout().fit(z, drawn.train.labels)
    assert metrics.roc_auc_score(drawn.planted[chosen], model.importance_) > least


def test_mask_gets_gradient_and_closes_where_edges_say_nothing(planted, edges):
    z, _ = edges
    mask = EdgeReadout().fit(z, planted.train.labels).mask_
    assert mask[planted.planted].mean() > 3 * mask[~planted.planted].mean()
    assert (mask != 0.5).all()


def test_size_penalty_closes_the_mask(planted, edges):
    z, _ = edges
    means = [EdgeReadout(size=size).fit(z, planted.train.labels).mask_.mean() for size in (0.0, 10.0, 100.0)]
    assert means[0] > means[1] > means[2]


@pytest.mark.parametrize(("n_rois", "n_modules", "n_planted"), [(12, 2, 3), (24, 3, 8), (64, 4, 20)])
def test_few_regions_do_not_close_the_mask_on_all_edges(n_rois, n_modules, n_planted):
    sizes = {"n_rois": n_rois, "n_modules": n_modules, "n_planted": n_planted, "n_train": 60, "n_test": 60}
    drawn = planted_connectomes(0.4, 3, **sizes)
    maker = features("correlation").fit(drawn.train)
    model = EdgeReadout().fit(maker.transform(drawn.train), drawn.train.labels)
    assert ((model.decision(maker.transform(drawn.test)) > 0) == drawn.test.labels).mean() > 0.9


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


def test_a_path_has_the_readouts_of_as_many_fits(planted, edges):
    z, held = edges
    for model in EdgeReadout().path((30, 10), z, planted.train.labels):
        alone = EdgeReadout(epochs=model.epochs).fit(z, planted.train.labels)
        np.testing.assert_array_equal(model.decision(held), alone.decision(held))
        np.testing.assert_array_equal(model.importance_, alone.importance_)
        assert model.losses_ == alone.losses_
        assert len(model.losses_) == model.epochs


@pytest.mark.parametrize("kind", ["gcn", "gat"])
def test_networks_to_compare_with_learn_and_repeat(planted, kind):
    def weakened(scans):
        """All correlations of class 1 are weaker, which a sum over nodes can see."""
        matrices = scans.matrices * np.where(scans.labels == 1, 0.5, 1.0)[:, None, None]
        return matrices, connectome_graphs(matrices)

    train, test = weakened(planted.train), weakened(planted.test)

    def fitted(epochs):
        return ConvolutionNet(kind, epochs=epochs, seed=1).fit(*train, planted.train.labels)

    first, second, longer = fitted(10), fitted(10), fitted(100)
    assert first.losses_ == second.losses_ == longer.losses_[:10]
    np.testing.assert_array_equal(first.decision(*test), second.decision(*test))
    assert ((longer.decision(*test) > 0) == planted.test.labels).mean() > 0.9


def test_two_channels_are_read_side_by_side(planted):
    graphs = connectome_graphs(planted.train.matrices, signs="two")
    model = MaskedGCN(epochs=5).fit(planted.train.matrices, graphs, planted.train.labels)
    scores = model.decision(planted.train.matrices, graphs)
    assert np.isfinite(scores).all()
    assert not np.allclose(scores, model.decision(planted.train.matrices, graphs[:, ::-1].copy()))


def test_an_empty_second_channel_changes_nothing(planted):
    graphs = connectome_graphs(planted.train.matrices)
    both = np.stack([graphs, np.zeros_like(graphs)], axis=1)
    kept, labels = planted.train.matrices, planted.train.labels
    one, two = (ConvolutionNet(epochs=5).fit(kept, held, labels).losses_ for held in (graphs, both))
    assert one == two


def test_a_colder_mask_opens_and_closes_more(planted):
    kept, labels = planted.train.matrices, planted.train.labels
    graphs = connectome_graphs(kept)
    cold, plain = (MaskedGCN(epochs=20, tau=tau).fit(kept, graphs, labels).importance_ for tau in (0.2, 1.0))
    assert np.abs(cold - 0.5).mean() > 2 * np.abs(plain - 0.5).mean()


@pytest.mark.parametrize("tau", [0.0, -1.0, np.nan, np.inf])
def test_a_temperature_that_is_not_positive_is_refused(tau):
    with pytest.raises(OptionError, match="positive temperature"):
        MaskedGCN(tau=tau).fit(np.ones((2, 4, 4)), np.ones((2, 4, 4)), [0, 1])


@pytest.mark.parametrize(
    ("labels", "message"),
    [([0, 0, 0], "both 0 and 1"), ([0, 1], "3 training scans"), ([0, 1, 2], "both 0 and 1")],
)
def test_labels_that_nothing_can_be_learned_from_are_refused(labels, message):
    with pytest.raises(OptionError, match=message):
        EdgeReadout().fit(np.ones((3, 4)), labels)
    with pytest.raises(OptionError, match=message):
        MaskedGCN().fit(np.ones((3, 4, 4)), np.ones((3, 4, 4)), labels)


@pytest.mark.parametrize(
    ("model", "message"),
    [(EdgeReadout(pri=1.0), "needs graphs"), (EdgeReadout(epochs=0), "1 or more")],
)
def test_options_that_do_not_fit_are_refused(model, message):
    with pytest.raises(OptionError, match=message):
        model.fit(np.ones((2, 3)), [0, 1])


def test_heads_that_do_not_share_the_channels_out_are_refused():
    with pytest.raises(OptionError, match="no multiple of heads=5"):
        ConvolutionNet("gat", heads=5).fit(np.ones((2, 4, 4)), np.ones((2, 4, 4)), [0, 1])
