"""The Graph-PRI objective as a loss term."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from graphpri._arguments import checked
from graphpri._objective import FREE_BETA, check_beta
from graphpri.errors import OptionError
from graphpri.torch.entropy import (
    Dense,
    EntropyName,
    Representation,
    Structures,
    check_entropy,
    check_weights,
    checked_objectives,
    entropy_of,
    in_range,
    objectives,
)

Over = Literal["each", "mean"]
Reduction = Literal["mean", "sum", "none"]


@checked
class PRILoss(nn.Module):
    """J_β of gated graphs against their originals, as a term of a training loss.

    The loss is invariant under scaling: gates all multiplied by 0.01 give the same value and, times 100, the same
    gradient. So it says which edges matter more than others, and makes nothing sparse by itself: add a penalty on
    the size (:meth:`graphpri.torch.EdgeGate.penalty`), and select by rank (:meth:`graphpri.torch.EdgeGate.keep`)
    rather than by a threshold on the gates.

    Parameters
    ----------
    beta : float
        Weight β ≥ 0 of the divergence: small gathers edges at hubs, large keeps the graph like the original.
    entropy : {"exact", "degree", "local", "auto"}
        How entropies are computed; see :func:`graphpri.torch.von_neumann_entropy`. "auto" goes by the number of nodes
        of each graph, whatever is in a batch with it: exact up to 500, local beyond.
    pri_on : {"each", "mean"}
        "each" is J_β of every graph. "mean" divides the Laplacians by their traces, averages those of the batch and
        takes one J_β of the two averages, of gated graphs and of originals: for dense adjacencies on the same
        nodes; two decompositions in all where "each" takes two a graph.
    reduction : {"mean", "sum", "none"}
        Over the graphs, for ``pri_on="each"``.
    check : bool
        Look for entries that can't be weights, in every step; in originals only where their entropy is not given.

    Raises
    ------
    OptionError
        For values out of range.

    Notes
    -----
    Yu et al., UAI 2022, Eq. (4) and Section 4.3, without the degree barrier.

    Examples
    --------
    >>> import torch
    >>> from graphpri.torch import PRILoss
    >>> originals = torch.ones(3, 5, 5, dtype=torch.float64) - torch.eye(5, dtype=torch.float64)
    >>> mask = torch.zeros(5, 5, dtype=torch.float64)
    >>> mask[0, 1:] = mask[1:, 0] = 1
    >>> loss = PRILoss(beta=2.0)
    >>> entropy = loss.precompute(originals)  # once, before training
    >>> loss(mask * originals, originals, entropy)
    tensor(1.3670, dtype=torch.float64)
    """

    def __init__(
        self,
        beta: float = FREE_BETA,
        entropy: EntropyName = "auto",
        pri_on: Over = "each",
        reduction: Reduction = "mean",
        *,
        check: bool = True,
    ) -> None:
        super().__init__()
        check_entropy(entropy)
        self.beta = check_beta(beta)
        self.entropy: EntropyName = entropy
        self.pri_on: Over = pri_on
        self.reduction: Reduction = reduction
        self.check = bool(check)
        self._averaged: set[int] = set()
        self._structures = Structures()

    def extra_repr(self) -> str:
        """The options, for the module's ``repr``."""
        return f"beta={self.beta:g}, entropy={self.entropy!r}, pri_on={self.pri_on!r}, reduction={self.reduction!r}"

    @torch.no_grad()
    def precompute(
        self,
        original: Tensor,
        *,
        edge_index: Tensor | None = None,
        batch: Tensor | None = None,
        num_nodes: int | None = None,
    ) -> Tensor:
        """S(ρ̃) of the originals, to be passed to every step: a third of the eigenvalue problems less.

        Parameters
        ----------
        original, edge_index, batch, num_nodes
            As in :meth:`forward`.

        Returns
        -------
        Tensor, shape (...) or (number of graphs,)
            Nats. For minibatches of ``pri_on="each"`` take the entries of the graphs at hand; for ``pri_on="mean"``
            it is one number, of the average of exactly these graphs: a minibatch needs one of its own.
        """
        layout = self._layout(edge_index, batch, num_nodes)
        check_weights(layout, original, self.entropy, self.check, "original")
        original = in_range(layout, original)
        if self.pri_on == "mean":
            self._averaged.add(_count(original))
            original = _average(layout, original)
        return entropy_of(layout, original, self.entropy)

    def forward(
        self,
        gated: Tensor,
        original: Tensor,
        original_entropy: Tensor | None = None,
        *,
        edge_index: Tensor | None = None,
        batch: Tensor | None = None,
        num_nodes: int | None = None,
    ) -> Tensor:
        """J_β of gated graphs.

        Parameters
        ----------
        gated, original : Tensor of float32 or float64, shapes (..., N, N), or (E,) with an `edge_index`
            Weights times gates, and weights.
        original_entropy : Tensor, optional
            What :meth:`precompute` gave.
        edge_index : Tensor of int64, shape (2, E), optional
            Both orientations of every edge; the weights are then one number per column.
        batch : Tensor of int64, shape (N,), optional
            Graph of each node.
        num_nodes : int, optional
            Nodes, where there is an `edge_index` and no `batch`.

        Returns
        -------
        Tensor
            Nats: a number, or one per graph for ``reduction="none"``.

        Raises
        ------
        GraphError, OptionError
            As :func:`graphpri.torch.pri_objective`; for ``pri_on="mean"``, where :meth:`precompute` was never
            called on as many graphs.
        """
        layout = self._layout(edge_index, batch, num_nodes)
        if self.pri_on == "mean":
            check_weights(layout, gated, self.entropy, self.check, "gated")
            check_weights(layout, original, self.entropy, self.check and original_entropy is None, "original")
            if self.check and original_entropy is not None:
                self._check_averaged(_count(original))
            x, y = (_average(layout, in_range(layout, weights)) for weights in (gated, original))
            return objectives(layout, x, y, self.beta, self.entropy, original_entropy)
        value = checked_objectives(
            layout, gated, original, self.beta, self.entropy, original_entropy, self.check, "gated"
        )
        return {"mean": value.mean, "sum": value.sum, "none": lambda: value}[self.reduction]()

    def _check_averaged(self, count: int) -> None:
        """Refuse an entropy that can't be of these graphs: of as many, none was precomputed."""
        if self._averaged and count not in self._averaged:
            known = ", ".join(map(str, sorted(self._averaged)))
            raise OptionError(
                f"original_entropy is of the average of {known} graphs, and here are {count}: call precompute on "
                "these graphs, or leave it out"
            )

    def _layout(self, edge_index: Tensor | None, batch: Tensor | None, num_nodes: int | None) -> Representation:
        if edge_index is None:
            if batch is not None or num_nodes is not None:
                raise OptionError("batch and num_nodes go with edge_index: without it, pass adjacencies (..., N, N)")
            return Dense()
        if self.pri_on == "mean":
            raise OptionError("pri_on='mean' averages graphs on the same nodes: pass adjacencies (..., N, N)")
        return self._structures.read(edge_index, batch, num_nodes, self.check)


def _count(adjacency: Tensor) -> int:
    return adjacency.shape[:-2].numel()


def _average(layout: Representation, weights: Tensor) -> Tensor:
    """Sum of adjacencies, each divided by its trace."""
    shares = weights / layout.at_weights(layout.over_nodes(layout.degrees(weights)))
    return shares.reshape(-1, *shares.shape[-2:]).sum(0)
