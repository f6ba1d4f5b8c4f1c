"""Edge lists: a row an edge, with or without a header, delimited by a comma, tab, semicolon or spaces."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from io import BytesIO
from itertools import chain
from typing import Any, BinaryIO, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from graphpri import graph
from graphpri._runtime import CHUNK, compact, compiled, in_chunks, in_turn, joined
from graphpri.errors import FileError, OptionError
from graphpri.graph import (
    EVERY,
    MOST_EDGES,
    BoolArray,
    EdgeTable,
    FloatArray,
    IntArray,
    Order,
    id_dtype,
    sorted_positions,
)
from graphpri.io.format import ReadOptions
from graphpri.io.sink import advance, check_text, numbers_text, write_text
from graphpri.io.source import Source, Tape

# ---------------------------------------------------------------------------------------------------------------------
# Powers of ten to 128 bits: what decimals and float64 are exchanged by.
# ---------------------------------------------------------------------------------------------------------------------

_LOWEST, _HIGHEST = -343, 326


@lru_cache(maxsize=1)
def powers() -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The powers of ten that a float64 can need, from the lowest on.

    Returns
    -------
    tens : ndarray of uint64, shape (P, 2)
        The leading 128 bits of each power, cut off behind; upper and lower half.
    exponents : ndarray of int64, shape (P + 1,)
        Of two, by which they have to be multiplied; the last entry is the exponent of the lowest power of ten.
    """
    tens = np.empty((_HIGHEST - _LOWEST + 1, 2), np.uint64)
    exponents = np.empty(len(tens) + 1, np.int64)
    for row, power in enumerate(range(_LOWEST, _HIGHEST + 1)):
        # 10^power = up / down, with enough bits in front of the point that 128 remain.
        up, down = 10 ** max(power, 0), 10 ** max(-power, 0)
        shift = 130 + down.bit_length() - up.bit_length()
        whole = (up << shift) // down if shift >= 0 else up // (down << -shift)
        cut = whole.bit_length() - 128
        leading = whole >> cut
        tens[row] = leading >> 64, leading & (2**64 - 1)
        exponents[row] = cut - shift
    exponents[-1] = _LOWEST
    return tens, exponents


# ---------------------------------------------------------------------------------------------------------------------
# Compiled loops that find the numbers of integer labels which are far apart, by hashing.
#
# Imported only for large files.
# ---------------------------------------------------------------------------------------------------------------------

Longs = NDArray[np.int64]
Codes = NDArray[np.int32]

_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio (Knuth, The Art of Computer Programming, 6.4)


@compiled
def fill_table(labels: Longs, table: Longs) -> None:
    """Enter distinct labels into a table of −1, a power of two long: each number at its label's place or behind."""
    last = table.size - 1
    for i in range(labels.size):
        at = np.int64((np.uint64(labels[i]) * _SPREAD) >> np.uint64(32)) & last
        while table[at] >= 0:
            at = (at + 1) & last
        table[at] = i


@compiled
def find_slots(ids: Longs, labels: Longs, table: Longs, found: NDArray[np.integer[Any]]) -> None:
    """The number of the label that each id is; all of them must be in the table."""
    last = table.size - 1
    for i in range(ids.size):
        at = np.int64((np.uint64(ids[i]) * _SPREAD) >> np.uint64(32)) & last
        while labels[table[at]] != ids[i]:
            at = (at + 1) & last
        found[i] = table[at]


@compiled
def number_words(
    text: NDArray[np.uint8],
    starts: Longs,
    stops: Longs,
    table: NDArray[np.int32],
    codes: NDArray[np.int32],
    firsts: Longs,
) -> int:
    """Number words in order of first appearance.

    Parameters
    ----------
    text : ndarray of uint8
    starts, stops : ndarray of int64, shape (R,)
        Where each word stands.
    table : ndarray of int32
        All −1, a power of two long.
    codes : ndarray of int32, shape (R,)
        Gets the number of each word.
    firsts : ndarray of int64, half as long as the table
        Gets the row where each word first appears.

    Returns
    -------
    int
        How many words there are; −1 where the table is too small for them.
    """
    last, count = table.size - 1, 0
    for i in range(starts.size):
        start, length = starts[i], stops[i] - starts[i]
        hashed = np.uint64(length)
        for at in range(start, start + length):
            hashed = (hashed ^ np.uint64(text[at])) * _SPREAD
        at = np.int64(hashed >> np.uint64(32)) & last
        while True:
            code = table[at]
            if code < 0:
                if count == firsts.size:
                    return -1
                table[at] = code = count
                firsts[count] = i
                count += 1
                break
            other = starts[firsts[code]]
            if stops[firsts[code]] - other == length:
                same = 0
                while same < length and text[other + same] == text[start + same]:
                    same += 1
                if same == length:
                    break
            at = (at + 1) & last
        codes[i] = code
    return count


# ---------------------------------------------------------------------------------------------------------------------
# Compiled loops over the text of edge lists: rows of numbers read, and written.
#
# Imported only for large files.
# ---------------------------------------------------------------------------------------------------------------------

Bytes = NDArray[np.uint8]

Powers = NDArray[np.uint64]
Integer = int | np.integer[Any]

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ONE = np.uint64(1)
_EXACT = np.uint64(1 << 53)
_FRACTION = np.uint64((1 << 52) - 1)
_TIE = np.uint64(1 << 10)
_BELOW_TIE = np.uint64((1 << 10) - 1)
_REST = np.uint64((1 << 11) - 1)
_ELEVEN = np.uint64(11)
_TOP = np.uint64(63)
_UNSURE = np.uint64(2**64 - 8)
_MOST_DIGITS = 19


