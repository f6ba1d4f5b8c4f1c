"""What a study is: pieces of work, verdicts computed from their numbers, and pictures drawn from them."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Cell = dict[str, Any]
"""Parameters of one piece of work, in JSON's types."""

Tables = dict[str, list[dict[str, Any]]]
"""Rows by the name of their table. A column whose name ends with ``seconds`` is a time, which no two runs share."""

Frames = Mapping[str, Any]
"""A study's whole tables, as pandas data frames."""

Grade = Literal["reproduced", "conditional", "not reproduced", "not testable"]
GRADES: tuple[Grade, ...] = ("reproduced", "conditional", "not reproduced", "not testable")


def grade(holds: Any, in_part: Any = False) -> Grade:
    """The outcome of a claim that holds, that holds in part or under a condition, or that doesn't.

    Examples
    --------
    >>> share = 0.8
    >>> grade(share == 1, share > 0.5)
    'conditional'
    """
    return "reproduced" if holds else "conditional" if in_part else "not reproduced"


def where(table: Any, **values: Any) -> Any:
    """The rows of a data frame whose columns have these values."""
    for column, value in values.items():
        table = table[table[column] == value]
    return table


@dataclass(frozen=True)
class Verdict:
    """What the numbers say about a claim.

    Parameters
    ----------
    claim : str
        In one sentence.
    source : str
        Where the claim stands: a section, figure, theorem of the paper, or ``"graphpri"`` for one of this library.
    measured : str
        What was found, with the names of facts in braces, as ``"{share:.1%} of {graphs:.0f} graphs"``: every figure
        comes from a fact.
    outcome : {"reproduced", "conditional", "not reproduced", "not testable"}
    condition : str
        Under which condition the claim holds, or why it fails or can't be tested; with facts in braces too.

    Examples
    --------
    >>> verdict = Verdict("S falls", "Section 3", "in {share:.0%} of runs", "conditional", "sparse graphs")
    >>> verdict.filled(lambda text: text.replace("{share:.0%}", "84 %")).measured
    'in 84 % of runs'
    """

    claim: str
    source: str
    measured: str
    outcome: Grade
    condition: str = ""

    def filled(self, fill: Callable[[str], str]) -> Verdict:
        """The verdict with its texts passed through `fill`."""
        return replace(self, claim=fill(self.claim), measured=fill(self.measured), condition=fill(self.condition))


class Fact(NamedTuple):
    """A number that a verdict rests on: its name, value, the table that it comes from, and how."""

    name: str
    value: float
    table: str
    how: str


@dataclass
class Facts:
    """The numbers that a study's verdicts rest on, in the order in which they were taken."""

    rows: dict[str, Fact] = field(default_factory=dict[str, Fact])

    def add(self, name: str, value: Any, table: str, how: str) -> float:
        """Note a number, the table it comes from and how; returns it as a float."""
        if name in self.rows:
            raise ValueError(f"there is a fact called {name!r} already")
        self.rows[name] = Fact(name, float(value), table, how)
        return float(value)

    def __getitem__(self, name: str) -> float:
        return self.rows[name].value

    def add_setting(self, key: str, setting: str, table: str) -> str:
        """Note β and α in the name of a method's setting; returns the name with these facts in place of the numbers.

        Examples
        --------
        >>> facts = Facts()
        >>> facts.add_setting("best", "pri β=2", "ranks"), facts["best_beta"]
        ('pri β={best_beta:g}', 2.0)
        """
        for symbol, word in (("β", "beta"), ("α", "alpha")):
            if found := re.search(rf"{symbol}=([\d.]+)", setting):
                self.add(f"{key}_{word}", float(found[1]), table, f"{symbol} of {setting}")
                setting = setting.replace(found[0], f"{symbol}={{{key}_{word}:g}}")
        return setting

    def fill(self, text: str, format_fact: Callable[[Fact, str], str] = lambda fact, text: text) -> str:
        """A text with its facts in place of their names; `format_fact` may dress each."""

        def put(found: re.Match[str]) -> str:
            fact = self.rows[found[1]]
            return format_fact(fact, "∞" if math.isinf(fact.value) else format(fact.value, found[2] or ".4g"))

        return re.sub(r"\{(\w+)(?::([^}]*))?\}", put, text)


class Picture(NamedTuple):
    """A figure, the name of its files and what it shows."""

    name: str
    figure: Figure
    caption: str


