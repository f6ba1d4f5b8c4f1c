"""Gates between 0 and 1 on the edges of a graph, learnt by any training loop."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, cast, get_args

import numpy as np
import torch
from torch import Tensor, nn

from graphpri._arguments import checked, count, real, switch, whole
from graphpri._runtime import compiled, in_chunks, read_only
from graphpri._selection import NOISE, count_edges, smallest
from graphpri.errors import GraphError, OptionError
from graphpri.graph import FloatArray, IntArray
from graphpri.torch.entropy import EdgeLists, Structures, check_dense, check_floats, torch_threads

Mode = Literal["gumbel", "concrete", "sigmoid"]
Schedule = Callable[[int], float]

LOW, HIGH = -0.1, 1.1
"""What "concrete" stretches the gates to before it clips them to [0, 1]."""

_TINY = 1e-6  # keeps ln u and ln(1 − u) of the noise finite in float32


@checked
@dataclass(frozen=True)
class Anneal:
    """Temperature that falls (or rises) from `start` to `end` in `steps` steps, and stays.

    Parameters
    ----------
    start, end : float
        Temperatures above 0.
    steps : int
        Steps in between, 1 or more.
    shape : {"exponential", "linear"}
        Equal ratios, or equal differences.

    Raises
    ------
    OptionError
        For values out of range.

    Examples
    --------
    >>> from graphpri.torch import Anneal
    >>> anneal = Anneal(2.0, 0.5, steps=10)
    >>> [round(anneal(step), 3) for step in (0, 5, 10, 100)]
    [2.0, 1.0, 0.5, 0.5]
    """

    start: float = 1.0
    end: float = 0.1
    steps: int = 100
    shape: Literal["exponential", "linear"] = "exponential"

    def __post_init__(self) -> None:
        for name in ("start", "end"):
            real(name, getattr(self, name), above=True)
        whole("steps", self.steps, 1)
        if self.shape not in ("exponential", "linear"):
            raise OptionError(f"shape={self.shape!r}: choose 'exponential' or 'linear'")

    def __call__(self, step: int) -> float:
        """Temperature at a step, counted from 0."""
        share = min(max(step / self.steps, 0.0), 1.0)
        if self.shape == "linear":
            return self.start + share * (self.end - self.start)
        return self.start * (self.end / self.start) ** share


class Gate(nn.Module):
    """What gates share: their mode, temperature and noise; numbers θ become gates by :meth:`_opened`."""

    def __init__(self, mode: Mode, hard: bool, temperature: float | Schedule, unit_mean: bool) -> None:
        super().__init__()
        if mode not in get_args(Mode):
            raise OptionError(f"mode={mode!r}: choose from {', '.join(map(repr, get_args(Mode)))}")
        self.mode, self.hard, self.unit_mean = mode, switch("hard", hard), switch("unit_mean", unit_mean)
        if not callable(temperature):
            temperature = Anneal(real("temperature", temperature, above=True), temperature, 1)
        self.schedule: Schedule = temperature
        self.steps, self._columns = 0, 0

    @property
    def temperature(self) -> float:
        """Temperature τ at the present step."""
        value = self.schedule(self.steps)
        if not isinstance(value, Real | Tensor) or not 0 < value < math.inf:
            raise OptionError(f"temperature={value!r} at step {self.steps} must be a number above 0")
        return value

    def step(self) -> None:
        """Go on to the next temperature; the count is part of the ``state_dict``."""
        self.steps += 1

    def get_extra_state(self) -> dict[str, int]:
        """The number of steps and, of a gate on an edge list, what tells it from others, for the ``state_dict``."""
        return {"steps": self.steps, "columns": self._columns}

    def set_extra_state(self, state: Any) -> None:
        """Take the number of steps from a ``state_dict``; refuse one of a gate on other edges."""
        if state.get("columns", self._columns) != self._columns:
            raise OptionError(
                "the state is that of a gate on other edges, or on the same ones in another order of the columns: make "
                "the gate by for_edges with the edge_index that it was saved for"
            )
        self.steps = int(state["steps"])

    def _noisy(self, theta: Tensor, generator: torch.Generator | None) -> Tensor:
        """Numbers θ with logistic noise in training; as they are in evaluation, and for mode "sigmoid"."""
        if not self.training or self.mode == "sigmoid":
            return theta
        device = theta.device if generator is None else generator.device
        u = torch.rand(theta.shape, generator=generator, device=device, dtype=theta.dtype).to(theta.device)
        return theta + torch.logit(u, _TINY)

    def _opened(self, theta: Tensor, chosen: Tensor | None = None) -> Tensor:
        """Gates of numbers θ with their noise; hard ones are open where `chosen`, and above 0 where it is absent."""
        soft = torch.sigmoid(theta / (self.temperature if self.training or self.mode != "concrete" else 1.0))
        if self.mode == "concrete":
            soft = (soft * (HIGH - LOW) + LOW).clamp(0, 1)
        if self.hard:
            soft = (theta > 0 if chosen is None else chosen).to(soft.dtype) + (soft - soft.detach())
        return soft

    def _chances(self, theta: Tensor) -> Tensor:
        """Probabilities that gates of numbers θ are open; of mode "sigmoid", their values."""
        if self.mode == "sigmoid":
            return torch.sigmoid(theta / self.temperature)
        if self.mode == "concrete" and not self.hard:
            return torch.sigmoid(theta - self.temperature * math.log(-LOW / HIGH))
        return torch.sigmoid(theta)


@checked
class EdgeGate(Gate):
    """A learnable gate on every edge.

    In training the gates are random (but for mode "sigmoid"); in evaluation they are those of no noise, the same in
    every call. Calling the module gives the gates: one per edge, or, made by :meth:`for_edges`, one per column of an
    ``edge_index``, or, made by :meth:`for_nodes`, a symmetric matrix with a zero diagonal.

    Parameters
    ----------
    num_edges : int
        Undirected edges M.
    mode : {"gumbel", "concrete", "sigmoid"}
        "gumbel" is the paper's relaxed Bernoulli variable, σ((θ + logistic noise)/τ), which is Gumbel-softmax with
        two classes. "concrete" stretches it to [−0.1, 1.1] and clips it (hard concrete), so that soft gates are
        exactly 0 and 1 with positive probability. "sigmoid" is σ(θ/τ), without noise.
    hard : bool
        Give 0 or 1, with the gradient of the soft gate (straight-through).
    temperature : float or callable
        τ > 0, or a schedule such as :class:`Anneal` from the number of calls of :meth:`step` to τ.
    size : float
        Weight of :meth:`penalty`.
    init : float or Tensor, shape (M,)
        Probability at the start, in (0, 1); σ(θ) of every edge.
    unit_mean : bool
        Divide the gates by their mean, so that gates that are all alike are weights of 1, and only how they differ has
        a say. Layers that add self-loops of weight 1, as ``GCNConv`` does, see the scale of other gates: gates of ½
        throughout give a node's own features more weight. Gates may then lie above 1; all closed, they stay 0.

    Attributes
    ----------
    logits : Parameter, shape (M,)
        θ. Its order of the edges is that of the first columns of each edge for :meth:`for_edges`, and of the upper
        triangle, row by row, for :meth:`for_nodes`.

    Raises
    ------
    OptionError
        For values out of range.

    Notes
    -----
    Yu et al., UAI 2022, Algorithm 1; Maddison et al., "The Concrete Distribution", ICLR 2017; Louizos et al.,
    "Learning Sparse Neural Networks through L0 Regularization", ICLR 2018.

    Examples
    --------
    >>> import torch
    >>> from graphpri.torch import EdgeGate
    >>> gate = EdgeGate.for_edges(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), hard=True)
    >>> gate(generator=torch.Generator().manual_seed(1)).tolist()
    [1.0, 1.0, 0.0, 0.0]
    >>> gate.keep(1).tolist()
    [True, True, False, False]
    """

    logits: nn.Parameter
    _column_edge: Tensor | None
    _pairs: Tensor | None

    def __init__(
        self,
        num_edges: int,
        mode: Mode = "gumbel",
        *,
        hard: bool = False,
        temperature: float | Schedule = 1.0,
        size: float = 0.0,
        init: float | Tensor = 0.5,
        unit_mean: bool = False,
    ) -> None:
        num_edges = count("num_edges", num_edges, 1)
        super().__init__(mode, hard, temperature, unit_mean)
        self.num_edges, self.size = num_edges, real("size", size)
        self.n_nodes = 0
        self.logits = nn.Parameter(_starting_logits(init, num_edges))
        self.register_buffer("_column_edge", None)
        self.register_buffer("_pairs", None)

    @classmethod
    def for_edges(cls, edge_index: Tensor, mode: Mode = "gumbel", **options: Any) -> EdgeGate:
        """A gate per undirected edge of a PyG edge list, shared by both orientations.

        Parameters
        ----------
        edge_index : Tensor of int64, shape (2, E)
            Both orientations of every edge.
        mode, **options
            As in :class:`EdgeGate`.

        Raises
        ------
        GraphError
            For a list with loops, repeated edges or edges in one orientation only.
        """
        member = EdgeLists.read(edge_index, None, None).member
        count = edge_index.shape[1] // 2
        # Number the edges by their first columns, which is the order in which users see them.
        first = torch.full((count,), edge_index.shape[1], device=edge_index.device)
        first = first.scatter_reduce(0, member, torch.arange(edge_index.shape[1], device=edge_index.device), "amin")
        gate = cls(count, mode, **options).to(edge_index.device)
        gate._column_edge = torch.argsort(torch.argsort(first))[member]
        gate._columns = _digest(edge_index)
        return gate

    @classmethod
    def for_nodes(
        cls, n_nodes: int, mode: Mode = "gumbel", *, candidates: Tensor | None = None, **options: Any
    ) -> EdgeGate:
        """A gate per pair of nodes, as a symmetric matrix that all graphs on these nodes share.

        Parameters
        ----------
        n_nodes : int
        mode, **options
            As in :class:`EdgeGate`.
        candidates : Tensor of bool, shape (N, N), optional
            Pairs that have a gate, in either triangle; the others are 0 throughout. All pairs where absent.

        Raises
        ------
        GraphError
            For candidates of another shape or dtype, and where none is a pair of two nodes.
        OptionError
            For fewer than two nodes.
        """
        n_nodes = count("n_nodes", n_nodes, 2)
        if candidates is not None:
            check_dense(candidates, "candidates")
        everything = torch.ones(n_nodes, n_nodes, dtype=torch.bool) if candidates is None else candidates
        if everything.shape != (n_nodes, n_nodes) or everything.dtype != torch.bool:
            found, dtype = tuple(everything.shape), everything.dtype
            raise GraphError(f"candidates is {dtype} of shape {found}: it must be bool of ({n_nodes}, {n_nodes})")
        pairs = (everything | everything.mT).triu(1).nonzero().T.contiguous()
        if not pairs.numel():
            raise GraphError("candidates has no True off the diagonal: no pair of nodes would have a gate")
        gate = cls(pairs.shape[1], mode, **options).to(everything.device)
        gate.n_nodes, gate._pairs = n_nodes, pairs
        return gate

    @checked
    def forward(self, samples: int | None = None, *, generator: torch.Generator | None = None) -> Tensor:
        """The gates.

        Parameters
        ----------
        samples : int, optional
            Number of independent draws; without it one draw, and no axis for it.
        generator : torch.Generator, optional
            Source of the noise, on its own device: a generator on the CPU gives the same noise on every device.

        Returns
        -------
        Tensor, shape (M,), (E,) or (N, N), behind `samples` where given
            In [0, 1]; 0 or 1 where `hard`. Divided by the mean of a draw where `unit_mean`.
        """
        shape = self.logits.shape if samples is None else (count("samples", samples), self.num_edges)
        gates = self._opened(self._noisy(self.logits.expand(shape), generator))
        return self.spread(_over_mean(gates, gates.mean(-1, keepdim=True)) if self.unit_mean else gates)

    def spread(self, values: Tensor) -> Tensor:
        """Values per edge in the shape of the gates.

        Parameters
        ----------
        values : Tensor, shape (..., M)
            Of any dtype, such as :meth:`probabilities` or :meth:`top_k`.

        Returns
        -------
        Tensor, shape (..., M), (..., E) or (..., N, N)
        """
        given: Any = values
        if not isinstance(given, Tensor) or given.shape[-1:] != (self.num_edges,):
            is_tensor = isinstance(given, Tensor)
            found = f"have the shape {tuple(given.shape)}" if is_tensor else f"are a {type(given).__name__}"
            raise OptionError(f"values {found}: give a tensor with one per edge, (..., {self.num_edges})")
        if self._column_edge is not None:
            return values.index_select(-1, self._column_edge)  # whose gradient is faster than that of [...]
        if self._pairs is None:
            return values
        n, (u, v) = self.n_nodes, self._pairs
        flat = values.new_zeros(*values.shape[:-1], n * n).index_copy(-1, u * n + v, values)
        return flat.index_copy(-1, v * n + u, values).unflatten(-1, (n, n))

    def probabilities(self) -> Tensor:
        """Probability that a gate is open, shape (M,); of a gate in mode "sigmoid", its value.

        Open means above 0 for soft "concrete" gates, and above ½ otherwise.
        """
        return self._chances(self.logits)

    def expected_size(self) -> Tensor:
        """Expected number of open gates, Σ of :meth:`probabilities`; differentiable."""
        return self.probabilities().sum()

    def penalty(self) -> Tensor:
        """`size` times the expected share of open gates, to be added to the loss."""
        return self.size * self.expected_size() / self.num_edges

    @torch.no_grad()
    def top_k(self, k: int, scores: Tensor | None = None) -> Tensor:
        """Exactly k edges, those of the largest logits.

        Parameters
        ----------
        k : int
            Between 0 and M.
        scores : Tensor, shape (M,), optional
            Ranks by these instead, such as gates times the size of a model's coefficients.

        Returns
        -------
        Tensor of bool, shape (M,)
            Ties go to the first edges.

        Raises
        ------
        OptionError
            For another k, for scores of another shape, and for NaN.
        """
        if whole("k", k, 0) > self.num_edges:
            raise OptionError(f"k={k!r} must be a number of edges from 0 to {self.num_edges}")
        if scores is not None:
            check_dense(scores, "scores")
        ranked = self.logits if scores is None else scores
        if ranked.shape != self.logits.shape:
            raise OptionError(f"scores have the shape {tuple(ranked.shape)}: give one per edge, ({self.num_edges},)")
        if bool(ranked.isnan().any()):
            name, edge = "logits" if scores is None else "scores", int(ranked.isnan().nonzero()[0])
            raise OptionError(f"{name}[{edge}] is NaN, which has no rank: correct it")
        chosen = torch.zeros_like(ranked, dtype=torch.bool)
        chosen[torch.argsort(ranked, descending=True, stable=True)[:k]] = True
        return chosen

    def keep(self, keep: float | int, scores: Tensor | None = None) -> Tensor:
        """The selection of an exact budget, by rank, in the shape of the gates.

        Parameters
        ----------
        keep : float in (0, 1] or int
            Share or number of edges, counted as by :func:`graphpri.sparsify`.
        scores
            As in :meth:`top_k`.

        Returns
        -------
        Tensor of bool, shape (M,), (E,) or (N, N)
        """
        return self.spread(self.top_k(count_edges(keep, self.num_edges), scores))

    def extra_repr(self) -> str:
        """The options, for the module's ``repr``."""
        return f"{self.num_edges}, mode={self.mode!r}, hard={self.hard}, size={self.size:g}"


