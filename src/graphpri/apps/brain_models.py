"""Classifiers of brain networks that show which edges they use: a masked edge readout, and the paper's masked GCN."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from graphpri.apps.brain_graph import pairs
from graphpri.errors import MissingExtraError, OptionError
from graphpri.graph import FloatArray


@contextmanager
def _torch_alone(seed: int) -> Generator[Any]:
    """PyTorch on one thread, with random numbers of its own; the caller's are as before afterwards.

    Raises
    ------
    MissingExtraError
        Where PyTorch is not installed.
    """
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("torch", "brain", "models of brain networks") from error
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            yield torch
    finally:
        torch.set_num_threads(threads)


def _check_labels(rows: ArrayLike, labels: ArrayLike) -> None:
    """Refuse labels that nothing can be learned from.

    Raises
    ------
    OptionError
        For a number of labels that is not that of rows, others than 0 and 1, and one class only.
    """
    count, held = np.shape(rows)[0], np.asarray(labels)
    if held.shape != (count,):
        raise OptionError(f"{count} training scans and labels of shape {held.shape}: pass one label for each scan")
    if sorted(set(held.tolist())) != [0, 1]:
        raise OptionError(f"the training labels are {sorted(set(held.tolist()))}: both 0 and 1 must be among them")


def class_weights(labels: ArrayLike) -> FloatArray:
    """Weight of each scan by which both classes count alike, of mean 1, shape (S,).

    Examples
    --------
    >>> class_weights([0, 0, 0, 1]).round(3).tolist()
    [0.667, 0.667, 0.667, 2.0]
    """
    codes = np.asarray(labels, np.int64)
    return codes.size / (2.0 * np.bincount(codes, minlength=2)[codes])


def _balanced_loss(torch: Any, labels: ArrayLike) -> Callable[[Any], Any]:
    """Cross-entropy of logits, both classes alike."""
    target, weight = (torch.tensor(np.asarray(x), dtype=torch.float32) for x in (labels, class_weights(labels)))
    return lambda logit: torch.nn.functional.binary_cross_entropy_with_logits(logit, target, weight)


def default_size(edges: int) -> float:
    """Penalty of the mask's mean for that many edges, √E / 4.

    Examples
    --------
    >>> round(default_size(6670), 1)
    20.4
    """
    return edges**0.5 / 4


@dataclass
class EdgeReadout:
    """Logistic readout of edges through a mask that all graphs share: logit = s Σ m_e u_e z_e + b.

    Or, for a score, a linear one. u starts at zero, as random starts close the mask on half of the edges that matter,
    and the mask m = sigmoid(M) at one half. The loss is cross-entropy, in which both classes weigh alike, or the mean
    squared error over the variance, + `size` · mean(m) + `pri` · the Graph-PRI objective of the masked mean graph. That
    last term does not change when the mask is multiplied by a number, so it makes nothing sparse by itself: edges are
    selected by rank.

    Parameters
    ----------
    epochs : int
        Steps of Adam over all training graphs.
    scale : float
        s above.
    rate, mask_rate : float
        Learning rates of u and b, and of M.
    decay : float
        Weight decay of u.
    size : float, optional
        Penalty of the mask's mean; √E / 4 where absent, 20 for the 6670 edges of 116 regions. With few edges a larger
        one closes the mask on all of them, and with many a smaller one leaves it open.
    pri, beta : float
        Weight of the Graph-PRI term (degree entropies), and its β.
    regression : bool
        Whether labels are a score.

    Attributes
    ----------
    mask_, weights_, importance_ : ndarray of float64, shape (E,)
        m, u, and m · |u|.
    losses_ : list of float
        After each epoch.

    Examples
    --------
    >>> from graphpri.apps.brain_graph import features
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(0.4, n_rois=12, n_modules=2, n_planted=3, n_train=24, n_test=8)
    >>> maker = features("correlation").fit(drawn.train)
    >>> model = EdgeReadout().fit(maker.transform(drawn.train), drawn.train.labels)
    >>> sorted(np.argsort(-model.importance_)[:3].tolist()) == np.flatnonzero(drawn.planted).tolist()
    True
    >>> float(((model.decision(maker.transform(drawn.test)) > 0) == drawn.test.labels).mean())
    1.0
    """

    epochs: int = 100
    scale: float = 0.5
    rate: float = 5e-3
    mask_rate: float = 5e-2
    decay: float = 1e-2
    size: float | None = None
    pri: float = 0.0
    beta: float = 2.0
    regression: bool = False

    def fit(self, z: ArrayLike, y: ArrayLike, graphs: ArrayLike | None = None) -> Self:
        """Learn from edge features z, shape (S, E), and labels of 0 or 1.

        `graphs`, adjacencies of shape (S, N, N) whose pairs the E edges are, are needed for the Graph-PRI term.

        Raises
        ------
        OptionError
            For labels of one class, or not as many as scans; for no epochs; and for the Graph-PRI term without graphs.
        """
        self._train(z, y, graphs, [self])
        return self

    def path(
        self, epochs: Sequence[int], z: ArrayLike, y: ArrayLike, graphs: ArrayLike | None = None
    ) -> list[EdgeReadout]:
        """The readouts after each of these numbers of epochs, all from one fit; they are those of as many fits."""
        models: list[EdgeReadout] = [replace(self, epochs=count) for count in epochs]
        self._train(z, y, graphs, models)
        return models

    def _train(self, z: ArrayLike, y: ArrayLike, graphs: ArrayLike | None, models: list[Any]) -> None:
        """Fit, and give each of the models what there is after its number of epochs."""
        if not self.regression:
            _check_labels(z, y)
        if min(model.epochs for model in models) < 1:
            raise OptionError("epochs: give 1 or more")
        with _torch_alone(0) as torch:
            data = torch.tensor(np.asarray(z), dtype=torch.float32)
            error = self._error(torch, y)
            u, m, b = (torch.zeros(n, requires_grad=True) for n in (data.shape[1], data.shape[1], 1))
            term = self._pri_term(graphs) if self.pri else None
            size = default_size(data.shape[1]) if self.size is None else self.size
            groups = [
                {"params": [u], "weight_decay": self.decay},
                {"params": [m], "lr": self.mask_rate},
                {"params": [b]},
            ]
            steps = torch.optim.Adam(groups, lr=self.rate)

            def loss() -> Any:
                mask = torch.sigmoid(m)
                logit = self.scale * (data @ (mask * u)) + b
                value = error(logit) + size * mask.mean()
                return value if term is None else value + self.pri * term(mask)

            losses: list[float] = []
            for value in _descend(steps, loss, max(model.epochs for model in models)):
                losses.append(value)
                for model in models:
                    if model.epochs == len(losses):
                        if self.regression:
                            model._centre, model._spread = self._centre, self._spread
                        model._keep(torch.sigmoid(m.detach()), u.detach(), float(b.detach()), losses)

    def _error(self, torch: Any, y: ArrayLike) -> Callable[[Any], Any]:
        """What there is to make small besides penalties, and the mean and deviation of scores."""
        if not self.regression:
            return _balanced_loss(torch, y)
        values = np.asarray(y, np.float64)
        self._centre, self._spread = float(values.mean()), float(values.std()) or 1.0
        target = torch.tensor((values - self._centre) / self._spread, dtype=torch.float32)
        return lambda found: ((found - target) ** 2).mean()

    def _keep(self, mask: Any, weights: Any, bias: float, losses: list[float]) -> None:
        self.mask_: FloatArray = mask.double().numpy()
        self.weights_: FloatArray = weights.double().numpy()
        self.importance_: FloatArray = self.mask_ * np.abs(self.weights_)
        self.losses_: list[float] = losses.copy()
        self._bias = bias

    def _pri_term(self, graphs: ArrayLike | None) -> Any:
        import torch

        from graphpri.torch import pri_objective

        if graphs is None:
            raise OptionError(f"pri={self.pri:g} needs graphs: pass adjacencies of shape (S, N, N)")
        whole = np.asarray(graphs, np.float64)
        mean = torch.tensor((whole / whole.sum(axis=(1, 2), keepdims=True)).mean(axis=0), dtype=torch.float32)

        def term(mask: Any) -> Any:
            return pri_objective(mean * _symmetric(mask, len(mean)), mean, self.beta, entropy="degree", check=False)

        return term

    def decision(self, z: ArrayLike) -> FloatArray:
        """Logits of class 1, or scores, shape (S,)."""
        found = self.scale * (np.asarray(z, np.float64) @ (self.mask_ * self.weights_)) + self._bias
        return self._centre + self._spread * found if self.regression else found


class _GraphNetwork(ABC):
    """Training of graph networks by Adam, all training graphs in each step; balanced cross-entropy and a penalty.

    A subclass gives its parameters, its logits, and may mask the graphs and add a penalty of the masked ones.
    """

    dropout: float
    epochs: int
    rate: float
    seed: int
    importance_: FloatArray | None
    losses_: list[float]

    def fit(self, features: ArrayLike, graphs: ArrayLike, y: ArrayLike) -> Self:
        """Learn from node features of shape (S, N, F), adjacencies of shape (S, N, N), and labels of 0 or 1.

        Adjacencies of shape (S, C, N, N) have C channels, such as positive and negative correlations.

        Raises
        ------
        OptionError
            For labels of one class, or not as many as scans, and a parameter out of range.
        MissingExtraError
            Where PyTorch, or PyTorch Geometric for its convolutions, is not installed.
        """
        _check_labels(graphs, y)
        with _torch_alone(self.seed) as torch:
            x, a = _float32(features, graphs)
            error = _balanced_loss(torch, y)
            optimizer = torch.optim.Adam(self._parameters(x.shape[-1], *a.shape[1:3]), lr=self.rate)
            penalty = self._penalty(a)

            def loss() -> Any:
                masked = self._masked(a)
                logit = self._forward(x, masked, training=True)
                value = error(logit)
                return value if penalty is None else value + penalty(masked)

            self.losses_ = list(_descend(optimizer, loss, self.epochs))
            self.importance_ = self._importance()
        return self

    def decision(self, features: ArrayLike, graphs: ArrayLike) -> FloatArray:
        """Logits of class 1, shape (S,); nothing is dropped."""
        with _torch_alone(self.seed) as torch, torch.no_grad():
            x, a = _float32(features, graphs)
            return self._forward(x, self._masked(a), training=False).double().numpy()

    @abstractmethod
    def _parameters(self, n_features: int, channels: int, n: int) -> list[dict[str, Any]]:
        """Make the layers, and give Adam's groups of parameters."""

    @abstractmethod
    def _forward(self, x: Any, a: Any, training: bool) -> Any:
        """Logits from node features, shape (S, N, F), and adjacencies, shape (S, C, N, N)."""

    def _masked(self, a: Any) -> Any:
        return a

    def _penalty(self, a: Any) -> Callable[[Any], Any] | None:
        return None

    def _importance(self) -> FloatArray | None:
        return None


