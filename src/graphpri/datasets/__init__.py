"""Named graphs with checked files, and generators of graphs."""

from graphpri.datasets.catalogue import Dataset, ScanSet, Table, about, info, names, scan_sets, tables
from graphpri.datasets.files import Scans, cache_folder, get, load, scans, table
from graphpri.datasets.generators import barabasi_albert, erdos_renyi, ring_knn, stochastic_block_model

__all__ = [
    "Dataset",
    "ScanSet",
    "Scans",
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
    "scan_sets",
    "scans",
    "stochastic_block_model",
    "table",
    "tables",
]
