"""The pages say what the library does: their code runs, prints what they show, and their tables are the data's."""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path
from pkgutil import iter_modules

import numpy as np
import pytest

import graphpri
from graphpri._entropy import LARGE_EDGES
from graphpri._entropy.by_name import EXACT_NODES, LOCAL_EDGES
from graphpri._objective import BUDGET_BETA

ROOT = Path(__file__).parent.parent
SOURCES = Path(graphpri.__file__).parent
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "benchmarks")]

import fill_tables  # noqa: E402
import make_tables  # noqa: E402
import run_blocks  # noqa: E402
import scale_tables  # noqa: E402
import tables  # noqa: E402

import outcome  # noqa: E402

PAGES = fill_tables.PAGES
LINKED = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
RUN = [page for page in PAGES if page.name not in run_blocks.TRAINING]
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def wrong(runs: list[run_blocks.Run]) -> str:
    """What failed and what differs from the page, as text."""
    found: list[str] = []
    for run in runs:
        if run.code:
            found += [f"{run.where}: failed with {run.code}", *run.printed]
        elif not run.as_shown:
            found += [f"{run.where}: prints (python docs/run_blocks.py --write puts it there)", *run.printed]
    return "\n".join(found)


@pytest.fixture(scope="module")
def python_runs(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, list[run_blocks.Run]]:
    """What the Python blocks of the pages printed."""
    return dict(zip(RUN, run_blocks.run_python(RUN, tmp_path_factory.mktemp("blocks")), strict=True))


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.name)
def test_python_blocks_run_and_print_what_the_page_shows(
    page: Path, python_runs: dict[Path, list[run_blocks.Run]]
) -> None:
    blocks = [block for block in run_blocks.blocks(page) if block.kind == "python"]
    assert len(python_runs[page]) == len(blocks)
    assert not wrong(python_runs[page])


@every_page
def test_shell_commands_run_and_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    assert not wrong(run_blocks.run_console(page, tmp_path))


def test_pages_show_python_and_shell() -> None:
    kinds = {page.name: {block.kind for block in run_blocks.blocks(page)} for page in PAGES}
    assert {"python", "console", "text"} <= kinds["README.md"] & kinds["start.md"]
    assert {"python", "text"} <= kinds["extend.md"] & kinds["solver.md"]


def test_every_text_block_is_the_output_of_a_block() -> None:
    for page in PAGES:
        found = run_blocks.blocks(page)
        for before, block in zip([None, *found], found, strict=False):
            if block.kind == "text":
                assert before is not None, block.where
                assert before.kind == "python", block.where
                assert block.start == before.stop + 3, block.where


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """Where a test puts a page of its own."""
    return tmp_path / "page.md"


def run_page(page: Path, text: str, folder: Path) -> list[run_blocks.Run]:
    page.write_text(text, encoding="utf-8")
    (python,) = run_blocks.run_python([page], folder)
    return python + run_blocks.run_console(page, folder)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("```python\nprint(1)\n```\n\n```text\n1\n```\n", True),
        ("```python\nprint(1)\n```\n\n```text\n2\n```\n", False),
        ("```python\nx = 3\n```\n\nAnd\n\n```python\nprint(x)\n```\n\n```text\n3\n```\n", True),
        ("```python\nraise ValueError('no')\n```\n", False),
        ("```python\nimport warnings\nwarnings.warn('old')\n```\n", False),
        ("```console\n$ echo a\na\n$ echo b\nb\n```\n", True),
        ("```console\n$ echo a\nb\n```\n", False),
        ("```console\n$ echo kept > file\n$ cat file\nkept\n```\n", True),
        ("```console\n$ false\n```\n", False),
        ("```console\n$ echo one \\\n  two\none two\n```\n", True),
        ("```console\n$ graphpri sparsify nothing.csv\n```\n", False),
    ],
)
def test_the_runner_tells_right_from_wrong(text: str, right: bool, page: Path, tmp_path: Path) -> None:
    assert (not wrong(run_page(page, text, tmp_path))) is right


@pytest.mark.parametrize(
    ("printed", "shown", "same"),
    [
        ("took 0.31 s", "took 12.90 s", True),
        ("S  3.1541", "S 3.1542", True),
        ("S 3.1541", "S 3.1543", False),
        ("23 of 78 edges", "24 of 78 edges", False),
        ("a\nb\nc\nd", "a\n...\nd", True),
        ("a\nb\nc\nd", "a\n...\nc", False),
        ("a\nb", "a", False),
        ("method K seconds\npri 23 0.4", "method K seconds\npri 23 9.5", True),
        ("method K seconds\npri 23 0.4", "method K seconds\npri 24 0.4", False),
    ],
)
def test_outputs_are_compared_apart_from_times_and_last_digits(printed: str, shown: str, same: bool) -> None:
    assert run_blocks.alike(printed.split("\n"), shown.split("\n")) is same


