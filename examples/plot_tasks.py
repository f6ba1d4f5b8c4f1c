"""
Many regressions over a sparsified graph of tasks
=================================================

Twenty tasks in two groups have few rows each. A graph over the tasks draws the coefficients of neighbours together, and
is then pruned by Graph-PRI. Data are the synthetic ones of the paper, so that the true coefficients are known.
"""

import matplotlib.pyplot as plt
import numpy as np

import graphpri
from graphpri.apps.mtl import GraphMTL
from graphpri.apps.mtl_data import as_lists, synthetic

drawn = synthetic(seed=0, n=40)
X, y = as_lists(drawn.tasks)
print(len(X), "tasks,", X[0].shape[0], "rows and", X[0].shape[1], "columns each")


def error(model):
    """Mean square of what is wrong in the coefficients."""
    return float(np.mean((model.coef_ - drawn.coefficients) ** 2))


# %%
# Each task on its own, and all of them over the graph of nearest coefficients. γ is chosen by the exact leave-one-out
# error.

alone = GraphMTL(gamma=0.0).fit(X, y)
whole = GraphMTL(gamma="loo", edge_weights="similarity").fit(X, y)
print(f"alone {error(alone):.4f}, over {whole.graph_.n_edges} edges {error(whole):.4f}")

# %%
# The same with fewer edges: every task keeps three neighbours at least, and γ is chosen again.

shares = (0.8, 0.6, 0.5, 0.4)
pruned = {share: whole.sparsify_tasks(share) for share in shares}
for share, model in pruned.items():
    print(f"{share:.0%}: {model.graph_.n_edges} edges, γ = {model.gamma_:.3g}, error {error(model):.4f}")

# %%
# Edges between the two groups draw together what is not alike. How many of them are left, and the graph at 40 %:

fig, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
across = {
    share: float(np.mean(drawn.groups[model.graph_.source] != drawn.groups[model.graph_.target]))
    for share, model in {1.0: whole, **pruned}.items()
}
print({f"{share:.0%}": round(value, 3) for share, value in across.items()})
axes[0].plot(list(across), list(across.values()), marker="o")
axes[0].set_xlabel("share of edges kept")
axes[0].set_ylabel("share of them between the groups")
axes[0].set_ylim(bottom=0)
graphpri.plot.graph(whole.graph_, pruned[0.4].graph_, ax=axes[1])
plt.show()
