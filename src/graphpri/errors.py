"""Errors that users meet; each message names what is at fault and what to do.

A message names arguments of functions by :func:`argument` and :func:`setting`, so that whoever shows it can word them:
``loops="drop"`` in Python, ``--loops drop`` on the command line. In between they stand in the text as marks made of
characters that Unicode sets aside for use within a program, and that no file has; so a message may hold anything that
a user wrote, braces and dashes included, and passes through f-strings as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from numbers import Integral
from typing import Any, Self, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_NAME, _VALUE, _OPTION, _END = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3"
_MARK = re.compile(f"{_NAME}([a-z_]+){_VALUE}([^{_END}]*?){_OPTION}([^{_END}]*){_END}", re.DOTALL)
_LONGEST = 200
_PLAIN = re.compile(r"[\w.:+-]+")


def argument(name: str, value: object, spec: str | None = None) -> str:
    """Name an argument in a message, as it was given: ``keep=3``.

    Parameters
    ----------
    name : str
        Of the argument.
    value : object
        What was passed.
    spec : str, optional
        How to format the value; its ``repr`` where absent.

    Examples
    --------
    >>> error = OptionError(f"{argument('keep', 3)} is not a count from 1 to the graph's 2 edges")
    >>> print(error, error.option, error.value)
    keep=3 is not a count from 1 to the graph's 2 edges keep 3
    >>> error.worded(lambda name, value: f"--{name} {value}")
    "--keep 3 is not a count from 1 to the graph's 2 edges"
    """
    text = format(value, spec) if spec is not None else _written(value)
    return _mark(name, f"{name}={text}", value if spec is None else text)


def setting(name: str, *values: object, python: str | None = None) -> str:
    """Name an argument in a message, as it should be passed: ``loops="drop"``, one of several, or ``keep=`` alone.

    Parameters
    ----------
    name : str
        Of the argument.
    *values : object
        What may be passed.
    python : str, optional
        What to say in Python, where there is no such argument.

    Examples
    --------
    >>> error = GraphError(f"1 self-loop: pass {setting('loops', 'drop')} to leave it out")
    >>> print(error)
    1 self-loop: pass loops="drop" to leave it out
    >>> error.worded(lambda name, value: f"--{name} {value}")
    '1 self-loop: pass --loops drop to leave it out'
    >>> print(OptionError(f"pass {setting('keep')}, or {setting('parallel', 'sum', 'max', 'first')}"))
    pass keep=, or parallel="sum", "max" or "first"
    """
    return _mark(name, python or f"{name}={_choices(list(map(_quoted, values)))}", *values)


def named(name: str) -> str:
    """Name an argument in a message without a value: ``time_limit``.

    Examples
    --------
    >>> error = OptionError(f"method 'random' does not use {named('time_limit')}")
    >>> print(error)
    method 'random' does not use time_limit
    """
    return _mark(name, name)


def worded(message: str, word: Callable[[str, str], str | None] | None = None) -> str:
    """A message with its arguments in words.

    Parameters
    ----------
    message : str
        With marks of :func:`argument`, :func:`setting` and :func:`named`, or without.
    word : callable, optional
        ``word(name, value)`` gives the words for an argument, where None means those of Python. The value is
        ``"True"``, ``"False"`` or ``"none"`` for those, and empty where there is none.

    Examples
    --------
    >>> worded(f"pass {setting('connected', True)}")
    'pass connected=True'
    """

    def replace(found: re.Match[str]) -> str:
        name, python, value = found.groups()
        words = None if word is None else word(name, value)
        return python if words is None else words

    return _MARK.sub(replace, message)


def _mark(name: str, python: str, *values: object) -> str:
    texts = [_bare(value) for value in values]
    return f"{_NAME}{name}{_VALUE}{python}{_OPTION}{_choices(texts)}{_END}"


def joined(words: Sequence[str], last: str) -> str:
    """Words in a sentence, with "and" or "or" before the last.

    Examples
    --------
    >>> joined(["a", "b", "c"], "and"), joined(["a"], "or")
    ('a, b and c', 'a')
    """
    return f" {last} ".join([*([", ".join(words[:-1])] if len(words) > 1 else []), *words[-1:]])


def _choices(texts: list[str]) -> str:
    return joined(texts, "or")


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _bare(value: object) -> str:
    """The value as a shell takes it: without quotes, where it needs none."""
    if value is None:
        return "none"
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) else repr(value)
    return _written(value)


def _written(value: object) -> str:
    """The value as in Python, cut where it is long; numbers of NumPy like those of Python."""
    text = str(value) if isinstance(value, float | Integral) else repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 20]} … {text[-15:]}"


class Note(str):
    """Text that names arguments by :func:`argument` and :func:`setting`, in the words of Python.

    Attributes
    ----------
    message : str
        The text with its marks.

    Examples
    --------
    >>> Note(f"other columns: n_scenes; {setting('weight', 'n_scenes')}")
    'other columns: n_scenes; weight="n_scenes"'
    """

    message: str

    def __new__(cls, message: str) -> Self:
        note = super().__new__(cls, worded(message))
        note.message = message
        return note


def marked(text: str) -> str:
    """A text with the marks that it has as a :class:`Note`, for messages that are yet to be worded."""
    return text.message if isinstance(text, Note) else text


def did_you_mean(name: object, known: Iterable[str], likeness: float = 0.5) -> str:
    """The end of a message about a name that there isn't, which suggests the closest of those known.

    Parameters
    ----------
    name : object
        What was passed.
    known : iterable of str
        The names there are.
    likeness : float
        How like the name the closest must be, from 0 to 1; nothing is said where it isn't.

    Examples
    --------
    >>> did_you_mean("karat", ["karate", "jazz"]), did_you_mean("xyz", ["karate", "jazz"])
    ("; did you mean 'karate'?", '')
    """
    from difflib import get_close_matches

    closest = get_close_matches(str(name), list(known), 1, likeness)
    return f"; did you mean {closest[0]!r}?" if closest else ""


class GraphPRIError(Exception):
    """Base class of every error that graphpri raises on purpose.

    Parameters
    ----------
    message : str
        What is at fault and what to do; arguments are named by :func:`argument` and :func:`setting`.
    where : str, optional
        The file or input at fault, which stands before the message.

    Attributes
    ----------
    option, value : str or None
        The argument that the message names first, and its value as text.
    where : str or None
        The file or input at fault.
    message : str
        The message with its marks, to be used in that of another error.

    Examples
    --------
    >>> import graphpri
    >>> try:
    ...     graphpri.as_graph("friends.csv")
    ... except graphpri.GraphPRIError as error:
    ...     print(type(error).__name__, isinstance(error, ValueError))
    GraphError True
    """

    def __init__(self, message: str, *, where: str | None = None) -> None:
        self.where = where
        self.message = message if where is None else f"{where}: {message}"
        super().__init__(worded(self.message))

    @property
    def option(self) -> str | None:
        """Name of the argument that the message names first."""
        return self._first[0]

    @property
    def value(self) -> str | None:
        """Its value as text."""
        return self._first[1]

    @property
    def _first(self) -> tuple[str | None, str | None]:
        found = _MARK.search(self.message)
        return (found[1], found[2].partition("=")[2] or None) if found else (None, None)

    def worded(self, word: Callable[[str, str], str | None]) -> str:
        """The message with arguments worded by a function; see :func:`worded`."""
        return worded(self.message, word)

    def at(self, where: str) -> Self:
        """Say that the error is about a file or input, whose name comes before the message; gives the error itself."""
        self.where, self.message = where, f"{where}: {self.message}"
        self.args = (worded(self.message),)
        return self


class GraphError(GraphPRIError, ValueError):
    """The graph is not one that can be sparsified: names the edge or node at fault.

    Examples
    --------
    >>> from graphpri import Graph
    >>> Graph.from_edges([0, 1], [1, 1])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    graphpri.errors.GraphError: 1 self-loop, the first at edge (1, 1): pass loops="drop" to ...
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


