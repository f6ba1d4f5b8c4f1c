"""One self-contained HTML page with all studies: what was claimed, what was measured, and pictures."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from graphpri import _output
from graphpri._version import __version__
from graphpri.io import tables
from graphpri.studies.runner import Result
from graphpri.studies.study import GRADES, Fact, Verdict, untested

_MARKS = {"reproduced": "✓", "conditional": "◐", "not reproduced": "✗", "not testable": "–"}
_MEANINGS = {
    "reproduced": "the numbers show what the claim says",
    "conditional": "they do under the condition that is stated",
    "not reproduced": "they don't",
    "not testable": "the claim needs something that is not here",
}

_STYLE = """
main table { width: 100%; }
.outcome { white-space: nowrap; font-weight: 600; }
a.fact { text-decoration-style: dotted; color: inherit; } summary { cursor: pointer; }
tr:target { outline: 2px solid var(--mark); }
@media print { h2 { break-before: page; } a { color: inherit; } }
"""


def write_page(results: Sequence[Result], out: str | os.PathLike[str]) -> Path:
    """Write ``index.html`` into a folder: needs no other file and no network, and prints.

    Parameters
    ----------
    results : sequence of Result
        From :func:`graphpri.studies.reproduce`.
    out : path
        The folder that they were written to.

    Returns
    -------
    Path
        Of the page.

    Raises
    ------
    FileError
        Where it can't be written.

    Examples
    --------
    >>> import tempfile
    >>> from graphpri.studies import reproduce
    >>> with tempfile.TemporaryDirectory() as out:
    ...     results = reproduce(["lemma-3"], out, quick=True)
    ...     write_page(results, out).name
    'index.html'
    """
    path = Path(out) / "index.html"
    rows = [[_link(result), *_cells(result, verdict)] for result, verdict in _all(results)]
    summary = "<h2>All claims</h2>\n" + _table(["study", "claim", "source", "measured", "verdict"], rows)
    title = "Graph-PRI: the paper's claims, measured"
    page = _output.document(title, _introduction(results), summary, *map(_section, results), style=_STYLE)
    tables.write_text(path, page)
    return path


def _introduction(results: Sequence[Result]) -> str:
    counts = Counter(verdict.outcome for _, verdict in _all(results))
    counted = ", ".join(f"{counts[outcome]} {outcome}" for outcome in GRADES if counts[outcome])
    sizes = {result.quick for result in results if not result.missing}
    quick = "<p><strong>Quick sizes: smaller than the paper's; figures at its sizes differ.</strong></p>\n"
    meanings = "; ".join(f"{_MARKS[outcome]} {outcome}: {_MEANINGS[outcome]}" for outcome in GRADES)
    return (
        "<p>S. Yu, F. Alesiani, W. Yin, R. Jenssen, J. C. Principe, <cite>Principle of relevant information for graph "
        "sparsification</cite>, UAI 2022 (arXiv 2206.00118): each claim that this page lists was put to a "
        f"computation, and each verdict was computed from its numbers by graphpri {__version__}. Claims whose source "
        f"is graphpri are this library's own.</p>\n<p>{counted}. ({meanings}.)</p>\n"
        "<p>Every number below is a row of a CSV file: follow it to the fact that it is, which names the file. "
        f"Entropies are in nats.</p>\n{quick if True in sizes else ''}"
    )


def _all(results: Sequence[Result]) -> list[tuple[Result | None, Verdict]]:
    """Every verdict with its study: of those that ran as they were judged, with the names of facts."""
    found = [(result, verdict) for result in results for verdict in result.judged or result.verdicts]
    return [*found, *((None, verdict) for verdict in untested([result.study.name for result in results]))]


def _link(result: Result | None) -> str:
    return f'<a href="#{result.study.name}">{result.study.name}</a>' if result else ""


def _cells(result: Result | None, verdict: Verdict) -> list[str]:
    verdict = verdict.filled(_filler(result))
    condition = f"<br><em>{verdict.condition}</em>" if verdict.condition else ""
    outcome = f'<span class="outcome">{_MARKS[verdict.outcome]} {verdict.outcome}</span>'
    return [verdict.claim, escape(verdict.source), verdict.measured + condition, outcome]


def _filler(result: Result | None) -> Callable[[str], str]:
    """Fills facts into a text; each links to its row."""
    if result is None:
        return lambda text: escape(text, quote=False)

    def linked(fact: Fact, text: str) -> str:
        return f'<a class="fact" href="#{_anchor(result, fact)}" title="{escape(fact.how)}">{escape(text)}</a>'

    return lambda text: result.facts.fill(escape(text, quote=False), linked)


def _anchor(result: Result, fact: Fact) -> str:
    return f"{result.study.name}-{fact.name}"


def _section(result: Result) -> str:
    study = result.study
    head = f'<h2 id="{study.name}">{escape(study.title)}</h2>\n<p>{escape(study.source)}. {escape(study.about)}</p>\n'
    if result.missing:
        return head + f"<p>Not run: {escape(result.verdicts[0].condition)}.</p>\n"
    verdicts = [_cells(result, verdict) for verdict in result.judged]
    files = ", ".join(f"<code>{study.name}/{name}</code> ({count} rows)" for name, count in result.tables)
    return (
        head
        + "".join(_figure(result, name, caption) for name, caption in result.pictures)
        + _table(["claim", "source", "measured", "verdict"], verdicts)
        + "".join(_derived(result, name) for name in result.derived)
        + _facts(result)
        + f'<p class="small">Numbers: {files}. Again: <code>{escape(result.command)}</code> '
        f"({result.seconds:.0f} s of work).</p>\n"
    )


def _figure(result: Result, name: str, caption: str) -> str:
    return _output.picture((result.folder / f"{name}.svg").read_bytes(), caption, caption) + "\n"


def _derived(result: Result, name: str) -> str:
    """A short table as it stands in its file."""
    frame = tables.read(result.folder / f"{name}.csv")
    rows = ([escape(_cell(value)) for value in row] for row in frame.itertuples(index=False))
    heading = f'<p class="small"><code>{result.study.name}/{escape(name)}.csv</code></p>\n'
    return heading + _table([escape(str(column)) for column in frame.columns], rows)


def _cell(value: Any) -> str:
    return ("" if value != value else f"{value:.4g}") if isinstance(value, float) else str(value)


def _facts(result: Result) -> str:
    facts = result.facts.rows.values()
    rows = [[fact.how, f"{fact.value:.6g}", _code(result, fact)] for fact in facts]
    anchors = [_anchor(result, fact) for fact in facts]
    return (
        '<details open><summary class="small">Facts that the verdicts rest on (facts.csv)</summary>'
        f"{_output.table(['fact', 'value', 'from'], rows, ids=anchors)}</details>\n"
    )


def _code(result: Result, fact: Fact) -> _output.Markup:
    return _output.Markup(f"<code>{result.study.name}/{escape(fact.table)}.csv</code>")


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table whose cells are markup."""
    return _output.table(header, [[_output.Markup(cell) for cell in row] for row in rows]) + "\n"
