"""Options: how their values are read, those that several commands share, and how messages name them."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter, Token

from graphpri.cli.commands import ARGUMENTS, COMMANDS, build_app
from graphpri.cli.inputs import MOST_DIGITS, is_file, label_set, other_spelling
from graphpri.errors import Note, OptionError, worded

if TYPE_CHECKING:
    from graphpri.graph import EdgeTable

_COUNT = re.compile(r"[+-]?\d+")
_MOST = 10_000


def parse_keep(text: str) -> float | int:
    """A budget: ``120`` and ``1`` are counts of edges, ``0.3`` and ``1.0`` shares.

    Raises
    ------
    OptionError
        For text that is no number.

    Examples
    --------
    >>> parse_keep("1"), parse_keep("1.0"), parse_keep("0.3")
    (1, 1.0, 0.3)
    """
    if _COUNT.fullmatch(text) and len(text) < MOST_DIGITS:
        return int(text)
    share = _number(text, "--keep", "a share such as 0.3 or a number of edges such as 120")
    if not 0 < share <= 1:
        raise OptionError(f"--keep {text}: a share lies in (0, 1]; write a number of edges without a point")
    return share


def parse_keeps(text: str) -> list[float | int]:
    """Budgets in a list ``0.1,0.3,120`` or a range ``0.1:0.9:0.1`` (start, stop, step; the stop is included).

    Examples
    --------
    >>> parse_keeps("0.8:1:0.1"), parse_keeps("10:20:5,78")
    ([0.8, 0.9, 1.0], [10, 15, 20, 78])
    """
    return [parse_keep(word) for word in _spread(text, "--keep")]


def parse_betas(text: str) -> list[float]:
    """Values of β in a list or a range, as in :func:`parse_keeps`."""
    return [_number(word, "--beta", "a number such as 4") for word in _spread(text, "--beta")]


def parse_integers(text: str, option: str) -> list[int]:
    """Whole numbers, 0 or more, in a list or a range, as in :func:`parse_keeps`."""
    words = _spread(text, option)
    for word in words:
        if not word.isdecimal() or len(word) > 18:
            raise OptionError(f"{option} {text}: {word!r} is not a whole number, 0 or more")
    return [int(word) for word in words]


def split_names(text: str) -> list[str]:
    """Names with commas between them."""
    return [name.strip() for name in text.split(",") if name.strip()]


def is_several(text: str) -> bool:
    """Whether the text is a list or a range."""
    return "," in text or ":" in text


def parse_options(texts: Iterable[str]) -> dict[str, Any]:
    """Options of a method, each ``name=value``.

    Examples
    --------
    >>> parse_options(["exponent=0.5", "shape=triadic", "draw=true", "steps=100"])
    {'exponent': 0.5, 'shape': 'triadic', 'draw': True, 'steps': 100}
    """
    options: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name.isidentifier():
            raise OptionError(f"--option {text}: write it as name=value, such as exponent=0.5")
        if name in options:
            raise OptionError(f"--option {name} stands twice")
        options[name] = _literal(value.strip())
    return options


def parse_pairs(texts: Sequence[str], table: EdgeTable, option: str) -> list[tuple[Any, Any]] | None:
    """Edges of a graph, each ``u,v`` or a file with an edge a row.

    Parameters
    ----------
    texts : sequence of str
        As given; a file of that name goes before a pair.
    table : EdgeTable
        The graph. Labels that are numbers in one place and text in the other (``7`` and ``"7"``) are matched.
    option : str
        What to call the texts in messages.

    Returns
    -------
    list of (u, v), or None
        None where there are no texts.

    Raises
    ------
    OptionError
        For text that is neither, and an end that the graph doesn't have.
    FileError
        For a file that can't be read.
    """
    if not texts:
        return None
    labels = label_set(table)
    pairs = [pair for text in texts for pair in _pairs(text, option)]
    return [(_known(u, labels, (u, v), option), _known(v, labels, (u, v), option)) for u, v in pairs]


def _pairs(text: str, option: str) -> Iterator[tuple[Any, Any]]:
    from graphpri.io import read

    if text != "-" and is_file(text):
        table = read(text)
        for u, v in zip(table.source.tolist(), table.target.tolist(), strict=True):
            yield table.label(u), table.label(v)
        return
    ends = [end.strip() for end in text.split(",")]
    if len(ends) != 2 or not all(ends):
        raise OptionError(
            f"--{option} {text}: there is no such file, and it is not a pair of nodes written u,v "
            "(name edges whose labels hold a comma in a file)"
        )
    yield ends[0], ends[1]


def _known(label: Any, labels: Container[Any], pair: tuple[Any, Any], option: str) -> Any:
    for candidate in (label, other_spelling(label)):
        if candidate in labels:
            return candidate
    raise OptionError(f"--{option}: the edge {pair[0]},{pair[1]} names a node that the graph doesn't have: {label!r}")


def _spread(text: str, option: str) -> list[str]:
    """The numbers of a list, as text, with ranges written out."""
    words = [word for item in text.split(",") for word in (_range(item, option) if ":" in item else [item.strip()])]
    if len(words) > _MOST:
        raise OptionError(f"{option} {text}: these are {len(words)} values; at most {_MOST} are taken")
    return words


def _range(text: str, option: str) -> list[str]:
    try:
        start, stop, step = (Decimal(word.strip()) for word in text.split(":"))
        if not all(number.is_finite() for number in (start, stop, step)):
            raise ValueError
    except (ValueError, InvalidOperation):
        raise OptionError(f"{option} {text}: write a range as start:stop:step, such as 0:10:0.5") from None
    if not step:
        raise OptionError(f"{option} {text}: the step, which stands last, must not be 0")
    if stop != start and (stop > start) != (step > 0):
        low = "below" if stop < start else "above"
        raise OptionError(
            f"{option} {text}: stop ({stop}) is {low} start ({start}), where a step of {step} doesn't lead; "
            "a range is start:stop:step"
        )
    try:
        steps = (stop - start) / step
        # Zero with as many decimals as any of the three: a range with a fraction holds shares only, 1 being 1.0.
        zero = 0 * (start + stop + step)
    except ArithmeticError:
        steps, zero = Decimal("Infinity"), Decimal(0)
    if steps >= _MOST:
        count = f"about {steps:.1e}" if steps > 10 * _MOST else f"{int(steps) + 1}"
        raise OptionError(f"{option} {text}: these are {count} values, and at most {_MOST} are taken: a larger step")
    return [f"{zero + start + i * step:f}" for i in range(int(steps) + 1)]


def _number(text: str, option: str, what: str) -> float:
    try:
        if "_" in text:
            raise ValueError
        return float(text)
    except ValueError:
        raise OptionError(f"{option} {text}: give {what}") from None


def _literal(text: str) -> Any:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return {"true": True, "false": False, "none": None}.get(text.lower(), text)


def to_whole(kind: Any, tokens: Sequence[Token]) -> int:
    """Convert text to an integer; the parser's own conversion rounds 0.5 to 0."""
    return int(tokens[0].value)


