"""Solutions along β or along budgets as one object: its table, its picture, its points by β."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, SupportsIndex, overload

from graphpri import _sparsify
from graphpri._arguments import is_whole
from graphpri._output import aligned
from graphpri._output import table as html_table
from graphpri._sparsify import Sparsified
from graphpri.errors import OptionError, in_stages

if TYPE_CHECKING:
    from matplotlib.axes import Axes

P = ParamSpec("P")
_COLUMNS = ("beta", "keep", "edges_kept", "entropy", "divergence", "objective", "components_kept", "nodes_cut_off")


class SparsifiedPath(list[Sparsified]):
    """Results along β or along budgets: a list of them, in the order in which they were asked for.

    ``found[0]`` is the first, and ``found[4.0]``, a number with a point, the one at β = 4, or at a share of 0.2 where
    the budgets differ. ``found.at(4)`` takes whole numbers too.

    Examples
    --------
    >>> import networkx as nx
    >>> import graphpri
    >>> found = graphpri.path(nx.karate_club_graph(), keep=0.3, beta=[1, 4])
    >>> found
    SparsifiedPath(2 results, beta 1 to 4)
    >>> found[4.0] is found[1] is found.at(4)
    True
    >>> [row["edges_kept"] for row in found.table()]
    [23, 23]
    """

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Sparsified: ...

    @overload
    def __getitem__(self, index: float, /) -> Sparsified: ...

    @overload
    def __getitem__(self, index: slice, /) -> list[Sparsified]: ...

    def __getitem__(self, index: Any, /) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The result at a place, or at β (or a share) where the index is a float."""
        return self.at(index) if isinstance(index, float) else super().__getitem__(index)

    @property
    def along(self) -> str:
        """What differs: ``"beta"`` or ``"keep"``."""
        return "beta" if len({result.settings["keep"] for result in self}) < 2 else "keep"

    def at(self, value: float) -> Sparsified:
        """The result at β, or at a budget where the budgets differ.

        Parameters
        ----------
        value : float or int
            As it was asked for.

        Raises
        ------
        OptionError
            Where the path has no such point; lists those that it has.

        Examples
        --------
        >>> import networkx as nx
        >>> import graphpri
        >>> graphpri.path(nx.karate_club_graph(), keep=[10, 20]).at(20).kept.n_edges
        20
        """
        known = [result.settings[self.along] for result in self]
        for result, place in zip(self, known, strict=True):
            if place == value and (self.along == "beta" or is_whole(place) == is_whole(value)):
                return result
        raise OptionError(f"the path has no {self.along} {value!r}; it has {', '.join(map(repr, known))}")

    def table(self) -> list[dict[str, Any]]:
        """A row for each result: β, the budget, edges, S, D, J, components, nodes cut off.

        ``pandas.DataFrame(found.table())`` makes a data frame of it.

        Examples
        --------
        >>> import networkx as nx
        >>> import graphpri
        >>> rows = graphpri.path(nx.karate_club_graph(), keep=0.3, beta=[1, 4]).table()
        >>> list(rows[0])[:3]
        ['beta', 'keep', 'edges_kept']
        """
        reports = [result.report() for result in self]
        return [{name: report[name] for name in _COLUMNS} for report in reports]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the path: see :func:`graphpri.plot.path`.

        Examples
        --------
        >>> import networkx as nx
        >>> import graphpri
        >>> graphpri.path(nx.karate_club_graph(), keep=0.3, beta=[1, 4]).plot().get_xlabel()
        'β'
        """
        from graphpri import plot  # matplotlib is an extra

        return plot.path(self, ax)

    def __repr__(self) -> str:
        values = [result.settings[self.along] for result in self]
        return f"SparsifiedPath({len(self)} results, {self.along} {min(values):g} to {max(values):g})" if self else "[]"

    def __str__(self) -> str:
        rows = self.table()
        return "\n".join(aligned([_COLUMNS, *(list(row.values()) for row in rows)], left=0))

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return html_table(_COLUMNS, [list(row.values()) for row in self.table()])


def _of_path(function: Callable[P, list[Sparsified]]) -> Callable[P, SparsifiedPath]:
    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> SparsifiedPath:
        return in_stages(lambda: function(*args, **kwargs), SparsifiedPath)

    return called


path = _of_path(_sparsify.path)