@checked
class InductiveGate(Gate):
    """A gate on every edge of any graph, from features of its two ends and of the edge itself.

    An edge is scored by a·relu(z_u + z_v + B e_uv) + b·|z_u − z_v|, where a network of one hidden layer makes z of a
    node's features: the same in both orientations, so that gates follow nodes and edges that are numbered in another
    order, and graphs that were never seen have gates as well. Without features of edges, 5000 edges or more on a CPU
    are scored in compiled loops.

    Parameters
    ----------
    in_channels : int
        Features of a node.
    edge_channels : int
        Features of an edge; 0 where edges have none.
    hidden : int
        Width of the network, and of z.
    mode, hard, temperature, unit_mean
        As in :class:`EdgeGate`; the mean is that of each graph.
    budget : float in (0, 1] or int, optional
        Share or number of edges of each graph that are open, exactly, in every draw: those of the largest numbers θ
        with their noise. Needs ``hard=True``; soft gates, whose gradients it has, are centred between the last
        edge that is open and the first that is not.
    init : float
        Probability at the start, in (0, 1), of an edge whose score is 0.

    Raises
    ------
    OptionError
        For values out of range, and for a budget of soft gates.

    Notes
    -----
    Luo et al., "Parameterized Explainer for Graph Neural Network", NeurIPS 2020, scores edges by a network in this
    way. Any symmetric function of two ends has such a form for a z that is wide enough (Zaheer et al., "Deep Sets",
    NeurIPS 2017); the differences make likeness easy to learn. Draws of a budget are those of Kool et al., "Stochastic
    Beams and Where to Find Them", ICML 2019, with logistic noise; the gradient is the straight-through one of Bengio
    et al., 2013.

    Examples
    --------
    >>> import torch
    >>> from graphpri.torch import InductiveGate
    >>> _ = torch.manual_seed(0)
    >>> gate = InductiveGate(3, hard=True, budget=0.5).eval()
    >>> edge_index = torch.tensor([[0, 1, 1, 2, 2, 3, 3, 0], [1, 0, 2, 1, 3, 2, 0, 3]])
    >>> gates = gate(torch.rand(4, 3), edge_index)
    >>> gates.shape, gates.sum().item()
    (torch.Size([8]), 4.0)
    """

    _start: Tensor

    def __init__(
        self,
        in_channels: int,
        edge_channels: int = 0,
        hidden: int = 32,
        mode: Mode = "gumbel",
        *,
        hard: bool = False,
        budget: float | int | None = None,
        temperature: float | Schedule = 1.0,
        init: float = 0.5,
        unit_mean: bool = False,
    ) -> None:
        super().__init__(mode, hard, temperature, unit_mean)
        if budget is not None:
            if not self.hard:
                raise OptionError(f"budget={budget!r} needs hard=True: soft gates are all open to some extent")
            _ = whole("budget", budget, 1) if isinstance(budget, int) else count_edges(budget, 1, "budget")
        self.in_channels, hidden = count("in_channels", in_channels, 1), count("hidden", hidden, 1)
        self.edge_channels, self.budget = count("edge_channels", edge_channels), budget
        self.nodes = nn.Sequential(nn.Linear(self.in_channels, hidden), nn.ReLU(), nn.Linear(hidden, hidden))
        self.along = nn.Linear(self.edge_channels, hidden, bias=False) if self.edge_channels else None
        self.score = nn.Linear(2 * hidden, 1, bias=False)
        self.register_buffer("_start", _starting_logits(init, 1))
        self._structures = Structures()

    @checked
    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_attr: Tensor | None = None,
        batch: Tensor | None = None,
        *,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """The gates.

        Parameters
        ----------
        x : Tensor, shape (N, in_channels)
            Features of the nodes.
        edge_index : Tensor of int64, shape (2, E)
            Both orientations of every edge.
        edge_attr : Tensor, shape (E, edge_channels) or (E,), optional
            Features of the edges; the mean of both orientations counts.
        batch : Tensor of int64, shape (N,), optional
            Graph of each node, as in PyG's ``Batch``.
        generator : torch.Generator, optional
            Source of the noise. Edges draw from it in the order of their ends, not of the columns.

        Returns
        -------
        Tensor, shape (E,)
            In [0, 1], both orientations alike; 0 or 1 where `hard`. Divided by the mean of their graph where
            `unit_mean`.

        Raises
        ------
        GraphError
            For an edge list with loops, repeated edges or edges in one orientation only.
        OptionError
            For features of other shapes, and for a budget that a graph of the batch has not the edges for.
        """
        edges, theta = self._scored(x, edge_index, edge_attr, batch)
        theta, chosen = self._noisy(theta, generator), None
        if self.budget is not None:
            chosen = self._chosen(edges, theta, self.budget, "budget")
            theta = theta - _thresholds(edges, theta, chosen)
        gates = self._opened(theta, chosen)
        if self.unit_mean:
            graph = edges.graph_of_pair
            sums = gates.new_zeros(edges.n_graphs).index_add(0, graph, gates)
            gates = _over_mean(gates, (sums / torch.bincount(graph, minlength=edges.n_graphs).clamp(min=1))[graph])
        return gates.index_select(0, edges.member)

    def probabilities(
        self, x: Tensor, edge_index: Tensor, edge_attr: Tensor | None = None, batch: Tensor | None = None
    ) -> Tensor:
        """Probability that a gate is open, shape (E,), as in :meth:`EdgeGate.probabilities`; differentiable.

        A budget is not part of it. Its mean, times a number, is a loss that closes gates.
        """
        edges, theta = self._scored(x, edge_index, edge_attr, batch)
        return self._chances(theta)[edges.member]

    @torch.no_grad()
    def keep(
        self,
        keep: float | int,
        x: Tensor,
        edge_index: Tensor,
        edge_attr: Tensor | None = None,
        batch: Tensor | None = None,
    ) -> Tensor:
        """The selection of an exact budget in each graph, by rank, without noise.

        Parameters
        ----------
        keep : float in (0, 1] or int
            Share or number of edges, counted in each graph as by :func:`graphpri.sparsify`.
        x, edge_index, edge_attr, batch
            As in :meth:`forward`.

        Returns
        -------
        Tensor of bool, shape (E,)
            Ties, which a change of rounding does not break, go to the edge whose ends have the lower numbers.
        """
        edges, theta = self._scored(x, edge_index, edge_attr, batch)
        return self._chosen(edges, theta, keep)[edges.member]

    def extra_repr(self) -> str:
        """The options, for the module's ``repr``."""
        sizes = f"{self.in_channels}, {self.edge_channels}"
        return f"{sizes}, mode={self.mode!r}, hard={self.hard}, budget={self.budget}, unit_mean={self.unit_mean}"

    def _scored(
        self, x: Tensor, edge_index: Tensor, edge_attr: Tensor | None, batch: Tensor | None
    ) -> tuple[EdgeLists, Tensor]:
        """The edges, and θ of each undirected one, in the order of their ends."""
        self._check_features(x, "x")
        if x.dim() != 2 or x.shape[1] != self.in_channels:
            raise OptionError(f"x has the shape {tuple(x.shape)}: give one row per node, (N, {self.in_channels})")
        given: Any = edge_index
        none = isinstance(given, Tensor) and given.shape == (2, 0)
        edges = self._structures.read(edge_index, batch, len(x), not none)
        found = (edge_index.shape[1], 0)
        if edge_attr is not None:
            self._check_features(edge_attr, "edge_attr")
            edge_attr = edge_attr[:, None] if edge_attr.dim() == 1 else edge_attr
            found = tuple(edge_attr.shape)
            if not self.edge_channels:
                raise OptionError(
                    f"edge_attr has the shape {found}, and this gate was made for edges without features: make it with "
                    f"edge_channels={found[-1]}, or leave edge_attr out"
                )
        if found != (edge_index.shape[1], self.edge_channels):
            needed = (edge_index.shape[1], self.edge_channels)
            raise OptionError(f"edge_attr has the shape {found}: give one row per column of edge_index, {needed}")
        z, (of_sums, of_gaps) = self.nodes(x), self.score.weight[0].chunk(2)
        if self.along is not None and edge_attr is not None:
            _, first, second = edges.pairs
            theta = _pair_scores(z, of_sums, of_gaps, edges, self.along((edge_attr[first] + edge_attr[second]) / 2))
        elif edges.compiles(z) and z.dtype == of_sums.dtype:  # not those that autocast makes
            theta = cast("Tensor", _PairScores.apply(z, of_sums, of_gaps, edges))
        else:
            theta = _pair_scores(z, of_sums, of_gaps, edges)
        return edges, theta + self._start

    def _check_features(self, values: Tensor, name: str) -> None:
        check_floats(values, name)
        own = self.score.weight.dtype
        if values.dtype != own:
            raise OptionError(f"{name} is {values.dtype} and the gate {own}: pass {name}.to({own})")

    def _chosen(self, edges: EdgeLists, theta: Tensor, keep: float | int, name: str = "keep") -> Tensor:
        """The largest θ of each graph, as many as its budget allows; shape (M,)."""
        values, graph = theta.detach().cpu().double().numpy(), edges.graph_of_pair.cpu().numpy()
        if np.isnan(values).any():
            ends = edges.pairs[0][:, int(np.isnan(values).argmax())].tolist()
            raise OptionError(f"the score of the edge {tuple(ends)} is NaN: look at the features of these nodes")
        # Scores of a network count as equal up to a hundred roundings of the largest.
        unit = 100 * torch.finfo(theta.dtype).eps * float(np.abs(values).max(initial=1.0)) / NOISE
        chosen, ties = np.zeros(values.size, np.bool_), np.arange(values.size)
        sizes = np.bincount(graph, minlength=edges.n_graphs)
        for number, places in enumerate(np.split(np.argsort(graph, kind="stable"), np.cumsum(sizes)[:-1])):
            if places.size:
                try:
                    k = count_edges(keep, places.size, name)
                except OptionError as error:
                    raise OptionError(f"graph {number}: {error}") from error
                chosen[smallest(-values, places, k, ties, unit)] = True
        return torch.from_numpy(chosen).to(theta.device)


