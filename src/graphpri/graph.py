"""The canonical graph, and the table of edges that every format becomes on its way to it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from graphpri.errors import GraphError, OptionError
from graphpri.labels import order_labels, plain_label
from graphpri.memory import require
from graphpri.rows import EVERY, Order, SortedRows, inverse, join_weights, listed, sort_rows
from graphpri.weights import read_weights

Directed = Literal["refuse", "symmetrize"]
Loops = Literal["refuse", "drop"]
Parallel = Literal["refuse", "sum", "max", "first"]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.integer[Any]]
BoolArray = NDArray[np.bool_]

MULTIPLICITY = "multiplicity"
"""Name of the weights that count the parallel edges of an unweighted graph."""

MOST_EDGES = 2**31 - 1
"""Most edges that a graph can have."""

_MANY = 1 << 20
_NODE_BYTES = 16  # the least that any use of the graph takes
_POLICIES = {"directed": get_args(Directed), "loops": get_args(Loops), "parallel": get_args(Parallel)}
_JOINED = {
    "sum": "weights added",
    "max": "largest weight kept",
    "first": "first weight kept",
    "count": "their number kept as weight",
}


def id_dtype(n_nodes: int) -> np.dtype[Any]:
    """Smallest signed integer type used for the ids of `n_nodes` nodes (4 or 8 bytes)."""
    return np.dtype(np.int32 if n_nodes <= np.iinfo(np.int32).max else np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """Undirected simple graph with positive weights, in canonical form.

    Nodes are numbered in the order of their labels and edges are sorted, so that two descriptions of
    the same labelled graph give the same arrays, whatever the order in which they list it (but see
    `labels`). Build one with :func:`graphpri.as_graph` or :meth:`Graph.from_edges`.

    Parameters
    ----------
    n_nodes : int
        Number of nodes N, isolated ones included.
    source, target : ndarray of int, shape (M,)
        End points of each edge, ``source < target``, sorted by (source, target).
    weights : ndarray of float64, shape (M,)
        Positive finite edge weights μ; a read-only view of a single 1.0 where the graph is unweighted.
    labels : sequence of hashable or None
        Label of each node; None where node i is called i. Numbers, text, tuples and frozensets of these, and
        whatever has a ``repr`` that says the same in every process are sorted; where some label can't be
        (an object that prints its memory address), the nodes keep the order in which they were given.
    weight_name : str or None
        Where the weights come from; ``"multiplicity"`` where they count the parallel edges of an unweighted
        graph, None where the graph is unweighted.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1, 2], [1, 2, 0], [2.0, 1.0, 1.0], labels=["a", "b", "c"])
    >>> graph
    Graph(3 nodes, 3 edges, weighted by 'weight')
    >>> graph.edge_labels(0), graph.degrees(), graph.strengths()
    (('a', 'b'), array([2, 2, 2]), array([3., 3., 2.]))
    >>> graph.select(graph.weights < 2).n_edges
    2
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
        return int(node) if self.labels is None else plain_label(self.labels[node])

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
        return cast("FloatArray", ends + np.bincount(self.target, self.weights, self.n_nodes))

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
    `graph` of the table's node j. Each of them is an array of int, or ``slice(None)`` where the numbers are
    0, 1, 2 and so on: either way an index, so that ``x[edges]`` brings what belongs to the graph's edges into
    the table's order (as a view of x in the second case). `notes` says what the policies did and where the
    weights come from.
    """

    graph: Graph
    edges: Order
    rows: Order
    nodes: Order
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
        Node labels in the user's order; None where node i is called i. Labels that can't be sorted the
        same way in every process, such as objects that print their memory address, stay in this order.
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

    Examples
    --------
    >>> rows = np.array([0, 1, 0]), np.array([1, 0, 2])
    >>> table = EdgeTable(3, *rows, labels=["a", "b", "c"], edge_attributes={"calls": [4, 1, 2]})
    >>> joined = table.canonical(weight="calls", parallel="sum")
    >>> joined.graph.weights, joined.notes
    (array([5., 2.]), ("weights: 'calls'", '1 parallel edge joined, weights added'))
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
        return int(node) if self.labels is None else plain_label(self.labels[node])

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
            What to do with a directed table: opposite arcs become one edge, their weights added. Without
            weights the edge has none either.
        loops : {"refuse", "drop"}
            What to do with self-loops.
        parallel : {"refuse", "sum", "max", "first"}
            What to do with rows that join the same two nodes (in the same direction, where rows are arcs).
            ``"sum"`` adds their weights; where the table has none, every row counts 1, so that an edge
            weighs as much as it has rows, and the weights are called ``"multiplicity"``.

        Raises
        ------
        GraphError
            For a directed table, self-loops, parallel edges, duplicate labels, and weights that are
            not positive and finite numbers, unless a policy says otherwise.
        OptionError
            For an unknown policy or weight column.
        """
        check_policies(directed=directed, loops=loops, parallel=parallel)
        self._check_size()
        nodes, labels = self._number_nodes()
        self._check_ends()
        if self.directed and directed == "refuse":
            raise GraphError(
                f"the graph is directed ({self.source.size} arc{'s' * (self.source.size > 1)}), and the entropies are "
                'defined for undirected graphs: pass directed="symmetrize" (--directed symmetrize) to join opposite '
                "arcs, adding their weights"
            )
        w, origin = read_weights(self.edge_attributes, weight, self._edge)
        rows, loop_notes = self._without_loops(loops)
        u, v = (self._renumbered(ids, nodes)[rows] for ids in (self.source, self.target))
        found = sort_rows(u, v, rows, directed=self.directed)
        self._check_parallel(found, parallel)
        name = None if w is None else weight
        if counted := w is None and weight is not None and parallel == "sum" and not _all_new(found):
            w, name = np.ones(self.source.size), MULTIPLICITY
            origin = f"weights: {MULTIPLICITY!r}, the number of parallel edges joined"
        edges, firsts = _appearance(found, rows, self.source.size)
        low, high = (_owned(_first(x, found), y) for x, y in ((found.low, self.source), (found.high, self.target)))
        weights = unit_weights(low.size)
        if w is not None:
            weights = _owned(self._join(found, w[found.rows], parallel), self.edge_attributes.get(name or ""))
        graph = Graph(self.n_nodes, low, high, weights, labels, name)
        notes = (
            origin,
            *loop_notes,
            *self._join_notes(found, "count" if counted else parallel, weighted=w is not None),
        )
        return Canonical(graph, edges, firsts, nodes, notes)

    def _check_size(self) -> None:
        """Refuse tables beyond the library's limits, and those that there is not the memory for."""
        n, size = self.n_nodes, self.source.size
        if size > MOST_EDGES:
            raise GraphError(
                f"{size} edges are too many: a graph can have {MOST_EDGES}, as many as 4-byte numbers count"
            )
        if n > _MANY:
            remedy = "number the nodes without gaps, if most have no edge, with their names in labels"
            require(_NODE_BYTES * n, f"a graph of {n} nodes", remedy)

    def _number_nodes(self) -> tuple[Order, Sequence[Hashable] | None]:
        """Canonical number of each node, and the labels in canonical order."""
        if self.labels is None:
            return EVERY, None
        if len(self.labels) != self.n_nodes:
            raise GraphError(f"{len(self.labels)} labels for {self.n_nodes} nodes")
        order, labels = order_labels(self.labels)
        if np.array_equal(order, np.arange(self.n_nodes)):
            return EVERY, labels
        nodes = np.empty(self.n_nodes, id_dtype(self.n_nodes))
        nodes[order] = np.arange(self.n_nodes)
        return nodes, labels

    def _renumbered(self, ids: IntArray, nodes: Order) -> IntArray:
        return ids.astype(id_dtype(self.n_nodes), copy=False) if isinstance(nodes, slice) else nodes[ids]

    def _check_ends(self) -> None:
        u, v, top = self.source, self.target, self.n_nodes - 1
        if u.size and (min(u.min(), v.min()) < 0 or max(u.max(), v.max()) > top):
            row = int(np.argmax((np.minimum(u, v) < 0) | (np.maximum(u, v) > top)))
            raise GraphError(f"{self._row(row)} joins {u[row]} and {v[row]}, but the nodes are numbered 0 to {top}")

    def _without_loops(self, loops: Loops) -> tuple[Order, list[str]]:
        is_loop = self.source == self.target
        count = int(np.count_nonzero(is_loop))
        if not count:
            return EVERY, []
        if loops == "refuse":
            raise GraphError(
                f"{_count(count, 'self-loop')}, the first at {self._edge(int(np.argmax(is_loop)))}: "
                'pass loops="drop" (--loops drop) to leave them out'
            )
        return np.flatnonzero(~is_loop), [f"{_count(count, 'self-loop')} dropped"]

    def _check_parallel(self, found: SortedRows, parallel: Parallel) -> None:
        if parallel != "refuse" or _all_new(found):
            return
        repeats = listed(found.rows, found.repeat)
        if repeats.size:
            raise GraphError(
                f"{_count(repeats.size, 'parallel edge')}, the first repeat at {self._edge(int(repeats.min()))}: "
                'pass parallel="sum", "max" or "first" (--parallel …) to join them'
            )

    def _join(self, found: SortedRows, w: FloatArray, parallel: Parallel) -> FloatArray:
        joined = join_weights(w, found, "sum" if parallel == "refuse" else parallel)
        if not np.isfinite(joined).all():
            row = int(listed(found.rows, found.first)[int(np.argmin(np.isfinite(joined)))])
            raise GraphError(f"the weights joined into {self._edge(row)} add up beyond the range of float64: rescale")
        return joined

    def _join_notes(self, found: SortedRows, how: str, *, weighted: bool) -> list[str]:
        """Which rows were joined, and what became of their weights."""
        notes: list[str] = []
        repeats = 0 if found.distinct else int(np.count_nonzero(found.repeat))
        pairs = 0 if found.distinct else int(np.count_nonzero(~found.first)) - repeats
        if self.directed and pairs:
            added = ", weights added" if weighted else ""
            notes.append(f"directed graph symmetrised: {_count(pairs, 'pair')} of opposite arcs joined{added}")
        elif self.directed:
            arcs = int(np.count_nonzero(found.first))
            notes.append(f"directed graph symmetrised: {_count(arcs, 'arc')} taken as edges, no opposite arcs to join")
        if repeats:
            kept = _JOINED[how] if weighted else "their number not kept"
            notes.append(f"{_count(repeats, 'parallel edge')} joined, {kept}")
        return notes

    def _row(self, row: int) -> str:
        return self.row_name(row) if self.row_name else f"edge number {row}"

    def _edge(self, row: int) -> str:
        where = f" ({self.row_name(row)})" if self.row_name else ""
        return f"edge ({self.label(int(self.source[row]))!r}, {self.label(int(self.target[row]))!r}){where}"