@compiled
def multiply(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The product of two 64-bit numbers, its upper and its lower half."""
    a1, a0, b1, b0 = a >> _HALF, a & _LOW, b >> _HALF, b & _LOW
    low, one, two = a0 * b0, a1 * b0, a0 * b1
    middle = (low >> _HALF) + (one & _LOW) + (two & _LOW)
    return a1 * b1 + (one >> _HALF) + (two >> _HALF) + (middle >> _HALF), (middle << _HALF) | (low & _LOW)


@compiled
def scaled(number: np.uint64, power: Integer, tens: Powers, exponents: Longs) -> tuple[np.uint64, np.uint64, Any]:
    """Number · 10^power as upper · 2^exponent, bit 63 of `upper` set, and the next 64 bits.

    The true value is not below this one, and above it by less than 8 in the last of these bits.
    """
    lead = 0
    while number >> _TOP == 0:
        number <<= _ONE
        lead += 1
    row = power - exponents[-1]
    upper, middle = multiply(number, tens[row, 0])
    carried, _ = multiply(number, tens[row, 1])
    middle += carried
    upper += np.uint64(middle < carried)
    exponent = exponents[row] - lead + 128
    if upper >> _TOP == 0:
        upper = (upper << _ONE) | (middle >> _TOP)
        middle <<= _ONE
        exponent -= 1
    return upper, middle, exponent


@compiled
def nearest(number: np.uint64, power: Integer, tens: Powers, exponents: Longs) -> Integer:
    """The bits of the float64 nearest to number · 10^power; −1 where that can't be told, or is not a normal number.

    Rounding is right because the 128 bits of the product decide it: where the unknown rest might, or a tie has
    to be broken, the answer is −1.
    """
    if number == 0:
        return 0
    if power < exponents[-1] or power - exponents[-1] >= tens.shape[0]:
        return -1
    upper, middle, exponent = scaled(number, power, tens, exponents)
    rest = upper & _REST
    if (rest == _TIE and middle < 8) or (rest == _BELOW_TIE and middle >= _UNSURE):
        return -1
    biased = exponent + 63 + 1023
    if biased < 1 or biased > 2045:
        return -1
    # A carry out of the fraction moves on into the exponent, as it should.
    fraction = ((upper >> _ELEVEN) & _FRACTION) + np.uint64(rest >= _TIE)
    return np.int64((np.uint64(biased) << np.uint64(52)) + fraction)


@compiled
def parse_rows(
    data: Bytes,
    delimiter: int,
    floats: NDArray[np.bool_],
    cells: Longs,
    todo: Longs,
    tens: Powers,
    exponents: Longs,
) -> tuple[int, int, int]:
    """Read rows of numbers, each ended by a line break.

    Parameters
    ----------
    data : ndarray of uint8
    delimiter : int
        Its code; 0 for runs of spaces and tabs.
    floats : ndarray of bool, shape (C,)
        Which columns are numbers of any kind; the others are integers in canonical form.
    cells : ndarray of int64, shape (C, R)
        Gets the integers, and the bits of the other numbers as float64.
    todo : ndarray of int64, shape (R · C, 4)
        Gets row, column, start and stop of numbers that are left to slower code.
    tens, exponents
        Powers of ten: see :func:`graphpri.io.delimited.powers`.

    Returns
    -------
    rows, left : int
        Rows read, and numbers left.
    column : int
        −1; or the column where an integer was expected and another number found; or −2 where a line is no
        row of C numbers.
    """
    at, row, left, width = 0, 0, 0, floats.size
    while at < data.size:
        for column in range(width):
            while data[at] == 32 or (data[at] == 9 and delimiter != 9):
                at += 1
            start = at
            negative = data[at] == 45
            plus = data[at] == 43
            if negative or plus:
                at += 1
            number, digits, power = np.uint64(0), 0, 0
            whole = at
            while 48 <= data[at] <= 57:
                if digits < _MOST_DIGITS:
                    number = number * np.uint64(10) + np.uint64(data[at] - 48)
                digits += number != 0 or digits > 0
                at += 1
            length = at - whole
            if length > 1 and data[whole] == 48:
                return row, left, -2
            is_integer = length > 0 and not plus and digits <= _MOST_DIGITS and not (negative and number == 0)
            if data[at] == 46:
                is_integer = False
                at += 1
                point = at
                while 48 <= data[at] <= 57:
                    if digits < _MOST_DIGITS:
                        number = number * np.uint64(10) + np.uint64(data[at] - 48)
                        power -= 1
                    digits += number != 0 or digits > 0
                    at += 1
                length += at - point
            if length == 0:
                return row, left, -2
            if data[at] == 101 or data[at] == 69:
                is_integer = False
                at += 1
                down = data[at] == 45
                if down or data[at] == 43:
                    at += 1
                begin, exponent = at, 0
                while 48 <= data[at] <= 57:
                    exponent = min(exponent * 10 + np.int64(data[at]) - 48, 100_000)
                    at += 1
                if at == begin:
                    return row, left, -2
                power += -exponent if down else exponent
            stop = at
            if is_integer and number >> _TOP:
                is_integer = False
            if not floats[column]:
                if not is_integer:
                    return row, left, column
                cells[column, row] = -np.int64(number) if negative else np.int64(number)
            else:
                bits = -1 if digits > _MOST_DIGITS else nearest(number, power, tens, exponents)
                if bits < 0:
                    todo[left, 0], todo[left, 1], todo[left, 2], todo[left, 3] = row, column, start, stop
                    left += 1
                else:
                    cells[column, row] = (bits | np.int64(-(2**63))) if negative else bits
            while data[at] == 32 or (data[at] == 9 and delimiter != 9):
                at += 1
            if column < width - 1:
                if delimiter == 0:
                    if at == stop or data[at] == 10:
                        return row, left, -2
                elif data[at] == delimiter:
                    at += 1
                else:
                    return row, left, -2
        if data[at] == 13 and data[at + 1] == 10:
            at += 1
        if data[at] != 10:
            return row, left, -2
        at += 1
        row += 1
    return row, left, -1


@compiled
def put_integers(values: Longs, blob: Bytes, stride: int, starts: Longs, lengths: Longs) -> None:
    """Write integers as text, each at the end of its own `stride` bytes, 20 or more."""
    for i in range(values.size):
        value = values[i]
        number = ~np.uint64(value) + _ONE if value < 0 else np.uint64(value)
        end = at = (i + 1) * stride
        while True:
            at -= 1
            blob[at] = 48 + number % np.uint64(10)
            number //= np.uint64(10)
            if number == 0:
                break
        if value < 0:
            at -= 1
            blob[at] = 45
        starts[i], lengths[i] = at, end - at


@compiled
def shortest(bits: Integer, tens: Powers, exponents: Longs) -> tuple[np.uint64, Integer]:
    """The shortest decimal, digits · 10^power, that reads back as a positive normal float64; (0, 0) where unsure.

    Of the numbers of 17 digits the nearest always does, of fewer digits the nearest if any. Where the float is
    a power of two, those above it are farther apart than those below, and the second is only sure up to 15 digits.
    """
    fraction = np.uint64(bits) & _FRACTION
    binary = (bits >> 52) - 1023 - 52
    power = 16 - np.int64(np.floor((np.log2(np.float64(fraction) + np.float64(1 << 52)) + binary) * np.log10(2.0)))
    whole, rest, shift, middle = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
    for _ in range(3):
        upper, middle, exponent = scaled(fraction | np.uint64(1 << 52), power, tens, exponents)
        shift = np.uint64(-(exponent + binary))
        whole = upper >> shift
        rest = upper & ((_ONE << shift) - _ONE)
        if whole >= np.uint64(10**17):
            power -= 1
        elif whole < np.uint64(10**16 - 1):  # 10**16 itself may come out a little less
            power += 1
        else:
            break
    full = (_ONE << shift) - _ONE
    number, unit, left = np.uint64(0), np.uint64(100), 2
    while left >= 0:
        if left < 2 and fraction == 0:
            return np.uint64(0), 0
        number, over = whole // unit, whole % unit
        if left:
            half = unit // np.uint64(2)
            unsure = (over == half and rest == 0 and middle < 8) or (
                over == half - _ONE and rest == full and middle >= _UNSURE
            )
            up = over >= half
        else:
            tie = _ONE << (shift - _ONE)
            unsure = (rest == tie and middle < 8) or (rest == tie - _ONE and middle >= _UNSURE)
            up = rest >= tie
        if unsure:
            return np.uint64(0), 0
        number += np.uint64(up)
        back = nearest(number, left - power, tens, exponents)
        if back == bits:
            break
        if back < 0:
            return np.uint64(0), 0
        left -= 1
        unit //= np.uint64(10)
    power = left - power
    while number % np.uint64(10) == 0:
        number //= np.uint64(10)
        power += 1
    return number, power


@compiled
def put_floats(
    values: Longs,
    blob: Bytes,
    stride: int,
    starts: Longs,
    lengths: Longs,
    left: Longs,
    tens: Powers,
    exponents: Longs,
) -> int:
    """Write float64, given by their bits, as ``repr`` does, each in its own `stride` bytes, 24 or more.

    `left` gets the numbers of those left to slower code; the result says how many.
    """
    count = 0
    digits = np.empty(20, np.uint8)
    for i in range(values.size):
        bits = values[i] & np.int64(2**63 - 1)
        first = at = i * stride
        if values[i] < 0:
            blob[at] = 45
            at += 1
        number, power = np.uint64(0), 0
        if bits != 0:
            normal = 0 < bits >> 52 < 2047
            if normal:
                number, power = shortest(bits, tens, exponents)
            if number == 0:
                left[count] = i
                count += 1
                continue
        length = 0
        while True:
            digits[length] = 48 + number % np.uint64(10)
            number //= np.uint64(10)
            length += 1
            if number == 0:
                break
        point = length + power
        if -4 < point <= 16:
            for place in range(min(point, 1) - 1, max(length, point + 1)):
                if place == point and place > 0:
                    blob[at] = 46
                    at += 1
                inside = 0 <= place < length
                blob[at] = digits[length - 1 - place] if inside else 48
                at += 1
                if place == min(point, 1) - 1 and point <= 0:
                    blob[at] = 46
                    at += 1
        else:
            for place in range(length):
                blob[at] = digits[length - 1 - place]
                at += 1
                if place == 0 and length > 1:
                    blob[at] = 46
                    at += 1
            tail = point - 1
            blob[at] = 101
            blob[at + 1] = 45 if tail < 0 else 43
            at += 2
            tail = abs(tail)
            if tail >= 100:
                blob[at] = 48 + tail // 100
                at += 1
            blob[at], blob[at + 1] = 48 + tail // 10 % 10, 48 + tail % 10
            at += 2
        starts[i], lengths[i] = first, at - first
    return count


@compiled
def join_cells(blob: Bytes, starts: Longs, lengths: Longs, delimiter: int, out: Bytes) -> int:
    """Write rows of cells, shape (C, R), that stand in `blob`; the number of bytes written."""
    at = 0
    for row in range(starts.shape[1]):
        for column in range(starts.shape[0]):
            start = starts[column, row]
            for i in range(start, start + lengths[column, row]):
                out[at] = blob[i]
                at += 1
            out[at] = delimiter
            at += 1
        out[at - 1] = 10
    return at


# ---------------------------------------------------------------------------------------------------------------------
# Columns of text cells, and rows of them written in pieces: by compiled code where there are very many.
# ---------------------------------------------------------------------------------------------------------------------

LARGE = 1 << 18
"""Rows from which compiled code pays."""

_ROWS = 1 << 16  # in a piece
_WIDTH = 25  # of the longest number


class Placed(NamedTuple):
    """Cells as places in a text, shape (R,) each."""

    text: NDArray[np.uint8]
    starts: Longs
    lengths: Longs


class Cells(Protocol):
    """A column of cells; a piece of it as text, and in the form that compiled code takes."""

    def texts(self, at: slice) -> list[str]:
        """The cells of some rows."""
        ...

    def placed(self, at: slice) -> Placed:
        """The same, as places in a text."""
        ...


class Numbers:
    """Cells that are numbers.

    Parameters
    ----------
    take : callable
        Gives the numbers of a slice of rows as an array of int or float.
    """

    def __init__(self, take: Callable[[slice], NDArray[Any]]) -> None:
        self._take = take

    def texts(self, at: slice) -> list[str]:
        """The cells of some rows."""
        return numbers_text(self._take(at))

    def placed(self, at: slice) -> Placed:
        """The same, as places in a text."""
        values = self._take(at)
        text = np.empty(values.size * _WIDTH, np.uint8)
        starts, lengths = np.empty(values.size, np.int64), np.empty(values.size, np.int64)
        if values.dtype == np.uint64 and values.max(initial=0) > np.iinfo(np.int64).max:
            return Texts(list(map(str, values.tolist()))).placed(slice(None))
        if values.dtype.kind != "f":
            put_integers(values.astype(np.int64), text, _WIDTH, starts, lengths)
            return Placed(text, starts, lengths)
        floats, left = values.astype(np.float64), np.empty(values.size, np.int64)
        count = put_floats(floats.view(np.int64), text, _WIDTH, starts, lengths, left, *powers())
        for i in left[:count].tolist():
            cell = np.frombuffer(repr(float(floats[i])).encode(), np.uint8)
            starts[i], lengths[i] = i * _WIDTH, cell.size
            text[starts[i] : starts[i] + cell.size] = cell
        return Placed(text, starts, lengths)


class Texts:
    """Cells that are text, one for each row; None is an empty cell."""

    def __init__(self, words: Sequence[str | None]) -> None:
        self._words = words

    def texts(self, at: slice) -> list[str]:
        """The cells of some rows."""
        return [word or "" for word in self._words[at]]

    def placed(self, at: slice) -> Placed:
        """The same, as places in a text."""
        return _place(self.texts(at))


def number_cells(values: NDArray[Any]) -> Cells:
    """Cells of an array of numbers, which may be Python integers beyond 64 bits."""
    return Numbers(values.__getitem__) if values.dtype.kind in "iuf" else Texts(numbers_text(values))


class Coded:
    """Cells out of few different texts.

    Parameters
    ----------
    words : list of str
    codes : ndarray of int, shape (R,)
        Positions among the words.
    """

    def __init__(self, words: list[str], codes: IntArray) -> None:
        self._words, self._codes = words, codes
        self._placed: Placed | None = None

    def texts(self, at: slice) -> list[str]:
        """The cells of some rows."""
        return [self._words[i] for i in self._codes[at].tolist()]

    def placed(self, at: slice) -> Placed:
        """The same, as places in a text."""
        if self._placed is None:
            self._placed = _place(self._words)
        codes = self._codes[at]
        return Placed(self._placed.text, self._placed.starts[codes], self._placed.lengths[codes])


def _place(words: Sequence[str]) -> Placed:
    encoded = [word.encode(errors="surrogatepass") for word in words]
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    return Placed(np.frombuffer(b"".join(encoded), np.uint8), np.cumsum(lengths) - lengths, lengths)


def write_rows(stream: BinaryIO, name: str, header: str, columns: Sequence[Cells], size: int, delimiter: str) -> None:
    """Write a header, if any, and rows of cells.

    Parameters
    ----------
    stream : binary stream
    name : str
        Of the output, for messages.
    header : str
        With its line break.
    columns : sequence of Cells
    size : int
        Number of rows.
    delimiter : str

    Raises
    ------
    FileError
        For text that no text file can hold.
    """
    write_text(stream, name, [header] if header else [])
    pieces = [slice(start, min(start + _ROWS, size)) for start in range(0, size, _ROWS)]
    if size >= LARGE:
        for done, data in enumerate(in_turn(lambda at: _joined(columns, at, delimiter), pieces), 1):
            check_text(data, name)
            stream.write(data)
            advance(stream, done, len(pieces))
        return
    form = delimiter.join(["%s"] * len(columns)) + "\n"
    for at in pieces:
        write_text(stream, name, map(form.__mod__, zip(*(cells.texts(at) for cells in columns), strict=True)))


def _joined(columns: Sequence[Cells], at: slice, delimiter: str) -> bytes:

    placed = [cells.placed(at) for cells in columns]
    offsets = np.cumsum([0, *(cells.text.size for cells in placed)])
    starts = np.stack([cells.starts + offset for cells, offset in zip(placed, offsets, strict=False)])
    lengths = np.stack([cells.lengths for cells in placed])
    out = np.empty(int(lengths.sum()) + lengths.size, np.uint8)
    join_cells(np.concatenate([cells.text for cells in placed]), starts, lengths, ord(delimiter), out)
    return out.tobytes()


# ---------------------------------------------------------------------------------------------------------------------
# Node labels for the formats whose nodes have ids and attributes (GML, GraphML, Pajek).
# ---------------------------------------------------------------------------------------------------------------------


class Nodes(NamedTuple):
    """Labels of the nodes and their remaining attributes."""

    labels: Sequence[Hashable] | None
    attributes: dict[str, Column]


def label_nodes(
    source: Source,
    ids: Sequence[Any],
    attributes: Mapping[str, Column],
    lines: Sequence[int],
    option: str | None,
    default: str = "id",
    remedy: str = 'pass label="id" (--label id) to call nodes by their ids',
) -> Nodes:
    """Choose what the nodes are called.

    Parameters
    ----------
    source : Source
    ids : sequence
        The file's ids of the nodes.
    attributes : mapping
        Columns of node attributes; the one that becomes the label is taken out.
    lines : sequence of int
        Where each node stands.
    option : str or None
        The attribute to use, or ``"id"`` for the ids.
    default : str
        The same, where `option` is None; the ids where no node has this attribute.
    remedy : str
        What to do about labels that are missing or stand twice.

    Raises
    ------
    FileError
        For an attribute that no node or not every node has, and for labels that stand twice.
    """
    name = option or default
    if option is None and default not in attributes:
        name = "id"
    if name == "id":
        values = list(ids)
    elif name in attributes:
        values = python_values(attributes[name])
    else:
        known = ", ".join(map(repr, attributes)) or "none"
        raise source.error(f"no node has the attribute {name!r} named as label= (--label; node attributes: {known})")
    if option == "id":
        remedy = "correct the file"
    seen: dict[str, int] = {}
    for value, line in zip(values, lines, strict=True):
        if value is None:
            raise source.error(f"the node has no {name!r}, and others have: {remedy}", line)
        if not isinstance(value, str | int | float):
            raise source.error(f"the node's {name!r} is neither text nor a number: {remedy}", line)
        text = str(value)
        if text in seen:
            raise source.error(f"the node label {value!r} stands in line {seen[text]} already: {remedy}", line)
        seen[text] = line
    rest = {key: column for key, column in attributes.items() if name == "id" or key != name}
    return Nodes(label_sequence(parse_labels(list(seen))), rest)


# ---------------------------------------------------------------------------------------------------------------------
# End points of edges: which columns hold them, and labels as numbers or text.
# ---------------------------------------------------------------------------------------------------------------------

_INT_DIGITS = 4000  # int() takes 4300


class Ends(NamedTuple):
    """Nodes of a file and the two ends of each of its rows, as positions among them."""

    n_nodes: int
    source: IntArray
    target: IntArray
    labels: Sequence[Hashable] | None


def find_ends(names: Sequence[str]) -> tuple[int, int] | None:
    """Positions of two columns whose names are known for end points; the leftmost where there is a choice."""
    return min(graph.find_ends(names), key=sorted, default=None)


def read_ends(source: Source, rows: Rows, u: int, v: int) -> Ends:
    """Number the labels in two columns of end points.

    Labels that are all integers in canonical form (``12``, ``-3``; not ``007``) become integers, and
    the nodes then stand in their order; otherwise all labels are text, in order of first appearance.

    Raises
    ------
    FileError
        For an empty cell, naming its line.
    """
    a, b = rows.integers(u), rows.integers(v)
    if a is not None and b is not None:
        return integer_ends(a, b)
    if isinstance(rows, GridRows) and rows.n_rows >= LARGE and bool((rows.stop > rows.start)[:, [u, v]].all()):
        return _word_ends(rows, u, v)
    first, second = rows.cells(u), rows.cells(v)
    for cells in (first, second):
        if None in cells:
            raise source.error(
                "an end point of the edge is missing: fill it in, or drop the row; an edge list has no place for nodes "
                "without edges (GML, GraphML, Pajek and npz have)",
                int(rows.lines[cells.index(None)]),
            )
    return text_ends(first, second)


def text_ends(first: Sequence[str | None], second: Sequence[str | None], *, parse: bool = True) -> Ends:
    """Number labels given as text, as in :func:`read_ends`; with `parse` False they stay text."""
    words = [word for pair in zip(first, second, strict=True) for word in pair if word is not None]
    place: dict[str, int] = {}
    codes = np.array([place.setdefault(word, len(place)) for word in words], np.int64)
    if parse:
        return _parsed_ends(codes[0::2], codes[1::2], list(place))
    codes = codes.astype(id_dtype(len(place)))
    return Ends(len(place), codes[0::2], codes[1::2], list(place))


def _word_ends(rows: GridRows, u: int, v: int) -> Ends:
    """Text labels of very many rows, with one object for each different label."""
    starts, stops = (np.ascontiguousarray(x[:, [u, v]]).reshape(-1) for x in (rows.start, rows.stop))
    # Read-only, like all text that compiled code takes: each kind of array would be compiled for anew.
    text = np.frombuffer(rows.data, np.uint8)
    codes, size, count = np.empty(starts.size, np.int32), 1 << 16, -1
    firsts = np.empty(0, np.int64)
    while count < 0:
        size *= 4
        firsts = np.empty(size // 2, np.int64)
        count = number_words(text, starts, stops, np.full(size, -1, np.int32), codes, firsts)
    first = firsts[:count]
    words = [rows.data[a:b].decode() for a, b in zip(starts[first].tolist(), stops[first].tolist(), strict=True)]
    return _parsed_ends(codes[0::2], codes[1::2], words)


def _parsed_ends(u: NDArray[np.integer[Any]], v: NDArray[np.integer[Any]], words: list[str]) -> Ends:
    """Ends by their positions among labels given as text, which become integers in their order if all of them are."""
    labels = parse_labels(words)
    if labels and isinstance(labels[0], int):
        order = sorted(range(len(labels)), key=labels.__getitem__)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        u, v, labels = rank[u], rank[v], [labels[i] for i in order]
    ids = id_dtype(len(labels))
    return Ends(len(labels), u.astype(ids), v.astype(ids), labels)


def coded_ends(u: NDArray[np.integer[Any]], v: NDArray[np.integer[Any]], words: Sequence[str]) -> Ends:
    """Number text labels in order of first appearance.

    Parameters
    ----------
    u, v : ndarray of int, shape (R,)
        Positions of the ends among `words`.
    words : sequence of str
        All different, each an end of some row.
    """
    both = np.stack([u, v], axis=1).reshape(-1)
    first = np.empty(len(words), np.int64)
    first[both[::-1]] = np.arange(both.size)[::-1]  # of several values for one place the last one stays
    order = np.argsort(first)
    rank = np.empty(order.size, id_dtype(order.size))
    rank[order] = np.arange(order.size)
    return Ends(order.size, rank[u], rank[v], [words[i] for i in order.tolist()])


def integer_ends(u: NDArray[np.integer[Any]], v: NDArray[np.integer[Any]]) -> Ends:
    """Number integer labels in increasing order; no labels where they are 0, 1, 2 and so on.

    Arrays of the type of node numbers that hold these already are not copied.
    """
    if not u.size:
        return Ends(0, u.astype(id_dtype(0)), v.astype(id_dtype(0)), None)
    low, high = int(min(u.min(), v.min())), int(max(u.max(), v.max()))
    if high - low < max(_DENSE * u.size, _FEW):
        return _dense_ends(u, v, low, high - low + 1)
    if u.size < _FEW:
        labels, codes = np.unique(np.concatenate([u, v]), return_inverse=True)
        codes = codes.astype(id_dtype(labels.size))
        return Ends(labels.size, codes[: u.size], codes[u.size :], cast("Sequence[Hashable]", labels))
    return _sparse_ends(u, v)


_DENSE = 8
_FEW = 1 << 20


def _dense_ends(u: NDArray[np.integer[Any]], v: NDArray[np.integer[Any]], low: int, span: int) -> Ends:
    """Labels out of a range that a table can hold."""
    present = np.zeros(span, bool)
    for ids in (u, v):
        for at in _pieces(ids):
            present[at - low if low else at] = True
    labels = np.flatnonzero(present) + low
    ids = id_dtype(labels.size)
    if labels.size == span:
        source, target = (x.astype(ids, copy=False) if not low else (x - low).astype(ids) for x in (u, v))
        return Ends(span, source, target, None if not low else cast("Sequence[Hashable]", labels))
    rank = np.cumsum(present, dtype=ids) - ids.type(1)
    source, target = (np.concatenate([rank[at - low] for at in _pieces(x)]) for x in (u, v))
    return Ends(labels.size, source, target, cast("Sequence[Hashable]", labels))


def _pieces(ids: NDArray[np.integer[Any]]) -> Iterator[NDArray[np.integer[Any]]]:
    return (ids[start : start + CHUNK] for start in range(0, ids.size, CHUNK))


def _sparse_ends(u: NDArray[np.integer[Any]], v: NDArray[np.integer[Any]]) -> Ends:
    """Labels far apart, such as hashes."""
    labels = np.concatenate([u, v], dtype=np.int64)
    labels.sort()
    labels = labels[np.concatenate([[True], labels[1:] != labels[:-1]])]
    table = np.full(1 << (2 * labels.size - 1).bit_length(), -1, np.int64)
    fill_table(labels, table)
    source, target = np.empty(u.size, id_dtype(labels.size)), np.empty(u.size, id_dtype(labels.size))

    def find(start: int, stop: int) -> None:
        for ids, found in ((u, source), (v, target)):
            find_slots(ids[start:stop].astype(np.int64), labels, table, found[start:stop])

    in_chunks(find, u.size)
    return Ends(labels.size, source, target, cast("Sequence[Hashable]", labels))


def parse_labels(words: Sequence[str]) -> list[Any]:
    """Labels as integers where all of them are integers in canonical form, as text otherwise."""
    if all(INTEGER.fullmatch(word) and len(word) < _INT_DIGITS for word in words):
        return [int(word) for word in words]
    return list(words)


def label_sequence(labels: Sequence[Any]) -> Sequence[Hashable] | None:
    """Labels for an EdgeTable: None for 0, 1, 2, …, an array of int64 where they are integers that fit."""
    if not all(type(label) is int for label in labels):
        return tuple(labels)
    if list(labels) == list(range(len(labels))):
        return None
    try:
        return cast("Sequence[Hashable]", np.array(labels, np.int64))
    except OverflowError:
        return tuple(labels)


# ---------------------------------------------------------------------------------------------------------------------
# Rows of text cells: a vectorised parser for regular tables, and lists of cells for the others.
# ---------------------------------------------------------------------------------------------------------------------

Ints = NDArray[np.int64]

INTEGER = re.compile(r"0|-?[1-9][0-9]*")
NUMBER = re.compile(
    r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:nan|inf(?:inity)?)", re.I
)
ANY_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:nan|inf(?:inity)?)", re.I)
_NUMERIC_BYTES = b"0123456789+-.eE \t\n,;"
_DIGITS_OF_INT64 = 19
_ROUNDS = 100

"""Rows from which compiled code pays."""

_DELIMITERS = {"comma": ",", "tab": "\t", "\\t": "\t", "semicolon": ";", "space": None, "whitespace": None, " ": None}


class Rows(Protocol):
    """Cells in rows of equal length, each row with its line in the file."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        ...

    @property
    def lines(self) -> Ints:
        """Line number of each row, counted from 1."""
        ...

    def cells(self, column: int) -> list[str | None]:
        """Cells of a column as text; None where a cell is empty."""
        ...

    def integers(self, column: int) -> Ints | None:
        """A column as int64, or None unless every cell is an integer in canonical form that fits."""
        ...

    def numbers(self, column: int) -> FloatArray | None:
        """A column as float64, or None unless every cell is a number without padding zeros."""
        ...


@dataclass(frozen=True)
class CellRows:
    """Rows held as lists of cells, for what the vectorised parser can't take."""

    columns: Sequence[list[str | None]]
    lines: Ints

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.lines.size

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    def cells(self, column: int) -> list[str | None]:
        """Cells of a column as text; None where a cell is empty."""
        return self.columns[column]

    def integers(self, column: int) -> Ints | None:
        """A column as int64, or None."""
        cells = self.columns[column]
        if not all(cell is not None and INTEGER.fullmatch(cell) for cell in cells):
            return None
        try:
            return np.array([int(cell or "") for cell in cells], np.int64)
        except (OverflowError, ValueError):  # ValueError: beyond the digits that int() takes
            return None

    def numbers(self, column: int) -> FloatArray | None:
        """A column as float64, or None."""
        return parse_numbers(self.columns[column])


def parse_numbers(cells: list[str | None]) -> FloatArray | None:
    """Cells as float64, or None unless every one is a number without padding zeros."""
    if not all(cell is not None and NUMBER.fullmatch(cell) for cell in cells):
        return None
    return np.array([float(cell or "") for cell in cells], np.float64)


@dataclass(frozen=True)
class GridRows:
    """Rows as positions of cells in the bytes of the file."""

    data: bytes
    start: Ints
    stop: Ints
    lines: Ints
    buffer: NDArray[np.uint8] = field(repr=False)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.start.shape[0]

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.start.shape[1]

    @cached_property
    def _only_numbers(self) -> bool:
        return not self.data.translate(None, _NUMERIC_BYTES)

    def cells(self, column: int) -> list[str | None]:
        """Cells of a column as text; None where a cell is empty."""
        ends = zip(self.start[:, column].tolist(), self.stop[:, column].tolist(), strict=True)
        if self.data.isascii():
            text = self.data.decode("ascii")
            return [text[a:b] or None for a, b in ends]
        return [self.data[a:b].decode() or None for a, b in ends]

    def integers(self, column: int) -> Ints | None:
        """A column as int64, or None unless every cell is an integer in canonical form that fits."""
        return parse_integers(self.buffer, self.start[:, column], self.stop[:, column])

    def numbers(self, column: int) -> FloatArray | None:
        """A column as float64, or None unless every cell is a number without padding zeros."""
        start, stop = self.start[:, column], self.stop[:, column]
        if self.n_rows >= LARGE:
            values = _many_numbers(self.buffer, start, stop)
            return parse_numbers(self.cells(column)) if values is None else values
        if not self._only_numbers or _has_padding(self.buffer, start, stop):
            return parse_numbers(self.cells(column))
        try:
            ends = zip(start.tolist(), stop.tolist(), strict=True)
            return np.array([float(self.data[a:b]) for a, b in ends], np.float64)
        except ValueError:
            return None


def _many_numbers(buffer: NDArray[np.uint8], start: Ints, stop: Ints) -> FloatArray | None:
    """Very many numbers as float64; None where some cell is no number, or one that takes slower code to tell."""
    start, length = np.ascontiguousarray(start)[None], (stop - start)[None]
    joined = np.empty(int(length.sum()) + length.size, np.uint8)
    join_cells(np.array(buffer), start, length, ord("\n"), joined)
    text = joined.tobytes()
    cells, todo = np.empty((1, length.size), np.int64), np.empty((length.size, 4), np.int64)
    buffer = np.frombuffer(text, np.uint8)
    rows, left, problem = parse_rows(buffer, ord(","), np.ones(1, bool), cells, todo, *powers())
    if problem != -1 or rows != length.size:
        return None
    values = cells.view(np.float64)[0]
    for row, _, begin, end in todo[:left].tolist():
        values[row] = float(text[begin:end])
    return values


def parse_integers(buffer: NDArray[np.uint8], start: Ints, stop: Ints) -> Ints | None:
    """Integers at given places of a text as int64; None unless all are in canonical form and fit.

    Parameters
    ----------
    buffer : ndarray of uint8
        The text; it must end with a byte that belongs to no cell.
    start, stop : ndarray of int64, shape (R,)
        Where each integer begins and ends.
    """
    if not start.size:
        return np.zeros(0, np.int64)
    negative = buffer[start] == ord("-")
    first = start + negative
    width = stop - first
    if width.min() < 1 or width.max() > _DIGITS_OF_INT64:
        return None
    if ((buffer[first] == ord("0")) & ((width > 1) | negative)).any():
        return None
    value = np.zeros(start.size, np.uint64)
    for place in range(int(width.max())):
        inside = width > place
        digit = buffer[np.minimum(first + place, buffer.size - 1)] - np.uint8(ord("0"))
        if (digit[inside] > 9).any():
            return None
        value = np.where(inside, value * np.uint64(10) + digit, value)
    if value.max() > np.iinfo(np.int64).max:
        return None
    signed = value.astype(np.int64)
    return np.where(negative, -signed, signed)


def _has_padding(buffer: NDArray[np.uint8], start: Ints, stop: Ints) -> bool:
    """Whether a cell begins with a zero before another digit, as in 007."""
    sign = (buffer[start] == ord("+")) | (buffer[start] == ord("-"))
    first = start + (sign & (stop > start))
    after = buffer[np.minimum(first + 1, buffer.size - 1)]
    digit = (after >= ord("0")) & (after <= ord("9"))
    return bool(((buffer[first] == ord("0")) & (stop - first > 1) & digit).any())


def find_words(buffer: NDArray[np.uint8]) -> tuple[Ints, Ints]:
    """Start and stop of every run of bytes that are not spaces, tabs or line ends."""
    gap = (buffer == ord(" ")) | (buffer == ord("\t")) | (buffer == ord("\n"))
    edge = np.flatnonzero(gap[1:] != gap[:-1]) + 1
    if buffer.size and not gap[0]:
        edge = np.concatenate([[0], edge])
    return edge[0::2], edge[1::2]


def line_bounds(buffer: NDArray[np.uint8]) -> tuple[Ints, Ints]:
    """Start and end of every line; the text must end with a line break."""
    end = np.flatnonzero(buffer == ord("\n"))
    start = np.zeros_like(end)
    start[1:] = end[:-1] + 1
    return start, end


def split_grid(source: Source, data: bytes, delimiter: str | None, first_line: int = 1, comment: str = "") -> GridRows:
    """Split text into rows of equally many cells, leaving out blank lines and comments.

    Parameters
    ----------
    source : Source
        Named in errors.
    data : bytes
        Text that ends with a line break and has no quoted cells.
    delimiter : str or None
        One ASCII character, around which spaces don't count; None for runs of spaces and tabs.
    first_line : int
        Line number at which `data` begins.
    comment : str
        Characters that make a line that begins with one of them a comment.

    Raises
    ------
    FileError
        For a row with more or fewer cells than the first, naming both lines.
    """
    buffer = np.frombuffer(data, np.uint8)
    start, end = line_bounds(buffer)
    lines = np.arange(first_line, first_line + start.size)
    kept = _is_row(buffer, start, comment, delimiter)
    if not kept.all():
        buffer = buffer[np.repeat(kept, end - start + 1)]
        data, lines = buffer.tobytes(), lines[kept]
        start, end = line_bounds(buffer)
    if not start.size:
        nothing = np.zeros((0, 0), np.int64)
        return GridRows(data, nothing, nothing, lines, buffer)
    if delimiter is None:
        first, stop = find_words(buffer)
        counts = np.diff(np.searchsorted(first, end), prepend=0)
    else:
        breaks = np.flatnonzero(buffer == ord(delimiter))
        counts = np.diff(np.searchsorted(breaks, end), prepend=0) + 1
        first, stop = breaks + 1, breaks
    check_counts(source, counts, lines, delimiter)
    shape = (start.size, int(counts[0]))
    if delimiter is None:
        return GridRows(data, first.reshape(shape), stop.reshape(shape), lines, buffer)
    inner = (shape[0], shape[1] - 1)
    first = np.hstack([start[:, None], first.reshape(inner)])
    stop = np.hstack([stop.reshape(inner), end[:, None]])
    _trim(buffer, first, stop, delimiter)
    return GridRows(data, first, stop, lines, buffer)


def check_counts(source: Source, counts: Ints, lines: Ints, delimiter: str | None) -> None:
    """Refuse rows that have another number of cells than the first row."""
    odd = counts != counts[0]
    if odd.any():
        row = int(np.argmax(odd))
        raise count_error(source, (int(counts[row]), int(lines[row])), (int(counts[0]), int(lines[0])), delimiter)


def count_error(source: Source, found: tuple[int, int], first: tuple[int, int], delimiter: str | None) -> FileError:
    """Make the error for a row with too few or too many cells, from (cells, line) of it and of the first row."""
    between = "spaces and tabs" if delimiter is None else repr(delimiter)
    return source.error(
        f"the row has {found[0]} cell{'s' * (found[0] != 1)} where line {first[1]} has {first[0]} (split at {between})",
        found[1],
    )


def _is_row(buffer: NDArray[np.uint8], start: Ints, comment: str, delimiter: str | None) -> BoolArray:
    """Which lines are neither blank nor comments."""
    at = start.copy()
    _skip(buffer, at, 1, _blank_bytes(delimiter))
    byte = buffer[at]
    kept = byte != ord("\n")
    for mark in comment:
        kept &= byte != ord(mark)
    return kept


def _trim(buffer: NDArray[np.uint8], start: Ints, stop: Ints, delimiter: str) -> None:
    """Move the bounds of cells past the spaces around them, in place."""
    blank = _blank_bytes(delimiter)
    _skip(buffer, start.reshape(-1), 1, blank, stop.reshape(-1))
    last = stop.reshape(-1) - 1
    _skip(buffer, last, -1, blank, start.reshape(-1) - 1)
    stop[...] = last.reshape(stop.shape) + 1


def _blank_bytes(delimiter: str | None) -> bytes:
    return b" " if delimiter == "\t" else b" \t"


def _skip(buffer: NDArray[np.uint8], at: Ints, step: int, blank: bytes, bound: Ints | None = None) -> None:
    """Move positions over blanks, in place, as far as `bound`; a position stops at any other byte."""
    todo = np.arange(at.size)
    codes = np.frombuffer(blank, np.uint8)
    for _ in range(_ROUNDS):
        where = at[todo]
        on_blank = np.isin(buffer[where], codes)
        if bound is not None:
            on_blank &= where != bound[todo]
        todo = todo[on_blank]
        if not todo.size:
            return
        at[todo] += step
    # Wide padding in few places: walk it byte by byte rather than in ever shorter rounds.
    text = buffer.tobytes()
    for cell in todo.tolist():
        place, limit = int(at[cell]), -1 if bound is None else int(bound[cell])
        while place != limit and text[place] in blank:
            place += step
        at[cell] = place


def find_delimiter(name: str) -> str | None:
    """The character that a delimiter's name means; None for spaces and tabs.

    Raises
    ------
    OptionError
        Unless it is comma, tab, semicolon, space, or a single ASCII character that can delimit.
    """
    if name in _DELIMITERS:
        return _DELIMITERS[name]
    if len(name) != 1 or not name.isascii() or name.isalnum() or name in '\n\r\0"#%+-._':
        raise OptionError(f"delimiter={name!r}: choose comma, tab, semicolon, space, or one such character")
    return name


# ---------------------------------------------------------------------------------------------------------------------
# Large files whose rows are numbers only: read in pieces, by compiled code, in threads.
#
# Whatever is not as simple as that (comments between rows, quotes, words, padding zeros, rows of another length) is
# left to the reader of small files, which says what is wrong where something is.
# ---------------------------------------------------------------------------------------------------------------------

LARGE_TEXT = 1 << 23
"""Bytes of text from which compiled code pays."""

NUMBER_BYTES, TEXT_BYTES = 3, 20
"""Memory for each byte of a text, read here and by the reader of small files; measured: 1.6 to 3, and 19."""

_PIECE = 1 << 22


class NumberColumns(NamedTuple):
    """Columns of numbers, and the numbers of their lines.

    Parameters
    ----------
    columns : list of ndarray
        int32 or int64 where all numbers are integers in canonical form that fit, else float64.
    lines : range
    """

    columns: list[NDArray[Any]]
    lines: range


def read_head(source: Source) -> tuple[bytes, Iterator[bytes]] | None:
    """The first lines of a large file, some mebibytes, and the chunks that follow; None for a small file."""
    chunks = source.chunks()
    head: list[bytes] = []
    size = 0
    while size < LARGE_TEXT:
        if (chunk := next(chunks, None)) is None:
            return None
        head.append(chunk)
        size += len(chunk)
    data = b"".join(head)
    cut = data.rfind(b"\n") + 1
    return (data[:cut], chain([data[cut:]], chunks)) if cut else None


def read_numbers(
    source: Source,
    first: bytes,
    chunks: Iterable[bytes],
    delimiter: str | None,
    n_columns: int,
    integers: Sequence[int],
    line: int,
) -> NumberColumns | None:
    """Read rows of numbers; None where some line is anything else.

    Parameters
    ----------
    source : Source
        Named in errors.
    first : bytes
        Whole lines, in which the rows begin.
    chunks : iterable of bytes
        What follows.
    delimiter : str or None
        One ASCII character, around which spaces don't count; None for runs of spaces and tabs.
    n_columns : int
    integers : sequence of int
        Columns that must be integers in canonical form.
    line : int
        Line number at which `first` begins.

    Raises
    ------
    FileError
        For more rows than a graph can have edges.
    """
    code = 0 if delimiter is None else ord(delimiter)
    pieces: list[list[NDArray[Any]]] = []
    n_rows = 0
    for piece in in_turn(lambda data: _parse(data, code, n_columns, integers), _whole_lines(first, chunks, delimiter)):
        if piece is None:
            return None
        n_rows += piece[0].size
        if n_rows > MOST_EDGES:
            raise source.error(f"there are more rows than a graph can have edges, {MOST_EDGES}")
        pieces.append(piece)
    columns = [joined([piece[i] for piece in pieces]) for i in range(n_columns)]
    return NumberColumns(columns, range(line, line + n_rows))


def _whole_lines(first: bytes, chunks: Iterable[bytes], delimiter: str | None) -> Iterator[bytes]:
    """The text in pieces of some mebibytes that end with a line; the last without blank lines at its end."""
    held, size = [first], len(first)
    for chunk in chunks:
        held.append(chunk)
        size += len(chunk)
        if size >= _PIECE:
            data = b"".join(held)
            cut = data.rfind(b"\n") + 1
            yield data[:cut]
            held, size = [data[cut:]], len(data) - cut
    last = b"".join(held).rstrip(b" \r\n" if delimiter == "\t" else b" \t\r\n")
    if last:
        yield last + b"\n"


def _parse(data: bytes, delimiter: int, n_columns: int, integers: Sequence[int]) -> list[NDArray[Any]] | None:
    """Columns of the rows in whole lines."""
    text = np.frombuffer(data, np.uint8)
    floats = np.zeros(n_columns, bool)
    # Pages that no row reaches are never touched.
    most = len(data) // (2 * n_columns) + 1
    cells, todo = np.empty((n_columns, most), np.int64), np.empty((most * n_columns, 4), np.int64)
    while True:
        rows, left, problem = parse_rows(text, delimiter, floats, cells, todo, *powers())
        if problem == -1:
            break
        if problem < 0 or problem in integers:
            return None
        floats[problem] = True
    columns: list[NDArray[Any]] = []
    for column, as_floats in zip(cells[:, :rows], floats, strict=True):
        columns.append(column.view(np.float64).copy() if as_floats else compact(column))
    for row, column, start, stop in todo[:left].tolist():
        columns[column][row] = float(data[start:stop])
    return columns


# ---------------------------------------------------------------------------------------------------------------------
# From entries of an adjacency matrix to an edge table, for the formats that hold a matrix.
# ---------------------------------------------------------------------------------------------------------------------


def matrix_table(
    n_nodes: int,
    row: NDArray[Any],
    column: NDArray[Any],
    values: NDArray[Any] | None,
    row_name: Callable[[Order], Callable[[int], str]],
    *,
    triangle: bool = False,
) -> EdgeTable:
    """Edges of a square matrix's entries.

    A matrix that equals its transpose, entry by entry, is an undirected graph with each edge once (its
    entry above the diagonal); any other is directed. Zeros stay, as weights that a graph refuses.

    Parameters
    ----------
    n_nodes : int
        Rows of the matrix.
    row, column : ndarray of int, shape (E,)
        Places of the entries, counted from 0; repeated places are parallel edges.
    values : ndarray, shape (E,), or None
        The entries; None where the matrix is a pattern.
    row_name : callable
        Makes the table's `row_name` from the numbers of the entries kept, an index of the entries.
    triangle : bool
        Whether the entries are one triangle of a symmetric matrix.
    """
    symmetric = triangle or equals_transpose(row, column, values)
    kept: Order = np.flatnonzero(row <= column) if symmetric and not triangle else EVERY
    ids = id_dtype(n_nodes)
    return EdgeTable(
        n_nodes,
        row[kept].astype(ids, copy=False),
        column[kept].astype(ids, copy=False),
        directed=not symmetric,
        edge_attributes={} if values is None else {"weight": values[kept]},
        row_name=row_name(kept),
    )


def equals_transpose(row: NDArray[Any], column: NDArray[Any], values: NDArray[Any] | None) -> bool:
    """Whether the entries above the diagonal of a matrix are those below it, turned round."""
    above, below = np.flatnonzero(row < column), np.flatnonzero(row > column)
    if above.size != below.size:
        return False
    a, b = sorted_positions(row, column, values, above), sorted_positions(column, row, values, below)
    same = np.array_equal(row[a], column[b]) and np.array_equal(column[a], row[b])
    return same and (values is None or np.array_equal(values[a], values[b], equal_nan=values.dtype.kind == "f"))


# ---------------------------------------------------------------------------------------------------------------------
# From cells to labels and attribute columns, and from labels back to text.
# ---------------------------------------------------------------------------------------------------------------------

Column = Sequence[Any] | NDArray[Any]
# int() takes 4300


def read_column(rows: Rows, column: int) -> Column:
    """One attribute column: int64 or float64 where every cell is such a number, else a list.

    Integers beyond int64 are Python's, in a list. An empty cell is None in the list; the others are
    numbers where all of them are, and text otherwise (so are codes with padding zeros, such as 007).
    """
    values = rows.integers(column)
    if values is None:
        values = rows.numbers(column)
        if values is None or not np.abs(values).max(initial=0.0) < 2.0**63:
            return parse_cells(rows.cells(column))
    return values


def parse_cells(cells: Sequence[str | None]) -> Column:
    """Attribute cells as in :func:`read_column`."""
    present = [cell for cell in cells if cell is not None]
    if present and all(INTEGER.fullmatch(cell) and len(cell) < _INT_DIGITS for cell in present):
        return python_column([None if cell is None else int(cell) for cell in cells])
    if present and all(NUMBER.fullmatch(cell) for cell in present):
        return python_column([None if cell is None else float(cell) for cell in cells])
    return list(cells)


def read_weights(
    source: Source, rows: Rows, column: int, remedy: str = "", ends: tuple[int, int] | None = None
) -> Column:
    """A column of weights: int64 or float64.

    Parameters
    ----------
    source : Source
    rows : Rows
    column : int
    remedy : str
        What to do about a cell that is no number, beside correcting it or dropping the row.
    ends : (int, int), optional
        The columns of the edge's end points, by which messages name it.

    Raises
    ------
    FileError
        For a cell that is empty or no number, naming its line.
    """
    values = rows.integers(column)
    if values is None:
        values = rows.numbers(column)
    if values is not None:
        return values
    cells = rows.cells(column)
    for row, cell in enumerate(cells):
        if cell is None or not ANY_NUMBER.fullmatch(cell):
            edge = "" if ends is None else f" of the edge {', '.join(shorten(rows.cells(i)[row] or '') for i in ends)}"
            raise source.error(_bad_weight(cell, edge, remedy), int(rows.lines[row]))
    return np.array([float(cell or "") for cell in cells], np.float64)


def _bad_weight(cell: str | None, edge: str, remedy: str) -> str:
    if cell is None:
        return f"the weight{edge} is missing: fill it in, or drop the row"
    point = cell.replace(",", ".")
    if cell.count(",") == 1 and ANY_NUMBER.fullmatch(point):
        return f"the weight {shorten(cell)}{edge} is not a number: write decimals with a point, {point}"
    return f"the weight {shorten(cell)}{edge} is not a number{remedy or ': correct it, or drop the row'}"


def python_column(values: Sequence[Any]) -> Column:
    """Python values as an array where all are int, all float or all bool, else as a list."""
    kinds = {type(value) for value in values}
    dtype = {int: np.int64, float: np.float64, bool: np.bool_}.get(next(iter(kinds))) if len(kinds) == 1 else None
    if dtype is None:
        return list(values)
    try:
        return np.array(values, dtype)
    except OverflowError:
        return list(values)


def gather_columns(
    records: Sequence[Mapping[str, Any]], make: Callable[[list[Any]], Column] = python_column
) -> dict[str, Column]:
    """Columns of records that each hold some of the keys; None where a record has no such key."""
    names: dict[str, None] = {}
    for record in records:
        names.update(dict.fromkeys(record))
    return {name: make([record.get(name) for record in records]) for name in names}


def python_values(column: Column) -> list[Any]:
    """A column as a list of Python values."""
    if isinstance(column, np.ndarray):
        return column.tolist()
    return [value.item() if isinstance(value, np.generic) else value for value in column]


def shorten(text: str) -> str:
    """A cell as it stands in a message, cut where it is long."""
    return repr(text if len(text) <= 60 else text[:57] + "…")


def write_weights(table: EdgeTable, notes: list[str]) -> NDArray[Any] | None:
    """Weights for a format that holds one number an edge, as an array; None where there are none.

    Edges without one get 1; weights that are no numbers are left out. The notes say so.
    """
    if "weight" not in table.edge_attributes:
        return None
    column = table.edge_attributes["weight"]
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        return column
    values = python_values(column)
    present = [value for value in values if value is not None]
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in present):
        notes += left_out("edge", ["weight"], "it holds values that are no numbers, as weights must be")
        return None
    if len(present) < len(values):
        notes.append(f"{count(len(values) - len(present), 'edge')} without a weight written with the weight 1")
    whole = all(isinstance(value, int) for value in present)
    try:
        return np.array([1 if value is None else value for value in values], np.int64 if whole else np.float64)
    except OverflowError:
        return np.array([1 if value is None else value for value in values], np.object_)


