"""What the runs on the karate club say: near-star, passage, original, the two mixtures, and the minima."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphpri.studies.graphs import ALPHA
from graphpri.studies.study import Facts, Frames, Outcome, Verdict

ALGORITHM = "algorithm 1"
BETAS = (0, 2, 5, 1000)
_LOWER = 1e-6
"""Nats by which one J must be below another to count as lower."""


def at(rows: Any, **where: Any) -> Any:
    """Rows whose columns have these values."""
    for key, value in where.items():
        rows = rows[rows[key] == value]
    return rows


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
    """The paper's claims by Algorithm 1, then the library's by its minima."""
    runs, original = frames["runs"], frames["original"].iloc[0]
    facts.add("edges", original["edges"], "original", "edges of the karate club")
    facts.add("alpha", ALPHA, "runs", "the paper's α")
    facts.add("central", original["centralisation"], "original", "degree centralisation C_D of the karate club")
    plain = at(runs, solver=ALGORITHM, mixture="equation")
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
    first = at(plain, beta=0)
    stars = [a for a in sorted(first["alpha"].unique()) if _is_star(at(first, alpha=a), facts)]
    _note_star(at(first, alpha=ALPHA), "paper", "α = 0.005", facts)
    _note_star(at(first, alpha=0), "none", "α = 0", facts)
    steps = at(trace, mixture="equation", beta=0, alpha=ALPHA)
    half = steps[steps["step"] <= steps["step"].max() / 2]
    half = half[half["step"] == half["step"].max()] if len(half) else steps
    facts.add("half_K", half["K"].mean(), "trace", "mean edges after half of the steps, β = 0, α = 0.005")
    facts.add("half_at", half["step"].max(), "trace", "half of the steps")
    outcome: Outcome = "reproduced" if ALPHA in stars else "conditional" if stars else "not reproduced"
    condition = "at no α that was tried does half of the edges meet at one node"
    if stars:
        facts.add("star_alpha", stars[-1], "runs", "largest α at which all runs at β = 0 end in a near-star")
        _note_star(at(first, alpha=stars[-1]), "star", "that α", facts)
        condition = (
            "with α = {star_alpha:g}: {star_K:.1f} edges, {star_share:.0%} of them at the hub, C_D = {star_central:.3f}"
        )
    return Verdict(
        "At β = 0 the karate club becomes approximately a star",
        "§3.2.2, Figure pri_demo (b)",
        "with α = {alpha:g} Algorithm 1 keeps {paper_K:.1f} edges ({half_K:.1f} after {half_at:.0f} steps), "
        "{paper_share:.0%} of them at the hub (degree {paper_hub:.0f}), C_D = {paper_central:.3f} against "
        "{central:.3f} of the original; with α = {none_alpha:g} it keeps {none_K:.1f}",
        outcome,
        "" if outcome == "reproduced" else condition,
    )


def _note_star(rows: Any, key: str, where: str, facts: Facts) -> None:
    said = f"mean over the seeds, Algorithm 1, β = 0, {where}"
    facts.add(f"{key}_K", rows["K"].mean(), "runs", f"edges kept, {said}")
    facts.add(f"{key}_share", rows["hub_share"].mean(), "runs", f"share of them at the hub, {said}")
    facts.add(f"{key}_hub", rows["hub"].mean(), "runs", f"degree of the hub, {said}")
    facts.add(f"{key}_central", rows["centralisation"].mean(), "runs", f"degree centralisation C_D, {said}")
    if key == "none":
        facts.add("none_alpha", rows["alpha"].max(), "runs", "α without a barrier")


def _passage(plain: Any, facts: Facts) -> Verdict:
    whole = True
    for alpha, key in ((ALPHA, "mean"), (0.0, "bare")):
        means = at(plain, alpha=alpha).groupby("beta")["K"].mean()
        for beta in BETAS:
            facts.add(f"{key}_{beta}", means[beta], "runs", f"mean edges of Algorithm 1 at β = {beta}, α = {alpha:g}")
        steps = np.diff(means[list(BETAS)])
        whole = whole and bool((steps >= 0).all()) and steps.sum() > 0
    return Verdict(
        "The number of edges rises from the star-like solution to the original as β increases",
        "§3.2.2, Figure pri_demo",
        "Algorithm 1 at β = 0, 2, 5, 1000: {mean_0:.1f}, {mean_2:.1f}, {mean_5:.1f}, {mean_1000:.1f} edges with "
        "α = {alpha:g}; {bare_0:.1f}, {bare_2:.1f}, {bare_5:.1f}, {bare_1000:.1f} with α = {none_alpha:g}",
        "reproduced" if whole else "not reproduced",
    )


def _original(plain: Any, facts: Facts) -> Verdict:
    paper = plain[plain["alpha"].isin((0, ALPHA))]
    facts.add("infinite", at(paper, beta=1000)["K"].min(), "runs", "fewest edges of Algorithm 1 at β = 1000, all runs")
    facts.add("five", at(paper, beta=5)["K"].min(), "runs", "fewest edges of Algorithm 1 at β = 5, all runs")
    return Verdict(
        "As β → ∞ the original graph comes back",
        "§3.2.2, Figure pri_demo (d)",
        "every run at β = 1000 keeps at least {infinite:.0f} of {edges:.0f} edges, at β = 5 at least {five:.0f}",
        "reproduced" if facts["infinite"] == facts["edges"] else "not reproduced",
    )


def _listing(runs: Any, trace: Any, facts: Facts) -> Verdict:
    found = at(runs, solver=ALGORITHM, beta=1000, mixture="listing")
    facts.add("listing", found["K"].min(), "runs", "fewest edges of Algorithm 1 at β = 1000, listing's mixture")
    facts.add("listing_draw", found["mean_draw"].min(), "runs", "least mean edges of a draw from its probabilities")
    for mixture in ("listing", "equation"):
        rows = at(trace, beta=1000, mixture=mixture)
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
        "reproduced" if whole else "not reproduced",
    )


def _mixtures(runs: Any, facts: Facts) -> Verdict:
    ours = at(runs, solver="connected", alpha=0.0)
    table = ours.pivot_table(index="beta", columns="mixture", values="K")
    for mixture in ("equation", "listing"):
        rows = at(runs, solver=ALGORITHM, alpha=0.0, beta=2, mixture=mixture)
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
        "reproduced" if same else "conditional" if ends else "not reproduced",
        "" if same else ends,
    )


def _barrier(plain: Any, facts: Facts) -> Verdict:
    means = at(plain, beta=0).groupby("alpha")["K"].mean()
    facts.add("alphas", len(means), "runs", "values of α at β = 0")
    facts.add("alpha_least", means.index[means.index > 0].min(), "runs", "least α above 0 that was tried")
    facts.add("alpha_K", means[facts["alpha_least"]], "runs", "mean edges of Algorithm 1 at β = 0 and that α")
    rising = bool((np.diff(means) > 0).all())
    return Verdict(
        "At β = 0 the barrier's weight α sets how many edges Algorithm 1 keeps",
        "graphpri",
        "mean edges rise at each of {alphas:.0f} values of α: {none_K:.1f} at α = {none_alpha:g}, {alpha_K:.1f} at "
        "α = {alpha_least:g}, {paper_K:.1f} at α = {alpha:g}",
        "reproduced" if rising else "not reproduced",
    )


def _local(plain: Any, runs: Any, facts: Facts) -> Verdict:
    least = at(runs, solver="free", mixture="equation", beta=0).set_index("alpha")
    first = at(plain, beta=0)
    first = first[first["alpha"] > 0]
    above = first["J"] - first["alpha"].map(least["J"])
    facts.add("local_runs", len(first), "runs", "runs of Algorithm 1 at β = 0, α > 0")
    facts.add("local_above", (above > _LOWER).sum(), "runs", "of them, those above the free minimum")
    facts.add("local_J", at(first, alpha=ALPHA)["J"].mean(), "runs", "mean J of Algorithm 1 at β = 0, α = 0.005")
    facts.add("free_J", least["J"][ALPHA], "runs", "J of the free minimum at β = 0, α = 0.005")
    facts.add("free_K", least["K"][ALPHA], "runs", "edges of the free minimum at β = 0, α = 0.005")
    facts.add("reached", (at(plain, beta=0, alpha=0.0)["K"] == 1).mean(), "runs", "share of runs with one edge, α = 0")
    return Verdict(
        "With a barrier Algorithm 1's answer at β = 0 is a local solution; the true minimum is trivial",
        "graphpri",
        "{local_above:.0f} of {local_runs:.0f} runs end above the free minimum; with α = {alpha:g} at "
        "J = {local_J:.3f}, where {free_K:.0f} edge has {free_J:.3f}; with α = {none_alpha:g}, {reached:.0%} of the "
        "runs end in one edge",
        "reproduced" if facts["local_above"] == facts["local_runs"] and facts["free_K"] == 1 else "not reproduced",
    )


def _trivial(runs: Any, facts: Facts) -> Verdict:
    found = at(runs, solver="free", mixture="equation", alpha=0.0).set_index("beta").sort_index()
    single, whole = found.index[found["K"] == 1], found.index[found["K"] == facts["edges"]]
    between = found[(found["K"] > 1) & (found["K"] < facts["edges"])]
    said = "of the free minimum, α = 0"
    facts.add("single_to", max(single, default=np.nan), "runs", f"largest β with one edge {said}")
    facts.add("between", len(between), "runs", f"β with a size in between {said}")
    facts.add("between_K", between["K"].min() if len(between) else np.nan, "runs", f"least size in between {said}")
    facts.add("whole_from", min(whole, default=np.nan), "runs", f"smallest β with all edges {said}")
    trivial = bool(len(single)) and facts["single_to"] < facts["whole_from"]
    jumps = ", then {between_K:.0f} edges or more (at {between:.0f} of the values of β)" if len(between) else ""
    return Verdict(
        "Without a budget and without connectivity a small β has a trivial minimum: a single edge",
        "graphpri",
        "one edge up to β = {single_to:g}" + jumps + ", all {edges:.0f} from β = {whole_from:g}",
        "reproduced" if trivial else "not reproduced",
    )


def _connected(runs: Any, facts: Facts) -> Verdict:
    found = at(runs, solver="connected", mixture="equation", alpha=0.0).set_index("beta").sort_index()
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
        "reproduced" if good else "not reproduced",
    )
