"""Errors that users meet; each message names what is at fault and what to do."""


class GraphPRIError(Exception):
    """Base class of every error that graphpri raises on purpose.

    Examples
    --------
    >>> import graphpri
    >>> try:
    ...     graphpri.as_graph("friends.csv")
    ... except graphpri.GraphPRIError as error:
    ...     print(type(error).__name__, isinstance(error, ValueError))
    GraphError True
    """


class GraphError(GraphPRIError, ValueError):
    """The graph is not one that can be sparsified: names the edge or node at fault.

    Examples
    --------
    >>> from graphpri import Graph
    >>> Graph.from_edges([0, 1], [1, 1])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    graphpri.errors.GraphError: 1 self-loop, the first at edge (1, 1): pass loops="drop" (--loops ...
    """


class OptionError(GraphPRIError, ValueError):
    """An option has a value, or a combination with others, that can't be used.

    Examples
    --------
    >>> from graphpri import Graph, sparsify
    >>> sparsify(Graph.from_edges([0, 1], [1, 2]), keep=3)
    Traceback (most recent call last):
        ...
    graphpri.errors.OptionError: keep=3 is not a count from 1 to the graph's 2 edges
    """


class FileError(GraphPRIError, ValueError):
    """A file can't be read or written: names the file and, where there is one, the line.

    Examples
    --------
    >>> from graphpri import read
    >>> read("friends.csv")
    Traceback (most recent call last):
        ...
    graphpri.errors.FileError: friends.csv: there is no such file
    """


class MemoryLimitError(GraphPRIError, MemoryError):
    """Work needs more memory than there is: says how much, and how to go on.

    Examples
    --------
    >>> raise MemoryLimitError("a matrix of all pairs needs about 909494.7 TB of memory")
    Traceback (most recent call last):
        ...
    graphpri.errors.MemoryLimitError: a matrix of all pairs needs about 909494.7 TB of memory
    """


class MissingExtraError(GraphPRIError, ImportError):
    """An optional library is not installed: names the extra that brings it.

    Examples
    --------
    >>> raise MissingExtraError("matplotlib", "plot", "drawing")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    graphpri.errors.MissingExtraError: drawing needs matplotlib, which is not installed: pip install ...
    """

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {library}, which is not installed: pip install 'graphpri[{extra}]'")
