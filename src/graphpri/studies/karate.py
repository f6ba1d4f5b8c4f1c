"""Figure "pri_demo": Zachary's karate club from a near-star at β = 0 to itself at large β."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from graphpri import measures, plot
from graphpri._layout import spring
from graphpri._sparsify import Sparsified, sparsify
from graphpri.graph import BoolArray
from graphpri.studies.graphs import ALPHA, load
from graphpri.studies.study import (
    Cell,
    Facts,
    Frames,
    Picture,
    Tables,
    Verdict,
    curve,
    dots,
    grade,
    look,
    panels,
    where,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# What is run

ALGORITHM = "algorithm 1"
BETAS = (0, 2, 5, 1000)
_LOWER = 1e-6
"""Nats by which one J must be below another to count as lower."""


_MIXTURES = ("equation", "listing")
_MINIMA = {"connected": True, "free": False}
_GRID = (0, 1, 2, 2.5, 2.8, 2.9, 3, 3.5, 4, 5, 6, 7, 1000)
_BARRIERS = (0.0005, 0.001, 0.002)
"""Smaller α than the paper's, at β = 0."""
_LAST_DRAWN = 7
"""The largest β of lines along it."""
_TRACED = 100
"""Steps between two rows of the trace."""


def cells(quick: bool) -> list[Cell]:
    """One for each run of Algorithm 1, and one for the minima of each solver, mixture and α."""
    return [*(_quick() if quick else _whole()), {"solver": "original"}]


def _quick() -> list[Cell]:
    # At β = 0 there is no divergence, so that the mixture makes no difference.
    kinds = [("equation", b, a) for b, a in product(BETAS, (ALPHA, 0.0))]
    kinds += [("equation", 0, _BARRIERS[0]), ("listing", 2, 0.0), ("listing", 1000, 0.0)]
    minima = [("connected", "equation", 0.0), ("connected", "listing", 0.0), ("free", "equation", 0.0)]
    return [
        *(_run(kind, 0, 100) for kind in kinds),
        *(_minima(*kind, BETAS, "fast") for kind in minima),
        *(_minima("free", "equation", a, (0,), "fast") for a in (ALPHA, _BARRIERS[0])),
    ]


def _whole() -> list[Cell]:
    kinds = [("equation", b, a) for b, a in product(BETAS, (ALPHA, 0.0))]
    kinds += [("listing", b, a) for b, a in product(BETAS[1:], (ALPHA, 0.0))]
    kinds += [("equation", 0, a) for a in _BARRIERS]
    return [
        *(_run(kind, draw, 10_000) for kind, draw in product(kinds, range(3))),
        *(_minima(*kind, _GRID, "best") for kind in product(_MINIMA, _MIXTURES, (ALPHA, 0.0))),
        *(_minima("free", "equation", a, (0,), "best") for a in _BARRIERS),
    ]


def _run(kind: tuple[str, float, float], draw: int, steps: int) -> Cell:
    """One of Algorithm 1."""
    mixture, beta, alpha = kind
    return {"solver": ALGORITHM, "mixture": mixture, "betas": [beta], "alpha": alpha, "draw": draw, "steps": steps}


def _minima(solver: str, mixture: str, alpha: float, betas: Sequence[float], effort: str) -> Cell:
    return {"solver": solver, "mixture": mixture, "betas": list(betas), "alpha": alpha, "effort": effort}


def work(cell: Cell, seed: int) -> Tables:
    """The edges that are kept, and what they are like."""
    graph = load("karate")
    if cell["solver"] == "original":
        whole = {"nodes": graph.n_nodes, "edges": graph.n_edges, "hub": graph.degrees().max()}
        found = measures.report(graph, graph, measures=["entropy", "centralisation"])
        return {"original": [whole | {"S": found["entropy"], "centralisation": found["centralisation"]}]}
    options: dict[str, Any] = {key: cell[key] for key in ("alpha", "mixture")}
    head = {"solver": cell["solver"], **options, "draw": cell.get("draw", 0)}
    if cell["solver"] == ALGORITHM:
        options |= {"solver": "gumbel", "steps": cell["steps"], "patience": 0}
    else:
        options |= {"connected": _MINIMA[cell["solver"]], "effort": cell["effort"]}
    tables: Tables = {"runs": [], "kept": [], "trace": []}
    for beta in cell["betas"]:
        _note(tables, head | {"beta": beta}, sparsify(graph, beta=beta, seed=seed + head["draw"], **options))
    return tables


