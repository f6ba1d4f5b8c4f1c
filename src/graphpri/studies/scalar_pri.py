"""The appendix's figure: the scalar PRI on two crossing segments, from a single point to the data."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import cdist

from graphpri.graph import FloatArray
from graphpri.studies.study import (
    Cell,
    Facts,
    Frames,
    Picture,
    Tables,
    Verdict,
    curve,
    generator,
    grade,
    legend_below,
    panels,
    where,
)

if TYPE_CHECKING:
    from graphpri.apps.scalar import Cloud, ScalarPRI

# What is run

FIGURE = (0, 1, 3, 6, 100)
"""The values of β that the paper shows."""

_LARGEST = 10_000
_SOURCE = "Appendix, Figure org_pri"
_NEAR_CURVE, _COVERED, _ALL = 0.5, 0.9, 0.9
"""Points are along a curve when they are this near it, against the data, and cover this much of it; and they are the
data when this many of them are apart."""


_BETAS = (0, 1, 3, 6, 100, 10_000)
_STEP_BETAS = (0.0, 0.1, 0.3, 0.5, 0.8, 1.0, 3.0, 6.0, 100.0)
_WIDTHS = (0.05, 0.1, 0.3, 0.4)
_NOISE, _WIDTH = 0.05, 0.2
_ENDS = np.array([[[-1.0, -1.0], [1.0, 1.0]], [[-1.0, 1.0], [1.0, -1.0]]])


def cells(quick: bool) -> list[Cell]:
    """One for each sample, width of the window and start, longest first; and for two widths the steps themselves."""
    n, more, steps = (36, 1, 15) if quick else (300, 8, 60)
    runs: list[tuple[int, Any, str, tuple[int, ...]]] = [(0, _WIDTH, "path", _BETAS), (0, _WIDTH, "data", _BETAS)]
    runs += [] if quick else [(1, _WIDTH, "data", _BETAS), (1, "silverman", "data", _BETAS)]
    runs += [(0, s, "data", _BETAS) for s in ("silverman", *(_WIDTHS[1:2] if quick else _WIDTHS))]
    runs += [(2 + k, _WIDTH, "data", _BETAS[:2]) for k in range(more)]
    found: list[Cell] = [
        {"n": n, "sample": k, "width": s, "start": start, "betas": list(betas)} for k, s, start, betas in runs
    ]
    steps_alone: dict[str, Any] = {"n": n, "sample": 0, "start": "steps", "steps": steps}
    return [*found, *(steps_alone | {"width": s} for s in (0.05, _WIDTH))]


def work(cell: Cell, seed: int) -> Tables:
    """Fits at each β, or the steps of the plain and of the damped fixed point."""
    from graphpri.apps.scalar import ScalarPRI  # needs scikit-learn

    data = crossing(cell["n"], seed, cell["sample"])
    if cell["start"] == "steps":
        return {"steps": [_steps(data, cell["width"], beta, cell["steps"]) for beta in _STEP_BETAS]}
    betas, width = cell["betas"], cell["width"]
    with warnings.catch_warnings():
        # Whether a fit has converged stands in its row.
        warnings.simplefilter("ignore")
        if cell["start"] == "path":
            fits = ScalarPRI(bandwidth=width).path(data, betas)
        else:
            fits = [ScalarPRI(beta, width).fit(data) for beta in betas]
    tables: Tables = {"runs": [_row(cell, data, fit) for fit in fits]}
    if cell["start"] == "data" and cell["width"] == _WIDTH and cell["sample"] == 0:
        tables["data"] = _places({}, data)
        tables["points"] = [row for fit in fits for row in _places({"beta": fit.beta}, fit.points_)]
    return tables


def crossing(n: int, seed: int, number: int) -> FloatArray:
    """Points of two segments that cross in the middle, in turn, with noise; shape (n, 2)."""
    rng = generator(seed, "crossing", number)
    ends = _ENDS[np.arange(n) % 2]
    at = ends[:, 0] + rng.uniform(size=(n, 1)) * (ends[:, 1] - ends[:, 0])
    return at + _NOISE * rng.normal(size=(n, 2))


def _places(head: dict[str, Any], points: FloatArray) -> list[dict[str, Any]]:
    return [{**head, "x": float(x), "y": float(y)} for x, y in points]


def _row(cell: Cell, data: FloatArray, fit: ScalarPRI) -> dict[str, Any]:
    from graphpri.apps.scalar import NEAR, clusters

    moved = np.linalg.norm(fit.points_ - data, axis=1)
    return {
        "sample": cell["sample"],
        "start": cell["start"],
        "width": "silverman" if cell["width"] == "silverman" else "given",
        "s": fit.bandwidth_,
        "beta": fit.beta,
        "n": len(data),
        "clusters": len(fit.modes_),
        "apart": int(clusters(data / fit.bandwidth_, NEAR).max()) + 1,
        "distance": _rms(_to_segments(fit.points_)),
        "data_distance": _rms(_to_segments(data)),
        "covered": _covered(fit.points_, fit.bandwidth_),
        "moved": _rms(moved),
        "farthest": float(moved.max()),
        "J": fit.objective_,
        "H2": fit.entropy_,
        "D": fit.divergence_,
        "maxima": _maxima(fit, data) if fit.beta == 1 else None,
        "gradient": fit.gradient_norm_,
        "steps": fit.n_iter_,
        "rise": float(np.diff(fit.history_).max(initial=-np.inf)) if fit.n_iter_ else 0.0,
    }


def _rms(values: FloatArray) -> float:
    return float(np.sqrt((values**2).mean()))


def _to_segments(points: FloatArray) -> FloatArray:
    """Distance of each point from the nearer segment."""
    found: list[FloatArray] = []
    for start, end in _ENDS:
        along = np.clip((points - start) @ (end - start) / ((end - start) ** 2).sum(), 0, 1)
        found.append(np.linalg.norm(points - start - along[:, None] * (end - start), axis=1))
    return np.minimum(*found)


def _covered(points: FloatArray, s: float) -> float:
    """Share of the segments' length within s of a point."""
    along = np.linspace(0, 1, 401)[:, None]
    places = np.concatenate([start + along * (end - start) for start, end in _ENDS])
    return float((cdist(places, points).min(axis=1) <= s).mean())


