"""Few cases in place of all combinations of parameters: each two values of two parameters occur together in one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations, product
from typing import Any

import pytest


def rows(sizes: list[int]) -> list[tuple[int, ...]]:
    """A covering array of strength two, found greedily: the next row has the most pairs that no row has yet."""
    columns = list(combinations(range(len(sizes)), 2))
    every = {row: {(i, row[i], j, row[j]) for i, j in columns} for row in product(*map(range, sizes))}
    missing = set().union(*every.values())
    chosen: list[tuple[int, ...]] = []
    while missing:
        best, most = (), 0
        for row, pairs in every.items():
            gain = len(pairs & missing)
            if gain > most:
                best, most = row, gain
                if gain == len(columns):
                    break
        missing -= every.pop(best)
        chosen.append(best)
    return chosen


def each_pair(**parameters: Iterable[Any] | Mapping[str, Any]) -> pytest.MarkDecorator:
    """Like a ``parametrize`` for each parameter, but that only pairs of values are sure to occur, not all products.

    A mapping's keys name its values in the tests' names. For parameters that meet in the code two at a time, if at all.
    """
    given = {name: list(values) for name, values in parameters.items()}
    values = {
        name: list(kept.values()) if isinstance(kept := parameters[name], Mapping) else given[name] for name in given
    }
    chosen = rows([len(found) for found in given.values()])
    picked = [tuple(found[i] for found, i in zip(values.values(), row, strict=True)) for row in chosen]
    ids = ["-".join(str(found[i]) for found, i in zip(given.values(), row, strict=True)) for row in chosen]
    return pytest.mark.parametrize(tuple(values), picked, ids=ids)