def _pair_scores(z: Tensor, of_sums: Tensor, of_gaps: Tensor, edges: EdgeLists, along: Tensor | float = 0.0) -> Tensor:
    """a·relu(z_u + z_v + along) + b·|z_u − z_v| of each undirected edge, shape (M,)."""
    low, high = (z.index_select(0, end) for end in edges.pairs[0])
    return (low + high + along).relu() @ of_sums + (low - high).abs() @ of_gaps


class _PairScores(torch.autograd.Function):
    """The same in compiled loops. Sums over the neighbours of each node give all gradients.

    With A_u = Σ g_uv [z_u + z_v > 0] and B_u = Σ g_uv sgn(z_u − z_v) for the gradients g of the scores, that of z is
    aA + bB, those of a and b are Σ_u z_u A_u and Σ_u z_u B_u.
    """

    @staticmethod
    def forward(ctx: Any, z: Tensor, of_sums: Tensor, of_gaps: Tensor, edges: EdgeLists) -> Tensor:
        ctx.save_for_backward(z, of_sums, of_gaps)
        ctx.edges = edges
        theta = z.new_empty(edges.pairs[1].shape)
        rows, a, b = (read_only(x.detach().numpy()) for x in (z, of_sums, of_gaps))
        source, target, _ = edges.sums.ends

        def run(start: int, stop: int) -> None:
            score_pairs(start, stop, source, target, rows, a, b, theta.numpy())

        with torch_threads():
            in_chunks(run, len(theta))
        return theta

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (z, of_sums, of_gaps), edges = ctx.saved_tensors, cast("EdgeLists", ctx.edges)
        if torch.is_grad_enabled():
            theta = _pair_scores(z, of_sums, of_gaps, edges)
            inputs = (z, of_sums, of_gaps)
            return *torch.autograd.grad(theta, inputs, grads[0], create_graph=True), None
        sums, gaps = torch.empty_like(z), torch.empty_like(z)
        rows, grad = (read_only(x.contiguous().numpy()) for x in (z, grads[0]))
        begin, neighbour, edge = edges.neighbours

        def run(start: int, stop: int) -> None:
            sum_neighbours(start, stop, begin, neighbour, edge, rows, grad, sums.numpy(), gaps.numpy())

        with torch_threads():
            in_chunks(run, len(z))
        of_z = torch.addcmul(sums * of_sums, gaps, of_gaps)
        return of_z, torch.linalg.vecdot(z, sums, dim=0), torch.linalg.vecdot(z, gaps, dim=0), None


