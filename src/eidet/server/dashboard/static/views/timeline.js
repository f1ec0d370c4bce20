// Timeline: bins of writes, recalls, sessions and what stands for itself, from years to minutes.
import { html, useEffect, useRef, useState, useLoad, useWidth, Empty, Failure, KindChip, Loading, Text, kindColour, count, moment, plural, shown as shownRecord } from "../ui.js";
import { call } from "../api.js";
import { HeatMap } from "../charts.js";

const DAY = 86400;
const SPANS = [["All", null], ["Year", 365 * DAY], ["3 months", 91 * DAY], ["Month", 30 * DAY], ["Week", 7 * DAY], ["Day", DAY], ["Hour", 3600], ["10 minutes", 600]];
const STEPS = [60, 300, 900, 3600, 3 * 3600, 6 * 3600, 12 * 3600, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 91 * DAY, 182 * DAY, 365 * DAY];

function tickName(at, step) {
  const when = new Date(at * 1000);
  if (step < DAY) return when.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  if (step < 30 * DAY) return when.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  return when.toLocaleDateString("en-GB", { month: "short", year: "2-digit" });
}

function ticksOf(first, last, width) {
  const most = Math.max(2, Math.floor(width / 90));
  const step = STEPS.find((one) => (last - first) / one <= most) || 730 * DAY;
  const zone = new Date(first * 1000).getTimezoneOffset() * 60;
  const ticks = [];
  for (let at = Math.ceil((first - zone) / step) * step + zone; at < last; at += step) ticks.push([at, tickName(at, step)]);
  return ticks;
}

async function readLine(scope, body, signal) {
  const line = await call("/timeline", { scope, signal, body });
  const cut = (rows) => rows.map((one) => shownRecord(one, 160));
  return { ...line, records: cut(line.records), marks: cut(line.marks) };
}