@dataclass
class MaskedGCN(_GraphNetwork):
    """The paper's classifier: two graph convolutions, sums over nodes, and a symmetric mask that all graphs share.

    The loss is cross-entropy + `pri` · [S(σ̃) + β (2 S(mixture) − S(σ̃) − S(ρ̃))] of the masked graphs σ (§4.3).
    Features of a node are its row of the correlation matrix, or others. Of several channels the convolutions are the
    same for each, their sums over nodes are read side by side, and the Graph-PRI term is of their sum.

    Parameters
    ----------
    mask : bool
        Without it, a plain GCN.
    pri, beta : float
        Weight of the Graph-PRI term and its β.
    tau : float
        Temperature of the mask, which is sigmoid(M / τ).
    entropy : {"degree", "exact"}
        Of the Graph-PRI term.
    pri_on : {"mean", "each"}
        Of the mean graph, or the mean over graphs.
    width, dropout, epochs, rate
        Channels of a layer, share of features dropped, steps of Adam over all training graphs, learning rate.
    seed : int
        Of starting weights and dropout.

    Attributes
    ----------
    importance_ : ndarray of float64, shape (E,), or None
        The mask, in the order of :func:`graphpri.apps.brain_graph.pairs`.
    losses_ : list of float

    Examples
    --------
    >>> from graphpri.apps.brain_graph import connectome_graphs
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(0.4, n_rois=12, n_modules=2, n_planted=3, n_train=24, n_test=8)
    >>> train, test = drawn.train.matrices, drawn.test.matrices
    >>> model = MaskedGCN(epochs=20).fit(train, connectome_graphs(train), drawn.train.labels)
    >>> model.importance_.shape, model.decision(test, connectome_graphs(test)).shape
    ((66,), (8,))
    """

    mask: bool = True
    pri: float = 0.1
    beta: float = 2.0
    tau: float = 1.0
    entropy: Literal["degree", "exact"] = "degree"
    pri_on: Literal["mean", "each"] = "mean"
    width: int = 32
    dropout: float = 0.1
    epochs: int = 150
    rate: float = 5e-3
    seed: int = 0

    def _parameters(self, n_features: int, channels: int, n: int) -> list[dict[str, Any]]:
        import torch

        if not 0 < self.tau < np.inf:
            raise OptionError(f"tau={self.tau}: give a positive temperature")
        linear, width = torch.nn.Linear, self.width
        self._layers = [linear(n_features, width), linear(width, width), linear(channels * width, 1)]
        self._known: tuple[Any, Any] | None = None
        self._scale = 1 / n  # sums over nodes start at the size of one node's features
        self._mask = torch.zeros(len(pairs(n)[0]), requires_grad=True)
        weights = [w for layer in self._layers for w in layer.parameters()]
        return [{"params": weights, "weight_decay": 5e-4}, {"params": [self._mask], "lr": 5e-2}]

    def _masked(self, a: Any) -> Any:
        return a * _symmetric((self._mask / self.tau).sigmoid(), a.shape[-1]) if self.mask else a

    def _penalty(self, a: Any) -> Callable[[Any], Any] | None:
        from graphpri.torch import PRILoss

        if not (self.mask and self.pri):
            return None
        loss, graphs = PRILoss(self.beta, entropy=self.entropy, pri_on=self.pri_on, check=False), a.sum(dim=1)
        known = loss.precompute(graphs)
        return lambda masked: self.pri * loss(masked.sum(dim=1), graphs, known)

    def _importance(self) -> FloatArray | None:
        return (self._mask.detach() / self.tau).sigmoid().double().numpy() if self.mask else None

    def _forward(self, x: Any, a: Any, training: bool) -> Any:
        import torch

        step = self._step(a)
        drop = torch.nn.functional.dropout
        first, second, last = self._layers
        h = x[:, None]
        for layer in (first, second):
            # The product with the weights comes first, as it has fewer columns than features.
            h = torch.relu(step @ (drop(h, self.dropout, training) @ layer.weight.T) + layer.bias)
        return last(h.sum(dim=-2).flatten(1) * self._scale)[..., 0]

    def _step(self, a: Any) -> Any:
        """Normalised adjacencies with self-loops; without a mask those of the training graphs are made once."""
        import torch

        if self._known is not None and self._known[0] is a:
            return self._known[1]
        whole = a + torch.eye(a.shape[-1])
        root = whole.sum(dim=-1).rsqrt()
        step = whole * root[..., :, None] * root[..., None, :]
        self._known = None if self.mask else (a, step)
        return step


