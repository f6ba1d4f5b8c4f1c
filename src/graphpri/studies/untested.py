"""Claims of the paper that no study tests, or none that has run, and why."""

from __future__ import annotations

from collections.abc import Collection

from graphpri.studies.study import Verdict

_ADNI = "needs the ADNI scans, which their owners alone may pass on; a user's own copy can be tested"
_BY_STUDY = {
    "mtl-synthetic": (
        "Pruning the task graph by Graph-PRI lowers the test error early, and of the others only local similarity does",
        "§4.2, Figure MTL",
    ),
    "mtl-parkinsons": (
        "On Parkinson's data most methods stay close to no pruning, and Graph-PRI is slightly better",
        "§4.2, Figure MTL",
    ),
    "brain-eoec": (
        "Graph-PRI classifies eyes open and eyes closed with an accuracy of 80.7 %, the best of six methods",
        "§4.3, Table",
    ),
    "brain-planted": (
        "The mask that the paper's network learns shows the connections that differ",
        "§4.3, Figure brain",
    ),
}
"""Claims whose studies are long and may be left out of a page."""


def _untested(claim: str, source: str, why: str) -> Verdict:
    return Verdict(claim, source, "not run", "not testable", why)


UNTESTED = (
    _untested(
        "Graph-PRI tells mild cognitive impairment from normal controls as well as the best method (66.7 %)",
        "§4.3, Table",
        _ADNI,
    ),
    _untested(
        "Connections within the sensorimotor network are stronger in patients with mild cognitive impairment",
        "§4.3, Figure brain",
        _ADNI,
    ),
    _untested(
        "Connections within the fronto-parietal network are fewer in patients with mild cognitive impairment",
        "§4.3, Figure brain",
        _ADNI,
    ),
)
"""Not testable, each with its reason; a study that tests one takes it out of this list."""


def untested(ran: Collection[str]) -> tuple[Verdict, ...]:
    """The claims that the studies of these names leave untested."""
    left = {name: claim for name, claim in _BY_STUDY.items() if name not in ran}
    why = "its study has not run for this page: graphpri reproduce {}"
    return (*(_untested(*claim, why.format(name)) for name, claim in left.items()), *UNTESTED)
