/* Small curves of the measures, along the budgets or along β, with the place where the sliders stand. */
const MEASURES = [
  ["entropy", "S, entropy"], ["divergence", "D, divergence"], ["objective", "J, objective"],
  ["spectral_distance", "dₓ, spectral"], ["centralisation", "C_D, hubs"], ["components", "components"],
];
const WIDTH = 160, HEIGHT = 58;

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
    for (const [name, title] of MEASURES) {
      const values = data.values.filter((_, i) => name === "objective" || data.columns[i % data.columns.length] === name);
      if (values.every(Number.isNaN)) continue;
      const box = element("div", null, root);
      const head = element("div", null, box, "name");
      element("span", title, head);
      const ours = element("b", "", head), theirs = element("b", "", head);
      const chart = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" }, box);
      chart.addEventListener("click", (event) => this.click(event, chart));
      this.charts.push({ name, title, ours, theirs, chart });
    }
  }

  count(along) { return along === "keep" ? this.data.stops : this.data.betas.length; }

  place(along, i) {
    const shares = this.data;
    if (this.count(along) < 2) return WIDTH / 2;
    if (along === "beta") return (i / (this.count(along) - 1)) * WIDTH;
    const [low, high] = [shares.share(0), shares.share(shares.stops - 1)];
    return ((shares.share(i) - low) / (high - low)) * WIDTH;
  }

  click(event, chart) {
    const box = chart.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * WIDTH;
    let best = 0;
    for (let i = 0; i < this.count(this.along); i++) {
      if (Math.abs(this.place(this.along, i) - x) < Math.abs(this.place(this.along, best) - x)) best = i;
    }
    this.go(this.along, best);
  }

  update(state) {
    this.along = state.along;
    for (const chart of this.charts) this.draw(chart, state);
  }

  series(name, { along, beta, keep }, baseline) {
    return Array.from({ length: this.count(along) }, (_, i) =>
      along === "keep" ? this.data.value(name, beta, i, baseline) : this.data.value(name, i, keep, baseline));
  }

  draw({ name, title, ours, theirs, chart }, state) {
    const lines = [["ours", this.series(name, state, null)]];
    if (state.baseline !== null) lines.push(["theirs", this.series(name, state, state.baseline)]);
    const all = lines.flatMap(([, values]) => values).filter(Number.isFinite);
    const low = Math.min(...all), high = Math.max(...all);
    const up = (value) => HEIGHT - 4 - ((high > low ? (value - low) / (high - low) : 0.5) * (HEIGHT - 16));
    const at = state.along === "keep" ? state.keep : state.beta;
    const x = this.place(state.along, at);
    chart.replaceChildren();
    svg("path", { class: "frame", d: `M0 ${HEIGHT}H${WIDTH}` }, chart);
    svg("path", { class: "now", d: `M${x} 4V${HEIGHT}` }, chart);
    for (const [kind, values] of lines) {
      let d = "", pen = "M";
      values.forEach((value, i) => {
        if (!Number.isFinite(value)) { pen = "M"; return; }
        d += `${pen}${this.place(state.along, i).toFixed(2)} ${up(value).toFixed(2)}`;
        pen = "L";
      });
      svg("path", { class: kind, d }, chart);
      if (Number.isFinite(values[at])) {
        svg("ellipse", { class: kind === "ours" ? "at" : "at other", cx: x, cy: up(values[at]), rx: 4, ry: 4 }, chart);
      }
    }
    const now = lines.map(([, values]) => short(values[at]));
    ours.textContent = now[0];
    theirs.textContent = now[1] ?? "";
    const where = state.along === "keep" ? "edges kept" : "β";
    const beside = now[1] === undefined ? "" : `, ${now[1]} by ${this.data.baselines[state.baseline]}`;
    chart.setAttribute("aria-label", `${title} along ${where}, from ${short(low)} to ${short(high)}; now ${now[0]}${beside}`);
  }
}