def label_values(table: EdgeTable) -> list[Any]:
    """Node labels of a table as Python values."""
    return list(range(table.n_nodes)) if table.labels is None else python_values(table.labels)


def label_texts(table: EdgeTable, name: str, notes: list[str], *, with_edges: bool = False) -> list[str]:
    """Node labels as the text that a text format writes, with notes on what reading back changes.

    Parameters
    ----------
    with_edges : bool
        Whether the format lists only the nodes that have edges.

    Raises
    ------
    FileError
        Where two labels are the same text, such as 1 and "1".
    """
    labels = label_values(table)
    texts = [str(label) for label in labels]
    if len(set(texts)) < len(texts):
        first: dict[str, Any] = {}
        for label, text in zip(labels, texts, strict=True):
            if text in first:
                raise FileError(
                    f"{name}: the node labels {first[text]!r} and {label!r} are the same text: rename one, or write npz"
                )
            first[text] = label
    used = np.flatnonzero(_touched(table)).tolist() if with_edges else range(table.n_nodes)
    read_back = parse_labels([texts[i] for i in used])
    changed = [labels[i] for i, b in zip(used, read_back, strict=True) if type(labels[i]) is not type(b)]
    if changed:
        kind = "an integer" if isinstance(read_back[0], int) else "text"
        notes.append(
            f"{count(len(changed), 'node label')} such as {changed[0]!r} will be read back as {kind}; npz keeps types"
        )
    return texts


