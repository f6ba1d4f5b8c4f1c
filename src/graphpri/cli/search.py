"""Options that several commands share: what to keep, how to measure it, and what to put out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter, Token

from graphpri.cli.values import parse_pairs

if TYPE_CHECKING:
    from graphpri.graph import EdgeTable


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
Entropy = Annotated[
    Literal["auto", "exact", "stochastic", "local", "degree"],
    Parameter(help="How entropies are computed; 'auto' goes by size, 'stochastic' has error bars."),
]
Plot = Annotated[
    str | None,
    Parameter(metavar="FILE", group=OUTPUT, help="Draw a picture too: .png, .pdf, .svg (needs matplotlib)."),
]


@Parameter(name="*", group=SEARCH)
@dataclass(frozen=True, kw_only=True)
class Search:
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
    entropy: Entropy = "auto"
    mixture: Annotated[
        Literal["equation", "listing"],
        Parameter(help="How the divergence averages the Laplacians: as the paper's equation or as its listing."),
    ] = "equation"
    seed: Annotated[Whole, Parameter(help="For everything random; the same seed gives the same result.")] = 0

    def keywords(self, table: EdgeTable) -> dict[str, Any]:
        """Keyword arguments of :func:`graphpri.sparsify` and :func:`graphpri.path` for a graph."""
        return {
            "alpha": self.alpha,
            "connected": self.connected,
            "protect": parse_pairs(self.protect, table, "protect"),
            "forbid": parse_pairs(self.forbid, table, "forbid"),
            "entropy": self.entropy,
            "mixture": self.mixture,
            "seed": self.seed,
        }


@Parameter(name="*", group=MEASURING)
@dataclass(frozen=True, kw_only=True)
class Measuring:
    """How results are measured; :func:`graphpri.report` and :func:`graphpri.compare` take the same."""

    beta: Annotated[float, Parameter(help="Weight of the divergence in the objective.")] = 4.0
    alpha: Annotated[float, Parameter(help="Weight of the degree barrier in the objective.")] = 0.0
    entropy: Entropy = "auto"
    mixture: Annotated[
        Literal["equation", "listing"], Parameter(help="How the divergence averages the Laplacians.")
    ] = "equation"
    unit: Annotated[Literal["nats", "bits"], Parameter(help="Of entropy, divergence and objective.")] = "nats"


DEFAULT_SEARCH = Search()
DEFAULT_MEASURING = Measuring()