def _maxima(fit: ScalarPRI, data: FloatArray) -> float:
    """Share of the modes at which the data's density has a maximum: no slope, and curved downwards all ways."""
    good = 0
    for mode in fit.modes_:
        away = (data - mode) / fit.bandwidth_
        window = np.exp(-0.5 * (away**2).sum(axis=1))
        slope = window @ away / window.sum()
        curvature = (away * window[:, None]).T @ away / window.sum() - np.eye(2)
        good += bool(np.linalg.norm(slope) < 1e-3 and np.linalg.eigvalsh(curvature).max() < 0)
    return good / len(fit.modes_)


def _steps(data: FloatArray, s: float, beta: float, count: int) -> dict[str, Any]:
    """The largest rise of J over steps of the plain and of the damped fixed point; no number where J overflowed."""
    from graphpri.apps.scalar import Cloud, descend

    cloud = Cloud(data / s, np.full(len(data), 1 / len(data)))
    history = descend(cloud, cloud, beta, max_iter=count, tol=1e-6).history
    plain = _plain(cloud, beta, count)
    return {
        "s": s,
        "beta": beta,
        "plain_rise": float(np.diff(plain).max()) if np.isfinite(plain).all() else None,
        "plain_finite": bool(np.isfinite(plain).all()),
        "damped_rise": float(np.diff(history).max(initial=0.0)),
    }


def _plain(data: Cloud, beta: float, count: int) -> FloatArray:
    """J along the textbook's fixed point, not damped: x ← m_S + c (1 − β)/β · (Σ G x_j − x Σ G) / Σ G s_j."""
    from graphpri.apps.scalar import evaluate

    here, found = data, [evaluate(data, data, beta).objective]
    with np.errstate(all="ignore"):
        for _ in range(count):
            state = evaluate(here, data, beta)
            (own, own_mean), (theirs, data_mean) = here.kernel_mean(here.points), data.kernel_mean(here.points)
            if beta:
                across = (data.log_information - state.entropy - state.divergence) / 2
                ratio = np.exp(own + state.entropy - theirs + across)[:, None]
                target = data_mean + (1 - beta) / beta * ratio * (own_mean - here.points)
            else:
                target = own_mean
            if not np.isfinite(target).all():
                return np.array([*found, np.nan])
            here = here.moved(target)
            found.append(evaluate(here, data, beta).objective)
    return np.array(found)