def unlabelled(table: EdgeTable, format_name: str) -> list[str]:
    """Note that a format without labels drops them; empty where node i is called i."""
    if table.labels is None or label_values(table) == list(range(table.n_nodes)):
        return []
    return [f"node labels not in the file: {format_name} numbers nodes from 1, here in the order of the table"]


def alike(value: Any, back: Any) -> bool:
    """Whether a value read back is the same one; an int and the equal float count as the same."""
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in (value, back))
    return (numbers or type(value) is type(back)) and (value == back or (value != value and back != back))


def isolated(table: EdgeTable) -> int:
    """Number of nodes without an edge."""
    return int(table.n_nodes - np.count_nonzero(_touched(table)))


def _touched(table: EdgeTable) -> BoolArray:
    touched = np.zeros(table.n_nodes, bool)
    touched[table.source] = True
    touched[table.target] = True
    return touched


def count(n: int, noun: str) -> str:
    """A number and its noun, in the plural where it takes one."""
    return f"{n} {noun}{'s' * (n != 1)}"


def left_out(what: str, names: Iterable[Any], why: str) -> list[str]:
    """Note that attributes are not in the file; empty where there are none."""
    listed = ", ".join(map(repr, names))
    plural = "s" if "," in listed else ""
    return [f"{what} attribute{plural} {listed} not in the file: {why}"] if listed else []


