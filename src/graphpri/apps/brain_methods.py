"""Methods that classify connectomes, by name; each learns from training scans alone and then scores any scans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np

from graphpri.apps.brain_data import Connectomes
from graphpri.apps.brain_graph import FeatureKind, Features, Signs, connectome_graphs, features
from graphpri.apps.brain_models import EdgeReadout, MaskedGCN
from graphpri.errors import GraphError, MissingExtraError, OptionError
from graphpri.graph import FloatArray, IntArray

INNER = 3
"""Folds by subject within the training scans, on which hyper-parameters are chosen."""

_COSTS = (1e-4, 1e-3, 1e-2, 1e-1)
_EPOCHS = (50, 100, 200)


@dataclass(frozen=True)
class Settings:
    """How graphs are made of correlations.

    Parameters
    ----------
    density : float
        Share of all pairs that are edges.
    signs : {"abs", "positive"}
        As :func:`graphpri.apps.brain_graph.connectome_graphs` has it.
    nested : bool
        Whether hyper-parameters are chosen within the training scans; else each method has its defaults.
    """

    density: float = 0.2
    signs: Signs = "abs"
    nested: bool = True


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
        return np.asarray(self.decision(self.maker.transform(scans)), np.float64)


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
    return _gcn(MaskedGCN(seed=seed), train, settings)


@method("gcn")
def gcn(train: Connectomes, settings: Settings, seed: int) -> Fitted:
    """The same network without mask and term."""
    return _gcn(MaskedGCN(mask=False, seed=seed), train, settings)


def _readout(kind: FeatureKind, train: Connectomes, settings: Settings, seed: int) -> Fitted:
    def fit(epochs: int, z: FloatArray, y: IntArray) -> EdgeReadout:
        return EdgeReadout(epochs=epochs).fit(z, y)

    maker = made(kind, train)
    epochs = _best(_EPOCHS, fit, kind, train, seed) if settings.nested else EdgeReadout.epochs
    model = fit(epochs, maker.transform(train), train.labels)
    return _Edges(maker, model.decision, model.importance_)


def _svm(kind: FeatureKind, train: Connectomes, settings: Settings, seed: int) -> Fitted:
    svc = _sklearn("sklearn.svm").SVC

    def fit(cost: float, z: FloatArray, y: IntArray) -> Any:
        return _Machine(svc(kernel="linear", C=cost).fit(z, y))

    maker = made(kind, train)
    cost = _best(_COSTS, fit, kind, train, seed) if settings.nested else 1e-3
    model = fit(cost, maker.transform(train), train.labels)
    return _Edges(maker, model.decision, np.abs(model.machine.coef_[0]))


@dataclass
class _Machine:
    machine: Any

    def decision(self, z: FloatArray) -> FloatArray:
        return self.machine.decision_function(z)


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


def _gcn(model: MaskedGCN, train: Connectomes, settings: Settings) -> Fitted:
    def graphs(scans: Connectomes) -> FloatArray:
        return connectome_graphs(scans.matrices, settings.density, settings.signs)

    model.fit(train.matrices, graphs(train), train.labels)
    return _Graphs(lambda scans: model.decision(scans.matrices, graphs(scans)), model.importance_)


_HELD: dict[tuple[str, bytes], Features] = {}
_MOST = 24


def made(kind: FeatureKind, train: Connectomes) -> Features:
    """The features' maker fitted on these scans; kept, since a fit in tangent space takes seconds."""
    key = kind, blake2b(train.matrices.tobytes(), digest_size=16).digest()
    if key not in _HELD:
        if len(_HELD) >= _MOST:
            del _HELD[next(iter(_HELD))]
        _HELD[key] = features(kind).fit(train)
    return _HELD[key]


def _best(values: Sequence[Any], fit: Callable[..., Any], kind: FeatureKind, train: Connectomes, seed: int) -> Any:
    """The value with the best balanced accuracy and area under the curve over folds by subject in the training scans.

    The area alone would not see a threshold that calls every scan the larger class.
    """
    metrics = _sklearn("sklearn.metrics")
    quality = np.zeros(len(values))
    for learn, test in by_subject(train, INNER, seed):
        part, rest = train.take(learn), train.take(test)
        maker = made(kind, part)
        z, held = maker.transform(part), maker.transform(rest)
        for i, value in enumerate(values):
            score = fit(value, z, part.labels).decision(held)
            quality[i] += metrics.roc_auc_score(rest.labels, score)
            quality[i] += metrics.balanced_accuracy_score(rest.labels, score > 0)
    return values[int(np.argmax(quality))]


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