@dataclass
class ConvolutionNet(_GraphNetwork):
    """Two convolutions of PyTorch Geometric, sums over nodes, a linear layer: the graph networks to compare with.

    Loss, dropout and steps are as in :class:`MaskedGCN`; channels of adjacencies are added up.

    Parameters
    ----------
    kind : {"gcn", "gat"}
        ``DenseGCNConv``, or ``DenseGATConv``, which sees where edges are but not their weights.
    width, heads : int
        Channels of a layer, and into how many heads attention shares them.
    dropout, epochs, rate, seed
        As in :class:`MaskedGCN`.

    Attributes
    ----------
    losses_ : list of float

    Examples
    --------
    >>> from graphpri.apps.brain_graph import connectome_graphs
    >>> from graphpri.apps.brain_planted import planted_connectomes
    >>> drawn = planted_connectomes(0.4, n_rois=12, n_modules=2, n_planted=3, n_train=24, n_test=8)
    >>> train, test = drawn.train.matrices, drawn.test.matrices
    >>> model = ConvolutionNet("gcn", epochs=20).fit(train, connectome_graphs(train), drawn.train.labels)
    >>> model.decision(test, connectome_graphs(test)).shape
    (8,)
    """

    kind: Literal["gcn", "gat"] = "gcn"
    width: int = 32
    heads: int = 4
    dropout: float = 0.1
    epochs: int = 150
    rate: float = 5e-3
    seed: int = 0

    def _parameters(self, n_features: int, channels: int, n: int) -> list[dict[str, Any]]:
        import torch

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of its own import
                from torch_geometric.nn import DenseGATConv, DenseGCNConv
        except ImportError as error:
            raise MissingExtraError("PyTorch Geometric", "brain", "comparing with graph networks") from error
        last, width = torch.nn.Linear(self.width, 1), self.width
        if self.kind == "gcn":
            self._layers = [DenseGCNConv(n_features, width), DenseGCNConv(width, width), last]
        else:
            each, left = divmod(width, self.heads)
            if left:
                raise OptionError(f"width={width} is no multiple of heads={self.heads}: give one that is")
            self._layers = [DenseGATConv(n_features, each, self.heads), DenseGATConv(width, each, self.heads), last]
        return [{"params": [w for layer in self._layers for w in layer.parameters()], "weight_decay": 5e-4}]

    def _forward(self, x: Any, a: Any, training: bool) -> Any:
        import torch

        h, whole = x, a.sum(dim=1)
        for layer in self._layers[:2]:
            h = torch.relu(layer(torch.nn.functional.dropout(h, self.dropout, training), whole))
        return self._layers[2](h.sum(dim=1) / x.shape[1])[..., 0]


def _descend(optimizer: Any, loss: Callable[[], Any], epochs: int) -> Generator[float]:
    """The loss before each of the optimizer's steps over all training graphs."""
    for _ in range(epochs):
        value = loss()
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        yield float(value.detach())


def _float32(features: ArrayLike, graphs: ArrayLike) -> tuple[Any, Any]:
    """Tensors of node features, shape (S, N, F), and of adjacencies, shape (S, C, N, N)."""
    import torch

    x, a = (torch.tensor(np.asarray(value), dtype=torch.float32) for value in (features, graphs))
    return x, a if a.dim() == 4 else a[:, None]


def _symmetric(values: Any, n: int) -> Any:
    """The symmetric matrix, shape (N, N), of values of its N(N − 1)/2 pairs, in the order of :func:`pairs`."""
    import torch

    u, v = (torch.tensor(ends) for ends in pairs(n))
    square = torch.zeros(n, n).index_put((u, v), values)
    return square + square.T
