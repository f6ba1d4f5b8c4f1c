"""The paper's figures, tables and theorems as studies that run, and comparisons beyond it.

Each writes its numbers, pictures, and verdicts computed from the numbers; ``graphpri reproduce`` runs them.
"""

from graphpri.studies.catalogue import find, names
from graphpri.studies.page import write_page
from graphpri.studies.runner import Result, StudyProgress, conclude, reproduce, row_of, write_verdicts
from graphpri.studies.study import GRADES, Verdict

__all__ = [
    "GRADES",
    "Result",
    "StudyProgress",
    "Verdict",
    "conclude",
    "find",
    "names",
    "reproduce",
    "row_of",
    "write_page",
    "write_verdicts",
]