Whole = Annotated[int, Parameter(converter=to_whole)]

SEARCH = Group("What to keep", sort_key=10)
MEASURING = Group("What to measure", sort_key=10)
OUTPUT = Group("Output", sort_key=30)

Json = Annotated[
    bool, Parameter(negative="", show_default=False, group=OUTPUT, help="Print JSON on standard output, nothing else.")
]
Force = Annotated[
    bool, Parameter(negative="", show_default=False, group=OUTPUT, help="Replace output files that exist.")
]
Quiet = Annotated[
    bool,
    Parameter(name=["--quiet", "-q"], negative="", show_default=False, group=OUTPUT, help="No report and no progress."),
]
EntropyOption = Annotated[
    Literal["auto", "exact", "stochastic", "local", "degree"],
    Parameter(help="How entropies are computed; 'auto' goes by size, 'stochastic' has error bars."),
]
TableFile = Annotated[
    str | None,
    Parameter(
        name=["--output", "-o"], metavar="FILE", group=OUTPUT, help="Write the table as CSV; '-' is standard output."
    ),
]
ResultsFolder = Annotated[
    str, Parameter(name=["--output", "-o"], metavar="DIR", group=OUTPUT, help="Folder for the results.")
]
IntoFolder = Annotated[
    bool, Parameter(negative="", show_default=False, group=OUTPUT, help="Write into a folder that has files.")
]
StoreOption = Annotated[
    str | None,
    Parameter(
        metavar="DIR",
        group=OUTPUT,
        help="Keep what is finished in this folder, from which the same command goes on after an interruption.",
    ),
]
Plot = Annotated[
    str | None,
    Parameter(metavar="FILE", group=OUTPUT, help="Draw a picture too: .png, .pdf, .svg (needs matplotlib)."),
]


@Parameter(name="*", group=SEARCH)
@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """What is minimised, and over which subsets."""

    alpha: Annotated[float, Parameter(help="Weight of the degree barrier, which pulls edges to every node.")] = 0.0
    connected: Annotated[
        bool | None,
        Parameter(help="Keep the number of components; where absent, kept without a budget and free with one."),
    ] = None
    protect: Annotated[
        tuple[str, ...],
        Parameter(metavar="U,V|FILE", show_default=False, help="Edge that must stay, or a file of such; repeatable."),
    ] = ()
    forbid: Annotated[
        tuple[str, ...],
        Parameter(metavar="U,V|FILE", show_default=False, help="Edge that must go, or a file of such; repeatable."),
    ] = ()
    entropy: EntropyOption = "auto"
    mixture: Annotated[
        Literal["equation", "listing"],
        Parameter(help="How the divergence averages the Laplacians: as the paper's equation or as its listing."),
    ] = "equation"
    seed: Annotated[Whole, Parameter(help="For everything random; the same seed gives the same result.")] = 0

    def keywords(self, table: EdgeTable) -> dict[str, Any]:
        """Keyword arguments of :func:`graphpri.sparsify` and :func:`graphpri.path` for a graph."""
        return vars(self) | {
            "protect": parse_pairs(self.protect, table, "protect"),
            "forbid": parse_pairs(self.forbid, table, "forbid"),
        }


