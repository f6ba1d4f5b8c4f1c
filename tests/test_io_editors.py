"""Files of editors and of the web: GEXF, yEd's GraphML, node-link JSON, Cytoscape's SIF, DOT and adjacency lists."""

from __future__ import annotations

import inspect
import io
import json
from pathlib import Path
from typing import Any

import igraph as ig
import networkx as nx
import numpy as np
import pytest

from graphpri import io as gio
from graphpri.errors import FileError, GraphError, OptionError
from graphpri.graph import EdgeTable


def read(data: bytes | str, name: str | None = None, **options: Any) -> EdgeTable:
    return gio.read(io.BytesIO(data if isinstance(data, bytes) else data.encode()), name, **options)


def values_of(column: Any) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def labels_of(t: EdgeTable) -> list[Any]:
    return [t.label(i) for i in range(t.n_nodes)]


def edges_of(t: EdgeTable) -> list[tuple[Any, Any]]:
    return [(t.label(u), t.label(v)) for u, v in zip(t.source.tolist(), t.target.tolist(), strict=True)]


def columns_of(t: EdgeTable) -> dict[str, list[Any]]:
    return {key: values_of(column) for key, column in t.edge_attributes.items()}


def nodes_of(t: EdgeTable) -> dict[str, list[Any]]:
    return {key: values_of(column) for key, column in t.node_attributes.items()}


# GEXF


def gexf(nodes: str, edges: str, more: str = "", kind: str = "undirected", version: str = "1.2draft") -> str:
    space = f"http://www.gexf.net/{version}" if version != "1.3" else "http://gexf.net/1.3"
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<gexf xmlns="{space}" xmlns:viz="{space}/viz" version="1.2">'
        f'<graph defaultedgetype="{kind}">\n{more}<nodes>\n{nodes}\n</nodes>\n<edges>\n{edges}\n</edges></graph></gexf>'
    )


ROUTE = gexf(
    '<node id="0" label="Oslo"/><node id="1" label="Bergen"/><node id="2" label="Voss"/>',
    '<edge id="0" source="0" target="2" weight="3.5"/><edge id="1" source="2" target="1"/>',
)


@pytest.mark.parametrize("version", ["1.1draft", "1.2draft", "1.3"])
def test_gexf_nodes_go_by_their_labels_and_edges_without_weights_weigh_one(version: str) -> None:
    t = read(
        ROUTE.replace("1.2draft", version)
        if version != "1.3"
        else ROUTE.replace("www.gexf.net/1.2draft", "gexf.net/1.3")
    )
    assert labels_of(t) == ["Oslo", "Bergen", "Voss"]
    assert edges_of(t) == [("Oslo", "Voss"), ("Voss", "Bergen")]
    assert columns_of(t) == {"weight": [3.5, 1.0]}
    assert (t.directed, t.node_attributes, t.notes) == (False, {}, ())
    assert t.row_name
    assert t.row_name(1) == "the stream, line 7"


def test_gexf_attributes_defaults_looks_and_times_are_read() -> None:
    more = """<attributes class="node"><attribute id="0" title="age" type="integer"/>
      <attribute id="1" title="club" type="string"><default>red</default></attribute>
      <attribute id="s" title="size" type="boolean"/></attributes>
      <attributes class="edge"><attribute id="0" title="since" type="float"/></attributes>
    """
    nodes = """<node id="n/a" label="Ann"><attvalues><attvalue for="0" value="31"/><attvalue for="s" value="true"/>
      </attvalues><viz:position x="1.5" y="-2" z="0"/><viz:color r="255" g="0" b="16"/><viz:size value="9"/></node>
      <node id="n/b" label="Ben" start="2001"><attvalues><attvalue for="1" value="blue"/></attvalues>
      <nodes><node id="n/c" label="Cem"/></nodes></node>"""
    edges = """<edge source="n/a" target="n/b" label="knows"><attvalues><attvalue for="0" value="0.5"/></attvalues>
      <spells><spell start="1" end="2"/><spell start="4"/></spells></edge>"""
    t = read(gexf(nodes, edges, more))
    assert labels_of(t) == ["Ann", "Ben", "Cem"]
    assert nodes_of(t) == {
        "age": [31, None, None],
        "club": ["red", "blue", "red"],
        "size": [True, None, None],
        "x": [1.5, None, None],
        "y": [-2.0, None, None],
        "z": [0.0, None, None],
        "color": ["#ff0010", None, None],
        "viz_size": [9.0, None, None],
        "start": [None, 2001, None],
        "pid": [None, None, "n/b"],
        "id": ["n/a", "n/b", "n/c"],
    }
    assert columns_of(t) == {"since": [0.5], "spells": ["1..2 4.."], "label": ["knows"]}


