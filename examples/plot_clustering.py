"""
A step before spectral clustering
=================================

:class:`graphpri.GraphPRI` takes an adjacency or affinity matrix and gives one of the same type with fewer entries. It
stands in a scikit-learn pipeline before anything with ``affinity="precomputed"``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

import graphpri

graph = graphpri.datasets.stochastic_block_model(seed=3)
A = graph.adjacency()
truth = np.repeat(np.arange(4), 30)
print(f"{graph.n_nodes} nodes in four groups, {graph.n_edges} edges")

# %%
# Small β gathers edges where there are many, which cuts across groups; before a clustering take a large one.

clustering = SpectralClustering(4, affinity="precomputed", assign_labels="cluster_qr", random_state=0)
pipeline = make_pipeline(graphpri.GraphPRI(beta=50, connected=True), clustering)
for keep in (1.0, 0.7, 0.5, 0.4):
    pipeline.set_params(graphpri__keep=keep)
    agreement = adjusted_rand_score(truth, pipeline.fit_predict(A))
    print(f"keep {keep:.0%}: agreement with the groups that the graph was drawn from {agreement:.3f} of 1")

# %%
# ``get_support`` says which edges are kept, as feature selectors do for columns.

kept = pipeline[0]
print(kept.get_support().sum(), "of", kept.edges_.shape[0], "edges; the first:", *kept.edges_[kept.get_support()][:3])

# %%
# The matrix before and after, rows in the order of the groups.

fig, axes = plt.subplots(1, 2, figsize=(9, 4.5), layout="constrained")
for ax, matrix, title in zip(axes, (A, kept.transform(A)), ("all edges", "40 % kept"), strict=True):
    ax.spy(matrix, markersize=1.5)
    ax.set_title(title)
plt.show()
