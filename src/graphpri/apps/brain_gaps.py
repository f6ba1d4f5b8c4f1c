"""Which gaps between methods mean something: paired differences of accuracy, subjects drawn again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy import stats

from graphpri.apps.brain_data import Connectomes
from graphpri.apps.brain_edges import Rows
from graphpri.apps.brain_protocol import Evaluation
from graphpri.errors import OptionError
from graphpri.graph import FloatArray

DRAWS = 2000
_GAP = ("difference", "standard_error", "lower", "upper")


def gaps(scores: Iterable[Mapping[str, Any]], seed: int = 0, draws: int = DRAWS) -> Rows:
    """Accuracy of each method against the most accurate one, over the same test scans.

    Parameters
    ----------
    scores : iterable of mapping
        Rows with method, subject, label (0 or 1) and score (above 0 for class 1), of all repeats.
    seed : int
    draws : int
        Of subjects, with replacement, the same for all methods.

    Returns
    -------
    list of dict
        method, accuracy, difference from the best, standard_error, lower and upper (95 % interval of the difference)
        and verdict: best, worse, or no clear difference. The best first. The interval is of one difference, not
        corrected for their number.

    Raises
    ------
    OptionError
        Where methods were tested on different scans.

    Examples
    --------
    >>> found = [("a", 1.0), ("b", -1.0)]
    >>> rows = [{"method": m, "subject": i, "label": 1, "score": x} for i in range(30) for m, x in found]
    >>> [(row["method"], row["difference"], row["verdict"]) for row in gaps(rows)]
    [('a', 0.0, 'best'), ('b', -1.0, 'worse')]
    """
    right, total, methods = _by_subject(list(scores))
    accuracy = right.sum(axis=1) / total.sum()
    order = np.argsort(-accuracy, kind="stable")
    rng = np.random.default_rng(seed)
    n = total.size
    weights = rng.multinomial(n, np.full(n, 1 / n), size=draws).astype(np.float64)
    drawn = (weights @ right.T) / (weights @ total)[:, None]
    rows: Rows = []
    for i in order:
        difference = drawn[:, i] - drawn[:, order[0]]
        lower, upper = np.quantile(difference, [0.025, 0.975])
        rows.append(
            {
                "method": methods[i],
                "accuracy": float(accuracy[i]),
                "difference": float(accuracy[i] - accuracy[order[0]]),
                "standard_error": float(difference.std(ddof=1)),
                "lower": float(lower),
                "upper": float(upper),
                "verdict": "best" if i == order[0] else "worse" if upper < 0 else "no clear difference",
            }
        )
    return rows


def compared(evaluation: Evaluation, seed: int = 0) -> Rows:
    """The summary of an evaluation, the best method first, and each method's gap to the best.

    Columns of the gap are difference, its difference_standard_error, difference_lower, difference_upper, and verdict.

    Examples
    --------
    >>> from graphpri.apps.brain_protocol import summary
    >>> found = [(i, m, x) for i in range(9) for m, x in [("a", 1.0), ("b", -1.0)]]
    >>> rows = [{"method": m, "repeat": 0, "subject": i, "label": i % 2, "score": x} for i, m, x in found]
    >>> [(row["method"], row["difference"] == 0) for row in compared(Evaluation(rows, summary(rows)))]
    [('b', True), ('a', False)]
    """
    known = {row["method"]: row for row in evaluation.summary}
    rows: Rows = []
    for row in gaps(evaluation.scores, seed):
        gap = {f"difference_{key}" if key != "difference" else key: row[key] for key in _GAP}
        rows.append(dict(known[row["method"]]) | gap | {"verdict": row["verdict"]})
    return rows


def chance(scans: Connectomes) -> tuple[float, float, float]:
    """Accuracy of guesses: its expectation, and both ends of the interval that holds 95 % of them.

    Of always naming the larger class, in as many independent guesses as there are subjects, as scans of a subject
    are not independent.

    Examples
    --------
    >>> from graphpri.apps.brain_data import from_matrices
    >>> scans = from_matrices([np.eye(3)] * 40, [0, 1] * 20, groups=range(40))
    >>> chance(scans)
    (0.5, 0.35, 0.65)
    """
    share = max(np.mean(scans.labels), 1 - np.mean(scans.labels))
    n = len(set(scans.groups))
    lower, upper = stats.binom.interval(0.95, n, share)
    return float(share), float(lower / n), float(upper / n)


def _by_subject(rows: list[Mapping[str, Any]]) -> tuple[FloatArray, FloatArray, list[str]]:
    """Right answers of each method for each subject, and the number of answers of each subject."""
    methods = list(dict.fromkeys(str(row["method"]) for row in rows))
    subjects = list(dict.fromkeys(str(row["subject"]) for row in rows))
    at_method, at_subject = ({name: i for i, name in enumerate(names)} for names in (methods, subjects))
    right, total = (np.zeros((len(methods), len(subjects))) for _ in range(2))
    for row in rows:
        at = at_method[str(row["method"])], at_subject[str(row["subject"])]
        total[at] += 1
        right[at] += (float(row["score"]) > 0) == (int(row["label"]) == 1)
    if (total != total[0]).any():
        raise OptionError("methods were tested on different scans: their accuracies can't be compared")
    return right, total[0], methods