def _note(tables: Tables, head: dict[str, Any], result: Sparsified) -> None:
    """Add a result to the tables."""
    graph, mask = result.original, result.mask
    degrees, drawn = result.kept.degrees(), result.probabilities
    row = {"K": result.kept.n_edges, "J": result.objective, "S": result.entropy, "D": result.divergence}
    row |= {"hub": degrees.max(), "hub_share": degrees.max() / result.kept.n_edges}
    row |= dict(measures.report(graph, result, measures=["centralisation"]))
    row |= {"components": result.kept.components()[0], "cut_off": np.count_nonzero(degrees == 0)}
    row |= {"mean_draw": None if drawn is None else drawn.sum()}
    tables["runs"].append(head | row | {"status": result.status})
    edges = zip(graph.source[mask].tolist(), graph.target[mask].tolist(), strict=True)
    tables["kept"] += [{**head, "source": u, "target": v} for u, v in edges]
    if drawn is not None:
        steps = (step for step in result.trace if step.step % _TRACED == 0)
        tables["trace"] += [{**head, "step": step.step, "K": step.edges, "J": step.objective} for step in steps]


# What the numbers say


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
    """The paper's claims by Algorithm 1, then the library's by its minima."""
    runs, original = frames["runs"], frames["original"].iloc[0]
    facts.add("edges", original["edges"], "original", "edges of the karate club")
    facts.add("alpha", ALPHA, "runs", "the paper's α")
    facts.add("central", original["centralisation"], "original", "degree centralisation C_D of the karate club")
    plain = where(runs, solver=ALGORITHM, mixture="equation")
    return [
        _star(plain, frames["trace"], facts),
        _passage(plain, facts),
        _original(plain, facts),
        _listing(runs, frames["trace"], facts),
        _mixtures(runs, facts),
        _barrier(plain, facts),
        _local(plain, runs, facts),
        _trivial(runs, facts),
        _connected(runs, facts),
    ]


def _is_star(rows: Any, facts: Facts) -> bool:
    """Whether half of the edges or more are at one node, and C_D is above the original's, in every row."""
    return bool(((rows["hub_share"] >= 0.5) & (rows["centralisation"] > facts["central"])).all())


def _star(plain: Any, trace: Any, facts: Facts) -> Verdict:
    first = where(plain, beta=0)
    stars = [a for a in sorted(first["alpha"].unique()) if _is_star(where(first, alpha=a), facts)]
    _note_star(where(first, alpha=ALPHA), "paper", "α = 0.005", facts)
    _note_star(where(first, alpha=0), "none", "α = 0", facts)
    steps = where(trace, mixture="equation", beta=0, alpha=ALPHA)
    half = steps[steps["step"] <= steps["step"].max() / 2]
    half = half[half["step"] == half["step"].max()] if len(half) else steps
    facts.add("half_K", half["K"].mean(), "trace", "mean edges after half of the steps, β = 0, α = 0.005")
    facts.add("half_at", half["step"].max(), "trace", "half of the steps")
    condition = "at no α that was tried does half of the edges meet at one node"
    if stars:
        facts.add("star_alpha", stars[-1], "runs", "largest α at which all runs at β = 0 end in a near-star")
        _note_star(where(first, alpha=stars[-1]), "star", "that α", facts)
        condition = (
            "not at the paper's α, but with α = {star_alpha:g}: {star_K:.1f} edges, {star_share:.0%} of them at the "
            "hub, C_D = {star_central:.3f}"
        )
    return Verdict(
        "At β = 0 the karate club becomes approximately a star",
        "§3.2.2, Figure pri_demo (b)",
        "with α = {alpha:g} Algorithm 1 keeps {paper_K:.1f} edges ({half_K:.1f} after {half_at:.0f} steps), "
        "{paper_share:.0%} of them at the hub (degree {paper_hub:.0f}), C_D = {paper_central:.3f} against "
        "{central:.3f} of the original; with α = {none_alpha:g} it keeps {none_K:.1f}",
        grade(ALPHA in stars),
        "" if ALPHA in stars else condition,
    )