def check_policies(*, directed: str, loops: str, parallel: str) -> None:
    """Refuse a policy that there isn't, with an OptionError that lists those there are."""
    for name, value in (("directed", directed), ("loops", loops), ("parallel", parallel)):
        if value not in _POLICIES[name]:
            raise OptionError(f"{name}={value!r}: choose from {', '.join(map(repr, _POLICIES[name]))}")


def unit_weights(size: int) -> FloatArray:
    """Read-only array of ones that takes no memory."""
    return np.broadcast_to(np.float64(1.0), (size,))


def _all_new(found: SortedRows) -> bool:
    """Whether no arc (no edge, where rows have no direction) stands twice."""
    return found.distinct or not found.repeat.any()


def _first(values: IntArray, found: SortedRows) -> IntArray:
    return values if found.distinct else values[found.first]


def _appearance(found: SortedRows, rows: Order, size: int) -> tuple[Order, Order]:
    """Number of each edge in order of first appearance, and the row where it first stands."""
    if found.rows is rows:
        return EVERY, rows
    place = first = cast("IntArray", found.rows) if found.distinct else listed(found.rows, found.first)
    if not (found.distinct and isinstance(rows, slice)):
        stands = np.zeros(size, bool)
        stands[first] = True
        rows = np.flatnonzero(stands)
        place = np.cumsum(stands, dtype=first.dtype)[first] - 1
    return inverse(place), rows


def _owned(array: Any, given: Any) -> Any:
    """Make an array read-only; copied before, where it is (part of) a given one that somebody may change."""
    if isinstance(given, np.ndarray) and np.may_share_memory(array, given):
        array = array.view(np.ndarray) if _is_constant(given) else array.copy()
    array.setflags(write=False)
    return array


def _is_constant(array: Any) -> bool:
    """Whether neither the array nor one that it is a view of can be written to."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return False
        array = array.base
    return True


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _as_ids(values: ArrayLike, name: str) -> IntArray:
    ids = np.asarray(values)
    if ids.ndim != 1:
        raise GraphError(f"{name} must be one-dimensional, not of shape {ids.shape}")
    if ids.size and ids.dtype.kind not in "iu":
        raise GraphError(f"{name} holds {ids.dtype}, not integers: pass node numbers, and names as labels=")
    if ids.dtype == np.uint64 and ids.size and ids.max() > np.iinfo(np.int64).max:
        raise GraphError(f"{name} holds {ids.max()}, beyond 64-bit integers: number the nodes from 0, names in labels=")
    return ids.astype(np.int32 if ids.dtype == np.int32 else np.int64, copy=False)
