"""Pictures: what is drawn is what was kept, in places that don't depend on it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import graphpri
import zoo
from graphpri import plot
from graphpri._layout import spring
from graphpri.errors import GraphError, MissingExtraError, OptionError
from graphpri.graph import Graph
from graphpri.plot import sample_nodes

pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def no_display(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def karate() -> Graph:
    return graphpri.as_graph(nx.karate_club_graph())


def segments(ax: Any, label: str) -> np.ndarray:
    """Ends of the lines in the collection whose label begins so, shape (lines, 2, 2)."""
    (found,) = [c for c in ax.collections if c.get_label().startswith(label)]
    return np.array(found.get_segments()).reshape(-1, 2, 2)


def lines(ax: Any) -> dict[str, np.ndarray]:
    return {str(line.get_label()): np.array(line.get_xydata()) for line in ax.get_lines()}


def test_kept_and_dropped_edges_are_drawn_between_their_nodes(karate: Graph):
    kept = graphpri.sparsify(karate, keep=20, effort="fast")
    place = np.random.default_rng(1).normal(size=(34, 2))
    ax = plot.graph(karate, kept, layout=place)
    for label, mask in (("kept", kept.mask), ("dropped", ~kept.mask)):
        expected = np.stack([place[karate.source[mask]], place[karate.target[mask]]], axis=1)
        assert_allclose(segments(ax, label), expected)
    assert ax.get_title() == "20 of 78 edges kept"
    assert [text.get_text() for text in ax.get_legend().get_texts()][:2] == ["dropped (58)", "kept (20)"]


def test_the_layout_does_not_depend_on_what_is_kept(karate: Graph):
    def ends(mask: np.ndarray) -> np.ndarray:
        ax = plot.graph(karate, mask, seed=3)
        both = np.concatenate([segments(ax, "kept"), segments(ax, "dropped")])
        return np.unique(both.reshape(-1, 2), axis=0)

    some = np.arange(78) % 3 == 0
    assert_array_equal(ends(some), ends(~some))


@pytest.mark.parametrize("form", ["result", "graph", "mask", "networkx"])
def test_what_was_kept_may_come_in_any_form(form: str):
    G = nx.karate_club_graph()
    result = graphpri.sparsify(G, keep=10, effort="fast")
    canonical = np.zeros(78, bool)
    canonical[
        np.isin(np.arange(78), [i for i, e in enumerate(sorted(map(sorted, G.edges))) if result.graph.has_edge(*e)])
    ] = True
    kept = {"result": result, "graph": result.kept, "mask": canonical, "networkx": result.graph}[form]
    assert segments(plot.graph(G, kept), "kept").shape[0] == 10


def test_nodes_that_lost_all_edges_are_crosses():
    star = zoo.star(6)
    ax = plot.graph(star, np.array([True, True, False, False, False]))
    discs, crosses = ax.collections[2], ax.collections[3]
    assert (len(discs.get_offsets()), len(crosses.get_offsets())) == (3, 3)
    assert crosses.get_label() == "cut off (3)"
    assert discs.get_sizes().argmax() == 0


def test_positions_may_be_a_mapping_of_labels():
    G = nx.path_graph(["c", "a", "b"])
    place = {"a": (0, 0), "b": (1, 0), "c": (0, 2)}
    ends = segments(plot.graph(G, G, layout=place), "kept")
    assert_allclose(ends, [[[0, 0], [1, 0]], [[0, 0], [0, 2]]])


@pytest.mark.parametrize("layout", [np.zeros((3, 2)), np.full((34, 2), np.nan), {0: (0, 0)}, np.zeros((34, 3))])
def test_layouts_that_do_not_place_every_node_are_refused(layout: Any, karate: Graph):
    with pytest.raises(OptionError, match="layout"):
        plot.graph(karate, np.ones(78, bool), layout=layout)


def test_edges_that_the_original_does_not_have_are_refused(karate: Graph):
    with pytest.raises(GraphError, match=r"\(0, 9\)"):
        plot.graph(karate, Graph.from_edges([0], [9], n_nodes=34))


def test_axes_of_the_caller_are_drawn_on(karate: Graph):
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert plot.graph(karate, np.ones(78, bool), ax) is ax
    assert len(ax.collections) == 3


def test_large_graphs_are_sampled_and_the_title_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(plot, "LARGEST", 50)
    graph = zoo.grid(20, 20)
    mask = np.arange(graph.n_edges) % 2 == 0
    ax = plot.graph(graph, mask)
    assert "380 of 760 edges kept" in ax.get_title()
    assert "50 of 400 nodes" in ax.get_title()
    drawn = len(segments(ax, "kept")) + len(segments(ax, "dropped"))
    assert 49 <= drawn < 100
    assert sum(len(c.get_offsets()) for c in ax.collections[2:]) == 50


@pytest.mark.parametrize("graph", zoo.ALL.values(), ids=zoo.ALL)
def test_every_graph_can_be_drawn(graph: Graph):
    ax = plot.graph(graph, np.arange(graph.n_edges) % 2 == 0)
    ax.get_figure().canvas.draw()


@pytest.mark.parametrize("graph", zoo.ALL.values(), ids=zoo.ALL)
def test_springs_place_every_node_within_the_unit_disc(graph: Graph):
    place = spring(graph, seed=1)
    assert place.shape == (graph.n_nodes, 2)
    assert np.isfinite(place).all()
    assert (np.linalg.norm(place, axis=1) <= 1 + 1e-9).all()
    assert_array_equal(place, spring(graph, seed=1))


def test_springs_put_neighbours_nearer_than_others():
    graph = zoo.two_cliques(8)
    place = spring(graph)
    distance = np.linalg.norm(place[:, None] - place, axis=2)
    joined = graph.adjacency().toarray() > 0
    other = ~joined & ~np.eye(16, dtype=bool)
    assert distance[joined].mean() < 0.5 * distance[other].mean()


def test_samples_are_distinct_nodes_that_hang_together():
    graph = zoo.grid(30, 30)
    nodes = sample_nodes(graph, 60, seed=2)
    assert nodes.size == 60 == np.unique(nodes).size
    chosen = np.isin(np.arange(900), nodes)
    inside = chosen[graph.source] & chosen[graph.target]
    assert graph.components(inside)[0] - 840 <= 3
    assert_array_equal(nodes, sample_nodes(graph, 60, seed=2))
    assert_array_equal(sample_nodes(graph, 5000), np.arange(900))


def test_samples_of_graphs_in_pieces_have_their_size():
    assert sample_nodes(zoo.disjoint(zoo.ring(5), zoo.path(4), isolated=20), 17).size == 17


def curves(ax: Any) -> dict[str, np.ndarray]:
    """Curves of all axes of a figure by their names."""
    return {name: points for each in ax.figure.axes for name, points in lines(each).items()}


def test_path_along_beta(karate: Graph):
    results = graphpri.path(karate, beta=[4, 0, 2])
    ax = plot.path(results)
    drawn = curves(ax)
    order = [1, 2, 0]
    for name, attribute in (("objective J", "objective"), ("entropy S", "entropy"), ("divergence D", "divergence")):
        assert_allclose(drawn[name], [(results[i].settings["beta"], getattr(results[i], attribute)) for i in order])
    shares = [results[i].kept.n_edges / 78 for i in order]
    assert_allclose(drawn["edges kept"], np.transpose([[0, 2, 4], shares]))
    assert [each.get_ylabel().split("\n")[0] for each in ax.figure.axes] == [
        "objective J",
        "divergence D",
        "entropy S",
        "edges",
    ]
    assert list(lines(ax)) == ["objective J"]


def test_constant_curves_of_a_path_are_left_out_and_axes_of_a_grid_keep_their_place(karate: Graph):
    import matplotlib.pyplot as plt

    _, (one, other) = plt.subplots(1, 2)
    before = other.get_position().bounds
    ax = plot.path(graphpri.path(karate, beta=[0.0, 4.0], keep=20), one)
    assert "edges kept" not in curves(ax)
    assert other.get_position().bounds == before
    loose = plt.figure().add_axes((0.1, 0.1, 0.8, 0.8))
    assert "divergence D" in curves(plot.path(graphpri.path(karate, beta=[0.0, 4.0], keep=20), loose))


def test_path_takes_rows_too(karate: Graph):
    results = graphpri.path(karate, beta=[4, 0, 2])
    rows = [
        {"objective": r.objective, "entropy": r.entropy, "divergence": r.divergence}
        | {"beta": r.settings["beta"], "share": r.kept.n_edges / 78}
        for r in results
    ]
    ours, theirs = curves(plot.path(rows)), curves(plot.path(results))
    assert list(ours) == list(theirs)
    for name, points in theirs.items():
        assert_allclose(ours[name], points)
    del rows[1]["share"]
    with pytest.raises(OptionError, match="a row has no 'share'; it has 'objective'"):
        plot.path(rows)


def test_path_along_budgets(karate: Graph):
    results = graphpri.path(karate, keep=[0.5, 0.25])
    ax = plot.path(results)
    assert "edges kept" not in curves(ax)
    assert_allclose(curves(ax)["divergence D"][:, 0], [20 / 78, 39 / 78])
    assert "share" in ax.get_xlabel()


def test_path_of_nothing_is_refused(karate: Graph):
    with pytest.raises(OptionError, match="no results"):
        plot.path([])
    same = graphpri.sparsify(karate, keep=5, effort="fast")
    with pytest.raises(OptionError, match="neither"):
        plot.path([same, same])


ROWS = [
    {"method": m, "options": o, "K": k, "divergence": d}
    for m, o, k, d in [("pri", "", 9, 0.1), ("pri", "", 5, 0.3), ("x", "a=1", 5, 0.4), ("x", "a=1", 5, 0.6)]
]


def test_comparison_has_a_line_a_method_through_the_mean_of_its_seeds():
    ax = plot.compare([*ROWS, {"method": "x", "options": "a=1", "K": None, "divergence": np.nan}])
    drawn = lines(ax)
    assert_allclose(drawn["pri"], [(5, 0.3), (9, 0.1)])
    assert_allclose(drawn["x (a=1)"], [(5, 0.5)])
    assert len(ax.collections) == 2


def test_comparison_takes_the_library_s_own(karate: Graph):
    table = graphpri.compare(karate, ["random", "scan"], [10, 20], measures=["entropy"])
    drawn = lines(plot.compare(table, measure="entropy"))
    assert list(drawn) == ["random", "scan"]
    assert_allclose(drawn["scan"], [(row["K"], row["entropy"]) for row in table if row["method"] == "scan"])


def test_comparison_has_medians_and_quantiles_where_asked():
    rows = [{"method": "m", "K": 3, "divergence": float(d)} for d in (0, 1, 2, 3, 100)]
    ax = plot.compare(rows, centre="median", band=(0.25, 0.75))
    assert_allclose(lines(ax)["m"], [(3, 2)])
    low, high = ax.collections[0].get_paths()[0].vertices[:, 1].min(), ax.collections[0].get_paths()[0].vertices.max()
    assert (low, high) == (1, 3)


@pytest.mark.parametrize(
    "options", [{"centre": "mode"}, {"band": (0.9, 0.1)}, {"band": (0, 2)}, {"band": (float("nan"), 1)}]
)
def test_comparison_refuses_other_centres_and_bands(options: Any):
    with pytest.raises(OptionError, match=r"choose from 'mean'|two quantiles|a pair"):
        plot.compare(ROWS, **options)


@pytest.mark.parametrize(("rows", "measure"), [([], "divergence"), (ROWS, "entropy")])
def test_comparison_of_nothing_is_refused(rows: list[dict[str, Any]], measure: str):
    with pytest.raises(OptionError, match="row"):
        plot.compare(rows, measure=measure)


def test_lines_differ_in_more_than_colour():
    rows = [{"method": str(i), "K": k, "divergence": 1.0} for i in range(7) for k in (1, 2)]
    ax = plot.compare(rows)
    assert len({(line.get_linestyle(), line.get_marker()) for line in ax.get_lines()}) == 7


def test_missing_matplotlib_is_named(monkeypatch: pytest.MonkeyPatch, karate: Graph):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"graphpri\[plot\]"):
        plot.graph(karate, np.ones(78, bool))


# Nodes by their attributes.


def scattered(ax: Any, label: str) -> Any:
    (found,) = [c for c in ax.collections if str(c.get_label()).startswith(label)]
    return found


def test_names_are_those_of_the_nodes_with_most_kept_edges():
    star = nx.Graph([("hub", leaf) for leaf in "abcd"] + [("a", "b")])
    result = graphpri.sparsify(star, keep=4, method="local-degree")
    for names, expected in (("all", ["hub", *"abcd"]), (1, ["hub"]), (None, [])):
        ax = plot.graph(star, result, names=names)
        assert sorted(text.get_text() for text in ax.texts) == sorted(expected)
    with pytest.raises(OptionError, match="names='some'"):
        plot.graph(star, result, names="some")


def test_colours_follow_attributes_groups_and_numbers():
    g = nx.karate_club_graph()
    result = graphpri.sparsify(g, keep=60, method="random")
    kept = {node for node in g if result.graph.degree[node]}
    ax = plot.graph(g, result, colour="club")
    clubs = nx.get_node_attributes(g, "club")
    for club in ("Mr. Hi", "Officer"):
        assert len(scattered(ax, club).get_offsets()) == sum(clubs[node] == club for node in kept)
    ax = plot.graph(g, result, colour="communities")
    assert sum(len(c.get_offsets()) for c in ax.collections if str(c.get_label()).startswith("community")) == len(kept)
    numbers = {node: float(node) for node in g}
    ax = plot.graph(g, result, colour=numbers, pos=nx.circular_layout(g))
    (scale,) = [c for c in ax.collections if c.get_array() is not None and len(np.ravel(c.get_array()))]
    assert sorted(np.ravel(scale.get_array())) == sorted(kept)
    many = plot.graph(g, result, colour=[f"group {node % 11}" for node in g])
    assert "other" in {str(c.get_label()) for c in many.collections}
    with pytest.raises(
        OptionError,
        match=r"colour='team' is no attribute of .* and no colour of .*; it has 'club'",
    ):
        plot.graph(g, result, colour="team")
    with pytest.raises(OptionError, match=r"colour.*3 values for 34 nodes"):
        plot.graph(g, result, colour=[1, 2, 3])


def test_sizes_and_widths_grow_with_what_is_asked_for():
    g = nx.Graph()
    g.add_weighted_edges_from([("a", "b", 1.0), ("b", "c", 9.0)])
    ax = plot.graph(g, size={"a": 0, "b": 1, "c": 4}, width="weight")
    found = [c for c in ax.collections if c.get_zorder() == 3]
    discs = {tuple(np.round(xy, 6)): s for c in found for xy, s in zip(c.get_offsets(), c.get_sizes(), strict=True)}
    assert len(discs) == 3
    areas = sorted(discs.values())
    assert (areas[2] - areas[0]) == pytest.approx(4 * (areas[1] - areas[0]))
    thin, thick = sorted(scattered(ax, "kept").get_linewidths())
    assert thin < thick
    with pytest.raises(OptionError, match="size must be finite numbers, 0 or more"):
        plot.graph(g, size={"a": -1.0})


def test_results_and_whole_graphs_are_drawn_alone_and_dropped_edges_left_out_on_request():
    result = graphpri.sparsify(nx.karate_club_graph(), keep=0.3)
    assert plot.graph(result).get_title() == "23 of 78 edges kept"
    assert plot.graph(nx.karate_club_graph()).get_title() == "78 edges"
    ax = plot.graph(result, dropped=False)
    assert not [c for c in ax.collections if str(c.get_label()).startswith("dropped")]
    for name in ("layout", "pos"):
        with pytest.raises(OptionError, match=f"^{name} has no position for 33 nodes"):
            plot.graph(result, **{name: {0: (0, 0)}})
        with pytest.raises(OptionError, match=f"^{name} must be finite .*and some are not finite"):
            plot.graph(result, **{name: np.full((34, 2), np.nan)})
    with pytest.raises(OptionError, match="layout and pos are two names"):
        plot.graph(result, layout=np.zeros((34, 2)), pos=np.zeros((34, 2)))


def test_names_of_chosen_nodes_are_written_as_they_are():
    g = nx.relabel_nodes(nx.path_graph(4), {0: "anna", 1: "$x", 2: "y$", 3: "$\\frac$"})
    ax = plot.graph(g, names=["anna", "$\\frac$"])
    assert sorted(text.get_text() for text in ax.texts) == ["$\\frac$", "anna"]
    ax.figure.canvas.draw()  # no formula that can't be read
    with pytest.raises(OptionError, match=r"names: the graph has no node 'ana'; did you mean 'anna'\?"):
        plot.graph(g, names=["ana"])
    with pytest.raises(OptionError, match="a list of their labels"):
        plot.graph(g, names="anna")


def test_plain_colours_are_those_of_matplotlib():
    g = nx.star_graph(4)
    for colour, rgb in (("steelblue", (70, 130, 180)), ((1.0, 0.0, 0.0), (255, 0, 0)), (["#ff0000"] * 5, (255, 0, 0))):
        faces = plot.graph(g, colour=colour).collections[-1].get_facecolors()
        assert_allclose(faces[:, :3] * 255, np.tile(rgb, (len(faces), 1)), atol=0.5)
    nx.set_node_attributes(g, {0: "hub", 1: "leaf", 2: "leaf", 3: "leaf", 4: "leaf"}, "red")
    labels = {str(c.get_label()) for c in plot.graph(g, colour="red").collections}  # the attribute goes first
    assert {"hub", "leaf"} <= labels


def test_letters_that_no_font_has_are_mentioned_once():
    g = nx.path_graph(["\U000130b8", "\U000130b9", "c"])  # hieroglyphs
    with pytest.warns(UserWarning, match="no installed font has") as caught:
        ax = plot.graph(g, names="all")
    assert len(caught) == 1
    if any("Last Resort" in family for family in ax.texts[0].get_fontfamily()):
        ax.figure.canvas.draw()  # a warning would be an error


def test_a_hairball_says_what_to_do():
    graph = graphpri.datasets.barabasi_albert(200, 5)
    crowded = plot.graph(graph, np.arange(graph.n_edges) < 600)
    assert "a smaller keep shows more" in crowded.get_title()
    assert "smaller" not in plot.graph(graph, np.arange(graph.n_edges) < 200).get_title()
    alpha = [scattered(plot.graph(graph, np.arange(graph.n_edges) < k), "kept").get_alpha() for k in (100, 800)]
    assert alpha[1] < alpha[0]


@pytest.mark.parametrize("kind", ["pdf", "svg", "png"])
def test_pictures_have_no_white_margins(kind: str, tmp_path: Any):
    ax = plot.graph(nx.karate_club_graph(), np.arange(78) < 20, names="all", colour="club")
    ax.figure.savefig(tmp_path / f"karate.{kind}")
    assert (tmp_path / f"karate.{kind}").stat().st_size > 1000
    if kind == "png":
        import matplotlib.pyplot as plt

        ink = (plt.imread(tmp_path / "karate.png")[..., :3] < 1).any(axis=2)
        rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
        assert np.ptp(rows) > 0.9 * ink.shape[0]
        assert np.ptp(columns) > 0.85 * ink.shape[1]


def test_the_best_of_each_budget_has_a_ring():
    rows = [
        {"method": m, "K": k, "divergence": d}
        for m, k, d in (("a", 5, 0.1), ("b", 5, 0.2), ("a", 9, 0.3), ("b", 9, 0.2))
    ]
    rings = scattered(plot.compare(rows), "best").get_offsets()
    assert_allclose(rings, [(5, 0.1), (9, 0.2)])
    unknown = [row | {"mine": row["divergence"]} for row in rows]
    assert not [c for c in plot.compare(unknown, measure="mine").collections if c.get_label() == "best"]
