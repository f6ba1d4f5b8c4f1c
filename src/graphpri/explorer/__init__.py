"""Self-contained HTML pages: a graph and its solutions over β and budgets, and one result; no server, no network.

`exploration` has what users call; `solutions` solves for the grid of β and budgets and ranks the edges by other
methods, `positions` places the nodes, `page` colours them, packs the data and assembles the file from the assets
beside it. `summary` is the page on one result.
"""

from graphpri.explorer.exploration import Exploration, explore

__all__ = ["Exploration", "explore"]
