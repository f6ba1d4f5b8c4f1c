"""``graphpri brain``: tell classes of brain networks apart, or predict a score, and say by which edges."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Group, Parameter

from graphpri.cli import outputs, show
from graphpri.cli.commands import FAILED, OK, command_line, say
from graphpri.cli.options import (
    DEFAULT_LIMITS,
    IntoFolder,
    Json,
    Limits,
    Quiet,
    ResultsFolder,
    Whole,
    notes_in_words,
    split_names,
)
from graphpri.cli.progress import Watch
from graphpri.errors import FileError, OptionError

if TYPE_CHECKING:
    from graphpri.apps.brain_data import Connectomes
    from graphpri.apps.brain_report import BrainFindings, BrainRequest

_DATA = Group("Data", sort_key=10)
_PROTOCOL = Group("Protocol", sort_key=20)

app = App(
    name="brain",
    help_epilogue="""\
Examples:
  graphpri brain scans/ -o report/       with scans/participants.tsv
  graphpri brain scans/ --labels labels.csv --label diagnosis -o report/
  graphpri brain "bids/**/*_timeseries.tsv" --labels people.tsv -o report/
  graphpri brain scans/ --score age --confounds sex,motion -o age/
  graphpri brain eoec --repeats 5 --permutations 200 -o eoec/

Methods: edge-readout, edge-readout-tangent, linear-svm, tangent-svm,
t-test-svm, t-test-svm-rbf, lasso-svm, lasso-svm-rbf, paper, paper-exact, gcn,
pyg-gcn, gat. Of a score: edge-readout, edge-readout-tangent, ridge,
tangent-ridge, cpm.

