"""The registry of graph types, and what every type becomes: a canonical graph and a way back."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from graphpri._arguments import checked
from graphpri.errors import GraphError, OptionError, argument, setting
from graphpri.graph import (
    EVERY,
    BoolArray,
    Directed,
    EdgeTable,
    FloatArray,
    Graph,
    Loops,
    Negative,
    Order,
    Parallel,
    Zero,
    check_chosen,
    check_policies,
    listed,
    number_in,
    taken,
    unit_weights,
    weight_candidates,
)


@dataclass(frozen=True, repr=False)
class Policies:
    """How to read a graph: see :func:`as_graph`.

    Raises
    ------
    OptionError
        For an unknown policy, a weight that is neither a name nor None, and one of `source` and `target` alone.

    Examples
    --------
    >>> Policies(weight=None, loops="drop")
    Policies(weight=None, loops='drop')
    """

    weight: str | None = "weight"
    directed: Directed = "refuse"
    loops: Loops = "refuse"
    parallel: Parallel = "refuse"
    negative: Negative = "refuse"
    zero: Zero = "refuse"
    source: Hashable | None = None
    target: Hashable | None = None
    edge_attrs: Sequence[str] = ()

    def __post_init__(self) -> None:
        check_policies(**self.for_edges())
        check_chosen(self.source, self.target)
        names: Any = self.edge_attrs
        if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in cast("list[Any]", names)):
            raise OptionError(f"{argument('edge_attrs', names)}: pass a list of names")
        if self.weight is not None and not isinstance(cast("Any", self.weight), str):
            raise OptionError(
                f"{argument('weight', self.weight)}: name an edge attribute, or pass None to ignore weights"
            )

    def __repr__(self) -> str:
        changed = ((f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default)
        return f"Policies({', '.join(f'{name}={value!r}' for name, value in changed)})"

    def for_edges(self) -> dict[str, Any]:
        """The policies about edges, as keyword arguments of :meth:`EdgeTable.canonical`."""
        return {name: getattr(self, name) for name in ("directed", "loops", "parallel", "negative", "zero")}

    def for_type(self, G: Any) -> Policies:
        """The same, without what has no meaning for the type of an object: `source` and `target` name columns."""
        return self if self.source is None or _is_of(G, "pandas") else replace(self, source=None, target=None)


DEFAULT_POLICIES = Policies()


class Source(NamedTuple):
    """A canonical graph, how the input maps to it, and the way back to the input's type.

    Parameters
    ----------
    graph : Graph
        The canonical graph, N nodes and M edges.
    edges : ndarray of int, shape (M,), or ``slice(None)``
        Canonical number of the i-th distinct edge of the input, in order of first appearance; ``slice(None)``
        where the input's order is the canonical one. Either way an index: ``x[edges]``.
    nodes : ndarray of int, shape (N,), or ``slice(None)``
        Canonical number of the input's i-th node, likewise.
    notes : tuple of str
        Where the weights come from and what the policies did.
    rebuild : callable
        ``rebuild(mask, weights=None)`` takes a mask over the canonical edges, shape (M,), and gives an
        object of the input's type with the kept edges only; `weights`, shape (M,) in canonical order,
        replaces the weights. Weights that policies have changed or made (joined edges, absolute values) are
        written in any case, those that count parallel edges as ``"weight"``. Reads the input again, so
        call it before the input is changed.
    names : callable, optional
        ``names(label)`` gives the canonical numbers of the nodes that the input calls so beside their labels.
    candidates : tuple of str
        Columns of numbers that could be weights, where nothing was said and there are none.
    """

    graph: Graph
    edges: Order
    nodes: Order
    notes: tuple[str, ...]
    rebuild: Callable[..., Any]
    names: Callable[[Hashable], Sequence[int]] = lambda _: ()
    candidates: tuple[str, ...] = ()


Adapter = Callable[[Any, Policies], Source]
Build = Callable[[NDArray[Any], NDArray[Any] | None, str], Any]

_ADAPTERS: dict[str, Adapter] = {}
_ACCEPTED: list[str] = []
_COUNTS = np.empty(0, np.int64)


def accepts(what: str, *types: str) -> Callable[[Adapter], Adapter]:
    """Register a function that turns objects of some types into a :class:`Source`.

    Parameters
    ----------
    what : str
        The types in words, for error messages.
    *types : str
        ``"package.Class"`` with the top-level package; subclasses are found through their bases.

    Examples
    --------
    >>> import graphpri
    >>> from graphpri.graph import EdgeTable
    >>> class Ring:
    ...     size = 5
    >>> @accepts("a ring", "graphpri.Ring")
    ... def from_ring(ring, policies):
    ...     nodes = np.arange(ring.size)
    ...     table = EdgeTable(ring.size, nodes, (nodes + 1) % ring.size)
    ...     return from_table(table, lambda rows, weights, name: rows.tolist(), policies)
    >>> graphpri.sparsify(Ring(), keep=0.6).graph  # edges that are kept
    [0, 2, 4]
    >>> _ = _ADAPTERS.pop("graphpri.Ring"), _ACCEPTED.pop()
    """

    def register(adapter: Adapter) -> Adapter:
        _ADAPTERS.update(dict.fromkeys(types, adapter))
        _ACCEPTED.append(what)
        return adapter

    return register


def load(G: Any, policies: Policies = DEFAULT_POLICIES) -> Source:
    """Bring a graph of any accepted type into canonical form, with the way back; errors are those of :func:`as_graph`.

    Examples
    --------
    >>> load(np.ones((2, 2)), Policies(loops="drop")).graph
    Graph(2 nodes, 1 edges, weighted by 'weight')
    """
    if policies.source is not None and not _is_of(G, "pandas"):
        raise OptionError(
            f"{argument('source', policies.source)} and {argument('target', policies.target)} name columns of a data "
            f"frame, and have no meaning for {type(G).__name__}"
        )
    if policies.edge_attrs and not _is_of(G, "torch_geometric"):
        raise OptionError(
            f"{argument('edge_attrs', list(policies.edge_attrs))} names attributes of a PyTorch Geometric Data object, "
            f"and has no meaning for {type(G).__name__}"
        )
    return _adapter(G)(G, policies)


def _is_of(G: Any, library: str) -> bool:
    """Whether an object's class, or one that it comes from, is the library's."""
    return any(cls.__module__.partition(".")[0] == library for cls in type(G).__mro__)


@checked
def as_graph(
    G: Any,
    *,
    weight: str | None = "weight",
    directed: Directed = "refuse",
    loops: Loops = "refuse",
    parallel: Parallel = "refuse",
    negative: Negative = "refuse",
    zero: Zero = "refuse",
    source: Hashable | None = None,
    target: Hashable | None = None,
) -> Graph:
    """Bring a graph of any accepted type into canonical form.

    Parameters
    ----------
    G : object
        A :class:`Graph` (returned as it is), an :class:`EdgeTable`, a graph of networkx, igraph or
        NetworKit, a square SciPy sparse or NumPy array (0 is no edge), a pandas DataFrame (an edge list,
        or an adjacency matrix with index equal to columns), or a ``torch_geometric`` ``Data``.
    weight : str or None
        Edge attribute that holds the weights, where edges have it; None ignores weights. Any name but
        the default must exist. The entries of a matrix are its weights, unless they are true/false. PyG's
        ``edge_weight`` and the weights of NetworKit go by the default name, and so do those of a
        :class:`Graph`, whatever they are called.
    directed : {"refuse", "symmetrize", "average"}
        ``"symmetrize"`` joins opposite arcs into one edge and adds their weights, if they have any;
        ``"average"`` takes the mean of the two directions, of which a missing one counts 0, as (A + A.T) / 2 does;
        attributes are those of the arc that comes first. A matrix, or a PyG ``edge_index``, is directed
        where it is not symmetric. Mirrored entries of a matrix that differ by rounding only (10⁻⁸ of the larger one,
        10⁻¹² of the largest entry; 10⁻⁵ and 10⁻⁶ in float32) are averaged in any case, and a note says so.
    loops : {"refuse", "drop"}
        What to do with self-loops. A diagonal of equal entries in a symmetric matrix, such as the ones of
        correlations, is none: it is left out, and a note says so.
    parallel : {"refuse", "sum", "max", "first"}
        How to join edges between the same two nodes; attributes are those of the first. Where edges have
        no weights, ``"sum"`` makes their number the weight, called ``"multiplicity"``.
    negative : {"refuse", "abs", "drop"}
        What to do with edges of negative weight, such as negative correlations: ``"abs"`` takes absolute values, which
        kept graphs then have too. A note counts them. Edges that are joined are so afterwards.
    zero : {"refuse", "drop"}
        What to do with edges of weight 0: ``"drop"`` leaves them out, and a note counts them. Zeros of a dense matrix
        are no edges in any case.
    source, target : hashable, optional
        The columns of a data frame that hold the two ends of an edge. Where absent, they are found by their names, and
        in frames of two or three columns without such names they are the first two, the third being the weight.

    Raises
    ------
    GraphError
        For an object of another type, directed graphs, self-loops, parallel edges and weights that are
        not positive and finite numbers, unless a policy says otherwise; names the edge.
    OptionError
        For an unknown policy and for a weight attribute that no edge has.

    Examples
    --------
    >>> import numpy as np
    >>> as_graph(np.array([[0, 2, 0], [2, 0, 1], [0, 1, 0]]))
    Graph(3 nodes, 2 edges, weighted by 'weight')
    """
    return load(G, Policies(weight, directed, loops, parallel, negative, zero, source, target)).graph


def from_table(
    table: EdgeTable, build: Build, policies: Policies, *, weight: str | None = None, notes: tuple[str, ...] = ()
) -> Source:
    """Make a source of a table, and of a function that builds the input's type from rows of the table.

    Parameters
    ----------
    table : EdgeTable
    build : callable
        ``build(rows, weights, name)``: rows of the table to keep, ascending; their new weights or None
        (integers where the column's own integers were added up); the attribute to put them in.
    policies : Policies
    weight : str, optional
        Column that holds the weights, where it isn't called as `policies.weight` says.
    notes : tuple of str
        Said in addition.

    Examples
    --------
    >>> from graphpri.graph import EdgeTable
    >>> table = EdgeTable(3, np.array([0, 1]), np.array([1, 2]), edge_attributes={"weight": np.array([2.0, 1.0])})
    >>> source = from_table(table, lambda rows, weights, name: rows.tolist(), Policies())
    >>> source.graph
    Graph(3 nodes, 2 edges, weighted by 'weight')
    >>> source.rebuild(np.array([False, True]))
    [1]
    """
    column = policies.weight if policies.weight is None or weight is None else weight
    unknown = column == "weight" and column not in table.edge_attributes
    candidates = tuple(weight_candidates(table.edge_attributes)) if unknown else ()
    for option in ("negative", "zero"):
        if (value := getattr(policies, option)) != "refuse":
            refuse_unweighted(candidates, argument(option, value))
    graph, edges, rows, nodes, reweighted, said = table.canonical(weight=column, **policies.for_edges())
    # Weights that count parallel edges have no column yet: they go where the default name says.
    name = column or "weight"
    own = _joined_weights(graph.weights, table.edge_attributes.get(name, _COUNTS)) if reweighted else None

    def rebuild(mask: BoolArray, weights: FloatArray | None = None) -> Any:
        kept = taken(_checked(mask, graph), edges)
        w = own if weights is None else np.asarray(weights, np.float64)
        return build(listed(rows, kept), None if w is None else w[number_in(edges, kept)], name)

    return Source(graph, edges, nodes, said + notes, rebuild, candidates=() if graph.is_weighted else candidates)


_NAMED = 5  # columns that an error names at most


def refuse_unweighted(candidates: Sequence[str], what: str) -> None:
    """Refuse what reads weights, such as a method, where there are none but columns that could be some."""
    if candidates:
        raise OptionError(
            f"{what} needs weights, and no edge has the attribute 'weight': pass "
            f"{setting('weight', *candidates[:_NAMED])}, or {setting('weight', None)} to go without weights"
        )


def fit_dtype(weights: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """New weights in the old weights' dtype where that holds them, as they are otherwise."""
    if dtype.kind not in ("iu" if weights.dtype.kind in "iu" else "f"):
        return weights
    with np.errstate(over="ignore", under="ignore"):
        fitted = weights.astype(dtype)
    lost = ~np.isfinite(fitted) | (fitted == 0) if dtype.kind == "f" else fitted != weights
    return weights if lost.any() else fitted


def take(column: Sequence[Any] | NDArray[Any], rows: NDArray[np.int64]) -> Sequence[Any] | NDArray[Any]:
    """Entries of an attribute column."""
    return column[rows] if isinstance(column, np.ndarray) else [column[i] for i in rows.tolist()]


def _adapter(G: Any) -> Adapter:
    for cls in type(G).__mro__:
        key = f"{cls.__module__.partition('.')[0]}.{cls.__name__}"
        if key in _ADAPTERS:
            return _ADAPTERS[key]
    if isinstance(G, str | os.PathLike):
        raise GraphError(f"{os.fspath(G)!r} is a path or name, not a graph: read it first with graphpri.read")
    module = type(G).__module__
    home = "graphpri" if module.startswith("graphpri._") else module
    kind = f"{home}.{type(G).__qualname__}".removeprefix("builtins.")
    hint = "; for a list of edges use Graph.from_edges(source, target)" if isinstance(G, list | tuple | dict) else ""
    raise GraphError(f"can't read a graph from {kind}: pass {', '.join(_ACCEPTED)}{hint}")


def _checked(mask: BoolArray, graph: Graph) -> BoolArray:
    mask = np.asarray(mask, bool)
    if mask.shape != (graph.n_edges,):
        raise GraphError(f"a mask of shape {mask.shape} does not fit {graph.n_edges} edges")
    return mask


def _joined_weights(weights: FloatArray, column: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    whole = np.asarray(column).dtype.kind in "iu" and bool(((weights < 2**53) & (weights == np.floor(weights))).all())
    return weights.astype(np.int64) if whole else weights


@accepts("a graphpri Graph", "graphpri.Graph")
def from_graph(G: Graph, policies: Policies) -> Source:
    """A canonical graph as it is; ``weight=None`` takes its weights off."""
    weight = policies.weight
    if weight not in (None, "weight", G.weight_name):
        own = f"its weights are called {G.weight_name!r}" if G.is_weighted else "it is unweighted"
        raise OptionError(f"{argument('weight', weight)}: the Graph has no such weights; {own}")
    graph = G
    if weight is None and G.is_weighted:
        graph = replace(G, weights=unit_weights(G.n_edges), weight_name=None)
        note = "weights ignored"
    else:
        note = f"weights: {G.weight_name!r}" if G.is_weighted else "unweighted"

    def rebuild(mask: BoolArray, weights: FloatArray | None = None) -> Graph:
        return G.select(mask, weights)

    return Source(graph, EVERY, EVERY, (note,), rebuild)


@accepts("a graphpri EdgeTable", "graphpri.EdgeTable")
def from_edge_table(T: EdgeTable, policies: Policies) -> Source:
    """Rows of a table, with all their columns; a symmetrised one comes back undirected."""

    def build(rows: NDArray[np.int64], weights: NDArray[Any] | None, name: str) -> EdgeTable:
        columns = {key: take(column, rows) for key, column in T.edge_attributes.items()}
        if weights is not None:
            columns[name] = fit_dtype(weights, np.asarray(T.edge_attributes.get(name, weights)).dtype)
        u, v = T.source[rows], T.target[rows]
        return replace(T, source=u, target=v, directed=False, edge_attributes=columns, row_name=None, notes=())

    return from_table(T, build, policies)


# Attributes of the nodes, in the order of the canonical ones.


def node_columns(G: Any) -> Iterable[tuple[str, Sequence[Any]]]:
    """Names and values of the attributes of an edge table's, a networkx or an igraph graph's nodes, in its order."""
    if isinstance(G, EdgeTable):
        return [(name, list(column)) for name, column in G.node_attributes.items()]
    kind = type(G).__module__.partition(".")[0]
    if kind == "networkx":
        data: list[dict[Any, Any]] = [d for _, d in G.nodes(data=True)]
        names = dict.fromkeys(str(name) for d in data for name in d)
        return [(name, [{str(k): v for k, v in d.items()}.get(name) for d in data]) for name in names]
    if kind == "igraph":
        return [(str(name), list(G.vs[name])) for name in G.vs.attributes()]
    return []


def in_node_order(source: Source, name: str, values: Any) -> list[Any]:
    """Values given by label, or in the order of the input's nodes, in the order of the canonical ones.

    Raises
    ------
    OptionError
        For another number of values than there are nodes.
    """
    graph = source.graph
    if isinstance(values, Mapping):
        by_label = cast("Mapping[Any, Any]", values)
        return [by_label.get(graph.label(i)) for i in range(graph.n_nodes)]
    listed: list[Any] = list(values)
    if len(listed) != graph.n_nodes:
        raise OptionError(f"attributes: {name!r} has {len(listed)} values for {graph.n_nodes} nodes")
    held: list[Any] = [None] * graph.n_nodes
    for place, value in zip(np.arange(graph.n_nodes)[source.nodes].tolist(), listed, strict=True):
        held[place] = value
    return held
