"""What functions, losses and gates refuse in their arguments, with what to do about it."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from graphpri.errors import OptionError

DTYPES = (torch.float32, torch.float64)

CLOSED = (
    "; where these are gates, all of the graph were closed: raise their init (or, of soft gates, the temperature), "
    "lower their size, or train with hard=False first"
)
"""What to do about a selection without an edge; the names are those of EdgeGate's options."""


def check_dense(value: Any, what: str) -> None:
    """Refuse what is no dense tensor of real numbers."""
    if not isinstance(value, Tensor):
        kind = type(value)
        name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        how = (
            f"torch.from_numpy({what})"
            if isinstance(value, np.ndarray)
            else "torch.tensor(...) of its numbers as an array"
        )
        raise OptionError(f"{what} is of type {name}: pass a dense real tensor, {how}")
    if value.layout != torch.strided or value.is_nested:
        kind, how = ("nested", "to_padded_tensor(0.0)") if value.is_nested else (value.layout, "to_dense()")
        raise OptionError(f"{what} is a tensor of layout {kind}: pass a dense real tensor, {what}.{how}")
    if value.is_complex():
        raise OptionError(f"{what} is {value.dtype}: pass a dense real tensor, such as {what}.abs() or {what}.real")


def check_floats(weights: Any, what: str) -> None:
    """Refuse weights that are no dense tensor of float32 or float64."""
    check_dense(weights, what)
    if weights.dtype not in DTYPES:
        raise OptionError(f"{what} is {weights.dtype}: it must be float32 or float64; pass {what}.float()")
