"""The protocol of brain networks: folds of subjects, tuning, permutations, stability of edges, and kept pieces."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from graphpri.apps import brain_methods
from graphpri.apps.brain_data import from_matrices, from_series, named
from graphpri.apps.brain_graph import features, square, upper
from graphpri.apps.brain_methods import Classifier, MethodSettings, subject_folds
from graphpri.apps.brain_models import MaskedGCN
from graphpri.apps.brain_planted import planted_connectomes
from graphpri.apps.brain_protocol import (
    Validation,
    evaluate,
    outer_folds,
    permutation_p,
    permute_labels,
    stability,
)
from graphpri.apps.brain_report import beyond_luck, compared, conclusions
from graphpri.apps.brain_scores import chance, luck
from graphpri.errors import OptionError

pytest.importorskip("torch")
pytest.importorskip("sklearn")

FAST = Validation(folds=3, settings=MethodSettings(nested=False))


@pytest.fixture(scope="module")
def scans():
    return planted_connectomes(0.5, 0, n_rois=24, n_modules=3, n_planted=8, n_train=48, n_test=8).train


@pytest.fixture
def brief_training(monkeypatch):
    """A third of the epochs of the paper's network, where it need not be good."""
    monkeypatch.setattr(brain_methods, "MaskedGCN", partial(MaskedGCN, epochs=50))


def paired(scans):
    """The scans as if each two neighbours, one of each class, were a subject's."""
    return replace(scans, groups=tuple(f"s{i // 2}" for i in range(scans.n_scans)), grouped=True)


def test_two_halves_share_no_subject_and_hold_half_of_each_class(scans, monkeypatch):
    seen = []

    def listen(half, *_):
        seen.append(half)
        return brain_methods.TrainedClassifier(lambda held: np.zeros(held.n_scans), np.arange(276.0))

    monkeypatch.setitem(brain_methods.CLASSIFIERS, "linear-svm", Classifier(listen, ""))
    for held in (scans, paired(scans)):
        seen.clear()
        stability(held, "linear-svm", replace(FAST, half_samples=4))
        for first, second in zip(seen[::2], seen[1::2], strict=True):
            assert not set(first.groups) & set(second.groups)
            assert set(first.groups) | set(second.groups) == set(held.groups)
            assert abs(first.labels.sum() - second.labels.sum()) <= 1
    with pytest.raises(OptionError, match="half_samples=3: halves come in pairs"):
        stability(scans, "linear-svm", replace(FAST, half_samples=3))


def unbalanced(delta=0.35):
    """40 scans against 8, with planted edges."""
    drawn = planted_connectomes(delta, 0, n_rois=24, n_modules=3, n_planted=8, n_train=80, n_test=4).train
    return drawn.take([*range(0, 80, 2), *range(1, 16, 2)])


def test_a_planted_effect_in_40_against_8_is_found_beyond_luck():
    held = unbalanced()
    rows, _ = compared(held, evaluate(held, ["edge-readout", "t-test-svm"], FAST), {})
    assert rows[0]["method"] == "edge-readout"
    assert rows[0]["balanced_accuracy"] > 0.85
    assert rows[0]["lower"] > chance(held)[2]
    assert rows[0]["p_best"] < 0.01
    assert "edge-readout" in beyond_luck(rows)
    assert any("Better than luck" in text for text in conclusions(held, rows, chance(held)))


def test_class_weights_keep_the_smaller_class():
    held = unbalanced(0.3)
    for name in ("t-test-svm", "edge-readout"):
        (row,) = evaluate(held, [name], FAST).summary
        assert row["sensitivity"] > 0.3, name


def test_equal_classes_have_equal_weights():
    assert brain_methods.class_weights([0, 1, 1, 0]).tolist() == [1, 1, 1, 1]


def with_confound(scans, slope):
    """The scans with a confound that follows the class and, by `slope`, all correlations."""
    rng = np.random.default_rng(0)
    age = rng.normal(size=scans.n_scans) + scans.labels
    z = np.arctanh(np.clip(upper(scans.matrices), -0.99, 0.99)) + slope * age[:, None]
    matrices = square(np.tanh(z), scans.n_rois) + np.eye(scans.n_rois)
    return from_matrices(matrices, scans.labels, groups=range(scans.n_scans), confounds={"age": age})


