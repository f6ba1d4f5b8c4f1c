"""How the page holds its data: a header and arrays, deflated, as base64 text.

The text has letters, digits and ``+/=`` only, so that no label can end the element that it stands in. Decompressed,
it is a 4-byte length, a JSON header, and arrays at the places that the header names, each at a multiple of 8 bytes,
little-endian.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpri.graph import BoolArray

_ALIGNED = 8


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """A header and named arrays as text.

    Parameters
    ----------
    header : mapping
        Values that JSON has; NaN and infinities are not among them.
    arrays : mapping of str to ndarray
        Of uint8, uint32, float32 or float64.

    Examples
    --------
    >>> text = pack({"title": "karate"}, {"ends": np.array([1, 2], np.uint32)})
    >>> text.isascii(), unpack(text)[0]["title"]
    (True, 'karate')
    """
    places: dict[str, list[Any]] = {}
    body = bytearray()
    for name, array in arrays.items():
        places[name] = [array.dtype.name, len(body), array.size]
        body += np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"))).tobytes()
        body += bytes(-len(body) % _ALIGNED)
    head = json.dumps({**header, "arrays": places}, ensure_ascii=True, allow_nan=False).encode("ascii")
    head += b" " * (-(len(head) + 4) % _ALIGNED)
    packed = zlib.compress(len(head).to_bytes(4, "little") + head + bytes(body), 9)
    return base64.b64encode(packed).decode("ascii")


def unpack(text: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays of :func:`pack`.

    Examples
    --------
    >>> unpack(pack({"title": "karate"}, {"ends": np.array([1, 2], np.uint32)}))
    ({'title': 'karate'}, {'ends': array([1, 2], dtype=uint32)})
    """
    raw = zlib.decompress(base64.b64decode(text))
    size = int.from_bytes(raw[:4], "little")
    header = json.loads(raw[4 : 4 + size])
    found: dict[str, NDArray[Any]] = {}
    for name, (dtype, offset, count) in header.pop("arrays").items():
        kind = np.dtype(dtype).newbyteorder("<")
        found[name] = np.frombuffer(raw, kind, count, 4 + size + offset).astype(dtype)
    return header, found


def masks_to_bits(masks: BoolArray) -> NDArray[np.uint8]:
    """Masks of shape (B, K, M) as bits, each as what differs from the budget before; shape (B, K, ⌈M/8⌉).

    Edge i is bit i mod 8, the lowest first, of byte i div 8. Most edges enter once along the budgets, so that
    the differences are nearly all zero and deflate well.

    Examples
    --------
    >>> masks = np.array([[[True, False, False], [True, True, False]]])
    >>> masks_to_bits(masks).tolist()
    [[[1], [2]]]
    >>> bool((bits_to_masks(masks_to_bits(masks), 3) == masks).all())
    True
    """
    changed = masks.copy()
    changed[:, 1:] ^= masks[:, :-1]
    return np.packbits(changed, axis=-1, bitorder="little")


def bits_to_masks(bits: NDArray[np.uint8], n_edges: int) -> BoolArray:
    """The masks of :func:`masks_to_bits`.

    Examples
    --------
    >>> bits_to_masks(np.array([[[1], [2]]], np.uint8), 3).astype(int).tolist()
    [[[1, 0, 0], [1, 1, 0]]]
    """
    return np.unpackbits(np.bitwise_xor.accumulate(bits, axis=1), axis=-1, count=n_edges, bitorder="little").astype(
        bool
    )
