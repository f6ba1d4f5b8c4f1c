"""What a sparsified graph keeps of the original: entropic, spectral and structural measures.

One module per subject; each registers functions with :func:`measure`, and :func:`report` runs them.
"""

from graphpri.measures import information, spectral, structure
from graphpri.measures.information import Estimates, divergence, estimate, objective, von_neumann_entropy
from graphpri.measures.registry import MEASURES, Cost, Measure, Settings, View, choose, measure, per_view
from graphpri.measures.reports import Report, report

__all__ = [
    "MEASURES",
    "Cost",
    "Estimates",
    "Measure",
    "Report",
    "Settings",
    "View",
    "choose",
    "divergence",
    "estimate",
    "information",
    "measure",
    "objective",
    "per_view",
    "report",
    "spectral",
    "structure",
    "von_neumann_entropy",
]