def _note_star(rows: Any, key: str, alpha: str, facts: Facts) -> None:
    which = f"mean over the seeds, Algorithm 1, β = 0, {alpha}"
    facts.add(f"{key}_K", rows["K"].mean(), "runs", f"edges kept, {which}")
    facts.add(f"{key}_share", rows["hub_share"].mean(), "runs", f"share of them at the hub, {which}")
    facts.add(f"{key}_hub", rows["hub"].mean(), "runs", f"degree of the hub, {which}")
    facts.add(f"{key}_central", rows["centralisation"].mean(), "runs", f"degree centralisation C_D, {which}")
    if key == "none":
        facts.add("none_alpha", rows["alpha"].max(), "runs", "α without a barrier")


def _passage(plain: Any, facts: Facts) -> Verdict:
    whole = True
    for alpha, key in ((ALPHA, "mean"), (0.0, "bare")):
        means = where(plain, alpha=alpha).groupby("beta")["K"].mean()
        for beta in BETAS:
            facts.add(f"{key}_{beta}", means[beta], "runs", f"mean edges of Algorithm 1 at β = {beta}, α = {alpha:g}")
        steps = np.diff(means[list(BETAS)])
        whole = whole and bool((steps >= 0).all()) and steps.sum() > 0
    start = facts.add("start", facts["mean_0"] / facts["edges"], "runs", "share of the edges at β = 0, the paper's α")
    few = start <= 0.5
    return Verdict(
        "The number of edges rises from the star-like solution to the original as β increases",
        "§3.2.2, Figure pri_demo",
        "Algorithm 1 at β = 0, 2, 5, 1000: {mean_0:.1f}, {mean_2:.1f}, {mean_5:.1f}, {mean_1000:.1f} edges with "
        "α = {alpha:g}; {bare_0:.1f}, {bare_2:.1f}, {bare_5:.1f}, {bare_1000:.1f} with α = {none_alpha:g}",
        grade(whole and few, whole),
        "it rises, but at the paper's α from {start:.0%} of the edges, which are no star" if whole and not few else "",
    )


def _original(plain: Any, facts: Facts) -> Verdict:
    paper = plain[plain["alpha"].isin((0, ALPHA))]
    facts.add(
        "infinite", where(paper, beta=1000)["K"].min(), "runs", "fewest edges of Algorithm 1 at β = 1000, all runs"
    )
    facts.add("five", where(paper, beta=5)["K"].min(), "runs", "fewest edges of Algorithm 1 at β = 5, all runs")
    return Verdict(
        "As β → ∞ the original graph comes back",
        "§3.2.2, Figure pri_demo (d)",
        "every run at β = 1000 keeps at least {infinite:.0f} of {edges:.0f} edges, at β = 5 at least {five:.0f}",
        grade(facts["infinite"] == facts["edges"]),
    )


def _listing(runs: Any, trace: Any, facts: Facts) -> Verdict:
    found = where(runs, solver=ALGORITHM, beta=1000, mixture="listing")
    facts.add("listing", found["K"].min(), "runs", "fewest edges of Algorithm 1 at β = 1000, listing's mixture")
    facts.add("listing_draw", found["mean_draw"].min(), "runs", "least mean edges of a draw from its probabilities")
    for mixture in ("listing", "equation"):
        rows = where(trace, beta=1000, mixture=mixture)
        steps = rows[rows["K"] == facts["edges"]].groupby(["alpha", "draw"])["step"].min()
        last = steps.max() if len(steps) else np.inf
        facts.add(f"{mixture}_steps", last, "trace", f"steps after which all runs have kept all, β = 1000, {mixture}")
    whole = facts["listing"] == facts["edges"]
    return Verdict(
        "Algorithm 1 with the code listing's mixture, not normalised before it is averaged, recovers the original too",
        "Appendix, listing",
        "the most probable subset has at least {listing:.0f} of {edges:.0f} edges at β = 1000, all of them after "
        "{listing_steps:.0f} steps at the latest ({equation_steps:.0f} with the equation's mixture); a draw at the end "
        "has {listing_draw:.1f}",
        grade(whole),
        "the listing as printed ends with fewer edges, and not for its mixture: its abs() of the eigenvalues turns the "
        "sign of the gradient at those that rounding puts below zero; here the sign is kept",
    )


