"""The colours of every page: one set for light and one for dark, told apart by readers of any colour vision.

Groups have P. Tol's schemes "muted" (on light) and "light" (on dark, with a brown), from "Colour schemes",
SRON/EPS/TN/09-002, 2021; numbers have viridis, whose lightness grows evenly; kept and dropped are blue and grey, and
what only one method keeps is orange: the pair that all common colour deficiencies tell apart.
"""

from __future__ import annotations

NAMES = {
    "light": {
        "paper": "#f6f7f9",
        "card": "#ffffff",
        "canvas": "#fdfdfc",
        "ink": "#17202b",
        "soft": "#566272",
        "line": "#dfe3e8",
        "kept": "#1668b8",
        "only": "#c2410c",
        "dropped": "#a9b4c0",
        "focus": "#1668b8",
        "mark": "#d4006a",
        "button": "#eef1f5",
    },
    "dark": {
        "paper": "#0d1219",
        "card": "#151c26",
        "canvas": "#0f151d",
        "ink": "#e8edf3",
        "soft": "#a3b0bf",
        "line": "#2a3441",
        "kept": "#5eb1ff",
        "only": "#ff9d5c",
        "dropped": "#4a586a",
        "focus": "#7cc0ff",
        "mark": "#ff6bb5",
        "button": "#212b38",
    },
}
"""Colours by what they are for; as CSS they are ``var(--kept)`` and so on."""

GROUPS = {
    "light": [
        "#cc6677",
        "#117733",
        "#999933",
        "#332288",
        "#44aa99",
        "#aa4499",
        "#88ccee",
        "#882255",
        "#ddcc77",
        "#b9bfc7",
    ],
    "dark": [
        "#ee8866",
        "#44bb99",
        "#eedd88",
        "#77aadd",
        "#bbcc33",
        "#ffaabb",
        "#99ddff",
        "#ae5904",
        "#aaaa00",
        "#5d6b7d",
    ],
}
"""Nine groups, the largest first, and what is left."""

_VIRIDIS = ["#fde725", "#a0da39", "#4ac16d", "#1fa187", "#277f8e", "#365c8d", "#46327e", "#440154"]
RAMPS = {"light": _VIRIDIS, "dark": _VIRIDIS[::-1]}
"""Eight steps from the smallest to the largest number: the largest stands out from the ground."""


def variables(theme: str) -> str:
    """Declarations of CSS variables for "light" or "dark".

    Examples
    --------
    >>> variables("light").split(";")[0]
    'color-scheme: light'
    """
    return f"color-scheme: {theme}; " + " ".join(f"--{name}: {colour};" for name, colour in NAMES[theme].items())
