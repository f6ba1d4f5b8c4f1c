"""Classifiers of brain networks that show which edges they use: a masked edge readout, and the paper's masked GCN."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from graphpri.apps.brain_graph import pairs
from graphpri.errors import MissingExtraError
from graphpri.graph import FloatArray


@contextmanager
def torch_alone(seed: int) -> Generator[Any]:
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


@dataclass
class EdgeReadout:
    """Logistic readout of edges through a mask that all graphs share: logit = s Σ m_e u_e z_e + b.

    u starts at zero, as random starts close the mask on half of the edges that matter, and the mask m = sigmoid(M) at
    one half. The loss is cross-entropy + `size` · mean(m) + `pri` · the Graph-PRI objective of the masked mean graph.
    That last term does not change when the mask is multiplied by a number, so it makes nothing sparse by itself: edges
    are selected by rank.

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
    size : float
        Penalty of the mask's mean.
    pri, beta : float
        Weight of the Graph-PRI term (degree entropies), and its β.

    Attributes
    ----------
    mask_, weights_, importance_ : ndarray of float64, shape (E,)
        m, u, and m · |u|.
    losses_ : list of float
        After each epoch.
    """

    epochs: int = 100
    scale: float = 0.5
    rate: float = 5e-3
    mask_rate: float = 5e-2
    decay: float = 1e-2
    size: float = 10.0
    pri: float = 0.0
    beta: float = 2.0

    def fit(self, z: ArrayLike, y: ArrayLike, graphs: ArrayLike | None = None) -> Self:
        """Learn from edge features z, shape (S, E), and labels of 0 or 1.

        `graphs`, adjacencies of shape (S, N, N) whose pairs the E edges are, are needed for the Graph-PRI term.
        """
        with torch_alone(0) as torch:
            data = torch.tensor(np.asarray(z), dtype=torch.float32)
            target = torch.tensor(np.asarray(y), dtype=torch.float32)
            u, m, b = (torch.zeros(n, requires_grad=True) for n in (data.shape[1], data.shape[1], 1))
            term = self._pri_term(graphs) if self.pri else None
            groups = [
                {"params": [u], "weight_decay": self.decay},
                {"params": [m], "lr": self.mask_rate},
                {"params": [b]},
            ]
            steps = torch.optim.Adam(groups, lr=self.rate)
            self.losses_: list[float] = []
            for _ in range(self.epochs):
                mask = torch.sigmoid(m)
                logit = self.scale * (data @ (mask * u)) + b
                loss = torch.nn.functional.binary_cross_entropy_with_logits(logit, target) + self.size * mask.mean()
                if term is not None:
                    loss = loss + self.pri * term(mask)
                steps.zero_grad()
                loss.backward()
                steps.step()
                self.losses_.append(float(loss.detach()))
            self.mask_: FloatArray = torch.sigmoid(m.detach()).double().numpy()
            self.weights_: FloatArray = u.detach().double().numpy()
            self._bias = float(b.detach())
        self.importance_: FloatArray = self.mask_ * np.abs(self.weights_)
        return self

    def _pri_term(self, graphs: ArrayLike | None) -> Any:
        import torch

        from graphpri.torch import pri_objective

        whole = np.asarray(graphs, np.float64)
        mean = torch.tensor((whole / whole.sum(axis=(1, 2), keepdims=True)).mean(axis=0), dtype=torch.float32)
        n = mean.shape[0]
        u, v = (torch.tensor(ends) for ends in pairs(n))

        def term(mask: Any) -> Any:
            square = torch.zeros(n, n).index_put((u, v), mask)
            return pri_objective(mean * (square + square.T), mean, self.beta, method="degree", check=False)

        return term

    def decision(self, z: ArrayLike) -> FloatArray:
        """Logits of class 1, shape (S,)."""
        return self.scale * (np.asarray(z, np.float64) @ (self.mask_ * self.weights_)) + self._bias


@dataclass
class MaskedGCN:
    """The paper's classifier: two graph convolutions, sums over nodes, and a symmetric mask that all graphs share.

    The loss is cross-entropy + `pri` · [S(σ̃) + β (2 S(mixture) − S(σ̃) − S(ρ̃))] of the masked graphs σ (§4.3).
    Features of a node are its row of the correlation matrix.

    Parameters
    ----------
    mask : bool
        Without it, a plain GCN.
    pri, beta : float
        Weight of the Graph-PRI term and its β.
    method : {"degree", "exact"}
        Its entropy.
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
    """

    mask: bool = True
    pri: float = 0.1
    beta: float = 2.0
    method: Literal["degree", "exact"] = "degree"
    pri_on: Literal["mean", "each"] = "mean"
    width: int = 32
    dropout: float = 0.1
    epochs: int = 150
    rate: float = 5e-3
    seed: int = 0

    def fit(self, features: ArrayLike, graphs: ArrayLike, y: ArrayLike) -> Self:
        """Learn from node features and adjacencies, both of shape (S, N, N), and labels of 0 or 1."""
        with torch_alone(self.seed) as torch:
            x, a = (torch.tensor(np.asarray(value), dtype=torch.float32) for value in (features, graphs))
            target = torch.tensor(np.asarray(y), dtype=torch.float32)
            n = x.shape[-1]
            linear = torch.nn.Linear
            self._layers = [linear(n, self.width), linear(self.width, self.width), linear(self.width, 1)]
            self._scale = 1 / n  # sums over nodes start at the size of one node's features
            self._mask = torch.zeros(len(pairs(n)[0]), requires_grad=True)
            weights = [w for layer in self._layers for w in layer.parameters()]
            steps = torch.optim.Adam(
                [{"params": weights, "weight_decay": 5e-4}, {"params": [self._mask], "lr": 5e-2}], lr=self.rate
            )
            term = self._pri_loss(a) if self.mask and self.pri else None
            self.losses_: list[float] = []
            for _ in range(self.epochs):
                kept = a * self._square(n)
                logit = self._forward(x, kept, training=True)
                loss = torch.nn.functional.binary_cross_entropy_with_logits(logit, target)
                if term is not None:
                    loss = loss + self.pri * term(kept, a)
                steps.zero_grad()
                loss.backward()
                steps.step()
                self.losses_.append(float(loss.detach()))
            held = torch.sigmoid(self._mask.detach()).double().numpy()
        self.importance_: FloatArray | None = held if self.mask else None
        return self

    def _square(self, n: int) -> Any:
        import torch

        if not self.mask:
            return torch.ones(())
        u, v = (torch.tensor(ends) for ends in pairs(n))
        square = torch.zeros(n, n).index_put((u, v), torch.sigmoid(self._mask))
        return square + square.T

    def _pri_loss(self, graphs: Any) -> Any:
        from graphpri.torch import PRILoss

        loss = PRILoss(self.beta, method=self.method, pri_on=self.pri_on, check=False)
        known = loss.precompute(graphs)

        def term(kept: Any, original: Any) -> Any:
            return loss(kept, original, known)

        return term

    def _forward(self, x: Any, a: Any, training: bool) -> Any:
        import torch

        eye = torch.eye(a.shape[-1])
        whole = a + eye
        root = whole.sum(dim=-1).rsqrt()
        step = whole * root[..., :, None] * root[..., None, :]
        drop = torch.nn.functional.dropout
        first, second, last = self._layers
        h = torch.relu(first(step @ drop(x, self.dropout, training)))
        h = torch.relu(second(step @ drop(h, self.dropout, training)))
        return last(h.sum(dim=-2) * self._scale)[..., 0]

    def decision(self, features: ArrayLike, graphs: ArrayLike) -> FloatArray:
        """Logits of class 1, shape (S,); nothing is dropped."""
        with torch_alone(self.seed) as torch, torch.no_grad():
            x, a = (torch.tensor(np.asarray(value), dtype=torch.float32) for value in (features, graphs))
            return self._forward(x, a * self._square(x.shape[-1]), training=False).double().numpy()
