/* The data of the page: typed arrays, and the solutions as bits. */
const $ = (id) => document.getElementById(id);

const KINDS = { uint8: Uint8Array, uint32: Uint32Array, float32: Float32Array, float64: Float64Array };

async function readData() {
  const text = atob($("data").textContent.trim());
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const raw = await new Response(stream).arrayBuffer();
  const size = new DataView(raw).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(raw, 4, size)));
  const arrays = {};
  for (const [name, [kind, offset, count]] of Object.entries(head.arrays)) {
    arrays[name] = new KINDS[kind](raw, 4 + size + offset, count);
  }
  $("data").remove();
  return new Data(head, arrays);
}

class Data {
  constructor(head, arrays) {
    Object.assign(this, head, arrays);
    this.row = Math.ceil(this.edges / 8);
    this.stops = this.budgets.length;
    for (let b = 0; b < this.betas.length; b++) {
      for (let j = 1; j < this.stops; j++) {
        const at = (b * this.stops + j) * this.row;
        for (let i = at; i < at + this.row; i++) this.bits[i] ^= this.bits[i - this.row];
      }
    }
    this.home = [this.x.slice(), this.y.slice()];
    this.original = this.degrees(new Uint8Array(this.edges).fill(1));
    this.buildNeighbours();
  }

  label(node) { return this.labels === null ? String(node) : this.labels[node]; }

  /* Whether an edge is kept at a stop of the two sliders. */
  isKept(beta, keep, edge) {
    return (this.bits[(beta * this.stops + keep) * this.row + (edge >> 3)] >> (edge & 7)) & 1;
  }

  /* 1 for each kept edge, 0 for the others; `baseline` is the number of another method, or null. */
  mask(beta, keep, baseline) {
    const mask = new Uint8Array(this.edges);
    if (baseline !== null) {
      const order = this["order" + baseline];
      for (let i = 0; i < this.budgets[keep]; i++) mask[order[i]] = 1;
      return mask;
    }
    for (let e = 0; e < this.edges; e++) mask[e] = this.isKept(beta, keep, e);
    return mask;
  }

  degrees(mask) {
    const degrees = new Uint32Array(this.nodes);
    for (let e = 0; e < this.edges; e++) {
      if (mask[e]) { degrees[this.source[e]]++; degrees[this.target[e]]++; }
    }
    return degrees;
  }

  /* A measure at a stop; J follows from S, D and the barrier. */
  value(name, beta, keep, baseline) {
    const width = this.columns.length;
    const table = baseline === null ? this.values : this["baseline" + baseline];
    const at = (baseline === null ? beta * this.stops + keep : keep) * width;
    const read = (column) => table[at + this.columns.indexOf(column)];
    if (name === "between") return this.between(beta, keep, baseline);
    if (name !== "objective") return read(name);
    return read("entropy") + 2 * this.betas[beta] * read("divergence") + read("barrier");
  }

  /* Choose the edges that `between` counts: those that join two of the groups shown; null where there are no groups. */
  watch(style, seen) {
    const { source, target } = this;
    this.counted = new Map();
    this.joining = style.groups === null ? null : Uint32Array.from(
      { length: this.edges }, (_, e) => e).filter((e) => style.group[source[e]] !== style.group[target[e]] && seen[source[e]] && seen[target[e]]);
  }

  /* Kept edges that join two of the groups shown. */
  between(beta, keep, baseline) {
    if (this.joining === null) return NaN;
    const key = `${baseline === null ? beta : ""} ${keep} ${baseline}`;
    if (!this.counted.has(key)) {
      const mask = baseline === null ? null : this.mask(beta, keep, baseline);
      let count = 0;
      for (const e of this.joining) count += mask ? mask[e] : this.isKept(beta, keep, e);
      this.counted.set(key, count);
    }
    return this.counted.get(key);
  }

  share(keep) { return this.budgets[keep] / this.edges; }

  /* The budgets at which an edge is kept, as text. */
  keptAt(beta, edge) {
    const spans = [];
    for (let j = 0; j < this.stops; j++) {
      if (!this.isKept(beta, j, edge)) continue;
      const last = spans[spans.length - 1];
      if (last && last[1] === j - 1) last[1] = j; else spans.push([j, j]);
    }
    if (!spans.length) return "none of the budgets";
    return spans.map(([a, b]) => {
      if (a === b) return percent(this.share(a));
      return b === this.stops - 1 ? `${percent(this.share(a))} and more` : `${percent(this.share(a))}–${percent(this.share(b))}`;
    }).join(", ");
  }

  /* From which budget down a node has no edge left, at one β. */
  lastEdge(beta, node) {
    const none = [];
    for (let j = 0; j < this.stops; j++) none.push(!this.edgesOf(node).some((e) => this.isKept(beta, j, e)));
    if (!none.includes(true)) return "at none of the budgets";
    const last = none.lastIndexOf(true);
    return none.slice(0, last).includes(false) ? `at ${none.flatMap((x, j) => (x ? [this.budgets[j]] : [])).join(", ")} edges` : `at ${this.budgets[last]} edges (${percent(this.share(last))}) and fewer`;
  }

  /* Share of edges with a smaller score, and the budget at which the score was taken. */
  score(beta, keep, edge) {
    let slot = 0;
    this.scored.forEach((j, i) => { if (Math.abs(j - keep) < Math.abs(this.scored[slot] - keep)) slot = i; });
    return [this.scores[(beta * this.scored.length + slot) * this.edges + edge] / 255, this.scored[slot]];
  }

  /* Edges of each node, in one array. */
  buildNeighbours() {
    this.first = new Uint32Array(this.nodes + 1);
    for (let v = 0; v < this.nodes; v++) this.first[v + 1] = this.first[v] + this.original[v];
    const next = this.first.slice();
    this.around = new Uint32Array(2 * this.edges);
    for (let e = 0; e < this.edges; e++) {
      this.around[next[this.source[e]]++] = e;
      this.around[next[this.target[e]]++] = e;
    }
  }

  edgesOf(node) { return this.around.subarray(this.first[node], this.first[node + 1]); }
}

/* Number of each node's component in the original, the largest first, and their sizes. */
function components(data) {
  const found = new Int32Array(data.nodes).fill(-1), sizes = [];
  for (let root = 0; root < data.nodes; root++) {
    if (found[root] >= 0) continue;
    const stack = [root];
    found[root] = sizes.length;
    let size = 0;
    while (stack.length) {
      const v = stack.pop();
      size++;
      for (const e of data.edgesOf(v)) {
        const w = data.source[e] === v ? data.target[e] : data.source[e];
        if (found[w] < 0) { found[w] = sizes.length; stack.push(w); }
      }
    }
    sizes.push(size);
  }
  const order = [...sizes.keys()].sort((a, b) => sizes[b] - sizes[a] || a - b), place = [];
  order.forEach((old, now) => { place[old] = now; });
  return { of: found.map((c) => place[c]), sizes: order.map((c) => sizes[c]) };
}

function percent(share) { return `${+(100 * share).toPrecision(share < 0.1 ? 1 : share < 1 ? 2 : 3)} %`; }

function short(value) {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return String(value).replace("-", "−");
  return String(+value.toPrecision(4)).replace("-", "−");
}

/* A value at the end of an axis: three digits, two below 1; what is only rounding, beside the `other` end, is 0. */
function brief(value, other = 1) {
  if (!Number.isFinite(value)) return short(value);
  return Math.abs(value) < 1e-9 * Math.abs(other) ? "0" : short(+value.toPrecision(Math.abs(value) < 1 ? 2 : 3));
}
