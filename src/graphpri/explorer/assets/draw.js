/* The drawing: three layers a pane, all edges below, kept edges and nodes over them, what is pointed at on top. */
const MOST_DROPPED = 40000; // of more edges than this, a part of the dropped ones is drawn
const LIVE = 8000; // edges up to which a pan redraws at once; else it moves the picture and redraws after it
const MANY = 12000; // kept edges above which a slider that moves draws a part of them, coarsely, and all when it rests
const COARSE = 0.6;
const BATCH = 400; // lines a stroke; long paths are slow
const BUNDLED = 10000; // edges of a graph from which those between two groups are one line while all of it is in sight
const NEAR = 1.7; // how many times closer than that each of them is drawn again
const FRONT = 9000; // kept edges drawn while a slider moves; the rest when it rests

const theme = () => (document.documentElement.dataset.theme === "dark" ? "dark" : "light");
const tint = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

class Camera {
  constructor() { this.scale = 1; this.x = 0; this.y = 0; this.home = 1; }
  bounds(data) {
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let v = 0; v < data.nodes; v++) {
      left = Math.min(left, data.x[v]); right = Math.max(right, data.x[v]);
      low = Math.min(low, data.y[v]); high = Math.max(high, data.y[v]);
    }
    return { left, right, low, high, aspect: Math.max(right - left, 1e-3) / Math.max(high - low, 1e-3) };
  }
  fit(data, width, height) {
    const { left, right, low, high } = this.bounds(data);
    const pad = Math.min(width, height) * 0.07 + 6;
    this.scale = Math.min((width - 2 * pad) / Math.max(right - left, 1e-3), (height - 2 * pad) / Math.max(high - low, 1e-3));
    this.scale = Math.max(Math.min(this.scale, 0.5 * Math.max(width, height)), 1);
    this.home = this.scale;
    this.x = width / 2 - ((left + right) / 2) * this.scale;
    this.y = height / 2 + ((low + high) / 2) * this.scale;
  }
  zoom(factor, x, y) {
    const f = Math.min(Math.max(this.scale * factor, this.home / 4), this.home * 400) / this.scale;
    this.scale *= f; this.x = x + (this.x - x) * f; this.y = y + (this.y - y) * f;
  }
  copy() { return Object.assign(new Camera(), this); }
}

class Pane {
  constructor(figure, data, camera) {
    this.figure = figure;
    this.data = data;
    this.camera = camera;
    this.canvases = [...figure.querySelectorAll("canvas")];
    this.top = this.canvases[2];
    this.seen = new Uint8Array(data.nodes).fill(1);
    this.px = new Float32Array(data.nodes);
    this.py = new Float32Array(data.nodes);
  }

  get shown() { return !this.figure.hidden; }

  /* Take the size of the place; whether that is another than before. */
  resize() {
    const box = this.figure.querySelector(".layers").getBoundingClientRect();
    const [width, height] = [Math.max(1, box.width), Math.max(1, box.height)];
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    if (width === this.width && height === this.height && ratio === this.ratio) return false;
    Object.assign(this, { width, height, ratio });
    return true;
  }

  context(layer, ratio = this.ratio) {
    const canvas = this.canvases[layer], context = canvas.getContext("2d");
    const [width, height] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.lineCap = "round";
    return context;
  }

  project() {
    const { scale, x, y } = this.camera;
    for (let v = 0; v < this.data.nodes; v++) {
      this.px[v] = this.data.x[v] * scale + x;
      this.py[v] = y - this.data.y[v] * scale;
    }
    this.drawnAt = this.camera.copy();
    for (const canvas of this.canvases) canvas.style.transform = "";
  }

  /* Move the picture as it is, until it is drawn again. */
  shift() {
    const f = this.camera.scale / this.drawnAt.scale;
    const move = `translate(${this.camera.x - this.drawnAt.x * f}px, ${this.camera.y - this.drawnAt.y * f}px) scale(${f})`;
    for (const canvas of this.canvases) canvas.style.transform = move;
  }

