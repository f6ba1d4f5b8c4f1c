"""Rounding as on another machine: linear algebra, logarithms and long sums are off by units in the last place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse.linalg

NOISE = 2e-15
"""Of the largest eigenvalue, and of what sums and solved systems return."""

ULP = 2e-16
"""Of a logarithm or an exponential."""


@contextmanager
def disturbed(seed: int) -> Iterator[None]:
    """Disturb matrices before they are decomposed (repeated eigenvalues take another basis), and results after."""
    rng = np.random.default_rng(seed)

    def noisy(value: Any, size: float) -> Any:
        found = np.asarray(value)
        if found.dtype.kind != "f" or not found.size:
            return value
        off = found * (1 + max(size, np.finfo(found.dtype).eps) * rng.uniform(-1, 1, found.shape)).astype(found.dtype)
        return off if isinstance(value, np.ndarray) else value.__class__(off)

    def symmetric(a: Any) -> Any:
        a = np.asarray(a)
        top = np.abs(a).max(axis=(-2, -1), keepdims=True) if a.size else a
        e = np.tril(rng.uniform(-1, 1, a.shape))
        return a + NOISE * top * (e + np.swapaxes(e, -2, -1))

    def eigh(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(a: Any, *args: Any, **kwargs: Any) -> Any:
            return original(symmetric(a), *args, **kwargs)

        return call

    def after(original: Callable[..., Any], size: float) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            out = kwargs.get("out")
            found = original(*args, **kwargs)
            if out is None:
                return noisy(found, size)
            out[...] = noisy(found, size)
            return out

        return call

    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((np.linalg, "eigh"), (np.linalg, "eigvalsh"), (scipy.linalg, "eigh")):
            patch.setattr(module, name, eigh(getattr(module, name)))
        for name in ("log", "log1p", "exp"):
            patch.setattr(np, name, after(getattr(np, name), ULP))
        for module, name in (
            (np.linalg, "solve"),
            (np.linalg, "inv"),
            (np.linalg, "norm"),
            (np, "bincount"),
            (np, "einsum"),
        ):
            patch.setattr(module, name, after(getattr(module, name), NOISE))
        yield
