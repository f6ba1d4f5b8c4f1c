"""Powers of ten to 128 bits: what decimals and float64 are exchanged by."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

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
