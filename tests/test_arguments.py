"""Every argument of every public function, with values that make no sense: refused, by an error that names it."""

from __future__ import annotations

import importlib
import inspect
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from matplotlib import pyplot as plt

import graphpri
import graphpri.estimator
from graphpri import baselines, datasets, measures, plot, studies
from graphpri._arguments import checked
from graphpri.apps.mtl import GraphMTL
from graphpri.apps.mtl_data import as_lists, synthetic
from graphpri.apps.scalar import ScalarPRI
from graphpri.errors import ArgumentError, GraphPRIError, OptionError
from graphpri.solvers.gumbel import Gumbel

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # PyTorch's own, on import
    from torch_geometric.data import Data

    import graphpri.torch
    from graphpri.torch import Sparsify

WRONG: dict[str, Any] = {
    "None": None,
    "nan": np.nan,
    "inf": np.inf,
    "-inf": -np.inf,
    "-1": -1,
    "-0.5": -0.5,
    "0": 0,
    "1.5": 1.5,
    "huge": 10**400,
    "text": "x",
    "no text": "",
    "bytes": b"x",
    "list": [],
    "tuple": (),
    "dict": {},
    "set": set[int](),
    "mixed list": [1, "a"],
    "list of text": ["x"],
    "list of None": [None],
    "array": np.array([1.0, np.nan]),
    "matrix": np.zeros((2, 3)),
    "text array": np.array("x"),
    "object": object(),
    "True": True,
    "complex": 1j,
    "function": lambda *_: None,
    "...": ...,
    "module": np,
}

FINE: dict[str, str] = {
    "alpha": "0, 1.5",
    "beta": "0, 1.5",
    "seed": "0, huge",
    "seeds": "0, huge",
    "random_state": "0, huge",
    "time_limit": "inf, 1.5, huge",
    "tol": "0, 1.5",
    "error": "1.5, huge",
    "steps": "huge",
    "callback": "function",
    "progress": "function",
    "weight": "None",
    "attributes": "dict",
    "edge_attrs": "list, tuple",
    "protect": "list, tuple, set",
    "forbid": "list, tuple, set",
    "notes": "list, tuple, list of text",
    **dict.fromkeys(("store", "comment"), "text"),
    **dict.fromkeys(("title", "weight_name", "summary", "reference", "group", "unit"), "text, no text"),
    **dict.fromkeys(
        ("connected", "cover", "at_least", "dropped", "header", "force", "check", "hard", "unit_mean"), "True"
    ),
    **dict.fromkeys(("core", "both", "draw", "weighted", "fit_intercept", "directed", "new_weights"), "True"),
    **dict.fromkeys(("edge_attributes", "node_attributes", "graph_attributes", "method_options"), "dict"),
    "baselines.find.besides": "list, tuple, list of text",
    "baselines.method.name": "text",
    "baselines.method.needs_weights": "True",
    "baselines.method.p_values": "function",
    "baselines.method.threshold": "inf, -inf, -1, -0.5, 0, 1.5, huge",
    "ProgressBar.label": "text, no text",
    "plot.graph.names": "0, huge, list, tuple, set",
    "plot.graph.pos": "None",
    "measures.measure.name": "text",
    "compare.connected": "None, True",
    "datasets.erdos_renyi.mean_degree": "0, 1.5",
    "datasets.stochastic_block_model.p_in": "0",
    "datasets.stochastic_block_model.p_out": "0",
    "datasets.stochastic_block_model.seed": "None, 0, huge",
    "datasets.stochastic_block_model.sizes": "list, tuple",
    "reweight": "None, True",
    "estimate.probes": "huge",
    "explore.methods": "list, tuple",
    "read.comment": "None, text",
    "EdgeTable.matrix": "True",
    "EdgeTable.n_nodes": "0",
    "node": "0",
    "edge": "0",
    "indices": "True",
    "EdgeTable.unclear": "text, no text",
    "EdgeTable.row_name": "function",
    "Graph.weights": "array",
    "solvers.gumbel.Gumbel.temperature": "1.5",
    "solvers.gumbel.Gumbel.samples": "huge",
    "solvers.gumbel.Gumbel.learning_rate": "1.5",
    "solvers.gumbel.Gumbel.patience": "0, huge",
    "torch.Anneal.start": "1.5",
    "torch.Anneal.end": "1.5",
    "torch.EdgeGate.temperature": "1.5, function",
    "torch.EdgeGate.size": "0, 1.5",
    "torch.EdgeGate.forward.samples": "0",
    "torch.InductiveGate.edge_channels": "0",
    "torch.InductiveGate.temperature": "1.5, function",
    "torch.EdgeGate.top_k.k": "0",
    "torch.Sparsify.keep": "huge",
    "apps.mtl.GraphMTL.ridge": "0, 1.5",
    "apps.mtl.GraphMTL.gamma": "0, 1.5",
    "apps.mtl.GraphMTL.k": "huge",
    "apps.mtl_data.synthetic.irrelevant": "0",
    "apps.mtl_data.synthetic.seed": "None, 0, huge",
    "apps.scalar.ScalarPRI.beta": "inf, 0, 1.5",
    "apps.scalar.ScalarPRI.bandwidth": "1.5",
    "apps.scalar.ScalarPRI.init": "matrix",
    "apps.scalar.ScalarPRI.max_iter": "huge",
}
"""Values above that do make sense, by argument; those of one function alone as ``function.argument``."""

