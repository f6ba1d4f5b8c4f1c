"""Compiled loops over the text of edge lists: rows of numbers read, and written.

Imported only for large files.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpri.compiled import compiled

Bytes = NDArray[np.uint8]
Longs = NDArray[np.int64]
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
        Powers of ten: see :func:`graphpri.io.decimals.powers`.

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
