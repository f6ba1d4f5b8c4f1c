"""Sparsification as a transform of PyTorch Geometric."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from graphpri._arguments import checked
from graphpri._objective import beta_for
from graphpri._sparsify import sparsify
from graphpri.baselines import find
from graphpri.errors import GraphError, MissingExtraError, OptionError, setting
from graphpri.interop.pyg import check_length

try:
    from torch_geometric.data import Batch, Data
    from torch_geometric.transforms import BaseTransform
except ImportError as error:
    raise MissingExtraError("torch_geometric", "pyg", "graphpri.torch.Sparsify") from error


@checked
class Sparsify(BaseTransform):
    """Keep the informative edges of every graph, with :func:`graphpri.sparsify`.

    Both orientations of an edge go or stay together. Attributes with an entry per column of ``edge_index`` whose name
    has the word "edge" (``edge_attr``, ``train_edge_mask``), or that ``edge_attrs=`` names, follow their edges; nodes
    and all else stay as they are. The input is not changed. A graph without
    edges passes through as it is.

    Weights are read from ``edge_weight`` (else from an edge-level ``weight``); all edges weigh 1 where neither is
    there. ``edge_attr`` is never taken for weights unless named: ``weight="edge_attr"``, of shape (E,) or (E, 1).

    Parameters
    ----------
    keep : float in (0, 1], int, or None
        Share or number of undirected edges to keep in each graph.
    beta : float, optional
        Weight β ≥ 0 of the divergence; where absent 50 with `keep`, 4 without.
    method : str
        "pri" or the name of a baseline.
    **options
        Other options of :func:`graphpri.sparsify`, or of the method. The seed is 0 where absent, so that a data set
        processed twice is the same.

    Raises
    ------
    OptionError
        For a callback, and for a `keep`, `beta` or `method` that no graph can have; for other options, and a `keep`
        beyond the graph's edges, when the transform meets the graph.
    GraphError
        When it meets a graph whose ``edge_weight`` or ``edge_attr`` is not one entry per column of ``edge_index``, or
        one that :func:`graphpri.sparsify` refuses, such as a directed one: apply ``ToUndirected``
        before, or pass ``directed="symmetrize"``.
    MissingExtraError
        Where PyTorch Geometric is not installed.

    Notes
    -----
    ``repr`` lists the options in a fixed order, with all values: PyG compares it to see whether a processed data set
    was made by the same ``pre_transform``.

    Examples
    --------
    >>> import torch
    >>> from torch_geometric.data import Data
    >>> from graphpri.torch import Sparsify
    >>> ring = torch.arange(6)
    >>> edge_index = torch.stack([torch.cat([ring, ring.roll(1)]), torch.cat([ring.roll(1), ring])])
    >>> transform = Sparsify(keep=0.5)
    >>> transform(Data(edge_index=edge_index, edge_attr=torch.rand(12, 4), num_nodes=6))
    Data(edge_index=[2, 6], edge_attr=[6, 4], num_nodes=6)
    >>> transform
    Sparsify(keep=0.5, beta=50.0, method='pri')
    """

    def __init__(
        self, keep: float | int | None = None, beta: float | None = None, method: str = "pri", **options: Any
    ) -> None:
        if unfit := [name for name, value in options.items() if callable(value)]:
            raise OptionError(f"{', '.join(unfit)}: a transform takes no functions, which have no stable name")
        _check_keep(keep, method)
        self.options: dict[str, Any] = {"keep": keep, "beta": beta_for(beta, keep), "method": method}
        self.options |= {name: options[name] for name in sorted(options)}

    def forward(self, data: Any) -> Any:
        """The sparsified graph, or batch of graphs."""
        if isinstance(data, Batch):
            _check_lengths(data)
            return self._batch(data)
        if not isinstance(data, Data):
            kind = type(data).__name__
            raise GraphError(
                f"data is a {kind}, not a Data or a Batch of them: pass a homogeneous graph, as to_homogeneous()"
            )
        _check_lengths(data)
        edge_index: Any = data.edge_index
        if edge_index is not None and not edge_index.numel():
            return data
        return sparsify(data, **self.options).graph

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={_plain(v)!r}' for k, v in self.options.items())})"

    def _batch(self, batch: Any) -> Any:
        graphs: list[Any] = []
        for i, graph in enumerate(batch.to_data_list()):
            try:
                graphs.append(self.forward(graph))
            except GraphError as error:
                raise GraphError(f"graph {i} of the batch: {error}") from error
        new: Any = Batch.from_data_list(graphs)
        # Node-level vectors of follow_batch, and what was set on the batch itself, belong to no graph.
        for key in set(batch.keys()) - set(new.keys()):
            if batch.is_edge_attr(key):
                raise GraphError(f"{key} was set on the batch, not on its graphs: set it on each graph before batching")
            new[key] = batch[key]
        return new


def _check_keep(keep: Any, method: Any) -> None:
    if method != "pri":
        find(method, besides=["pri"])
    if keep is None:
        if method != "pri":
            raise OptionError(f"method {method!r} needs a budget: pass {setting('keep')}, a share or a number of edges")
        return
    if keep <= 0 or (keep > 1 and not isinstance(keep, Integral)):
        raise OptionError(f"keep={keep!r} must be a share, a float in (0, 1], or a number of edges, an int from 1")


def _check_lengths(data: Any) -> None:
    for key in ("edge_weight", "edge_attr"):
        check_length(data, key)


def _plain(value: Any) -> Any:
    """Arrays as lists, whose ``repr`` leaves nothing out; sets in order."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return np.asarray(value).item() if isinstance(value, np.generic) else value