def _mixtures(runs: Any, facts: Facts) -> Verdict:
    ours = where(runs, solver="connected", alpha=0.0)
    table = ours.pivot_table(index="beta", columns="mixture", values="K")
    for mixture in ("equation", "listing"):
        rows = where(runs, solver=ALGORITHM, alpha=0.0, beta=2, mixture=mixture)
        facts.add(f"{mixture}_two", table[mixture][2], "runs", f"edges of the connected minimum at β = 2, {mixture}")
        facts.add(f"{mixture}_run", rows["K"].mean(), "runs", f"mean edges of Algorithm 1 at β = 2, α = 0, {mixture}")
    apart = (table["equation"] - table["listing"]).abs()
    facts.add("ends", max(apart[0], apart[1000]), "runs", "edges by which they differ at β = 0 or 1000, connected")
    facts.add("apart", apart.max(), "runs", "most edges by which the connected minima of both mixtures differ, α = 0")
    same = facts["apart"] == 0
    ends = "they agree where it does not matter: at β = 0 and β → ∞" if facts["ends"] == 0 else ""
    return Verdict(
        "The code listing minimises the objective of the paper's equation",
        "§3.1 and Appendix, listing",
        "at β = 2 Algorithm 1 keeps {equation_run:.1f} edges by the equation and {listing_run:.1f} by the listing, the "
        "connected minimum {equation_two:.0f} and {listing_two:.0f}; the minima differ by up to {apart:.0f} edges",
        grade(same),
        "" if same else ends,
    )


def _barrier(plain: Any, facts: Facts) -> Verdict:
    means = where(plain, beta=0).groupby("alpha")["K"].mean()
    facts.add("alphas", len(means), "runs", "values of α at β = 0")
    facts.add("alpha_least", means.index[means.index > 0].min(), "runs", "least α above 0 that was tried")
    facts.add("alpha_K", means[facts["alpha_least"]], "runs", "mean edges of Algorithm 1 at β = 0 and that α")
    rising = bool((np.diff(means) > 0).all())
    return Verdict(
        "At β = 0 the barrier's weight α sets how many edges Algorithm 1 keeps",
        "graphpri",
        "mean edges rise at each of {alphas:.0f} values of α: {none_K:.1f} at α = {none_alpha:g}, {alpha_K:.1f} at "
        "α = {alpha_least:g}, {paper_K:.1f} at α = {alpha:g}",
        grade(rising),
    )


def _local(plain: Any, runs: Any, facts: Facts) -> Verdict:
    least = where(runs, solver="free", mixture="equation", beta=0).set_index("alpha")
    first = where(plain, beta=0)
    first = first[first["alpha"] > 0]
    above = first["J"] - first["alpha"].map(least["J"])
    facts.add("local_runs", len(first), "runs", "runs of Algorithm 1 at β = 0, α > 0")
    facts.add("local_above", (above > _LOWER).sum(), "runs", "of them, those above the free minimum")
    facts.add("local_J", where(first, alpha=ALPHA)["J"].mean(), "runs", "mean J of Algorithm 1 at β = 0, α = 0.005")
    facts.add("free_J", least["J"][ALPHA], "runs", "J of the free minimum at β = 0, α = 0.005")
    facts.add("free_K", least["K"][ALPHA], "runs", "edges of the free minimum at β = 0, α = 0.005")
    facts.add(
        "reached", (where(plain, beta=0, alpha=0.0)["K"] == 1).mean(), "runs", "share of runs with one edge, α = 0"
    )
    return Verdict(
        "With a barrier Algorithm 1's answer at β = 0 is a local solution; the true minimum is trivial",
        "graphpri",
        "{local_above:.0f} of {local_runs:.0f} runs end above the free minimum; with α = {alpha:g} at "
        "J = {local_J:.3f}, where {free_K:.0f} edge has {free_J:.3f}; with α = {none_alpha:g}, {reached:.0%} of the "
        "runs end in one edge",
        grade(facts["local_above"] == facts["local_runs"] and facts["free_K"] == 1),
    )


