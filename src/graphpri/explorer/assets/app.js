/* What the controls do. */
const QUICK = 150; // milliseconds without a move after which the picture is drawn anew

class App {
  constructor(data) {
    this.data = data;
    this.camera = new Camera();
    this.panes = [...document.querySelectorAll(".pane")].map((figure) => new Pane(figure, data, this.camera));
    this.state = { keep: nearest(data.budgets, 0.3 * data.edges), beta: nearest(data.betas, 4), baseline: null, along: "keep", labels: true, colour: 0, edgeBy: "", size: null, layout: 0, part: null, least: 0, keptOnly: false, bundles: "", changes: false };
    this.hidden = new Set(); // groups that the legend hides
    this.chosen = new Set(); // nodes in the lasso
    this.parts = components(data);
    this.hover = this.picked = null;
    this.curves = new Curves(data, $("curves"), (change) => this.go(change));
    this.fill();
    this.restore();
    this.listen();
    this.resize();
    const watcher = new ResizeObserver(() => this.resize());
    for (const place of document.querySelectorAll("#panes, .layers")) watcher.observe(place);
  }

  fill() {
    const { data } = this;
    const edges = (k) => `${k} of ${data.edges} (${percent(k / data.edges)})`;
    $("summary").textContent = `${data.nodes} nodes, ${data.edges} edges` + (data.weights ? ", weighted" : "");
    $("keep").max = data.stops - 1;
    $("beta").max = data.betas.length - 1;
    $("keep").disabled = data.stops < 2;
    $("beta").disabled = data.betas.length < 2;
    [$("keepLow").textContent, $("keepHigh").textContent] = [edges(data.budgets[0]), edges(data.budgets[data.stops - 1])];
    if (data.betas.length > 1) {
      $("betaLow").textContent = `${data.betas[0]}: hubs`;
      $("betaHigh").textContent = `${data.betas[data.betas.length - 1]}: like the original`;
    }
    element("option", "nothing", $("baseline")).value = "";
    data.baselines.forEach((name, i) => { element("option", name, $("baseline")).value = i; });
    data.attributes.forEach((a, i) => { element("option", a.name, $("colour")).value = i; });
    const choices = (id, entries) => { for (const [value, text] of entries) element("option", text, $(id)).value = value; };
    choices("which", [["0", "Graph-PRI"]]);
    choices("edgeBy", [["", "nothing"], ...(data.weights ? [["weight", `width by ${data.weight ?? "weight"}`]] : []), ["score", "colour by score"]]);
    choices("size", [["", "edges kept"], ...data.attributes.flatMap((a, i) => (a.groups === null ? [[i, a.name]] : []))]);
    choices("part", [["", "all"], ...this.parts.sizes.slice(0, 30).map((n, i) => [i, `${i + 1}: ${n} node${n === 1 ? "" : "s"}`])]);
    $("least").max = Math.min(50, data.original.reduce((a, b) => Math.max(a, b), 0));
    const stride = Math.ceil(data.edges / MOST_DROPPED);
    const lines = [...data.about, `scores are shown for ${data.scored.length} of ${data.stops} budgets`];
    if (stride > 1) lines.push(`of the dropped edges, one in ${stride} is drawn; all kept edges are`);
    lines.push(`made by graphpri ${data.version}; nothing is loaded from anywhere`);
    for (const line of lines) element("li", line, $("about"));
  }

  listen() {
    for (const name of ["keep", "beta"]) $(name).addEventListener("input", () => this.go({ [name]: +$(name).value }));
    $("baseline").addEventListener("change", () => this.go({ baseline: $("baseline").value === "" ? null : +$("baseline").value }));
    $("colour").addEventListener("change", () => this.go({ colour: +$("colour").value }));
    $("labels").addEventListener("change", () => this.go({ labels: $("labels").checked }));
    for (const radio of document.querySelectorAll("[name=along]")) radio.addEventListener("change", () => this.go({ along: radio.value }));
    $("search").addEventListener("input", () => this.search());
    $("search").addEventListener("keydown", (event) => { if (event.key === "Enter") $("found").querySelector("button")?.click(); });
    $("theme").addEventListener("click", () => setTheme(theme() === "dark" ? "light" : "dark"));
    addEventListener("themed", () => this.draw());
    $("in").addEventListener("click", () => this.zoom(1.5));
    $("out").addEventListener("click", () => this.zoom(1 / 1.5));
    $("fit").addEventListener("click", () => this.fit());
    addEventListener("keydown", (event) => this.key(event));
    for (const pane of this.panes) this.point(pane);
    for (const name of ["keptOnly", "changes"]) $(name).addEventListener("change", () => this.go({ [name]: $(name).checked }));
    for (const id of ["edgeBy", "bundles"]) $(id).addEventListener("change", () => this.go({ [id]: $(id).value }));
    for (const button of document.querySelectorAll("[data-copies]")) {
      button.addEventListener("click", () => { this.writeNow(); copy(button); });
    }
    const number = (id) => ($(id).value === "" ? null : +$(id).value);
    for (const id of ["size", "part", "layout"]) $(id).addEventListener("change", () => this.go({ [id]: number(id) }));
    $("least").addEventListener("input", () => { $("leastNow").textContent = $("least").value; this.go({ least: +$("least").value }); });
    $("which").addEventListener("change", () => this.words());
    $("tableOf").addEventListener("change", () => this.table());
    $("data_").addEventListener("toggle", () => this.table());
    addEventListener("hashchange", () => {
      if (location.hash === this.written) return;
      this.written = location.hash;
      this.restore();
      this.go({ baseline: this.state.baseline });
    });
    this.downloads();
  }

