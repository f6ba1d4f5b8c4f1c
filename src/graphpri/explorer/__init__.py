"""One self-contained HTML page of a graph and its solutions over β and budgets: no server, no network.

`front` has what users call; `grid` solves, `rivals` ranks by the other methods, `place` and `colours` prepare the
drawing, `encode` packs, `page` assembles the file from the assets beside it.
"""

from graphpri.explorer.exploration import Exploration, explore

__all__ = ["Exploration", "explore"]