def _trivial(runs: Any, facts: Facts) -> Verdict:
    found = where(runs, solver="free", mixture="equation", alpha=0.0).set_index("beta").sort_index()
    single, whole = found.index[found["K"] == 1], found.index[found["K"] == facts["edges"]]
    between = found[(found["K"] > 1) & (found["K"] < facts["edges"])]
    which = "of the free minimum, α = 0"
    facts.add("single_to", max(single, default=np.nan), "runs", f"largest β with one edge {which}")
    facts.add("between", len(between), "runs", f"β with a size in between {which}")
    facts.add("between_K", between["K"].min() if len(between) else np.nan, "runs", f"least size in between {which}")
    facts.add("whole_from", min(whole, default=np.nan), "runs", f"smallest β with all edges {which}")
    trivial = bool(len(single)) and facts["single_to"] < facts["whole_from"]
    jumps = ", then {between_K:.0f} edges or more (at {between:.0f} of the values of β)" if len(between) else ""
    return Verdict(
        "Without a budget and without connectivity a small β has a trivial minimum: a single edge",
        "graphpri",
        "one edge up to β = {single_to:g}" + jumps + ", all {edges:.0f} from β = {whole_from:g}",
        grade(trivial),
    )


def _connected(runs: Any, facts: Facts) -> Verdict:
    found = where(runs, solver="connected", mixture="equation", alpha=0.0).set_index("beta").sort_index()
    for beta in BETAS:
        facts.add(f"connected_{beta}", found["K"][beta], "runs", f"edges of the connected minimum, β = {beta}, α = 0")
    first = found.loc[0]
    facts.add("connected_hub", first["hub"], "runs", "degree of its hub at β = 0")
    facts.add("connected_central", first["centralisation"], "runs", "its degree centralisation C_D at β = 0")
    facts.add("connected_whole", found.index[found["K"] == facts["edges"]].min(), "runs", "smallest β with all edges")
    facts.add("connected_betas", len(found), "runs", "values of β")
    rising = bool((np.diff(found["K"]) >= 0).all()) and found["components"].max() == 1
    good = rising and _is_star(found.loc[[0]], facts) and facts["connected_1000"] == facts["edges"]
    return Verdict(
        "Among connected subgraphs β alone leads from a near-star to the original, and no step loses edges",
        "graphpri",
        "{connected_0:.0f}, {connected_2:.0f}, {connected_5:.0f}, {connected_1000:.0f} edges at β = 0, 2, 5, 1000, all "
        "from β = {connected_whole:g}, never falling at {connected_betas:.0f} values of β; at β = 0 the hub has degree "
        "{connected_hub:.0f} and C_D is {connected_central:.3f}",
        grade(good),
    )


# Pictures


def draw(frames: Frames) -> list[Picture]:
    """The paper's four graphs, lines over β, α and steps, and what the minima weigh."""
    return [_draw_graphs(frames), _draw_lines(frames), _draw_path(frames)]


def _draw_path(frames: Frames) -> Picture:
    figure, axes = panels(1, 2, height=4.5)
    n_edges = frames["original"]["edges"].iloc[0]
    for ax, (solver, title) in zip(axes[0], (("connected", "connected"), ("free", "all subsets")), strict=True):
        rows = where(frames["runs"], mixture="equation", alpha=0.0, solver=solver)
        rows = rows[rows["beta"] <= _LAST_DRAWN]
        names = {"J": "objective", "S": "entropy", "D": "divergence"}
        points = rows.assign(share=rows["K"] / n_edges).rename(columns=names).to_dict("records")
        plot.path(points, ax)
        ax.set_xlabel(f"β, minima over {title}" if solver == "free" else f"β, {title} minima")
    return Picture(
        "karate_path",
        figure,
        "Objective J, entropy S and divergence D of the minima along β, with the equation's mixture and α = 0, and "
        "the share of edges that they keep (right axes).",
    )


def _draw_graphs(frames: Frames) -> Picture:
    """The original and three β, by Algorithm 1 above and as connected minima below."""
    graph = load("karate")
    layout = spring(graph, 0)
    figure, axes = panels(2, 4, height=1.2)
    every = np.ones(graph.n_edges, bool)
    rows = ((ALGORITHM, ALPHA, "Algorithm 1"), ("connected", 0.0, "connected minimum"))
    for line, (solver, alpha, name) in zip(axes, rows, strict=True):
        columns = [("original", every)]
        columns += [(f"β = {b}", _mask(frames["kept"], solver=solver, alpha=alpha, beta=b)) for b in (0, 5, 1000)]
        for ax, (title, mask) in zip(line, columns, strict=True):
            plot.graph(graph, mask, ax, layout)
            ax.get_legend().remove()
            ax.set_title(f"{title}: {int(mask.sum())} edges")
            _make_finer(ax)
        text = f"{name}\nα = {alpha:g}"
        line[0].text(-0.12, 0.5, text, rotation=90, va="center", ha="center", transform=line[0].transAxes)
    return Picture(
        "karate",
        figure,
        "Zachary's karate club, kept edges over dropped ones (grey); the area of a node grows with its kept edges, "
        "a cross has lost all. Above: Algorithm 1 with the equation's mixture and the paper's α, first seed. Below: "
        "the library's answer without a budget, the minimum among connected subgraphs with α = 0.",
    )


