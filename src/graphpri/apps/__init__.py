"""Applications of the principle: multi-task regression (mtl), points (scalar), brain networks (brain)."""

from collections.abc import Callable
from typing import Any

Rows = list[dict[str, Any]]  # of a table: values by column

ProgressCallback = Callable[[str, float], object]
"""Gets a text and the share of the work that is done; what it raises ends the work."""