def has_parallel(table: EdgeTable) -> bool:
    """Whether two rows join the same nodes (in the same direction, where the table is directed)."""
    u, v = table.source.astype(np.int64), table.target.astype(np.int64)
    low, high = (u, v) if table.directed else (np.minimum(u, v), np.maximum(u, v))
    return np.unique(low * max(table.n_nodes, 1) + high).size < u.size


def as_rows(columns: Sequence[list[str | None]], lines: Sequence[int]) -> CellRows:
    """Rows of cells from lists."""
    return CellRows(columns, np.array(lines, np.int64))


# ---------------------------------------------------------------------------------------------------------------------
# Delimited text with quoted cells, and networkx's edge lists with a dict on each line.
# ---------------------------------------------------------------------------------------------------------------------

_DICT_LINE = re.compile(rb"[ \t]*([^ \t\n]+)[ \t]+([^ \t\n]+)[ \t]+(\{.*\})[ \t]*")


class Record(NamedTuple):
    """One row of quoted text: the line where it begins, its cells, and the offset behind it."""

    line: int
    cells: list[str | None]
    end: int


def records(
    source: Source,
    data: bytes,
    delimiter: str,
    offset: int,
    line: int,
    comment: str = "",
    check: Callable[[int, bytes], None] | None = None,
) -> Iterator[Record]:
    """Rows of delimited text from an offset on, leaving out blank lines and comments.

    A cell in double quotes may hold the delimiter, line breaks, and quotes written twice; an empty
    quoted cell is empty text, and an empty cell without quotes is None. `check` is called with the line
    number and text of each line left out.

    Raises
    ------
    FileError
        For a quote that is not closed, or text behind one, naming the line.
    """
    mark = re.escape(delimiter.encode())
    blank = rb" *+" if delimiter == "\t" else rb"[ \t]*+"
    cell = re.compile(rb'%b(?:"((?:[^"]++|"")*+)"%b|((?!")[^%b\n]*+))(%b|\n)' % (blank, blank, mark, mark))
    remark = rb"(?:[%b][^\n]*+)?" % re.escape(comment.encode()) if comment else b""
    skipped = re.compile(rb"%b%b\n" % (blank, remark))
    while offset < len(data):
        if skip := skipped.match(data, offset):
            if check is not None:
                check(line, skip[0])
            offset, line = skip.end(), line + 1
            continue
        cells: list[str | None] = []
        first_line = line
        end = b""
        while end != b"\n":
            found = cell.match(data, offset)
            if found is None:
                raise source.error("a quote is opened and never closed, or text follows its end", line)
            offset = found.end()
            line += found[0].count(b"\n")
            quoted, plain, end = found.groups()
            cells.append(plain.rstrip(b" \t").decode() or None if quoted is None else _unquoted(quoted))
        yield Record(first_line, cells, offset)


