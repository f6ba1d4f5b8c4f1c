"""What the results of a classification of connectomes allow to conclude, in sentences made from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphpri.apps.brain_data import Connectomes, listed
from graphpri.apps.brain_protocol import Stability

Row = Mapping[str, Any]

NOT_CONCLUDED = (
    "Causes, mechanisms or a diagnosis of single persons: the edges tell these two groups apart in these scans.",
    "That it holds elsewhere: scanner, site, head motion, age and sex are not modelled, and a difference in one of "
    "them between the classes is learned like any other.",
    "That an edge that is not listed does not differ: of edges that carry the same signal, a model needs one.",
    "Probabilities of edges: the Graph-PRI term doesn't change when the mask is multiplied by a constant, so that a "
    "mask value of .5 has no meaning. Edges are ranked, and judged by how often they are found again.",
)
"""What can't be concluded from any such analysis."""


def conclusions(
    scans: Connectomes,
    comparison: Sequence[Row],
    chance: tuple[float, float, float],
    permutation_p: Mapping[str, float],
    permutations: int = 0,
) -> list[str]:
    """What the accuracies say.

    Parameters
    ----------
    scans : Connectomes
    comparison : sequence of mapping
        Rows with method, accuracy, lower and upper end of its interval, and verdict, the best first.
    chance : tuple of float
        Chance level, and both ends of the interval that holds 95 % of guesses.
    permutation_p : mapping of str to float
        By method.
    permutations : int
        How many there were.

    Examples
    --------
    >>> import numpy as np
    >>> from graphpri.apps.brain_data import from_matrices
    >>> scans = from_matrices([np.eye(3)] * 4, [0, 0, 1, 1], groups=["a", "b", "c", "d"])
    >>> row = {"method": "paper", "accuracy": 0.55, "lower": 0.4, "upper": 0.7, "verdict": "best"}
    >>> conclusions(scans, [row], (0.5, 0.25, 0.75), {"paper": 0.2}, 200)[1:3]  # doctest: +NORMALIZE_WHITESPACE
    ["No method's interval lies above what luck explains: don't interpret edges or systems.",
     'paper does no better than permuted labels (p = 0.2, 200 permutations).']
    """
    return [
        *_above_chance(comparison, chance, permutation_p, permutations),
        *_between_methods(comparison),
        _folds(scans),
    ]


def about_edges(explained: str, edges: Sequence[Row], stable: Stability, top: int, n_edges: int) -> list[str]:
    """What the table of edges says.

    Parameters
    ----------
    explained : str
        The method.
    edges : sequence of mapping
        Rows of :func:`graphpri.apps.brain_edges.edge_table`.
    stable : Stability
        Of the method's `top` edges.
    top, n_edges : int

    Examples
    --------
    >>> import numpy as np
    >>> stable = Stability(np.zeros(66), np.zeros(66), jaccard=0.1, shared_by_luck=0.1)
    >>> about_edges("edge-readout", [{"selection_frequency": 0.3, "q": 0.2}], stable, top=1, n_edges=66)[-1]
    "No more edges come back than with labels that say nothing: don't report single edges."
    """
    often = sum(row["selection_frequency"] > 0.5 for row in edges)
    luck = stable.often_by_luck
    found = [
        f"Of the {len(edges)} edges shown, {often} are among the top {top} of {explained} in more than half of the "
        f"half-samples of subjects; with labels that say nothing {luck} {'edge is' if luck == 1 else 'edges are'}. Two "
        f"half-samples share {stable.jaccard:.2f} of their edges (intersection over union), and "
        f"{stable.shared_by_luck:.2f} with such labels: half of the subjects of two half-samples are the same.",
        f"{sum(row['q'] < 0.05 for row in edges)} of them differ between the classes at q < .05, corrected for all "
        f"{n_edges} edges. The tests use all scans, as the ranks do: they describe the edges, and don't confirm them.",
    ]
    if often > luck and stable.jaccard > stable.shared_by_luck:
        return found
    return [*found, "No more edges come back than with labels that say nothing: don't report single edges."]


def about_systems(systems: Sequence[Row], note: str) -> list[str]:
    """What the table of systems says; `note` is the caveat of the atlas.

    Examples
    --------
    >>> about_systems([{"system": "motor", "other_system": "visual", "q": 0.01}], "")
    ["More of the shown edges than the systems' sizes explain (q < .05) join motor–visual."]
    """
    if not systems:
        return ["The regions have no systems: an atlas with a column system adds a table of them."]
    more = [f"{row['system']}–{row['other_system']}" for row in systems if row["q"] < 0.05]
    found = (
        f"More of the shown edges than the systems' sizes explain (q < .05) join {listed(more)}."
        if more
        else "No two systems are joined by more of the shown edges than their sizes explain (q < .05)."
    )
    return [found, *([f"Of the atlas: {note}."] if note else [])]


def _above_chance(
    comparison: Sequence[Row],
    chance: tuple[float, float, float],
    permutation_p: Mapping[str, float],
    permutations: int,
) -> list[str]:
    level, _, upper = chance
    best = comparison[0]
    above = [row["method"] for row in comparison if row["lower"] > upper]
    found = [
        f"{best['method']} is most accurate: {best['accuracy']:.3f}, 95 % interval {best['lower']:.3f} to "
        f"{best['upper']:.3f}. Guessing has {level:.3f}, and up to {upper:.3f} by luck. It is the best of "
        f"{len(comparison)}, chosen after the fact, which flatters it."
        if len(comparison) > 1
        else f"{best['method']} has an accuracy of {best['accuracy']:.3f}, 95 % interval {best['lower']:.3f} to "
        f"{best['upper']:.3f}; guessing has {level:.3f}, and up to {upper:.3f} by luck.",
        f"The interval lies above all that luck explains for {listed(above, 12)}."
        if above
        else "No method's interval lies above what luck explains: don't interpret edges or systems.",
    ]
    return found + [
        f"{name} beats permuted labels (p = {p:.3g}, {permutations} permutations)."
        if p < 0.05
        else f"{name} does no better than permuted labels (p = {p:.3g}, {permutations} permutations)."
        for name, p in permutation_p.items()
    ]


def _between_methods(comparison: Sequence[Row]) -> list[str]:
    if len(comparison) < 2:
        return []
    groups = {v: [row["method"] for row in comparison if row["verdict"] == v] for v in ("worse", "no clear difference")}
    found: list[str] = []
    if groups["worse"]:
        found.append(f"Clearly less accurate than {comparison[0]['method']}: {listed(groups['worse'], 12)}.")
    if groups["no clear difference"]:
        alike = listed(groups["no clear difference"], 12)
        found.append(f"Not told apart from {comparison[0]['method']} by these subjects: {alike}.")
    return found


def _folds(scans: Connectomes) -> str:
    n = len(set(scans.groups))
    if not scans.grouped:
        return (
            "No subjects were given, and each scan counted as one. If a person has several scans here, test data "
            "leaked into training data, and nothing above holds."
        )
    return f"All scans of a subject were in the same fold; intervals are over {n} subjects."