@Parameter(name="*", group=SEARCH)
@dataclass(frozen=True, kw_only=True)
class Covering:
    """Whether nodes may lose all of their edges, and budgets be exceeded for that."""

    cover: Annotated[
        bool, Parameter(negative="", show_default=False, help="Leave an edge to every node that has one.")
    ] = False
    at_least: Annotated[
        bool,
        Parameter(
            negative="",
            show_default=False,
            help="Keep more edges than the budget where --connected, --cover and --protect need more.",
        ),
    ] = False


@Parameter(name="*", group=MEASURING)
@dataclass(frozen=True, kw_only=True)
class Measuring:
    """How results are measured; :func:`graphpri.report` and :func:`graphpri.compare` take the same."""

    alpha: Annotated[float, Parameter(help="Weight of the degree barrier in the objective.")] = 0.0
    entropy: EntropyOption = "auto"
    mixture: Annotated[
        Literal["equation", "listing"], Parameter(help="How the divergence averages the Laplacians.")
    ] = "equation"
    unit: Annotated[Literal["nats", "bits"], Parameter(help="Of entropy, divergence and objective.")] = "nats"


DEFAULT_SEARCH = SearchOptions()
DEFAULT_COVERING = Covering()
DEFAULT_MEASURING = Measuring()


_LIMITS = Group("Memory and threads", sort_key=40)


@Parameter(name="*", group=_LIMITS)
@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of one run, which go before those of the environment."""

    memory: Annotated[
        str | None,
        Parameter(
            metavar="SIZE",
            help="What a piece of work may take, such as 8GB: more is refused. GRAPHPRI_MEMORY, or what is free, "
            "where absent.",
        ),
    ] = None
    threads: Annotated[
        int | None,
        Parameter(
            converter=to_whole, help="For large graphs. GRAPHPRI_THREADS, or as many as there are cores, where absent."
        ),
    ] = None

    @contextmanager
    def held(self) -> Generator[None]:
        """Within this, the limits hold."""
        wanted = self._variables()
        before = {name: os.environ.get(name) for name in wanted}
        os.environ.update(wanted)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value

    def _variables(self) -> dict[str, str]:
        from graphpri import _runtime

        wanted: dict[str, str] = {}
        if self.memory is not None:
            wanted[_runtime.MEMORY_VARIABLE] = str(_runtime.parse_size(self.memory, "memory"))
        if self.threads is not None:
            if self.threads < 1:
                raise OptionError(f"--threads {self.threads}: give a whole number, 1 or more")
            wanted[_runtime.THREADS_VARIABLE] = str(self.threads)
        return wanted


DEFAULT_LIMITS = Limits()


def in_words(message: str, names: Mapping[str, str] | None = None) -> str:
    """A message of the library as the command that is running says it: arguments of functions by its options.

    Parameters
    ----------
    message : str
        With arguments marked; see :func:`graphpri.errors.worded`.
    names : mapping of str to str, optional
        Options by the arguments that they are for, where their names differ.

    Examples
    --------
    >>> from graphpri.errors import argument, setting
    >>> running = ARGUMENTS.set(("sparsify", "karate", "--time-limit", "-1"))
    >>> in_words(f"{argument('time_limit', -1.0)} is below 0; pass {setting('keep')}, or {setting('connected', True)}")
    '--time-limit -1.0 is below 0; pass --keep, or --connected'
    >>> in_words(f"pass {setting('format')}", {"format": "output_format"})
    'pass --output-format'
    >>> in_words(f"{argument('exponent', 2)} is not an option of the command")
    'exponent=2 is not an option of the command'
    >>> ARGUMENTS.reset(running)
    """
    options: dict[str, str] | None = None

    def word(name: str, value: str) -> str | None:
        nonlocal options
        if options is None:
            options = _options_by_argument() | dict(names or {})
        if name not in options:
            return None
        option = options[name].replace("_", "-")
        if value == "False":
            return f"--no-{option}"
        return f"--{option}" if value in ("", "True") else f"--{option} {value}"

    return worded(message, word)


def notes_in_words(notes: Iterable[str]) -> str:
    """Notes of the library, one behind the other, with arguments of functions by the options of the command."""
    return "; ".join(in_words(note.message if isinstance(note, Note) else note) for note in notes)


def _options_by_argument() -> dict[str, str]:
    """Options of the command that is running, by what arguments of functions are called; none where it takes none."""
    command = ARGUMENTS.get()[:1]
    if not command or command[0] not in COMMANDS:
        return {}
    try:
        found = build_app()[command[0]].assemble_argument_collection()
    except ValueError:  # a command with subcommands
        return {}
    names = [name[2:].replace("-", "_") for argument in found for name in argument.names if name.startswith("--")]
    own = {name: name for name in names if not name.startswith(("no_", "empty_"))}
    return {f"{name}s": name for name in own} | own