def _unquoted(cell: bytes) -> str:
    return cell.replace(b'""', b'"').decode()


def quoted_rows(source: Source, data: bytes, delimiter: str, *args: Any) -> CellRows:
    """Rows with quoted cells, all of the same length; parameters as in :func:`records`.

    Raises
    ------
    FileError
        As in :func:`records`, and for a row with more or fewer cells than the first.
    """
    rows: list[list[str | None]] = []
    lines: list[int] = []
    for record in records(source, data, delimiter, *args):
        if rows and len(record.cells) != len(rows[0]):
            raise count_error(source, (len(record.cells), record.line), (len(rows[0]), lines[0]), delimiter)
        rows.append(record.cells)
        lines.append(record.line)
    return as_rows([list(column) for column in zip(*rows, strict=True)], lines)


def is_dict_line(line: bytes) -> bool:
    """Whether a line is one of networkx's ``write_edgelist``: two labels and a dict."""
    return _DICT_LINE.fullmatch(line) is not None


def dict_rows(
    source: Source, data: bytes, offset: int, line: int, comment: str
) -> tuple[CellRows, list[dict[str, Any]]]:
    """End points of networkx's edge list, and the attributes of each edge.

    Raises
    ------
    FileError
        For a line that is not two labels and a dict of plain values.
    """
    first: list[str | None] = []
    second: list[str | None] = []
    lines: list[int] = []
    attributes: list[dict[str, Any]] = []
    for number, text in enumerate(data[offset:].split(b"\n"), line):
        bare = text.strip(b" \t")
        if not bare or bare.startswith(tuple(comment.encode()[i : i + 1] for i in range(len(comment)))):
            continue
        found = _DICT_LINE.fullmatch(bare)
        if found is None:
            raise source.error("the row is not two labels and a dict {…} like the first row", number)
        first.append(found[1].decode())
        second.append(found[2].decode())
        lines.append(number)
        attributes.append(_literal(source, found[3].decode(), number))
    return as_rows([first, second], lines), attributes


def _literal(source: Source, text: str, line: int) -> dict[str, Any]:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, SyntaxWarning, TypeError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise source.error(f"{shorten(text)} is not a dict of plain values", line)
    return {str(key): item for key, item in cast("dict[Any, Any]", value).items()}


_KONECT = re.compile(rb"%\s*(sym|asym|bip)(?:\s+\w+)?\s*")
_QUOTED = re.compile(rb'"(?:[^"]|"")*"')
_WORD = re.compile(r"[^ \t]+")
_BYTE_WORD = re.compile(rb"[^ \t]+")
_COMMENT_OR_ROW = re.compile(rb"^[ \t]*[#%][^ \t#%\n][^\n]*", re.MULTILINE)
_SAMPLE = 100


class Line(NamedTuple):
    """A line of the file, its number, and where it begins and ends."""

    number: int
    text: bytes
    start: int
    end: int


@dataclass(frozen=True)
class _File:
    """A file's text, the marks of its comments, the comments at its head, and its first rows."""

    source: Source
    data: bytes
    marks: str
    comments: list[Line]
    rows: list[Line]