# What the numbers say


def derive(frames: Frames) -> Frames:
    """Places and distances at each β, over the samples at the figure's width."""
    groups = _figure_runs(frames).groupby("beta")
    columns = {
        "samples": groups["sample"].count(),
        "n": groups["n"].first(),
        "data_places": groups["apart"].mean(),
        "places": groups["clusters"].mean(),
        "fewest": groups["clusters"].min(),
        "most": groups["clusters"].max(),
        "distance": groups["distance"].mean(),
        "data_distance": groups["data_distance"].mean(),
        "covered": groups["covered"].mean(),
        "moved": groups["moved"].mean(),
        "H2": groups["H2"].mean(),
        "D": groups["D"].mean(),
    }
    first = next(iter(columns.values()))
    return {"summary": first.to_frame().assign(**columns).reset_index()}


def judge(frames: Frames, facts: Facts) -> list[Verdict]:
    """Point, modes, curves, data; how they depend on the width; and that J never rises."""
    figure = _figure_runs(frames)
    facts.add("s", figure["s"].iloc[0], "runs", "width s of the figure's windows")
    facts.add("n", figure["n"].iloc[0], "runs", "samples in a data set")
    return [
        _point(figure, facts),
        _modes(figure, facts),
        _curves(figure, facts),
        _data(figure, facts),
        _passage(figure, facts),
        _width(frames["runs"], facts),
        _silverman(frames["runs"], facts),
        _never_rises(frames, facts),
        _undamped(frames["steps"], facts),
        _polished(frames["runs"], facts),
        _annealed(frames["runs"], facts),
    ]


def _figure_runs(frames: Frames) -> Any:
    """Runs from the data at the width of which there are several samples."""
    runs = frames["runs"]
    runs = where(runs, start="data", width="given")
    return runs[runs["s"] == runs["s"].mode().iloc[0]]


def _point(figure: Any, facts: Facts) -> Verdict:
    found = where(figure, beta=0)
    facts.add("point_samples", len(found), "runs", "data sets at β = 0")
    facts.add("point_single", (found["clusters"] == 1).sum(), "runs", "data sets that β = 0 draws to one place")
    facts.add("point_most", found["clusters"].max(), "runs", "most places at β = 0")
    single, samples = facts["point_single"], facts["point_samples"]
    condition = "where no two groups are left so far apart, against s, that they don't draw each other any more"
    return Verdict(
        "At β = 0 the solution is a single point",
        f"{_SOURCE} (b)",
        "one place in {point_single:.0f} of {point_samples:.0f} data sets, at most {point_most:.0f} (s = {s})",
        grade(single == samples, single),
        condition if 0 < single < samples else "",
    )


def _modes(figure: Any, facts: Facts) -> Verdict:
    found = where(figure, beta=1)
    facts.add("modes_fewest", found["clusters"].min(), "runs", "fewest places at β = 1")
    facts.add("modes_most", found["clusters"].max(), "runs", "most places at β = 1")
    facts.add("maxima", found["maxima"].min(), "runs", "least share of them that are maxima of the data's density")
    several = facts["modes_fewest"] > 1 and facts["modes_most"] <= 0.2 * facts["n"]
    return Verdict(
        "At β = 1 the points are the modes of the data",
        f"{_SOURCE} (c)",
        "{modes_fewest:.0f} to {modes_most:.0f} places, at least {maxima:.0%} of them maxima of the Parzen density "
        "(s = {s})",
        grade(facts["maxima"] == 1 and several),
    )