  drawBase() { if (this.style_) this.paint(this.context(0), this.baseStrokes(this.style_)); }

  /* Lines of dropped edges: of all edges where `mask` is absent, as kept ones are drawn over them. */
  baseStrokes(style, mask = null) {
    if (style.keptOnly) return [];
    const { data } = this, stride = Math.ceil(data.edges / MOST_DROPPED);
    const edges = [], single = this.single(style);
    for (let e = 0; e < data.edges; e += stride) if ((!mask || !mask[e]) && single(e)) edges.push(e);
    const root = Math.sqrt(data.edges);
    return [{ name: "dropped", colour: tint("dropped"), width: Math.min(1.1, Math.max(0.5, 28 / root)) * this.grown(), alpha: Math.min(0.75, Math.max(0.1, 26 / root)), edges }];
  }

  /* Calls with both ends of each edge whose nodes are shown; those out of sight are left out unless `all`. */
  each(edges, draw, all = false) {
    const { source, target } = this.data, { px, py, width, height, seen } = this;
    for (const e of edges) {
      const u = source[e], v = target[e];
      if (!seen[u] || !seen[v]) continue;
      const ax = px[u], ay = py[u], bx = px[v], by = py[v];
      if (!all && ((ax < 0 && bx < 0) || (ay < 0 && by < 0) || (ax > width && bx > width) || (ay > height && by > height))) continue;
      draw(ax, ay, bx, by);
    }
  }