class ArgumentError(OptionError, TypeError):
    """A function was called with an argument that it doesn't have: says what that may be called here.

    Examples
    --------
    >>> from graphpri import report
    >>> report(None, None, random_state=1)
    Traceback (most recent call last):
        ...
    graphpri.errors.ArgumentError: report has no argument random_state; did you mean seed?
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

    # Of both bases the one whose instances it has: libraries that pickle errors call it by its name.
    __new__ = GraphPRIError.__new__


class MissingExtraError(GraphPRIError, ImportError):
    """An optional library is not installed: names the extra that brings it, or itself where there is no such extra.

    Examples
    --------
    >>> raise MissingExtraError("matplotlib", "plot", "drawing")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    graphpri.errors.MissingExtraError: drawing needs matplotlib, which is not installed: pip install ...
    """

    def __init__(self, library: str, extra: str | None, purpose: str) -> None:
        self.library, self.extra, self.purpose = library, extra, purpose
        package = library if extra is None else f"'graphpri[{extra}]'"
        super().__init__(f"{purpose} needs {library}, which is not installed: pip install {package}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.library, self.extra, self.purpose), self.__dict__


class ClusterError(GraphPRIError, RuntimeError):
    """Machines that work together failed: workers died again and again, or the scheduler is gone.

    Examples
    --------
    >>> raise ClusterError("the connection to Dask's scheduler was lost")
    Traceback (most recent call last):
        ...
    graphpri.errors.ClusterError: the connection to Dask's scheduler was lost
    """


class Interrupted(KeyboardInterrupt):
    """Ctrl-C came during a call: a KeyboardInterrupt that has what was found until then, for those who look at it.

    Every function of the library that searches raises it, so that no program takes what is unfinished for a result.
    Where there is nothing to show yet, it is a plain KeyboardInterrupt.

    Parameters
    ----------
    make : callable
        Makes the result.

    Examples
    --------
    >>> import graphpri
    >>> karate = graphpri.datasets.load("karate")
    >>> def press(progress):  # as Ctrl-C would at the first step
    ...     raise KeyboardInterrupt
    >>> try:
    ...     result = graphpri.sparsify(karate, keep=0.3, weight=None, callback=press)
    ... except graphpri.Interrupted as stop:
    ...     result = stop.result
    >>> result.interrupted, result.kept.n_edges
    (True, 23)
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        super().__init__("interrupted; the attribute 'result' of this exception is the best until then")
        self._make = make

    @cached_property
    def result(self) -> Any:
        """What the call would have returned, of what was found until then; made when it is first asked for."""
        return self._make()


def in_stages(make: Callable[[], T], finish: Callable[[T], R]) -> R:
    """What `finish` makes of what `make` gives; where Ctrl-C comes in `make`, of its best until then, for who looks.

    Examples
    --------
    >>> in_stages(lambda: 2, lambda found: found + 1)
    3
    """
    try:
        made = make()
    except Interrupted as stop:
        best = stop
        raise Interrupted(lambda: finish(best.result)) from None
    return finish(made)
