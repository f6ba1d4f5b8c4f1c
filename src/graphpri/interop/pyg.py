"""PyTorch Geometric: ``Data`` objects."""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpri.errors import GraphError, OptionError, argument, setting
from graphpri.graph import EdgeTable
from graphpri.interop.mirror import Expanded, Wording, pair_up
from graphpri.interop.source import Policies, Source, accepts, fit_dtype, from_table

WORDS = Wording(
    "edge_index",
    "edge",
    "edges",
    "apply torch_geometric.transforms.ToUndirected() first, "
    f"or pass {setting('directed', 'symmetrize')} to add the weights of opposite edges",
)


@accepts("a torch_geometric Data", "torch_geometric.Data")
def from_pyg(D: Any, policies: Policies) -> Source:
    """Both directions of an edge go or stay together, in the order of the columns of ``edge_index``.

    Tensors, arrays and lists with an entry per column follow their edges where their name says so (``edge_attr``,
    ``train_edge_mask``), where they are the weights, or where `policies.edge_attrs` names them; a note names the
    others, such as a graph-level ``y`` that happens to be as long. Weights are ``edge_weight`` (or an edge-level
    ``weight``) by the default name, else the edge-level tensor named, of shape (E,) or (E, 1).
    """
    if any(cls.__name__ == "Batch" for cls in type(D).__mro__):
        raise GraphError("a Batch remembers where its graphs begin: pass the graphs of batch.to_data_list() one by one")
    if D.edge_index is None:
        raise GraphError("the Data object has no edge_index: set it (adj_t is not read)")
    row, col = _numpy(D.edge_index)
    n_nodes, guessed = _count_nodes(D)
    as_long = _edge_level(D)
    name = _weight_name(D, policies.weight, as_long)
    edge_level = _following(D, as_long, policies.edge_attrs, name)
    values = None if name is None else _weights(D, name, row.size)
    called = "weight" if name is None or policies.weight is None else name
    entries = pair_up(row, col, values, n_nodes, policies, WORDS, name=called)

    def build(rows: NDArray[np.int64], weights: NDArray[Any] | None, _: str) -> Any:
        e = entries.expand(rows)
        H = _without_cache(copy.copy(D))
        for key in edge_level:
            H[key] = _gather(D[key], e.position, D.__cat_dim__(key, D[key]))
        H["edge_index"] = _turned(H["edge_index"], e)
        if weights is not None:
            key = name or "edge_weight"
            H[key] = _weight_tensor(D, weights[e.edge], key if key in edge_level else None)
        if guessed:
            H.num_nodes = n_nodes
        return H

    notes = ("num_nodes is not set: the largest id in edge_index, plus one",) if guessed else ()
    if unclear := sorted(key for key in as_long if key not in edge_level and not _of_other_edges(D, key)):
        notes += (
            f"{', '.join(unclear)}: as long as edge_index, but not cut: no name with the word 'edge', and not in "
            "edge_attrs=",
        )
    return from_table(entries.table, build, policies, weight=name, notes=notes)


def read_data(D: Any, policies: Policies) -> tuple[EdgeTable, list[str]]:
    """A table of the edges with the attributes that are one number an edge, and the names of the other attributes."""
    row, col = _numpy(D.edge_index)
    as_long = _edge_level(D)
    name = _weight_name(D, policies.weight, as_long)
    values = None if name is None else _weights(D, name, row.size)
    found = pair_up(row, col, values, _count_nodes(D)[0], policies, WORDS)
    held: dict[str, Any] = dict(found.table.edge_attributes)
    for key in _following(D, as_long, policies.edge_attrs, None):
        if key not in ("edge_index", name) and hasattr(D[key], "shape") and tuple(D[key].shape) == (row.size,):
            held[key] = _numpy(D[key])[found.one]
    left_out = [key for key in list(D.keys()) if key not in held and key not in ("edge_index", "num_nodes", name)]
    return replace(found.table, edge_attributes=held), left_out


def _numpy(tensor: Any) -> NDArray[Any]:
    if not hasattr(tensor, "detach"):
        return np.asarray(tensor)
    held = tensor.detach().cpu()
    return (held.float() if str(held.dtype) == "torch.bfloat16" else held).numpy()


