"""The canonical order of node labels, and the column names of end points."""

from __future__ import annotations

import os
import subprocess
import sys
from decimal import Decimal
from enum import Enum
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphpri.errors import GraphError
from graphpri.graph import END_NAMES, find_ends, order_labels

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=3)
    | st.binary(max_size=2),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=4,
)


class Colour(Enum):
    RED = 2
    BLUE = 1


class Address:
    """An object with the default repr, which shows its address."""


class Rank(int):
    """A number of another class."""


def ordered(labels):
    order, names = order_labels(labels)
    return [labels[i] for i in order] if names is None else list(names)


@given(st.lists(PLAIN, unique=True, max_size=6), st.randoms(use_true_random=False))
def test_order_does_not_depend_on_the_order_given(labels, random):
    shuffled = labels.copy()
    random.shuffle(shuffled)
    assert ordered(labels) == ordered(shuffled)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([(10, "a"), (9, "b"), (9, "a")], [(9, "a"), (9, "b"), (10, "a")]),
        ([(1, "a"), ("a", 1), (1,)], [(1,), (1, "a"), ("a", 1)]),
        ([frozenset("ba"), frozenset("a"), frozenset("c")], [frozenset("a"), frozenset("ab"), frozenset("c")]),
        ([Fraction(1, 2), 0.25, np.float64(3.0), Rank(1)], [0.25, Fraction(1, 2), Rank(1), 3.0]),
        ([Colour.RED, Colour.BLUE], [Colour.BLUE, Colour.RED]),
        ([True, "a", None, 2], [None, True, 2, "a"]),
        ([1 + 1j, 1j], [(1 + 1j), 1j]),
        ([Decimal(3), Decimal(2)], [Decimal(2), Decimal(3)]),
    ],
)
def test_kinds_are_sorted_by_value(labels, expected):
    assert ordered(labels) == expected


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: (1, x), lambda x: frozenset([x]), lambda x: x.__init__])
def test_labels_that_print_an_address_keep_their_order(wrap):
    # Enough of them that an order by address would hardly be the order given.
    labels = [wrap(Address()) for _ in range(20)] + ["b", "a", 3]
    assert ordered(labels) == labels
    assert ordered(labels[::-1]) == labels[::-1]


def test_order_is_the_same_in_every_process():
    code = (
        "from graphpri.graph import order_labels\n"
        "labels = [frozenset(w) for w in ('abc', 'xyz', 'abd', 'bcdef')] + [(frozenset('uvw'), 'q'), 'p', b'r', None]\n"
        "print(order_labels(labels)[0].tolist())"
    )
    orders = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2, 3)
    }
    assert len(orders) == 1


@pytest.mark.parametrize("labels", [[(1, 2), (1, 2)], [frozenset("ab"), frozenset("ba")], [True, 1]])
def test_equal_labels_are_refused(labels):
    with pytest.raises(GraphError, match="stands twice"):
        order_labels(labels)


def test_numbers_in_order_are_no_labels():
    for labels in ([2, 0, 1], np.array([2, 0, 1]), np.array([2, 0, 1], np.uint8)):
        order, names = order_labels(labels)
        assert (order.tolist(), names) == ([1, 2, 0], None)
    assert order_labels([0.0, 1.0])[1] == (0.0, 1.0)
    assert order_labels([])[1] is None


@pytest.mark.parametrize("pair", END_NAMES)
def test_every_pair_of_names_is_found(pair):
    a, b = pair
    assert find_ends([a, b]) == find_ends([a.upper(), f"_{b} "]) == [(0, 1)]
    assert find_ends(["x", b, "y", a]) == ([(1, 3)] if {a, b} == {"head", "tail"} else [(3, 1)])


@pytest.mark.parametrize(
    ("names", "pairs"),
    [
        (["id1", "id2", "Source", "Target"], [(2, 3)]),
        (["from", "to", "u", "v"], [(0, 1), (2, 3)]),
        (["from", "From", "to"], [(0, 2), (1, 2)]),
        (["source", "weight"], []),
        (["target"], []),
        ([], []),
    ],
)
def test_a_choice_of_columns_is_reported(names, pairs):
    assert find_ends(names) == pairs