  paint(context, strokes) {
    for (const { colour, width, alpha, edges, segments } of strokes) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.globalAlpha = alpha;
      if (segments) {
        context.beginPath();
        for (const [ax, ay, bx, by] of segments) { context.moveTo(ax, ay); context.lineTo(bx, by); }
        context.stroke();
      } else this.lines(context, edges);
    }
    context.globalAlpha = 1;
  }

  /* Lines of edges, in strokes of bounded length. */
  lines(context, edges) {
    let count = 0;
    context.beginPath();
    this.each(edges, (ax, ay, bx, by) => {
      context.moveTo(ax, ay);
      context.lineTo(bx, by);
      if (++count % BATCH === 0) { context.stroke(); context.beginPath(); }
    });
    context.stroke();
  }

  grown() { return Math.min(2.6, Math.pow(this.camera.scale / this.camera.home, 0.35)); }

  keptWidth(count) { return Math.min(1.9, Math.max(0.55, 30 / Math.sqrt(count + 1))) * this.grown(); }

  /* Whether edges between two groups are one line: where that was asked for, and in large graphs seen from afar. */
  bundled(style) {
    if (style.groups === null || style.bundles === "0") return false;
    return style.bundles === "1" || (this.data.edges > BUNDLED && this.camera.scale < NEAR * this.camera.home);
  }

  /* Whether an edge is drawn by itself; those of nodes that have no group of their own always are. */
  single(style) {
    if (!style.bundled) return () => true;
    const { group, rest } = style, { source, target, edges } = this.data;
    if (!style.alone) {
      style.alone = new Uint8Array(edges);
      for (let e = 0; e < edges; e++) {
        const u = group[source[e]], v = group[target[e]];
        style.alone[e] = +(u === v || u === rest || v === rest);
      }
    }
    return (e) => style.alone[e] === 1;
  }

  /* Lines between the middles of groups, as wide as the kept edges between them are many, beside all of the original. */
  bundles(shown, style) {
    const { data } = this, many = style.colours.length, single = this.single(style);
    const count = (edges, held) => { for (const e of edges) if (!single(e) && this.seen[data.source[e]] && this.seen[data.target[e]]) {
      const u = style.group[data.source[e]], v = style.group[data.target[e]];
      held[2 * (Math.min(u, v) * many + Math.max(u, v)) + (shown.other !== null && !shown.other[e] ? 1 : 0)]++;
    } };
    const kept = new Float64Array(2 * many * many);
    count(shown.list, kept);
    const at = this.centres(style), most = style.widest = this.widest(style), thick = Math.min(16, Math.max(7, Math.min(this.width, this.height) / 40));
    const strokes = [];
    for (let pair = 0; pair < many * many; pair++) {
      const parts = [kept[2 * pair], kept[2 * pair + 1]], all = parts[0] + parts[1];
      if (!all) continue;
      const [ax, ay] = at[Math.floor(pair / many)], [bx, by] = at[pair % many];
      const wide = 0.6 + thick * Math.sqrt(all / most), long = Math.hypot(bx - ax, by - ay) || 1;
      let side = -wide / 2;
      parts.forEach((part, i) => {
        if (!part) return;
        const width = (wide * part) / all, off = side + width / 2, [dx, dy] = [(off * (ay - by)) / long, (off * (bx - ax)) / long];
        side += width;
        strokes.push({ name: i ? "bundle-only" : "bundle", colour: tint(i ? "only" : "kept"), width, alpha: 0.6, segments: [[ax + dx, ay + dy, bx + dx, by + dy]] });
      });
    }
    return strokes;
  }

  /* Edges of the original between the two groups that have most of them. */
  widest(style) {
    if (style.widest) return style.widest;
    const { data } = this, many = style.colours.length, single = this.single(style), held = new Uint32Array(many * many);
    for (let e = 0; e < data.edges; e++) {
      const u = style.group[data.source[e]], v = style.group[data.target[e]];
      if (!single(e)) held[Math.min(u, v) * many + Math.max(u, v)]++;
    }
    return Math.max(1, ...held);
  }

  /* Strokes of the kept edges: by what they share with the other method, and by the classes of weight or score. */
  strokes(shown, style, part = shown.list) {
    const { data } = this, lines = style.bundled ? this.bundles(shown, style) : [];
    const singles = style.bundled ? part.filter(this.single(style)) : part;
    const kept = (shown.count * singles.length) / Math.max(part.length, 1), width = this.keptWidth(kept);
    const alpha = kept > 600 ? Math.max(0.1, Math.min(0.95, 24 / Math.sqrt(kept))) : 0.95;
    const plain = !style.edge.step && !style.changes;
    if (plain) {
      const stroke = (name, edges) => ({ name, colour: tint(name), width, alpha, edges });
      if (shown.other === null) return [...lines, stroke("kept", singles)];
      return [...lines, stroke("kept", singles.filter((e) => shown.other[e])), stroke("only", singles.filter((e) => !shown.other[e]))];
    }
    const found = new Map();
    for (const e of singles) {
      const only = shown.other !== null && !shown.other[e];
      const fresh = style.changes && shown.fresh?.[e];
      const step = style.edge.step ? style.edge.step[e] : 0;
      const key = `${fresh ? "fresh" : only ? "only" : "kept"} ${step}`;
      if (!found.has(key)) found.set(key, []);
      found.get(key).push(e);
    }
    const order = (key) => ["kept", "only", "fresh"].indexOf(key.split(" ")[0]) * 100 + +key.split(" ")[1];
    const strokes = [...found.keys()].sort((a, b) => order(a) - order(b)).map((key) => {
      const [name, step] = key.split(" ");
      const plain = tint(name === "fresh" ? "mark" : name);
      return { name, colour: name === "kept" && style.edge.colours ? style.edge.colours[step] : plain, width: width * (style.edge.widths ? style.edge.widths[step] : 1) * (name === "fresh" ? 1.6 : 1), alpha: name === "fresh" ? 1 : alpha, edges: found.get(key) };
    });
    return [...lines, ...strokes];
  }

  /* The middle of the nodes of each group. */
  centres(style) {
    const sums = style.colours.map(() => [0, 0, 0]);
    for (let v = 0; v < this.data.nodes; v++) {
      if (!this.seen[v]) continue;
      const sum = sums[style.group[v]];
      sum[0] += this.px[v]; sum[1] += this.py[v]; sum[2]++;
    }
    return sums.map(([x, y, n]) => [x / (n || 1), y / (n || 1)]);
  }

  drawFront(shown, style, quick) {
    this.shown_ = shown;
    this.style_ = style;
    const context = this.context(1, quick ? this.ratio * COARSE : this.ratio);
    let part = shown.list;
    if (quick && part.length > FRONT) {
      const stride = part.length / FRONT;
      part = Uint32Array.from({ length: FRONT }, (_, i) => shown.list[Math.floor(i * stride)]);
    }
    this.paint(context, this.strokes(shown, style, part));
    this.drawNodes(context, shown.degrees, style);
    if (style.labels && !quick) this.drawLabels(context, this.hubs(shown.degrees, style), style);
  }

  /* By kept edges, or by a number that each node has. */
  radius(v, degrees, style) {
    const n = this.data.nodes;
    const most = Math.min(13, Math.max(4.5, 110 / Math.sqrt(n)));
    const least = Math.min(3.2, Math.max(1, 40 / Math.sqrt(n)));
    const small = Math.min(1, Math.max(0.55, Math.min(this.width, this.height) / 450));
    this.top_ ??= this.data.original.reduce((a, b) => Math.max(a, b), 1);
    const share = style?.size ? style.size[v] : degrees[v] / this.top_;
    return (least + (most - least) * Math.sqrt(share)) * this.grown() * small;
  }

  /* Discs in the colours of their groups; nodes that lost all their edges are rings, those that never had any are faint. */
  discGroups(degrees, style, all = false) {
    const filled = style.colours.map(() => []), lost = style.colours.map(() => []), never = [];
    for (let v = 0; v < this.data.nodes; v++) {
      if (!this.seen[v]) continue;
      if (!all && (this.px[v] < -20 || this.py[v] < -20 || this.px[v] > this.width + 20 || this.py[v] > this.height + 20)) continue;
      (this.data.original[v] === 0 ? never : (degrees[v] === 0 ? lost : filled)[style.group[v]]).push(v);
    }
    const ground = tint("canvas");
    return [
      { fill: tint("dropped"), stroke: ground, nodes: never },
      ...style.colours.map((colour, g) => ({ fill: colour, stroke: ground, nodes: filled[g] })),
      ...style.colours.map((colour, g) => ({ fill: ground, stroke: colour, nodes: lost[g], ring: true })),
    ].filter(({ nodes }) => nodes.length);
  }

  drawNodes(context, degrees, style) {
    const rimmed = this.data.nodes <= 3000;
    context.lineWidth = 1;
    for (const { fill, stroke, nodes, ring } of this.discGroups(degrees, style)) {
      context.fillStyle = fill;
      context.strokeStyle = stroke;
      this.discs(context, nodes, degrees, style, rimmed || ring);
    }
  }

  discs(context, nodes, degrees, style, rimmed) {
    for (let i = 0; i < nodes.length; i += BATCH) {
      context.beginPath();
      for (const v of nodes.slice(i, i + BATCH)) {
        const r = this.radius(v, degrees, style), x = this.px[v], y = this.py[v];
        // Small ones are squares: a tenth of the time.
        if (r < 2 && this.data.nodes > 3000) { context.rect(x - r, y - r, 2 * r, 2 * r); continue; }
        context.moveTo(x + r, y);
        context.arc(x, y, r, 0, 2 * Math.PI);
      }
      context.fill();
      if (rimmed) context.stroke();
    }
  }

  /* Nodes to be named: those of most kept edges that are in sight. */
  hubs(degrees, style) {
    const seen = [];
    for (let v = 0; v < this.data.nodes; v++) {
      if (this.seen[v] && this.px[v] > 0 && this.py[v] > 0 && this.px[v] < this.width && this.py[v] < this.height) seen.push(v);
    }
    const most = Math.round((this.width * this.height) / 16000);
    const size = style.size ?? degrees;
    return seen.sort((a, b) => size[b] - size[a] || a - b).slice(0, Math.min(most, 60));
  }

  /* Texts that don't cover one another, with where they stand. */
  placedLabels(context, nodes, style) {
    const taken = [], placed = [];
    context.font = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
    for (const v of nodes) {
      const text = clipped(this.data.label(v), 24);
      const half = context.measureText(text).width / 2 + 2;
      const y = this.py[v] + this.radius(v, this.shown_.degrees, style) + 2;
      const box = [this.px[v] - half, y, this.px[v] + half, y + 14];
      if (taken.some((t) => t[0] < box[2] && box[0] < t[2] && t[1] < box[3] && box[1] < t[3])) continue;
      taken.push(box);
      placed.push([text, this.px[v], y]);
    }
    return placed;
  }

  drawLabels(context, nodes, style) {
    const placed = this.placedLabels(context, nodes, style);
    context.textAlign = "center";
    context.textBaseline = "top";
    context.lineJoin = "round";
    context.lineWidth = 3;
    context.strokeStyle = tint("canvas");
    context.fillStyle = tint("ink");
    for (const [text, x, y] of placed) {
      context.strokeText(text, x, y);
      context.fillText(text, x, y);
    }
  }

  drawTop(things, shown, style, chosen, lasso) { this.paintTop(this.context(2), things, shown, style, chosen, lasso); }

  /* What is pointed at and what is picked ({node} or {edge}), with neighbours; the chosen nodes, and the line around them. */
  paintTop(context, things, shown, style, chosen, lasso = null) {
    const { data } = this;
    for (const thing of things) {
      if (thing === null) continue;
      const edges = thing.edge !== undefined ? [thing.edge] : [...data.edgesOf(thing.node)].filter((e) => shown.mask[e]);
      context.strokeStyle = tint("mark");
      context.lineWidth = this.keptWidth(shown.count) + 1.2;
      if (thing.edge !== undefined && !shown.mask[thing.edge]) context.setLineDash([5, 4]);
      this.lines(context, edges);
      context.setLineDash([]);
      const ends = thing.edge !== undefined ? [data.source[thing.edge], data.target[thing.edge]] : [thing.node];
      const near = thing.node === undefined ? [] : edges.map((e) => (data.source[e] === thing.node ? data.target[e] : data.source[e]));
      this.rims(context, near, shown, style);
      context.fillStyle = tint("mark");
      context.strokeStyle = tint("canvas");
      context.lineWidth = 1.5;
      this.discs(context, ends, shown.degrees, style, true);
      if (style.labels) this.drawLabels(context, [...ends, ...near.slice(0, 12)], style);
    }
    if (chosen.size) this.rims(context, [...chosen], shown, style);
    if (!lasso) return;
    context.setLineDash([4, 3]);
    context.strokeStyle = tint("mark");
    context.lineWidth = 1.5;
    context.beginPath();
    lasso.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.stroke();
    context.setLineDash([]);
  }

  rims(context, nodes, shown, style) {
    context.strokeStyle = tint("mark");
    context.lineWidth = 2;
    for (const v of nodes) {
      if (!this.seen[v]) continue;
      context.beginPath();
      context.arc(this.px[v], this.py[v], this.radius(v, shown.degrees, style) + 1.5, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  /* The node, or else the edge, at a place. */
  pick(x, y) {
    let best = null, least = 11 * 11;
    for (let v = 0; v < this.data.nodes; v++) {
      if (!this.seen[v]) continue;
      const d = (this.px[v] - x) ** 2 + (this.py[v] - y) ** 2 - this.radius(v, this.shown_.degrees, this.style_) ** 2 / 2;
      if (d < least) { least = d; best = { node: v }; }
    }
    if (best) return best;
    least = 5 * 5;
    const { px, py, data } = this, single = this.single(this.style_);
    for (const wanted of [1, 0]) {
      for (let e = 0; e < data.edges; e++) {
        if (this.shown_.mask[e] !== wanted || !single(e) || (!wanted && this.style_.keptOnly) || !this.seen[data.source[e]] || !this.seen[data.target[e]]) continue;
        const d = toSegment(x, y, px[data.source[e]], py[data.source[e]], px[data.target[e]], py[data.target[e]]);
        if (d < least) { least = d; best = { edge: e }; }
      }
      if (best) return best;
    }
    return null;
  }

  /* Everything drawn anew as one picture, `scale` times as fine. */
  flat(scale, things, chosen) {
    const { shown_: shown, style_: style } = this, canvas = document.createElement("canvas");
    canvas.width = Math.round(this.width * scale);
    canvas.height = Math.round(this.height * scale);
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.lineCap = "round";
    context.fillStyle = tint("canvas");
    context.fillRect(0, 0, this.width, this.height);
    this.paint(context, this.baseStrokes(style));
    this.paint(context, this.strokes(shown, style));
    this.drawNodes(context, shown.degrees, style);
    if (style.labels) this.drawLabels(context, this.hubs(shown.degrees, style), style);
    this.paintTop(context, things, shown, style, chosen);
    return canvas;
  }
}

function toSegment(x, y, ax, ay, bx, by) {
  const dx = bx - ax, dy = by - ay;
  const t = Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
  return (x - ax - t * dx) ** 2 + (y - ay - t * dy) ** 2;
}

function clipped(text, most) {
  const signs = [...text];
  return signs.length > most ? signs.slice(0, most - 1).join("") + "…" : text;
}

/* Where a number lies between the smallest and the largest, 0 to 1; NaN where it is none. */
function shares(values, power = 1) {
  let [low, high] = [Infinity, -Infinity];
  for (const x of values) if (Number.isFinite(x)) { low = Math.min(low, x); high = Math.max(high, x); }
  return { low, high, of: (x) => (high > low ? ((x / 2 - low / 2) / (high / 2 - low / 2)) ** power : 0) };
}

/* Colours of the nodes by an attribute: a group of each node, and the colour of each group. */
function nodeStyle(data, index) {
  const values = data["attribute" + index];
  const group = new Uint8Array(data.nodes);
  const { groups, name } = data.attributes[index], { palette } = data;
  if (groups !== null) {
    for (let v = 0; v < data.nodes; v++) group[v] = values[v];
    const rest = groups.length === palette.groups[theme()].length ? groups.length - 1 : -1; // the small ones together
    return { name, group, colours: groups.map((_, g) => palette.groups[theme()][g]), groups, rest };
  }
  const ramp = palette.ramps[theme()], { low, high, of } = shares(values, 0.5);
  for (let v = 0; v < data.nodes; v++) group[v] = Number.isNaN(values[v]) ? ramp.length : Math.min(ramp.length - 1, Math.floor(of(values[v]) * ramp.length));
  return { name, group, colours: [...ramp, tint("dropped")], groups: null, low, high };
}

/* Classes of the edges: the width by weight, the colour by score. */
function edgeStyle(data, state) {
  if (state.edgeBy === "weight" && data.weights) {
    const { low, high, of } = shares(Float64Array.from(data.weights, (w) => Math.log(w)));
    const step = Uint8Array.from(data.weights, (w) => Math.min(4, Math.floor(5 * of(Math.log(w)))));
    return { step, widths: [0.5, 0.9, 1.4, 2.1, 3.2], low: Math.exp(low), high: Math.exp(high), name: data.weight ?? "weight" };
  }
  if (state.edgeBy === "score") {
    const colours = data.palette.ramps[theme()].slice(2);
    const step = new Uint8Array(data.edges);
    for (let e = 0; e < data.edges; e++) step[e] = Math.min(colours.length - 1, Math.floor(data.score(state.beta, state.keep, e)[0] * colours.length));
    return { step, colours, name: "score" };
  }
  return {};
}

/* Numbers from 0 to 1 by which the discs of nodes are as large. */
function sizes(data, index) {
  if (index === null) return null;
  const values = data["attribute" + index], { of } = shares(values);
  return Float64Array.from(values, (x) => (Number.isNaN(x) ? 0 : of(x)));
}
