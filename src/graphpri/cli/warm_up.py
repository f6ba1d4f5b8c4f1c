"""``graphpri warm-up``: compile the loops for large graphs beforehand."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cyclopts import App

from graphpri.cli.options import Json
from graphpri.cli.progress import Watch

app = App(
    name="warm-up",
    help="""Compile the loops for large graphs beforehand.

Otherwise each is compiled when it is first needed, some 15 seconds in all on a large graph. They are kept beside the
package, or in the folder that the environment variable NUMBA_CACHE_DIR names. Worth while after an installation, and in
the image of a container. Those for graphs in parts are among them where the extra 'distributed' is installed.""",
    help_epilogue="Example:\n  pip install graphpri && graphpri warm-up",
)

EDGES_A_NODE = 10
NODES = 26_000
"""Large enough that nothing is left to NumPy."""


@app.default
def warm_up(*, json: Json = False) -> None:
    """Sparsify graphs of each kind, and note how long that takes."""
    import numpy as np

    from graphpri import Graph, datasets, io, sparsify
    from graphpri.cli import show

    drawn = datasets.barabasi_albert(NODES, EDGES_A_NODE, seed=0)
    order = np.random.default_rng(0).permutation(drawn.n_edges)
    ends = drawn.source[order], drawn.target[order]
    weights = np.random.default_rng(1).lognormal(size=drawn.n_edges)
    rows: list[dict[str, object]] = []
    with Watch() as watch, tempfile.TemporaryDirectory() as folder:

        def note(edges: str, entropy: str, call: Callable[[], object]) -> None:
            watch.stage(f"{entropy} entropy, {edges}")
            begun = time.perf_counter()
            call()
            rows.append({"entropy": entropy, "edges": edges, "seconds": round(time.perf_counter() - begun, 2)})

        def alone(values: Any, entropy: str) -> None:
            graph = Graph.from_edges(*ends, values)
            sparsify(graph, keep=0.5, entropy=entropy, connected=True, effort="fast")

        for edges, values in (("equal weights", None), ("weights", weights)):
            for entropy in ("degree", "local"):
                note(edges, entropy, partial(alone, values, entropy))
        if all(map(find_spec, ("dask", "distributed", "pyarrow", "fsspec"))):
            from graphpri import distributed

            part = Path(folder, "karate.parquet")
            io.write(datasets.load("karate"), part)
            for edges, weight in (("equal weights", None), ("weights", "weight")):
                for entropy in ("degree", "local"):
                    output = str(Path(folder, f"{entropy} {edges}"))
                    how = {"keep": 0.5, "entropy": entropy, "weight": weight}
                    note(f"{edges}, in parts", entropy, partial(distributed.sparsify, str(part), output, **how))
    print(show.as_json({"done": rows}) if json else show.table(rows))
