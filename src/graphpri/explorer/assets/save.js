/* Downloads: what is shown, with everything that is known of it. */
function offer(name, content, kind) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type: kind }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function keptEdges(mask) {
  const edges = [];
  for (let e = 0; e < mask.length; e++) if (mask[e]) edges.push(e);
  return edges;
}

function csvCell(value) {
  const text = String(value);
  return /[",\r\n]|^\s|\s$|^$|^[#%]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const asCsv = (head, rows) => [head, ...rows].map((row) => row.map(csvCell).join(",") + "\n").join("");

/* Names of columns that may not meet those of the file itself. */
function unlike(names, own) {
  return names.map((name) => { let made = name; while (own.includes(made)) made += "_"; return made; });
}

/* Whether all values that a column has are numbers. */
const numeric = (values) => values.every((value) => value === null || typeof value === "number");

/* What is known of each edge beside its ends: a name, whether it is a number, and its value. */
function edgeColumns(data, state, shown) {
  const [, at] = data.score(state.beta, state.keep, 0);
  const columns = data.weights ? [[data.weight ?? "weight", true, (e) => data.weights[e]]] : [];
  for (const [name, values] of Object.entries(data.edgeValues)) if (name !== data.weight) columns.push([name, numeric(values), (e) => values[e]]);
  columns.push(["kept", true, (e) => shown.mask[e]]);
  if (shown.baseline === null) columns.push(["score_above_share_of_edges", true, (e) => +data.score(state.beta, state.keep, e)[0].toFixed(4)]);
  if (at !== state.keep && shown.baseline === null) columns[columns.length - 1][0] += `_at_${data.budgets[at]}_edges`;
  const names = unlike(columns.map(([name]) => name), ["source", "target"]);
  return columns.map(([, number, value], i) => [names[i], number, value]);
}

function nodeColumns(data, shown) {
  const columns = [["x", true, (v) => data.x[v]], ["y", true, (v) => data.y[v]], ["edges_in_original", true, (v) => data.original[v]], ["edges_kept", true, (v) => shown.degrees[v]]];
  for (const [name, values] of Object.entries(data.nodeValues)) columns.push([name, numeric(values), (v) => values[v]]);
  data.attributes.forEach((a, i) => {
    if (a.name in data.nodeValues || a.name === "degree in the original") return;
    const values = data["attribute" + i];
    columns.push([a.name, a.groups === null, (v) => (a.groups === null ? values[v] : a.groups[values[v]])]);
  });
  const names = unlike(columns.map(([name]) => name), ["label"]);
  return columns.map(([, number, value], i) => [names[i], number, value]);
}

/* The nodes and edges that files have: those in sight, the dropped edges where they are asked for. */
function inFiles(data, shown, seen, all) {
  const edges = [];
  for (let e = 0; e < data.edges; e++) if ((all || shown.mask[e]) && seen[data.source[e]] && seen[data.target[e]]) edges.push(e);
  return { edges, nodes: Array.from({ length: data.nodes }, (_, v) => v).filter((v) => seen[v]) };
}

function edgesCsv(data, state, shown, { edges }) {
  const columns = edgeColumns(data, state, shown);
  return asCsv(["source", "target", ...columns.map(([name]) => name)],
    edges.map((e) => [data.label(data.source[e]), data.label(data.target[e]), ...columns.map(([, , value]) => value(e) ?? "")]));
}

function nodesCsv(data, shown, { nodes }) {
  const columns = nodeColumns(data, shown);
  return asCsv(["label", ...columns.map(([name]) => name)], nodes.map((v) => [data.label(v), ...columns.map(([, , value]) => value(v) ?? "")]));
}

function valuesCsv(data) {
  const names = [...data.columns.slice(0, 2), "objective", ...data.columns.slice(3)];
  const rows = [];
  for (const baseline of [null, ...data.baselines.keys()]) {
    for (let b = 0; b < (baseline === null ? data.betas.length : 1); b++) {
      for (let k = 0; k < data.stops; k++) {
        const value = (name) => (baseline !== null && name === "objective" ? NaN : data.value(name, b, k, baseline));
        rows.push([baseline === null ? "pri" : data.baselines[baseline], baseline === null ? data.betas[b] : "", data.budgets[k], ...names.map((name) => { const x = value(name); return Number.isNaN(x) ? "" : x; })]);
      }
    }
  }
  return asCsv(["method", "beta", "edges_kept", ...names], rows);
}

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;" };

/* Text for XML; characters that XML doesn't have become the replacement character. */
function xml(text) {
  return String(text).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd").replace(/[&<>"\t\n\r]/g, (c) => ENTITIES[c]);
}