def _count_nodes(D: Any) -> tuple[int, bool]:
    """Number of nodes, and whether PyG had to guess it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        count = D.num_nodes
    return int(count or 0), any("num_nodes" in str(w.message) for w in caught)


def _without_cache(D: Any) -> Any:
    """Drop what PyG remembers about which attributes are edge-level: it holds for one number of edges."""
    vars(D._store).pop("_cached_attr", None)
    return D


def _edge_level(D: Any) -> list[str]:
    probe = _without_cache(copy.copy(D))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [key for key in list(probe.keys()) if probe.is_edge_attr(key)]


_EDGES = re.compile(r"(^|_)edges?(_|$)")


def _following(D: Any, as_long: list[str], named: Sequence[str], weight: str | None) -> list[str]:
    """The attributes that follow the edges: by their name, as weights, or because the user names them."""
    for key in named:
        if key not in D:
            raise OptionError(f"{argument('edge_attrs', list(named))}: the Data object has no {key!r}")
        check_length(D, key)
    by_name = [key for key in as_long if _EDGES.search(key) and not _of_other_edges(D, key)]
    return list(dict.fromkeys([*by_name, *named, *([] if weight is None else [weight])]))


def _of_other_edges(D: Any, key: str) -> bool:
    """Whether an attribute is about the pairs of ``edge_label_index``, the examples of link prediction."""
    return key.startswith("edge_label") and "edge_label_index" in D


def _weight_name(D: Any, weight: str | None, edge_level: list[str]) -> str | None:
    if weight is None or weight == "weight":
        check_length(D, "edge_weight")
        return next((key for key in ("edge_weight", "weight") if key in edge_level), None)
    if weight not in edge_level:
        known = ", ".join(repr(key) for key in edge_level if key != "edge_index") or "none"
        raise OptionError(f"no edge-level tensor is called {weight!r}, named as weight (there are: {known})")
    return weight


def check_length(D: Any, key: str) -> None:
    """Refuse an attribute that has not one entry per column: PyG takes a vector of another length for the graph's.

    Raises
    ------
    GraphError
        Names the attribute and both lengths.
    """
    value = getattr(D, key, None)
    if value is None or D.edge_index is None:
        return
    shape = tuple(value.shape) if hasattr(value, "shape") else (len(value),)
    columns = D.edge_index.shape[-1]
    axis = D.__cat_dim__(key, value) or 0
    if not shape or shape[axis] != columns:
        found = f"{shape[axis]} entries" if shape else "no axis"
        raise GraphError(f"{key} has {found}, and edge_index {columns} columns: give one entry per column")


def _weights(D: Any, name: str, n_entries: int) -> NDArray[Any]:
    values = _numpy(D[name])
    if values.shape not in ((n_entries,), (n_entries, 1)):
        raise GraphError(f"{name} has the shape {values.shape}; weights need one number per column of edge_index")
    return values.reshape(n_entries)


def _gather(value: Any, position: NDArray[np.int64], dim: int) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(value[i] for i in position.tolist())
    if isinstance(value, np.ndarray):
        return np.take(value, position, axis=dim)
    import torch

    return value.index_select(dim, torch.from_numpy(position).to(value.device))


def _turned(edge_index: Any, e: Expanded) -> Any:
    if not e.flipped.any():
        return edge_index
    import torch

    flipped = torch.from_numpy(e.flipped).to(edge_index.device)
    return torch.where(flipped, edge_index.flip(0), edge_index)


def _weight_tensor(D: Any, weights: NDArray[Any], like: str | None) -> Any:
    """New weights in the dtype, shape and place of the old ones; PyTorch's default dtype for floats that were none."""
    import torch

    old = None if like is None else _numpy(D[like])
    fitted = torch.from_numpy(weights if old is None else fit_dtype(weights, old.dtype))
    if fitted.is_floating_point() and (old is None or old.dtype.kind != "f"):
        fitted = fitted.to(torch.get_default_dtype())
    return fitted.reshape(-1, *(() if old is None else old.shape[1:])).to(D.edge_index.device)
