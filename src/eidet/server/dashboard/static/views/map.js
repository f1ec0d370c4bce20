// Map: every memory as a point on a canvas, by the two directions in which the vectors differ most.
import { html, useEffect, useLayoutEffect, useRef, useState, useLoad, useMemo, Empty, Failure, Loading, MetaLine, Text, count, day, kindColour, plural } from "../ui.js";
import { call } from "../api.js";

const COLOURS = 15;
const AGES = 6;

function cssColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// For each point the number of its colour; and the colours with their names.
function colourBy(data, by) {
  if (by === "kind") return { of: data.kind, legend: data.kinds.map((kind) => [kind, kindColour(kind).slice(4, -1)]) };
  if (by === "session") {
    const sizes = new Map();
    for (const one of data.session) sizes.set(one, (sizes.get(one) || 0) + 1);
    const best = [...sizes.keys()].filter((one) => data.sessions[one]).sort((a, b) => sizes.get(b) - sizes.get(a)).slice(0, COLOURS - 1);
    const place = new Map(best.map((one, at) => [one, at]));
    const order = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14];
    return { of: data.session.map((one) => place.get(one) ?? best.length), legend: [...best.map((one, at) => [data.sessions[one], `--c${order[at]}`]), ["others", "--edge"]] };
  }
  const first = Math.min(...data.at.slice(0, 1), ...[data.at.reduce((a, b) => Math.min(a, b), Infinity)]);
  const last = data.at.reduce((a, b) => Math.max(a, b), -Infinity);
  const wide = Math.max(1, last - first);
  const names = Array.from({ length: AGES }, (_, at) => [day(first + (wide * (at + 0.5)) / AGES), ["--h1", "--h2", "--c5", "--h3", "--c0", "--c1"][at]]);
  return { of: data.at.map((at) => Math.min(AGES - 1, Math.floor(((at - first) / wide) * AGES))), legend: names };
}