  downloads() {
    const { data, state } = this;
    const shown = () => this.shown[+$("which").value] ?? this.shown[0], pane = () => this.panes[+$("which").value] ?? this.panes[0];
    const name = () => `${data.title.replace(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 60)}-${shown().count}-edges` + (shown().baseline === null ? "" : `-${data.baselines[shown().baseline]}`);
    const files = () => inFiles(data, shown(), this.seen, $("extent").value === "all");
    const give = (id, ending, kind, made) => $(id).addEventListener("click", () => offer(`${name()}${ending}`, made(), kind));
    give("csv", ".csv", "text/csv", () => edgesCsv(data, state, shown(), files()));
    give("nodesCsv", "-nodes.csv", "text/csv", () => nodesCsv(data, shown(), files()));
    give("graphml", ".graphml", "application/xml", () => asGraphml(data, state, shown(), files()));
    give("valuesCsv", "-values.csv", "text/csv", () => valuesCsv(data));
    give("svg", ".svg", "image/svg+xml", () => asSvg(pane(), shown(), this.style));
    $("png").addEventListener("click", () => pane().flat(2 * pane().ratio, [this.picked], this.chosen).toBlob((blob) => offer(`${name()}.png`, blob)));
    $("print").addEventListener("click", () => print());
  }

  /* Drag, wheel, pinch, hover and click. */
  point(pane) {
    const at = (event) => { const box = pane.top.parentElement.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    const down = new Map();
    let moved = false, held = null, lasso = null;
    pane.top.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.camera.zoom(Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) * 0.004), ...at(event));
      this.moveAll();
    }, { passive: false });
    pane.top.addEventListener("pointerdown", (event) => {
      pane.top.setPointerCapture(event.pointerId);
      down.set(event.pointerId, at(event));
      if (down.size > 1) return;
      moved = false;
      held = pane.pick(...at(event))?.node ?? null;
      lasso = event.shiftKey ? [at(event)] : null;
    });
    pane.top.addEventListener("pointermove", (event) => {
      const here = at(event), before = down.get(event.pointerId);
      if (!before) { this.point_(pane, here); return; }
      const [dx, dy] = [here[0] - before[0], here[1] - before[1]];
      if (!moved && Math.hypot(dx, dy) < 4) return;
      moved = true;
      if (lasso) { lasso.push(here); pane.drawTop([this.picked], this.shown[this.panes.indexOf(pane)], this.style, this.chosen, lasso); return; }
      if (held !== null && down.size === 1) {
        this.data.x[held] += dx / this.camera.scale;
        this.data.y[held] -= dy / this.camera.scale;
        down.set(event.pointerId, here);
        this.moving ??= requestAnimationFrame(() => { this.moving = undefined; this.draw(); });
        return;
      }
      const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
      if (other) {
        const ratio = Math.hypot(here[0] - other[0], here[1] - other[1]) / Math.max(1, Math.hypot(before[0] - other[0], before[1] - other[1]));
        this.camera.zoom(ratio, ...other);
      } else { this.camera.x += dx; this.camera.y += dy; }
      down.set(event.pointerId, here);
      this.moveAll();
    });
    const up = (event) => {
      if (!down.delete(event.pointerId) || event.type !== "pointerup") { lasso = null; return; }
      if (!moved) this.pick(pane.pick(...at(event)));
      else if (lasso) this.choose(pane, lasso);
      lasso = null;
    };
    pane.top.addEventListener("pointerup", up);
    pane.top.addEventListener("pointercancel", up);
    pane.top.addEventListener("pointerleave", () => this.point_(pane, null));
  }

  /* The nodes within a line, for the table. */
  choose(pane, line) {
    this.chosen = new Set();
    for (let v = 0; v < this.data.nodes; v++) if (this.seen[v] && inside(line, pane.px[v], pane.py[v])) this.chosen.add(v);
    $("data_").open = true;
    this.drawTop();
    this.table();
  }

  point_(pane, here) {
    const found = here && pane.pick(...here);
    if (JSON.stringify(found) !== JSON.stringify(this.hover)) {
      this.hover = found;
      this.drawTop();
    }
    const tip = $("tip");
    tip.hidden = !found;
    if (!found) return;
    tip.textContent = this.tell(found, this.panes.indexOf(pane));
    const box = pane.top.parentElement.getBoundingClientRect(), stage = $("stage").getBoundingClientRect();
    const x = box.left - stage.left + here[0];
    tip.style.left = `${Math.max(4, Math.min(x + 14, stage.width - tip.offsetWidth - 6))}px`;
    tip.style.top = `${Math.max(4, box.top - stage.top + here[1] - tip.offsetHeight - 8)}px`;
  }

  tell(thing, p) {
    const { data } = this, shown = this.shown[p];
    if (thing.node !== undefined) return `${clipped(data.label(thing.node), 60)}: ${shown.degrees[thing.node]} of ${data.original[thing.node]} edges kept`;
    const ends = [data.source[thing.edge], data.target[thing.edge]].map((v) => clipped(data.label(v), 40)).join(" – ");
    const [score, at] = data.score(this.state.beta, this.state.keep, thing.edge);
    return `${ends}: ${shown.mask[thing.edge] ? "kept" : "dropped"}, scores above ${percent(score)} of edges` + (at === this.state.keep ? "" : ` (at ${percent(data.share(at))} kept)`);
  }

  key(event) {
    if (event.key === "Escape") { this.chosen.clear(); this.table(); this.pick(null); $("search").value = ""; this.search(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type === "search") return;
    const { state } = this;
    const steps = { "[": ["keep", -1], "]": ["keep", 1], ",": ["beta", -1], ".": ["beta", 1] };
    if (event.key in steps) {
      const [name, by] = steps[event.key];
      this.go({ [name]: Math.max(0, Math.min(+$(name).max, state[name] + by)) });
    } else if (event.key === "/") { event.preventDefault(); $("search").focus(); }
    else if (this.panes.some((pane) => pane.top === event.target)) this.move(event);
  }

  /* Keys of the drawing. */
  move(event) {
    const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (event.key in moves) {
      this.camera.x += moves[event.key][0];
      this.camera.y += moves[event.key][1];
      this.moveAll();
    } else if (event.key === "+" || event.key === "=") this.zoom(1.25);
    else if (event.key === "-") this.zoom(0.8);
    else if (event.key === "0") this.fit();
    else if (event.key === "n" || event.key === "p") this.nextNode(event.key === "n" ? 1 : -1);
    else if (event.key === "e") this.nextEdge();
    else return;
    event.preventDefault();
  }

  nextNode(by) {
    const { degrees } = this.shown[0];
    const order = Array.from(degrees.keys()).sort((a, b) => degrees[b] - degrees[a] || a - b);
    const from = this.picked?.node ?? this.last;
    const at = from === undefined ? (by > 0 ? -1 : 0) : order.indexOf(from);
    this.pick({ node: order[(at + by + order.length) % order.length] });
  }

  nextEdge() {
    const node = this.picked?.node ?? this.last;
    if (node === undefined) return;
    const edges = [...this.data.edgesOf(node)].filter((e) => this.shown[0].mask[e]);
    if (edges.length) this.pick({ edge: edges[(edges.indexOf(this.picked?.edge ?? -1) + 1) % edges.length] });
  }

  search() {
    const plain = (text) => text.replace(/\s+/g, " ").trim().toLocaleLowerCase();
    const wanted = plain($("search").value);
    $("found").replaceChildren();
    if (!wanted) return;
    const ranked = [];
    for (let v = 0; v < this.data.nodes; v++) {
      const label = plain(this.data.label(v)), at = label.indexOf(wanted);
      if (at >= 0) ranked.push([at > 0 ? 2 : label === wanted ? 0 : 1, -this.data.original[v], v]);
    }
    ranked.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
    for (const [, , v] of ranked.slice(0, 7)) {
      const button = element("button", this.data.label(v), element("li", null, $("found")));
      button.type = "button";
      button.dir = "auto";
      button.addEventListener("click", () => { this.pick({ node: v }); this.centre(v); $("found").replaceChildren(); });
    }
    if (!ranked.length) element("li", "no node of that name", $("found"));
  }

  centre(node) {
    const pane = this.panes[0];
    const [x, y] = [this.data.x[node] * this.camera.scale + this.camera.x, this.camera.y - this.data.y[node] * this.camera.scale];
    if (x > 20 && y > 20 && x < pane.width - 20 && y < pane.height - 20) return;
    this.camera.x += pane.width / 2 - x;
    this.camera.y += pane.height / 2 - y;
    this.draw();
  }

  pick(thing) {
    this.picked = thing;
    if (thing?.node !== undefined) this.last = thing.node;
    this.describe();
    this.drawTop();
    this.write();
  }

  describe() {
    const box = $("picked"), { data, state, picked } = this;
    box.replaceChildren();
    if (picked === null) return;
    const name = picked.node !== undefined ? data.label(picked.node) : `${data.label(data.source[picked.edge])} – ${data.label(data.target[picked.edge])}`;
    element("strong", name, box).dir = "auto";
    const list = element("dl", null, box);
    for (const [key, value] of picked.node !== undefined ? this.nodeFacts(picked.node) : this.edgeFacts(picked.edge)) {
      element("dt", key, list);
      element("dd", value, list).dir = "auto";
    }
  }

  nodeFacts(node) {
    const { data, state } = this;
    const facts = [["edges kept", `${this.shown[0].degrees[node]} of ${data.original[node]}`]];
    if (state.baseline !== null) facts.push([`by ${data.baselines[state.baseline]}`, String(this.shown[1].degrees[node])]);
    data.attributes.forEach((a, i) => {
      const value = data["attribute" + i][node];
      if (!(a.name in data.nodeValues) && a.name !== "degree in the original") facts.push([a.name, a.groups === null ? short(value) : a.groups[value]]);
    });
    for (const [name, values] of Object.entries(data.nodeValues)) if (values[node] !== null) facts.push([name, String(values[node])]);
    facts.push(["loses its last edge", data.original[node] ? data.lastEdge(state.beta, node) : "has none in the original"]);
    if (!this.seen[node]) facts.push(["in the drawing", "no: a filter hides it"]);
    return facts;
  }

  edgeFacts(edge) {
    const { data, state } = this;
    const [score, at] = data.score(state.beta, state.keep, edge);
    const facts = [
      ["now", this.shown[0].mask[edge] ? "kept" : "dropped"],
      ["kept at", data.keptAt(state.beta, edge)],
      [`score −∂J/∂w at ${percent(data.share(at))}`, `above ${percent(score)} of edges`],
    ];
    if (data.weights) facts.push(["weight", short(data.weights[edge])]);
    if (state.baseline !== null) {
      const place = data["order" + state.baseline].indexOf(edge) + 1;
      facts.push([data.baselines[state.baseline], `${this.shown[1].mask[edge] ? "kept" : "dropped"}, rank ${place} of ${data.edges}`]);
    }
    return facts;
  }

  go(change) {
    Object.assign(this.state, change);
    if ("layout" in change || ("colour" in change && this.state.layout === 1)) this.layOut();
    if ("baseline" in change) {
      const entries = [...$("which").options], chosen = $("which").value;
      if (entries.length > 1) entries[1].remove();
      if (change.baseline !== null) {
        element("option", this.data.baselines[change.baseline], $("which")).value = "1";
        $("which").value = chosen;
      }
      this.panes[1].figure.hidden = change.baseline === null;
      $("baseline").value = change.baseline ?? "";
      $("curves").classList.toggle("two", change.baseline !== null);
      this.words();
      if (!this.resize()) this.draw();
      return;
    }
    if ("colour" in change) this.hidden.clear();
    if (Object.keys(change).every((name) => name === "keep" || name === "beta")) this.step(); else this.draw();
  }

  /* Places as they were computed, or a circle whose groups stand together. */
  layOut() {
    const { data } = this;
    data.x.set(data.home[0]);
    data.y.set(data.home[1]);
    if (this.state.layout === 1) {
      const { group } = nodeStyle(data, this.state.colour);
      const order = Array.from({ length: data.nodes }, (_, v) => v).sort((a, b) => group[a] - group[b] || data.original[b] - data.original[a] || a - b);
      order.forEach((v, i) => { data.x[v] = Math.sin((2 * Math.PI * i) / data.nodes); data.y[v] = Math.cos((2 * Math.PI * i) / data.nodes); });
    }
    this.camera.fit(data, this.panes[0].width, this.panes[0].height);
  }

  /* Nodes that pass the filters. */
  filter() {
    const { data, state } = this;
    this.seen = new Uint8Array(data.nodes);
    for (let v = 0; v < data.nodes; v++) {
      this.seen[v] = +((state.part === null || this.parts.of[v] === state.part) && data.original[v] >= state.least && !this.hidden.has(this.style.group[v]));
    }
    for (const pane of this.panes) pane.seen = this.seen;
    const counted = JSON.stringify([state.colour, state.part, state.least, [...this.hidden].sort()]);
    if (counted !== this.counted) data.watch(this.style, this.seen);
    this.counted = counted;
  }

  /* Take the state from the address: #beta=4&keep=23&beside=random&colour=club; all but zoom, moved nodes and lasso. */
  restore() {
    const { data, state } = this, given = new URLSearchParams(location.hash.slice(1)), before = state.layout;
    const at = (name, values) => (given.has(name) && values.indexOf(given.get(name)) >= 0 ? values.indexOf(given.get(name)) : null);
    if (Number.isFinite(parseFloat(given.get("beta")))) state.beta = nearest(data.betas, +given.get("beta"));
    if (Number.isFinite(parseFloat(given.get("keep")))) state.keep = nearest(data.budgets, +given.get("keep"));
    state.baseline = at("beside", data.baselines);
    state.colour = at("colour", data.attributes.map((a) => a.name)) ?? 0;
    state.size = at("size", data.attributes.map((a) => a.name));
    state.along = given.get("along") === "beta" ? "beta" : "keep";
    state.edgeBy = ["weight", "score"].includes(given.get("edges")) ? given.get("edges") : "";
    $("keptOnly").checked = state.keptOnly = given.get("keptOnly") === "1";
    $("bundles").value = state.bundles = ["0", "1"].includes(given.get("bundles")) ? given.get("bundles") : "";
    $("colour").value = state.colour;
    $("size").value = state.size ?? "";
    $("edgeBy").value = state.edgeBy;
    document.querySelector(`[name=along][value=${state.along}]`).checked = true;
    $("changes").checked = state.changes = given.get("changes") === "1";
    $("labels").checked = state.labels = given.get("names") !== "0";
    $("layout").value = state.layout = given.get("layout") === "circle" ? 1 : 0;
    const part = parseInt(given.get("component")) - 1;
    $("part").value = state.part = part >= 0 && part < $("part").options.length - 1 ? part : null;
    $("leastNow").textContent = $("least").value = state.least = Math.min(Math.max(0, parseInt(given.get("least")) || 0), +$("least").max);
    this.hidden = new Set(given.getAll("hidden").map((name) => (data.attributes[state.colour].groups ?? []).indexOf(name)).filter((g) => g >= 0));
    const node = given.has("node") ? Array.from({ length: data.nodes }, (_, v) => v).find((v) => data.label(v) === given.get("node")) : undefined;
    this.picked = node === undefined ? null : { node };
    if (state.layout !== before) this.layOut();
  }

  address() {
    const { data, state } = this;
    const told = { beta: data.betas[state.beta], keep: data.budgets[state.keep] };
    if (state.baseline !== null) told.beside = data.baselines[state.baseline];
    if (state.colour) told.colour = data.attributes[state.colour].name;
    if (state.size !== null) told.size = data.attributes[state.size].name;
    if (state.edgeBy) told.edges = state.edgeBy;
    if (state.along !== "keep") told.along = state.along;
    if (state.keptOnly) told.keptOnly = 1;
    if (state.bundles) told.bundles = state.bundles;
    if (state.changes) told.changes = 1;
    if (!state.labels) told.names = 0;
    if (state.layout) told.layout = "circle";
    if (state.part !== null) told.component = state.part + 1;
    if (state.least) told.least = state.least;
    if (this.picked?.node !== undefined) told.node = data.label(this.picked.node);
    const address = new URLSearchParams(told);
    for (const group of this.hidden) address.append("hidden", data.attributes[state.colour].groups[group]);
    return `#${address}`;
  }

  /* Write the state into the address, soon: browsers allow only so many changes a second. */
  write() {
    clearTimeout(this.writing);
    this.writing = setTimeout(() => this.writeNow(), 120);
  }

  writeNow() {
    clearTimeout(this.writing);
    this.written = this.address();
    $("link").href = this.written;
    $("link").textContent = this.written;
    try { history.replaceState(null, "", this.written); } catch { /* a frame without an address of its own */ }
  }

  /* The first rows of nodes or edges; those in the lasso, where there is one. */
  table() {
    const root = $("table"), { data, state } = this, MOST = 200;
    root.replaceChildren();
    if (!$("data_").open) return;
    const shown = this.shown[0], nodes = $("tableOf").value === "nodes";
    const here = (v) => this.seen[v] && (!this.chosen.size || this.chosen.has(v));
    const columns = nodes ? [["label", false, (v) => data.label(v)], ...nodeColumns(data, shown).filter(([name]) => name !== "x" && name !== "y")]
      : [["source", false, (e) => data.label(data.source[e])], ["target", false, (e) => data.label(data.target[e])], ...edgeColumns(data, state, shown)];
    const rows = [];
    for (let i = 0; i < (nodes ? data.nodes : data.edges); i++) if (nodes ? here(i) : here(data.source[i]) && here(data.target[i])) rows.push(i);
    const by = columns[Math.min(this.sorted ?? (nodes ? 2 : columns.length - 1), columns.length - 1)];
    const down = this.rising ? 1 : -1;
    const none = (value) => +(value === null || value === undefined || Number.isNaN(value)); // last in both orders
    rows.sort((a, b) => { const [x, y] = [by[2](a), by[2](b)]; return none(x) - none(y) || (x < y ? -1 : x > y ? 1 : 0) * down || a - b; });
    const table = element("table", null, root), head = element("tr", null, element("thead", null, table)), body = element("tbody", null, table);
    element("caption", `${rows.length} ${nodes ? "nodes" : "edges"}${rows.length > MOST ? `, the first ${MOST}` : ""}`, table);
    columns.forEach(([name], i) => {
      const cell = element("th", null, head), button = element("button", name, cell);
      cell.scope = "col";
      button.type = "button";
      cell.setAttribute("aria-sort", by === columns[i] ? (this.rising ? "ascending" : "descending") : "none");
      button.addEventListener("click", () => { this.rising = by === columns[i] && !this.rising; this.sorted = i; this.table(); });
    });
    for (const i of rows.slice(0, MOST)) {
      const row = element("tr", null, body);
      columns.forEach(([, number, value], c) => {
        const cell = element("td", c ? (number && value(i) !== null ? short(value(i)) : String(value(i) ?? "")) : null, row, number ? "number" : "");
        if (c) return;
        const button = element("button", String(value(i)), cell);
        button.type = "button";
        button.addEventListener("click", () => { this.pick(nodes ? { node: i } : { edge: i }); if (nodes) this.centre(i); });
      });
    }
  }

  /* Draw soon, once for all changes until then. */
  step() {
    this.asked ??= requestAnimationFrame(() => this.now());
  }

  now() {
    this.asked = undefined;
    const begin = performance.now();
    const quick = this.data.budgets[this.state.keep] * this.live.length > MANY;
    if (this.state.edgeBy === "score") this.style.edge = edgeStyle(this.data, this.state);
    clearTimeout(this.resting);
    this.update(quick);
    if (quick) this.resting = setTimeout(() => this.front(false), QUICK);
    this.lastStep = performance.now() - begin;
  }

  front(quick) { this.live.forEach((pane, p) => pane.drawFront(this.shown[p], this.style, quick)); }

  update(quick) {
    const { data, state } = this;
    const find = (baseline) => {
      const mask = data.mask(state.beta, state.keep, baseline), list = new Uint32Array(data.budgets[state.keep]);
      let at = 0;
      for (let e = 0; e < data.edges; e++) if (mask[e]) list[at++] = e;
      return { mask, list, degrees: data.degrees(mask), count: list.length, other: null, baseline };
    };
    const last = this.shown?.[0];
    this.shown = [find(null)];
    if (state.baseline !== null) {
      this.shown.push(find(state.baseline));
      [this.shown[0].other, this.shown[1].other] = [this.shown[1].mask, this.shown[0].mask];
    }
    const same = last && last.at === `${state.beta} ${state.keep}`;
    this.shown[0].at = `${state.beta} ${state.keep}`;
    this.shown[0].fresh = !last || !state.changes ? null : same ? last.fresh : this.shown[0].mask.map((kept, e) => kept & ~last.mask[e]);
    this.front(quick);
    this.drawTop();
    this.words();
    this.curves.update(state);
    this.describe();
    this.write();
    clearTimeout(this.listing);
    if ($("data_").open) this.listing = setTimeout(() => this.table(), QUICK);
  }

  get live() { return this.panes.filter((pane) => pane.shown); }

  words() {
    const { data, state } = this;
    const k = data.budgets[state.keep], beta = data.betas[state.beta];
    $("keep").value = state.keep;
    $("beta").value = state.beta;
    $("keepNow").textContent = `${k} · ${percent(k / data.edges)}`;
    $("betaNow").textContent = String(beta);
    $("keep").setAttribute("aria-valuetext", `${k} of ${data.edges} edges, ${percent(k / data.edges)}`);
    $("beta").setAttribute("aria-valuetext", `beta ${beta}`);
    const count = (what, baseline) => data.value(what, state.beta, state.keep, baseline);
    const told = (baseline) => {
      const parts = count("components", baseline), lost = count("cut_off", baseline);
      return `${k} edges` + (Number.isNaN(parts) ? "" : `, ${parts} component${parts === 1 ? "" : "s"}`) + (lost > 0 ? `, ${lost} cut off` : "");
    };
    caption($("caption0"), `Graph-PRI, β = ${beta}`, told(null));
    if (state.baseline !== null) caption($("caption1"), data.baselines[state.baseline], told(state.baseline));
    $("view0").setAttribute("aria-label", `Graph: ${told(null)} of ${data.edges}, β ${beta}`);
    $("view1").setAttribute("aria-label", `Beside it: ${state.baseline === null ? "" : `${data.baselines[state.baseline]}, ${told(state.baseline)}`}`);
    this.infinite ??= data.values.some((x) => Math.abs(x) === Infinity);
    $("key").textContent = (state.baseline === null ? "" : `Solid: Graph-PRI; dashed: ${data.baselines[state.baseline]}. `) + "S, D and J in nats; ○ is the minimum. Click a curve to go there, a name to enlarge it." + (this.infinite ? " ∞: a node has lost its last edge, and the degree barrier (alpha) forbids that." : "");
    this.sentence(k, beta);
    this.again(k, beta);
    clearTimeout(this.saying);
    this.saying = setTimeout(() => { $("said").textContent = `β ${beta}, ${told(null)}`; }, 400);
  }

  /* How to come by the edges of the drawing that is chosen for files. */
  again(k, beta) {
    const { call, baselines } = this.data;
    const method = $("which").value === "1" ? baselines[this.state.baseline] : null;
    $("python").textContent = `graphpri.explore(G${call.python}${method ? `, methods=["${method}"]` : ""}).mask(beta=${beta}, keep=${k}${method ? `, method="${method}"` : ""})`;
    $("command").textContent = `graphpri sparsify ${call.input} --keep ${k} ${method ? `--method ${method}${call.baseline}` : `--beta ${beta}${call.command}`}`;
    $("anew").textContent = method ? "these edges, on the shell" : "searched anew, longer";
  }

  /* What is kept, in one sentence. */
  sentence(k, beta) {
    const { data } = this, shown = this.shown[0];
    const lost = data.value("cut_off", this.state.beta, this.state.keep, null);
    const parts = [`${k} of ${data.edges} edges`];
    if (data.weights) {
      let [kept, all] = [0, 0];
      for (const e of shown.list) kept += data.weights[e];
      all = this.weight ??= data.weights.reduce((a, b) => a + b, 0);
      parts.push(`${percent(kept / all)} of the weight`);
    }
    parts.push(lost > 0 ? `${lost} node${lost === 1 ? "" : "s"} lost all of theirs` : "no node lost all of its edges");
    const favours = beta < 1 ? "β favours hubs" : beta > 4 ? "β favours likeness to the original" : "β weighs hubs against likeness";
    $("sentence").textContent = `${parts.join(", ")}; ${favours}.`;
  }

  legend() {
    const root = $("legend");
    root.replaceChildren();
    const entry = (draw, text) => {
      const box = element("span", null, root);
      draw(svg("svg", { width: 18, height: 12, "aria-hidden": "true" }, box));
      element("b", text, box).title = text;
    };
    const line = (colour) => (at) => svg("path", { d: "M1 6H17", stroke: tint(colour), "stroke-width": 2 }, at);
    const disc = (fill, stroke) => (at) => svg("circle", { cx: 9, cy: 6, r: 4.5, fill, stroke }, at);
    entry(line("kept"), this.state.baseline === null ? "kept" : "kept by both");
    if (this.state.baseline !== null) entry(line("only"), "kept on this side only");
    const stride = Math.ceil(this.data.edges / MOST_DROPPED);
    if (!this.state.keptOnly) entry(line("dropped"), stride > 1 ? `dropped (1 in ${stride} drawn)` : "dropped");
    entry(disc(tint("canvas"), tint("soft")), "node cut off");
    const { name, groups, colours, low, high, edge } = this.style;
    if (this.data.original.includes(0)) entry(disc(tint("dropped"), tint("canvas")), "no edge in the original");
    if (edge.colours) scale("score", edge.colours, "0 %", "100 % of edges below");
    if (this.style.bundled) entry((at) => svg("path", { d: "M1 6H17", stroke: tint("kept"), "stroke-width": 7, "stroke-opacity": 0.6 }, at), "all edges between two groups");
    if (edge.widths) entry(line("kept"), `width: ${edge.name}, ${short(edge.low)} to ${short(edge.high)}`);
    element("span", `${name}:`, root, "by");
    if (groups) {
      groups.forEach((text, g) => {
        const button = element("button", null, root, "group");
        button.type = "button";
        button.setAttribute("aria-pressed", String(!this.hidden.has(g)));
        disc(colours[g], colours[g])(svg("svg", { width: 18, height: 12, "aria-hidden": "true" }, button));
        element("b", text, button).title = `${text}: hide or show`;
        button.addEventListener("click", () => { if (!this.hidden.delete(g)) this.hidden.add(g); this.draw(); [...root.querySelectorAll(".group")][g]?.focus(); });
      });
    } else scale("", colours.slice(0, -1), short(low), short(high));
    function scale(text, tones, from, to) {
      const box = element("span", null, root);
      element("b", `${text} ${from}`, box);
      const bar = svg("svg", { width: 8 * tones.length, height: 10, "aria-hidden": "true" }, box);
      tones.forEach((tone, i) => svg("rect", { x: 8 * i, y: 0, width: 8, height: 10, fill: tone }, bar));
      element("b", to, box);
    }
  }

  drawTop() { this.live.forEach((pane, p) => pane.drawTop([this.picked, this.hover], this.shown[p], this.style, this.chosen)); }

  draw() {
    const { labels, keptOnly, bundles, changes } = this.state;
    this.style = { ...nodeStyle(this.data, this.state.colour), labels, keptOnly, bundles, changes, edge: edgeStyle(this.data, this.state), size: sizes(this.data, this.state.size) };
    this.style.bundled = this.panes[0].bundled(this.style);
    this.filter();
    for (const pane of this.live) { pane.style_ = this.style; pane.project(); pane.drawBase(); }
    this.legend();
    clearTimeout(this.resting);
    this.update(false);
  }

  resize() {
    this.arrange();
    const changed = this.live.map((pane) => pane.resize());
    if (!changed.includes(true)) return false;
    const [first] = this.panes;
    this.camera.fit(this.data, first.width, first.height);
    this.draw();
    return true;
  }

  /* Two panes stand side by side or one over the other, whichever lets the graph be larger. */
  arrange() {
    const { clientWidth: width, clientHeight: height } = $("panes");
    const { aspect } = this.camera.bounds(this.data);
    const beside = Math.min(width / 2 / aspect, height), over = Math.min(width / aspect, height / 2 - 30);
    $("panes").classList.toggle("over", over > beside);
  }

  fit() { this.camera.fit(this.data, this.panes[0].width, this.panes[0].height); this.draw(); }

  zoom(factor) { this.camera.zoom(factor, this.panes[0].width / 2, this.panes[0].height / 2); this.moveAll(); }

  moveAll() {
    clearTimeout(this.settling);
    if (this.data.edges <= LIVE) { this.moving ??= requestAnimationFrame(() => { this.moving = undefined; this.draw(); }); return; }
    for (const pane of this.live) pane.shift();
    this.settling = setTimeout(() => this.draw(), QUICK);
  }
}

