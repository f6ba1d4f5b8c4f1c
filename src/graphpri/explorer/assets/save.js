/* Downloads: the subgraph that is shown, and its picture. */
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

function csvCell(text) { return /[",\r\n]|^\s|\s$|^$|^[#%]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text; }

function asCsv(data, mask) {
  const named = data.weights ? `,${csvCell(data.weight)}` : "";
  const rows = keptEdges(mask).map((e) => {
    const ends = `${csvCell(data.label(data.source[e]))},${csvCell(data.label(data.target[e]))}`;
    return data.weights ? `${ends},${data.weights[e]}` : ends;
  });
  return [`source,target${named}`, ...rows].join("\n") + "\n";
}

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;" };

/* Text for XML; characters that XML doesn't have become the replacement character. */
function xml(text) {
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd").replace(/[&<>"\t\n\r]/g, (c) => ENTITIES[c]);
}

function asGraphml(data, mask) {
  const lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'];
  if (data.weights) lines.push(`<key id="w" for="edge" attr.name="${xml(data.weight)}" attr.type="double"/>`);
  lines.push('<graph edgedefault="undirected">');
  for (let v = 0; v < data.nodes; v++) lines.push(`<node id="${xml(data.label(v))}"/>`);
  for (const e of keptEdges(mask)) {
    const ends = `source="${xml(data.label(data.source[e]))}" target="${xml(data.label(data.target[e]))}"`;
    lines.push(data.weights ? `<edge ${ends}><data key="w">${data.weights[e]}</data></edge>` : `<edge ${ends}/>`);
  }
  return [...lines, "</graph>", "</graphml>", ""].join("\n");
}

function asSvg(pane, shown, style) {
  const { data, px, py, width, height } = pane;
  const n = (value) => value.toFixed(1);
  const path = (test) => {
    let d = "";
    for (let e = 0; e < data.edges; e++) {
      if (test(e)) d += `M${n(px[data.source[e]])} ${n(py[data.source[e]])}L${n(px[data.target[e]])} ${n(py[data.target[e]])}`;
    }
    return d;
  };
  const stride = Math.ceil(data.edges / MOST_DROPPED);
  const fine = Math.min(1.1, Math.max(0.5, 28 / Math.sqrt(data.edges)));
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    `<title>${xml(data.title)}</title>`,
    `<rect width="100%" height="100%" fill="${tint("canvas")}"/>`,
    `<path class="dropped" fill="none" stroke="${tint("dropped")}" stroke-width="${n(fine)}" stroke-opacity="0.5" d="${path((e) => !shown.mask[e] && e % stride === 0)}"/>`,
    `<path class="kept" fill="none" stroke="${tint("kept")}" stroke-width="${n(pane.keptWidth(shown.count))}" d="${path((e) => shown.mask[e])}"/>`,
  ];
  for (let v = 0; v < data.nodes; v++) {
    const lost = shown.degrees[v] === 0, colour = style.colours[style.group[v]];
    const paint = lost ? `fill="${tint("canvas")}" stroke="${colour}"` : `fill="${colour}" stroke="${tint("canvas")}"`;
    lines.push(`<circle cx="${n(px[v])}" cy="${n(py[v])}" r="${n(pane.radius(shown.degrees[v]))}" ${paint}><title>${xml(data.label(v))}</title></circle>`);
  }
  return [...lines, "</svg>", ""].join("\n");
}
