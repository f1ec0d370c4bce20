// Health: rates, drift, what lies where, upkeep, servers and policies.
import { html, useState, useRef, useLoad, Bar, Empty, Failure, Figure, Loading, bytes, count, kindColour, millis, percent, plural } from "../ui.js";
import { call, download, upload } from "../api.js";
import { RateBar } from "../charts.js";

const TIER_COLOURS = { short: "var(--c5)", middle: "var(--c2)", long: "var(--c9)" };

export function Health({ scope, head, say, go, may, params, single }) {
  const { data, error, reload } = useLoad((signal) => call("/quality", { scope, signal }), [scope, head.seq]);
  if (error && !data) return html`<${Failure} error=${error} retry=${reload} />`;
  if (!data) return html`<section class="card"><${Loading} what="Looking at every record" /><div class="bar-wait"><i></i></div></section>`;
  return html`<div class="stack">
    <${Figures} data=${data} />
    <div class="health-grid">
      <${Rates} quality=${data.stats.retrieval} />
      <${Unused} data=${data} />
      <div class="stack"><${Storage} data=${data} /><${DriftCard} drift=${data.stats.retrieval.drift} /></div>
      <${UpkeepCard} scope=${scope} works=${data.works} may=${may} say=${say} onDone=${reload} go=${go} params=${params} />
      <${Transfer} scope=${scope} may=${may} say=${say} onDone=${reload} />
      <${Lines} data=${data} />
    </div></div>`;
}

function Figures({ data }) {
  const metrics = data.metrics;
  const quality = data.stats.retrieval;
  return html`<section class="card"><dl class="figures">
    <${Figure} name="Records" value=${count(data.stats.records)} tells=${`${metrics.eidet_memory_growth_records_per_day === undefined ? "0" : metrics.eidet_memory_growth_records_per_day.toFixed(1)} a day lately`} />
    <${Figure} name="Recalls" value=${count(quality.recalls)} tells=${`in ${quality.window_days} days`} />
    <${Figure} name="Median time" value=${quality.seconds_p50 === null ? "–" : millis(quality.seconds_p50 * 1000)} tells=${quality.seconds_p95 === null ? "no recall yet" : `95 % within ${millis(quality.seconds_p95 * 1000)}`} />
    <${Figure} name="Best score" value=${quality.top_score_median === null ? "–" : quality.top_score_median.toFixed(2)} tells="median of the best hits" />
    <${Figure} name="Store" value=${data.stats.store_bytes === undefined ? "–" : bytes(data.stats.store_bytes)} tells=${data.stats.embedder === undefined ? "for keys that see all scopes" : `${data.stats.embedder}, ${data.stats.language}`} />
    <${Figure} name="State" value=${data.health.state} tells=${data.writable ? "open for writing" : "open for reading only"} /></dl></section>`;
}

