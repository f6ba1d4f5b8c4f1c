"""Arguments of public functions: checked against the types that their signatures name, and unknown ones refused.

A function or class with :func:`checked` refuses a value of another type with a message that names the argument, before
it does anything; what a type can't say (β ≥ 0, a name that is in a registry) is checked where it is used, by
:func:`whole`, :func:`real` and :func:`chosen`. NaN is no number here: no scalar argument has a use for it.
"""

from __future__ import annotations

import builtins
import inspect
import os
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from collections.abc import Callable as CallableType
from collections.abc import Hashable as HashableType
from dataclasses import dataclass
from functools import lru_cache, wraps
from numbers import Integral, Real
from typing import IO, Any, Literal, NamedTuple, NoReturn, TypeVar, Union, cast, get_args, get_origin

import numpy as np

from graphpri.errors import ArgumentError, OptionError, argument, did_you_mean, joined, named, setting

F = TypeVar("F", bound=Callable[..., Any])
_LARGEST = sys.float_info.max
MOST = 2**31 - 1
"""Largest number of nodes or rows that can be asked for."""

ELSEWHERE: dict[str, tuple[str, ...]] = {
    "keep": ("budget", "fraction", "frac", "k", "n_edges", "num_edges", "percent", "rate", "ratio", "share", "size"),
    "seed": ("random_seed", "random_state", "rng"),
    "random_state": ("random_seed", "rng", "seed"),
    "seeds": ("random_state", "seed"),
    "weight": ("edge_weight", "weight_attr", "weight_attribute", "weights"),
    "loops": ("selfloops", "self_loops"),
    "parallel": ("multi_edges", "multiedges"),
    "threads": ("cores", "n_jobs", "n_threads", "num_threads", "workers"),
    "time_limit": ("max_time", "timeout"),
    "purpose": ("aim", "for_", "goal", "task"),
    "methods": ("algorithms", "method"),
    "method": ("algorithm",),
    "entropy": ("method",),
    "connected": ("keep_connected", "preserve_connectivity"),
    "callback": ("progress", "verbose"),
    "colour": ("c", "color", "colors", "colours", "node_color"),
    "names": ("labels", "with_labels"),
    "width": ("edge_width", "linewidth"),
    "format": ("fmt", "filetype"),
    "delimiter": ("delim", "sep", "separator"),
    "header": ("has_header",),
    "force": ("overwrite",),
}
"""Arguments by what other libraries, or version 0.1, call them."""


WORDS: dict[str, str] = {
    "keep": "a share (a float in (0, 1]) or a number of edges (an int from 1)",
    "beta": "a finite number, 0 or more",
    "alpha": "a finite number, 0 or more",
    "seed": "a whole number, 0 or more",
    "threads": "a whole number, 1 or more",
    "time_limit": "a number of seconds above 0",
    "weight": "the name of an edge attribute, or None to ignore weights",
}
"""What some arguments are, in more words than their type has; where they take several, the type speaks."""


@dataclass(frozen=True)
class _Rule:
    """Whether a value is of a type, and that type in words.

    `choices` where it is one of a few values; `item` is the rule of each entry where it may be a sequence.
    """

    fits: Callable[[Any], bool]
    words: str
    choices: tuple[Any, ...] = ()
    item: _Rule | None = None


def checked(function: F) -> F:
    """Refuse values that are not of the types of the signature, and arguments that it doesn't have.

    Of a class, the arguments of its constructor are checked. Signatures stay as they are, for ``inspect`` and for type
    checkers. A type that is not known at run time, ``Any`` and array types let everything pass.

    Raises
    ------
    OptionError
        When the function is called with a value of another type; names the argument.
    ArgumentError
        Where there is no such argument; says what it may be called here.

    Examples
    --------
    >>> @checked
    ... def scaled(size: float, seed: int | None = None) -> float:
    ...     return 2 * size
    >>> scaled(1.5)
    3.0
    >>> scaled("x")
    Traceback (most recent call last):
        ...
    graphpri.errors.OptionError: size='x' must be a number
    >>> scaled(1.5, random_state=3)
    Traceback (most recent call last):
        ...
    graphpri.errors.ArgumentError: scaled has no argument random_state; did you mean seed?
    """
    if isinstance(function, type):
        made = cast("Any", function)
        made.__init__ = _wrapped(made.__init__, function.__name__)
        return cast("F", function)
    return cast("F", _wrapped(function, function.__name__))