def test_a_page_is_rewritten_with_what_its_code_prints(page: Path, tmp_path: Path) -> None:
    text = "```python\nprint(1)\n```\n\n```text\n?\n```\n\n```console\n$ echo a\n?\n$ echo b\nb\n```\n"
    run_blocks.write(run_page(page, text, tmp_path))
    assert page.read_text() == text.replace("text\n?", "text\n1").replace("echo a\n?", "echo a\na")


def test_the_map_of_the_house_has_every_module_and_names_files_that_there_are() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    places = text.split("## Where things are")[1].split("## Words")[0]
    layers = re.findall(r"^\| [a-z ]+ \| (`[^|]+) \|", places.split("### Where is")[0], re.MULTILINE)
    modules = {module.name for module in iter_modules(graphpri.__path__)} - {"__main__"}
    assert sorted(re.findall(r"`(\w+)`", " ".join(layers))) == sorted(modules)
    named = re.findall(r"`([\w/]+\.py)`", places)
    assert len(named) > 20
    assert not [name for name in named if not (ROOT / name).exists() and not any(SOURCES.parent.rglob(name))]


def slug(heading: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if target.startswith(("https://", "http://")):
            continue
        name, _, anchor = target.partition("#")
        path = page if not name else page.parent / name
        assert path.is_file(), f"{page.name} links to {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in map(slug, headings), f"{page.name} links to {target}"


@every_page
def test_tables_are_those_of_the_data(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert fill_tables.filled(text) == text, "run python docs/make_tables.py --fill"


@pytest.fixture
def found(tmp_path: Path) -> list[fill_tables.Row]:
    """A benchmark's table, with equal cases and a missed goal, saved and read again."""
    row = outcome.Outcome(
        [outcome.Cell("ring", 10, edges, {"s": edges / 7, "way": way}) for edges in (20, 30) for way in "ab"],
        [outcome.Check("slow", 3.0, 2.0, "s"), outcome.Check("enough", 0.95, 0.9, at_least=True)],
        facts={"measured on": "a day", "load before": "0.1", "quick": "no"},
    )
    row.save(tmp_path / "row.json")
    again = outcome.Outcome.load(tmp_path / "row.json")
    assert again == row
    outcome.write_csv(tmp_path / "bench.csv", outcome.environment(), {"strategy": again})
    return fill_tables.read(tmp_path / "bench.csv")


def test_cells_of_a_benchmark_are_those_that_were_written(found: list[fill_tables.Row]) -> None:
    cells = list(scale_tables.cells(found, "strategy"))
    assert [(cell["edges"], cell["way"]) for cell in cells] == [("20", "a"), ("20", "b"), ("30", "a"), ("30", "b")]
    assert [float(cell["s"]) for cell in cells] == pytest.approx([20 / 7, 20 / 7, 30 / 7, 30 / 7], rel=1e-5)
    assert not list(scale_tables.cells(found, "growth"))


def test_missed_goals_are_said(found: list[fill_tables.Row]) -> None:
    text = "\n".join(scale_tables.missed(found))
    assert "| strategy | slow | ≤ 2 s | 3.00 |" in text
    assert "enough" not in text
    line = scale_tables.by_row(found)[-1]
    assert "| 1 of 2 | slow: 3.00 (≤ 2 s) |" in line


def test_a_quick_run_is_said_to_be_one(found: list[fill_tables.Row]) -> None:
    assert "quick" not in scale_tables.when(found, "strategy")
    quick = [row | {"value": "yes"} if row["measure"] == "quick" else row for row in found]
    assert "a quick run" in scale_tables.when(quick, "strategy")


def test_every_table_stands_on_a_page() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert set(re.findall(r"<!-- table: (\S+) -->", text)) == set(tables.TABLES)


def test_pictures_are_small_and_used() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    pictures = sorted((ROOT / "docs" / "pictures").glob("*.png"))
    assert pictures
    for picture in pictures:
        assert picture.stat().st_size < 150_000, picture.name
        assert f"pictures/{picture.name})" in text, picture.name


def test_pages_name_no_path_of_one_machine() -> None:
    for page in PAGES:
        assert not re.search(r"(?<![\w.])/(home|root|work|tmp|usr)/", page.read_text(encoding="utf-8")), page.name


def test_pages_name_the_defaults() -> None:
    sizes = f"up to {EXACT_NODES} nodes", f"up to {LOCAL_EDGES:,} edges".replace(",", " ")
    for page in ("README.md", "beta.md", "scale.md"):
        text = " ".join(next(p for p in PAGES if p.name == page).read_text(encoding="utf-8").split())
        for size in sizes:
            assert size in text, f"{page}: {size}"
    assert f"From {LARGE_EDGES} edges on" in (ROOT / "docs" / "solver.md").read_text(encoding="utf-8")
    assert f"less than {LARGE_EDGES} edges" in (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")


def csv_rows(name: str) -> list[dict[str, str]]:
    return fill_tables.read(fill_tables.DATA / f"{name}.csv")


@pytest.mark.parametrize("name", ["gradient", "entropies"])
def test_figures_can_be_measured_again(name: str) -> None:
    again, kept = list(make_tables.MEASUREMENTS[name]()), csv_rows(name)
    assert len(again) == len(kept)
    for new, old in zip(again, kept, strict=True):
        for key, value in new.items():
            if key == "library_error":
                assert value < 1e-8
            elif isinstance(value, float):
                assert value == pytest.approx(float(old[key]), rel=1e-3, abs=1e-6), (key, old)
            else:
                assert str(value) == old[key], (key, old)


def test_the_default_beta_with_a_budget_is_the_best_of_its_study_in_each_group_of_graphs() -> None:
    rows = csv_rows("landscape_default")
    assert [row["graphs"] for row in rows] == ["all", "one half", "the other half", "weighted", "unweighted"]
    for row in rows:
        ranks = {float(key[2:]): float(value) for key, value in row.items() if key.startswith("β=")}
        assert min(ranks, key=lambda beta: ranks[beta]) == BUDGET_BETA


def test_data_files_have_no_empty_columns() -> None:
    for path in fill_tables.DATA.glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        assert rows, path.name
        for column in rows[0]:
            assert column, path.name
            assert any(row[column] for row in rows), f"{path.name}: {column}"


# The four places where the paper needs care, as beta.md says them.


def test_the_listing_is_another_objective_than_the_equation() -> None:
    karate = make_tables.unweighted("karate")
    results = [graphpri.sparsify(karate, keep=0.5, mixture=mixture) for mixture in ("equation", "listing")]
    assert (results[0].mask != results[1].mask).any()
    for result in results:
        d = [graphpri.divergence(karate, result, mixture=mixture) for mixture in ("equation", "listing")]
        assert abs(d[0] - d[1]) > 1e-3


def test_algorithm_1_keeps_all_of_karate_where_the_divergence_rules() -> None:
    karate = make_tables.unweighted("karate")
    result = graphpri.sparsify(karate, beta=1000, solver="gumbel", steps=1500, patience=0)
    assert result.kept.n_edges == 78
    assert result.probabilities.sum() < 78
    assert {row["K"] for row in csv_rows("algorithm1") if row["beta"] == "1000"} == {"78"}


def test_theorem_4_has_the_right_signs_for_equal_weights_only() -> None:
    plain, weighted = make_tables.gradient()
    assert plain["signs_wrong"] == 0
    assert plain["printed_ratio_smallest"] > 2
    assert weighted["signs_wrong"] > 10
    assert max(plain["library_error"], weighted["library_error"]) < 1e-8


def test_small_beta_is_trivial_without_constraint_and_well_posed_among_connected_subgraphs() -> None:
    karate = make_tables.unweighted("karate")
    loose = graphpri.sparsify(karate, beta=0, connected=False)
    assert loose.kept.n_edges == 1
    assert loose.status.startswith("trivial")
    tied = graphpri.sparsify(karate, beta=0)
    assert tied.kept.n_edges >= 33
    assert tied.kept.components()[0] == 1


def test_one_more_edge_can_lower_the_entropy() -> None:
    import networkx as nx

    bipartite = nx.complete_bipartite_graph(2, 6)
    before = graphpri.von_neumann_entropy(bipartite)
    bipartite.add_edge(0, 1)
    assert before == pytest.approx(1.7482, abs=5e-5)
    assert graphpri.von_neumann_entropy(bipartite) == pytest.approx(1.7118, abs=5e-5)


def test_theorem_2_bounds_the_gap_of_the_degree_entropy_in_nats() -> None:
    for row in csv_rows("entropies"):
        assert 0 <= float(row["degree_minus_S"]) <= float(row["bound"])
        assert abs(float(row["local_minus_S"])) < float(row["degree_minus_S"])


@pytest.mark.parametrize("file", ["beta_free", "beta_budget"])
def test_along_beta_entropy_never_falls_and_divergence_never_rises(file: str) -> None:
    rows = csv_rows(file)
    for name in dict.fromkeys(row["graph"] for row in rows):
        s, d = (np.array([float(r[key]) for r in rows if r["graph"] == name]) for key in ("S", "D"))
        assert (np.diff(s) >= -1e-6).all()
        assert (np.diff(d) <= 1e-6).all()