/* Copy what a button stands beside: a text, or the whole address of a link. Pages in a folder may have no clipboard. */
async function copy(button) {
  const from = $(button.dataset.copies), text = from.href ?? from.textContent;
  try { await navigator.clipboard.writeText(text); } catch {
    const field = element("textarea", text, document.body);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  button.textContent = "copied";
  setTimeout(() => { button.textContent = "copy"; }, 1500);
}

function caption(at, text, more) {
  at.replaceChildren(text, " ");
  element("span", more, at);
}

/* Whether a point lies within a closed line: whether a ray crosses it an odd number of times. */
function inside(line, x, y) {
  let odd = false;
  line.forEach(([ax, ay], i) => {
    const [bx, by] = line[(i + 1) % line.length];
    if (ay > y !== by > y && x < ax + ((y - ay) / (by - ay)) * (bx - ax)) odd = !odd;
  });
  return odd;
}

function nearest(values, wanted) {
  let best = 0;
  values.forEach((value, i) => { if (Math.abs(value - wanted) < Math.abs(values[best] - wanted)) best = i; });
  return best;
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  dispatchEvent(new Event("themed"));
}

/* For programs that look at the page: where it stands, and where an edge is drawn. */
function outside(app) {
  return {
    state: () => ({ ...app.state, beta: app.data.betas[app.state.beta], keep: app.data.budgets[app.state.keep], picked: app.picked, firstPicture: app.firstPicture, lastStep: app.lastStep }),
    kept: (pane = 0) => keptEdges(app.shown[pane].mask),
    seen: () => keptEdges(app.seen),
    go: (beta, keep) => { Object.assign(app.state, { beta, keep }); app.now(); },
    place: (edge, pane = 0) => {
      const p = app.panes[pane], box = p.top.parentElement.getBoundingClientRect();
      return [p.data.source[edge], p.data.target[edge]].map((v) => [p.px[v] + box.left, p.py[v] + box.top]);
    },
    flush: () => app.panes[0].canvases.map((c) => c.getContext("2d").getImageData(0, 0, 1, 1).data[3]),
  };
}

async function start() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  setTheme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
  if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old: it has no DecompressionStream");
  const app = new App(await readData());
  if (app.state.baseline !== null) app.go({ baseline: app.state.baseline });
  $("loading").remove();
  app.firstPicture = performance.now();
  window.graphpri = outside(app);
}

start().catch((error) => { $("loading").textContent = `The page can't be shown: ${error.message}`; throw error; });
