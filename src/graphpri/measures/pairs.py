"""An original graph and one to hold against it, as users pass them."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from graphpri.errors import OptionError
from graphpri.graph import BoolArray, Graph
from graphpri.interop import Policies, Source, align, edge_selector, load


def load_pair(G: Any, H: Any, policies: Policies) -> tuple[Source, Graph]:
    """Load G, and bring H onto its nodes.

    Parameters
    ----------
    G : object
        A graph of any accepted type, M edges.
    H : object
        A graph of any accepted type, an object whose ``kept`` is a :class:`Graph` (a result of ``sparsify``),
        or a bool array of shape (M,) in G's edge order.
    policies : Policies
        How to read both.

    Raises
    ------
    GraphError
        For whatever :func:`graphpri.as_graph` refuses, and for a node of H that G doesn't have.
    OptionError
        For a mask that doesn't fit, and for a result that took weights differently from how G is read.
    """
    source = load(G, **policies._asdict())
    mask = _as_mask(H)
    if mask is not None:
        return source, source.graph.select(edge_selector(source, mask, "H"))
    if isinstance(getattr(H, "kept", None), Graph):
        _check_same_weights(source.graph, H)
        # The weights of a Graph go by the default name, those of reweight=True included.
        return source, align(source.graph, H.kept)
    return source, align(source.graph, H, **policies._asdict())


def _as_mask(H: Any) -> BoolArray | None:
    if isinstance(H, list) and H and all(isinstance(item, bool | np.bool_) for item in cast("list[Any]", H)):
        return np.array(cast("list[bool]", H))
    if isinstance(H, np.ndarray) and H.ndim == 1 and H.dtype.kind == "b":
        return cast("BoolArray", H)
    return None


def _check_same_weights(graph: Graph, result: Any) -> None:
    original = getattr(result, "original", None)
    if isinstance(original, Graph) and original.is_weighted != graph.is_weighted:
        how = ("with", "without") if original.is_weighted else ("without", "with")
        raise OptionError(
            f"the result was made {how[0]} weights and G is read {how[1]} them: pass the same weight= as to sparsify"
        )