export function MapView({ scope, head, go, params }) {
  const [asked, setAsked] = useState(null);
  const [by, setBy] = useState("kind");
  const [picked, setPicked] = useState(null);
  const { data, error, busy, reload } = useLoad((signal) => call("/map", { scope, signal }), [scope, asked]);
  const seen = useRef(null);
  if (data && !busy && seen.current === null) seen.current = head.seq;
  const stale = seen.current !== null && head.seq && seen.current !== head.seq;
  const again = () => { seen.current = null; setAsked(head.seq); };
  useEffect(() => { if (stale && data && data.x.length < 10000) again(); }, [stale]);
  const colours = useMemo(() => (data && data.x.length ? colourBy(data, by) : null), [data, by]);
  const pick = async (at) => {
    if (at < 0) { setPicked(null); return; }
    const { records } = await call("/dashboard/record-at", { scope: data.scopes[data.scope[at]], params: { seq: data.seq[at] } });
    setPicked(records[0] ? { at, record: records[0] } : null);
  };
  return html`<div class="stack">
    ${error && html`<${Failure} error=${error} retry=${reload} />`}
    ${!data && !error && html`<section class="card"><${Loading} what="Projecting the vectors on the server" /><div class="bar-wait"><i></i></div></section>`}
    ${data && data.x.length < 3 && html`<section class="card"><${Empty} icon="map" title="Too few memories for a map"><p>A map needs at least three records with vectors in this scope.</p><//></section>`}
    ${data && data.x.length >= 3 && html`<section class="card">
      <header><h2>${plural(data.x.length, "memory", "memories")}${data.x.length >= data.most ? " (the newest)" : ""}</h2>
        <div class="row">${stale && html`<button class="btn" onClick=${again}>The memory has changed: draw anew</button>`}${busy && html`<i class="spin"></i>`}
        <div class="seg" role="group" aria-label="Coloured by">${["kind", "session", "age"].map((one) => html`<button class="btn" aria-pressed=${by === one ? "true" : "false"} onClick=${() => setBy(one)}>${one}</button>`)}</div></div></header>
      <div class="map-grid"><${Plane} data=${data} colours=${colours} picked=${picked} onPick=${pick} />
        <div class="stack map-side"><div><h3>Coloured by ${by}</h3><ul class="map-legend">${colours.legend.map(([name, colour]) => html`<li key=${name}><i class="swatch" style=${{ background: `var(${colour})` }}></i><span class="text" dir="auto">${name.slice(0, 60)}</span></li>`)}</ul></div>
          ${picked ? html`<div class="picked stack tight" aria-live="polite"><h3>Picked</h3><p><${Text} text=${picked.record.text} chars=${picked.record.chars} /></p><${MetaLine} record=${picked.record} />
            <div><button class="btn" onClick=${() => go("memories", { scope: params.get("scope"), id: picked.record.id, at: picked.record.scope })}>Open</button></div></div>`
          : html`<p class="small soft">Click a point to read it. Drag to move, wheel to zoom. With the keyboard: arrows move, plus and minus zoom, Enter picks what is nearest to the middle.</p>`}
        </div></div></section>`}
  </div>`;
}

function Plane({ data, colours, picked, onPick }) {
  const box = useRef(null);
  const canvas = useRef(null);
  const view = useRef({ x: 0, y: 0, zoom: 1 });
  const frame = useRef(0);
  const mark = useRef(null); // what is picked, for frames that were asked for before it was
  mark.current = picked;
  const order = useMemo(() => groupByColour(colours.of, colours.legend.length), [colours]);

  function place(at, width, height) {
    const { x, y, zoom } = view.current;
    const scale = (Math.min(width, height) / 2) * zoom;
    const wide = Math.min(1.7, width / Math.min(width, height));
    return [width / 2 + (data.x[at] * wide - x) * scale, height / 2 - (data.y[at] - y) * scale];
  }

  function draw() {
    const node = canvas.current;
    if (!node) return;
    const began = performance.now();
    const ratio = devicePixelRatio || 1;
    const width = box.current.clientWidth;
    const height = box.current.clientHeight;
    if (node.width !== Math.round(width * ratio)) { node.width = Math.round(width * ratio); node.height = Math.round(height * ratio); }
    const pen = node.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = cssColour("--ground");
    pen.fillRect(0, 0, width, height);
    const n = data.x.length;
    const size = (n > 20000 ? 2 : n > 4000 ? 3 : n > 800 ? 5 : 7) * Math.min(2, Math.sqrt(view.current.zoom));
    pen.globalAlpha = n > 4000 ? 0.7 : 0.85;
    const { x, y, zoom } = view.current;
    const scale = (Math.min(width, height) / 2) * zoom;
    const wide = Math.min(1.7, width / Math.min(width, height)) * scale;
    const left = width / 2 - x * scale;
    const top = height / 2 + y * scale;
    const round = n <= 4000;
    order.forEach((points, colour) => {
      pen.fillStyle = cssColour(colours.legend[colour][1]);
      if (round) pen.beginPath();
      for (let k = 0; k < points.length; k += 1) {
        const at = points[k];
        const px = left + data.x[at] * wide;
        const py = top - data.y[at] * scale;
        if (px < -8 || py < -8 || px > width + 8 || py > height + 8) continue;
        if (round) { pen.moveTo(px + size / 2, py); pen.arc(px, py, size / 2, 0, 6.2832); } else pen.fillRect(px - size / 2, py - size / 2, size, size);
      }
      if (round) pen.fill();
    });
    pen.globalAlpha = 1;
    if (mark.current) {
      const [px, py] = place(mark.current.at, width, height);
      pen.strokeStyle = cssColour("--ink");
      pen.lineWidth = 2;
      pen.beginPath();
      pen.arc(px, py, 9, 0, 6.2832);
      pen.stroke();
    }
    node.dataset.millis = (performance.now() - began).toFixed(1);
  }

  const soon = () => { if (!frame.current) frame.current = requestAnimationFrame(() => { frame.current = 0; draw(); }); };
  useLayoutEffect(draw, [data, colours, picked]);
  useEffect(() => {
    const watch = new ResizeObserver(soon);
    watch.observe(box.current);
    const theme = new MutationObserver(soon);
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => { watch.disconnect(); theme.disconnect(); cancelAnimationFrame(frame.current); frame.current = 0; };
  }, [data, colours]);

  function nearest(px, py, reach) {
    const width = box.current.clientWidth;
    const height = box.current.clientHeight;
    let best = -1;
    let least = reach * reach;
    for (let at = 0; at < data.x.length; at += 1) {
      const [x, y] = place(at, width, height);
      const far = (x - px) ** 2 + (y - py) ** 2;
      if (far < least) { least = far; best = at; }
    }
    return best;
  }
  const move = (dx, dy) => { const scale = (Math.min(box.current.clientWidth, box.current.clientHeight) / 2) * view.current.zoom; view.current.x -= dx / scale; view.current.y += dy / scale; soon(); };
  const zoom = (factor, px, py) => {
    const width = box.current.clientWidth;
    const height = box.current.clientHeight;
    const scale = (Math.min(width, height) / 2) * view.current.zoom;
    const next = Math.max(0.5, Math.min(60, view.current.zoom * factor));
    const grown = (Math.min(width, height) / 2) * next;
    view.current.x += (px - width / 2) * (1 / scale - 1 / grown);
    view.current.y -= (py - height / 2) * (1 / scale - 1 / grown);
    view.current.zoom = next;
    soon();
  };
  useEffect(() => {
    const node = canvas.current;
    const wheel = (event) => { event.preventDefault(); const at = node.getBoundingClientRect(); zoom(event.deltaY > 0 ? 0.85 : 1.18, event.clientX - at.left, event.clientY - at.top); };
    let from = null;
    let far = 0;
    const down = (event) => { from = [event.clientX, event.clientY]; far = 0; node.setPointerCapture(event.pointerId); };
    const drag = (event) => { if (!from) return; const dx = event.clientX - from[0]; const dy = event.clientY - from[1]; far += Math.abs(dx) + Math.abs(dy); from = [event.clientX, event.clientY]; move(dx, dy); };
    const up = (event) => { if (from && far < 5) { const at = node.getBoundingClientRect(); onPick(nearest(event.clientX - at.left, event.clientY - at.top, 16)); } from = null; };
    node.addEventListener("wheel", wheel, { passive: false });
    node.addEventListener("pointerdown", down);
    node.addEventListener("pointermove", drag);
    node.addEventListener("pointerup", up);
    return () => { node.removeEventListener("wheel", wheel); node.removeEventListener("pointerdown", down); node.removeEventListener("pointermove", drag); node.removeEventListener("pointerup", up); };
  });
  const keys = (event) => {
    const width = box.current.clientWidth;
    const height = box.current.clientHeight;
    const acts = {
      ArrowLeft: () => move(60, 0), ArrowRight: () => move(-60, 0), ArrowUp: () => move(0, 60), ArrowDown: () => move(0, -60),
      "+": () => zoom(1.4, width / 2, height / 2), "=": () => zoom(1.4, width / 2, height / 2), "-": () => zoom(0.7, width / 2, height / 2),
      Enter: () => onPick(nearest(width / 2, height / 2, 1e6)), Escape: () => { view.current = { x: 0, y: 0, zoom: 1 }; soon(); },
    };
    if (acts[event.key]) { event.preventDefault(); acts[event.key](); }
  };
  return html`<div class="plane" ref=${box} tabindex="0" role="application" aria-label=${`Map of ${count(data.x.length)} memories. Arrows move, plus and minus zoom, Enter picks the nearest to the middle, Escape shows all.`} onKeyDown=${keys}><canvas ref=${canvas}></canvas></div>`;
}

function groupByColour(of, colours) {
  const groups = Array.from({ length: colours }, () => []);
  for (let at = of.length - 1; at >= 0; at -= 1) groups[of[at]].push(at);
  return groups.map((group) => Uint32Array.from(group));
}