def _wrapped(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    @lru_cache(maxsize=1)
    def rules() -> _Rules:
        parameters = inspect.signature(function).parameters.values()
        kinds = {p.kind for p in parameters}
        known = {p.name: p for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}
        placed = tuple(p.name for p in known.values() if p.kind is not p.KEYWORD_ONLY)
        hints = _hints(function)
        found = {n: (_rule(hints.get(n, Any)), p.default) for n, p in known.items() if n not in ("self", "cls")}
        return _Rules(
            name, placed, found, inspect.Parameter.VAR_KEYWORD in kinds, inspect.Parameter.VAR_POSITIONAL in kinds
        )

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        asked = rules()
        for key, value in (*zip(asked.placed, args, strict=False), *kwargs.items()):
            if key not in asked.known:
                if key in kwargs and not asked.takes_others:
                    raise ArgumentError(f"{name} has no argument {unknown(kwargs, asked.known)}")
                continue
            rule, default = asked.known[key]
            if rule is not None and value is not default and not rule.fits(value):
                _refuse(key, value, rule)
        asked.check_number(len(args), kwargs)
        return function(*args, **kwargs)

    return called


class _Rules(NamedTuple):
    """Arguments of a function by position, rule and default of each by name, and whether it takes others."""

    name: str
    placed: tuple[str, ...]
    known: dict[str, tuple[_Rule | None, Any]]
    takes_others: bool
    takes_more: bool

    def check_number(self, placed: int, given: Mapping[str, Any]) -> None:
        """Refuse more arguments by position than there are, and a call without one that must be there."""
        if placed > len(self.placed) and not self.takes_more:
            here = [name for name in self.placed if name in self.known]
            by_name = [name for name in self.known if name not in self.placed]
            takes = f"takes only {joined(here, 'and')} without a name" if here else "takes no argument without a name"
            names = ", ".join(setting(name) for name in by_name[:_NAMED]) + ", …" * (len(by_name) > _NAMED)
            raise ArgumentError(f"{self.name} {takes}{f'; the others are passed by name: {names}' * bool(by_name)}")
        there = {*self.placed[:placed], *given}
        missing = [
            name
            for name, (_, default) in self.known.items()
            if default is inspect.Parameter.empty and name not in there
        ]
        if missing:
            words = [f"{name} ({text})" if (text := self._words(name)) else name for name in missing]
            raise ArgumentError(f"{self.name} needs {joined(words, 'and')}")

    def _words(self, name: str) -> str:
        """What an argument is."""
        rule = self.known[name][0]
        return "" if rule is None else WORDS.get(name, _words(rule))


_NAMED = 4  # arguments that a message names at most


def unknown(given: Iterable[str], known: Iterable[str]) -> str:
    """The names that are given and not known, and those that they may stand for, as the end of a message.

    Examples
    --------
    >>> from graphpri.errors import worded
    >>> worded(unknown(["ratio", "alpha", "random_state"], ["keep", "seed", "alpha"]))
    'ratio, random_state; did you mean keep, seed?'
    """
    known = list(known)
    wrong = [name for name in given if name not in known]
    meant: list[str] = []
    for name in wrong:
        here = [own for own in known if name in ELSEWHERE.get(own, ())]
        close = did_you_mean(name, known, 0.7)
        meant += here[:1] or ([close.split("'")[1]] if close else [])
    hint = f"; did you mean {', '.join(map(named, dict.fromkeys(meant)))}?" if meant else ""
    return ", ".join(wrong) + hint


def _refuse(name: str, value: Any, rule: _Rule) -> NoReturn:
    if rule.item is not None and is_several(value):
        wrong = [entry for entry in value if not rule.item.fits(entry)]
        value, rule = wrong[0] if wrong else value, rule.item
    if rule.choices:
        raise _not_among(name, value, rule.choices)
    words = rule.words if "sequence" in rule.words else WORDS.get(name, rule.words)
    raise OptionError(f"{argument(name, value)} must be {words}")


# ---------------------------------------------------------------------------------------------------------------------
# Types as rules.
# ---------------------------------------------------------------------------------------------------------------------


class _TypeNames(dict[str, Any]):
    """Names of a module, where those imported for type checkers only stand for anything."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, Any)


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    function = inspect.unwrap(function)
    names = _TypeNames(cast("Any", function).__globals__)
    return {
        name: eval(hint, {}, names) if isinstance(hint, str) else hint
        for name, hint in function.__annotations__.items()
    }


def _rule(hint: Any) -> _Rule | None:
    """The rule of a type; None where everything passes."""
    if hint is Any or isinstance(hint, str):
        return None
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        is_path = any(get_origin(part) is os.PathLike for part in inner)
        return _either([_NAME if is_path and part is str else _rule(part) for part in inner])
    if hint is None or hint is type(None):
        return _Rule(lambda value: value is None, "None")
    if hint in _PLAIN:
        return _PLAIN[hint]
    if origin is Literal:
        return _Rule(lambda value: isinstance(value, str) and value in inner, "", inner)
    if origin is os.PathLike:
        return _Rule(lambda value: isinstance(value, os.PathLike), "a path")
    if origin is IO:
        return _Rule(lambda value: hasattr(value, "read") or hasattr(value, "write"), "an open file")
    if origin in (CallableType, Callable):
        return _Rule(callable, "a function")
    if origin is np.ndarray:
        return _array(get_args(inner[1])[0])
    if origin in (Sequence, Iterable, list):
        return _series(inner[0], unordered=origin is Iterable)
    if origin is tuple:
        return _tuple(inner)
    if origin in (Mapping, dict):
        return _Rule(lambda value: isinstance(value, Mapping), "a mapping")
    if origin is None and isinstance(hint, type) and not _lets_pass(hint):
        return _Rule(lambda value: isinstance(value, hint), f"a {hint.__name__}")
    return None


def _lets_pass(hint: type) -> bool:
    """Whether values of a class are checked elsewhere, if at all: tensors by :mod:`graphpri.torch.entropy`."""
    known = hint in (object, np.ndarray, HashableType) or hint.__name__ == "Tensor"
    return known or getattr(hint, "_is_protocol", False)


def is_real(value: Any) -> bool:
    """Whether a value is a real number: no bool, no NaN, no array."""
    return not isinstance(value, bool) and isinstance(value, Real) and bool(value == value)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, and no bool."""
    return not isinstance(value, bool) and isinstance(value, Integral)


_PLAIN: dict[Any, _Rule] = {
    bool: _Rule(lambda value: isinstance(value, bool | np.bool_), "True or False"),
    int: _Rule(is_whole, "a whole number"),
    float: _Rule(is_real, "a number"),
    str: _Rule(lambda value: isinstance(value, str), "text"),
}


_NAME = _Rule(lambda value: isinstance(value, str) and value != "", "a path")
_KINDS: dict[Any, tuple[str, str]] = {np.bool_: ("b", "bool"), np.integer: ("iu", "int"), np.floating: ("f", "float")}


def _array(scalar: Any) -> _Rule | None:
    """The rule of an array of a kind of numbers, whatever their size."""
    scalar = get_origin(scalar) or scalar
    for kind, (letters, word) in _KINDS.items():
        if isinstance(scalar, type) and issubclass(scalar, kind):
            return _Rule(
                lambda value, kinds=letters: (
                    isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in kinds
                ),
                f"a one-dimensional array of {word}",
            )
    return None


def _either(rules: Sequence[_Rule | None]) -> _Rule | None:
    known = [rule for rule in rules if rule is not None]
    if len(known) < len(rules):
        return None
    if _PLAIN[float] in known:
        known = [rule for rule in known if rule is not _PLAIN[int]]
    choices = tuple(choice for rule in known for choice in rule.choices)
    if any(not rule.choices and rule.words != "None" for rule in known):
        words = [", ".join(map(repr, rule.choices)) if rule.choices else rule.words for rule in known]
        choices = ()
    else:
        words = [rule.words for rule in known if rule.words]
    words = list(dict.fromkeys(words))
    text = " or ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)
    items = [rule.item for rule in known if rule.item is not None]
    return _Rule(lambda value: any(rule.fits(value) for rule in known), text, choices, items[0] if items else None)


def _series(item: Any, *, unordered: bool) -> _Rule:
    rule = _rule(item)

    def fits(value: Any) -> bool:
        if not is_several(value) and not (unordered and isinstance(value, Set)):
            return False
        if rule is None or not hasattr(value, "__len__"):
            return True
        return all(map(rule.fits, value))

    return _Rule(fits, f"a sequence (each {_words(rule)})" if rule is not None else "a sequence", item=rule)


def _tuple(items: tuple[Any, ...]) -> _Rule:
    rules = [_rule(item) for item in items if item is not ...]

    def fits(value: Any) -> bool:
        if not is_several(value) or not hasattr(value, "__len__"):
            return False
        parts = rules * len(value) if ... in items else rules
        return len(value) == len(parts) and all(r is None or r.fits(v) for r, v in zip(parts, value, strict=True))

    if ... in items:
        return _Rule(fits, "a sequence")
    return _Rule(fits, "a pair" if len(rules) == 2 else f"{len(rules)} values")


def _words(rule: _Rule) -> str:
    return rule.words or f"one of {', '.join(map(repr, rule.choices))}"


def is_several(value: Any) -> bool:
    """Whether a value is a sequence, or another thing of values in an order."""
    unordered = isinstance(value, str | bytes | bytearray | Set | Mapping)
    return isinstance(value, Iterable) and not unordered and getattr(value, "ndim", 1) > 0


# ---------------------------------------------------------------------------------------------------------------------
# What types can't say.
# ---------------------------------------------------------------------------------------------------------------------


def whole(name: str, value: Any, least: int = 0, most: int | None = None) -> int:
    """A whole number from `least` to `most`, as an ``int``; anything else is refused.

    Examples
    --------
    >>> whole("seed", np.int64(3))
    3
    >>> whole("seed", -1)
    Traceback (most recent call last):
        ...
    graphpri.errors.OptionError: seed=-1 must be a whole number, 0 or more
    """
    if not is_whole(value) or value < least or (most is not None and value > most):
        too_large = most is not None and is_whole(value) and value > most
        span = f"from {least} to {most}" if too_large else f"{least} or more"
        raise OptionError(f"{argument(name, value)} must be a whole number, {span}")
    return int(value)


def count(name: str, value: Any, least: int = 0) -> int:
    """A number of things that memory holds one by one: at most as many as 4-byte numbers count."""
    return whole(name, value, least, MOST)


def real(name: str, value: Any, least: float = 0.0, most: float | None = None, *, above: bool = False) -> float:
    """A number from `least` to `most`, or above `least`, as a ``float``; finite, unless `most` says otherwise.

    Examples
    --------
    >>> real("alpha", 2)
    2.0
    >>> real("error", 0, above=True)
    Traceback (most recent call last):
        ...
    graphpri.errors.OptionError: error=0 must be a finite number above 0
    """
    if isinstance(value, np.generic):
        value = value.item()  # so that no float32 meets the largest of float64
    within = is_real(value) and least <= value <= (_LARGEST if most is None else most)
    if within and not (above and value == least) and (value <= _LARGEST or value == np.inf):
        return float(value)
    kind = "a number" if most == np.inf else "a finite number"
    span = f" above {least:g}" if above else f", {least:g} or more"
    if most is not None and most < np.inf:
        kind = "a number"
        span = f" above {least:g}, at most {most:g}" if above else f" from {least:g} to {most:g}"
    raise OptionError(f"{argument(name, value)} must be {kind}{span}")


def seconds(name: str, value: Any) -> float | None:
    """A time limit: a number of seconds above 0, or None for none."""
    if value is not None and not (is_real(value) and value > 0):
        raise OptionError(f"{argument(name, value)} must be a number of seconds above 0")
    return None if value is None else float(min(value, _LARGEST))


def chosen(name: str, value: Any, choices: Iterable[Any]) -> Any:
    """One of some names; anything else is refused, with the names that there are."""
    known = list(choices)
    if not isinstance(value, str) or value not in known:
        raise _not_among(name, value, known)
    return value


def _not_among(name: str, value: Any, known: Iterable[Any]) -> OptionError:
    close = did_you_mean(value, map(str, known), 0.6) if isinstance(value, str) else ""
    return OptionError(f"{argument(name, value)}: choose from {', '.join(map(repr, known))}{close}")


def new_name(value: str, known: Iterable[str], kind: str) -> None:
    """Refuse the name of something to register where it is empty or taken."""
    if not value or value in known:
        why = f"there is a {kind} of that name already" if value else f"a {kind} needs a name"
        raise OptionError(f"{argument('name', value)}: {why}")


def switch(name: str, value: Any) -> bool:
    """A truth value; anything else is refused."""
    if not _PLAIN[bool].fits(value):
        raise OptionError(f"{argument(name, value)} must be True or False")
    return bool(value)


def seeded(name: str, value: Any) -> Any:
    """What a random generator may start from: a whole number of 0 or more, a ``Generator``, or None."""
    if value is None or isinstance(value, np.random.Generator):
        return value
    return whole(name, value)