def _curves(figure: Any, facts: Facts) -> Verdict:
    for beta in (3, 6):
        found = where(figure, beta=beta)
        facts.add(f"places_{beta}", found["clusters"].mean(), "runs", f"mean number of places at β = {beta}")
        ratio = (found["distance"] / found["data_distance"]).max()
        facts.add(f"ratio_{beta}", ratio, "runs", f"largest distance from the lines at β = {beta} over the data's")
        facts.add(f"covered_{beta}", found["covered"].min(), "runs", f"least share of the lines covered at β = {beta}")
    along = all(facts[f"ratio_{b}"] <= _NEAR_CURVE and facts[f"covered_{b}"] >= _COVERED for b in (3, 6))
    more = facts["places_3"] > facts["modes_most"]
    return Verdict(
        "At β = 3 and 6 the points are principal curves of the data",
        f"{_SOURCE} (d), (e)",
        "root mean square distance from the true lines at most {ratio_3:.2f} and {ratio_6:.2f} of the data's; at least "
        "{covered_3:.0%} and {covered_6:.0%} of the lines within s of a point; {places_3:.0f} and {places_6:.0f} "
        "distinct places on average, so a string of points and no continuous curve (s = {s})",
        grade(along and more),
    )


def _data(figure: Any, facts: Facts) -> Verdict:
    for beta in (100, _LARGEST):
        found = where(figure, beta=beta)
        facts.add(
            f"kept_{beta}", (found["clusters"] / found["apart"]).min(), "runs", f"least places over data's, β = {beta}"
        )
        moved = (found["moved"] / found["data_distance"]).max()
        facts.add(f"moved_{beta}", moved, "runs", f"largest way from the data at β = {beta} over the data's noise")
    facts.add("all", _ALL, "runs", "share of the data's places from which on they count as all")
    last = facts[f"kept_{_LARGEST}"] >= _ALL and facts[f"moved_{_LARGEST}"] <= _NEAR_CURVE
    early = facts["kept_100"] >= _ALL and facts["moved_100"] <= _NEAR_CURVE
    return Verdict(
        "As β → ∞ the data themselves come back; β = 100 shows them",
        f"{_SOURCE} (f)",
        f"at β = {_LARGEST} the points are {{moved_{_LARGEST}:.2f}} of the noise from their samples and "
        f"at {{kept_{_LARGEST}:.0%}} of the data's places; at β = 100 {{moved_100:.2f}} and {{kept_100:.0%}}",
        grade(last and early, last),
        "for larger β: at 100 the points still gather at fewer places ({all:.0%} of the data's count as all)"
        if last and not early
        else "",
    )


def _passage(figure: Any, facts: Facts) -> Verdict:
    groups = [group.sort_values("beta") for _, group in figure.groupby("sample") if len(group) > len(FIGURE)]
    falls = sum(bool((np.diff(group["D"]) < 0).all()) for group in groups)
    rises = sum(bool((np.diff(group["H2"]) > 0).all()) for group in groups)
    nearer = sum(bool((np.diff(group["moved"]) < 0).all()) for group in groups)
    facts.add("whole", len(groups), "runs", "data sets with every β")
    facts.add("falls", falls, "runs", "those whose divergence falls at every step of β")
    facts.add("rises", rises, "runs", "those whose entropy rises at every step of β")
    facts.add("nearer", nearer, "runs", "those whose points are nearer their samples at every step of β")
    return Verdict(
        "As β increases the solution passes from the point over modes and curves to the data",
        _SOURCE,
        "with each β D falls on {falls:.0f}, H₂ rises on {rises:.0f} and the points are nearer their samples on "
        "{nearer:.0f} of {whole:.0f} data sets",
        grade(min(falls, rises, nearer) == len(groups)),
    )


