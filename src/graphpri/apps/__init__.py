"""Applications of the principle: multi-task regression (mtl), points (scalar), brain networks (brain)."""

from typing import Any

Records = list[dict[str, Any]]  # of a table: values by column