def test_gexf_labels_that_do_not_tell_nodes_apart_are_an_attribute() -> None:
    for second, why in (('label="x"', "stands twice"), ("", "some nodes have none")):
        body = gexf(f'<node id="7" label="x"/>\n<node id="8" {second}/>', '<edge source="7" target="8"/>')
        t = read(body)
        assert labels_of(t) == [7, 8]
        assert values_of(t.node_attributes["label"])[0] == "x"
        assert why in t.notes[0]
    with pytest.raises(FileError, match="line 5: the node has no 'label'"):
        read(body, "gexf", label="label")
    assert labels_of(read(ROUTE, label="id")) == [0, 1, 2]
    assert values_of(read(ROUTE, label="id").node_attributes["label"]) == ["Oslo", "Bergen", "Voss"]


def test_gexf_directions_are_one_and_mutual_edges_two_arcs() -> None:
    nodes = '<node id="a" label="a"/><node id="b" label="b"/><node id="c" label="c"/>'
    t = read(gexf(nodes, '<edge source="a" target="b"/><edge source="b" target="c" type="mutual"/>', kind="directed"))
    assert t.directed
    assert edges_of(t) == [("a", "b"), ("b", "c"), ("c", "b")]
    with pytest.raises(GraphError, match="directed"):
        t.canonical()
    assert t.canonical(directed="symmetrize").graph.n_edges == 2
    assert not read(gexf(nodes, '<edge source="a" target="b" type="mutual"/>', kind="directed")).directed
    with pytest.raises(FileError, match="line 8: directed and undirected edges are mixed"):
        read(gexf(nodes, '<edge source="a" target="b" type="directed"/>\n<edge source="b" target="c"/>'))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("<gexf></gexf>", "there is no <graph> in it"),
        ("<gexf><graph><nodes>\n", "line 2: broken XML"),
        (gexf("<node/>", ""), "line 4: the <node> has no id"),
        (gexf('<node id="a"/>\n<node id="a"/>', ""), "line 5: the node id 'a' stands in line 4 already"),
        (gexf('<node id="a"/>', '<edge source="a"/>'), "line 7: the <edge> has no target"),
        (gexf('<node id="a"/>', '<edge source="a" target="b"/>'), "line 7: the edge's target 'b' is not the id"),
        (gexf('<node id="a"/>', '<edge source="a" target="a" weight="x"/>'), "line 7: the weight 'x' is not a number"),
        (
            gexf('<node id="a"/>', '<edge source="a" target="a" type="odd"/>'),
            "line 7: the edge's type 'odd' is none of",
        ),
        (gexf('<node id="a"><attvalues><attvalue for="k" value="1"/></attvalues></node>', ""), "line 4: .* is for 'k'"),
        (
            gexf(
                '<node id="a"><attvalues><attvalue for="k" value="x"/></attvalues></node>',
                "",
                '<attributes class="node"><attribute id="k" title="age" type="long"/></attributes>',
            ),
            r"line 4: 'x' is not a value of the type 'long' \('age'\)",
        ),
        (
            gexf(
                '<node id="a"><attvalues>\n<attvalue for="k" value="1" end="5"/><attvalue for="k" value="2"/>'
                "</attvalues></node>",
                "",
                '<attributes class="node" mode="dynamic"><attribute id="k" title="age" type="long"/></attributes>',
            ),
            "line 5: a second value of 'age' for the same node: values that change with time can't be read",
        ),
        ("<graphml></graphml>", 'its root is <graphml>, not <gexf>: pass format="graphml"'),
    ],
)
def test_broken_gexf_is_refused_with_its_line(body: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read(body, "gexf")


def test_entities_in_gexf_are_refused() -> None:
    with pytest.raises(FileError, match="line 1: the XML declares entities"):
        read('<!DOCTYPE g [<!ENTITY a "ha">]><gexf><graph/></gexf>', "gexf")


def test_gexf_keeps_what_an_editor_shows() -> None:
    t = EdgeTable(
        2,
        np.array([0]),
        np.array([1]),
        ["Ann", "Ben & Co"],
        edge_attributes={"id": ["e/1"], "label": ["is <near>"], "weight": [2]},
        node_attributes={"id": ["x1/", "x2/"], "x": [0.5, 1.0], "y": [2.0, 3.0], "color": ["#00ff7f", "#010203"]},
        graph_attributes={"name": "two", "creator": "hand"},
    )
    stream = io.BytesIO()
    assert gio.write(t, stream, "gexf") == []
    text = stream.getvalue().decode()
    assert '<node id="x1/" label="Ann"><viz:position x="0.5" y="2.0"/><viz:color r="0" g="255" b="127"/></node>' in text
    assert '<edge source="x1/" target="x2/" weight="2" id="e/1" label="is &lt;near&gt;"></edge>' in text
    back = read(text)
    assert (labels_of(back), columns_of(back), nodes_of(back), back.graph_attributes) == (
        labels_of(t),
        dict(t.edge_attributes),
        dict(t.node_attributes),
        t.graph_attributes,
    )


@pytest.mark.parametrize(
    "graph",
    [
        nx.les_miserables_graph(),
        nx.DiGraph([(1, 2), (2, 1)]),
        nx.MultiGraph([("a", "b", {"w": 1}), ("a", "b", {"w": 2})]),
    ],
    ids=["Graph", "DiGraph", "MultiGraph"],
)
def test_gexf_of_networkx_is_read(graph: Any) -> None:
    stream = io.BytesIO()
    nx.write_gexf(graph, stream)
    t = read(stream.getvalue())
    assert (t.n_nodes, t.source.size, t.directed) == (len(graph), graph.number_of_edges(), graph.is_directed())
    pairs = [(u, v) if t.directed else tuple(sorted((u, v))) for u, v in edges_of(t)]
    assert sorted(pairs) == sorted((u, v) if t.directed else tuple(sorted((u, v))) for u, v in graph.edges())
    if "w" in t.edge_attributes:
        assert values_of(t.edge_attributes["w"]) == [1, 2]


# yEd


YED = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
<key for="node" id="d0" yfiles.type="nodegraphics"/><key for="edge" id="d1" yfiles.type="edgegraphics"/>
<graph edgedefault="undirected" id="G">
{nodes}
<edge id="e0" source="n0" target="n1"><data key="d1"><y:PolyLineEdge><y:EdgeLabel>4</y:EdgeLabel></y:PolyLineEdge>
</data></edge></graph></graphml>
"""


def drawn(key: str, *texts: str) -> str:
    inside = "".join(f"<y:NodeLabel a='b'>{text}<y:LabelModel><y:S/> </y:LabelModel></y:NodeLabel>" for text in texts)
    return f'<node id="{key}"><data key="d0"><y:ShapeNode><y:Fill color="#fff"/>{inside}</y:ShapeNode></data></node>'


def test_labels_that_yed_draws_name_the_nodes() -> None:
    t = read(YED.format(nodes=drawn("n0", "TP53", "a second one") + drawn("n1", " MDM2\n")))
    assert (labels_of(t), edges_of(t)) == (["TP53", "MDM2"], [("TP53", "MDM2")])
    assert columns_of(t) == {"id": ["e0"], "label": [4]}
    assert labels_of(read(YED.format(nodes=drawn("n0", "A") + drawn("n1", "B")), label="id")) == ["n0", "n1"]


def test_labels_that_yed_draws_and_that_tell_nothing_apart_are_an_attribute_and_said() -> None:
    for nodes, labels in (
        (drawn("n0", "A") + drawn("n1", "A"), ["A", "A"]),
        (drawn("n0", "A") + drawn("n1"), ["A", None]),
    ):
        t = read(YED.format(nodes=nodes))
        assert (labels_of(t), values_of(t.node_attributes["label"])) == (["n0", "n1"], labels)
        assert t.notes[0].startswith("nodes are called by their ids, and not by their labels")


def test_labels_of_newer_yfiles_are_read() -> None:
    body = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/yfiles-common/3.0"
    xmlns:x="http://www.yworks.com/xml/yfiles-common/markup/3.0"><key id="d7" for="node" attr.name="NodeLabels"
    y:attr.uri="http://www.yworks.com/xml/yfiles-common/2.0/NodeLabels"/><graph edgedefault="undirected"><node id="a">
    <data key="d7"><x:List><y:Label><y:Label.Text><![CDATA[Ann]]></y:Label.Text></y:Label></x:List></data></node>
    </graph></graphml>"""
    t = read(body)
    assert (labels_of(t), t.node_attributes) == (["Ann"], {})


# Node-link JSON


KEY = "edges" if "edges" in inspect.signature(nx.node_link_data).parameters else "link"
"""What networkx calls the key of edges: another word before 3.4."""


@pytest.mark.parametrize("key", ["edges", "links"])
@pytest.mark.parametrize("indent", [None, 2])
def test_node_link_json_of_networkx_is_read_with_its_types(key: str, indent: int | None) -> None:
    graph = nx.MultiDiGraph(name="mixed")
    graph.add_nodes_from([(1, {"club": "x"}), ("1", {}), ((2, "t"), {})])
    graph.add_edges_from([(1, "1", {"weight": 2.5}), (1, "1", {"weight": 1}), ("1", (2, "t"), {})])
    t = read(json.dumps(nx.node_link_data(graph, **{KEY: key}), indent=indent))
    assert labels_of(t) == [1, "1", (2, "t")]
    assert edges_of(t) == [(1, "1"), (1, "1"), ("1", (2, "t"))]
    assert columns_of(t) == {"weight": [2.5, 1, None], "key": [0, 1, 0]}
    assert (t.directed, t.graph_attributes, nodes_of(t)) == (True, {"name": "mixed"}, {"club": ["x", None, None]})


def test_attributes_of_graphology_are_read_where_it_keeps_them() -> None:
    nodes = [{"key": "a", "attributes": {"x": 1}}, {"key": "b"}, {"key": "c"}]
    edges = [{"key": "e", "source": "a", "target": "b", "attributes": {"weight": 2}}, {"source": "b", "target": "c"}]
    whole = {"options": {"type": "undirected"}, "attributes": {"name": "toy"}, "nodes": nodes, "edges": edges}
    t = read(json.dumps(whole))
    assert (columns_of(t)["weight"], nodes_of(t), t.directed) == ([2, None], {"x": [1, None, None]}, False)
    assert t.graph_attributes == {"name": "toy"}
    assert read(json.dumps(whole | {"options": {"type": "directed"}})).directed
    edges[0]["undirected"] = True
    with pytest.raises(FileError, match="directed and undirected edges are mixed"):
        read(json.dumps(whole | {"options": {"type": "mixed"}}))


@pytest.mark.parametrize(
    ("nodes", "edge", "labels"),
    [
        ([{"id": "A"}, {"id": "B"}], {"source": "A", "target": "B"}, ["A", "B"]),
        ([{"name": "A"}, {"name": "B"}], {"source": 0, "target": 1}, ["A", "B"]),
        ([{"name": "A"}, {"name": "B"}], {"source": "A", "target": "B"}, ["A", "B"]),
        ([{"group": 1}, {"group": 2}], {"source": 0, "target": 1}, [0, 1]),
        ([{"key": "A"}, {"key": "B"}], {"source": "A", "target": "B"}, ["A", "B"]),
        ([{"id": 5, "label": "x"}, {"id": 7}], {"from": 5, "to": 7}, [5, 7]),
        ([{"id": "A"}, {"id": "B"}], {"source": {"id": "A"}, "target": {"id": "B"}}, ["A", "B"]),
    ],
)
def test_json_of_the_web_is_read(nodes: list[Any], edge: dict[str, Any], labels: list[Any]) -> None:
    t = read(json.dumps({"nodes": nodes, "links": [{**edge, "value": 3}]}))
    assert (labels_of(t), edges_of(t), columns_of(t)) == (labels, [tuple(labels)], {"value": [3]})


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("[1, 2]", "line 1: a JSON object"),
        ("{}", r"a list of 'nodes' and one of 'links' or 'edges' should stand in it \(its keys: none\)"),
        (json.dumps(nx.cytoscape_data(nx.path_graph(2))), "another form, Cytoscape's: .*networkx.cytoscape_graph"),
        (json.dumps(nx.adjacency_data(nx.path_graph(2))), "networkx.adjacency_graph"),
        ('{"graph": {"nodes": {}}}', "the JSON Graph Format"),
        ('{"nodes": [], "links": [], "edges": []}', "two lists of edges"),
        ('{"nodes": [\n{"id": 1},\n{"id": 1}], "links": []}', "line 3: the node id 1 stands in line 2 already"),
        ('{"nodes": [{"id": 1}],\n"links": [\n{"source": 1, "target": 9}]}', "line 3: the edge's target 9 is not"),
        ('{"nodes": [{"id": 1}],\n"links": [{"source": 1}]}', "line 2: the edge should have a 'target'"),
        ('{"nodes": [{"id": true}], "links": []}', "line 1: the node should have a 'id'"),
        ('{"nodes": [{"id": 1}, 5], "links": []}', "line 1: an entry of 'nodes' should be an object"),
        ('{"nodes": [{"id": 1}],\n"links": [{"source": 1', "line 3: not JSON .* cut off or damaged"),
        ('{"nodes": [{"id": 1},\n], "links": []}', "line 2: not JSON: nothing follows the comma"),
        ('{"nodes": [{"id": 1, "a": 1,\n"a": 2}], "links": []}', "line 1: the key 'a' stands twice"),
        ('{"nodes": [],\n"nodes": []}', "line 2: the key 'nodes' stands twice"),
        ('{"nodes": [], "links": []}\nmore', "line 2: something follows"),
        ('{"nodes": [], "links": [], "directed": "yes"}', "should be true or false"),
        ('{"nodes": ' + "[" * 100_000, "too deep|cut off"),
    ],
)
def test_broken_json_is_refused_with_its_line(body: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read(body, "json")


def test_json_that_we_write_holds_no_value_that_browsers_refuse() -> None:
    t = EdgeTable(
        2, np.array([0]), np.array([1]), [3, "b"], edge_attributes={"weight": [float("nan")], "w": [[1, None]]}
    )
    stream = io.BytesIO()
    notes = gio.write(t, stream, "json")
    assert [note.split(":")[0] for note in notes] == ["edge attribute 'weight' not in the file"]

    def refuse(word: str) -> None:
        pytest.fail(word)

    record = json.loads(stream.getvalue(), parse_constant=refuse)
    assert record["links"] == [{"source": 3, "target": "b", "w": [1, None]}]


# SIF


def test_sif_is_read_in_all_its_forms() -> None:
    t = read("P1 pp P2 P3\nP2 pd P4\n\nlonely\n", "sif")
    assert (labels_of(t), edges_of(t)) == (
        ["P1", "P2", "P3", "P4", "lonely"],
        [("P1", "P2"), ("P1", "P3"), ("P2", "P4")],
    )
    assert (columns_of(t), t.directed) == ({"interaction": ["pp", "pp", "pd"]}, False)
    t = read("gene one\tbinds to\tgene 2\tgene 3\t\nalone now\n", "sif")
    assert (labels_of(t), columns_of(t)) == (
        ["gene one", "gene 2", "gene 3", "alone now"],
        {"interaction": ["binds to", "binds to"]},
    )
    assert t.row_name
    assert t.row_name(1) == "the stream, line 1"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("a pp b\nc d\n", "line 2: 'c' and 'd' are two cells.*pass format=\"edgelist\""),
        ("a\tpp\t\tb\n", "line 1: a cell between two tabs is empty"),
        ("PARTICIPANT_A\tINTERACTION_TYPE\tPARTICIPANT_B\tSOURCE\na\tb\tc\td\n", "line 1: .*extended form.*cut -f 1-3"),
    ],
)
def test_broken_sif_is_refused_with_its_line(body: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read(body, "sif")


# DOT


def test_simple_dot_is_read() -> None:
    body = """// of pydot
    strict graph "a b" {
    rankdir=LR; node [shape=box, label="\\N"]; edge [color="grey"]
    1; "two \\"2\\"" [club=Mr_Hi];
    1 -- "two \\"2\\"" [weight="0.5", key=0];  # a remark
    "two \\"2\\"" -- é -- 1 [weight=2]
    }"""
    t = read(body)
    assert labels_of(t) == ["1", 'two "2"', "é"]
    assert edges_of(t) == [("1", 'two "2"'), ('two "2"', "é"), ("é", "1")]
    assert columns_of(t) == {"color": ["grey"] * 3, "weight": [0.5, 2.0, 2.0], "key": [0, None, None]}
    assert nodes_of(t) == {"shape": ["box"] * 3, "club": [None, "Mr_Hi", None]}
    assert (t.directed, t.graph_attributes) == (False, {"name": "a b", "rankdir": "LR"})
    assert t.row_name
    assert t.row_name(2) == "the stream, line 6"
    assert read("digraph { a -> b; }").directed


def test_dot_of_igraph_is_read(tmp_path: Path) -> None:
    graph = ig.Graph.Famous("Petersen")
    graph.es["weight"] = [float(i) + 0.5 for i in range(15)]
    graph.write_dot(str(tmp_path / "petersen.gv"))
    t = gio.read(tmp_path / "petersen.gv")
    assert (t.n_nodes, sorted(map(sorted, edges_of(t)))) == (10, sorted(map(sorted, graph.get_edgelist())))
    assert values_of(t.edge_attributes["weight"]) == graph.es["weight"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("graph {\n subgraph c { a }\n}", "line 2: subgraphs can't be read: .*pydot"),
        ("graph {\n a -- { b c }\n}", "line 2: subgraphs can't be read"),
        ("graph {\n a:n -- b\n}", "line 2: ports of nodes can't be read"),
        ("graph {\n a -> b\n}", "line 2: edges of a graph are written --"),
        ("digraph {\n a -- b\n}", "line 2: edges of a digraph are written ->"),
        ("graph {\n a [label=<b>]\n}", "line 2: HTML in labels can't be read"),
        ('graph {\n a [label="b]\n}', "line 2: a quote is opened and never closed"),
        ("graph {\n a-b\n}", "line 2: '-b' is not DOT: names with such characters need quotes"),
        ("graph {\n a -- b\n", "line 2: the file ends within the graph"),
        ("graph { a }\ngraph { b }", "line 2: a second graph begins"),
        ("nodes { a }", "line 1: 'graph' or 'digraph' should stand here"),
        ("graph { a -- ; }", "line 1: a name should stand here, not ';'"),
    ],
)
def test_dot_that_is_not_simple_is_refused_with_its_line(body: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read(body, "dot")


# Adjacency lists


@pytest.mark.parametrize("graph", [nx.karate_club_graph(), nx.Graph([("a", "b"), ("b", "c")]), nx.empty_graph(3)])
def test_adjacency_lists_of_networkx_are_read(graph: Any, tmp_path: Path) -> None:
    nx.write_adjlist(graph, tmp_path / "g.adjlist")
    t = gio.read(tmp_path / "g.adjlist")
    assert sorted(labels_of(t)) == sorted(graph)
    assert sorted(map(sorted, edges_of(t))) == sorted(map(sorted, graph.edges()))


def test_adjacency_lists_with_every_edge_twice_give_it_once_and_say_so() -> None:
    t = read("a b c\nb a\nc a\nd\n", "adjlist")
    assert (labels_of(t), edges_of(t)) == (["a", "b", "c", "d"], [("a", "b"), ("a", "c")])
    assert t.notes == ("every edge stands with both of its nodes, and is read once",)
    assert t.row_name
    assert t.row_name(1) == "the stream, line 1"
    with pytest.raises(GraphError, match=r"parallel edge.*line 2"):
        read("a b c\nb a\nc\n", "adjlist").canonical()
    assert edges_of(read("a;b c;d\n", "adjlist", delimiter="semicolon")) == [("a", "b c"), ("a", "d")]


def test_multiline_adjacency_lists_name_the_way_out() -> None:
    with pytest.raises(FileError, match=r"line 2: .*networkx\.read_multiline_adjlist"):
        read("a 1\nb {'w': 1}\n", "adjlist")


@pytest.mark.parametrize("form", gio.READ_ONLY, ids=lambda form: form.name)
def test_formats_that_are_read_only_say_what_to_write(form: Any, tmp_path: Path) -> None:
    t = EdgeTable(2, np.array([0]), np.array([1]))
    for path, name in ((tmp_path / f"g{form.suffixes[0]}", None), (io.BytesIO(), form.name)):
        with pytest.raises(OptionError, match=f"'{form.name}': is read, not written; write (csv|graphml|mtx|npz)"):
            gio.write(t, path, name)
    assert list(tmp_path.iterdir()) == []


def test_a_list_of_pajek_links_has_two_whole_numbers_a_row(tmp_path: Path) -> None:
    path = tmp_path / "links.net"
    path.write_text("1 2 0.5\n3 0.913 2\n")
    with pytest.raises(FileError, match=r"line 2: '3 0\.913 2' stands where .* two numbers of a link"):
        gio.read(path)
