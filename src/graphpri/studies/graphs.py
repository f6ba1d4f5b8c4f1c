"""The graphs that several studies run on."""

from __future__ import annotations

from graphpri import datasets
from graphpri.errors import FileError
from graphpri.graph import Graph
from graphpri.interop import as_graph
from graphpri.studies.study import generator

PAPER = ("g1", "g2", "karate", "madrid", "polbooks", "jazz")
"""G1 to G6 of the paper."""

TITLES = {
    "g1": "ring, k-NN",
    "g2": "block model",
    "karate": "karate club",
    "madrid": "train bombing",
    "polbooks": "political books",
    "jazz": "jazz musicians",
}
"""How pictures call them."""

ALPHA = 0.005
"""The paper's weight of the connectivity term, in all of its experiments."""


def load(name: str, *, weighted: bool = False) -> Graph:
    """A named graph; without its weights unless they are asked for."""
    return as_graph(datasets.load(name), weight="weight" if weighted else None)


def available(names: tuple[str, ...]) -> list[str]:
    """Those of the data sets that can be loaded here."""
    found: list[str] = []
    for name in names:
        try:
            datasets.load(name)
        except FileError:
            continue
        found.append(name)
    return found


def random_graph(model: str, n: int, mean_degree: float, seed: int, number: int = 0) -> Graph:
    """The paper's random graphs: ``"ER"`` or ``"BA"``, with about this mean degree.

    Barabási–Albert graphs join each new node to half the mean degree, which comes out a little lower.
    """
    rng = generator(seed, "graph", model, n, mean_degree, number)
    if model == "ER":
        return datasets.erdos_renyi(n, mean_degree, rng)
    return datasets.barabasi_albert(n, round(mean_degree / 2), rng)