UNUSED = {"apps.mtl.GraphMTL.task_column"}
"""Parameters that the call below doesn't use."""

ALSO = {
    "G": "graph|adjacency",
    "H": "graph|mask|node|H has|adjacency",
    "graph": "Graph",
    "path": "x|path",
    "path_or_stream": "x|file|format|suffix|stream",
    "name": "data set|table|method|measure|study|scans",
    "rows": "table|row",
    "results": "point|result",
    "layout": "position|places",
    "pos": "position|places",
    "width": "weight",
    "original": "graph|adjacency",
    "kept": "graph|adjacency|node",
    "measure": "a row has no",
    "along": "a row has no",
    "n_nodes": "nodes are numbered",
    "labels": "nodes are numbered|unhashable",
}
"""What an error may say instead of the argument's name."""

MADE = {
    *("Choice", "Comparison", "Estimates", "Exploration", "Report", "Sparsified", "SparsifiedPath"),
    *("baselines.Method", "baselines.Scored", "distributed.Manifest", "distributed.Step"),
    *("datasets.Dataset", "datasets.ScanSet", "datasets.Scans", "datasets.Table", "io.Format", "measures.Cost"),
    *("measures.Measure", "measures.Settings", "measures.View", "studies.Result", "studies.StudyProgress"),
    *("studies.Verdict",),
}
"""Classes that the library, or an extension of it, makes: users get them and don't call them."""

OTHERS = {
    *(
        "baselines.run",
        "interop.Policies",
        "interop.Source",
        "interop.accepts",
        "interop.align",
        "interop.edge_selector",
        "interop.from_table",
    ),
    *("interop.load", "io.find_format", "measures.per_view", "studies.conclude", "studies.row_of"),
    *("datasets.get", "datasets.scans", "datasets.table", "studies.reproduce"),
    *("studies.write_page", "studies.write_verdicts"),
}
"""Functions that take what other functions of the library made, for those who extend it."""


CLUSTERS = {"distributed.connect", "distributed.estimate", "distributed.sparsify"}
"""What needs a cluster or its files: tests/test_distributed.py calls these."""

METHODS = {"interop.Policies.for_type"}
"""What adapters of types call."""

_ESTIMATORS: dict[str, Callable[..., Any]] = {
    "estimator.GraphPRI": graphpri.estimator.GraphPRI,
    "apps.mtl.GraphMTL": GraphMTL,
    "apps.scalar.ScalarPRI": ScalarPRI,
}
"""Those of scikit-learn's kind: what is wrong with their parameters is said when they are fitted."""