function asGraphml(data, state, shown, { nodes, edges }) {
  const lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'];
  const kinds = { node: nodeColumns(data, shown), edge: edgeColumns(data, state, shown) };
  for (const [kind, columns] of Object.entries(kinds)) {
    columns.forEach(([name, number, value], i) => {
      const whole = number && (kind === "node" ? nodes : edges).every((at) => !(value(at) ?? 0) || Number.isSafeInteger(value(at)));
      lines.push(`<key id="${kind[0]}${i}" for="${kind}" attr.name="${xml(name)}" attr.type="${whole ? "long" : number ? "double" : "string"}"/>`);
    });
  }
  const told = (kind, at) => kinds[kind].map(([, , value], i) => {
    const x = value(at);
    return x === null || x === undefined || Number.isNaN(x) ? "" : `<data key="${kind[0]}${i}">${xml(x)}</data>`;
  }).join("");
  lines.push('<graph edgedefault="undirected">');
  for (const v of nodes) lines.push(`<node id="${xml(data.label(v))}">${told("node", v)}</node>`);
  for (const e of edges) lines.push(`<edge source="${xml(data.label(data.source[e]))}" target="${xml(data.label(data.target[e]))}">${told("edge", e)}</edge>`);
  return [...lines, "</graph>", "</graphml>", ""].join("\n");
}

/* The same strokes, discs and names as on the screen. */
function asSvg(pane, shown, style) {
  const { data, px, py, width, height } = pane;
  const n = (value) => +value.toFixed(2);
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${n(width)} ${n(height)}" width="${n(width)}" height="${n(height)}" font-family="system-ui, sans-serif" font-size="12">`,
    `<title>${xml(data.title)}</title>`,
    `<rect width="100%" height="100%" fill="${tint("canvas")}"/>`,
  ];
  const strokes = [...pane.baseStrokes(style, shown.mask), ...pane.strokes(shown, style)];
  for (const { name, colour, width: wide, alpha, segments, edges } of strokes) {
    let d = "";
    if (segments) for (const [ax, ay, bx, by] of segments) d += `M${n(ax)} ${n(ay)}L${n(bx)} ${n(by)}`;
    else pane.each(edges, (ax, ay, bx, by) => { d += `M${n(ax)} ${n(ay)}L${n(bx)} ${n(by)}`; }, true);
    lines.push(`<path class="${name}" fill="none" stroke-linecap="round" stroke="${colour}" stroke-width="${n(wide)}" stroke-opacity="${n(alpha)}" d="${d}"/>`);
  }
  for (const { fill, stroke, nodes } of pane.discGroups(shown.degrees, style, true)) {
    for (const v of nodes) lines.push(`<circle cx="${n(px[v])}" cy="${n(py[v])}" r="${n(pane.radius(v, shown.degrees, style))}" fill="${fill}" stroke="${stroke}"><title>${xml(data.label(v))}</title></circle>`);
  }
  for (const [text, x, y] of style.labels ? pane.placedLabels(pane.canvases[1].getContext("2d"), pane.hubs(shown.degrees, style), style) : []) {
    lines.push(`<text x="${n(x)}" y="${n(y + 11)}" text-anchor="middle" fill="${tint("ink")}" stroke="${tint("canvas")}" stroke-width="3" paint-order="stroke">${xml(text)}</text>`);
  }
  return [...lines, "</svg>", ""].join("\n");
}