def _width(runs: Any, facts: Facts) -> Verdict:
    first = where(runs, sample=0, start="data", width="given")
    chains = {float(s): _chain(group) for s, group in first.groupby("s")}
    good = [s for s, holds in chains.items() if holds]
    facts.add("widths", len(chains), "runs", "widths s at which the same data are run")
    facts.add("good_widths", len(good), "runs", "widths at which all four regimes follow each other")
    facts.add("least_good", min(good, default=np.nan), "runs", "least such width")
    facts.add("most_good", max(good, default=np.nan), "runs", "largest such width")
    ends = first[first["s"].isin([min(chains), max(chains)])].set_index(["s", "beta"])["clusters"]
    facts.add("narrow", min(chains), "runs", "narrowest width")
    facts.add("wide", max(chains), "runs", "widest width")
    facts.add("narrow_places", ends[min(chains), 0], "runs", "places at β = 0 and the narrowest width")
    facts.add("wide_places", ends[max(chains), 1], "runs", "places at β = 1 and the widest width")
    outcome = grade(len(good) == len(chains), good)
    span = "from {least_good} to {most_good}" if len(good) > 1 else "of {least_good}"
    return Verdict(
        "Point, modes, principal curves and data stand at β = 0, 1, 3 and ∞",
        _SOURCE,
        "at {good_widths:.0f} of {widths:.0f} widths; β = 0 leaves {narrow_places:.0f} places at s = {narrow}, "
        "β = 1 leaves {wide_places:.0f} at s = {wide}",
        outcome,
        f"for widths {span}: choose s from the data" if outcome == "conditional" else "",
    )


def _chain(group: Any) -> bool:
    """Whether one point, several modes, points along the lines and the data follow each other."""
    at = group.set_index("beta")
    curve, data = at.loc[3], at.loc[_LARGEST]
    along = curve["distance"] <= _NEAR_CURVE * curve["data_distance"] and curve["covered"] >= _COVERED
    counts = at["clusters"]
    return bool(counts[0] == 1 < counts[1] < counts[3] and along and data["clusters"] >= _ALL * data["apart"])


def _silverman(runs: Any, facts: Facts) -> Verdict:
    ruled = where(runs, width="silverman")
    chains = [_chain(group) for _, group in ruled.groupby("sample")]
    facts.add("rule", ruled["s"].mean(), "runs", "mean of Silverman's widths")
    facts.add("rule_sets", len(chains), "runs", "data sets run at Silverman's width")
    facts.add("rule_good", sum(chains), "runs", "those on which all four regimes follow each other")
    return Verdict(
        "Silverman's rule gives a width at which the four regimes appear",
        "graphpri",
        "s = {rule:.3f}: on {rule_good:.0f} of {rule_sets:.0f} data sets",
        grade(all(chains), any(chains)),
        "on some data sets" if any(chains) and not all(chains) else "",
    )


def _never_rises(frames: Frames, facts: Facts) -> Verdict:
    runs, steps = frames["runs"], frames["steps"]
    facts.add("damped", max(runs["rise"].max(), steps["damped_rise"].max()), "runs", "largest rise of J in a step")
    facts.add("step_count", runs["steps"].sum(), "runs", "steps of all runs")
    facts.add("run_count", len(runs), "runs", "runs")
    return Verdict(
        "The damped fixed point and the quasi-Newton steps after it never raise J, at any β",
        "graphpri",
        "largest change of J in one of {step_count:.0f} steps of {run_count:.0f} runs: {damped:.1e}",
        grade(facts["damped"] <= 0),
    )


def _undamped(steps: Any, facts: Facts) -> Verdict:
    worse = (~steps["plain_finite"].astype(bool)) | (steps["plain_rise"] > 1e-12)
    between = (steps["beta"] > 0) & (steps["beta"] < 1)
    facts.add("between", between.sum(), "steps", "runs of the plain fixed point at 0 < β < 1")
    facts.add("between_worse", (worse & between).sum(), "steps", "those that raise J or overflow")
    facts.add("outside", (~between).sum(), "steps", "runs of the plain fixed point at β = 0 and β ≥ 1")
    facts.add("outside_worse", (worse & ~between).sum(), "steps", "those that raise J or overflow")
    return Verdict(
        "Started at the data, the fixed point is safe without damping at β = 0 and β ≥ 1 only",
        "graphpri",
        "J rises or overflows in {between_worse:.0f} of {between:.0f} runs at 0 < β < 1, and in {outside_worse:.0f} of "
        "{outside:.0f} others",
        grade(facts["between_worse"] and not facts["outside_worse"]),
    )


def _polished(runs: Any, facts: Facts) -> Verdict:
    from graphpri.apps.scalar import ROUNDING

    small = runs[runs["beta"] <= 1e-6 / ROUNDING]
    facts.add("polished", small["gradient"].max(), "runs", "largest |∂J/∂x| per width of the window, at β ≤ 100")
    facts.add("rest", runs["gradient"].max(), "runs", "largest |∂J/∂x| per width at any β")
    return Verdict(
        "Minima are found to |∂J/∂x| ≤ 10⁻⁶ per width of the window",
        "graphpri",
        "at most {polished:.1e} up to β = 100; {rest:.1e} at the largest β, where rounding in J hides more",
        grade(facts["polished"] <= 1e-6),
    )