@compiled
def score_pairs(
    start: int,
    stop: int,
    source: IntArray,
    target: IntArray,
    z: FloatArray,
    of_sums: FloatArray,
    of_gaps: FloatArray,
    out: FloatArray,
) -> None:
    """Write a·relu(z_u + z_v) + b·|z_u − z_v| of each edge. Rows, and sums apart from products, fill vector units."""
    zero, width = z.dtype.type(0), z.shape[1]
    terms = np.empty(width, z.dtype)
    for e in range(start, stop):
        low, high = z[source[e]], z[target[e]]
        for k in range(width):
            both = low[k] + high[k]
            terms[k] = of_sums[k] * (both if both > zero else zero) + of_gaps[k] * abs(low[k] - high[k])
        total = zero
        for k in range(width):
            total += terms[k]
        out[e] = total


@compiled
def sum_neighbours(
    start: int,
    stop: int,
    begin: IntArray,
    neighbour: IntArray,
    edge: IntArray,
    z: FloatArray,
    grad: FloatArray,
    sums: FloatArray,
    gaps: FloatArray,
) -> None:
    """Write Σ g [z_u + z_v > 0] and Σ g sgn(z_u − z_v) over the neighbours of each node."""
    zero, width = z.dtype.type(0), z.shape[1]
    a, b = np.empty(width, z.dtype), np.empty(width, z.dtype)
    for u in range(start, stop):
        own = z[u]
        a[:] = zero
        b[:] = zero
        for i in range(begin[u], begin[u + 1]):
            other, g = z[neighbour[i]], grad[edge[i]]
            for k in range(width):
                a[k] += g if own[k] + other[k] > zero else zero
            for k in range(width):
                b[k] += (g if own[k] > other[k] else zero) - (g if own[k] < other[k] else zero)
        sums[u] = a
        gaps[u] = b


