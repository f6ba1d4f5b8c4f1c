/* Curves of the measures along the budgets or along β, and S against D over all stops, with where the sliders stand. */
const MEASURES = [
  ["entropy", "S, entropy", "nats", "How evenly the kept edges are spread: small where few hubs have them, at most the log of the number of nodes less one."],
  ["divergence", "D, divergence", "nats", "How unlike the original the kept graph is: 0 for all edges, less is more alike."],
  ["objective", "J, objective", "nats", "What is minimised: S + 2β D, and the degree barrier where alpha is set. Only values at the same β compare."],
  ["spectral_distance", "dₓ, spectral", "no unit", "How far the original's energies of random signals change: 0 where none does."],
  ["centralisation", "C_D, hubs", "0 to 1", "How much one node has all the edges: 1 for a star, 0 where all have as many."],
  ["components", "components", "count", "Connected pieces of the kept graph; a node without edges is one."],
  ["between", "between groups", "edges", "Kept edges that join two of the groups shown: at 0 they have come apart. A click in the legend hides a group."],
];
const WIDTH = 160, HEIGHT = 92, LEFT = 31, RIGHT = 4, TOP = 6, BOTTOM = 14;

function svg(name, attributes, parent) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (parent) parent.append(element);
  return element;
}

function element(name, text, parent, className) {
  const made = document.createElement(name);
  if (text !== null) made.textContent = text;
  if (className) made.className = className;
  if (parent) parent.append(made);
  return made;
}

class Curves {
  constructor(data, root, go) {
    this.data = data;
    this.go = go;
    this.charts = [];
    for (const [name, title, unit, about] of MEASURES) {
      const values = data.values.filter((_, i) => name === "objective" || name === "between" || data.columns[i % data.columns.length] === name);
      if (values.every(Number.isNaN)) continue;
      this.add(root, { name, title, unit, about });
    }
    this.add(root, { name: "pareto", title: "S against D", unit: "nats", about: "Every stop of this page as a point: β trades one for the other. Lower left is better." });
  }

  add(root, { name, title, unit, about }) {
    const box = element("div", null, root, "chart");
    const head = element("div", null, box, "name");
    const larger = element("button", title, head);
    larger.type = "button";
    larger.title = `${about} (${unit}) Click to enlarge.`;
    larger.setAttribute("aria-expanded", "false");
    const ours = element("b", "", head), theirs = element("b", "", head);
    const chart = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" }, box);
    const told = element("p", about, box, "about");
    told.hidden = true;
    const made = { name, title, unit, about, ours, theirs, chart, box, told, points: [] };
    larger.addEventListener("click", () => {
      const large = box.classList.toggle("large");
      larger.setAttribute("aria-expanded", String(large));
      told.hidden = !large;
      this.draw(made, this.state);
    });
    chart.addEventListener("click", (event) => { const at = this.near(made, event); if (at) this.go(at.change); });
    chart.addEventListener("pointermove", (event) => this.hover(made, this.near(made, event)));
    chart.addEventListener("pointerleave", () => this.hover(made, null));
    this.charts.push(made);
  }

  count(along) { return along === "keep" ? this.data.stops : this.data.betas.length; }

  place(along, i) {
    const inner = WIDTH - LEFT - RIGHT;
    if (this.count(along) < 2) return WIDTH / 2;
    if (along === "beta") return LEFT + (i / (this.count(along) - 1)) * inner;
    const [low, high] = [this.data.share(0), this.data.share(this.data.stops - 1)];
    return LEFT + ((this.data.share(i) - low) / (high - low)) * inner;
  }

  /* The point that a pointer is nearest to: along the axis, or in the plane of S and D. */
  near(made, event) {
    const box = made.chart.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * WIDTH, y = ((event.clientY - box.top) / box.height) * HEIGHT;
    let best = null, least = Infinity;
    for (const point of made.points) {
      const d = made.name === "pareto" ? Math.hypot(point.x - x, point.y - y) : Math.abs(point.x - x);
      if (d < least) { least = d; best = point; }
    }
    return best;
  }

  hover(made, point) {
    made.chart.querySelector(".hover")?.remove();
    if (!point) return;
    const group = svg("g", { class: "hover" }, made.chart);
    if (made.name !== "pareto") svg("path", { class: "now", d: `M${point.x} ${TOP}V${HEIGHT - BOTTOM}` }, group);
    svg("circle", { class: "at", cx: point.x, cy: point.y, r: 2.5 }, group);
    const left = point.x > WIDTH / 2;
    svg("text", { x: left ? point.x - 4 : point.x + 4, y: TOP + 8, "text-anchor": left ? "end" : "start", class: "told" }, group).textContent = point.text;
  }

  update(state) {
    this.state = state;
    for (const chart of this.charts) this.draw(chart, state);
  }

  series(name, { along, beta, keep }, baseline) {
    return Array.from({ length: this.count(along) }, (_, i) =>
      along === "keep" ? this.data.value(name, beta, i, baseline) : this.data.value(name, i, keep, baseline));
  }