@dataclass(frozen=True)
class Study:
    """One figure, table or theorem of the paper, or a comparison of this library's, as something to run.

    Parameters
    ----------
    name : str
        What users call it.
    title : str
    source : str
        What it reproduces, as ``"Figure 1"``.
    about : str
        What is run, in two or three sentences.
    cells : callable
        ``(quick) -> list of Cell``: independent pieces of work, those that take longest first.
    work : callable
        ``(cell, seed) -> Tables``: does one piece; a function of a module, which other processes can find.
    judge : callable
        ``(frames, facts) -> list of Verdict``: reads the whole tables, notes the facts.
    draw : callable
        ``(frames) -> list of Picture``; called within :func:`graphpri.studies.figures.style`.
    needs : tuple of str
        Names of data sets without which it can't run at the paper's size.
    needs_quick : tuple of str, optional
        The same at the quick size; `needs` where absent.
    libraries : tuple of str
        Modules that must be installed beside those of the extra ``studies``; they are those of the extra ``brain``.
    shares : str, optional
        The study whose pieces of work these are too, with the same `cells` and `work`: they are done once.
    derive : callable, optional
        ``(frames) -> frames``: short tables made from the others, which `judge` and `draw` get too and the page shows.
    """

    name: str
    title: str
    source: str
    about: str
    cells: Callable[[bool], list[Cell]]
    work: Callable[[Cell, int], Tables]
    judge: Callable[[Frames, Facts], list[Verdict]]
    draw: Callable[[Frames], list[Picture]]
    needs: tuple[str, ...] = ()
    needs_quick: tuple[str, ...] | None = None
    derive: Callable[[Frames], Frames] | None = None
    shares: str | None = None
    libraries: tuple[str, ...] = ()


def generator(seed: int, *key: Any) -> np.random.Generator:
    """Random numbers for one purpose: the same for the same seed and key, in whatever order the work is done.

    Examples
    --------
    >>> first, again = generator(0, "graph", 3).random(), generator(0, "graph", 3).random()
    >>> first == again, first == generator(1, "graph", 3).random()
    (True, False)
    """
    return np.random.default_rng(int(digest([seed, *key]), 16))


def digest(value: Any) -> str:
    """A number for JSON data, in hexadecimal."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]


_ADNI = "needs the ADNI scans, which their owners alone may pass on; a user's own copy can be tested"
_NOT_RUN: tuple[tuple[str, str, str], ...] = (
    (
        "Graph-PRI tells mild cognitive impairment from normal controls as well as the best method (66.7 %)",
        "§4.3, Table",
        _ADNI,
    ),
    (
        "Connections within the sensorimotor network are stronger in patients with mild cognitive impairment",
        "§4.3, Figure brain",
        _ADNI,
    ),
    (
        "Connections within the fronto-parietal network are fewer in patients with mild cognitive impairment",
        "§4.3, Figure brain",
        _ADNI,
    ),
)
UNTESTED = tuple(Verdict(claim, source, "not run", "not testable", why) for claim, source, why in _NOT_RUN)
"""Claims of the paper that no study tests, with the reason; a study that tests one takes it out of this list."""

_LONG_STUDIES = {
    "mtl-synthetic": (
        "Pruning the task graph by Graph-PRI lowers the test error early, and of the others only local similarity does",
        "§4.2, Figure MTL",
    ),
    "mtl-parkinsons": (
        "On Parkinson's data most methods stay close to no pruning, and Graph-PRI is slightly better",
        "§4.2, Figure MTL",
    ),
    "brain-eoec": (
        "Graph-PRI classifies eyes open and eyes closed with an accuracy of 80.7 %, the best of six methods",
        "§4.3, Table",
    ),
    "costs": (
        "The closed-form gradient saves time and memory against automatic differentiation",
        "Appendix A.3",
    ),
    "optimisation": (
        "Gumbel-softmax sampling eases the optimisation, though the gradient is analytical",
        "§3.3",
    ),
    "brain-features": (
        "Local clustering coefficients as further features of the regions improve the classification",
        "Appendix C.2",
    ),
    "brain-planted": (
        "The mask that the paper's network learns shows the connections that differ",
        "§4.3, Figure brain",
    ),
}
"""Claims whose studies are long and may be left out of a page."""


def untested(ran: Collection[str]) -> tuple[Verdict, ...]:
    """The claims of the paper that the studies of these names leave untested, and why."""
    why = "its study has not run for this page: graphpri reproduce {}"
    left = {name: claim for name, claim in _LONG_STUDIES.items() if name not in ran}
    return (*(Verdict(*claim, "not run", "not testable", why.format(name)) for name, claim in left.items()), *UNTESTED)
