"""Diffusion on a graph at one scale: Gibbs states, and how far that of a kept graph is from the original's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from graphpri._entropy import scaled
from graphpri.errors import OptionError, argument
from graphpri.graph import FloatArray, Graph, IntArray, Stack, stacks

MOST_NODES = 2000
"""Nodes of a component up to which all its eigenvalues are computed at each step: seconds each beyond."""


class Gibbs(NamedTuple):
    """ln Z of each component, shape (C,), and bᵀρ_τ b of each edge, b = e_u − e_v, shape (M,)."""

    log_partition: FloatArray
    at_edges: FloatArray


@dataclass(frozen=True)
class Diffusion:
    """Diffusion on a graph, and the relative entropy of the state of other weights on its edges.

    The state is ρ_τ = exp(−τ L)/Z, Z = tr exp(−τ L), in each component by itself: one state over all would give most
    of its weight to the component with most nodes that diffusion has not reached. Time τ is `scale` over the mean
    degree (sum of weights at a node) of the component, so that units do not matter.

    Parameters
    ----------
    graph : Graph
    scale : float
        Above 0: small ones look at single edges, large ones at the slowest modes.

    Raises
    ------
    OptionError
        For a component of more than `MOST_NODES` nodes.

    Notes
    -----
    M. De Domenico, J. Biamonte, "Spectral entropies as information-theoretic tools for complex network comparison",
    Physical Review X 6, 041062, 2016.
    """

    graph: Graph
    scale: float

    def __post_init__(self) -> None:
        largest = int(np.bincount(self.member, minlength=1).max())
        if largest > MOST_NODES:
            raise OptionError(
                f"{argument('reweight', 'diffusion')} needs all eigenvalues of a component at each step, and the "
                f"largest has {largest} nodes where {MOST_NODES} is the most: choose 'divergence' or 'rescale'"
            )

    @cached_property
    def weights(self) -> FloatArray:
        """Weights of the original with the largest as 1, shape (M,)."""
        return scaled(self.graph.weights)

    @property
    def member(self) -> IntArray:
        """Component of each node."""
        return self.graph.components()[1]

    @cached_property
    def component(self) -> IntArray:
        """Component of each edge."""
        return self.member[self.graph.source]

    @cached_property
    def _shares(self) -> FloatArray:
        """Share of each component in the nodes that have edges."""
        sizes = np.bincount(self.member).astype(np.float64)
        sizes[sizes == 1] = 0.0
        return sizes / sizes.sum()

    @cached_property
    def times(self) -> FloatArray:
        """τ of each component: `scale` over its mean degree, shape (C,)."""
        sizes = np.bincount(self.member)
        totals = np.bincount(self.component, self.weights, sizes.size)
        return self.scale * sizes / np.where(totals > 0, 2 * totals, 1.0)

    @cached_property
    def _stacks(self) -> list[Stack]:
        return list(stacks(self.member))

    @cached_property
    def original(self) -> Gibbs:
        """The state of the graph itself."""
        return self.state(self.weights)

    def state(self, y: FloatArray) -> Gibbs:
        """The state of weights y ≥ 0 on the edges, the largest of the original as 1; shape (M,)."""
        logs, at_edges = np.zeros(self.times.size), np.zeros(y.size)
        for names, edges, lam, vectors, stack in self._spectra(y):
            exponents = -self.times[names][:, None] * np.maximum(lam, 0.0)
            boltzmann = np.exp(exponents)
            partition = boltzmann.sum(axis=1)
            logs[names] = np.log(partition)
            matrix = (vectors * (boltzmann / partition[:, None])[:, None, :]) @ vectors.transpose(0, 2, 1)
            u, v = self.graph.source[edges], self.graph.target[edges]
            slot, u, v = stack.slot[u], stack.place[u], stack.place[v]
            at_edges[edges] = matrix[slot, u, u] + matrix[slot, v, v] - 2 * matrix[slot, u, v]
        return Gibbs(logs, at_edges)

    def _spectra(self, y: FloatArray) -> Iterator[tuple[IntArray, IntArray, FloatArray, FloatArray, Stack]]:
        for stack in self._stacks:
            edges = np.flatnonzero(stack.slot[self.graph.source] >= 0)
            lam, vectors = np.linalg.eigh(stack.laplacians(self.graph, y))
            yield self.member[stack.nodes[:, 0]], edges, lam, vectors, stack

    def relative_entropy(self, y: FloatArray) -> tuple[float, FloatArray]:
        """S(ρ_τ‖σ_τ) = τ tr(ρ_τ L_σ) + ln Z_σ − S(ρ_τ) in nats, and its gradient in the weights.

        With S(ρ_τ) = τ tr(ρ_τ L_ρ) + ln Z_ρ it is the Bregman divergence of ln Z, which is convex in the weights. Of
        several components it is the mean over nodes.

        Parameters
        ----------
        y : ndarray of float64, shape (M,)
            Weights of the kept graph, in units of the original's largest; 0 where an edge is not kept.

        Returns
        -------
        value : float
        gradient : ndarray of float64, shape (M,)
            τ (ρ_e − σ_e), times the component's share of the nodes.
        """
        kept, before = self.state(y), self.original
        rates = (self._shares * self.times)[self.component]
        logs = float(self._shares @ (kept.log_partition - before.log_partition))
        value = float((rates * before.at_edges) @ (y - self.weights)) + logs
        return value, rates * (before.at_edges - kept.at_edges)
