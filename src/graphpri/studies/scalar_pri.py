"""The appendix's figure: the scalar PRI on two crossing segments, from a single point to the data."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from graphpri.apps.parzen import Cloud, evaluate
from graphpri.apps.scalar import NEAR, ScalarPRI, draw_points
from graphpri.apps.scalar_solve import clusters, descend
from graphpri.graph import FloatArray
from graphpri.studies.figures import curve, legend_below, panels
from graphpri.studies.scalar_verdicts import FIGURE, judge, summary
from graphpri.studies.study import Cell, Frames, Picture, Study, Tables, generator

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
    data = crossing(cell["n"], seed, cell["sample"])
    if cell["start"] == "steps":
        return {"steps": [_steps(data, cell["width"], beta, cell["steps"]) for beta in _STEP_BETAS]}
    model = ScalarPRI(bandwidth=cell["width"])
    with warnings.catch_warnings():
        # Whether a fit has converged stands in its row.
        warnings.simplefilter("ignore")
        betas = cell["betas"]
        fits = model.path(data, betas) if cell["start"] == "path" else [_fit(model, data, beta) for beta in betas]
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


def _fit(model: ScalarPRI, data: FloatArray, beta: float) -> ScalarPRI:
    return ScalarPRI(beta, model.bandwidth).fit(data)


def _places(head: dict[str, Any], points: FloatArray) -> list[dict[str, Any]]:
    return [{**head, "x": float(x), "y": float(y)} for x, y in points]


def _row(cell: Cell, data: FloatArray, fit: ScalarPRI) -> dict[str, Any]:
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
    here, found = data, [evaluate(data, data, beta).objective]
    with np.errstate(all="ignore"):
        for _ in range(count):
            state = evaluate(here, data, beta)
            own, theirs = here.pull(here.points), data.pull(here.points)
            if beta:
                across = (data.log_information - state.entropy - state.divergence) / 2
                ratio = np.exp(own.log_density + state.entropy - theirs.log_density + across)[:, None]
                target = theirs.mean + (1 - beta) / beta * ratio * (own.mean - here.points)
            else:
                target = own.mean
            if not np.isfinite(target).all():
                return np.array([*found, np.nan])
            here = here.moved(target)
            found.append(evaluate(here, data, beta).objective)
    return np.array(found)


def draw(frames: Frames) -> list[Picture]:
    """The paper's six panels; then what the width of the window does."""
    return [_figure(frames), _widths(frames)]


def _figure(frames: Frames) -> Picture:
    figure, axes = panels(2, 3, height=2.1, sharex=True, sharey=True)
    data, points, runs = frames["data"], frames["points"], frames["runs"]
    samples = data[["x", "y"]].to_numpy()
    shown = runs[(runs["sample"] == 0) & (runs["start"] == "data") & (runs["s"] == _WIDTH)]
    for letter, ax, beta in zip("abcdef", axes.flat, (None, *FIGURE), strict=True):
        at = None if beta is None else points[points["beta"] == beta][["x", "y"]].to_numpy()
        draw_points(samples, at, ax, size=7)
        if beta is None:
            ax.set_title(f"({letter}) data, {len(samples)} samples")
        else:
            count = int(shown[shown["beta"] == beta]["clusters"].iloc[0])
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
    shown = runs[(runs["sample"] == 0) & (runs["start"] == "data") & (runs["width"] == "given")]
    for i, (s, group) in enumerate(shown.sort_values(["s", "beta"]).groupby("s")):
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


STUDIES = (
    Study(
        name="scalar-pri",
        title="Scalar PRI: from a single point to the data",
        source="Appendix, Figure org_pri",
        about=(
            "Samples of two crossing segments with noise; points start at the samples, or at the solution of the next "
            "larger β, and go down J = H₂ + β D_cs to a local minimum, for windows of several widths."
        ),
        cells=cells,
        work=work,
        judge=judge,
        draw=draw,
        derive=summary,
    ),
)
