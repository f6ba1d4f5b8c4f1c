"""Named graphs with checked files, and generators of graphs."""

from graphpri.datasets.catalogue import Dataset, Table, about, info, names, tables
from graphpri.datasets.files import cache_folder, get, load, table
from graphpri.datasets.generators import barabasi_albert, erdos_renyi, ring_knn, stochastic_block_model

__all__ = [
    "Dataset",
    "Table",
    "about",
    "barabasi_albert",
    "cache_folder",
    "erdos_renyi",
    "get",
    "info",
    "load",
    "names",
    "ring_knn",
    "stochastic_block_model",
    "table",
    "tables",
]