  axes(chart, [left, right], [low, high], what, unit) {
    svg("path", { class: "frame", d: `M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${WIDTH - RIGHT}` }, chart);
    const word = (x, y, anchor, text) => { svg("text", { x, y, "text-anchor": anchor }, chart).textContent = text; };
    word(LEFT - 3, TOP + 6, "end", high);
    if (high !== low) word(LEFT - 3, HEIGHT - BOTTOM, "end", low);
    word(LEFT, HEIGHT - 3, "start", left);
    word(WIDTH - RIGHT, HEIGHT - 3, "end", right);
    word((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 3, "middle", what);
    const upright = `translate(${LEFT - 5} ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)`;
    svg("text", { transform: upright, "text-anchor": "middle" }, chart).textContent = unit;
  }

  draw(made, state) {
    made.box.hidden = made.name === "between" && this.data.joining === null;
    if (made.box.hidden) return;
    made.chart.replaceChildren();
    if (made.name === "pareto") this.pareto(made, state); else this.curve(made, state);
  }

  curve(made, state) {
    const { name, title, unit, ours, theirs, chart } = made, { data } = this;
    const lines = [["ours", this.series(name, state, null)]];
    if (state.baseline !== null) lines.push(["theirs", this.series(name, state, state.baseline)]);
    const all = lines.flatMap(([, values]) => values).filter(Number.isFinite);
    const low = Math.min(...all), high = Math.max(...all);
    const up = (value) => HEIGHT - BOTTOM - 2 - ((high > low ? (value - low) / (high - low) : 0.5) * (HEIGHT - TOP - BOTTOM - 6));
    const keep = state.along === "keep", at = keep ? state.keep : state.beta, last = this.count(state.along) - 1;
    const word = (i) => (keep ? percent(data.share(i)) : String(data.betas[i]));
    const x = this.place(state.along, at);
    this.axes(chart, [word(0), word(last)], [brief(low, high), brief(high, low)], keep ? "edges kept" : "β", unit);
    svg("path", { class: "now", d: `M${x} ${TOP}V${HEIGHT - BOTTOM}` }, chart);
    made.points = [];
    for (const [kind, values] of lines) {
      let d = "", pen = "M";
      values.forEach((value, i) => {
        if (!Number.isFinite(value)) { pen = "M"; return; }
        d += `${pen}${this.place(state.along, i).toFixed(2)} ${up(value).toFixed(2)}`;
        pen = "L";
        if (kind === "ours") {
          const other = lines[1] === undefined ? "" : `, ${short(lines[1][1][i])}`;
          made.points.push({ x: this.place(state.along, i), y: up(value), change: { [state.along]: i }, text: `${keep ? word(i) : `β ${word(i)}`}: ${short(value)}${other}` });
        }
      });
      svg("path", { class: kind, d }, chart);
      if (Number.isFinite(values[at])) svg("circle", { class: kind === "ours" ? "at" : "at other", cx: x, cy: up(values[at]), r: 3 }, chart);
      const least = Math.min(...values.filter(Number.isFinite)), where = values.indexOf(least);
      if (kind === "ours" && where >= 0 && high > low) {
        const mark = svg("circle", { class: "least", cx: this.place(state.along, where), cy: up(least), r: 2 }, chart);
        svg("title", {}, mark).textContent = `minimum ${short(least)} at ${word(where)}`;
      }
    }
    const now = lines.map(([, values]) => short(values[at]));
    ours.textContent = now[0];
    theirs.textContent = now[1] ?? "";
    const beside = now[1] === undefined ? "" : `, ${now[1]} by ${data.baselines[state.baseline]}`;
    chart.setAttribute("aria-label", `${title} in ${unit} along ${keep ? "edges kept" : "β"}, from ${short(low)} to ${short(high)}; now ${now[0]}${beside}`);
  }

  /* The plane of S and D: its range, and every stop as a point; the same whatever the sliders say. */
  plane() {
    const { data } = this, there = [];
    for (let b = 0; b < data.betas.length; b++) {
      for (let k = 0; k < data.stops; k++) {
        const [d, s] = ["divergence", "entropy"].map((name) => data.value(name, b, k, null));
        if (Number.isFinite(d) && Number.isFinite(s)) there.push([d, s, b, k]);
      }
    }
    const range = (i) => [Math.min(...there.map((p) => p[i])), Math.max(...there.map((p) => p[i]))];
    const [[left, right], [low, high]] = [range(0), range(1)];
    const across = (d) => LEFT + 3 + (right > left ? (d - left) / (right - left) : 0.5) * (WIDTH - LEFT - RIGHT - 6);
    const up = (s) => HEIGHT - BOTTOM - 3 - (high > low ? (s - low) / (high - low) : 0.5) * (HEIGHT - TOP - BOTTOM - 6);
    const points = there.map(([d, s, b, k]) => (
      { x: across(d), y: up(s), change: { beta: b, keep: k }, text: `β ${data.betas[b]}, ${percent(data.share(k))}: D ${short(d)}, S ${short(s)}` }));
    return { across, up, points, ends: [brief(left, right), brief(right, left), brief(low, high), brief(high, low)], dots: points.map(({ x, y }) => `M${x.toFixed(1)} ${y.toFixed(1)}h0`).join("") };
  }

  /* Every stop as a point; those of the current budget joined along β. */
  pareto(made, state) {
    const { chart } = made, { data } = this, { across, up, points, ends, dots } = (this.plane_ ??= this.plane());
    this.axes(chart, ends.slice(0, 2), ends.slice(2), "D, nats", "S, nats");
    made.points = points;
    svg("path", { class: "dots", d: dots }, chart);
    const along = points.filter(({ change }) => change.keep === state.keep);
    svg("path", { class: "ours", d: along.map(({ x, y }, i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("") }, chart);
    const now = [null, ...(state.baseline === null ? [] : [state.baseline])].map((baseline) => ["divergence", "entropy"].map((name) => data.value(name, state.beta, state.keep, baseline)));
    now.forEach(([d, s], i) => svg("circle", { class: i ? "at other" : "at", cx: Math.min(Math.max(across(d), 0), WIDTH), cy: Math.min(Math.max(up(s), 0), HEIGHT), r: 3 }, chart));
    chart.setAttribute("aria-label", `S against D of all ${points.length} stops; now S ${short(now[0][1])}, D ${short(now[0][0])}`);
  }
}