export function Timeline({ scope, head, go, params }) {
  const [range, setRange] = useState(null);
  const [by, setBy] = useState("occurred");
  const [what, setWhat] = useState("writes");
  const [ref, width] = useWidth(1000);
  const bins = Math.max(30, Math.min(240, Math.floor(width / 7)));
  const body = { by, bins, ...(range ? { first: range[0], last: range[1] } : {}) };
  const { data, error, busy, reload } = useLoad((signal) => readLine(scope, body, signal), [scope, by, bins, range && range.join(), head.seq]);
  const zoom = (factor, at = 0.5) => {
    if (!data) return;
    const span = Math.max(60, Math.min((data.last - data.first) * factor, (data.end - data.start) * 1.5));
    const middle = data.first + (data.last - data.first) * at;
    setRange([middle - span * at, middle + span * (1 - at)]);
  };
  const pan = (share) => data && setRange([data.first + (data.last - data.first) * share, data.last + (data.last - data.first) * share]);
  const span = (seconds) => { if (!seconds || !data) return setRange(null); const end = Math.min(range ? range[1] : data.end, data.end); return setRange([end - seconds, end]); };
  const keys = (event) => {
    const acts = { ArrowLeft: () => pan(-0.25), ArrowRight: () => pan(0.25), "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), Escape: () => setRange(null) };
    if (acts[event.key]) { event.preventDefault(); acts[event.key](); }
  };
  const pick = (number) => setRange([number * DAY, (number + 1) * DAY]);
  const open = (record) => go("memories", { scope: params.get("scope"), id: record.id, at: record.scope });
  const shown = data ? data.last - data.first : 0;
  return html`<div class="stack" ref=${ref}>
    ${error && html`<${Failure} error=${error} retry=${reload} />`}
    ${!data && !error && html`<${Loading} what="Reading the times of all records" />`}
    ${data && data.total === 0 && html`<section class="card"><${Empty} icon="timeline" title="Nothing has happened here yet"><p>As soon as something is stored in this scope, it appears on this line.</p><//></section>`}
    ${data && data.total > 0 && html`
      <section class="card"><header><h2>Days</h2><div class="seg" role="group" aria-label="What the days show">
          ${["writes", "recalls"].map((one) => html`<button class="btn" aria-pressed=${what === one ? "true" : "false"} onClick=${() => setWhat(one)}>${one}</button>`)}</div></header>
        <${Days} data=${data} what=${what} onDay=${pick} /></section>
      <section class="card"><header><h2>${moment(data.first)} to ${moment(data.last)}</h2>
          <div class="row"><span class="small soft num">${plural(data.count, "record")}</span>
          <div class="seg" role="group" aria-label="Which time"><button class="btn" aria-pressed=${by === "occurred" ? "true" : "false"} onClick=${() => setBy("occurred")}>happened</button>
            <button class="btn" aria-pressed=${by === "created" ? "true" : "false"} onClick=${() => setBy("created")}>stored</button></div></div></header>
        <div class="row zooms"><div class="seg" role="group" aria-label="How much time">${SPANS.map(([name, seconds]) => html`<button class="btn" aria-pressed=${(seconds ? Math.abs(shown - seconds) < seconds * 0.02 : !range) ? "true" : "false"} onClick=${() => span(seconds)}>${name}</button>`)}</div>
          <div class="row"><button class="btn" onClick=${() => pan(-0.5)} aria-label="Earlier">←</button><button class="btn" onClick=${() => pan(0.5)} aria-label="Later">→</button>
          <button class="btn" onClick=${() => zoom(0.5)} aria-label="Zoom in">+</button><button class="btn" onClick=${() => zoom(2)} aria-label="Zoom out">−</button>${busy && html`<i class="spin"></i>`}</div></div>
        <${Line} data=${data} width=${width - 38} onRange=${setRange} onZoom=${zoom} onKey=${keys} open=${open} go=${go} params=${params} />
      </section>
      ${data.records.length > 0 && html`<section class="card"><header><h2>In this stretch</h2></header><ol class="moments">${data.records.map((record) => html`<li key=${`${record.scope} ${record.id}`}>
        <span class="small soft nowrap num">${moment(record[by])}</span><${KindChip} kind=${record.kind} /><button class="row-open" onClick=${() => open(record)}><${Text} text=${record.text} chars=${record.chars} clamp=${true} /></button></li>`)}</ol></section>`}`}
  </div>`;
}

function Days({ data, what, onDay }) {
  const recalls = Object.fromEntries(Object.entries(data.recalls).map(([number, one]) => [number, one.recalls]));
  const days = what === "writes" ? data.days : recalls;
  const known = [...Object.keys(data.days), ...Object.keys(data.recalls)].map(Number);
  const last = Math.max(...known);
  const first = matchMedia("(min-width: 1200px)").matches ? last - 370 : Math.max(Math.min(...known), last - 370);
  const total = Object.values(days).reduce((sum, n) => sum + n, 0);
  return html`<${HeatMap} days=${days} first=${first} last=${last} onDay=${onDay} label=${`${count(total)} ${what} by day`} />
    <div class="row spread"><p class="small soft">${plural(total, what.slice(0, -1))} on ${plural(Object.keys(days).length, "day")}. Click a day to look into it.</p>
    <div class="legend"><span>fewer</span>${[0, 1, 2, 3, 4].map((n) => html`<i class="swatch" style=${{ background: `var(--h${n})` }}></i>`)}<span>more</span></div></div>`;
}

function Line({ data, width, onRange, onZoom, onKey, open, go, params }) {
  const [drag, setDrag] = useState(null);
  const svg = useRef(null);
  const top = 150;
  const x = (at) => ((at - data.first) / (data.last - data.first)) * width;
  const back = (px) => data.first + (px / width) * (data.last - data.first);
  const kinds = Object.keys(data.series);
  const bins = kinds.length ? data.series[kinds[0]].length : 1;
  const sums = Array.from({ length: bins }, (_, at) => kinds.reduce((sum, kind) => sum + data.series[kind][at], 0));
  const most = Math.max(1, ...sums);
  const lanes = layLanes(data.sessions, x, width);
  const laneTop = top + 86;
  const height = laneTop + Math.max(1, lanes.count) * 22 + 34;
  const place = (event) => Math.max(0, Math.min(width, event.clientX - svg.current.getBoundingClientRect().left));
  useEffect(() => {
    const node = svg.current;
    const wheel = (event) => { if (!event.ctrlKey && !event.shiftKey) return; event.preventDefault(); onZoom(event.deltaY > 0 ? 1.25 : 0.8, place(event) / width); };
    node.addEventListener("wheel", wheel, { passive: false });
    return () => node.removeEventListener("wheel", wheel);
  });
  const up = (event) => {
    if (!drag) return;
    const [from, to] = [drag[0], place(event)].sort((a, b) => a - b);
    setDrag(null);
    if (to - from > 6) onRange([back(from), back(to)]);
  };
  const bars = [];
  for (let at = 0; at < bins; at += 1) {
    let foot = top;
    for (const kind of kinds) {
      const tall = (data.series[kind][at] / most) * (top - 18);
      if (tall > 0) bars.push(html`<rect key=${`${kind} ${at}`} x=${(at * width) / bins + 0.5} y=${foot - tall} width=${Math.max(1, width / bins - 1)} height=${tall} fill=${kindColour(kind)}><title>${`${kind}: ${data.series[kind][at]}`}</title></rect>`);
      foot -= tall;
    }
  }
  const days = Object.entries(data.recalls).map(([number, one]) => [Number(number) * DAY, one]).filter(([at]) => at + DAY > data.first && at < data.last);
  const mostRecalls = Math.max(1, ...days.map(([, one]) => one.recalls));
  const ticks = ticksOf(data.first, data.last, width);
  const label = `Records over time: ${kinds.map((kind) => `${data.series[kind].reduce((sum, n) => sum + n, 0)} ${kind}`).join(", ")}. Arrow keys move, plus and minus zoom, Escape shows all.`;
  return html`<div class="legend">${kinds.map((kind) => html`<span><i class="swatch" style=${{ background: kindColour(kind) }}></i>${kind}</span>`)}<span><i class="swatch" style=${{ background: "var(--c3)" }}></i>recalls a day</span></div>
    <div class="line-box" tabindex="0" role="application" aria-label=${label} onKeyDown=${onKey}>
    <svg ref=${svg} width=${width} height=${height} onMouseDown=${(event) => { event.preventDefault(); const at = place(event); setDrag([at, at]); }} onMouseMove=${(event) => drag && setDrag([drag[0], place(event)])} onMouseUp=${up} onMouseLeave=${() => setDrag(null)}>
      <text class="axis" x="0" y="11">${count(most)} a bar</text>
      ${ticks.map(([at, name]) => html`<line class="grid-line" x1=${x(at)} x2=${x(at)} y1="16" y2=${height - 26} /><text class="axis" x=${x(at) + 4} y=${height - 10}>${name}</text>`)}
      ${bars}<line class="grid-line" x1="0" x2=${width} y1=${top} y2=${top} />
      ${days.map(([at, one]) => html`<rect x=${Math.max(0, x(at))} y=${top + 4} width=${Math.max(1, Math.min(width, x(at + DAY)) - Math.max(0, x(at)) - 1)} height=${(26 * one.recalls) / mostRecalls} fill="var(--c3)" opacity="0.75"><title>${`${one.recalls} recalls, ${one.empty} of them empty`}</title></rect>`)}
      <text class="axis" x="0" y=${top + 46}>episodes and facts</text>
      ${data.marks.map((record) => html`<g class="mark-point" key=${record.id} onClick=${() => open(record)} onMouseDown=${(event) => event.stopPropagation()}><title>${record.text.slice(0, 120)}</title>
        <path d=${`M${x(record.occurred)} ${top + 52}l6 7-6 7-6-7z`} fill=${kindColour(record.kind)} stroke="var(--surface)" /></g>`)}
      <text class="axis" x="0" y=${laneTop - 5}>sessions</text>
      ${lanes.rows.map((one) => html`<g class="lane" key=${`${one.scope} ${one.session}`} onMouseDown=${(event) => event.stopPropagation()} onClick=${() => go("memories", { scope: params.get("scope"), session: one.session })}>
        <title>${`${one.session}: ${plural(one.count, "record")}, ${moment(one.first)}`}</title>
        <rect x=${one.x} y=${laneTop + one.lane * 22} width=${one.w} height="16" rx="4" fill="var(--accent-wash)" stroke="var(--accent)" stroke-opacity="0.45" />
        ${one.label && html`<text class="lane-text" x=${one.labelX} y=${laneTop + one.lane * 22 + 12}>${one.label}</text>`}</g>`)}
      ${drag && Math.abs(drag[1] - drag[0]) > 2 && html`<rect x=${Math.min(...drag)} y="0" width=${Math.abs(drag[1] - drag[0])} height=${height - 26} fill="var(--accent)" opacity="0.15" />`}
    </svg></div><p class="small soft">Drag over a stretch to look into it; Shift or Ctrl with the wheel zooms; click a session or a mark to open it.</p>`;
}

// Sessions in as few rows as need be; names where there is room for them.
function layLanes(sessions, x, width) {
  const ends = [];
  const last = [];
  const rows = [];
  for (const one of sessions) {
    const from = Math.max(0, x(one.first));
    const to = Math.min(width, x(one.last));
    const w = Math.max(5, to - from);
    const room = one.session.length * 6.2 + 10;
    const inside = w > room;
    const need = inside ? w : w + room;
    let lane = ends.findIndex((end) => end < from - 4);
    if (lane < 0) { if (ends.length >= 7) { lane = ends.indexOf(Math.min(...ends)); } else { lane = ends.length; ends.push(0); } }
    const free = ends[lane] < from - 4;
    const fits = free && (inside || from + need < width);
    ends[lane] = from + (fits ? need : w);
    if (!free && last[lane] && !last[lane].inside) last[lane].label = "";
    last[lane] = { ...one, x: from, w, lane, inside, label: fits ? one.session.slice(0, 40) : "", labelX: inside ? from + 6 : from + w + 5 };
    rows.push(last[lane]);
  }
  return { rows, count: Math.max(1, ends.length) };
}