def _make_finer(ax: Axes) -> None:
    """Lines and nodes as a panel of this size needs them."""
    from matplotlib.collections import PathCollection

    for drawn in ax.collections:
        drawn.set_linewidth(0.5 * np.mean(drawn.get_linewidth()).item())
        if isinstance(drawn, PathCollection):
            drawn.set_sizes(0.3 * drawn.get_sizes())


def _mask(kept: Any, **values: Any) -> BoolArray:
    graph = load("karate")
    rows = where(kept, mixture="equation", draw=0, **values)
    wanted = set(zip(rows["source"], rows["target"], strict=True))
    return np.array([edge in wanted for edge in zip(graph.source, graph.target, strict=True)])


def _draw_lines(frames: Frames) -> Picture:
    figure, axes = panels(1, 3, height=2.3)
    runs = frames["runs"]
    _draw_beta(axes[0, 0], runs)
    _draw_alpha(axes[0, 1], runs, frames["original"])
    _draw_steps(axes[0, 2], frames["trace"])
    return Picture(
        "karate_lines",
        figure,
        "(a) Edges kept along β with α = 0 and the equation's mixture: minima over all subsets and over connected "
        "ones, and Algorithm 1, every seed a dot. (b) Degree centralisation C_D at β = 0 of what Algorithm 1 keeps, "
        "by α, mean over the seeds; band: least and most; number: mean edges kept; dashed: C_D of the original. "
        "(c) Edges in Algorithm 1's most probable subset by steps, first seed.",
    )


def _draw_beta(ax: Axes, runs: Any) -> None:
    rows = where(runs, mixture="equation", alpha=0.0)
    rows = rows[rows["beta"] <= _LAST_DRAWN]
    for i, (solver, label) in enumerate((("connected", "connected minimum"), ("free", "free minimum"))):
        own = where(rows, solver=solver)
        curve(ax, own["beta"], own["K"], i, label)
    own = where(rows, solver=ALGORITHM)
    ax.plot(own["beta"], own["K"], label="Algorithm 1", **dots(2))
    ax.set(xlabel="β", ylabel="edges kept", title="(a) edges along β, α = 0")
    ax.legend(loc="upper left")
    ax.set_ylim(0, 112)


def _draw_alpha(ax: Axes, runs: Any, original: Any) -> None:
    rows = where(runs, solver=ALGORITHM, mixture="equation", beta=0).groupby("alpha")
    central = rows["centralisation"]
    alphas = 1000 * np.array(sorted(rows.groups))
    curve(ax, alphas, central.mean(), 0, None, (central.min(), central.max()))
    for x, y, kept in zip(alphas, central.mean(), rows["K"].mean(), strict=True):
        ax.annotate(f"{kept:.0f}", (x, y), (3, -3), textcoords="offset points", va="top", fontsize=6)
    ax.axhline(original["centralisation"].iloc[0], color="0.5", linewidth=0.8, linestyle="--")
    ax.set(xlabel="α (10⁻³)", ylabel="degree centralisation $C_D$", title="(b) Algorithm 1 at β = 0")
    ax.set(xlim=(-0.3, 5.6), ylim=(-0.04, 0.56))


def _draw_steps(ax: Axes, trace: Any) -> None:
    lines = (("equation", 0, 0.0), ("equation", 0, ALPHA), ("equation", 1000, 0.0), ("listing", 1000, 0.0))
    for i, (mixture, beta, alpha) in enumerate(lines):
        rows = where(trace, mixture=mixture, beta=beta, alpha=alpha, draw=0)
        style: dict[str, Any] = look(i) | {"marker": ""}
        name = f"β = {beta}, α = {alpha:g}" + (f", {mixture}" if beta else "")
        ax.plot(rows["step"] / 1000, rows["K"], label=name, **style)
    ax.set(xlabel="steps (1000)", ylabel="edges kept", title="(c) Algorithm 1", ylim=(0, 85))
    ax.legend(loc="center right", bbox_to_anchor=(1, 0.4))