_SIGNATURES = _ESTIMATORS | {"plot.graph": plot.graph, "plot.path": plot.path, "plot.compare": plot.compare}
"""What has the signature of those below that are called by way of another function."""


def _public() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Functions and classes by name, as users write it after ``graphpri.``; errors left out."""
    seen = set[int]()
    for module in (graphpri, *(importlib.import_module(f"graphpri.{name}") for name in graphpri._MODULES)):
        home = module.__name__.removeprefix("graphpri").lstrip(".")
        for name in getattr(module, "__all__", ()):
            found = getattr(module, name)
            is_ours = callable(found) and getattr(found, "__module__", "").startswith("graphpri.")
            if not is_ours or id(found) in seen or (isinstance(found, type) and issubclass(found, BaseException)):
                continue
            seen.add(id(found))
            known = f"{home}.{name}".lstrip(".")
            yield known, found
            if isinstance(found, type) and known not in MADE:
                yield from _methods(known, found)
    yield from _ESTIMATORS.items()


def _methods(name: str, of: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public methods of a class that have parameters."""
    for key, found in vars(of).items():
        method = getattr(found, "__func__", found)
        public = not key.startswith("_") and inspect.isfunction(method)
        if public and {p.name for p in _parameters(method)} - {"self", "cls"}:
            yield f"{name}.{key}", method