@dataclass(frozen=True)
class _Layout:
    """Names of the columns, which of them are the ends, and where the rows behind the header begin."""

    names: list[str]
    ends: tuple[int, int]
    start: int
    line: int
    named: bool
    consumed: bool


def read_edge_list(
    source: Source, options: ReadOptions, preferred: str | None = None, *, headed: bool = True
) -> EdgeTable:
    """Read an edge list.

    Parameters
    ----------
    source : Source
    options : ReadOptions
        `header`, `delimiter` and `comment`.
    preferred : str, optional
        Delimiter that the file's name speaks for, where several would do.
    headed : bool
        Whether files of this kind can have a header, where the options don't say.

    Raises
    ------
    FileError
        Names the line, for rows of unequal length, missing ends, weights that are no numbers, and where
        a header, a comment or a delimiter can't be told for certain.
    """
    source, tape = source.taped()
    table = _read_large(source, tape, options, preferred, headed)
    if table is not None:
        return table
    tape.rewind()
    source.require(TEXT_BYTES, "split it, or write it as parquet or npz once")
    file = _open(source, source.text(), options)
    directed = _konect_direction(file)
    if not file.rows:
        return _without_rows(file)
    if _has_dicts(file, options):
        return _read_dicts(file, directed)
    delimiter = _delimiter(file, options, preferred)
    layout = _layout(file, delimiter, options.header, headed)
    rows = _rows(file, delimiter, layout, check_comments=options.comment == "auto")
    return _table(source, rows, layout, directed, check_header=options.header is None)


def _read_large(
    source: Source, tape: Tape, options: ReadOptions, preferred: str | None, headed: bool
) -> EdgeTable | None:
    """A large file whose rows are numbers only; None for any other, also one in which something is wrong."""
    if (found := read_head(source)) is None:
        return None
    head, chunks = found
    try:
        file = _open(source, replace(source, stream=BytesIO(head), position=None).text(), options)
        directed = _konect_direction(file)
        if not file.rows or _has_dicts(file, options):
            return None
        delimiter = _delimiter(file, options, preferred)
        layout = _layout(file, delimiter, options.header, headed)
        if options.comment == "auto":
            _check_comments(file, delimiter, layout)
    except FileError:
        return None
    row = _cells_of_line(file.rows[-1].text, delimiter)
    if len(row) != len(layout.names) or not all(INTEGER.fullmatch(row[i].decode().strip()) for i in layout.ends):
        return None
    tape.drop()
    source.require(NUMBER_BYTES, "split it, or write it as parquet or npz once")
    numbers = read_numbers(source, file.data[layout.start :], chunks, delimiter, len(row), layout.ends, layout.line)
    return None if numbers is None else _number_table(source, numbers, layout, directed)


def _number_table(source: Source, found: NumberColumns, layout: _Layout, directed: bool) -> EdgeTable | None:
    attributes: dict[str, Column] = {}
    for i, name in enumerate(layout.names):
        if i in layout.ends:
            continue
        column = found.columns[i]
        if name != "weight" and column.dtype.kind == "f" and not np.abs(column).max(initial=0.0) < 2.0**63:
            return None
        attributes[name] = column if column.dtype.kind == "f" else column.astype(np.int64, copy=False)
    ends = integer_ends(*(found.columns[i] for i in layout.ends))
    return EdgeTable(*ends, directed, attributes, row_name=source.row_name(found.lines))


def _open(source: Source, data: bytes, options: ReadOptions) -> _File:
    marks = "#%" if options.comment == "auto" else options.comment or ""
    return _File(source, data, marks, *_head(data, marks))


def _has_dicts(file: _File, options: ReadOptions) -> bool:
    return options.delimiter is None and not options.header and is_dict_line(file.rows[0].text)


def _delimiter(file: _File, options: ReadOptions, preferred: str | None) -> str | None:
    return find_delimiter(options.delimiter) if options.delimiter else _detect(file, preferred)


def _check_comments(file: _File, delimiter: str | None, layout: _Layout) -> None:
    """Refuse comments at the head that may be edges."""
    for comment in file.comments:
        if _COMMENT_OR_ROW.match(comment.text):
            text = comment.text.decode().strip(" \t\n")
            _check_comment(file.source, comment.number, text, delimiter, len(layout.names))


def _rows(file: _File, delimiter: str | None, layout: _Layout, check_comments: bool) -> Rows:
    """The rows behind the header, where a line that may be a comment or an edge is refused."""
    source, data = file.source, file.data

    def check(number: int, line: bytes) -> None:
        if check_comments and _COMMENT_OR_ROW.match(line):
            _check_comment(source, number, line.decode().strip(" \t\n"), delimiter, len(layout.names))

    if check_comments:
        _check_comments(file, delimiter, layout)
    if delimiter is not None and data.find(b'"', layout.start) >= 0:
        return quoted_rows(source, data, delimiter, layout.start, layout.line, file.marks, check)
    for found in _COMMENT_OR_ROW.finditer(data, layout.start) if check_comments else ():
        check(data.count(b"\n", 0, found.start()) + 1, found[0])
    return split_grid(source, data[layout.start :], delimiter, layout.line, file.marks)


def _lines(data: bytes) -> Iterator[Line]:
    start, number = 0, 1
    while start < len(data):
        end = data.index(b"\n", start) + 1
        yield Line(number, data[start : end - 1], start, end)
        start, number = end, number + 1


def _head(data: bytes, marks: str) -> tuple[list[Line], list[Line]]:
    """Comments before the first row, and a sample of rows."""
    comments: list[Line] = []
    rows: list[Line] = []
    for line in _lines(data):
        bare = line.text.strip(b" \t")
        if bare and chr(bare[0]) not in marks:
            rows.append(line)
            if len(rows) == _SAMPLE:
                break
        elif bare and not rows:
            comments.append(line)
    return comments, rows


def _konect_direction(file: _File) -> bool:
    """Whether KONECT's first line says that the edges are directed."""
    found = _KONECT.fullmatch(file.comments[0].text) if file.comments and "%" in file.marks else None
    if found and found[1] == b"bip":
        raise file.source.error(
            "a bipartite KONECT network, whose two columns number different nodes, both from 1: give one kind of node "
            "another name first (a letter before each number in one column)",
            file.comments[0].number,
        )
    return bool(found and found[1] == b"asym")


def _without_rows(file: _File) -> EdgeTable:
    """An edge list that has a header in a comment and no edges."""
    if (found := _comment_header(file)) is not None:
        return _table_without_edges(found[0], found[1])
    marks = " or ".join(file.marks)
    raise file.source.error(
        "there are only comments, no edges"
        + (f"; if labels begin with {marks}, pass comment=None (--comment none)" if marks else "")
    )


def _comment_header(file: _File) -> tuple[list[str], tuple[int, int], str | None] | None:
    """Names of columns in a comment at the head, which of them are the ends, and their delimiter."""
    for comment in reversed(file.comments):
        names, delimiter = _comment_names(comment.text.decode())
        if (ends := find_ends(names)) is not None:
            return _check_names(file.source, list(names), comment.number), ends, delimiter
    return None


def _comment_names(text: str) -> tuple[list[str], str | None]:
    text = text.strip(" \t").lstrip("#%")
    for delimiter in ",", ";", "\t":
        if delimiter in text:
            return [name.strip(" \t") for name in text.split(delimiter)], delimiter
    return _WORD.findall(text), None


def _table_without_edges(names: Sequence[str], ends: tuple[int, int]) -> EdgeTable:
    none = np.zeros(0, np.int32)
    attributes: dict[str, Column] = {name: [] for i, name in enumerate(names) if i not in ends}
    return EdgeTable(0, none, none, edge_attributes=attributes)


def _detect(file: _File, preferred: str | None) -> str | None:
    """The delimiter that splits the first rows into equally many cells; None for spaces."""
    first = file.rows[0]
    if (found := _comment_header(file)) is not None and len(_cells_of_line(first.text, found[2])) == len(found[0]):
        return found[2]
    bare = [_QUOTED.sub(b"q", line.text) for line in file.rows]
    sample = [line for line in bare if b'"' not in line]
    present = [mark for mark in "\t,;" if mark.encode() in bare[0].split(b'"')[0]]
    if not present:
        return None
    if preferred == "\t" and preferred in present:
        return preferred
    steady = [mark for mark in present if _is_steady([line.split(mark.encode()) for line in sample])]
    if len(present) == 1:
        by_words = present == ["\t"] and not steady and _is_steady([_BYTE_WORD.findall(line) for line in sample])
        return None if by_words else present[0]
    if len(steady) == 1:
        return steady[0]
    raise file.source.error(
        f"can't tell which of {', '.join(map(repr, present))} delimits the cells of {shorten(first.text.decode())}: "
        "pass delimiter= (--delimiter comma, tab, semicolon or space)",
        first.number,
    )


def _cells_of_line(line: bytes, delimiter: str | None) -> list[bytes]:
    return _BYTE_WORD.findall(line) if delimiter is None else line.split(delimiter.encode())


def _is_steady(rows: Sequence[Sequence[bytes]]) -> bool:
    """Whether all rows have as many cells as the first, and both their ends."""
    width = len(rows[0]) if rows else 0
    return width > 1 and all(len(row) == width and row[0].strip() and row[1].strip() for row in rows)


def _layout(file: _File, delimiter: str | None, header: bool | None, headed: bool) -> _Layout:
    """Find out what the columns are called, and where the rows begin."""
    first = file.rows[0]
    cells, end, line = _first_record(file, delimiter)
    if len(cells) < 2:
        raise file.source.error(
            f"{shorten(first.text.decode())} is one cell, and an edge needs two: pass delimiter= (--delimiter) if "
            "the cells are split by something else than a comma, tab, semicolon or spaces",
            first.number,
        )
    above = _comment_header(file) if header is None and headed else None
    if above is not None and len(above[0]) == len(cells):
        return _Layout(above[0], above[1], first.start, first.number, named=True, consumed=False)
    ends = find_ends([cell or "" for cell in cells])
    if header or (header is None and headed and ends is not None):
        names = _check_names(file.source, cells, first.number)
        return _Layout(names, ends or (0, 1), end, line, named=True, consumed=True)
    fourth = "timestamp" if file.comments and _KONECT.fullmatch(file.comments[0].text) else "column4"
    names = ["source", "target", "weight", fourth, *(f"column{i}" for i in range(5, len(cells) + 1))]
    return _Layout(names[: len(cells)], (0, 1), first.start, first.number, named=False, consumed=False)


def _first_record(file: _File, delimiter: str | None) -> tuple[list[str | None], int, int]:
    """Cells of the first row, and the offset and line number behind it."""
    first = file.rows[0]
    if delimiter is None:
        words: list[str | None] = [*_WORD.findall(first.text.decode())]
        return words, first.end, first.number + 1
    record = next(records(file.source, file.data, delimiter, first.start, first.number, ""))
    return record.cells, record.end, first.number + file.data.count(b"\n", first.start, record.end)


