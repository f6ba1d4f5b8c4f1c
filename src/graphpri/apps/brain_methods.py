"""Methods that classify connectomes, by name; each learns from training scans alone and then scores any scans."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np

from graphpri.apps.brain_data import Connectomes
from graphpri.apps.brain_graph import FeatureKind, Features, Signs, connectome_graphs, features
from graphpri.apps.brain_models import ConvolutionNet, EdgeReadout, MaskedGCN, default_size
from graphpri.errors import GraphError, MissingExtraError, OptionError
from graphpri.graph import FloatArray, IntArray

_COSTS = (1e-4, 1e-3, 1e-2, 1e-1)
_EPOCHS = (50, 100, 200)

Range = tuple[float, float]

_COST_RANGE: Mapping[str, Range] = {"C": (1e-5, 1.0)}
_READOUT_RANGES: Mapping[str, Range] = {
    "rate": (1e-3, 2e-2),
    "epochs": (25, 200),
    "size": (1.0, 100.0),
    "pri": (1e-3, 1.0),
    "beta": (0.1, 10.0),
}
_GCN_RANGES: Mapping[str, Range] = {"rate": (1e-3, 2e-2), "pri": (1e-3, 1.0), "beta": (0.1, 10.0)}

_TRIALS = 40
"""Most parameters that optuna tries."""


@dataclass(frozen=True)
class Settings:
    """How graphs are made of correlations, and hyper-parameters chosen.

    Parameters
    ----------
    density : float
        Share of all pairs that are edges.
    signs : {"abs", "positive", "two"}
        As :func:`graphpri.apps.brain_graph.connectome_graphs` has it.
    nested : bool
        Whether hyper-parameters are chosen within the training scans, from a few values; else each method has its
        defaults.
    inner : int
        Folds by subject within the training scans, on which they are chosen.
    tune : bool
        Choose them with optuna instead, from whole ranges, learning rate, size penalty, λ and β of the Graph-PRI term
        among them: for edge readouts, the SVMs of all edges, and the paper's network.
    time_budget : float, optional
        Seconds after which no other values are tried, for each training part. What is chosen then depends on how fast
        the machine is; without it, runs repeat.
    """

    density: float = 0.2
    signs: Signs = "abs"
    nested: bool = True
    inner: int = 3
    tune: bool = False
    time_budget: float | None = None


class Fitted(Protocol):
    """A method that has learned.

    `importance` says how much each edge counts, shape (E,), in the order of :func:`graphpri.apps.brain_graph.pairs`;
    None for methods that don't say.
    """

    importance: FloatArray | None

    def decide(self, scans: Connectomes) -> FloatArray:
        """Scores, shape (S,); above 0 is class 1."""
        ...


Method = Callable[[Connectomes, Settings, int], Fitted]

METHODS: dict[str, Method] = {}
"""Every method by name."""


def method(name: str) -> Callable[[Method], Method]:
    """Register a method under a name."""

    def register(fit: Method) -> Method:
        METHODS[name] = fit
        return fit

    return register


def names() -> tuple[str, ...]:
    """Names of the methods, the recommended one first."""
    return tuple(METHODS)


def find(name: str) -> Method:
    """The method of that name.

    Raises
    ------
    OptionError
        For an unknown name; says the closest.
    """
    if name not in METHODS:
        close = get_close_matches(str(name), METHODS, 1, 0.5)
        guess = f"; did you mean {close[0]!r}?" if close else ""
        raise OptionError(f"method {name!r} is not known{guess} (methods: {', '.join(METHODS)})")
    return METHODS[name]


@dataclass
class _Edges:
    """A classifier of edge features, with the features' maker."""

    maker: Features
    decision: Callable[[FloatArray], FloatArray]
    importance: FloatArray | None

    def decide(self, scans: Connectomes) -> FloatArray:
        return np.asarray(self.decision(transformed(self.maker, scans)), np.float64)


@dataclass
class _Graphs:
    """A classifier of graphs."""

    decision: Callable[[Connectomes], FloatArray]
    importance: FloatArray | None

    def decide(self, scans: Connectomes) -> FloatArray:
        return np.asarray(self.decision(scans), np.float64)


