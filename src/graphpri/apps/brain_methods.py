"""Methods that classify connectomes, by name; each learns from training scans alone and then scores any scans."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from hashlib import blake2b
from typing import Any, Literal, Protocol, get_args

import numpy as np

from graphpri.apps.brain_data import Connectomes
from graphpri.apps.brain_graph import FeatureKind, Features, Signs, clustering, connectome_graphs, features, n_kept
from graphpri.apps.brain_models import ConvolutionNet, EdgeReadout, MaskedGCN, default_size
from graphpri.errors import MissingExtraError, OptionError
from graphpri.graph import FloatArray, IntArray

_COSTS = (1e-4, 1e-3, 1e-2, 1e-1)
_EPOCHS = (50, 100, 200)

Range = tuple[float, float]
NodeFeatures = Literal["rows", "clustering"]

_COST_RANGE: Mapping[str, Range] = {"C": (1e-5, 1.0)}
_READOUT_RANGES: Mapping[str, Range] = {
    "rate": (1e-3, 2e-2),
    "epochs": (25, 200),
    "size": (1.0, 100.0),
    "pri": (1e-3, 1.0),
    "beta": (0.1, 10.0),
}
_GCN_RANGES: Mapping[str, Range] = {
    "rate": (1e-3, 2e-2),
    "pri": (1e-3, 1.0),
    "beta": (0.1, 10.0),
    "tau": (0.1, 10.0),
}

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
    node_features : {"rows", "clustering"}
        What graph networks know of a node: its row of correlations, or its local clustering coefficient.
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

    Raises
    ------
    OptionError
        For unknown node features, tuning without choosing, fewer than two inner folds, and a budget that is not a
        number of seconds or that nothing uses.

    Examples
    --------
    >>> Settings(density=0.1).nested
    True
    >>> Settings(nested=False, tune=True)
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

    def __post_init__(self) -> None:
        if self.tune and not self.nested:
            raise OptionError("tune=True chooses parameters within the training scans, and nested=False does not")
        if self.node_features not in get_args(NodeFeatures):
            known = " or ".join(map(repr, get_args(NodeFeatures)))
            raise OptionError(f"node_features={self.node_features!r}: choose {known}")
        if self.inner < 2:
            raise OptionError(f"inner={self.inner}: choosing parameters needs two folds or more")
        if self.time_budget is not None and not self.tune:
            raise OptionError(f"time_budget={self.time_budget}: it is for tune=True")
        if self.time_budget is not None and not 0 <= self.time_budget < np.inf:
            raise OptionError(f"time_budget={self.time_budget}: give a number of seconds, 0 or more")


class Fitted(Protocol):
    """A method that has learned.

    `importance` says how much each edge counts, shape (E,), in the order of :func:`graphpri.apps.brain_graph.pairs`;
    None for methods that don't say.

    Examples
    --------
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(0.6, n_rois=12, n_modules=2, n_planted=3, n_train=24, n_test=4)
    >>> fitted: Fitted = find("linear-svm")(drawn.train, Settings(nested=False), 0)
    >>> fitted.importance.shape, fitted.decide(drawn.test).shape
    ((66,), (4,))
    """

    importance: FloatArray | None

    def decide(self, scans: Connectomes) -> FloatArray:
        """Scores, shape (S,); above 0 is class 1."""
        ...


Method = Callable[[Connectomes, Settings, int], Fitted]

METHODS: dict[str, Method] = {}
"""Every method by name."""

_ON_GRAPHS: set[str] = set()
_CHOOSING: set[str] = set()


def method(name: str, *, graphs: bool = False, chooses: bool = False) -> Callable[[Method], Method]:
    """Register a method under a name.

    Parameters
    ----------
    name : str
    graphs : bool
        Whether it makes graphs of the strongest correlations.
    chooses : bool
        Whether it chooses hyper-parameters on inner folds, where the settings say so.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> @method("always-one")
    ... def always_one(train, settings, seed):
    ...     return SimpleNamespace(importance=None, decide=lambda scans: np.ones(scans.n_scans))
    >>> names()[-1]
    'always-one'
    >>> del METHODS["always-one"]
    """

    def register(fit: Method) -> Method:
        METHODS[name] = fit
        for held, wanted in ((_ON_GRAPHS, graphs), (_CHOOSING, chooses)):
            (held.add if wanted else held.discard)(name)
        return fit

    return register


def check(names: Iterable[str], scans: Connectomes, settings: Settings, folds: int, seed: int) -> None:
    """Refuse scans and settings with which a method would fail after much work.

    Raises
    ------
    OptionError
        For an unknown method, graphs that a scan has too few correlations for, and folds or inner folds that the
        subjects don't fill.

    Examples
    --------
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(n_rois=12, n_modules=2, n_planted=3, n_train=8, n_test=4)
    >>> check(["linear-svm"], drawn.train, Settings(nested=False), 2, 0)
    >>> check(["linear-svm"], drawn.train, Settings(), 2, 0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    graphpri.errors.OptionError: the 4 training scans have too few ...
    """
    chosen = list(names)
    for name in chosen:
        find(name)
    n_kept(scans.n_rois, settings.density)
    if _ON_GRAPHS & set(chosen):
        connectome_graphs(scans.matrices, settings.density, settings.signs, scans.scans)
    parts = by_subject(scans, folds, seed)
    if settings.nested and (_CHOOSING | (_ON_GRAPHS if settings.tune else set())) & set(chosen):
        for learn, _ in parts:
            _inner(scans.take(learn), settings, seed)


def names() -> tuple[str, ...]:
    """Names of the methods, the recommended one first.

    Examples
    --------
    >>> for name in names():
    ...     print(f"{name}: {find(name).__doc__}")
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
    """
    return tuple(METHODS)


def find(name: str) -> Method:
    """The method of that name.

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
        return np.asarray(self.decision(_transformed(self.maker, scans)), np.float64)


@dataclass
class _Graphs:
    """A classifier of graphs."""

    decision: Callable[[Connectomes], FloatArray]
    importance: FloatArray | None

    def decide(self, scans: Connectomes) -> FloatArray:
        return np.asarray(self.decision(scans), np.float64)


@method("edge-readout", chooses=True)
def _edge_readout(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """The masked edge readout of correlations."""
    return _readout("correlation", train, settings, seed)


@method("edge-readout-tangent", chooses=True)
def _edge_readout_tangent(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """The masked edge readout in tangent space."""
    return _readout("tangent", train, settings, seed)


@method("linear-svm", chooses=True)
def _linear_svm(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """A linear support vector machine of correlations."""
    return _svm("correlation", train, settings, seed)


@method("tangent-svm", chooses=True)
def _tangent_svm(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """A linear support vector machine in tangent space."""
    return _svm("tangent", train, settings, seed)


@method("t-test-svm")
def _t_test_svm(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """Edges with p < .05 by a t-test, then a linear support vector machine."""
    return _selected("t-test", "linear", train)


@method("t-test-svm-rbf")
def _t_test_svm_rbf(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """Edges with p < .05 by a t-test, then the paper's Gaussian kernel of size 1."""
    return _selected("t-test", "rbf", train)


@method("lasso-svm")
def _lasso_svm(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """Edges that the LASSO with penalty .1 keeps, then a linear support vector machine."""
    return _selected("lasso", "linear", train)


@method("lasso-svm-rbf")
def _lasso_svm_rbf(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """Edges that the LASSO with penalty .1 keeps, then the paper's Gaussian kernel of size 1."""
    return _selected("lasso", "rbf", train)


@method("paper", graphs=True)
def _paper(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """The paper's GCN with a mask and the Graph-PRI term of degree entropies, its Graph-PRI*."""
    return _masked(MaskedGCN(seed=seed), train, settings, seed)


@method("paper-exact", graphs=True)
def _paper_exact(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """The same with exact entropies, its Graph-PRI."""
    return _masked(MaskedGCN(entropy="exact", seed=seed), train, settings, seed)


@method("gcn", graphs=True)
def _gcn(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """The paper's network without mask and term."""
    return _network(MaskedGCN(mask=False, seed=seed), train, settings)


@method("pyg-gcn", graphs=True)
def _pyg_gcn(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """Graph convolutions of PyTorch Geometric."""
    return _network(ConvolutionNet("gcn", seed=seed), train, settings)


@method("gat", graphs=True)
def _gat(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """Graph attention of PyTorch Geometric."""
    # Each step takes as long as seven of the other networks.
    return _network(ConvolutionNet("gat", epochs=60, seed=seed), train, settings)


def _readout(kind: FeatureKind, train: Connectomes, settings: Settings, seed: int) -> Fitted:
    def fit(values: Mapping[str, float], part: Connectomes) -> Fitted:
        maker = made(kind, part)
        graphs = connectome_graphs(part.matrices, settings.density) if "pri" in values else None
        model = replace(EdgeReadout(), **values)
        model.epochs = round(model.epochs)
        model.fit(_transformed(maker, part), part.labels, graphs)
        return _Edges(maker, model.decision, model.importance_)

    def path(part: Connectomes) -> list[Fitted]:
        maker = made(kind, part)
        models = EdgeReadout().path(_EPOCHS, _transformed(maker, part), part.labels)
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
        machine = svc(kernel="linear", **values).fit(_transformed(maker, part), part.labels)
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
    """A machine of the edges that are selected; where none is, class 0 for every scan."""
    selection, svm = _sklearn("sklearn.feature_selection"), _sklearn("sklearn.svm")
    maker = made("correlation", train)
    z = maker.transform(train)
    if how == "t-test":
        kept = np.asarray(selection.f_classif(z, train.labels)[1]) < 0.05
    else:
        kept = _sklearn("sklearn.linear_model").Lasso(alpha=0.1).fit(z, 2.0 * train.labels - 1).coef_ != 0
    if not kept.any():
        return _Edges(maker, lambda held: np.zeros(len(held)), np.zeros(z.shape[1]))
    machine = svm.SVC(kernel=kernel, gamma=0.5).fit(z[:, kept], train.labels)
    importance = np.zeros(z.shape[1])
    importance[kept] = np.abs(machine.coef_[0]) if kernel == "linear" else 1.0
    return _Edges(maker, lambda held: machine.decision_function(held[:, kept]), importance)


def _masked(model: MaskedGCN, train: Connectomes, settings: Settings, seed: int) -> Fitted:
    if settings.tune:

        def fit(values: Mapping[str, float], part: Connectomes) -> Fitted:
            return _network(replace(model, **values), part, settings)

        model = replace(model, **_tuned(fit, _GCN_RANGES, _defaults(model, _GCN_RANGES), train, settings, seed))
    return _network(model, train, settings)


def _network(model: MaskedGCN | ConvolutionNet, train: Connectomes, settings: Settings) -> Fitted:
    def graphs(scans: Connectomes) -> FloatArray:
        return connectome_graphs(scans.matrices, settings.density, settings.signs, scans.scans)

    def known(scans: Connectomes, held: FloatArray) -> FloatArray:
        if settings.node_features == "rows":
            return scans.matrices
        return clustering(held.sum(axis=1) if held.ndim == 4 else held)[..., None]

    def decision(scans: Connectomes) -> FloatArray:
        held = graphs(scans)
        return model.decision(known(scans, held), held)

    held = graphs(train)
    model.fit(known(train, held), held, train.labels)
    return _Graphs(decision, model.importance_ if isinstance(model, MaskedGCN) else None)


_HELD: dict[tuple[str, bytes], Features] = {}
_MOST = 24


def made(kind: FeatureKind, train: Connectomes) -> Features:
    """The features' maker fitted on these scans; kept, since a fit in tangent space takes seconds.

    Examples
    --------
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> train = planted_connectomes(n_rois=12, n_modules=2, n_planted=3, n_train=8, n_test=4).train
    >>> made("correlation", train) is made("correlation", train.take(range(8)))
    True
    """
    key = kind, fingerprint(train)
    if key not in _HELD:
        if len(_HELD) >= _MOST:
            del _HELD[next(iter(_HELD))]
        _HELD[key] = features(kind).fit(train)
    return _HELD[key]


_RECENT: list[tuple[Features, Connectomes, FloatArray]] = []
_MOST_RECENT = 4


def _transformed(maker: Features, scans: Connectomes) -> FloatArray:
    """The maker's features of the scans; those of the last few are kept, for the next of several values tried."""
    for known, held, z in _RECENT:
        if known is maker and held is scans:
            return z
    z = maker.transform(scans)
    _RECENT[:] = [(maker, scans, z), *_RECENT[: _MOST_RECENT - 1]]
    return z


def fingerprint(scans: Connectomes) -> bytes:
    """A digest of matrices and series, which is the same for the same scans in the same order.

    Examples
    --------
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> train = planted_connectomes(n_rois=12, n_modules=2, n_planted=3, n_train=8, n_test=4).train
    >>> fingerprint(train) == fingerprint(train.take(range(8))), fingerprint(train) == fingerprint(train.take([1, 0]))
    (True, False)
    """
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
        why = str(error).partition(": ")[2].partition(";")[0]
        raise OptionError(
            f"the {train.n_scans} training scans have too few of a class or subject for inner={settings.inner} folds "
            f"to choose parameters on ({why}): take defaults with nested=False, have fewer of these folds, or more "
            "outer ones, which leave more scans to learn from"
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

    Examples
    --------
    >>> from graphpri.apps.brain_data import from_matrices
    >>> scans = from_matrices([np.eye(3)] * 8, [0, 1] * 4, groups=["a", "a", "b", "b", "c", "c", "d", "d"])
    >>> folds = by_subject(scans, 2, seed=0)
    >>> [{scans.groups[i] for i in learn} & {scans.groups[i] for i in test} for learn, test in folds]
    [set(), set()]
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