def test_what_a_confound_makes_is_taken_away_and_its_own_prediction_is_shown():
    noise = planted_connectomes(0.0, 1, n_rois=24, n_modules=3, n_planted=8, n_train=60, n_test=8).train
    held = with_confound(noise, 0.3)
    names = ["t-test-svm", brain_methods.CONFOUNDS]
    without, alone = evaluate(held, names, FAST).summary
    (kept,) = evaluate(replace(held, confounds=None), ["t-test-svm"], FAST).summary
    assert kept["auc"] > 0.6
    assert without["auc"] < 0.6
    assert alone["auc"] > 0.65


def test_a_planted_effect_outlives_its_confounds():
    drawn = planted_connectomes(0.5, 0, n_rois=24, n_modules=3, n_planted=8, n_train=60, n_test=8).train
    (row,) = evaluate(with_confound(drawn, 0.3), ["t-test-svm"], FAST).summary
    assert row["auc"] > 0.8


def test_confounds_of_test_scans_tell_the_training_nothing(scans):
    rng = np.random.default_rng(0)
    held = replace(scans, confounds=rng.normal(size=(48, 2)))
    train, test = held.take(range(40)), held.take(range(40, 48))
    other = replace(test, confounds=np.asarray(test.confounds) * 5)
    for name in ("edge-readout", "linear-svm", "gcn"):
        trained = brain_methods.train(name, train, FAST.settings, 0)
        first = trained.decide(test)
        np.testing.assert_allclose(trained.decide(test.take([3])), first[[3]], rtol=1e-4)
        assert not np.allclose(trained.decide(other), first)


