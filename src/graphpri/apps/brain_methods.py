"""Classifiers and regressions of connectomes, by name: each learns from training scans alone and then scores any."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib import import_module
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from graphpri.apps.brain_data import Connectomes, name_some
from graphpri.apps.brain_graph import (
    EdgeFeatures,
    FeatureKind,
    Signs,
    clustering,
    connectome_graphs,
    features,
    fisher_z,
    n_kept,
    without_confounds,
)
from graphpri.apps.brain_models import ConvolutionNet, EdgeReadout, MaskedGCN, class_weights, default_size
from graphpri.apps.brain_scores import quality
from graphpri.errors import MissingExtraError, OptionError, argument, did_you_mean, setting
from graphpri.graph import FloatArray, IntArray

NodeFeatures = Literal["rows", "standardised", "clustering"]
Range = tuple[float, float]

# Values that inner folds choose among.
_COSTS = (1e-4, 1e-3, 1e-2, 1e-1)
_EPOCHS = (50, 100, 200)

# Ranges that optuna searches, all on logarithmic scales.
_COST_RANGE: Mapping[str, Range] = {"C": (1e-5, 1.0)}
_PRI_RANGES: Mapping[str, Range] = {"pri": (1e-3, 1.0), "beta": (0.1, 10.0)}
_READOUT_RANGES: Mapping[str, Range] = {"rate": (1e-3, 2e-2), "epochs": (25, 200), "size": (1.0, 100.0), **_PRI_RANGES}
_GCN_RANGES: Mapping[str, Range] = {"rate": (1e-3, 2e-2), **_PRI_RANGES, "tau": (0.1, 10.0)}

_TRIALS = 40
"""Most parameters that optuna tries."""


@dataclass(frozen=True)
class MethodSettings:
    """How graphs are made of correlations, and hyper-parameters chosen.

    Parameters
    ----------
    density : float
        Share of all pairs that are edges.
    signs : {"abs", "positive", "two"}
        As :func:`graphpri.apps.brain_graph.connectome_graphs` has it.
    node_features : {"rows", "standardised", "clustering"}
        What graph networks know of a node: its row of correlations, the same of Fisher z standardised over the training
        scans, or its local clustering coefficient.
    nested : bool
        Whether hyper-parameters are chosen within the training scans, from a few values; else each method has its
        defaults.
    inner : int
        Folds by subject within the training scans, on which they are chosen.
    tune : bool
        Choose them with optuna instead, from whole ranges: learning rate, λ and β of the Graph-PRI term, size penalty,
        epochs and the mask's temperature, for edge readouts, the SVMs of all edges, and the paper's network.
    time_budget : float, optional
        Seconds after which no other values are tried, for each training part. What is chosen then depends on how fast
        the machine is; without it, runs repeat.
    network_trials : int
        Settings of each graph network that inner folds choose among, its defaults and others drawn once for all: λ, β
        and τ, whether the term is of the mean graph or the mean over graphs, learning rate, width and node features.
        With 1 it has its defaults.
    by : {"subject", "site"}
        What no two folds have in common; by site, inner folds hold whole sites where there are as many.

    Raises
    ------
    OptionError
        For unknown node features, tuning without choosing, fewer than two inner folds, and a budget that is not a
        number of seconds or that nothing uses.

    Examples
    --------
    >>> MethodSettings(density=0.1).nested
    True
    >>> MethodSettings(nested=False, tune=True)
    Traceback (most recent call last):
        ...
    graphpri.errors.OptionError: tune=True chooses parameters within the training scans, and nested=False does not
    """

    density: float = 0.2
    signs: Signs = "abs"
    node_features: NodeFeatures = "rows"
    nested: bool = True
    inner: int = 3
    tune: bool = False
    time_budget: float | None = None
    network_trials: int = 1
    by: Literal["subject", "site"] = "subject"

    def __post_init__(self) -> None:
        if self.tune and not self.nested:
            raise OptionError(
                f"{argument('tune', True)} chooses parameters within the training scans, and "
                f"{argument('nested', False)} does not"
            )
        if self.node_features not in get_args(NodeFeatures):
            known = ", ".join(map(repr, get_args(NodeFeatures)))
            raise OptionError(f"{argument('node_features', self.node_features)}: choose one of {known}")
        if self.network_trials < 1:
            raise OptionError(f"{argument('network_trials', self.network_trials)}: give 1 or more")
        if self.inner < 2:
            raise OptionError(f"{argument('inner', self.inner)}: choosing parameters needs two folds or more")
        if self.time_budget is not None and not self.tune:
            raise OptionError(f"{argument('time_budget', self.time_budget)}: it is for {setting('tune', True)}")
        if self.time_budget is not None and not 0 <= self.time_budget < np.inf:
            raise OptionError(f"{argument('time_budget', self.time_budget)}: give a number of seconds, 0 or more")


@dataclass(frozen=True)
class TrainedClassifier:
    """A classifier that has learned.

    Parameters
    ----------
    decision : callable
        Gives scores of scans, shape (S,), above 0 for class 1; of several classes, shape (S, C), the largest for the
        scan's own; or predictions of a score, shape (S,).
    importance : ndarray of float64, shape (E,), or None
        How much each edge counts, in the order of :func:`graphpri.apps.brain_graph.pairs`; None for classifiers that
        don't say.

    Examples
    --------
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(0.6, n_rois=12, n_modules=2, n_planted=3, n_train=24, n_test=4)
    >>> trained = find("linear-svm").train(drawn.train, MethodSettings(nested=False), 0)
    >>> trained.importance.shape, trained.decide(drawn.test).shape
    ((66,), (4,))
    """

    decision: Callable[[Connectomes], ArrayLike]
    importance: FloatArray | None

    def decide(self, scans: Connectomes) -> FloatArray:
        """Scores or predictions, as `decision` has it."""
        return np.asarray(self.decision(scans), np.float64)


@dataclass(frozen=True)
class Classifier:
    """A way to classify connectomes.

    Parameters
    ----------
    train : callable
        Learns from training scans, settings and a seed.
    summary : str
    graphs : bool
        Whether it makes graphs of the strongest correlations.
    chooses : bool
        Whether it chooses hyper-parameters on inner folds, where the settings say so.
    explains : bool
        Whether it says how much each edge counts.
    classes, scores : bool
        Whether it tells classes apart, and whether it predicts scores.

    Examples
    --------
    >>> find("gcn").graphs, find("gcn").explains, find("ridge").scores
    (True, False, True)
    """

    train: Callable[[Connectomes, MethodSettings, int], TrainedClassifier]
    summary: str
    graphs: bool = False
    chooses: bool = False
    explains: bool = True
    classes: bool = True
    scores: bool = False


CONFOUNDS = "confounds"
"""Name of what the confounds alone predict."""


def names(regression: bool = False) -> tuple[str, ...]:
    """Names of the classifiers, or of the regressions, the recommended one first.

    Examples
    --------
    >>> for name in names():
    ...     print(f"{name}: {find(name).summary}")
    edge-readout: The masked edge readout of correlations.
    edge-readout-tangent: The masked edge readout in tangent space.
    linear-svm: A linear support vector machine of correlations.
    tangent-svm: A linear support vector machine in tangent space.
    t-test-svm: Edges with p < .05 by a t-test, then a linear support vector machine.
    t-test-svm-rbf: Edges with p < .05 by a t-test, then the paper's Gaussian kernel of size 1.
    lasso-svm: Edges that the LASSO with penalty .1 keeps, then a linear support vector machine.
    lasso-svm-rbf: Edges that the LASSO with penalty .1 keeps, then the paper's Gaussian kernel of size 1.
    paper: The paper's GCN with a mask and the Graph-PRI term of degree entropies, its Graph-PRI*.
    paper-exact: The same with exact entropies, its Graph-PRI.
    gcn: The paper's network without mask and term.
    pyg-gcn: Graph convolutions of PyTorch Geometric.
    gat: Graph attention of PyTorch Geometric.
    >>> names(regression=True)
    ('edge-readout', 'edge-readout-tangent', 'ridge', 'tangent-ridge', 'cpm')
    """
    return tuple(
        name
        for name, held in CLASSIFIERS.items()
        if (held.scores if regression else held.classes) and name != CONFOUNDS
    )


def find(name: str) -> Classifier:
    """The classifier of that name.

    Raises
    ------
    OptionError
        For an unknown name; says the closest.

    Examples
    --------
    >>> find("linear-smv")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    graphpri.errors.OptionError: method 'linear-smv' is not known; did you mean 'linear-svm'? (methods: ...)
    """
    if name not in CLASSIFIERS:
        guess = did_you_mean(name, CLASSIFIERS)
        raise OptionError(f"method {name!r} is not known{guess} (methods: {', '.join(CLASSIFIERS)})")
    return CLASSIFIERS[name]


def train(name: str, scans: Connectomes, settings: MethodSettings, seed: int) -> TrainedClassifier:
    """Learn from training scans; several classes are each told from all others.

    Raises
    ------
    OptionError
        For an unknown method, and one that is not for such targets.

    Examples
    --------
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> held = planted_connectomes(0.6, n_rois=12, n_modules=2, n_planted=3, n_train=24, n_test=4).train
    >>> three = replace(held, labels=np.arange(24) % 3, classes=("a", "b", "c"))
    >>> train("linear-svm", three, MethodSettings(nested=False), 0).decide(three).shape
    (24, 3)
    """
    method = _fitting(name, scans)
    if len(scans.classes) <= 2:
        return method.train(scans, settings, seed)
    each = [
        method.train(
            replace(scans, labels=(scans.labels == k).astype(np.int64), classes=("others", own)), settings, seed
        )
        for k, own in enumerate(scans.classes)
    ]
    found = [x.importance for x in each if x.importance is not None]
    importance = np.mean(found, axis=0) if len(found) == len(each) else None
    return TrainedClassifier(lambda held: np.column_stack([x.decide(held) for x in each]), importance)


def _fitting(name: str, scans: Connectomes) -> Classifier:
    """The method of that name, if it is for classes or a score, as the scans have it."""
    method, regression = find(name), scans.target is not None
    if not (method.scores if regression else method.classes):
        what = (
            "tells classes apart, and predicts no score"
            if regression
            else "predicts a score, and tells no classes apart"
        )
        raise OptionError(f"method {name!r} {what}: choose {', '.join(names(regression))}")
    if name == CONFOUNDS and scans.confounds is None:
        raise OptionError(f"method {name!r} needs confounds: name them with {setting('confounds')}")
    return method


def check(
    names: Iterable[str],
    scans: Connectomes,
    settings: MethodSettings,
    parts: Sequence[tuple[IntArray, IntArray]],
    seed: int,
) -> None:
    """Refuse scans and settings with which a classifier would fail after much work.

    Parameters
    ----------
    names : iterable of str
    scans : Connectomes
    settings : MethodSettings
    parts : sequence of (learn, test)
        As :func:`subject_folds` has them.
    seed : int

    Raises
    ------
    OptionError
        For an unknown classifier, or one that is not for such targets, graphs that a scan has too few correlations for,
        and inner folds that the subjects don't fill.

    Examples
    --------
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(n_rois=12, n_modules=2, n_planted=3, n_train=8, n_test=4)
    >>> parts = subject_folds(drawn.train, 2, 0)
    >>> check(["linear-svm"], drawn.train, MethodSettings(nested=False), parts, 0)
    >>> check(["linear-svm"], drawn.train, MethodSettings(), parts, 0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    graphpri.errors.OptionError: the 4 training scans have too few ...
    """
    chosen = [_fitting(name, scans) for name in names]
    n_kept(scans.n_rois, settings.density)
    if any(classifier.graphs for classifier in chosen):
        connectome_graphs(scans.matrices, settings.density, settings.signs, scans.scans)
    if settings.nested and any(
        c.chooses or (c.graphs and (settings.tune or settings.network_trials > 1)) for c in chosen
    ):
        for learn, _ in parts:
            _inner_folds(scans.take(learn), settings, seed)


# Features of edges. A fit in tangent space takes seconds, and folds, permutations and classifiers share training scans.

_FITTED: dict[tuple[str, str], EdgeFeatures] = {}
_MOST_FITTED = 24


def fit_features(kind: FeatureKind, train: Connectomes) -> EdgeFeatures:
    """Edge features fitted on these scans; those of the last few sets of scans are cached, by their content.

    Examples
    --------
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> train = planted_connectomes(n_rois=12, n_modules=2, n_planted=3, n_train=8, n_test=4).train
    >>> fit_features("correlation", train) is fit_features("correlation", train.take(range(8)))
    True
    """
    key = kind, str(_import("joblib").hash((train.matrices, train.series, train.confounds)))
    if key not in _FITTED:
        if len(_FITTED) >= _MOST_FITTED:
            del _FITTED[next(iter(_FITTED))]
        _FITTED[key] = features(kind).fit(train)
    return _FITTED[key]


@lru_cache(maxsize=4)
def _transform(maker: EdgeFeatures, scans: Connectomes) -> FloatArray:
    """Edge features of the scans, cached for the next of several values of a hyper-parameter."""
    return maker.transform(scans)


def _on_edges(
    maker: EdgeFeatures, decision: Callable[[FloatArray], Any], importance: FloatArray | None
) -> TrainedClassifier:
    """A classifier whose `decision` reads edge features."""
    return TrainedClassifier(lambda scans: decision(_transform(maker, scans)), importance)


def _train_readout(kind: FeatureKind, train: Connectomes, settings: MethodSettings, seed: int) -> TrainedClassifier:
    regression = train.target is not None

    def fit(values: Mapping[str, float], part: Connectomes) -> TrainedClassifier:
        maker = fit_features(kind, part)
        graphs = connectome_graphs(without_confounds(part)(part), settings.density) if "pri" in values else None
        model = replace(EdgeReadout(regression=regression), **values)
        model.epochs = round(model.epochs)
        model.fit(_transform(maker, part), part.truth, graphs)
        return _on_edges(maker, model.decision, model.importance_)

    def path(part: Connectomes) -> list[TrainedClassifier]:
        maker = fit_features(kind, part)
        models = EdgeReadout(regression=regression).path(_EPOCHS, _transform(maker, part), part.truth)
        return [_on_edges(maker, model.decision, model.importance_) for model in models]

    if settings.tune:
        # Nearly without the term at first: the range of λ is logarithmic.
        model = EdgeReadout(size=default_size(train.n_rois * (train.n_rois - 1) // 2), pri=_READOUT_RANGES["pri"][0])
        return fit(_tune(fit, _READOUT_RANGES, vars(model), train, settings, seed), train)
    return fit({"epochs": _EPOCHS[_choose(path, train, settings, seed)]} if settings.nested else {}, train)


def _train_svm(kind: FeatureKind, train: Connectomes, settings: MethodSettings, seed: int) -> TrainedClassifier:
    svc = _import("sklearn.svm").SVC

    def fit(values: Mapping[str, float], part: Connectomes) -> TrainedClassifier:
        maker = fit_features(kind, part)
        machine = svc(kernel="linear", class_weight="balanced", **values).fit(_transform(maker, part), part.labels)
        return _on_edges(maker, machine.decision_function, np.abs(machine.coef_[0]))

    values = {"C": 1e-3}
    if settings.tune:
        values = _tune(fit, _COST_RANGE, values, train, settings, seed)
    elif settings.nested:
        values = {"C": _COSTS[_choose(lambda part: [fit({"C": cost}, part) for cost in _COSTS], train, settings, seed)]}
    return fit(values, train)


def _train_selected(
    selection: Literal["t-test", "lasso"],
    kernel: Literal["linear", "rbf"],
    train: Connectomes,
    settings: MethodSettings,
    seed: int,
) -> TrainedClassifier:
    """A machine of the edges that are selected; where none is, class 0 for every scan. Both classes weigh alike."""
    maker = fit_features("correlation", train)
    z = maker.transform(train)
    if selection == "t-test":
        kept = np.asarray(_import("sklearn.feature_selection").f_classif(z, train.labels)[1]) < 0.05
    else:
        lasso, weights = _import("sklearn.linear_model").Lasso(alpha=0.1), class_weights(train.labels)
        kept = lasso.fit(z, 2.0 * train.labels - 1, weights).coef_ != 0
    importance = np.zeros(z.shape[1])
    if not kept.any():
        return TrainedClassifier(lambda scans: np.zeros(scans.n_scans), importance)
    machine = (
        _import("sklearn.svm").SVC(kernel=kernel, gamma=0.5, class_weight="balanced").fit(z[:, kept], train.labels)
    )
    importance[kept] = np.abs(machine.coef_[0]) if kernel == "linear" else 1.0
    return _on_edges(maker, lambda rows: machine.decision_function(rows[:, kept]), importance)


_RIDGES = tuple(10.0**k for k in range(1, 7))
_CPM_P = 0.01  # of the edges that connectome-based predictive modelling sums up


def _train_ridge(kind: FeatureKind, train: Connectomes, settings: MethodSettings, seed: int) -> TrainedClassifier:
    """Ridge regression of all edges, standardised."""
    ridge = _import("sklearn.linear_model").Ridge

    def fit(penalty: float, part: Connectomes) -> TrainedClassifier:
        maker = fit_features(kind, part)
        model = ridge(alpha=penalty).fit(_transform(maker, part), part.truth)
        return _on_edges(maker, model.predict, np.abs(model.coef_))

    def path(part: Connectomes) -> list[TrainedClassifier]:
        return [fit(penalty, part) for penalty in _RIDGES]

    return fit(_RIDGES[_choose(path, train, settings, seed)] if settings.nested else 1e3, train)


def _train_cpm(train: Connectomes, settings: MethodSettings, seed: int) -> TrainedClassifier:
    """Connectome-based predictive modelling (X. Shen et al., Nature Protocols 12, 506–518, 2017).

    The sums of all edges that rise with the score, and of all that fall with it (p < .01), are regressed on.
    """
    maker = fit_features("correlation", train)
    z = maker.transform(train)
    select = _import("sklearn.feature_selection")
    score, p = select.r_regression(z, train.truth), np.asarray(select.f_regression(z, train.truth)[1])
    sides = np.column_stack([(p < _CPM_P) & (score > 0), (p < _CPM_P) & (score < 0)]).astype(np.float64)
    model = _import("sklearn.linear_model").LinearRegression().fit(z @ sides, train.truth)
    return _on_edges(maker, lambda rows: model.predict(rows @ sides), np.abs(np.nan_to_num(score)) * sides.sum(axis=1))


def _train_confounds(train: Connectomes, settings: MethodSettings, seed: int) -> TrainedClassifier:
    """Logistic or ridge regression of the confounds, standardised."""
    linear = _import("sklearn.linear_model")
    model = linear.LogisticRegression(class_weight="balanced") if train.target is None else linear.Ridge()
    scaled = _import("sklearn.pipeline").make_pipeline(_import("sklearn.preprocessing").StandardScaler(), model)
    scaled.fit(train.confounds, train.truth)
    decide = scaled.decision_function if train.target is None else scaled.predict
    return TrainedClassifier(lambda scans: decide(scans.confounds), None)


def _train_network(
    model: MaskedGCN | ConvolutionNet, train: Connectomes, settings: MethodSettings, seed: int
) -> TrainedClassifier:
    """A graph network with its defaults, tuned, or with the best of a few settings over the inner folds."""
    model = replace(model, seed=seed)

    def fit(values: Mapping[str, Any], part: Connectomes) -> TrainedClassifier:
        own = {name: value for name, value in values.items() if hasattr(model, name)}
        node_features = values.get("node_features", settings.node_features)
        return _fit_network(replace(model, **own), part, replace(settings, node_features=node_features))

    if settings.tune and getattr(model, "mask", False):
        return fit(_tune(fit, _GCN_RANGES, vars(model), train, settings, seed), train)
    trials = network_settings(settings.network_trials)
    if not settings.nested or len(trials) == 1:
        return fit({}, train)
    return fit(trials[_choose(lambda part: [fit(values, part) for values in trials], train, settings, seed)], train)


_NETWORK_CHOICES: Mapping[str, Sequence[Any]] = {
    "rate": (1e-3, 5e-3, 2e-2),
    "width": (16, 32, 64),
    "node_features": ("rows", "standardised", "clustering"),
    "pri": (0.01, 0.1, 1.0),
    "beta": (0.1, 1.0, 2.0, 10.0),
    "tau": (0.3, 1.0, 3.0),
    "pri_on": ("mean", "each"),
}


def network_settings(count: int) -> list[dict[str, Any]]:
    """Settings of graph networks that inner folds choose among: the defaults, and others drawn once for all.

    Every second one has standardised features, every fourth the term over each graph, which takes five times as long.

    Examples
    --------
    >>> [sorted(values)[:3] for values in network_settings(2)]
    [[], ['beta', 'node_features', 'pri']]
    """
    rng = np.random.default_rng(0)
    drawn = [
        {name: held[int(rng.integers(len(held)))] for name, held in _NETWORK_CHOICES.items()} for _ in range(count - 1)
    ]
    for i, values in enumerate(drawn):
        values["pri_on"] = "each" if i % 4 == 2 else "mean"
        if i % 2 == 0:
            values["node_features"] = "standardised"
    return [{}, *drawn]


def _fit_network(model: MaskedGCN | ConvolutionNet, train: Connectomes, settings: MethodSettings) -> TrainedClassifier:
    cleaned = without_confounds(train)
    z = fisher_z(cleaned(train) * (1 - np.eye(train.n_rois)))
    mean, deviation = z.mean(axis=0), z.std(axis=0)
    scale = np.where(deviation > 1e-12, deviation, np.inf)

    def inputs(scans: Connectomes) -> tuple[FloatArray, FloatArray]:
        """Node features, and graphs."""
        matrices = cleaned(scans)
        graphs = connectome_graphs(matrices, settings.density, settings.signs, scans.scans)
        if settings.node_features == "rows":
            return matrices, graphs
        if settings.node_features == "standardised":
            return (fisher_z(matrices * (1 - np.eye(scans.n_rois))) - mean) / scale, graphs
        return clustering(graphs.sum(axis=1) if graphs.ndim == 4 else graphs)[..., None], graphs

    model.fit(*inputs(train), train.labels)
    return TrainedClassifier(lambda scans: model.decision(*inputs(scans)), model.importance_)


def _train_gcn(train: Connectomes, settings: MethodSettings, seed: int, **options: Any) -> TrainedClassifier:
    return _train_network(MaskedGCN(**options), train, settings, seed)


def _train_convolutions(train: Connectomes, settings: MethodSettings, seed: int, **options: Any) -> TrainedClassifier:
    return _train_network(ConvolutionNet(**options), train, settings, seed)


CLASSIFIERS: dict[str, Classifier] = {
    "edge-readout": Classifier(
        partial(_train_readout, "correlation"), "The masked edge readout of correlations.", chooses=True, scores=True
    ),
    "edge-readout-tangent": Classifier(
        partial(_train_readout, "tangent"), "The masked edge readout in tangent space.", chooses=True, scores=True
    ),
    "linear-svm": Classifier(
        partial(_train_svm, "correlation"), "A linear support vector machine of correlations.", chooses=True
    ),
    "tangent-svm": Classifier(
        partial(_train_svm, "tangent"), "A linear support vector machine in tangent space.", chooses=True
    ),
    "t-test-svm": Classifier(
        partial(_train_selected, "t-test", "linear"),
        "Edges with p < .05 by a t-test, then a linear support vector machine.",
    ),
    "t-test-svm-rbf": Classifier(
        partial(_train_selected, "t-test", "rbf"),
        "Edges with p < .05 by a t-test, then the paper's Gaussian kernel of size 1.",
    ),
    "lasso-svm": Classifier(
        partial(_train_selected, "lasso", "linear"),
        "Edges that the LASSO with penalty .1 keeps, then a linear support vector machine.",
    ),
    "lasso-svm-rbf": Classifier(
        partial(_train_selected, "lasso", "rbf"),
        "Edges that the LASSO with penalty .1 keeps, then the paper's Gaussian kernel of size 1.",
    ),
    "paper": Classifier(
        _train_gcn,
        "The paper's GCN with a mask and the Graph-PRI term of degree entropies, its Graph-PRI*.",
        graphs=True,
    ),
    "paper-exact": Classifier(
        partial(_train_gcn, entropy="exact"),
        "The same with exact entropies, its Graph-PRI.",
        graphs=True,
    ),
    "gcn": Classifier(
        partial(_train_gcn, mask=False),
        "The paper's network without mask and term.",
        graphs=True,
        explains=False,
    ),
    "pyg-gcn": Classifier(
        partial(_train_convolutions, kind="gcn"),
        "Graph convolutions of PyTorch Geometric.",
        graphs=True,
        explains=False,
    ),
    # Each step of attention takes as long as seven of the other networks.
    "gat": Classifier(
        partial(_train_convolutions, kind="gat", epochs=60),
        "Graph attention of PyTorch Geometric.",
        graphs=True,
        explains=False,
    ),
    "ridge": Classifier(
        partial(_train_ridge, "correlation"),
        "Ridge regression of correlations.",
        chooses=True,
        classes=False,
        scores=True,
    ),
    "tangent-ridge": Classifier(
        partial(_train_ridge, "tangent"), "Ridge regression in tangent space.", chooses=True, classes=False, scores=True
    ),
    "cpm": Classifier(
        _train_cpm, "Connectome-based predictive modelling: sums of edges with p < .01.", classes=False, scores=True
    ),
    CONFOUNDS: Classifier(_train_confounds, "What the confounds alone predict.", explains=False, scores=True),
}
"""Every classifier by name."""


# Hyper-parameters, on folds by subject within the training scans.


def _inner_folds(train: Connectomes, settings: MethodSettings, seed: int) -> list[tuple[Connectomes, Connectomes]]:
    sites = train.sites or ()
    groups = sites if settings.by == "site" and len(set(sites)) >= settings.inner else train.groups
    try:
        folds = _folds(train, groups, settings.inner, seed)
    except OptionError as error:
        why = error.message.partition(": ")[2].partition(";")[0]
        raise OptionError(
            f"the {train.n_scans} training scans have too few of a class or subject for "
            f"{argument('inner', settings.inner)} folds "
            f"to choose parameters on ({why}): take defaults with {setting('nested', False)}, have fewer of these "
            "folds, or more "
            "outer ones, which leave more scans to learn from"
        ) from None
    return [(train.take(learn), train.take(test)) for learn, test in folds]


def _quality(trained: TrainedClassifier, test: Connectomes) -> float:
    return quality(test.truth, trained.decide(test), test.target is not None)


def _choose(
    fits: Callable[[Connectomes], Sequence[TrainedClassifier]], train: Connectomes, settings: MethodSettings, seed: int
) -> int:
    """Grid search: which of the classifiers that are trained on each part is best over the inner folds."""
    parts = _inner_folds(train, settings, seed)
    quality = [[_quality(trained, test) for trained in fits(part)] for part, test in parts]
    return int(np.argmax(np.sum(quality, axis=0)))


def _tune(
    fit: Callable[[Mapping[str, float], Connectomes], TrainedClassifier],
    ranges: Mapping[str, Range],
    defaults: Mapping[str, Any],
    train: Connectomes,
    settings: MethodSettings,
    seed: int,
) -> dict[str, float]:
    """The best values over the inner folds by tree-structured Parzen estimators (optuna), the defaults tried first.

    Trials that are worse than the median after a fold end there.
    """
    try:
        import optuna
    except ImportError as error:
        raise MissingExtraError("optuna", "brain", "tuning") from error
    parts = _inner_folds(train, settings, seed)

    def quality(trial: Any) -> float:
        values = {name: trial.suggest_float(name, low, high, log=True) for name, (low, high) in ranges.items()}
        found: list[float] = []
        for step, (part, test) in enumerate(parts):
            found.append(_quality(fit(values, part), test))
            trial.report(float(np.mean(found)), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return float(np.mean(found))

    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)  # without a line for each trial
    try:
        study = optuna.create_study(
            direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed), pruner=optuna.pruners.MedianPruner()
        )
        study.enqueue_trial({name: defaults[name] for name in ranges})
        study.optimize(quality, n_trials=1)  # the defaults, whatever the time
        study.optimize(quality, n_trials=_TRIALS - 1, timeout=settings.time_budget)
        return study.best_params
    finally:
        optuna.logging.set_verbosity(verbosity)


Folds = list[tuple[IntArray, IntArray]]


def subject_folds(scans: Connectomes, folds: int, seed: int) -> Folds:
    """Training and test positions of folds that hold all scans of a subject, with classes or scores shared out evenly.

    Raises
    ------
    OptionError
        For fewer than two folds, and more folds than subjects or scans of a class; says how many there are.

    Examples
    --------
    >>> from graphpri.apps.brain_data import from_matrices
    >>> scans = from_matrices([np.eye(3)] * 8, [0, 1] * 4, groups=["a", "a", "b", "b", "c", "c", "d", "d"])
    >>> folds = subject_folds(scans, 2, seed=0)
    >>> [{scans.groups[i] for i in learn} & {scans.groups[i] for i in test} for learn, test in folds]
    [set(), set()]
    """
    return _folds(scans, scans.groups, folds, seed)


def site_folds(scans: Connectomes) -> Folds:
    """Training and test positions with one site left out at a time, in the order of their names.

    Raises
    ------
    OptionError
        Without sites, for a single one, for subjects that were at several, and where the scans of a class are all of
        one site.

    Examples
    --------
    >>> from graphpri.apps.brain_data import from_matrices
    >>> scans = from_matrices([np.eye(3)] * 8, [0, 1] * 4, groups=range(8), sites=["x", "x", "y", "y"] * 2)
    >>> [sorted({scans.sites[i] for i in test}) for _, test in site_folds(scans)]
    [['x'], ['y']]
    """
    if scans.sites is None:
        raise OptionError(f"leaving out sites needs their column: name it with {setting('site')}")
    names = sorted(set(scans.sites))
    if len(names) < 2:
        raise OptionError(f"all scans are of site {names[0]!r}: there is none to leave out")
    _check_sites(scans)
    found: Folds = []
    for name in names:
        out = np.array([site == name for site in scans.sites])
        if scans.target is None and (gone := set(scans.labels) - set(scans.labels[~out])):
            raise OptionError(
                f"all scans of class {scans.classes[min(gone)]!r} are of site {name!r}: the other sites can't learn "
                "it, and what tells classes apart may be the site; take scans of each class from two sites or more, or "
                f"leave out {setting('site')}"
            )
        found.append((np.flatnonzero(~out), np.flatnonzero(out)))
    return found


def _check_sites(scans: Connectomes) -> None:
    """Refuse subjects that were at several sites."""
    at: dict[str, set[str]] = {}
    for subject, site in zip(scans.groups, scans.sites or (), strict=True):
        at.setdefault(subject, set()).add(site)
    if several := [subject for subject, sites in at.items() if len(sites) > 1]:
        raise OptionError(
            f"subjects {name_some(several)} were scanned at several sites, and would be learned from and tested: leave "
            "out their scans of all sites but one"
        )


def _folds(scans: Connectomes, groups: Sequence[str], folds: int, seed: int) -> Folds:
    subjects, regression = len(set(groups)), scans.target is not None
    least = subjects if regression else int(min(np.bincount(scans.labels, minlength=len(scans.classes))))
    if not 2 <= folds <= min(subjects, least):
        raise OptionError(
            f"{argument('folds', folds)}: there are {subjects} subjects"
            + ("" if regression else f" and {least} scans of the smaller class")
            + "; give 2 folds or more, and no more than "
            + ("that" if regression else "either")
        )
    strata = scans.labels if scans.target is None else _bins(scans.target, folds)
    splitter = _import("sklearn.model_selection").StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    found: Folds = list(splitter.split(strata, strata, np.asarray(groups)))
    for learn, test in found:
        if not regression and any(len(set(scans.labels[part])) < len(scans.classes) for part in (learn, test)):
            raise OptionError(f"{argument('folds', folds)}: a fold lacks scans of a class; give fewer folds")
        if not test.size:
            raise OptionError(f"{argument('folds', folds)}: a fold has no scans; give fewer folds")
    return found


def _bins(target: FloatArray, folds: int) -> IntArray:
    """Scores in as many bins as have a scan for each fold, at most ten, so that folds get scores of all sizes."""
    count = max(1, min(10, target.size // folds))
    ranks = np.argsort(np.argsort(target, kind="stable"), kind="stable")
    return ranks * count // target.size


def _import(module: str) -> Any:
    """A module of scikit-learn, or of joblib, which comes with it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError("scikit-learn", "brain", "classifying brain networks") from error
