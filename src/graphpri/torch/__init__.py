"""Differentiable Graph-PRI for PyTorch: entropies, the loss, gates on edges, and a transform of PyG.

Needs the extra ``torch``; :class:`Sparsify` needs ``pyg``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphpri.errors import MissingExtraError

try:
    import torch as _torch
except ImportError as error:
    raise MissingExtraError("PyTorch", "torch", "graphpri.torch") from error

from graphpri.torch.entropy import (
    pri_objective,
    pri_objective_edges,
    qjs_divergence,
    qjs_divergence_edges,
    von_neumann_entropy,
    von_neumann_entropy_edges,
)
from graphpri.torch.gate import Anneal, EdgeGate, InductiveGate
from graphpri.torch.loss import PRILoss

if TYPE_CHECKING:
    from graphpri.torch.transform import Sparsify

__all__ = [
    "Anneal",
    "EdgeGate",
    "InductiveGate",
    "PRILoss",
    "Sparsify",
    "pri_objective",
    "pri_objective_edges",
    "qjs_divergence",
    "qjs_divergence_edges",
    "von_neumann_entropy",
    "von_neumann_entropy_edges",
]

del _torch


def __getattr__(name: str) -> Any:
    # PyG takes seconds to import, and only the transform needs it.
    if name == "Sparsify":
        from graphpri.torch.transform import Sparsify

        return Sparsify
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