def test_sites_are_left_out_one_by_one_and_inner_folds_hold_whole_sites(scans):
    sites = tuple("abcd"[i // 12] for i in range(48))
    held = replace(scans, sites=sites)
    by_site = replace(FAST, settings=MethodSettings(inner=3, by="site"))
    for learn, test in outer_folds(held, by_site):
        assert len({sites[i] for i in test}) == 1
        assert not {sites[i] for i in test} & {sites[i] for i in learn}
        inner = brain_methods._inner_folds(held.take(learn), by_site.settings, 0)
        for part, rest in inner:
            assert not set(part.sites) & set(rest.sites)
    (row,) = evaluate(held, ["t-test-svm"], by_site).summary
    assert row["balanced_accuracy"] > 0.7
    travelled = replace(held, groups=("s", *held.groups[1:47], "s"))
    with pytest.raises(OptionError, match="subjects s were scanned at several sites"):
        outer_folds(travelled, by_site)
    with pytest.raises(OptionError, match="all scans of class '1' are of site 'a'"):
        outer_folds(replace(held, labels=(np.arange(48) < 12).astype(int)), by_site)


@pytest.mark.parametrize("name", ["linear-svm", "edge-readout", "lasso-svm"])
def test_three_classes_are_told_apart(name):
    drawn = planted_connectomes(0.0, 0, n_rois=16, n_modules=2, n_planted=3, n_train=60, n_test=4).train
    z = np.arctanh(np.clip(upper(drawn.matrices), -0.95, 0.95))
    codes = np.arange(60) % 3
    for k in range(3):
        z[codes == k, 10 * k : 10 * k + 6] += 0.6
    held = from_matrices(square(np.tanh(z), 16) + np.eye(16), [*"abc"] * 20)
    found = evaluate(held, [name], FAST)
    assert found.summary[0]["balanced_accuracy"] > 0.75
    assert {"score_a", "score_b", "score_c"} <= set(found.scores[0])
    assert brain_methods.train(name, held, FAST.settings, 0).importance.shape == (120,)


@pytest.mark.parametrize("name", ["edge-readout", "ridge", "cpm"])
def test_a_score_is_predicted(name):
    drawn = planted_connectomes(0.0, 0, n_rois=16, n_modules=2, n_planted=3, n_train=60, n_test=4).train
    age = np.random.default_rng(0).uniform(20, 60, 60)
    z = np.arctanh(np.clip(upper(drawn.matrices), -0.95, 0.95))
    z[:, :8] += 0.02 * (age[:, None] - 40)
    held = from_matrices(square(np.tanh(z), 16) + np.eye(16), age, score=True)
    protocol = Validation(folds=3, settings=MethodSettings(nested=name == "ridge"))
    found = evaluate(held, [name], protocol)
    (row,) = found.summary
    assert row["lower"] < row["r"] < row["upper"]
    assert row["r"] > 0.6
    assert luck(found.scores)[name][0] < 0.01
    importance = brain_methods.train(name, held, FAST.settings, 0).importance
    assert np.mean(importance[:8]) > 2 * np.mean(importance[8:])
    with pytest.raises(OptionError, match="predicts no score: choose edge-readout"):
        evaluate(held, ["gcn"], protocol)


@pytest.mark.usefixtures("brief_training")
@pytest.mark.parametrize("name", brain_methods.names())
def test_every_method_scores_every_scan_once_without_its_subject(scans, name):
    if "tangent" in name:
        pytest.importorskip("nilearn")
    held = paired(replace(scans, matrices=0.15 * scans.matrices + 0.85 * np.eye(scans.n_rois)))
    found = evaluate(held, [name], replace(FAST, folds=2))
    assert sorted(row["scan"] for row in found.scores) == sorted(held.scans)
    assert np.isfinite([row["score"] for row in found.scores]).all()
    folds = {}
    for row in found.scores:
        folds.setdefault(row["subject"], set()).add(row["fold"])
    assert all(len(where) == 1 for where in folds.values())


def test_noise_is_not_predicted_with_parameters_chosen_within():
    rng = np.random.default_rng(1)
    found, twice = [], Validation(folds=2, settings=MethodSettings(inner=2))
    for _ in range(3):
        matrices = square(np.tanh(rng.normal(0, 0.1, (40, 190))), 20) + np.eye(20)
        noise = from_matrices(matrices, rng.permutation(np.repeat([0, 1], 20)))
        found += [row["accuracy"] for row in evaluate(noise, ["edge-readout", "linear-svm"], twice).summary]
    assert 0.4 <= np.mean(found) <= 0.6


@pytest.mark.usefixtures("brief_training")
@pytest.mark.parametrize("name", ["edge-readout", "linear-svm", "paper"])
def test_tuning_repeats_and_tells_planted_classes_apart(scans, name, monkeypatch):
    pytest.importorskip("optuna")
    monkeypatch.setattr(brain_methods, "_TRIALS", 1 if name == "paper" else 2)
    settings, some = MethodSettings(tune=True, inner=2), scans.take(np.arange(24))
    first, second = (brain_methods.find(name).train(some, settings, 0).decide(some) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert ((first > 0) == some.labels).mean() > 0.8


def test_tuning_ends_with_its_time(scans, monkeypatch):
    optuna = pytest.importorskip("optuna")
    seen = []
    create = optuna.create_study
    monkeypatch.setattr(optuna, "create_study", lambda **given: seen.append(create(**given)) or seen[-1])
    evaluate(scans, ["linear-svm"], Validation(folds=2, settings=MethodSettings(tune=True, time_budget=0.0)))
    assert [len(study.trials) for study in seen] == [1, 1]
    assert all(study.best_params == {"C": 1e-3} for study in seen)


@pytest.mark.parametrize("name", ["t-test-svm", "lasso-svm-rbf"])
def test_where_no_edge_is_selected_one_class_is_named(name):
    rng = np.random.default_rng(0)
    twice = [np.corrcoef(rng.normal(size=(6, 40))) for _ in range(4) for _ in range(2)]
    twice[1::2] = twice[::2]
    held = from_matrices(twice, [0, 1] * 4, groups=range(8))
    found = brain_methods.find(name).train(held, FAST.settings, 0)
    assert found.decide(held).tolist() == [0.0] * 8
    assert not found.importance.any()


def test_halves_take_defaults_whatever_is_tuned(scans):
    tuned = replace(FAST, half_samples=2, settings=MethodSettings(tune=True, time_budget=1.0))
    first, second = (stability(scans, "linear-svm", held, top=5) for held in (tuned, replace(FAST, half_samples=2)))
    np.testing.assert_array_equal(first.importance, second.importance)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"tune": True, "nested": False}, "nested=False does not"),
        ({"inner": 1}, "two folds or more"),
        ({"time_budget": 10.0}, "it is for tune=True"),
        ({"tune": True, "time_budget": np.nan}, "number of seconds"),
        ({"tune": True, "time_budget": -1.0}, "number of seconds"),
        ({"node_features": "row"}, "choose one of 'rows', 'standardised', 'clustering'"),
    ],
)
def test_settings_that_do_not_fit_are_refused(chosen, message):
    with pytest.raises(OptionError, match=message):
        MethodSettings(**chosen)


