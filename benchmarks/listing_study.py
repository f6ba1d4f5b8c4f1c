"""What the paper's code listing ends with on karate at β = 1000, as printed and with the sign of the gradient mended.

The listing takes `abs()` of the eigenvalues, and its gradient then has the wrong sign at those that rounding puts below
zero. Written afresh from the formulas of the appendix in NumPy: the gradient is what autograd gives there.
"""

from __future__ import annotations

import argparse

import numpy as np

import graphpri
from graphpri import datasets
from graphpri.graph import FloatArray

BETA, SAMPLES, RATE, FLOOR = 1000.0, 3, 1e-2, 1e-12


def edge_slopes(matrices: FloatArray, incidence: FloatArray, verbatim: bool) -> FloatArray:
    """Derivative of the entropy of K / tr K by the weight of each edge in K, shapes (B, N, N) to (B, M)."""
    trace = np.trace(matrices, axis1=1, axis2=2)[:, None]
    lam, vectors = np.linalg.eigh(matrices / trace[:, :, None])
    if verbatim:
        size = np.abs(lam)
        log = np.log(size + 1e-20) + size / (size + 1e-20)
        slope = np.where(size > 0, -np.sign(lam) * log, 0.0)
    else:
        slope = -np.log(np.maximum(lam, FLOOR)) - 1
    squares = np.einsum("bni,nm->bim", vectors, incidence) ** 2
    return (np.einsum("bi,bim->bm", slope, squares) - 2 * (slope * lam).sum(axis=1)[:, None]) / trace


def run(mixture: str, verbatim: bool, seed: int, steps: tuple[int, ...]) -> dict[int, int]:
    """Edges of the most probable subset after some steps of Algorithm 1 with the listing's loss."""
    graph, rng = graphpri.as_graph(datasets.load("karate"), weight=None), np.random.default_rng(seed)
    m = graph.n_edges
    incidence = np.zeros((graph.n_nodes, m))
    incidence[graph.source, np.arange(m)], incidence[graph.target, np.arange(m)] = -1, 1
    original = incidence @ incidence.T
    logits = rng.normal(size=m) - rng.normal(size=m)  # of two classes, each its own parameter
    mean, square, found = np.zeros(m), np.zeros(m), {}
    for step in range(1, max(steps) + 1):
        soft = 1 / (1 + np.exp(-np.clip(logits + rng.logistic(size=(SAMPLES, m)), -500, 500)))
        hard = (soft > 0.5).astype(float)
        kept = np.einsum("nm,bm,km->bnk", incidence, hard, incidence)
        trace = 2 * hard.sum(axis=1)
        if mixture == "listing":
            mixed = 0.5 * edge_slopes(0.5 * (kept + original), incidence, verbatim)
        else:
            both = 0.5 * (kept / trace[:, None, None] + original / (2 * m))
            mixed = 0.5 * edge_slopes(both, incidence, verbatim) / trace[:, None]
            mixed -= 2 * (mixed * hard).sum(axis=1)[:, None] / trace[:, None]
        slope = 0.5 * (1 - BETA) / BETA * edge_slopes(kept, incidence, verbatim) + mixed
        slope = (slope * soft * (1 - soft)).mean(axis=0)
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2  # Adam
        move = mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
        logits -= 2 * RATE * move  # both parameters move
        if step in steps:
            found[step] = int((logits > 0).sum())
    return found


def main() -> None:
    """Print the edges of both, over seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    for seed in range(parser.parse_args().seeds):
        print(f"seed {seed}: as printed {run('listing', True, seed, (2000, 10_000))}", flush=True)
        for mixture in ("listing", "equation"):
            print(f"seed {seed}: sign mended, {mixture} {run(mixture, False, seed, (1000, 2000))}", flush=True)


if __name__ == "__main__":
    main()