def _calls(folder: Path) -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """A right call of everything public, by its name."""
    g = graphpri.Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 4, 4])
    matrix = g.adjacency().toarray()
    nodes, ends = np.array([0, 1]), np.array([1, 2])
    table = graphpri.EdgeTable(3, nodes, ends)
    (folder / "a.csv").write_text("a,b\nb,c\n")
    kept = graphpri.sparsify(g, keep=4)
    compared = graphpri.compare(g, ["random"], [0.4, 0.8], measures=["edges", "divergence"])
    page = graphpri.explore(g, beta=[1, 4], keep=[2, 4], methods=["random"])
    asked = {"beta": [1, 2], "keep": [3, 4], "methods": ["random"]}

    objective, rows = graphpri.Objective(g, 2.0), np.ones((2, 5))

    def fit(**options: Any) -> Any:
        return graphpri.estimator.GraphPRI(**options).fit(matrix)

    weights = torch.ones(4, dtype=torch.float64)
    square = torch.tensor(matrix)
    pairs = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])

    def drawn(draw: Callable[..., Any]) -> Callable[..., Any]:
        def called(**options: Any) -> None:
            try:
                draw(**options)
            finally:
                plt.close("all")

        return called

    few = synthetic(n_tasks=3, group_size=1, n=50).tasks
    gate = graphpri.torch.EdgeGate(3)
    anywhere, features = graphpri.torch.InductiveGate(2), {"x": torch.ones(3, 2), "edge_index": pairs}
    loss = graphpri.torch.PRILoss()
    edges = {"edge_index": pairs, "a": weights, "original": weights, "beta": 2.0}
    return {
        "sparsify": (graphpri.sparsify, {"G": g, "keep": 3}),
        "path": (graphpri.path, {"G": g, "keep": [2, 3]}),
        "ProgressBar": (graphpri.ProgressBar, {"label": "all"}),
        "choose": (graphpri.choose, {"G": g, "keep": 4, "purpose": "clustering"}),
        "compare": (graphpri.compare, {"G": g, "methods": ["random"], "keep": 3, "measures": ["edges"]}),
        "explore": (graphpri.explore, {"G": g} | asked),
        "as_graph": (graphpri.as_graph, {"G": g}),
        "report": (graphpri.report, {"G": g, "H": kept, "measures": ["edges"]}),
        "estimate": (graphpri.estimate, {"G": g, "H": kept}),
        "von_neumann_entropy": (graphpri.von_neumann_entropy, {"G": g}),
        "divergence": (graphpri.divergence, {"G": g, "H": kept}),
        "objective": (graphpri.objective, {"G": g, "H": kept, "beta": 2}),
        "methods": (graphpri.methods, {}),
        "read": (graphpri.read, {"path_or_stream": folder / "a.csv"}),
        "write": (graphpri.write, {"graph": table, "path_or_stream": folder / "b.csv", "force": True}),
        "Graph": (graphpri.Graph, {"n_nodes": 3, "source": nodes, "target": ends, "weights": np.ones(2)}),
        "Graph.from_edges": (graphpri.Graph.from_edges, {"source": nodes, "target": ends}),
        "EdgeTable": (graphpri.EdgeTable, {"n_nodes": 3, "source": nodes, "target": ends}),
        "EdgeTable.canonical": (table.canonical, {}),
        "EdgeTable.label": (table.label, {"node": 0}),
        "Graph.label": (g.label, {"node": 0}),
        "Graph.edge_labels": (g.edge_labels, {"edge": 0}),
        "Graph.strengths": (g.strengths, {}),
        "Graph.adjacency": (g.adjacency, {}),
        "Graph.laplacian": (g.laplacian, {}),
        "Graph.components": (g.components, {}),
        "Graph.select": (g.select, {"mask": np.ones(5, bool)}),
        "Graph.node_sums": (g.node_sums, {"at_source": np.ones(5), "at_target": np.ones(5)}),
        "Objective": (graphpri.Objective, {"graph": g, "beta": 2.0}),
        **{
            f"Objective.{name}": (getattr(objective, name), {"w": np.ones(5)})
            for name in ("estimated", "terms", "terms_and_gradient", "value", "gradient", "value_and_gradient")
        },
        "Objective.divergence_and_gradient": (objective.divergence_and_gradient, {"w": np.ones(5)}),
        "Objective.selection": (objective.selection, {"mask": np.ones(5, bool)}),
        **{f"Objective.{name}": (getattr(objective, name), {"selections": rows}) for name in ("values", "gradients")},
        "Comparison.best": (compared.best, {"measure": "divergence"}),
        "Comparison.to_csv": (compared.to_csv, {"path": folder / "c.csv"}),
        "Exploration.mask": (page.mask, {"beta": 1, "keep": 2}),
        "Exploration.save": (page.save, {"path": folder / "c.html"}),
        "estimator.GraphPRI": (fit, {"keep": 3}),
        "estimator.GraphPRI.get_support": (fit(keep=3).get_support, {}),
        "baselines.find": (baselines.find, {"name": "random"}),
        "baselines.method": (baselines.method, {"name": "own", "summary": "one", "reference": "none"}),
        "measures.choose": (measures.choose, {"measures": "core", "graph": g}),
        "measures.measure": (measures.measure, {"name": "own", "summary": "one"}),
        "io.check_output": (graphpri.io.check_output, {"path": folder / "d.csv"}),
        "plot.graph": (drawn(plot.graph), {"original": g, "kept": kept}),
        "plot.path": (
            lambda **options: plt.close(plot.path(**options).figure),
            {"results": graphpri.path(g, keep=[2, 3])},
        ),
        "plot.compare": (drawn(plot.compare), {"rows": compared}),
        "studies.find": (studies.find, {"name": "karate"}),
        "studies.names": (studies.names, {}),
        "datasets.about": (datasets.about, {"name": "karate"}),
        "datasets.info": (datasets.info, {"name": "karate"}),
        "datasets.load": (datasets.load, {"name": "karate"}),
        "datasets.names": (datasets.names, {}),
        "datasets.tables": (datasets.tables, {}),
        "datasets.scan_sets": (datasets.scan_sets, {}),
        "datasets.cache_folder": (datasets.cache_folder, {}),
        "datasets.barabasi_albert": (datasets.barabasi_albert, {"n": 5, "m": 2}),
        "datasets.erdos_renyi": (datasets.erdos_renyi, {"n": 5, "mean_degree": 2}),
        "datasets.ring_knn": (datasets.ring_knn, {"n": 5, "k": 2}),
        "datasets.stochastic_block_model": (datasets.stochastic_block_model, {"sizes": [2, 3], "p_in": 0.5}),
        "torch.Anneal": (graphpri.torch.Anneal, {}),
        "torch.EdgeGate": (graphpri.torch.EdgeGate, {"num_edges": 3}),
        "torch.EdgeGate.for_nodes": (graphpri.torch.EdgeGate.for_nodes, {"n_nodes": 3}),
        "torch.EdgeGate.forward": (gate.forward, {}),
        "torch.EdgeGate.for_edges": (graphpri.torch.EdgeGate.for_edges, {"edge_index": pairs}),
        "torch.EdgeGate.spread": (gate.spread, {"values": torch.ones(3)}),
        "torch.Sparsify.forward": (Sparsify(keep=2).forward, {"data": Data(edge_index=pairs, num_nodes=3)}),
        "torch.EdgeGate.top_k": (gate.top_k, {"k": 2}),
        "torch.EdgeGate.keep": (gate.keep, {"keep": 2}),
        "torch.InductiveGate": (graphpri.torch.InductiveGate, {"in_channels": 2}),
        "torch.InductiveGate.forward": (anywhere.forward, features),
        "torch.InductiveGate.probabilities": (anywhere.probabilities, features),
        "torch.InductiveGate.keep": (anywhere.keep, {"keep": 2} | features),
        "torch.PRILoss": (graphpri.torch.PRILoss, {}),
        "torch.PRILoss.forward": (loss.forward, {"gated": square, "original": square}),
        "torch.PRILoss.precompute": (loss.precompute, {"original": square}),
        "torch.Sparsify": (Sparsify, {"keep": 3}),
        "torch.pri_objective": (graphpri.torch.pri_objective, {"a": square, "original": square, "beta": 2.0}),
        "torch.pri_objective_edges": (graphpri.torch.pri_objective_edges, edges),
        "torch.qjs_divergence": (graphpri.torch.qjs_divergence, {"a": square, "b": square}),
        "torch.qjs_divergence_edges": (
            graphpri.torch.qjs_divergence_edges,
            {"edge_index": pairs, "a": weights, "b": weights},
        ),
        "torch.von_neumann_entropy": (graphpri.torch.von_neumann_entropy, {"adjacency": square}),
        "torch.von_neumann_entropy_edges": (graphpri.torch.von_neumann_entropy_edges, {"edge_index": pairs}),
        "solvers.gumbel.Gumbel": (Gumbel, {}),
        "apps.mtl.GraphMTL": (lambda **o: GraphMTL(**o).fit(*as_lists(few)), {"k": 1, "gamma": "loo"}),
        "apps.scalar.ScalarPRI": (lambda **o: ScalarPRI(**o).fit(np.eye(3)), {"beta": 1.0}),
        "apps.mtl_data.synthetic": (synthetic, {"n_tasks": 2, "group_size": 1, "n": 3}),
    }


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    found = inspect.signature(function).parameters.values()
    return [p for p in found if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some of the values are names of files and folders: here, not where the tests were started."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    return _calls(tmp_path_factory.mktemp("arguments"))


def _faults(
    name: str, function: Callable[..., Any], given: dict[str, Any], parameter: str, optional: bool
) -> Iterator[str]:
    fine = FINE.get(f"{name}.{parameter}", FINE.get(parameter, "")).split(", ") + ["None"] * optional
    for kind, value in WRONG.items():
        try:
            function(**given | {parameter: value})
        except (GraphPRIError, TypeError) as error:
            words = rf"\b{parameter}\b|{ALSO.get(parameter, parameter)}"
            if not re.search(words, str(error)):
                yield f"{name}({parameter}={kind}) is refused without its name: {error}"
        except Exception as error:
            yield f"{name}({parameter}={kind}) ends as {type(error).__name__}: {error}"
        else:
            if kind not in fine:
                yield f"{name}({parameter}={kind}) is accepted"


def test_every_public_function_refuses_what_makes_no_sense(
    calls: dict[str, tuple[Callable[..., Any], dict[str, Any]]],
) -> None:
    faults: list[str] = []
    for name, (function, given) in calls.items():
        target = _SIGNATURES.get(name, function)
        for parameter in _parameters(target):
            if f"{name}.{parameter.name}" in UNUSED:
                continue
            faults += _faults(name, function, given, parameter.name, parameter.default is None)
    assert not faults, "\n".join(faults)


def test_every_public_function_is_called(calls: dict[str, tuple[Callable[..., Any], dict[str, Any]]]) -> None:
    public, extra = {name for name, _ in _public()}, MADE | OTHERS | METHODS | CLUSTERS
    missing, stale = public - extra - set(calls), extra - public | extra & set(calls)
    assert (missing, stale) == (set(), set())


def test_what_is_fine_names_arguments_that_there_are(
    calls: dict[str, tuple[Callable[..., Any], dict[str, Any]]],
) -> None:
    known: set[str] = set()
    for name, (function, _) in calls.items():
        for parameter in _parameters(_SIGNATURES.get(name, function)):
            known |= {parameter.name, f"{name}.{parameter.name}"}
    assert {*FINE, *UNUSED, *ALSO} - known == set()


def test_a_new_parameter_without_a_check_is_found() -> None:
    def unchecked(size: float = 1.0) -> float:
        return 0.0

    assert any("size=text" in fault for fault in _faults("unchecked", unchecked, {}, "size", False))
    assert not any("size=text" in fault for fault in _faults("checked", checked(unchecked), {}, "size", False))


def test_an_unknown_argument_is_refused_with_what_it_may_mean() -> None:
    ring = graphpri.datasets.ring_knn()
    with pytest.raises(ArgumentError, match=r"ratio, random_state; did you mean keep, seed\?"):
        graphpri.sparsify(ring, ratio=0.3, random_state=1)
    for call in (graphpri.compare, graphpri.report, graphpri.explore, graphpri.estimate):
        with pytest.raises(ArgumentError, match=r"no argument random_state; did you mean seeds?\?"):
            call(ring, random_state=1)
    with pytest.raises(TypeError, match="no argument delim; did you mean delimiter"):
        graphpri.read("a.csv", delim=";")


def test_calls_with_too_few_or_too_many_arguments_say_what_to_pass() -> None:
    ring: Any = graphpri.datasets.ring_knn()
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: graphpri.compare(ring, "random"), r"compare needs keep \(a share .*number of edges"),  # pyright: ignore
        (lambda: graphpri.choose(ring), r"choose needs keep \(.*\) and purpose \(one of 'information'"),  # pyright: ignore
        (lambda: graphpri.path(ring, [0, 1]), "path takes only G without a name; the others are .* beta=, keep="),  # pyright: ignore
    ]
    for call, words in calls:
        with pytest.raises(ArgumentError, match=words):
            call()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"effort": "bogus"}, "effort='bogus': choose from 'fast', 'normal', 'best'"),
        ({"keep": [1, "a"]}, "keep='a' must be a share"),
        ({"seeds": [1, "a"]}, "seeds='a' must be a whole number"),
        ({"seeds": [1, -1]}, "seeds=-1 must be a whole number, 0 or more"),
        ({"time_limit": -1}, "time_limit=-1 must be a number of seconds above 0"),
        ({"measures": None}, "measures=None must be text or a sequence"),
    ],
)
def test_a_comparison_checks_everything_before_its_first_row(options: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        graphpri.compare(**({"G": graphpri.datasets.ring_knn(), "methods": "random", "keep": 0.5} | options))


def test_signatures_stay_as_they_are() -> None:
    found = inspect.signature(graphpri.sparsify).parameters
    assert found["keep"].annotation == "float | int | None"
    assert list(inspect.signature(graphpri.Objective).parameters) == ["graph", "beta", "alpha", "entropy", "mixture"]
    assert graphpri.sparsify.__doc__.startswith("Keep the informative edges")  # pyright: ignore
