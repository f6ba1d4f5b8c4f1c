"""The canonical graph, and the table of edges that every format becomes on its way to it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from graphpri.errors import GraphError, OptionError

Directed = Literal["refuse", "symmetrize"]
Loops = Literal["refuse", "drop"]
Parallel = Literal["refuse", "sum", "max", "first"]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.integer[Any]]
BoolArray = NDArray[np.bool_]

_POLICIES: dict[str, tuple[str, ...]] = {
    "directed": ("refuse", "symmetrize"),
    "loops": ("refuse", "drop"),
    "parallel": ("refuse", "sum", "max", "first"),
}


def id_dtype(n_nodes: int) -> np.dtype[Any]:
    """Smallest signed integer type used for the ids of `n_nodes` nodes (4 or 8 bytes)."""
    return np.dtype(np.int32 if n_nodes <= np.iinfo(np.int32).max else np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """Undirected simple graph with positive weights, in canonical form.

    Nodes are numbered in the order of their labels and edges are sorted, so that two descriptions of
    the same labelled graph give the same arrays, whatever the order in which they list it. Build one
    with :func:`graphpri.as_graph` or :meth:`Graph.from_edges`.

    Parameters
    ----------
    n_nodes : int
        Number of nodes N, isolated ones included.
    source, target : ndarray of int, shape (M,)
        End points of each edge, ``source < target``, sorted by (source, target).
    weights : ndarray of float64, shape (M,)
        Positive finite edge weights μ; a read-only view of a single 1.0 where the graph is unweighted.
    labels : sequence of hashable or None
        Label of each node; None where node i is called i.
    weight_name : str or None
        Where the weights come from; None where the graph is unweighted.
    """

    n_nodes: int
    source: IntArray
    target: IntArray
    weights: FloatArray
    labels: Sequence[Hashable] | None = None
    weight_name: str | None = None

    @classmethod
    def from_edges(
        cls,
        source: ArrayLike,
        target: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        n_nodes: int | None = None,
        labels: Sequence[Hashable] | None = None,
        directed: Directed = "refuse",
        loops: Loops = "refuse",
        parallel: Parallel = "refuse",
    ) -> Graph:
        """Make a graph from arrays of node numbers.

        Parameters
        ----------
        source, target : array_like of int, shape (M,)
            End points, numbered from 0; each edge once, in either direction.
        weights : array_like of float, shape (M,), optional
            Positive finite weights; 1 where absent.
        n_nodes : int, optional
            Number of nodes; the largest number plus one (or the number of labels) where absent.
        labels : sequence of hashable, optional
            Label of each node number.
        directed, loops, parallel
            As in :func:`graphpri.as_graph`; the arrays are taken as undirected.

        Raises
        ------
        GraphError
            For ids out of range, self-loops, parallel edges and weights that are not positive and finite.
        """
        u, v = _as_ids(source, "source"), _as_ids(target, "target")
        if u.shape != v.shape:
            raise GraphError(f"source has {u.size} entries and target has {v.size}: give one of each per edge")
        if n_nodes is None:
            n_nodes = len(labels) if labels is not None else int(max(u.max(), v.max())) + 1 if u.size else 0
        attributes = {} if weights is None else {"weight": np.asarray(weights)}
        table = EdgeTable(n_nodes, u, v, labels=labels, edge_attributes=attributes)
        return table.canonical(directed=directed, loops=loops, parallel=parallel).graph

    def __repr__(self) -> str:
        kind = f"weighted by {self.weight_name!r}" if self.is_weighted else "unweighted"
        return f"Graph({self.n_nodes} nodes, {self.n_edges} edges, {kind})"

    @property
    def n_edges(self) -> int:
        """Number of edges M."""
        return self.source.size

    @property
    def is_weighted(self) -> bool:
        """Whether the edges carry weights (even if all of them are equal)."""
        return self.weight_name is not None

    def label(self, node: int) -> Hashable:
        """Label of a node number."""
        return int(node) if self.labels is None else _plain(self.labels[node])

    def edge_labels(self, edge: int) -> tuple[Hashable, Hashable]:
        """Labels of the two ends of an edge number."""
        return self.label(int(self.source[edge])), self.label(int(self.target[edge]))

    def degrees(self) -> NDArray[np.int64]:
        """Number of edges at each node, shape (N,)."""
        ends = np.bincount(self.source, minlength=self.n_nodes)
        return ends + np.bincount(self.target, minlength=self.n_nodes)

    def strengths(self) -> FloatArray:
        """Sum of the weights at each node, shape (N,)."""
        ends = np.bincount(self.source, self.weights, self.n_nodes)
        return ends + np.bincount(self.target, self.weights, self.n_nodes)

    def adjacency(self, weights: FloatArray | None = None) -> sp.csr_array:
        """Symmetric weighted adjacency matrix, shape (N, N); `weights` replaces the graph's own."""
        w = self.weights if weights is None else weights
        rows = np.concatenate([self.source, self.target])
        columns = np.concatenate([self.target, self.source])
        return sp.csr_array((np.concatenate([w, w]), (rows, columns)), shape=(self.n_nodes, self.n_nodes))

    def laplacian(self, weights: FloatArray | None = None) -> sp.csr_array:
        """Graph Laplacian ρ = D − A as a sparse matrix, shape (N, N)."""
        a = self.adjacency(weights)
        return sp.csr_array(sp.diags_array(np.asarray(a.sum(axis=1)).ravel()) - a)

    def components(self, mask: BoolArray | None = None) -> tuple[int, NDArray[np.int32]]:
        """Number of connected components and the component of each node, with the masked edges only."""
        u, v = (self.source, self.target) if mask is None else (self.source[mask], self.target[mask])
        a = sp.coo_array((np.ones(u.size, np.int8), (u, v)), shape=(self.n_nodes, self.n_nodes))
        count, member = connected_components(a, directed=False)
        return int(count), member

    def select(self, mask: BoolArray, weights: FloatArray | None = None) -> Graph:
        """The graph of the edges in `mask` on the same nodes.

        Parameters
        ----------
        mask : ndarray of bool, shape (M,)
            Edges to keep.
        weights : ndarray of float64, shape (M,), optional
            New weights of all M edges; those of dropped edges are not read.
        """
        mask = np.asarray(mask, bool)
        if mask.shape != (self.n_edges,):
            raise GraphError(f"a mask of shape {mask.shape} does not fit {self.n_edges} edges")
        u, v = self.source[mask], self.target[mask]
        if weights is not None:
            return replace(self, source=u, target=v, weights=weights[mask], weight_name=self.weight_name or "weight")
        kept = self.weights[mask] if self.is_weighted else unit_weights(u.size)
        return replace(self, source=u, target=v, weights=kept)