function Rates({ quality }) {
  const rows = [["Found something", quality.hit_ratio], ["Judged useful", quality.success_rate], ["Answers judged useful", quality.answer_accuracy], ["Hits judged useful", quality.hit_relevance], ["Within 100 ms", quality.responsive]];
  return html`<section class="card"><header><h2>Quality</h2><span class="small soft">${quality.window_days} days, with 95 % intervals</span></header>
    ${quality.recalls === 0 ? html`<${Empty} icon="health" title="No recall yet"><p>Rates appear once agents recall. Judge answers with <code>memory.feedback(hits, useful=True)</code>.</p><//>`
    : html`<div class="rates">${rows.filter(([, rate]) => rate).map(([name, rate]) => html`<${RateBar} key=${name} name=${name} rate=${rate} />`)}</div>`}
    ${quality.context_use !== null && html`<p class="small soft">${plural(quality.contexts, "context")} used ${percent(quality.context_use)} of their budgets.</p>`}</section>`;
}

function DriftCard({ drift }) {
  const tone = { steady: "good", drifted: drift.worse ? "bad" : "warn", unknown: "" }[drift.verdict];
  const words = { steady: "Retrieval is as it was.", drifted: "Retrieval has changed.", unknown: "Too few recalls to tell." }[drift.verdict];
  return html`<section class="card"><header><h2>Drift</h2><span class=${`chip ${tone}`}>${drift.verdict}</span></header><p>${words}</p>
    <p class="small soft">${count(drift.recent)} recent recalls against ${count(drift.reference)} before them.</p>
    ${drift.shifts.length > 0 && html`<table><caption class="hidden">What was compared</caption><thead><tr><th scope="col">Compared</th><th scope="col" class="num">Before</th><th scope="col" class="num">Lately</th><th scope="col" class="num">p</th></tr></thead>
      <tbody>${drift.shifts.map((shift) => html`<tr key=${shift.name}><th scope="row">${shift.name}</th><td class="num">${shift.before.toFixed(2)}</td><td class="num">${shift.after.toFixed(2)}</td><td class="num">${shift.p_value < 0.001 ? "< 0.001" : shift.p_value.toFixed(3)}</td></tr>`)}</tbody></table>`}</section>`;
}

function Shares({ title, shares, colour }) {
  const rows = Object.entries(shares).sort((a, b) => b[1] - a[1]);
  const total = rows.reduce((sum, [, n]) => sum + n, 0) || 1;
  return html`<div class="stack tight"><h3>${title}</h3><${Bar} height=${14} total=${total} label=${rows.map(([name, n]) => `${name} ${n}`).join(", ")} parts=${rows.map(([name, n]) => ({ name, value: n, colour: colour(name), title: `${name}: ${count(n)}` }))} />
    <div class="legend">${rows.map(([name, n]) => html`<span key=${name}><i class="swatch" style=${{ background: colour(name) }}></i>${name} <b class="num">${count(n)}</b></span>`)}</div></div>`;
}

function Storage({ data }) {
  return html`<section class="card stack"><header><h2>Storage</h2><span class="small soft">${bytes(data.metrics.eidet_store_bytes_per_record || 0)} a record</span></header>
    <${Shares} title="By tier" shares=${data.stats.tiers} colour=${(name) => TIER_COLOURS[name] || "var(--c9)"} />
    <${Shares} title="By kind" shares=${data.stats.kinds} colour=${kindColour} /></section>`;
}

function Unused({ data }) {
  const rows = [["eidet_memory_used_ratio", "Recalled at least once", ""], ["eidet_memory_never_recalled_ratio", "Old and never recalled", "warn"], ["eidet_memory_stale_ratio", "Stale", "warn"], ["eidet_memory_duplicate_ratio", "Duplicate facts and documents", "bad"], ["eidet_memory_retention_ratio", "Kept in the window", ""]];
  return html`<section class="card"><header><h2>Use</h2></header><ul class="uses">${rows.filter(([name]) => name in data.metrics).map(([name, label, tone]) => html`<li key=${name} title=${data.meanings[name]}>
    <span>${label}</span><b class="num">${percent(data.metrics[name], data.metrics[name] > 0 && data.metrics[name] < 0.1 ? 1 : 0)}</b><div class="use-line" role="img" aria-label=${`${label}: ${percent(data.metrics[name], 1)}`}><i class=${tone} style=${{ width: `${100 * data.metrics[name]}%` }}></i></div></li>`)}</ul></section>`;
}

function UpkeepCard({ scope, works, may, say, onDone, go, params }) {
  const [done, setDone] = useState(null);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(null);
  const run = async (dry) => {
    setBusy(dry ? "Planning" : "Running");
    setError(null);
    try {
      const answer = await call("/dashboard/upkeep", { scope, body: { dry_run: dry } });
      setDone(answer);
      if (!dry) { say(`Upkeep examined ${plural(answer.examined, "record")}.`); onDone(); }
    } catch (failed) { setError(failed); }
    setBusy(null);
  };
  const planned = done && done.dry_run && Object.keys(done.counts).length > 0;
  return html`<section class="card wide"><header><h2>Upkeep</h2><div class="row"><button class="btn" disabled=${!may("admin") || busy} onClick=${() => run(true)}>Dry run</button>
      <button class="btn main-act" disabled=${!may("admin") || busy || !planned} onClick=${() => run(false)}>Do it</button></div></header>
    <p class="small soft">Merges duplicates, moves what is unused to lower tiers, sums up sessions, forgets what policies say. A dry run changes nothing and gives the reasons. Steps: ${works.join(", ")}.</p>
    ${busy && html`<${Loading} what=${busy} />`}
    ${error && html`<${Failure} error=${error} />`}
    ${done && !busy && html`<div class="stack tight"><div class="row">${Object.entries(done.counts).map(([what, n]) => html`<span class="chip accent">${done.dry_run ? "would " : ""}${what === "retain" ? "delete by retention" : what} <b class="num">${count(n)}</b></span>`)}
        ${Object.keys(done.counts).length === 0 && html`<span class="chip good">nothing to do</span>`}<span class="small soft">${plural(done.examined, "record")} examined in ${millis(done.seconds * 1000)}</span></div>
      ${done.failed.map((line) => html`<div class="note bad">${line}</div>`)}
      ${done.changes.length > 0 && html`<div class="scroll changes" tabindex="0" role="group" aria-label="Changes"><table><caption class="hidden">Changes</caption><thead><tr><th scope="col">What</th><th scope="col">Record</th><th scope="col">Because</th></tr></thead>
        <tbody>${done.changes.slice(0, 100).map((one, at) => html`<tr key=${at}><td>${one.what}</td><td><button class="btn quiet mono" onClick=${() => go("memories", { scope: params.get("scope"), id: one.id, at: one.scope })}>${one.id.slice(0, 18)}</button></td><td class="text" dir="auto">${one.because}</td></tr>`)}</tbody></table></div>`}
      ${(done.more > 0 || done.changes.length > 100) && html`<p class="small soft">${count(done.more + Math.max(0, done.changes.length - 100))} more.</p>`}</div>`}
  </section>`;
}

function Transfer({ scope, may, say, onDone }) {
  const [busy, setBusy] = useState(null);
  const [error, setError] = useState(null);
  const picker = useRef(null);
  const run = async (doing) => {
    setError(null);
    try { say(await doing()); } catch (failed) { setError(failed); }
    setBusy(null);
  };
  const save = () => run(async () => {
    setBusy("Exporting");
    offer(await download("/export", { scope }), `${scope.replace("/**", "").replaceAll("/", "-")}.jsonl`);
    return "Exported this scope.";
  });
  const load = (event) => run(async () => {
    const [file] = event.target.files;
    event.target.value = "";
    setBusy("Loading");
    const { count: loaded } = await upload("/load", file, { scope });
    onDone();
    return `Loaded ${plural(loaded, "record")} of this scope.`;
  });
  return html`<section class="card stack tight"><header><h2>Export and load</h2><div class="row">
      <button class="btn" disabled=${!may("admin") || busy} onClick=${save}>Export this scope</button>
      <button class="btn" disabled=${!may("admin") || busy} onClick=${() => picker.current.click()}>Load a file</button></div></header>
    <input type="file" class="hidden" ref=${picker} accept=".jsonl" aria-label="A file to load" tabindex="-1" onChange=${load} />
    <p class="small soft">An export holds every record with its history and vectors. Loading takes the records of this scope from a file; if one line is damaged, nothing is loaded.</p>
    ${busy && html`<${Loading} what=${busy} />`}
    ${error && html`<${Failure} error=${error} />`}</section>`;
}

function offer(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function Lines({ data }) {
  const { health, retention, audited, sealed } = data;
  const parts = Object.entries(health).filter(([name, value]) => name !== "state" && value && typeof value === "object");
  return html`<section class="card"><header><h2>Servers and policies</h2><span class=${`chip ${health.state === "up" ? "good" : "bad"}`}>${health.state}</span></header>
    <div class="row"><span class=${`chip ${audited ? "good" : ""}`}>${audited ? "audited" : "not audited"}</span><span class=${`chip ${sealed ? "good" : ""}`}>${sealed ? "sealed" : "not sealed"}</span></div>
    ${parts.length === 0 ? html`<p class="soft">The memory is one file on this machine; it stands on no server.</p>` : html`<pre class="json" tabindex="0">${JSON.stringify(Object.fromEntries(parts), null, 2)}</pre>`}
    ${retention.length === 0 ? html`<p class="small soft">No retention policy is set.</p>` : html`<ul class="uses">${retention.map((one) => html`<li><span>${one.policy}</span><b class="num">${count(one.due)} due of ${count(one.covered)}</b></li>`)}</ul>`}</section>`;
}
