"""Named graphs with checked files, and generators of graphs."""

from graphpri.datasets.catalogue import Dataset, info, names
from graphpri.datasets.files import cache_folder, get, load
from graphpri.datasets.generators import barabasi_albert, erdos_renyi, ring_knn, stochastic_block_model

__all__ = [
    "Dataset",
    "barabasi_albert",
    "cache_folder",
    "erdos_renyi",
    "get",
    "info",
    "load",
    "names",
    "ring_knn",
    "stochastic_block_model",
]