def _annealed(runs: Any, facts: Facts) -> Verdict:
    given = where(runs, width="given")
    key = ["sample", "s", "beta"]
    both = where(given, start="path").merge(where(given, start="data"), on=key, suffixes=("", "_data"))
    gain = both["J_data"] - both["J"]
    lower, higher = int((gain > 1e-6).sum()), int((gain < -1e-6).sum())
    facts.add("pairs", len(both), "runs", "pairs of runs that start at the data, and at the next larger β")
    facts.add("lower", lower, "runs", "those that end lower by more than 10⁻⁶ from the next larger β")
    facts.add("higher", higher, "runs", "those that end higher by more than 10⁻⁶ from the next larger β")
    facts.add("best_gain", gain.max(), "runs", "largest gain")
    facts.add("worst_gain", gain.min(), "runs", "largest loss, as a negative gain")
    return Verdict(
        "Starts from the solution of the next larger β end no higher than starts from the data",
        "graphpri",
        "lower in {lower:.0f} and higher in {higher:.0f} of {pairs:.0f} pairs; J differs by {worst_gain:.2g} to "
        "{best_gain:.2g}",
        grade(not higher, lower > higher),
        "in most pairs" if higher and lower > higher else "",
    )


# Pictures


def draw(frames: Frames) -> list[Picture]:
    """The paper's six panels; then what the width of the window does."""
    return [_figure(frames), _widths(frames)]


def _figure(frames: Frames) -> Picture:
    from graphpri.apps.scalar import draw_points

    figure, axes = panels(2, 3, height=2.1, sharex=True, sharey=True)
    data, points, runs = frames["data"], frames["points"], frames["runs"]
    samples = data[["x", "y"]].to_numpy()
    first = where(runs, sample=0, start="data", s=_WIDTH)
    for letter, ax, beta in zip("abcdef", axes.flat, (None, *FIGURE), strict=True):
        at = None if beta is None else where(points, beta=beta)[["x", "y"]].to_numpy()
        draw_points(samples, at, ax, size=7)
        if beta is None:
            ax.set_title(f"({letter}) data, {len(samples)} samples")
        else:
            count = int(where(first, beta=beta)["clusters"].iloc[0])
            ax.set_title(f"({letter}) β = {beta}: {count} place{'s' * (count != 1)}")
    for ax in axes[1]:
        ax.set_xlabel("x")
    for ax in axes[:, 0]:
        ax.set_ylabel("y")
    legend_below(figure, axes[0, 1], 2)
    caption = (
        "Points of the scalar PRI on two crossing segments with noise 0.05 (standard deviation), windows of width 0.2. "
        "Points within 0.05 widths of each other count as one place."
    )
    return Picture("scalar-pri", figure, caption)


def _widths(frames: Frames) -> Picture:
    figure, axes = panels(1, 2, height=2.2)
    runs = frames["runs"]
    first = where(runs, sample=0, start="data", width="given")
    for i, (s, group) in enumerate(first.sort_values(["s", "beta"]).groupby("s")):
        curve(axes[0, 0], group["beta"], group["clusters"] / group["n"], i, f"s = {s:g}")
        curve(axes[0, 1], group["beta"], group["distance"] / group["data_distance"], i, f"s = {s:g}")
    for ax in axes[0]:
        ax.set_xscale("symlog", linthresh=1)
        ax.set_yscale("log")
        ax.set_xlabel("β")
    axes[0, 0].set_ylabel("distinct places / samples")
    axes[0, 1].set_ylabel("distance from lines / data's")
    legend_below(figure, axes[0, 0], 5)
    caption = (
        "The same points for windows of different widths s: the number of distinct places, and the points' root mean "
        "square distance from the true segments over that of the data. One sample; β is on a linear scale up to 1."
    )
    return Picture("scalar-pri-widths", figure, caption)
