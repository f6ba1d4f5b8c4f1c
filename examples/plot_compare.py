"""
Compare methods at the same budgets
===================================

One call sparsifies a graph by several methods, each to exactly the same number of edges, and measures what is left. The
graph is Zachary's karate club, 78 friendships, which comes with networkx.
"""

import matplotlib.pyplot as plt
import networkx as nx

import graphpri

karate = nx.karate_club_graph()
methods = ["pri", "local-degree", "local-similarity", "effective-resistance", "random"]
measures = ["divergence", "spectral_distance", "components", "degree_rank"]
table = graphpri.compare(karate, methods, [0.2, 0.4, 0.6, 0.8], measures=measures)
print(table)

# %%
# The table knows which end of a measure is the good one.

for measure in ("divergence", "components", "degree_rank"):
    print(f"{measure:12} at 40 %: {table.best(measure, keep=0.4)['method']}")

# %%
# A line for each method. With several seeds, a band spans the values.

drawn = graphpri.compare(karate, methods, [0.2, 0.4, 0.6, 0.8], seeds=range(5), measures=measures, effort="fast")
fig, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
for ax, measure in zip(axes, ("divergence", "components"), strict=True):
    graphpri.plot.compare(drawn, ax=ax, measure=measure)
plt.show()

# %%
# Options of one method go with its name, and ``to_csv`` and ``to_pandas`` take the rows elsewhere.

pairs = [("pri", {"beta": beta}) for beta in (1, 4, 16)] + [("local-degree", {"exponent": 0.5})]
print(graphpri.compare(karate, pairs, 0.5, measures=["entropy", "divergence", "centralisation"]))