@pytest.mark.usefixtures("brief_training")
@pytest.mark.parametrize(("name", "signs"), [("gcn", "abs"), ("gcn", "two"), ("paper", "two"), ("pyg-gcn", "abs")])
def test_clustering_coefficients_are_features_that_permuted_nodes_share(scans, name, signs, monkeypatch):
    if name == "pyg-gcn":
        pytest.importorskip("torch_geometric")
    monkeypatch.setattr("torch.nn.functional.dropout", lambda x, *rest: x)  # which would know nodes by their position
    settings = MethodSettings(signs=signs, node_features="clustering", nested=False)
    order = np.random.default_rng(0).permutation(scans.n_rois)
    moved = replace(scans, matrices=scans.matrices[:, order][:, :, order])
    first, second = (brain_methods.find(name).train(held, settings, 0).decide(held) for held in (scans, moved))
    assert np.corrcoef(first, second)[0, 1] > 0.99
    rows = brain_methods.find(name).train(scans, replace(settings, node_features="rows"), 0).decide(scans)
    assert not np.allclose(first, rows, atol=0.1)


def test_series_and_matrices_do_not_share_features():
    pytest.importorskip("nilearn")
    series = np.random.default_rng(0).normal(size=(8, 40, 5))
    known = from_series(list(series), [0, 1] * 4)
    bare = replace(known, series=None)
    first, second = (brain_methods.fit_features("tangent", held).transform(held) for held in (known, bare))
    assert not np.allclose(first, second)
    assert brain_methods.fit_features("tangent", bare.take(np.arange(8))) is brain_methods.fit_features("tangent", bare)


def test_graph_networks_take_the_settings_that_do_best_on_inner_folds(scans, monkeypatch):
    best = brain_methods.network_settings(4)[2]
    fitted = []

    def fit(model, part, settings):
        fitted.append((model.rate, model.width, settings.node_features, part.scans))
        good = (model.rate, settings.node_features) == (best["rate"], best["node_features"])
        return brain_methods.TrainedClassifier(lambda held: (2.0 * held.labels - 1) * (1 if good else -1), None)

    monkeypatch.setattr(brain_methods, "_fit_network", fit)
    for name in ("paper", "gcn", "gat"):
        fitted.clear()
        brain_methods.train(name, scans, MethodSettings(inner=2, network_trials=4), 0)
        assert len(fitted) == 2 * 4 + 1
        assert fitted[-1] == (best["rate"], best["width"], best["node_features"], scans.scans)
        assert all(len(part) < scans.n_scans for *_, part in fitted[:-1])
    fitted.clear()
    brain_methods.train("gcn", scans, MethodSettings(), 0)
    assert len(fitted) == 1


def test_too_few_scans_to_choose_parameters_within_are_refused():
    few = planted_connectomes(0.5, 2, n_rois=24, n_modules=3, n_planted=4, n_train=6, n_test=4).train
    with pytest.raises(OptionError, match="nested=False"):
        evaluate(few, ["linear-svm"], Validation(folds=3))


def test_a_graph_without_edges_is_refused(scans):
    matrices = scans.matrices.copy()
    matrices[3] = np.eye(scans.n_rois)
    with pytest.raises(OptionError, match="0 non-zero"):
        evaluate(replace(scans, matrices=matrices), ["gcn"], FAST)


def test_planted_classes_are_told_apart(scans):
    rows = evaluate(scans, ["edge-readout", "linear-svm"], Validation(folds=3)).summary
    assert [row["method"] for row in rows] == ["edge-readout", "linear-svm"]
    assert all(row["accuracy"] > 0.8 and row["auc"] > 0.9 for row in rows)
    assert all(row["lower"] <= row["accuracy"] <= row["upper"] for row in rows)


