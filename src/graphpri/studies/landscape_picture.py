"""One picture: methods by measures, mean ranks in grey with their numbers."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from graphpri.studies.figures import PAGE, panels
from graphpri.studies.landscape_ranks import PURPOSES, named
from graphpri.studies.study import Frames, Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW = 0.142
_SHORT = {
    "divergence": "divergence D",
    "quadratic_error": "quadratic form",
    "eigenvalue_error": "eigenvalues",
    "spectral_distance": "distance $d_x$",
    "flow_ratio": "max flow",
    "components": "components",
    "connected_pairs": "connected pairs",
    "cut_off": "nodes cut off",
    "kept_distances": "distances",
    "betweenness_rank": "betweenness",
    "closeness_rank": "closeness",
    "eigenvector_rank": "eigenvector",
    "pagerank_rank": "PageRank",
    "degree_shape_ks": "degree shape",
    "degree_rank": "degree order",
    "clustering": "clustering",
    "community_nmi": "community NMI",
    "community_ari": "community ARI",
    "centralisation": "centralisation",
    "entropy": "low entropy S",
}


def draw(frames: Frames) -> list[Picture]:
    """Methods without connectivity above, with it below."""
    table = frames["ranks"]
    table = table.assign(beta=table["beta"].fillna(-1))
    blocks = [_sorted(table[table["connected"] == joined]) for joined in (False, True)]
    sizes = [len(block) for block in blocks]
    figure, axes = panels(2, 1, width=PAGE, height=_ROW * sum(sizes) / 2 + 0.55, height_ratios=sizes)
    for ax, block, title in zip(axes[:, 0], blocks, ("edges chosen freely", "connected=True"), strict=True):
        _block(ax, block)
        ax.set_title(title, loc="left", pad=3)
    axes[0, 0].set_xticklabels([])
    return [
        Picture(
            "landscape",
            figure,
            "How well each method keeps each property: the share of all other methods and settings that do better, in "
            "percent, on average over keep ratios and real graphs (0: the best of all), with and without connectivity. "
            "Darker is better. Vertical lines separate purposes; other methods stand in the order of their mean.",
        )
    ]


def _sorted(block: Any) -> Any:
    """Other methods by their mean over all measures, then Graph-PRI by β."""
    measures = [name for kinds in PURPOSES.values() for name in kinds if name in block]
    block = block.assign(mean=block[measures].mean(axis=1), way=[named(way) for way in _ways(block)])
    ours = block["method"] == "pri"
    both = block[~ours].sort_values("mean"), block[ours].sort_values("beta")
    names = {way: way.removesuffix(", connected") for way in block["way"]}
    records = [record for part in both for record in part.to_dict("records")]
    return type(block)(records).set_index("way")[measures].rename(names)


def _ways(block: Any) -> list[tuple[str, float, bool]]:
    return [(row.method, row.beta, row.connected) for row in block.itertuples()]


def _block(ax: Axes, block: Any) -> None:
    values = block.to_numpy(float)
    ax.imshow(values, cmap="gray", vmin=-40, vmax=110, aspect="auto")
    for i, j in product(*map(range, values.shape)):
        shade, text = ("w" if values[i, j] < 30 else "k"), f"{values[i, j]:.0f}"
        ax.text(j, i, text, ha="center", va="center", fontsize=5, color=shade)
    labels = [_SHORT[name] for name in block.columns]
    ax.set_yticks(range(len(block)), block.index, fontsize=5.5)
    ax.set_xticks(range(len(labels)), labels, rotation=60, ha="right", fontsize=5.5)
    ax.tick_params(length=0, pad=2)
    end = -0.5
    for kinds in PURPOSES.values():
        end += sum(name in block for name in kinds)
        ax.axvline(end, color="w", linewidth=1.5)
    ax.axhline(sum("β" not in way for way in block.index) - 0.5, color="w", linewidth=1.5)
    ax.spines[:].set_visible(False)