def _check_names(source: Source, cells: Sequence[str | None], line: int) -> list[str]:
    names = [cell or f"column{i}" for i, cell in enumerate(cells, 1)]
    lower = [name.lower() for name in names]
    if "weight" not in names and lower.count("weight") == 1:
        names[lower.index("weight")] = "weight"
    for i, name in enumerate(names):
        if name in names[:i]:
            raise source.error(f"two columns are called {shorten(name)}: rename one", line)
    return names


def _check_comment(source: Source, number: int, text: str, delimiter: str | None, width: int) -> None:
    """Refuse a comment that looks like a row whose first label begins with the mark."""
    n = len(_WORD.findall(text)) if delimiter is None else text.count(delimiter) + 1
    if n == width and not _KONECT.fullmatch(text.encode()) and find_ends(_comment_names(text)[0]) is None:
        raise source.error(
            f"{shorten(text)} may be a comment or an edge: pass comment=None (--comment none) if labels begin with "
            f'{text[0]!r}, comment="{text[0]}" if such lines are comments',
            number,
        )


def _read_dicts(file: _File, directed: bool) -> EdgeTable:
    first = file.rows[0]
    rows, attributes = dict_rows(file.source, file.data, first.start, first.number, file.marks)
    n, u, v, labels = read_ends(file.source, rows, 0, 1)
    columns = gather_columns(attributes)
    return EdgeTable(n, u, v, labels, directed, columns, row_name=file.source.row_name(rows.lines))


def _table(source: Source, rows: Rows, layout: _Layout, directed: bool, check_header: bool) -> EdgeTable:
    if not rows.n_rows:
        return _table_without_edges(layout.names, layout.ends)
    if rows.n_columns != len(layout.names):
        raise source.error(
            f"the row has {rows.n_columns} cells, and the header names {len(layout.names)} columns", int(rows.lines[0])
        )
    if check_header and not layout.consumed:
        _check_no_header(source, rows, layout)
    n, u, v, labels = read_ends(source, rows, *layout.ends)
    remedy = "" if layout.named else _NO_HEADER_REMEDY
    attributes: dict[str, Column] = {}
    for i, name in enumerate(layout.names):
        if name == "weight" and i not in layout.ends:
            attributes[name] = read_weights(source, rows, i, remedy, layout.ends)
        elif i not in layout.ends:
            attributes[name] = read_column(rows, i)
    directed = directed or _gephi_direction(source, rows, attributes)
    return EdgeTable(n, u, v, labels, directed, attributes, row_name=source.row_name(rows.lines))


_NO_HEADER_REMEDY = (
    " (without a header, the third column is the weight): name the columns in a first row, or pass header=True "
    "(--header) if the first row does"
)


def _check_no_header(source: Source, rows: Rows, layout: _Layout) -> None:
    """Refuse a first row of words over rows of integers: an edge, or a header of unknown names."""
    if rows.n_rows < 2 or rows.integers(layout.ends[0]) is not None:
        return
    ends = [rows.cells(i) for i in layout.ends]
    words = [cells[0] or "" for cells in ends]
    if any(INTEGER.fullmatch(word) for word in words) or (layout.named and find_ends(words) is None):
        return
    if all(cell is not None and INTEGER.fullmatch(cell) for cells in ends for cell in cells[1:]):
        raise source.error(
            f"the row {words[0]!r}, {words[1]!r} looks like a header over integer labels, but its names are not known: "
            "pass header=True (--header) if it is one, header=False (--no-header) if it is an edge",
            int(rows.lines[0]),
        )


def _gephi_direction(source: Source, rows: Rows, attributes: dict[str, Column]) -> bool:
    """Whether a column "Type" of Gephi's says that all edges are directed."""
    column = next((attributes[name] for name in attributes if name.lower() == "type"), None)
    if not isinstance(column, list):
        return False
    kinds = [str(cell).lower() for cell in column]
    if not set(kinds) <= {"directed", "undirected"} or set(kinds) == {"undirected"}:
        return False
    if len(set(kinds)) > 1:
        row = next(i for i, kind in enumerate(kinds) if kind != kinds[0])
        raise source.error("directed and undirected edges are mixed: split them into two files", int(rows.lines[row]))
    return True


# ---------------------------------------------------------------------------------------------------------------------
# Writing edge lists: csv, tsv, edgelist (spaces) and ncol.
# ---------------------------------------------------------------------------------------------------------------------

_BARE = re.compile(r"[^ \t\n\r{][^ \t\n\r]*")
_BARE_NAME = re.compile(r"[^ \t\n\r{,;#%][^ \t\n\r,;]*")
_NEEDS_QUOTES = re.compile(r'["\n\r,;\t]|^[\s#%]|\s$|^$')
_RICHER = "an edge list can't hold them; graphml, npz and parquet can"


def write_csv(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write comma-separated values with a header."""
    return _write_quoted(table, stream, name, ",")


def write_tsv(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write tab-separated values with a header."""
    return _write_quoted(table, stream, name, "\t")


def write_spaced(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write columns split by spaces, with their names in a comment on the first line."""
    notes = _losses(table)
    ends = _ends(table, name, notes, _bare_labels(r"[ \t\n\r]|^[#%]|^$"))
    columns = _bare_columns(_columns(table, notes), notes)
    header = " ".join(["# source target", *columns]) + "\n"
    write_rows(stream, name, header, [*ends, *columns.values()], table.source.size, " ")
    return notes


def write_ncol(table: EdgeTable, stream: BinaryIO, name: str) -> list[str]:
    """Write two labels and perhaps a weight on each line, without a header.

    Raises
    ------
    FileError
        For labels with a delimiter, and for a table without edges, which would be an empty file.
    """
    if not table.source.size:
        raise FileError(f"{name}: ncol can't hold a graph without edges: write csv, graphml or npz")
    notes = _losses(table)
    ends = _ends(table, name, notes, _bare_labels(r"[ \t\n\r,;]|^[#%]|^$"))
    others = [key for key in table.edge_attributes if key != "weight"]
    notes += left_out("edge", others, "ncol holds a weight only; csv holds others")
    weights = write_weights(table, notes)
    columns = [] if weights is None else [number_cells(weights)]
    write_rows(stream, name, "", [*ends, *columns], table.source.size, " ")
    return notes


def _write_quoted(table: EdgeTable, stream: BinaryIO, name: str, delimiter: str) -> list[str]:
    def quoted_labels(labels: list[str], name: str) -> list[str]:
        quoted = list(map(_quoted, labels))
        _refuse_labels(quoted, "\r", name, "which holds a carriage return")
        return quoted

    notes = _losses(table)
    ends = _ends(table, name, notes, quoted_labels)
    columns = {_quoted(key): cells for key, cells in _columns(table, notes).items()}
    header = delimiter.join(["source", "target", *columns]) + "\n"
    cells = [Texts(list(map(_quoted, cells))) if isinstance(cells, list) else cells for cells in columns.values()]
    write_rows(stream, name, header, [*ends, *cells], table.source.size, delimiter)
    return notes


def _quoted(cell: str | None) -> str:
    if cell is None:
        return ""
    return '"' + cell.replace('"', '""') + '"' if _NEEDS_QUOTES.search(cell) else cell


def _ends(
    table: EdgeTable, name: str, notes: list[str], as_cells: Callable[[list[str], str], list[str]]
) -> tuple[Cells, Cells]:
    """The two columns of node labels; `as_cells` makes cells of labels that are text, or refuses them."""
    u, v, labels = table.source, table.target, table.labels
    if labels is None:
        return number_cells(u), number_cells(v)
    numbers: Any = labels
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iu" and bool((numbers[1:] > numbers[:-1]).all()):
        return Numbers(lambda at: numbers[u[at]]), Numbers(lambda at: numbers[v[at]])
    words = as_cells(label_texts(table, name, notes, with_edges=True), name)
    return Coded(words, u), Coded(words, v)


def _losses(table: EdgeTable) -> list[str]:
    """Notes on what no edge list holds."""
    notes: list[str] = []
    if lonely := isolated(table):
        notes.append(f"{count(lonely, 'isolated node')} not in the file: {_RICHER}")
    if table.directed:
        notes.append("the file does not say that its edges are directed: an edge list can't; graphml can")
    notes += left_out("node", table.node_attributes, _RICHER)
    notes += left_out("graph", table.graph_attributes, _RICHER)
    return notes


def _columns(table: EdgeTable, notes: list[str]) -> dict[str, Cells | list[str | None]]:
    """Edge attributes as cells, with notes on what is left out or will be read back as something else."""
    out: dict[str, Cells | list[str | None]] = {}
    weights = write_weights(table, notes)
    refused: list[str] = []
    for key, column in table.edge_attributes.items():
        if key in ("source", "target", "") or "\r" in key or (key.lower() == "weight" and weights is None):
            refused.append(key)
        elif key == "weight" and weights is not None:
            out[key] = number_cells(weights)
        else:
            out[key] = _cells_of_column(key, column, notes)
    refused = [key for key in refused if key != "weight"]
    notes += left_out("edge", refused, "the name means something else in an edge list; rename it, or write npz")
    return out


def _cells_of_column(key: str, column: Column, notes: list[str]) -> Cells | list[str | None]:
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        return number_cells(column)
    values = python_values(column)
    cells = [None if value is None else repr(value) if type(value) is float else str(value) for value in values]
    plain = [cell and cell.replace("\r\n", "\n").replace("\r", "\n") for cell in cells]
    back = python_values(parse_cells(plain))
    if not all(alike(a, b) for a, b in zip(values, back, strict=True)):
        kind = "text" if any(isinstance(value, str) for value in back) else "numbers"
        notes.append(f"edge attribute {key!r} will be read back as {kind}; npz and parquet keep types")
    return cells


def _bare_columns(columns: dict[str, Cells | list[str | None]], notes: list[str]) -> dict[str, Cells]:
    """The columns that cells without quotes can hold, with a note on the others."""
    kept: dict[str, Cells] = {}
    for key, cells in columns.items():
        if not isinstance(cells, list):
            fits = True
        else:
            fits = all(cell is not None and _BARE.fullmatch(cell) for cell in cells)
        if fits and _BARE_NAME.fullmatch(key):
            kept[key] = Texts(cells) if isinstance(cells, list) else cells
    notes += left_out(
        "edge", [key for key in columns if key not in kept], "empty cells and spaces need csv or a richer format"
    )
    return kept


def _bare_labels(refused: str) -> Callable[[list[str], str], list[str]]:
    def bare(labels: list[str], name: str) -> list[str]:
        _refuse_labels(labels, refused, name, "which is empty, begins with a comment mark or holds a delimiter")
        return labels

    return bare


def _refuse_labels(labels: list[str], pattern: str, name: str, what: str) -> None:
    search: Callable[[str], Any] = re.compile(pattern).search
    for label in labels:
        if search(label):
            raise FileError(
                f"{name}: the format can't hold the node label {label!r}, {what}: write csv, graphml or npz"
            )