def test_random_labels_are_not_predicted_but_selection_on_all_data_seems_to():
    """The leak test: edges selected on all scans predict labels that say nothing, ours don't."""
    rng = np.random.default_rng(0)
    ours, leaked = [], []
    for _ in range(10):
        matrices = square(np.tanh(rng.normal(0, 0.1, (60, 780))), 40) + np.eye(40)
        noise = from_matrices(matrices, rng.permutation(np.repeat([0, 1], 30)))
        ours.append(evaluate(noise, ["t-test-svm"], FAST).summary[0]["accuracy"])
        leaked.append(_leaking(noise))
    assert 0.4 <= np.mean(ours) <= 0.6
    assert np.mean(leaked) > 0.8


def _leaking(scans):
    """Accuracy with edges selected before the folds are made."""
    from sklearn.feature_selection import f_classif
    from sklearn.svm import SVC

    z = features("correlation").fit(scans).transform(scans)
    z = z[:, f_classif(z, scans.labels)[1] < 0.05]
    right = [
        (SVC(kernel="linear").fit(z[learn], scans.labels[learn]).predict(z[test]) == scans.labels[test]).sum()
        for learn, test in subject_folds(scans, 3, 0)
    ]
    return sum(right) / scans.n_scans


def test_finished_pieces_are_read_and_not_made_again(scans, tmp_path, monkeypatch):
    first = evaluate(scans, ["linear-svm"], FAST, store=tmp_path)
    assert len(list(tmp_path.glob("*.json"))) == 3
    monkeypatch.setitem(brain_methods.CLASSIFIERS, "linear-svm", Classifier(lambda *_: pytest.fail("made again"), ""))
    assert evaluate(scans, ["linear-svm"], FAST, store=tmp_path) == first


def test_an_interruption_keeps_what_is_done(scans, tmp_path):
    def stop(text, share):
        if share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(scans, ["linear-svm"], FAST, on_progress=stop, store=tmp_path)
    assert len(list(tmp_path.glob("*.json"))) == 2


def test_other_settings_are_other_pieces(scans, tmp_path):
    evaluate(scans, ["linear-svm"], FAST, store=tmp_path)
    evaluate(scans, ["linear-svm"], replace(FAST, settings=MethodSettings(density=0.3, nested=False)), store=tmp_path)
    evaluate(permute_labels(scans, np.random.default_rng(0)), ["linear-svm"], FAST, store=tmp_path)
    assert len(list(tmp_path.glob("*.json"))) == 9


def test_halves_and_permutations_are_read_and_not_made_again(scans, tmp_path, monkeypatch):
    def both():
        found = stability(scans, "linear-svm", replace(FAST, half_samples=4), top=5, store=tmp_path)
        p, null = permutation_p(scans, ["linear-svm"], replace(FAST, permutations=2), store=tmp_path)
        return [*found.importance.tolist(), found.jaccard, p, *null["linear-svm"]]

    first = both()
    assert len(list(tmp_path.glob("*.json"))) == 11
    monkeypatch.setitem(brain_methods.CLASSIFIERS, "linear-svm", Classifier(lambda *_: pytest.fail("made again"), ""))
    assert both() == first


def test_flips_stay_within_subjects_and_keep_the_classes(scans):
    held, rng = paired(scans), np.random.default_rng(0)
    shuffled = permute_labels(held, rng)
    for subject in set(held.groups):
        mine = [i for i, group in enumerate(held.groups) if group == subject]
        assert sorted(shuffled.labels[mine]) == sorted(held.labels[mine])
    assert (permute_labels(scans, rng).labels.sum()) == scans.labels.sum()
    assert (shuffled.labels != held.labels).any()


def test_subjects_of_both_classes_keep_them_where_others_have_one(scans):
    groups = ["a", "a", "b", "b", *[f"s{i}" for i in range(44)]]
    held = replace(scans, groups=tuple(groups))
    assert set(held.labels[:2]) == set(held.labels[2:4]) == {0, 1}
    seen = [permute_labels(held, np.random.default_rng(seed)).labels for seed in range(20)]
    for labels in seen:
        assert labels.sum() == held.labels.sum()
        assert labels[:2].sum() == labels[2:4].sum() == 1
        assert labels[4:].sum() == held.labels[4:].sum()
    assert len({tuple(labels[:4]) for labels in seen}) == 4