class Canonical(NamedTuple):
    """A canonical graph and how the table it came from maps to it.

    ``edges[i]`` is the number in `graph` of the i-th distinct edge of the table in order of first
    appearance, ``rows[i]`` the table's row where it first stands, and ``nodes[j]`` the number in
    `graph` of the table's node j. `notes` says what the policies did and where the weights come from.
    """

    graph: Graph
    edges: NDArray[np.int64]
    rows: NDArray[np.int64]
    nodes: NDArray[np.int64]
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class EdgeTable:
    """Edges as a user or a file gave them: one row an edge, in their order, with attributes.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    source, target : ndarray of int, shape (R,)
        Node numbers (positions in `labels`) of the ends of each row.
    labels : sequence of hashable or None
        Node labels in the user's order; None where node i is called i.
    directed : bool
        Whether a row is an arc.
    edge_attributes : mapping of str to sequence
        Columns of length R; None marks a missing entry in a column of objects.
    node_attributes : mapping of str to sequence
        Columns of length `n_nodes`, likewise.
    graph_attributes : mapping
        Attributes of the whole graph.
    row_name : callable, optional
        Says where a row stands (``"line 17"``), for error messages.
    """

    n_nodes: int
    source: IntArray
    target: IntArray
    labels: Sequence[Hashable] | None = None
    directed: bool = False
    edge_attributes: Mapping[str, Sequence[Any] | NDArray[Any]] = field(default_factory=dict)
    node_attributes: Mapping[str, Sequence[Any] | NDArray[Any]] = field(default_factory=dict)
    graph_attributes: Mapping[str, Any] = field(default_factory=dict)
    row_name: Callable[[int], str] | None = None

    def label(self, node: int) -> Hashable:
        """Label of a node number of this table."""
        return int(node) if self.labels is None else _plain(self.labels[node])

    def canonical(
        self,
        *,
        weight: str | None = "weight",
        directed: Directed = "refuse",
        loops: Loops = "refuse",
        parallel: Parallel = "refuse",
    ) -> Canonical:
        """Check the table and bring it into canonical form.

        Parameters
        ----------
        weight : str or None
            Column that holds the weights, where there is one; None ignores weights. A name other than
            ``"weight"`` must exist. A row without an entry weighs 1, and a note says so.
        directed : {"refuse", "symmetrize"}
            What to do with a directed table: opposite arcs become one edge, their weights added.
        loops : {"refuse", "drop"}
            What to do with self-loops.
        parallel : {"refuse", "sum", "max", "first"}
            What to do with rows that join the same two nodes.

        Raises
        ------
        GraphError
            For a directed table, self-loops, parallel edges, duplicate labels, and weights that are
            not positive and finite numbers, unless a policy says otherwise.
        OptionError
            For an unknown policy or weight column.
        """
        for name, value in (("directed", directed), ("loops", loops), ("parallel", parallel)):
            if value not in _POLICIES[name]:
                raise OptionError(f"{name}={value!r}: choose from {', '.join(map(repr, _POLICIES[name]))}")
        notes: list[str] = []
        nodes, labels = self._sorted_nodes()
        u, v = self.source, self.target
        if u.size and (min(u.min(), v.min()) < 0 or max(u.max(), v.max()) >= self.n_nodes):
            row = int(np.flatnonzero((np.minimum(u, v) < 0) | (np.maximum(u, v) >= self.n_nodes))[0])
            raise GraphError(
                f"{self._row(row)} joins {u[row]} and {v[row]}, but the nodes are numbered 0 to {self.n_nodes - 1}"
            )
        if self.directed and directed == "refuse":
            raise GraphError(
                f"the graph is directed ({u.size} arcs), and the entropies are defined for undirected graphs: "
                'pass directed="symmetrize" (--directed symmetrize) to join opposite arcs, adding their weights'
            )
        w = self._weights(weight, notes)
        rows = np.arange(u.size)
        is_loop = u == v
        if n_loops := int(np.count_nonzero(is_loop)):
            if loops == "refuse":
                row = int(np.argmax(is_loop))
                raise GraphError(
                    f"{n_loops} self-loop{'s' * (n_loops > 1)}, the first at {self._edge(row)}: "
                    'pass loops="drop" (--loops drop) to leave them out'
                )
            rows = np.flatnonzero(~is_loop)
            notes.append(f"{n_loops} self-loop{'s' * (n_loops > 1)} dropped")
        u, v = nodes[u[rows]], nodes[v[rows]]
        w = None if w is None else w[rows]
        low, high = np.minimum(u, v), np.maximum(u, v)
        order = np.lexsort((rows, high, low))
        low, high = low[order], high[order]
        first = np.ones(low.size, bool)
        first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
        if not first.all():
            backward = (u > v)[order]
            w_sorted = None if w is None else w[order]
            w_sorted = self._merge(rows[order], first, backward, w_sorted, parallel, notes)
        else:
            w_sorted = None if w is None else w[order]
            if self.directed:
                notes.append(f"{u.size} arcs taken as edges; no opposite arcs to join")
        first_rows = rows[order[first]]
        dtype = id_dtype(self.n_nodes)
        name = None if w is None else weight
        graph = Graph(
            self.n_nodes,
            _frozen(low[first].astype(dtype)),
            _frozen(high[first].astype(dtype)),
            unit_weights(first_rows.size) if w_sorted is None else _frozen(w_sorted),
            labels,
            name,
        )
        appearance = np.argsort(first_rows)
        return Canonical(graph, appearance, first_rows[appearance], nodes, tuple(notes))

    def _merge(
        self,
        rows: NDArray[np.int64],
        first: BoolArray,
        backward: BoolArray,
        w: FloatArray | None,
        parallel: Parallel,
        notes: list[str],
    ) -> FloatArray | None:
        """Join rows of the same edge; all arrays are sorted by edge, then row."""
        group = np.cumsum(first) - 1
        if self.directed:
            # Opposite arcs are joined by symmetrising; only repeats in one direction are parallel.
            by_arc = np.lexsort((rows, backward, group))
            g, b = group[by_arc], backward[by_arc]
            repeat = np.zeros(rows.size, bool)
            repeat[by_arc[1:]] = (g[1:] == g[:-1]) & (b[1:] == b[:-1])
        else:
            repeat = ~first
        n_repeats = int(np.count_nonzero(repeat))
        if n_repeats and parallel == "refuse":
            row = int(rows[repeat].min())
            raise GraphError(
                f"{n_repeats} parallel edge{'s' * (n_repeats > 1)}, the first repeat at {self._edge(row)}: "
                'pass parallel="sum", "max" or "first" (--parallel …) to join them'
            )
        n_pairs = int(np.count_nonzero(~first & ~repeat))
        if self.directed:
            notes.append(f"directed graph symmetrised: {n_pairs} pairs of opposite arcs joined, weights added")
        if n_repeats:
            how = {"sum": "weights added", "max": "largest weight kept", "first": "first weight kept"}[parallel]
            notes.append(f"{n_repeats} parallel edge{'s' * (n_repeats > 1)} joined, {how}")
        if w is None:
            return None
        if self.directed and n_repeats and parallel != "sum":
            arc = 2 * group + backward
            w = w.copy()
            if parallel == "max":
                best = np.zeros(2 * (group[-1] + 1))
                np.maximum.at(best, arc, w)
                w = best[arc]
            w[repeat] = 0.0
            merged = np.bincount(group, w)
        elif not self.directed and parallel == "max":
            merged = np.maximum.reduceat(w, np.flatnonzero(first))
        elif not self.directed and parallel == "first":
            merged = w[first]
        else:
            # Adding in order of size makes the sum independent of the order of the rows.
            by_size = np.lexsort((w, group))
            merged = np.bincount(group[by_size], w[by_size])
        if not np.isfinite(merged).all():
            row = int(rows[first][int(np.argmin(np.isfinite(merged)))])
            raise GraphError(f"the weights joined into {self._edge(row)} add up beyond the range of float64: rescale")
        return merged

    def _weights(self, weight: str | None, notes: list[str]) -> FloatArray | None:
        if weight is None:
            notes.append("weights ignored" if "weight" in self.edge_attributes else "unweighted")
            return None
        if weight not in self.edge_attributes:
            if weight != "weight":
                known = ", ".join(map(repr, self.edge_attributes)) or "none"
                raise OptionError(f"no edge has the attribute {weight!r} named as weight (edge attributes: {known})")
            notes.append("unweighted: no edge has the attribute 'weight'")
            return None
        column = self.edge_attributes[weight]
        values = np.asarray(column)
        if values.dtype.kind not in "fiub":
            values = self._numbers(column, weight, notes)
        elif values.dtype.kind == "b":
            raise GraphError(f"the weights {weight!r} are true/false, not numbers: pass weight=None to ignore them")
        w = values.astype(np.float64)
        bad = ~(np.isfinite(w) & (w > 0))
        if bad.any():
            row = int(np.argmax(bad))
            value = float(w[row])
            remedy = {
                True: "take absolute values (abs) or drop it",
                False: "remove the edge, or threshold the weights before",
            }[value < 0 and bool(np.isfinite(value))]
            count = int(np.count_nonzero(bad))
            more = f" ({count} such weights)" if count > 1 else ""
            raise GraphError(
                f"{self._edge(row)} has the weight {value!r}{more}; weights must be positive and finite: "
                f"{remedy}, or pass weight=None to ignore weights"
            )
        notes.insert(0, f"weights: {weight!r}" + (f", {notes.pop(0)}" if notes else ""))
        return w

    def _numbers(self, column: Sequence[Any] | NDArray[Any], weight: str, notes: list[str]) -> FloatArray:
        out = np.ones(len(column))
        missing = 0
        for row, value in enumerate(column):
            if value is None:
                missing += 1
                continue
            if isinstance(value, bool | np.bool_):
                raise GraphError(f"{self._edge(row)} has the weight {value!r}, which is not a number")
            try:
                out[row] = float(value)
            except (TypeError, ValueError, OverflowError):
                raise GraphError(
                    f"{self._edge(row)} has the weight {value!r}, which is not a number: "
                    "correct it, or pass weight=None to ignore weights"
                ) from None
        if missing:
            notes.append(f"{missing} of {len(column)} edges have none and weigh 1")
        return out

    def _sorted_nodes(self) -> tuple[NDArray[np.int64], Sequence[Hashable] | None]:
        if self.labels is None:
            return np.arange(self.n_nodes), None
        if len(self.labels) != self.n_nodes:
            raise GraphError(f"{len(self.labels)} labels for {self.n_nodes} nodes")
        labels = self.labels
        array = labels if isinstance(labels, np.ndarray) else None
        if array is not None and array.dtype.kind in "iuU":
            order = np.argsort(array, kind="stable")
            ordered: Sequence[Hashable] = cast("Sequence[Hashable]", array[order])
            if array.size > 1 and (repeats := array[order][1:][array[order][1:] == array[order][:-1]]).size:
                raise GraphError(f"the node label {_plain(repeats[0])!r} stands twice: labels must be unique")
            if array.dtype.kind in "iu" and np.array_equal(array[order], np.arange(array.size)):
                ordered_or_none = None
            else:
                ordered_or_none = ordered
        else:
            seen: set[Hashable] = set()
            for label in labels:
                if label in seen:
                    raise GraphError(f"the node label {label!r} stands twice: labels must be unique")
                seen.add(label)
            order = np.asarray(sorted(range(self.n_nodes), key=_label_key(labels)), dtype=np.int64)
            ordered = tuple(labels[i] for i in order)
            plain = all(type(x) is int for x in ordered) and ordered == tuple(range(self.n_nodes))
            ordered_or_none = None if plain else ordered
        nodes = np.empty(self.n_nodes, np.int64)
        nodes[order] = np.arange(self.n_nodes)
        return nodes, ordered_or_none

    def _row(self, row: int) -> str:
        return self.row_name(row) if self.row_name else f"edge number {row}"

    def _edge(self, row: int) -> str:
        where = f" ({self.row_name(row)})" if self.row_name else ""
        return f"edge ({self.label(int(self.source[row]))!r}, {self.label(int(self.target[row]))!r}){where}"


