// Overview: how much there is, what came lately, what was asked, what waits, what is unhealthy; and a form to add to it.
import { html, useRef, useState, useLoad, Empty, Failure, Figure, Icon, Loading, MetaLine, Text, count, fromInput, percent, plural, shown } from "../ui.js";
import { call } from "../api.js";
import { DayBars } from "../charts.js";

const WEEK = 7;
const KINDS = ["fact", "message", "episode", "summary", "document"];
const WAITS = [
  ["review", "to review", "review", "No answer has them until somebody approves them, or they look like instructions."],
  ["contradictions", "to decide", "facts", "Facts that cannot hold together."],
  ["retention", "due to be deleted", "health", "By a retention policy; upkeep deletes them."],
];

export function Overview({ scope, head, say, go, may, params }) {
  const { data, error, reload } = useLoad(async (signal) => (may("read") ? call("/dashboard/overview", { scope, signal }) : null), [scope, head.seq]);
  const form = html`<${AddForm} scope=${scope} say=${say} may=${may} onDone=${reload} />`;
  if (!may("read")) return html`<div class="stack"><div class="note">This key may not read. What you store here is kept, and not shown.</div>${form}</div>`;
  if (error && !data) return html`<${Failure} error=${error} retry=${reload} />`;
  if (!data) return html`<section class="card"><${Loading} what="Looking around" /></section>`;
  const open = (record) => go("memories", { scope: params.get("scope"), id: record.id, at: record.scope });
  const to = (view) => go(view, { scope: params.get("scope") });
  return html`<div class="stack">
    <${Figures} data=${data} />
    <div class="overview-grid">
      <div class="stack">
        <section class="card"><header><h2>Came lately</h2>${data.records > 0 && html`<button class="btn quiet" onClick=${() => to("memories")}>All memories</button>`}</header>
          ${data.newest.length === 0 ? html`<${Empty} icon="memories" title="This scope is empty"><p>Write its first memory in the form, or store one with <code>eidet remember "…" --scope ${scope}</code></p><//>`
            : html`<ul class="lines">${data.newest.map((one) => shown(one, 240)).map((record) => html`<li key=${`${record.scope} ${record.id}`}><button class="row-open" onClick=${() => open(record)}><${Text} text=${record.text || "(no text)"} chars=${record.chars} clamp=${true} /></button>
              <${MetaLine} record=${record} scoped=${data.scopes > 1} /></li>`)}</ul>`}</section>
        ${data.records > 0 && html`<section class="card"><header><h2>Stored and asked, day by day</h2><button class="btn quiet" onClick=${() => to("timeline")}>Timeline</button></header>
          <${DayBars} days=${data.days} /></section>`}
      </div>
      <div class="stack">
        ${form}
        <${Waiting} waiting=${data.waiting} to=${to} />
        <${Faults} faults=${data.unhealthy} to=${to} />
      </div>
    </div>
  </div>`;
}

function Figures({ data }) {
  const week = data.days.slice(-WEEK);
  const sum = (name) => week.reduce((all, one) => all + one[name], 0);
  const [stored, asked, empty] = [sum("stored"), sum("recalls"), sum("empty")];
  const most = Object.entries(data.kinds).sort((a, b) => b[1] - a[1])[0];
  const waits = Object.values(data.waiting).reduce((all, n) => all + n, 0);
  return html`<section class="card"><dl class="figures">
    <${Figure} name="Memories" value=${count(data.records)} tells=${data.scopes > 1 ? `in ${count(data.scopes)} scopes` : most ? `mostly of kind ${most[0]}` : "none yet"} />
    <${Figure} name="Stored" value=${count(stored)} tells="in 7 days" />
    <${Figure} name="Asked" value=${count(asked)} tells=${asked ? `${percent(1 - empty / asked)} found something` : "nobody asked in 7 days"} />
    <${Figure} name="Waiting" value=${count(waits)} tells=${waits ? "for somebody to decide" : "nothing waits"} />
    <${Figure} name="Health" value=${data.unhealthy.length ? plural(data.unhealthy.length, "fault") : "good"} tells=${data.unhealthy.length ? "see below" : "nothing is wrong"} /></dl></section>`;
}

function Waiting({ waiting, to }) {
  const rows = WAITS.filter(([name]) => waiting[name] > 0);
  return html`<section class="card"><header><h2>Waiting</h2></header>
    ${rows.length === 0 ? html`<p class="soft">Nothing waits for you.</p>` : html`<ul class="lines">${rows.map(([name, words, view, tells]) => html`<li key=${name}><div class="row spread"><span class="chip warn"><b class="num">${count(waiting[name])}</b>${words}</span><button class="btn quiet" onClick=${() => to(view)}>Look</button></div><p class="small soft">${tells}</p></li>`)}</ul>`}</section>`;
}

function Faults({ faults, to }) {
  return html`<section class="card"><header><h2>Health</h2><button class="btn quiet" onClick=${() => to("health")}>All figures</button></header>
    ${faults.length === 0 ? html`<p class="soft">Nothing is wrong.</p>` : html`<div class="stack tight">${faults.map((words) => html`<div class="note bad" key=${words}>${words}</div>`)}</div>`}</section>`;
}

function AddForm({ scope, say, may, onDone }) {
  const blank = { text: "", kind: "fact", occurred: "" };
  const [form, setForm] = useState(blank);
  const [place, setPlace] = useState(scope.replace("/**", ""));
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const field = useRef(null);
  const set = (name) => (event) => setForm({ ...form, [name]: event.target.value });
  const send = async (event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    const memory = { text: form.text, kind: form.kind, ...(form.occurred ? { occurred: fromInput(form.occurred) } : {}) };
    try {
      await call("/memories", { params: { scope: place.trim() }, body: { memories: [memory] } });
      setForm(blank);
      say(`Stored in ${place.trim()}.`);
      onDone();
      field.current.focus();
    } catch (failed) { setError(failed); }
    setBusy(false);
  };
  const off = !may("write");
  return html`<section class="card"><header><h2>Add a memory</h2></header>
    ${off ? html`<p class="soft">This key may not write.</p>` : html`<form class="stack tight" onSubmit=${send}>
      <label class="field"><span>Text</span><textarea ref=${field} required dir="auto" rows="3" placeholder="One statement that can be understood on its own" value=${form.text} onInput=${set("text")}
        onKeyDown=${(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.form.requestSubmit()}></textarea></label>
      <div class="two">
        <label class="field"><span>Scope</span><input type="text" required value=${place} onInput=${(event) => setPlace(event.target.value)} /></label>
        <label class="field"><span>Kind</span><select value=${form.kind} onChange=${set("kind")}>${KINDS.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select></label>
        <label class="field whole"><span>Happened (now, if empty)</span><input type="datetime-local" value=${form.occurred} onInput=${set("occurred")} /></label>
      </div>
      ${error && html`<${Failure} error=${error} />`}
      <div class="row"><button class="btn main-act" type="submit" disabled=${busy}><${Icon} name="add" />Remember</button></div></form>`}</section>`;
}
