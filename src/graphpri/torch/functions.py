"""Functions with derivatives of their own: entropy of a Laplacian's spectrum, degrees, x ln x, and a mean of 1/x.

Autograd through eigenvectors divides by differences of eigenvalues, and gives NaN where they repeat (a complete
graph) or where the graph falls apart. The entropy needs no eigenvector's derivative: ∂S/∂σ̃ = −(ln σ̃ + I).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import torch
from torch import Tensor

from graphpri.errors import OptionError

DEGREE_FLOOR = 1e-12
"""Smallest degree inside ln in a gradient, as a share of the trace."""

_FLOORS = {torch.float32: 1e-7, torch.float64: 1e-12}
_NEAR = 0.1  # where the series of _SERIES terms has all digits
_SERIES = 8
_SMALL = 512  # nodes below which the decomposition of one matrix gains nothing from threads
_CHUNK = 4  # matrices that one thread takes at a time


def eigenvalue_floor(dtype: torch.dtype) -> float:
    """Smallest eigenvalue inside ln, for a matrix of trace one: below it there is rounding."""
    return _FLOORS[dtype]


def spectral_entropy(adjacency: Tensor) -> Tensor:
    """−Σ λ ln λ of Laplacians divided by their traces.

    Parameters
    ----------
    adjacency : Tensor, shape (B, N, N)
        Symmetric weights with a positive sum; the diagonal is ignored.

    Returns
    -------
    Tensor, shape (B,)
        Nats. First and second derivatives exist; eigenvalues are floored inside ln.
    """
    if adjacency.requires_grad and torch.is_grad_enabled():
        return cast("Tensor", _SpectralEntropy.apply(adjacency))
    adjacency = adjacency.detach()
    return _entropy_of(_spectra(adjacency, _degrees(adjacency)))


def degrees_of(adjacency: Tensor) -> Tensor:
    """Degrees by rows and columns, shape (..., N): symmetric in value and gradient, without the diagonal."""
    return cast("Tensor", _Degrees.apply(adjacency))


def xlogx(x: Tensor) -> Tensor:
    """The function x ln x, with 0 ln 0 = 0; in its slope x is at least :data:`DEGREE_FLOOR`."""
    return cast("Tensor", _XLogX.apply(x))


def log_mean_inverse(x: Tensor, y: Tensor) -> Tensor:
    """Λ(x, y) = (ln x − ln y)/(x − y), and 1/x where they agree; x, y > 0. All derivatives are exact."""
    total, gap = x + y, x - y
    near = gap.abs() < _NEAR * total
    # With z = (x − y)/(x + y) it is 2 artanh(z)/z / (x + y): even in z, so smooth where degrees agree.
    z2 = (torch.where(near, gap, 0.0) / total) ** 2
    series = torch.full_like(z2, 1 / (2 * _SERIES + 1))
    for k in reversed(range(_SERIES)):
        series = series * z2 + 1 / (2 * k + 1)
    far = (torch.log(x) - torch.log(y)) / torch.where(near, 1.0, gap)
    return torch.where(near, 2 * series / total, far)


def _degrees(adjacency: Tensor) -> Tensor:
    return (adjacency.sum(-1) + adjacency.sum(-2)) / 2 - adjacency.diagonal(dim1=-2, dim2=-1)


def _laplacian(adjacency: Tensor, degrees: Tensor) -> Tensor:
    """The Laplacian of trace one."""
    trace = degrees.sum(-1, keepdim=True)
    laplacian = adjacency * (-1 / trace)[..., None]
    laplacian.diagonal(dim1=-2, dim2=-1).copy_(degrees / trace)
    return laplacian


def _entropy_of(eigenvalues: Tensor) -> Tensor:
    lam = eigenvalues.clamp(min=0)
    # An eigenvalue of 1 may come out above it.
    return (0.0 - torch.xlogy(lam, lam).sum(-1)).clamp(min=0)


def _spectra(adjacency: Tensor, degrees: Tensor, logs: Tensor | None = None) -> Tensor:
    """Eigenvalues of the Laplacians, shape (B, N); ln σ̃ is written to `logs`, shape (B, N, N), where given."""
    lam = torch.empty_like(degrees)

    def decompose(at: slice) -> None:
        laplacian = _laplacian(adjacency[at], degrees[at])
        if logs is None:
            lam[at] = torch.linalg.eigvalsh(laplacian)
            return
        lam[at], vectors = torch.linalg.eigh(laplacian)
        logs[at] = _log(_floored(lam[at]), vectors)

    if adjacency.device.type == "cpu" and adjacency.shape[-1] <= _SMALL:
        _by_single_threads(decompose, len(adjacency))
    else:
        decompose(slice(None))
    return lam


def _by_single_threads(task: Callable[[slice], None], count: int) -> None:
    """Run a task on pieces of a stack of small matrices, in as many threads as PyTorch may use, one for each piece.

    Threads that share one small matrix wait for each other most of the time, and for whole seconds where another
    program takes a core.
    """
    threads = torch.get_num_threads()
    pieces = [slice(start, start + _CHUNK) for start in range(0, count, _CHUNK)]
    torch.set_num_threads(1)
    try:
        if threads == 1 or len(pieces) < 2:
            for piece in pieces:
                task(piece)
        else:
            with ThreadPoolExecutor(min(threads, len(pieces))) as pool:
                # Whether gradients are recorded is a thread's own setting, and on in a new thread.
                list(pool.map(torch.no_grad()(task), pieces))
    finally:
        torch.set_num_threads(threads)


class _SpectralEntropy(torch.autograd.Function):
    """S of adjacencies A with its gradient −(ℓ/2 + S)/T, where ℓ_ij = F_ii + F_jj − 2 F_ij and F = ln σ̃."""

    @staticmethod
    def forward(ctx: Any, adjacency: Tensor) -> Tensor:
        degrees = _degrees(adjacency)
        logs = adjacency.new_empty(adjacency.shape)
        entropy = _entropy_of(_spectra(adjacency, degrees, logs))
        ctx.save_for_backward(adjacency, logs, entropy, degrees.sum(-1))
        return entropy

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        adjacency, log, entropy, trace = ctx.saved_tensors
        if torch.is_grad_enabled():
            degrees = degrees_of(adjacency)
            trace = degrees.sum(-1)
            sigma = (torch.diag_embed(degrees) - _off_diagonal(adjacency)) / trace[..., None, None]
            log = cast("Tensor", _MatrixLog.apply(sigma))
            entropy = -(log * sigma).sum((-2, -1))
        factor = grads[0] / trace
        half = -0.5 * log.diagonal(dim1=-2, dim2=-1) * factor[..., None]
        # In place: this is the largest array of a training step.
        slope = log * factor[..., None, None]
        slope += half[..., :, None] - (entropy * factor)[..., None, None]
        slope += half[..., None, :]
        slope.diagonal(dim1=-2, dim2=-1).zero_()
        return slope


class _MatrixLog(torch.autograd.Function):
    """ln σ of floored eigenvalues; its derivative is by divided differences."""

    @staticmethod
    def forward(ctx: Any, sigma: Tensor) -> Tensor:
        lam, vectors = torch.linalg.eigh(sigma)
        lam = _floored(lam)
        ctx.save_for_backward(lam, vectors)
        return _log(lam, vectors)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if torch.is_grad_enabled():
            raise OptionError("the exact entropy has no third derivative: take method='local' or 'degree'")
        lam, vectors = ctx.saved_tensors
        floor = eigenvalue_floor(lam.dtype)
        x, y = lam[..., :, None], lam[..., None, :]
        # Two eigenvalues at the floor don't move: their logarithm is constant.
        quotients = torch.where((x <= floor) & (y <= floor), 0.0, log_mean_inverse(x, y))
        inner = vectors.mT @ ((grads[0] + grads[0].mT) / 2) @ vectors
        return vectors @ (quotients * inner) @ vectors.mT


def _floored(lam: Tensor) -> Tensor:
    return lam.clamp(min=eigenvalue_floor(lam.dtype))


def _log(lam: Tensor, vectors: Tensor) -> Tensor:
    return (vectors * lam.log()[..., None, :]) @ vectors.mT


def _off_diagonal(matrices: Tensor) -> Tensor:
    symmetric = (matrices + matrices.mT) / 2
    symmetric.diagonal(dim1=-2, dim2=-1).zero_()
    return symmetric


class _Degrees(torch.autograd.Function):
    """Row sums, with one pass over the matrix in the gradient."""

    @staticmethod
    def forward(ctx: Any, adjacency: Tensor) -> Tensor:
        return _degrees(adjacency)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        half = grads[0] / 2
        slope = half[..., :, None] + half[..., None, :]
        slope.diagonal(dim1=-2, dim2=-1).zero_()
        return slope


class _XLogX(torch.autograd.Function):
    """The function x ln x, whose slope at zero is that of the floor and not infinite."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return torch.xlogy(x, x)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grads[0] * (x.clamp(min=DEGREE_FLOOR).log() + 1)
