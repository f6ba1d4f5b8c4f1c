/* The drawing: three layers a pane, all edges below, kept edges and nodes over them, what is pointed at on top. */
const MOST_DROPPED = 40000; // of more edges than this, a part of the dropped ones is drawn
const LIVE = 8000; // edges up to which a pan redraws at once; else it moves the picture and redraws after it
const MANY = 12000; // kept edges above which a slider that moves draws them coarsely, and finely when it rests
const COARSE = 0.6;
const BATCH = 400; // lines a stroke; long paths are slow
const RIMMED = 1.5; // pixels of radius from which discs have a rim
const PALETTE = {
  light: ["#c8553d", "#2a8c62", "#c08a1e", "#8a5fb5", "#2899ad", "#b8487f", "#3569b0", "#6b7f2a", "#7a5c43", "#5560c8", "#93a3b5", "#c9ced6"],
  dark: ["#f08a72", "#5fcb9d", "#e6b85a", "#bb97e6", "#62cfe0", "#ee86b7", "#7fb2f0", "#abc264", "#bd9c80", "#9aa3f5", "#8493a6", "#566272"],
};
const RAMP = {
  light: ["#cfd9c5", "#a9cbb0", "#79b8a4", "#4a9f9d", "#2f8295", "#2b6389", "#2d4479", "#2c2a5e"],
  dark: ["#31416b", "#35609a", "#3b83b0", "#46a5b5", "#62c2ad", "#93d99d", "#cbea94", "#f8f7a5"],
};

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

  drawBase() {
    const context = this.context(0);
    const stride = Math.ceil(this.data.edges / MOST_DROPPED);
    context.strokeStyle = tint("dropped");
    context.globalAlpha = Math.min(0.75, Math.max(0.1, 26 / Math.sqrt(this.data.edges)));
    context.lineWidth = Math.min(1.1, Math.max(0.5, 28 / Math.sqrt(this.data.edges))) * this.grown();
    this.lines(context, (e) => e % stride === 0);
  }

  /* Lines of the edges that pass the test, in strokes of bounded length; those out of sight are left out. */
  lines(context, test) {
    const { source, target } = this.data;
    const { px, py, width, height } = this;
    let count = 0;
    context.beginPath();
    for (let e = 0; e < this.data.edges; e++) {
      if (!test(e)) continue;
      const u = source[e], v = target[e];
      const ax = px[u], ay = py[u], bx = px[v], by = py[v];
      if ((ax < 0 && bx < 0) || (ay < 0 && by < 0) || (ax > width && bx > width) || (ay > height && by > height)) continue;
      context.moveTo(ax, ay);
      context.lineTo(bx, by);
      if (++count % BATCH === 0) { context.stroke(); context.beginPath(); }
    }
    context.stroke();
  }

  grown() { return Math.min(2.6, Math.pow(this.camera.scale / this.camera.home, 0.35)); }

  keptWidth(count) { return Math.min(1.9, Math.max(0.55, 30 / Math.sqrt(count + 1))) * this.grown(); }

  drawFront(shown, style, quick) {
    this.shown_ = shown;
    const context = this.context(1, quick ? this.ratio * COARSE : this.ratio);
    const kept = shown.count;
    context.lineWidth = this.keptWidth(kept);
    context.globalAlpha = kept > 600 ? Math.max(0.28, Math.min(0.95, 24 / Math.sqrt(kept))) : 0.95;
    context.strokeStyle = tint("kept");
    const { mask, other } = shown;
    this.lines(context, other ? (e) => mask[e] && other[e] : (e) => mask[e]);
    if (other) {
      context.strokeStyle = tint("only");
      this.lines(context, (e) => mask[e] && !other[e]);
    }
    context.globalAlpha = 1;
    this.drawNodes(context, shown.degrees, style);
    if (style.labels) this.drawLabels(context, this.hubs(shown.degrees), style);
  }

  radius(degree) {
    const n = this.data.nodes;
    const most = Math.min(13, Math.max(4.5, 110 / Math.sqrt(n)));
    const least = Math.min(3.2, Math.max(1, 40 / Math.sqrt(n)));
    const small = Math.min(1, Math.max(0.55, Math.min(this.width, this.height) / 450));
    this.top_ ??= this.data.original.reduce((a, b) => Math.max(a, b), 1);
    return (least + (most - least) * Math.sqrt(degree / this.top_)) * this.grown() * small;
  }

  /* Discs in the colours of their groups; nodes that lost all their edges are rings. Small ones have no rim. */
  drawNodes(context, degrees, style) {
    const filled = style.colours.map(() => []), lost = style.colours.map(() => []);
    for (let v = 0; v < this.data.nodes; v++) {
      if (this.px[v] < -20 || this.py[v] < -20 || this.px[v] > this.width + 20 || this.py[v] > this.height + 20) continue;
      (degrees[v] === 0 ? lost : filled)[style.group[v]].push(v);
    }
    const rimmed = this.radius(0) >= RIMMED;
    context.lineWidth = 1;
    style.colours.forEach((colour, g) => {
      context.fillStyle = colour;
      context.strokeStyle = tint("canvas");
      this.discs(context, filled[g], degrees, rimmed);
    });
    context.fillStyle = tint("canvas");
    style.colours.forEach((colour, g) => {
      context.strokeStyle = colour;
      this.discs(context, lost[g], degrees, true);
    });
  }

  discs(context, nodes, degrees, rimmed) {
    for (let i = 0; i < nodes.length; i += BATCH) {
      context.beginPath();
      for (const v of nodes.slice(i, i + BATCH)) {
        const r = this.radius(degrees[v]);
        context.moveTo(this.px[v] + r, this.py[v]);
        context.arc(this.px[v], this.py[v], r, 0, 2 * Math.PI);
      }
      context.fill();
      if (rimmed) context.stroke();
    }
  }

  /* Nodes to be named: those of most kept edges that are in sight. */
  hubs(degrees) {
    const seen = [];
    for (let v = 0; v < this.data.nodes; v++) {
      if (this.px[v] > 0 && this.py[v] > 0 && this.px[v] < this.width && this.py[v] < this.height) seen.push(v);
    }
    const most = Math.round((this.width * this.height) / 16000);
    return seen.sort((a, b) => degrees[b] - degrees[a] || a - b).slice(0, Math.min(most, 60));
  }

  drawLabels(context, nodes, style) {
    const taken = [];
    context.font = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
    context.textAlign = "center";
    context.textBaseline = "top";
    context.lineJoin = "round";
    for (const v of nodes) {
      const text = clipped(this.data.label(v), 24);
      const half = context.measureText(text).width / 2 + 2;
      const y = this.py[v] + this.radius(this.shown_.degrees[v]) + 2;
      const box = [this.px[v] - half, y, this.px[v] + half, y + 14];
      if (taken.some((t) => t[0] < box[2] && box[0] < t[2] && t[1] < box[3] && box[1] < t[3])) continue;
      taken.push(box);
      context.lineWidth = 3;
      context.strokeStyle = tint("canvas");
      context.strokeText(text, this.px[v], y);
      context.fillStyle = tint("ink");
      context.fillText(text, this.px[v], y);
    }
  }

  /* What is pointed at and what is picked: {node} or {edge}. */
  drawTop(things, shown, style) {
    const context = this.context(2);
    for (const thing of things) {
      if (thing === null) continue;
      const edges = thing.edge !== undefined ? [thing.edge] : [...this.data.edgesOf(thing.node)].filter((e) => shown.mask[e]);
      context.strokeStyle = tint("mark");
      context.lineWidth = this.keptWidth(shown.count) + 1.2;
      if (thing.edge !== undefined && !shown.mask[thing.edge]) context.setLineDash([5, 4]);
      const chosen = new Set(edges);
      this.lines(context, (e) => chosen.has(e));
      context.setLineDash([]);
      const ends = thing.edge !== undefined ? [this.data.source[thing.edge], this.data.target[thing.edge]] : [thing.node];
      context.fillStyle = tint("mark");
      context.strokeStyle = tint("canvas");
      context.lineWidth = 1.5;
      this.discs(context, ends, shown.degrees, true);
      if (style.labels) this.drawLabels(context, ends, style);
    }
  }

  /* The node, or else the edge, at a place. */
  pick(x, y) {
    let best = null, least = 11 * 11;
    for (let v = 0; v < this.data.nodes; v++) {
      const d = (this.px[v] - x) ** 2 + (this.py[v] - y) ** 2 - this.radius(this.shown_.degrees[v]) ** 2 / 2;
      if (d < least) { least = d; best = { node: v }; }
    }
    if (best) return best;
    least = 5 * 5;
    const { px, py, data } = this;
    for (const wanted of [1, 0]) {
      for (let e = 0; e < data.edges; e++) {
        if (this.shown_.mask[e] !== wanted) continue;
        const d = toSegment(x, y, px[data.source[e]], py[data.source[e]], px[data.target[e]], py[data.target[e]]);
        if (d < least) { least = d; best = { edge: e }; }
      }
      if (best) return best;
    }
    return null;
  }

  /* All layers as one picture. */
  flat() {
    const canvas = document.createElement("canvas");
    canvas.width = this.canvases[0].width;
    canvas.height = this.canvases[0].height;
    const context = canvas.getContext("2d");
    context.fillStyle = tint("canvas");
    context.fillRect(0, 0, canvas.width, canvas.height);
    for (const layer of this.canvases) context.drawImage(layer, 0, 0, canvas.width, canvas.height);
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

/* Colours of the nodes by an attribute: a group of each node, and the colour of each group. */
function nodeStyle(data, index) {
  const values = data["attribute" + index];
  const group = new Uint8Array(data.nodes);
  const { groups } = data.attributes[index];
  if (groups !== null) {
    for (let v = 0; v < data.nodes; v++) group[v] = values[v];
    return { group, colours: groups.map((_, g) => PALETTE[theme()][g]), groups };
  }
  const there = values.filter((x) => !Number.isNaN(x)).sort();
  const [low, high] = [there[0], there[there.length - 1]];
  const steps = RAMP[theme()].length;
  for (let v = 0; v < data.nodes; v++) {
    const t = high > low ? (values[v] / 2 - low / 2) / (high / 2 - low / 2) : 0;
    group[v] = Number.isNaN(values[v]) ? steps : Math.min(steps - 1, Math.floor(t ** 0.5 * steps));
  }
  return { group, colours: [...RAMP[theme()], tint("dropped")], groups: null, low, high };
}
