"""Which studies there are: what each reproduces, what it needs, and where its functions are.

Their modules are imported when a study runs: to list them needs none of their libraries.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from graphpri._arguments import checked
from graphpri.errors import OptionError, did_you_mean
from graphpri.studies.study import Study


def _functions(
    module: str,
    *,
    cells: str = "cells",
    work: str = "work",
    judge: str = "judge",
    draw: str = "draw",
    derive: str | None = None,
) -> dict[str, Any]:
    """The functions of a study, by their names in its module."""

    def late(name: str) -> Callable[..., Any]:
        return lambda *arguments: getattr(import_module(f"graphpri.studies.{module}"), name)(*arguments)

    named = {"cells": cells, "work": work, "judge": judge, "draw": draw, "derive": derive}
    return {field: late(name) for field, name in named.items() if name is not None}


_ABOUT_SPARSIFIERS = (
    "The paper's six graphs at 10 to 90 % of their edges: random sampling, local degree, local similarity, effective "
    "resistance (highest, and sampled with weights), Graph-PRI at several β and α, with and without connectivity{}, "
    "and the most probable edges of Algorithm 1 (two seeds, β = 2 and 10, the paper's α; on the local entropy for more "
    "than a hundred nodes)."
)

_BRAIN_LIBRARIES = ("sklearn", "torch", "torch_geometric", "nilearn")

STUDIES = (
    Study(
        name="tradeoff",
        title="Entropy against divergence as edges are added",
        source="Figure tradeoff",
        about=(
            "Erdős–Rényi and Barabási–Albert graphs of mean degree near 10, 20 and 30 are sparsified at random to 10 "
            "to 100 % of their edges, many times; S and D are exact."
        ),
        **_functions("tradeoff"),
    ),
    Study(
        name="beta-path",
        title="More edges with larger β",
        source="Figure monotonic",
        about=(
            "The graphs of the study tradeoff, sparsified without a budget at β from 0 to 12: by Algorithm 1 (150 "
            "steps of Adam with rate 0.1 instead of up to 10 000 with 0.01, three samples each; three seeds; on one "
            "graph 1000 steps with rate 0.05 beside it), by the minimum among connected subgraphs and by the free "
            "minimum (each along the path of β, the better of both where all subsets compete); "
            "with α = 0 and the paper's 0.005."
        ),
        **_functions("beta_path"),
    ),
    Study(
        name="karate",
        title="The karate club from a near-star to itself",
        source="Figure pri_demo",
        about=(
            "Zachary's karate club without weights at β = 0, 2, 5 and 1000, by Algorithm 1 as published (τ = 1, three "
            "samples a step, Adam with rate 0.01, all 10 000 steps; three seeds; the most probable subset), by the "
            "minimum among connected subgraphs and by the free minimum (at more β; the library's search with effort "
            "\"best\"); with the equation's and the listing's mixture, α = 0.005 and 0, and smaller α at β = 0."
        ),
        **_functions("karate"),
    ),
    Study(
        name="assumption",
        title="How often one more edge does not lower the entropy",
        source="Appendix A.1",
        about=(
            "Random graphs G(n, p) of five mean degrees, 20 nodes with every absent edge and 200 nodes with a sample "
            "of them: the exact entropy before and after each addition. G(n, M) with 20 nodes beside it, and K(2, n−2) "
            "with its hubs joined."
        ),
        **_functions("assumption"),
    ),
    Study(
        name="theorems",
        title="The theorems, one by one",
        source="Theorems 1–4, Corollary 1, Appendix A",
        about=(
            "Each theorem, lemma and cited fact against numbers: bounds on random, real and all small graphs, formulas "
            "against central differences, the star and the regular graph by enumeration, the triangle inequality over "
            "triples, and the spectral constant of random subgraphs. All entropies are exact."
        ),
        **_functions("theorems"),
    ),
    Study(
        name="entropies",
        title="Approximations of the entropy: error, cost, and the edges they prefer",
        source="§3.4 and the approximations it cites",
        about=(
            "The exact entropy against that of the degrees, this library's local and stochastic ones, FINGER, "
            "randomised Taylor and Chebyshev traces and plain Lanczos quadrature: on the paper's graphs, random "
            "families and real graphs, the error of the value, the rank correlation of the gradient, and CPU time."
        ),
        **_functions("entropies"),
    ),
    Study(
        name="spectral-sparsifiers",
        title="Spectral sparsifiers: ε and the number of edges",
        source="§3.2.1",
        about=(
            "The paper's six graphs, sampled by effective resistance at twelve ε from just above 1/√N to 1, 50 draws "
            "each, with the constants of PyGSP, which the paper took: drawn once, and with the smaller ε that PyGSP "
            "goes on with while the draw falls apart."
        ),
        needs=("madrid", "polbooks", "jazz"),
        needs_quick=(),
        **_functions("spectral_sparsifiers"),
    ),
    Study(
        name="optimisation",
        title="Samples, direct gradients, probabilities above one half, and the barrier",
        source="§3.3, §3.4, §4.3",
        about=(
            "Four graphs of up to 50 nodes, two β, two starts: Algorithm 1 (300 steps of three samples, Adam with "
            "rate 0.05) and projected gradients of the relaxed selection (900 steps, lengths of Barzilai and Borwein); "
            "then J of the edges above one half, and of the best set of highest values. Algorithm 1 with four α at "
            "two β. The mask of the paper's brain network on two sets of made-up scans."
        ),
        libraries=("torch",),
        **_functions("optimisation"),
    ),
    Study(
        name="costs",
        title="What the exact entropy and its gradient cost",
        source="§3.4, Appendix A.3",
        about=(
            "Erdős–Rényi graphs of mean degree near 10 and 100 to 1600 nodes, one thread: CPU time of the exact "
            "entropy, and CPU time and memory of J with its gradient in closed form, by automatic differentiation "
            "through eigenvalues, and by that of the paper's listing (to 400 nodes)."
        ),
        libraries=("torch",),
        **_functions("costs"),
    ),
    Study(
        name="lemma-3",
        title="Lemma 3's second inequality",
        source="Appendix A.2, Lemma 3",
        about=(
            "Slopes of the entropy along the change of the eigenvalues that an added edge makes, at both ends, by "
            "central differences on real and random graphs; and thirty searches for a counterexample for each "
            "number of eigenvalues from 2 to 10."
        ),
        **_functions("lemma3"),
    ),
    Study(
        name="spectral-distance",
        title="Spectral distance of sparsified graphs",
        source="Figure spectral_distance",
        about=_ABOUT_SPARSIFIERS.format(" and new weights"),
        needs=("madrid", "polbooks", "jazz"),
        needs_quick=(),
        **_functions("sparsifiers", judge="judge_distance", draw="draw_distance"),
    ),
    Study(
        name="centrality",
        title="Centralisation of sparsified graphs",
        source="Figure centrality",
        about=_ABOUT_SPARSIFIERS.format(""),
        needs=("madrid", "polbooks", "jazz"),
        needs_quick=(),
        shares="spectral-distance",
        **_functions("sparsifiers", judge="judge_centrality", draw="draw_centrality"),
    ),
    Study(
        name="scalar-pri",
        title="Scalar PRI: from a single point to the data",
        source="Appendix, Figure org_pri",
        about=(
            "Samples of two crossing segments with noise; points start at the samples, or at the solution of the next "
            "larger β, and go down J = H₂ + β D_cs to a local minimum, for windows of several widths."
        ),
        **_functions("scalar_pri", derive="derive"),
    ),
    Study(
        name="mtl-synthetic",
        title="Pruning the task graph: synthetic tasks",
        source="Figure MTL, synthetic data",
        about=(
            "Twenty linear tasks in two groups, learned together over a 10-nearest-neighbour task graph whose edges "
            "are pruned by each method, with γ fixed, with the Laplacian rescaled, and with γ chosen again by "
            "leave-one-out."
        ),
        **_functions("mtl_synthetic", derive="derive"),
    ),
    Study(
        name="mtl-parkinsons",
        title="Pruning the task graph: Parkinson's disease",
        source="Figure MTL, Parkinson's disease data",
        about=(
            "Motor UPDRS of 42 people, one task each, from 19 columns or from 18 (without the time, through which "
            "random splits leak, as the target was interpolated in time), half of the rows to learn from, drawn at "
            "random or the earliest; columns standardised by the rows to learn from."
        ),
        needs=("parkinsons",),
        **_functions(
            "mtl_real",
            cells="cells_parkinsons",
            work="work_parkinsons",
            judge="judge_parkinsons",
            draw="draw_parkinsons",
            derive="derive",
        ),
    ),
    Study(
        name="mtl-school",
        title="Pruning the task graph: School",
        source="beyond the paper",
        about=(
            "Exam scores of 139 schools, one task each, a fifth of the rows to learn from; γ is chosen by "
            "leave-one-out, on the whole task graph and again on each pruned one."
        ),
        needs=("school",),
        **_functions(
            "mtl_real",
            cells="cells_school",
            work="work_school",
            judge="judge_school",
            draw="draw_school",
            derive="derive",
        ),
    ),
    Study(
        name="task-graphs",
        title="Task graphs: stars, local degree, CCMTL's objective, and speed",
        source="§4.1, §4.2",
        about=(
            "Twenty linear tasks in two groups, ten draws, γ fixed and no guard: centralisation and test error of task "
            "graphs pruned to 90 to 10 %, Graph-PRI with β of 50 and 2. The printed objective at the solutions of "
            "CCMTL for 13 λ, at the γ that suits each best. CPU time of learning 1000 and 5000 tasks over the whole "
            "graph and over half and a fifth of it, with the time to choose the edges."
        ),
        **_functions("task_graphs", derive="derive"),
    ),
    Study(
        name="brain-eoec",
        title="Brain networks: eyes open or closed",
        source="§4.3, Table and Figure brain",
        about=(
            "94 scans of 47 people, 116 AAL regions; every method by five folds of subjects, five times (networks "
            "once), everything chosen within the training scans. Beside it: test sets of 19 scans drawn regardless of "
            "subjects, labels that say nothing, and the edges that halves without a person in common agree on."
        ),
        needs=("eoec",),
        libraries=_BRAIN_LIBRARIES,
        **_functions("brain_real", cells="cells_eoec", judge="judge_eoec", draw="draw_eoec", derive="derive"),
    ),
    Study(
        name="brain-planted",
        title="Brain networks: planted edges",
        source="§4.3, Figure brain",
        about=(
            "Made-up scans, 96 to learn from and 48 to test, of 116 regions in 6 modules, where 40 edges shift with "
            "the class by δ; ten draws, four of the network and of large δ. Edges are ranked by the mask of the "
            "paper's network, by t-tests, by the weights of a linear SVM, and by the edge readout, with and "
            "without the Graph-PRI term."
        ),
        libraries=("sklearn", "torch"),
        **_functions("brain_planted", derive="derive"),
    ),
    Study(
        name="brain-devfmri",
        title="Brain networks: children or adults",
        source="beyond the paper",
        about=(
            "Scans of 83 people, 64 BASC parcels, by five folds, five times (networks once): whether methods rank "
            "as they do with eyes open or closed."
        ),
        needs=("devfmri",),
        libraries=_BRAIN_LIBRARIES,
        **_functions("brain_real", cells="cells_devfmri", judge="judge_devfmri", draw="draw_devfmri", derive="derive"),
    ),
    Study(
        name="brain-features",
        title="Brain networks: clustering coefficients as features",
        source="Appendix C.2",
        about=(
            "A graph convolutional network (three folds of subjects, once) and a linear SVM (five folds, five times) "
            "with their defaults: correlations alone, and local clustering coefficients, standardised over the "
            "training scans, beside them."
        ),
        needs=("eoec", "devfmri"),
        needs_quick=(),
        libraries=("sklearn", "torch"),
        **_functions("brain_features", derive="derive"),
    ),
    Study(
        name="node-classification",
        title="Node classification on graphs with noise edges",
        source="beyond the paper",
        about=(
            "A graph convolutional network (two layers, 16 hidden units, nodes without features) on four real graphs "
            "with labels, to which 0, 50 and 200 % random edges are added; two labelled nodes of each class on the "
            "karate club and five elsewhere, as many to choose settings by, the others to test. Beside it: edges "
            "dropped at random in each step (DropEdge), diffusion (GDC), edges kept by local degree and by Graph-PRI, "
            "the same gate on all edges, and a learned gate on each, without and with the Graph-PRI term. Ten draws of "
            "noise, split and first weights, the same for all methods; three settings for each method, chosen on the "
            "validation nodes. Intervals of 95 % are over draws, by t, of the difference from the network alone."
        ),
        needs=("polbooks", "eoec", "polblogs"),
        needs_quick=(),
        libraries=("torch", "torch_geometric"),
        **_functions("node_classification", derive="derive"),
    ),
    Study(
        name="landscape",
        title="Which method, which β, for which purpose",
        source="beyond the paper",
        about=(
            "Every method of this library, and Graph-PRI at nine β, with and without connectivity, with weights as "
            "given, rescaled to the sum of the original and chosen for the least divergence, on real graphs with and "
            "without weights: how well each keeps degrees, connectivity, distances, clustering, communities, "
            "centralities, spectrum, flows and information. A rank is the share of the other ways that do better, in "
            "percent, averaged over measures, keep ratios and graphs: 0 is the best of all. Intervals of 95 % are over "
            "graphs, drawn again with replacement."
        ),
        needs=(
            "us-airports",
            "celegans",
            "power-grid",
            "netscience",
            "jazz",
            "polbooks",
            "madrid",
        ),
        needs_quick=(),
        **_functions("landscape", derive="derive"),
    ),
)
"""In the order of the paper."""

_BY_NAME = {study.name: study for study in STUDIES}


def names() -> tuple[str, ...]:
    """Names of the studies, in the order of the paper.

    Examples
    --------
    >>> names()[:3]
    ('tradeoff', 'beta-path', 'karate')
    """
    return tuple(_BY_NAME)


@checked
def find(name: str) -> Study:
    """The study of that name.

    Raises
    ------
    OptionError
        For an unknown name; says the closest.

    Examples
    --------
    >>> find("karate").source
    'Figure pri_demo'
    >>> find("karat")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    graphpri.errors.OptionError: study 'karat' is not known; did you mean 'karate'? (studies: ...
    """
    if name not in _BY_NAME:
        raise OptionError(f"study {name!r} is not known{did_you_mean(name, _BY_NAME)} (studies: {', '.join(_BY_NAME)})")
    return _BY_NAME[name]