def unit_weights(size: int) -> FloatArray:
    """Read-only array of ones that takes no memory."""
    return np.broadcast_to(np.float64(1.0), (size,))


def _frozen(array: Any) -> Any:
    array.setflags(write=False)
    return array


def _plain(label: Any) -> Hashable:
    """The label as a Python object, so that messages don't read np.int64(3)."""
    return label.item() if isinstance(label, np.generic) else label


def _as_ids(values: ArrayLike, name: str) -> NDArray[np.int64]:
    ids = np.asarray(values)
    if ids.ndim != 1:
        raise GraphError(f"{name} must be one-dimensional, not of shape {ids.shape}")
    if ids.size and ids.dtype.kind not in "iu":
        raise GraphError(f"{name} holds {ids.dtype}, not integers: pass node numbers, and names as labels=")
    return ids.astype(np.int64)


def _label_key(labels: Sequence[Hashable]) -> Callable[[int], Any]:
    """Sort key of node positions: numbers by value, text by code point, other kinds by type, then text."""

    def kind(x: Hashable) -> str:
        if isinstance(x, int | float | np.number) and not isinstance(x, bool):
            return "number" if x == x else "nan"
        return "text" if isinstance(x, str) else type(x).__qualname__

    kinds = {kind(x) for x in labels}
    if kinds <= {"number"} or kinds <= {"text"}:
        return lambda i: labels[i]

    def key(i: int) -> tuple[str, Any]:
        x = labels[i]
        k = kind(x)
        return (k, x) if k in ("number", "text") else (k, repr(x))

    return key