def test_permutation_p_is_small_where_there_is_something():
    drawn = planted_connectomes(1.0, 0, n_rois=24, n_modules=3, n_planted=8, n_train=48, n_test=8).train
    p, null = permutation_p(drawn, ["linear-svm"], replace(FAST, permutations=19))
    assert p["linear-svm"] == pytest.approx((1 / 20, 1 / 20))
    assert 0.3 < null["linear-svm"].mean() < 0.7


def test_stable_edges_are_the_planted_ones():
    drawn = planted_connectomes(0.5, 0, n_rois=24, n_modules=3, n_planted=8, n_train=48, n_test=8)
    found = stability(drawn.train, "edge-readout", replace(FAST, half_samples=6), top=8)
    assert found.frequency.sum() == pytest.approx(8)
    assert found.frequency[drawn.planted].mean() > 0.7
    assert 0.3 < found.jaccard <= 1
    with pytest.raises(OptionError, match="says nothing of single edges"):
        stability(drawn.train, "gcn", replace(FAST, half_samples=2))


@pytest.mark.parametrize("name", ["lasso-svm", "t-test-svm", "linear-svm"])
def test_labels_that_say_nothing_have_the_stability_of_luck(name):
    noise = planted_connectomes(0.0, 1, n_rois=24, n_modules=3, n_planted=8, n_train=40, n_test=8).train
    found = stability(noise, name, replace(FAST, half_samples=6), top=30)
    assert found.importance[found.frequency > 0].min() > 0
    assert abs(found.jaccard - found.shared_by_luck) < 0.12
    assert found.jaccard < 0.3


def test_planted_edges_come_back_more_often_than_by_luck():
    drawn = planted_connectomes(0.5, 0, n_rois=24, n_modules=3, n_planted=8, n_train=48, n_test=8)
    found = stability(drawn.train, "edge-readout", replace(FAST, half_samples=6), top=8)
    assert found.jaccard > found.shared_by_luck + 0.2
    assert (found.frequency > 0.5).sum() > found.often_by_luck


def test_scans_with_too_few_correlations_for_a_graph_are_named_before_any_work(scans):
    settings = MethodSettings(signs="positive", density=0.99)
    parts = subject_folds(scans, 3, 0)
    brain_methods.check(["linear-svm"], scans, settings, parts, 0)
    with pytest.raises(OptionError, match=r"scan \w+ has \d+ positive correlations, fewer than"):
        brain_methods.check(["gcn"], replace(scans, scans=tuple(f"s{i}" for i in range(48))), settings, parts, 0)


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_seeds_that_scikit_learn_refuses_are_refused(seed):
    with pytest.raises(OptionError, match="whole number from 0 to"):
        Validation(seed=seed)


@pytest.mark.parametrize("text", ["", '{"rows": [', "[]", "{}", '{"a": 1}'])
def test_a_piece_that_was_cut_off_is_done_again(scans, tmp_path, text):
    first = evaluate(scans, ["linear-svm"], FAST, store=tmp_path)
    for piece in tmp_path.glob("*.json"):
        piece.write_text(text)
    assert evaluate(scans, ["linear-svm"], FAST, store=tmp_path) == first


@pytest.mark.parametrize(
    ("folds", "message"), [(1, "2 folds or more"), (60, "there are 48 subjects and 24 scans of the smaller class")]
)
def test_folds_that_subjects_do_not_fill_are_refused(scans, folds, message):
    with pytest.raises(OptionError, match=message):
        evaluate(scans, ["linear-svm"], Validation(folds=folds))


def test_unknown_method_is_refused_with_the_closest(scans):
    with pytest.raises(OptionError, match="did you mean 'edge-readout'"):
        evaluate(scans, ["edge-readuot"])


def test_scans_of_a_subject_share_a_fold_in_real_data(data):
    eoec = named("eoec")
    for learn, test in subject_folds(eoec, 5, 0):
        groups = np.asarray(eoec.groups)
        assert not set(groups[learn]) & set(groups[test])


def test_from_matrices_with_one_subject_each_runs():
    drawn = planted_connectomes(0.5, 2, n_rois=24, n_modules=3, n_planted=4, n_train=24, n_test=8).train
    again = from_matrices(drawn.matrices, drawn.labels)
    assert len(evaluate(again, ["t-test-svm"], FAST).scores) == 24