@method("edge-readout")
def edge_readout(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """The masked edge readout of correlations."""
    return _readout("correlation", train, settings, seed)


@method("edge-readout-tangent")
def edge_readout_tangent(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """The masked edge readout in tangent space."""
    return _readout("tangent", train, settings, seed)


@method("linear-svm")
def linear_svm(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """A linear support vector machine of correlations."""
    return _svm("correlation", train, settings, seed)


@method("tangent-svm")
def tangent_svm(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """A linear support vector machine in tangent space."""
    return _svm("tangent", train, settings, seed)


@method("t-test-svm")
def t_test_svm(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """Edges with p < .05 by a t-test, then a linear support vector machine."""
    return _selected("t-test", "linear", train)


@method("t-test-svm-rbf")
def t_test_svm_rbf(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """Edges with p < .05 by a t-test, then the paper's Gaussian kernel of size 1."""
    return _selected("t-test", "rbf", train)


@method("lasso-svm")
def lasso_svm(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """Edges that the LASSO with penalty .1 keeps, then a linear support vector machine."""
    return _selected("lasso", "linear", train)


@method("lasso-svm-rbf")
def lasso_svm_rbf(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """Edges that the LASSO with penalty .1 keeps, then the paper's Gaussian kernel of size 1."""
    return _selected("lasso", "rbf", train)


@method("paper")
def paper(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """The paper's GCN with a mask and the Graph-PRI term (degree entropies)."""
    model = MaskedGCN(seed=seed)
    if settings.tune:

        def fit(values: Mapping[str, float], part: Connectomes) -> Fitted:
            return _network(replace(model, **values), part, settings)

        model = replace(model, **_tuned(fit, _GCN_RANGES, _defaults(model, _GCN_RANGES), train, settings, seed))
    return _network(model, train, settings)


@method("gcn")
def gcn(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """The same network without mask and term."""
    return _network(MaskedGCN(mask=False, seed=seed), train, settings)


@method("pyg-gcn")
def pyg_gcn(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """Graph convolutions of PyTorch Geometric."""
    return _network(ConvolutionNet("gcn", seed=seed), train, settings)


@method("gat")
def gat(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """Graph attention of PyTorch Geometric."""
    # Each step takes as long as seven of the other networks.
    return _network(ConvolutionNet("gat", epochs=60, seed=seed), train, settings)


def _readout(kind: FeatureKind, train: Connectomes, settings: Settings, seed: int) -> Fitted:
    def fit(values: Mapping[str, float], part: Connectomes) -> Fitted:
        maker = made(kind, part)
        graphs = connectome_graphs(part.matrices, settings.density) if "pri" in values else None
        model = replace(EdgeReadout(), **values)
        model.epochs = round(model.epochs)
        model.fit(transformed(maker, part), part.labels, graphs)
        return _Edges(maker, model.decision, model.importance_)

    def path(part: Connectomes) -> list[Fitted]:
        maker = made(kind, part)
        models = EdgeReadout().path(_EPOCHS, transformed(maker, part), part.labels)
        return [_Edges(maker, model.decision, model.importance_) for model in models]

    if settings.tune:
        # Nearly without the term at first: the range of λ is logarithmic.
        model = EdgeReadout(size=default_size(train.n_rois * (train.n_rois - 1) // 2), pri=_READOUT_RANGES["pri"][0])
        start = _defaults(model, _READOUT_RANGES)
        return fit(_tuned(fit, _READOUT_RANGES, start, train, settings, seed), train)
    return fit({"epochs": _EPOCHS[_best(path, train, settings, seed)]} if settings.nested else {}, train)


def _svm(kind: FeatureKind, train: Connectomes, settings: Settings, seed: int) -> Fitted:
    svc = _sklearn("sklearn.svm").SVC

    def fit(values: Mapping[str, float], part: Connectomes) -> Fitted:
        maker = made(kind, part)
        machine = svc(kernel="linear", **values).fit(transformed(maker, part), part.labels)
        return _Edges(maker, machine.decision_function, np.abs(machine.coef_[0]))

    if settings.tune:
        return fit(_tuned(fit, _COST_RANGE, {"C": 1e-3}, train, settings, seed), train)
    if settings.nested:
        at = _best(lambda part: [fit({"C": cost}, part) for cost in _COSTS], train, settings, seed)
        return fit({"C": _COSTS[at]}, train)
    return fit({"C": 1e-3}, train)


def _defaults(model: Any, ranges: Mapping[str, Range]) -> dict[str, float]:
    return {name: getattr(model, name) for name in ranges}


def _selected(how: str, kernel: str, train: Connectomes) -> Fitted:
    selection, svm = _sklearn("sklearn.feature_selection"), _sklearn("sklearn.svm")
    maker = made("correlation", train)
    z = maker.transform(train)
    if how == "t-test":
        kept = np.asarray(selection.f_classif(z, train.labels)[1]) < 0.05
    else:
        kept = _sklearn("sklearn.linear_model").Lasso(alpha=0.1).fit(z, 2.0 * train.labels - 1).coef_ != 0
    if not kept.any():
        raise GraphError(f"{how} keeps no edge of these {train.n_scans} training scans: there is nothing to learn from")
    machine = svm.SVC(kernel=kernel, gamma=0.5).fit(z[:, kept], train.labels)
    importance = np.zeros(z.shape[1])
    importance[kept] = np.abs(machine.coef_[0]) if kernel == "linear" else 1.0
    return _Edges(maker, lambda held: machine.decision_function(held[:, kept]), importance)


def _network(model: MaskedGCN | ConvolutionNet, train: Connectomes, settings: Settings) -> Fitted:
    def graphs(scans: Connectomes) -> FloatArray:
        return connectome_graphs(scans.matrices, settings.density, settings.signs)

    model.fit(train.matrices, graphs(train), train.labels)
    importance = model.importance_ if isinstance(model, MaskedGCN) else None
    return _Graphs(lambda scans: model.decision(scans.matrices, graphs(scans)), importance)


_HELD: dict[tuple[str, bytes], Features] = {}
_MOST = 24


def made(kind: FeatureKind, train: Connectomes) -> Features:
    """The features' maker fitted on these scans; kept, since a fit in tangent space takes seconds."""
    key = kind, fingerprint(train)
    if key not in _HELD:
        if len(_HELD) >= _MOST:
            del _HELD[next(iter(_HELD))]
        _HELD[key] = features(kind).fit(train)
    return _HELD[key]


_RECENT: list[tuple[Features, Connectomes, FloatArray]] = []
_MOST_RECENT = 4


def transformed(maker: Features, scans: Connectomes) -> FloatArray:
    """The maker's features of the scans; those of the last few are kept, for the next of several values tried."""
    for known, held, z in _RECENT:
        if known is maker and held is scans:
            return z
    z = maker.transform(scans)
    _RECENT[:] = [(maker, scans, z), *_RECENT[: _MOST_RECENT - 1]]
    return z


def fingerprint(scans: Connectomes) -> bytes:
    """A digest of matrices and series, which is the same for the same scans in the same order."""
    held = blake2b(scans.matrices.tobytes(), digest_size=16)
    for series in scans.series or ():
        held.update(repr(series.shape).encode() + np.ascontiguousarray(series).tobytes())
    return held.digest()


def _quality(model: Fitted, rest: Connectomes) -> float:
    """Balanced accuracy + area under the curve: the area alone would not see that all scans are called one class."""
    metrics, score = _sklearn("sklearn.metrics"), model.decide(rest)
    return metrics.roc_auc_score(rest.labels, score) + metrics.balanced_accuracy_score(rest.labels, score > 0)


def _inner(train: Connectomes, settings: Settings, seed: int) -> list[tuple[Connectomes, Connectomes]]:
    """Folds by subject within the training scans."""
    try:
        folds = by_subject(train, settings.inner, seed)
    except OptionError as error:
        raise OptionError(
            f"the {train.n_scans} training scans are too few to choose parameters within them (inner folds: {error}); "
            "take defaults with nested=False, or have fewer folds"
        ) from None
    return [(train.take(learn), train.take(test)) for learn, test in folds]


def _best(fits: Callable[[Connectomes], Sequence[Fitted]], train: Connectomes, settings: Settings, seed: int) -> int:
    """Which of the models that are fitted to each training part is best over the inner folds."""
    quality = [[_quality(model, rest) for model in fits(part)] for part, rest in _inner(train, settings, seed)]
    return int(np.argmax(np.sum(quality, axis=0)))


def _tuned(
    fit: Callable[[Mapping[str, float], Connectomes], Fitted],
    ranges: Mapping[str, Range],
    start: Mapping[str, float],
    train: Connectomes,
    settings: Settings,
    seed: int,
) -> dict[str, float]:
    """The best values that optuna finds over the inner folds, the defaults first; poor ones end after a fold."""
    parts = _inner(train, settings, seed)
    with _quiet_optuna() as optuna:

        def quality(trial: Any) -> float:
            values = {name: trial.suggest_float(name, low, high, log=True) for name, (low, high) in ranges.items()}
            found: list[float] = []
            for step, (part, rest) in enumerate(parts):
                found.append(_quality(fit(values, part), rest))
                trial.report(float(np.mean(found)), step)
                if trial.should_prune():
                    raise optuna.TrialPruned
            return float(np.mean(found))

        study = optuna.create_study(
            direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed), pruner=optuna.pruners.MedianPruner()
        )
        study.enqueue_trial(dict(start))
        study.optimize(quality, n_trials=1)  # the defaults, whatever the time
        study.optimize(quality, n_trials=_TRIALS - 1, timeout=settings.time_budget)
        return study.best_params


@contextmanager
def _quiet_optuna() -> Generator[Any]:
    """Optuna without its line for each trial."""
    try:
        import optuna
    except ImportError as error:
        raise MissingExtraError("optuna", "brain", "tuning") from error
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield optuna
    finally:
        optuna.logging.set_verbosity(before)


def by_subject(scans: Connectomes, folds: int, seed: int) -> Iterable[tuple[IntArray, IntArray]]:
    """Training and test positions of folds that hold all scans of a subject, with the classes shared out evenly.

    Raises
    ------
    OptionError
        For fewer than two folds, and more folds than subjects or scans of a class; says how many there are.
    """
    subjects = len(set(scans.groups))
    least = int(min(np.bincount(scans.labels, minlength=2)))
    if not 2 <= folds <= min(subjects, least):
        raise OptionError(
            f"folds={folds}: there are {subjects} subjects and {least} scans of the smaller class; give 2 folds or "
            "more, and no more than either"
        )
    splitter = _sklearn("sklearn.model_selection").StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    found = list(splitter.split(scans.labels, scans.labels, np.asarray(scans.groups)))
    for learn, test in found:
        if len(set(scans.labels[learn])) < 2 or len(set(scans.labels[test])) < 2:
            raise OptionError(f"folds={folds}: a fold has scans of one class only; give fewer folds")
    return found


def _sklearn(module: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError("scikit-learn", "brain", "classifying brain networks") from error