SOURCE is a folder or pattern of files of one scan each (time series or
correlation matrices: CSV, TSV, 1D, edge, npy, npz, mat), a folder of XCP-D's
derivatives, one npz, npy or mat file of all scans, or a named set: eoec,
devfmri. DIR gets scores.csv, comparison.csv, edges.csv, all_edges.csv,
importance.csv, systems.csv, components.csv, report.json, report.html, pictures,
and the edges for BrainNet Viewer and as GraphML. A run that was interrupted goes on where it was.""",
)


@Parameter(name="*", group=_DATA)
@dataclass(frozen=True, kw_only=True)
class Data:
    """Where labels, subjects and regions stand, and what the files hold."""

    labels: Annotated[
        str | None, Parameter(metavar="FILE", help="Table of labels; participants.tsv in SOURCE where absent.")
    ] = None
    label: Annotated[str | None, Parameter(metavar="COL", help="Its column of labels, where several fit.")] = None
    group: Annotated[str | None, Parameter(metavar="COL", help="Its column of subjects; participant_id or so.")] = None
    id_column: Annotated[str | None, Parameter(metavar="COL", help="Its column that names the scans.")] = None
    classes: Annotated[
        str | None, Parameter(metavar="A,B", help="The labels to compare, of two B as positive; all where absent.")
    ] = None
    score: Annotated[
        str | None, Parameter(metavar="COL", help="Its column of a score, such as age, to predict instead of classes.")
    ] = None
    confounds: Annotated[
        str | None, Parameter(metavar="A,B", help="Its columns of what is removed from edges within training scans.")
    ] = None
    site: Annotated[
        str | None, Parameter(metavar="COL", help="Its column of sites, which are left out in turn as well.")
    ] = None
    atlas: Annotated[
        str | None, Parameter(metavar="FILE", help="Table of the regions: name, x, y, z (MNI, mm), system.")
    ] = None
    kind: Annotated[Literal["auto", "series", "matrix"], Parameter(help="What the files hold.")] = "auto"
    array: Annotated[str | None, Parameter(metavar="NAME", help="The array in npz and mat files of several.")] = None
    fisher_z: Annotated[
        bool, Parameter(negative="", show_default=False, help="Matrices hold Fisher z, not correlations.")
    ] = False
    allow_missing: Annotated[
        bool, Parameter(negative="", show_default=False, help="Pass over rows without a scan, and scans without a row.")
    ] = False
    drop_regions: Annotated[
        bool,
        Parameter(
            negative="", show_default=False, help="Leave out regions that have no signal in some scan, and count."
        ),
    ] = False


DEFAULT_DATA = Data()


@Parameter(name="*", group=_PROTOCOL)
@dataclass(frozen=True, kw_only=True)
class StudyOptions:
    """Methods and how they are tested."""

    methods: Annotated[str | None, Parameter(metavar="A,B", help="Methods to compare; all where absent.")] = None
    explain: Annotated[
        str | None,
        Parameter(metavar="METHOD", help="Whose edges to show, one of the methods; edge-readout where absent."),
    ] = None
    folds: Annotated[Whole, Parameter(help="Of the cross-validation by subject.")] = 5
    repeats: Annotated[Whole, Parameter(help="Of the cross-validation, other folds each time.")] = 1
    nested: Annotated[bool, Parameter(help="Choose parameters within the training scans, not take defaults.")] = True
    inner: Annotated[Whole, Parameter(help="Folds within the training scans, to choose them.")] = 3
    tune: Annotated[
        bool, Parameter(negative="", show_default=False, help="Choose them with optuna, from whole ranges: slow.")
    ] = False
    time_budget: Annotated[
        float | None,
        Parameter(metavar="SECONDS", help="For --tune: no new trial after so long, for each training part."),
    ] = None
    half_samples: Annotated[
        Whole, Parameter(help="Of the subjects, in pairs that share none, to see which edges are found again.")
    ] = 20
    permutations: Annotated[Whole, Parameter(help="Of the labels, for p-values of --permute.")] = 0
    permute: Annotated[
        str | None,
        Parameter(
            metavar="A,B",
            help="Methods to permute labels for, each fitted anew every time; all that make no graphs where absent.",
        ),
    ] = None
    edge_permutations: Annotated[Whole, Parameter(help="Of the labels, for tests of single edges.")] = 5000
    nbs_threshold: Annotated[
        float | None,
        Parameter(metavar="T", help="Of |t| or F, for components of edges; that of p = .001 where absent."),
    ] = None
    top: Annotated[
        Whole | None, Parameter(help="Edges in tables and pictures; 100, or a tenth of all where that is fewer.")
    ] = None
    density: Annotated[float, Parameter(help="Share of all pairs that are edges of a scan's graph.")] = 0.2
    signs: Annotated[
        Literal["abs", "positive", "two"],
        Parameter(help="Edges are the strongest by |r|, the largest positive, or by |r| with a channel for each sign."),
    ] = "abs"
    node_features: Annotated[
        Literal["rows", "standardised", "clustering"],
        Parameter(help="What graph networks know of a region: its correlations, also standardised, or its clustering."),
    ] = "rows"
    network_trials: Annotated[
        Whole, Parameter(help="Settings of graph networks that inner folds choose among: 1 for defaults, or 8, slow.")
    ] = 1
    seed: Annotated[Whole, Parameter(help="For folds and everything random.")] = 0


DEFAULT_PLAN = StudyOptions()


@app.default
def brain(
    source: Annotated[str, Parameter(name="SOURCE", help="Folder, pattern or file of scans, or a named set.")],
    /,
    *,
    output: ResultsFolder,
    data: Data = DEFAULT_DATA,
    plan: StudyOptions = DEFAULT_PLAN,
    force: IntoFolder = False,
    json: Json = False,
    quiet: Quiet = False,
    limits: Limits = DEFAULT_LIMITS,
) -> int:
    """Tell classes of brain networks apart, or predict a score, and say by which edges.

    Cross-validates methods with all scans of a subject in one fold, looks which
    edges are found again in other subjects, tests edges, and writes a report.
    """
    from graphpri.apps import brain_report

    with outputs.results_folder(output, force=force) as out, limits.held(), Watch(quiet=quiet) as watch:
        watch.stage(f"reading {source}")
        try:
            scans = _scans(source, data, watch)
            request = _request(plan, scans)
            outcome = brain_report.study(scans, request, watch.show, out / outputs.PIECES)
        except KeyboardInterrupt:
            say(f"interrupted; the same command goes on where it was, with what {out / outputs.PIECES} keeps")
            return FAILED
        watch.stage("writing the report")
        with outputs.unfinished_until_written(out):
            names = brain_report.write(outcome, out, Path(source).name, command_line())
    _print(outcome, out, names, json=json, quiet=quiet)
    return OK


def _scans(source: str, data: Data, watch: Watch) -> Connectomes:
    from graphpri import datasets
    from graphpri.apps import brain_data

    if source.casefold() in datasets.scan_sets() and not Path(source).exists():
        given = (field.name for field in fields(data) if getattr(data, field.name) != getattr(DEFAULT_DATA, field.name))
        if unwanted := [name for name in given if name != "drop_regions"]:
            option = f"--{unwanted[0].replace('_', '-')}"
            raise OptionError(f"{option}: it is for files, and {source} is a named set, of known labels and matrices")
        return _in_words(brain_data.named(source, drop_regions=data.drop_regions))
    from graphpri.apps.brain_files import read_connectomes

    found = read_connectomes(
        source,
        _labels(source, data.labels),
        label=data.label,
        group=data.group,
        id_column=data.id_column,
        classes=None if data.classes is None else split_names(data.classes),
        atlas=data.atlas,
        kind=data.kind,
        array=data.array,
        score=data.score,
        confounds=() if data.confounds is None else split_names(data.confounds),
        site=data.site,
        fisher_z=data.fisher_z,
        allow_missing=data.allow_missing,
        drop_regions=data.drop_regions,
        on_progress=watch.show,
    )
    return _in_words(found)


def _in_words(scans: Connectomes) -> Connectomes:
    """The scans with notes that name options of the command, as the report has them too."""
    return replace(scans, notes=tuple(notes_in_words([note]) for note in scans.notes))


def _labels(source: str, given: str | None) -> str | Path:
    if given is not None:
        return given
    usual = Path(source) / "participants.tsv"
    if not Path(source).exists() and not any(mark in source for mark in "*?["):
        from graphpri import datasets

        raise FileError(f"{source}: no such file or folder; named sets are {', '.join(datasets.scan_sets())}")
    if not Path(source).is_dir():
        raise OptionError(f"{source}: name the table of labels with --labels")
    if not usual.is_file():
        raise OptionError(f"{source}: there is no participants.tsv in it: name the table of labels with --labels")
    return usual


def _request(plan: StudyOptions, scans: Connectomes) -> BrainRequest:
    from graphpri.apps import brain_methods, brain_report
    from graphpri.apps.brain_protocol import Validation

    if not plan.nested and plan.inner != DEFAULT_PLAN.inner:
        raise OptionError(f"--inner {plan.inner}: with --no-nested there are no inner folds")
    if plan.permute is not None and not plan.permutations:
        raise OptionError(f"--permute {plan.permute}: say how often with --permutations, such as 1000")
    methods = brain_methods.names(scans.target is not None)
    if plan.methods is not None:
        methods = tuple(split_names(plan.methods))
    return brain_report.BrainRequest(
        methods=methods,
        protocol=Validation(
            folds=plan.folds,
            repeats=plan.repeats,
            seed=plan.seed,
            permutations=plan.permutations,
            half_samples=plan.half_samples,
            settings=brain_methods.MethodSettings(
                density=plan.density,
                signs=plan.signs,
                node_features=plan.node_features,
                network_trials=plan.network_trials,
                nested=plan.nested,
                inner=plan.inner,
                tune=plan.tune,
                time_budget=plan.time_budget,
            ),
        ),
        explained=plan.explain,
        top=plan.top,
        permuted=None if plan.permute is None else tuple(split_names(plan.permute)),
        edge_permutations=plan.edge_permutations,
        threshold=plan.nbs_threshold,
    )


def _print(outcome: BrainFindings, out: Path, names: list[str], *, json: bool, quiet: bool) -> None:
    scans = outcome.scans
    if json:
        facts = {"scans": scans.n_scans, "subjects": len(set(scans.groups)), "classes": list(scans.classes)}
        facts |= {"confounds_alone": outcome.confounds, "sites_left_out": outcome.left_out}
        files = [str(out / name) for name in names]
        print(show.as_json({**facts, "comparison": outcome.comparison, "notes": scans.notes, "files": files}))
    elif not quiet:
        what = " against ".join(scans.classes) or scans.score_name
        print(f"{scans.n_scans} scans of {len(set(scans.groups))} subjects: {what}")
        rows = [*outcome.comparison, *([outcome.confounds] if outcome.confounds else [])]
        print(show.table([{key: row[key] for key in _SHOWN if key in row} for row in rows]))
        if outcome.left_out:
            print("with a site left out in turn:")
            print(show.table([{key: row[key] for key in _SHOWN if key in row} for row in outcome.left_out]))
        for note in (*scans.notes, *([f"of the atlas: {scans.rois.note}"] if scans.rois.note else [])):
            print(f"note: {note}")
        print(f"{out / 'report.html'} has all of it")


_SHOWN = (
    *("method", "balanced_accuracy", "r", "lower", "upper", "auc", "mean_absolute_error", "p", "permutation_p"),
    *("difference", "verdict"),
)
