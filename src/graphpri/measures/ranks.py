"""Rank correlation of a node property in the original and in the kept graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from graphpri.measures.registry import View


def rank_correlation(view: View, before: NDArray[Any], after: NDArray[Any]) -> float:
    """Spearman correlation over the nodes with an edge in the original; NaN where all nodes are alike in one of them.

    Parameters
    ----------
    view : View
    before, after : ndarray, shape (N,)
        A property of each node in the original and in the kept graph.
    """
    x, y = (rankdata(values[view.active]) for values in (before, after))
    x, y = x - x.mean(), y - y.mean()
    size = np.sqrt(float(x @ x) * float(y @ y))
    if size == 0:
        view.note("a rank correlation is not defined (n/a) where all nodes are alike")
        return np.nan
    return float(x @ y / size)
