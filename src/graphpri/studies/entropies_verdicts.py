"""What the study of approximations says: how close the degree entropy is, what the others add, and at what cost."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from graphpri.studies.entropies_rivals import PROBES, STEPS, WAYS
from graphpri.studies.study import Facts, Frames, Outcome, Verdict

_CLOSE = 0.05
"""Share of S by which a value that counts as close may be off."""
_LINEAR = 1.15
"""Largest power of the number of edges that counts as proportional, in times."""
_ROUNDING = 1e-9


def errors_of(table: Any) -> tuple[Any, Any]:
    """Root mean square error by graph and way, in nats, and S by graph."""
    exact = table[table["way"] == "exact"].set_index("graph")["value"]
    off = table.assign(square=(table["value"] - table["graph"].map(exact)) ** 2)
    errors = np.sqrt(off.groupby(["graph", "way"], sort=False)["square"].mean()).unstack()
    return errors, exact.loc[errors.index]


def ranks_of(table: Any) -> Any:
    """Mean rank correlation of the gradient by graph and way."""
    return table.groupby(["graph", "way"], sort=False)["rank"].mean().unstack()


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
    """The degree entropy, then the others."""
    table = frames["values"]
    errors, exact = errors_of(table)
    facts.add("graphs", len(errors), "values", "graphs")
    facts.add("close", _CLOSE, "values", "share of S that counts as close")
    facts.add("probes", PROBES, "values", "random vectors of each estimate")
    facts.add("terms", STEPS, "values", "terms of polynomials, steps of the plain Lanczos quadrature")
    return [
        _degree(errors, exact, table, facts),
        _cost(frames["cost"], facts),
        _against_finger(errors, facts),
        _polynomials(errors, exact, facts),
        _local(errors, facts),
        _ranking(ranks_of(table), facts),
        _controlled(table, errors, facts),
    ]


def _degree(errors: Any, exact: Any, table: Any, facts: Facts) -> Verdict:
    share = errors["degree"] / exact
    near = facts.add("near", (share <= _CLOSE).sum(), "values", "graphs on which H − S is at most that share of S")
    facts.add("gap_median", share.median(), "values", "median of (H − S)/S")
    facts.add("gap_most", share.max(), "values", "largest (H − S)/S")
    facts.add("gap_least", share.min(), "values", "least (H − S)/S")
    outcome: Outcome = (
        "reproduced" if near == len(share) else "conditional" if near > len(share) / 2 else "not reproduced"
    )
    far = share[share > _CLOSE].sort_values(ascending=False).index
    if len(far):
        sizes = table.drop_duplicates("graph").set_index("graph").loc[far]
        facts.add(
            "far_degree", (2 * sizes["edges"] / sizes["nodes"]).max(), "values", "largest mean degree of the rest"
        )
    return Verdict(
        "The entropy of the degrees is close to the von Neumann entropy",
        "§3.4, Theorems 2 and 3",
        "H is above S by {gap_least:.2%} to {gap_most:.2%} of S, {gap_median:.2%} in the median of {graphs:.0f} "
        "graphs; by at most {close:.0%} on {near:.0f}",
        outcome,
        f"farther than that on {', '.join(far)}, of mean degree {{far_degree:.2f}} at most" if len(far) else "",
    )


def _cost(table: Any, facts: Facts) -> Verdict:
    powers = {
        name: stats.linregress(np.log(rows["edges"]), np.log(rows["value_seconds"].clip(1e-6)))[0]
        for name, rows in table.groupby("way")
    }
    power = facts.add("degree_power", powers["degree"], "cost", "power of the edges by which the time of H grows")
    facts.add("local_power", powers["local"], "cost", "the same of the local entropy")
    largest = table[table["edges"] == table["edges"].max()].set_index("way")["value_seconds"]
    facts.add("largest", table["edges"].max(), "cost", "edges of the largest graph")
    facts.add("degree_time", 1000 * largest["degree"], "cost", "CPU time of H on the largest graph, ms")
    facts.add("local_time", 1000 * largest["local"], "cost", "CPU time of the local entropy there, ms")
    return Verdict(
        "The degree entropy takes time proportional to N",
        "§3.4",
        "at a fixed mean degree the time grows with the power {degree_power:.2f} of the size ({local_power:.2f} for "
        "the local entropy); {degree_time:.1f} ms at {largest:.0f} edges ({local_time:.1f})",
        "reproduced" if power <= _LINEAR else "not reproduced",
        "given the degrees; from a list of edges it is proportional to their number M",
    )


def _against_finger(errors: Any, facts: Facts) -> Verdict:
    count = len(errors)
    for name, label in (("finger", "Ĥ"), ("finger_degree", "H̃")):
        closer = (errors["degree"] < errors[name]).sum()
        facts.add(f"beats_{name}", closer, "values", f"graphs on which H is closer to S than FINGER's {label}")
        facts.add(f"{name}_median", errors[name].median(), "values", f"median error of FINGER's {label}, nats")
    facts.add("degree_median", errors["degree"].median(), "values", "median of H − S, nats")
    both = min(facts["beats_finger"], facts["beats_finger_degree"])
    return Verdict(
        "Among the fast approximations that are cited, the degree entropy is accurate",
        "§3.2, after Liu et al.",
        "H is closer to S than FINGER's Ĥ on {beats_finger:.0f} of {graphs:.0f} graphs and than its H̃ on "
        "{beats_finger_degree:.0f}; median errors {degree_median:.3f}, {finger_median:.3f} and "
        "{finger_degree_median:.3f} nats",
        "reproduced" if both == count else "conditional" if both > count / 2 else "not reproduced",
    )


def _polynomials(errors: Any, exact: Any, facts: Facts) -> Verdict:
    near = 0.0
    far: list[str] = []
    for name in ("taylor", "chebyshev"):
        share = errors[name] / exact
        near += facts.add(f"{name}_near", (share <= _CLOSE).sum(), "values", f"graphs on which {name} is close")
        facts.add(f"{name}_median", errors[name].median(), "values", f"median error of {name}, nats")
        facts.add(f"{name}_most", share.max(), "values", f"largest error of {name} as a share of S")
        far += [f"{WAYS[name].label}'s on {graph}" for graph in share.index[share > _CLOSE]]
        beaten = (errors["local"] < errors[name]).sum()
        facts.add(f"local_beats_{name}", beaten, "values", f"graphs on which the local entropy is closer than {name}")
    count = 2 * len(errors)
    return Verdict(
        "Randomised Taylor and Chebyshev traces approximate the entropy with little loss",
        "§3.2, after Kontopoulou et al.",
        "with {probes:.0f} vectors and {terms:.0f} terms Taylor's is within {close:.0%} of S on {taylor_near:.0f} of "
        "{graphs:.0f} graphs (median error {taylor_median:.3f} nats, at most {taylor_most:.1%}), Chebyshev's on "
        "{chebyshev_near:.0f} ({chebyshev_median:.3f}, {chebyshev_most:.1%}); the local entropy, which needs no random "
        "vectors, is closer on {local_beats_taylor:.0f} and {local_beats_chebyshev:.0f}",
        "reproduced" if near == count else "conditional" if near > count / 2 else "not reproduced",
        f"farther off than that: {', '.join(far)}" if far else "",
    )


def _local(errors: Any, facts: Facts) -> Verdict:
    closer = facts.add(
        "local_closer", (errors["local"] < errors["degree"]).sum(), "values", "graphs on which local is closer than H"
    )
    removed = 1 - errors["local"] / errors["degree"]
    facts.add("removed_least", removed.min(), "values", "least share of H − S that the local entropy removes")
    facts.add("removed_most", removed.max(), "values", "largest share")
    facts.add("removed_median", removed.median(), "values", "median share")
    texts = ""
    if "karate" in errors.index:
        facts.add("karate_degree", errors.loc["karate", "degree"], "values", "H − S of karate, nats")
        facts.add("karate_local", errors.loc["karate", "local"], "values", "local − S of karate, nats")
        texts = "; on karate {karate_local:.4f} nats are left of {karate_degree:.4f}"
    return Verdict(
        "The local entropy is closer to S than the degree entropy and removes most of the gap",
        "graphpri",
        "closer on {local_closer:.0f} of {graphs:.0f} graphs; it removes {removed_least:.0%} to {removed_most:.0%} of "
        "the gap, {removed_median:.0%} in the median" + texts,
        _all_or_most(closer, len(errors), removed.min() > 0.5),
    )


def _all_or_most(count: float, of: int, also: bool = True) -> Outcome:
    if count == of and also:
        return "reproduced"
    return "conditional" if count > of / 2 else "not reproduced"


def _ranking(ranks: Any, facts: Facts) -> Verdict:
    for name in ("degree", "local", "stochastic", "lanczos", "quadratic", "finger"):
        facts.add(f"rank_{name}", ranks[name].median(), "values", f"median rank correlation of the {name} gradient")
        facts.add(f"rank_{name}_least", ranks[name].min(), "values", f"least rank correlation of the {name} gradient")
    flat = ranks["exact"].notna() & ranks["local"].isna() & ranks["degree"].isna()
    both = ranks[ranks["exact"].notna() & ~flat]
    facts.add("ranked", len(both), "values", "graphs on whose edges the exact and the local or degree gradient differ")
    constant = facts.add("constant", flat.sum(), "values", "graphs with constant local and degree gradients")
    gain = both["local"] - both["degree"].fillna(0)
    better = facts.add("ranks_better", (gain > 0).sum(), "values", "graphs on which the local gradient ranks better")
    where = "; both are the same on all edges of {constant:.0f} others" if constant else ""
    worse = ", ".join(gain.index[gain <= 0])
    return Verdict(
        "The local entropy's gradient ranks the edges more like the exact one than the degree entropy's",
        "graphpri",
        "on {ranks_better:.0f} of {ranked:.0f} graphs" + where + "; rank correlation with the exact gradient, median "
        "(least): local {rank_local:.3f} ({rank_local_least:.3f}), degree {rank_degree:.3f} ({rank_degree_least:.3f}), "
        "stochastic {rank_stochastic:.3f} ({rank_stochastic_least:.3f}), plain Lanczos {rank_lanczos:.3f} "
        "({rank_lanczos_least:.3f}), FINGER's Ĥ {rank_finger:.3f} ({rank_finger_least:.3f}) and its Q "
        "{rank_quadratic:.3f} ({rank_quadratic_least:.3f})",
        _all_or_most(better, len(both)),
        f"not on {worse}" if worse else "",
    )


def _controlled(table: Any, errors: Any, facts: Facts) -> Verdict:
    ratio = errors["lanczos"] / np.maximum(errors["stochastic"], _ROUNDING)
    facts.add("stochastic_median", errors["stochastic"].median(), "values", "median error of the estimate, nats")
    facts.add("lanczos_median", errors["lanczos"].median(), "values", "median error of plain Lanczos, nats")
    better = facts.add("controlled", (ratio > 1).sum(), "values", "graphs on which the estimate is closer than plain")
    facts.add("ratio_least", ratio.min(), "values", "least error of plain Lanczos over that of the estimate")
    facts.add("ratio_median", ratio.median(), "values", "median of it")
    times = table.groupby(["graph", "way"])["value_seconds"].median().unstack()
    facts.add("ratio_time", (times["stochastic"] / times["lanczos"]).median(), "values", "median ratio of CPU times")
    return Verdict(
        "Taking away what is known makes the stochastic estimate closer than plain Lanczos quadrature with as many "
        "vectors",
        "graphpri",
        "closer on {controlled:.0f} of {graphs:.0f} graphs with {probes:.0f} vectors: errors {stochastic_median:.1e} "
        "and {lanczos_median:.1e} nats in the median, {ratio_median:.0f} times (at least {ratio_least:.2g}), for "
        "{ratio_time:.1f} times the CPU time",
        _all_or_most(better, len(errors)),
    )
