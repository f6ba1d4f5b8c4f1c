"""The low end of the Laplacian's spectrum: what is slow to mix, to diffuse or to synchronise."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from graphpri.errors import GraphError
from graphpri.graph import FloatArray, Graph
from graphpri.laplacian import Part
from graphpri.measures.blocks import large_parts, pseudo_inverse, stacks
from graphpri.measures.registry import View, measure
from graphpri.measures.spectra import SOLVES, fixed_vector
from graphpri.threads import single_thread

LOW = 10
"""Eigenvalues that are compared, where there are so many."""


def lowest(graph: Graph, top: float, count: int) -> FloatArray:
    """The smallest eigenvalues of the Laplacian but one zero for each component, at most `count`, ascending.

    Parameters
    ----------
    graph : Graph
    top : float
        Weight that counts as 1.
    count : int

    Raises
    ------
    GraphError
        For weights too far apart to tell an eigenvalue from a rounding error.
    """
    parts, member = graph.components()
    found = [np.empty(0)]
    with single_thread():
        for stack in stacks(member):
            lam = cast("FloatArray", np.linalg.eigvalsh(stack.laplacians(graph, graph.weights / top)))
            found.append(_resolved(lam)[:, 1 : count + 1].ravel())
        for part, scale in large_parts(graph, member, parts):
            found.append(_lowest_of(part, count) * (scale / top))
    return np.sort(np.concatenate(found))[:count]


def _resolved(lam: FloatArray) -> FloatArray:
    if (lam[:, 1] <= 4e-16 * lam.shape[1] * lam[:, -1]).any():
        raise GraphError("the weights lie too far apart to resolve the eigenvalues of the Laplacian")
    return lam


def _lowest_of(part: Part, count: int) -> FloatArray:
    """The same for one large component, by Lanczos iteration on the pseudo-inverse."""
    start = fixed_vector(part.nodes.size)
    inverse = pseudo_inverse(part, 1e-10)
    # More vectors than are asked for, so that an eigenvalue that repeats shows each time.
    options: Any = {"which": "LA", "v0": start - start.mean(), "ncv": 4 * count + 20, "tol": 1e-8}
    found = cast("FloatArray", eigsh(inverse, k=count, return_eigenvectors=False, **options))
    return 1 / found[found > 0]


@measure(
    "eigenvalue_error",
    f"mean relative error of the {LOW} smallest Laplacian eigenvalues above the original's zeros",
    group="spectrum",
    better="low",
    affordable=SOLVES,
)
def eigenvalue_error(view: View) -> float:
    """Mean of |λ_i(σ) − λ_i(ρ)| / λ_i(ρ) by rank i, from the first that is not zero in the original.

    Each piece that the kept graph falls into has a zero more, an error of 1.
    """
    zeros, now = view.origin.components[0], view.components[0]
    count = min(LOW, view.graph.n_nodes - zeros)
    top = float(view.origin.graph.weights.max())
    try:
        before = lowest(view.origin.graph, top, count)
        wanted = zeros + count - now
        rest = lowest(view.graph, top, wanted) if wanted > 0 else np.empty(0)
    except (GraphError, np.linalg.LinAlgError, ArpackNoConvergence):
        view.note("eigenvalue_error is n/a: the weights lie too far apart to resolve the eigenvalues")
        return np.nan
    after = np.concatenate([np.zeros(now), rest])[zeros : zeros + count]
    return float((np.abs(after - before) / before).mean())
