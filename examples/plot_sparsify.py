"""
Les Misérables: sparsify a weighted graph
=========================================

Two characters of Victor Hugo's novel are joined where they appear in the same chapter; the weight says in how many.
The graph comes with networkx. Three in ten of its edges are kept, and a report says what that does to it.
"""

import matplotlib.pyplot as plt
import networkx as nx

import graphpri

novel = nx.les_miserables_graph()
result = graphpri.sparsify(novel, keep=0.3)
print(result)

# %%
# What comes back is a graph of the type that went in, with the attributes of its nodes and edges.

kept = result.graph
print(type(kept).__name__, kept.number_of_nodes(), "characters,", kept.number_of_edges(), "pairs")
heaviest = max(kept.edges(data="weight"), key=lambda edge: edge[2])
print("together most often: {} and {}, in {} chapters".format(*heaviest))

# %%
# The picture draws the kept edges over the dropped ones. Nodes stand where the whole graph puts them.

fig, ax = plt.subplots(figsize=(7, 6), layout="constrained")
graphpri.plot.graph(novel, result, ax=ax)
plt.show()

# %%
# β decides which edges a budget keeps: those among few characters, or those that make the rest most like the novel.

fig, axes = plt.subplots(1, 3, figsize=(11, 4), layout="constrained")
for ax, beta in zip(axes, (0.5, 4, 50), strict=True):
    found = graphpri.sparsify(novel, keep=0.3, beta=beta)
    graphpri.plot.graph(novel, found, ax=ax)
    ax.set_title(f"β = {beta}: S = {found.entropy:.2f}, D = {found.divergence:.3f}")
plt.show()

# %%
# Measures of the original beside those of what was kept; ``measures="all"`` adds those that cost more.

print(graphpri.report(novel, result, measures=["entropy", "divergence", "components", "clustering", "degree_rank"]))