@torch.no_grad()
def _thresholds(edges: EdgeLists, theta: Tensor, chosen: Tensor) -> Tensor:
    """Midway between the least θ that is chosen in the graph of each edge and the largest that is not, shape (M,)."""
    graph = edges.graph_of_pair
    ends = theta.new_zeros(edges.n_graphs)
    least = ends.scatter_reduce(0, graph[chosen], theta[chosen], "amin", include_self=False)
    if bool(chosen.all()):
        return least[graph] - 1
    largest = least.scatter_reduce(0, graph[~chosen], theta[~chosen], "amax", include_self=False)
    return ((least + largest) / 2)[graph]


def _digest(edge_index: Tensor) -> int:
    """A number that depends on every column and on their order."""
    return int.from_bytes(hashlib.blake2b(edge_index.cpu().contiguous().numpy().tobytes(), digest_size=7).digest())


def _over_mean(gates: Tensor, mean: Tensor) -> Tensor:
    """Gates divided by their mean; zeros where all are closed."""
    return gates / torch.where(mean > 0, mean, 1.0)


def _starting_logits(init: float | Tensor, count: int) -> Tensor:
    try:
        chances = torch.as_tensor(init)
    except (TypeError, ValueError, RuntimeError):
        raise OptionError(f"init={init!r} must be a probability, or a tensor of them") from None
    check_dense(chances, "init")
    if not bool(((chances > 0) & (chances < 1)).all()):
        raise OptionError("init must be probabilities above 0 and below 1")
    if chances.shape not in ((), (count,)):
        raise OptionError(f"init has the shape {tuple(chances.shape)}: give one number, or one per edge, ({count},)")
    return torch.logit(chances.detach()).expand(count).clone()
