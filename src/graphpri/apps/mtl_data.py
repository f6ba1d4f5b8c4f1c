"""Multi-task data to learn and test on: the paper's synthetic tasks (Appendix of Yu et al., UAI 2022)."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpri.apps.mtl_tasks import Tasks
from graphpri.errors import OptionError
from graphpri.graph import FloatArray

INFORMATIVE, NOISE = 20, 10


class Synthetic(NamedTuple):
    """Tasks, their true coefficients, shape (T, P), and the group of each, shape (T,).

    Examples
    --------
    >>> synthetic(seed=0, n_tasks=4, group_size=2).groups
    array([0, 0, 1, 1])
    """

    tasks: Tasks
    coefficients: FloatArray
    groups: NDArray[np.int64]


def synthetic(
    seed: int | np.random.Generator = 0,
    *,
    n_tasks: int = 20,
    group_size: int = 10,
    n: int = 100,
    informative: int = INFORMATIVE,
    irrelevant: int = NOISE,
    noise: Literal["std", "var"] = "std",
) -> Synthetic:
    """Linear tasks in groups: w_t = w_group ⊙ b_t + ξ, y = X w_t + N(0, 1).

    w_group ~ N(0, I) for each group, b_t ~ U(0, 1) for each task and column, X ~ N(0, I); columns of no effect follow
    those that matter.

    Parameters
    ----------
    seed : int or Generator
    n_tasks, group_size : int
        Tasks, and how many of them make a group.
    n : int
        Rows a task.
    informative, irrelevant : int
        Columns.
    noise : {"std", "var"}
        Whether the paper's ξ ~ N(0, 0.2 I) has a standard deviation or a variance of 0.2; it leaves that open.

    Raises
    ------
    OptionError
        For another `noise`, and sizes below 1.

    Examples
    --------
    >>> drawn = synthetic(seed=0, n=50)
    >>> drawn.tasks.count, drawn.tasks.X.shape, drawn.coefficients.shape
    (20, (1000, 30), (20, 30))
    """
    if noise not in ("std", "var"):
        raise OptionError(f"noise={noise!r}: choose 'std' or 'var'")
    if min(n_tasks, group_size, n, informative) < 1 or irrelevant < 0:
        raise OptionError("n_tasks, group_size, n and informative must be 1 or more, and irrelevant 0 or more")
    rng = np.random.default_rng(seed)
    groups = np.arange(n_tasks) // group_size
    centres = rng.normal(size=(int(groups[-1]) + 1, informative))
    spread = 0.2 if noise == "std" else np.sqrt(0.2)
    own = centres[groups] * rng.random((n_tasks, informative)) + spread * rng.normal(size=(n_tasks, informative))
    coefficients = np.column_stack([own, np.zeros((n_tasks, irrelevant))])
    member = np.repeat(np.arange(n_tasks), n)
    X = rng.normal(size=(n_tasks * n, informative + irrelevant))
    y = np.einsum("np,np->n", X, coefficients[member]) + rng.normal(size=n_tasks * n)
    starts, labels = n * np.arange(n_tasks + 1), tuple(range(n_tasks))
    return Synthetic(Tasks(X, y, starts, labels, np.arange(y.size), True), coefficients, groups)


def as_lists(tasks: Tasks) -> tuple[list[Any], list[Any]]:
    """A matrix and a vector for each task.

    Examples
    --------
    >>> X, y = as_lists(synthetic(seed=0, n_tasks=3, n=50).tasks)
    >>> len(X), X[0].shape, y[0].shape
    (3, (50, 30), (50,))
    """
    at = tasks.starts[1:-1]
    return np.split(tasks.X, at), np.split(tasks.y, at)
