// Memories: a table with every filter, and one record with all that belongs to it.
import {
  html, useEffect, useState, useLoad, useDebounced, Bar, Dialog, Empty, Failure, Icon, KindChip, Loading, MetaLine, MultiPick, Text,
  KINDS, TIERS, TRUST, findByWords, kindColour, count, day, moment, fromInput, localInput, percent, plural, seconds, shown,
} from "../ui.js";
import { call } from "../api.js";
import { StrengthCurve } from "../charts.js";
import { diffWords } from "../diff.js";

const PAGE = 25;
const ORDERS = [["-occurred", "Newest"], ["occurred", "Oldest"], ["-created", "Last stored"], ["-importance", "Most important"], ["-uses", "Most used"], ["step", "By step"]];
const MOST_HITS = 200;
const PAGE_CHARS = 20000;
const MARKS = {
  pinned: { "state.pinned": { $exists: true } }, held: { "state.hold": { $exists: true } }, labelled: { "state.poison": { $exists: true } },
  merged: { "state.merged": { $exists: true } }, lowered: { "record.level": { $gt: 0 } },
};
const BLANK = { query: "", kinds: [], tiers: [], trust: [], who: "", agent: "", session: "", source: "", since: "", until: "", importance_min: "", uses_min: "", marked: "", where: "", order: "-occurred" };

function toFilter(form) {
  const told = {};
  for (const name of ["kinds", "tiers", "trust"]) if (form[name].length) told[name] = form[name];
  for (const name of ["who", "agent", "session"]) if (form[name]) told[name] = form[name];
  for (const name of ["since", "until"]) if (form[name]) told[name] = fromInput(form[name]);
  const parts = [];
  if (form.source) parts.push({ source: form.source });
  if (form.importance_min !== "") parts.push({ importance: { $gte: Number(form.importance_min) } });
  if (form.uses_min !== "") parts.push({ "record.uses": { $gte: Number(form.uses_min) } });
  if (form.marked) parts.push(MARKS[form.marked]);
  if (form.where.trim()) parts.push(JSON.parse(form.where));
  return parts.length ? { ...told, where: { $and: parts } } : told;
}

async function readPage(scope, form, page, signal) {
  const filter = toFilter(form);
  if (form.query.trim()) {
    const found = await findByWords(scope, { ...filter, query: form.query, limit: MOST_HITS }, signal);
    return { records: found.slice(page * PAGE, (page + 1) * PAGE), total: found.length, ranked: true };
  }
  const [found, counted] = await Promise.all([
    call("/find", { scope, signal, body: { ...filter, order: form.order, limit: PAGE, offset: page * PAGE } }),
    call("/count", { scope, signal, body: filter }),
  ]);
  return { records: found.memories.map((one) => shown(one)), total: counted.count, ranked: false };
}

async function readRecord(scope, id, signal) {
  const path = `/memories/${encodeURIComponent(id)}`;
  const [record, history, beside] = await Promise.all([
    call(path, { scope, signal }), call(`${path}/history`, { scope, signal }), call("/dashboard/record", { scope, signal, params: { id } }),
  ]);
  const links = Object.fromEntries(Object.entries(beside.links).map(([name, rows]) => [name, rows.map((one) => shown(one, 160))]));
  return { ...beside, record, links, history: history.events.map((event) => ({ ...event, at: seconds(event.at) })) };
}

export function Memories({ scope, params, head, say, go, may, single }) {
  const asked = { ...BLANK, query: params.get("q") || "", session: params.get("session") || "", who: params.get("who") || "", kinds: params.get("kind") ? [params.get("kind")] : [] };
  const [form, setForm] = useState(asked);
  const [page, setPage] = useState(0);
  const [chosen, setChosen] = useState([]);
  const [forgets, setForgets] = useState(null);
  const slow = useDebounced(form, 220);
  const change = (more) => { setPage(0); setForm((old) => ({ ...old, ...more })); };
  useEffect(() => { if (params.get("session")) change({ session: params.get("session") }); }, [params.get("session")]);
  const { data, error, busy, reload } = useLoad((signal) => readPage(scope, slow, page, signal), [slow, page, scope, head.seq]);
  const id = params.get("id");
  const at = params.get("at") || scope;
  const open = (record) => go("memories", { scope: params.get("scope"), id: record.id, at: record.scope });
  const close = () => go("memories", { scope: params.get("scope") });
  const flip = (record) => setChosen(chosen.includes(record.id) ? chosen.filter((one) => one !== record.id) : [...chosen, record.id]);
  const searches = form.query ? 1 : 0;
  const active = Object.keys(BLANK).filter((name) => name !== "order" && String(form[name]) !== String(BLANK[name])).length;
  return html`<div class=${`memories ${id ? "with-detail" : ""}`}>
    <div class="stack">
      <section class="card stack tight">
        <div class="row"><label class="grow"><span class="hidden">Search</span><input type="search" placeholder="Search by words or meaning" dir="auto" value=${form.query} onInput=${(event) => change({ query: event.target.value })} /></label>
          <label class="order"><span class="hidden">Order</span><select value=${form.order} disabled=${Boolean(form.query.trim())} onChange=${(event) => change({ order: event.target.value })}>
            ${ORDERS.map(([value, name]) => html`<option value=${value}>${name}</option>`)}</select></label></div>
        <${MultiPick} label="Kinds" options=${KINDS} value=${form.kinds} onChange=${(kinds) => change({ kinds })} colour=${kindColour} />
        <details><summary>All filters${active > searches ? ` (${active - searches} set)` : ""}</summary><${AllFilters} form=${form} change=${change} /></details>
        ${active > 0 && html`<div><button class="btn quiet" onClick=${() => change({ ...BLANK })}>Clear all filters</button></div>`}
      </section>
      ${error && html`<${Failure} error=${error} retry=${reload} />`}
      ${!data && !error && html`<${Loading} what="Reading records" />`}
      ${data && html`<section class="card list">
        <header><h2>${data.ranked ? `${plural(data.total, "hit")}, best first` : plural(data.total, "record")}</h2>
          <div class="row">${busy && html`<i class="spin"></i>`}
          ${chosen.length > 0 && html`<button class="btn danger" disabled=${!may("forget") || !single} onClick=${() => setForgets(chosen)}>Forget ${count(chosen.length)}…</button>`}</div></header>
        ${data.records.length === 0 ? html`<${Empty} icon="memories" title=${active ? "No record passes these filters" : "This scope is empty"}>
          ${active ? html`<p>Clear a filter, or search with other words.</p>` : html`<p>Store something first: <code>eidet remember "My first memory" --scope ${scope}</code></p>`}<//>`
          : html`<${Table} rows=${data.records} ranked=${data.ranked} chosen=${chosen} flip=${flip} open=${open} id=${id} scoped=${!single} />`}
        ${data.total > PAGE && html`<nav class="row spread pager" aria-label="Pages"><span class="small soft num">${count(page * PAGE + 1)} to ${count(page * PAGE + data.records.length)} of ${count(data.total)}</span>
          <div class="row"><button class="btn" disabled=${page === 0} onClick=${() => setPage(page - 1)}>Newer page</button>
          <button class="btn" disabled=${(page + 1) * PAGE >= data.total || data.records.length < PAGE} onClick=${() => setPage(page + 1)}>Next page</button></div></nav>`}
      </section>`}
    </div>
    ${id && html`<${Detail} key=${`${at} ${id}`} id=${id} scope=${at} head=${head} say=${say} may=${may} onClose=${close} open=${open} onForget=${() => setForgets([id])} />`}
    ${forgets && html`<${Forget} ids=${forgets} scope=${id && forgets.length === 1 ? at : scope} say=${say} onClose=${() => setForgets(null)} onDone=${() => { setChosen([]); reload(); if (id) close(); }} />`}
  </div>`;
}

function AllFilters({ form, change }) {
  const set = (name) => (event) => change({ [name]: event.target.value });
  const [typed, type] = useState(form.where); // counts once it is whole
  useEffect(() => type(form.where), [form.where]);
  const bad = typed.trim() && !isJson(typed);
  return html`<div class="stack tight">
    <div class="row picks"><${MultiPick} label="Tiers" options=${TIERS} value=${form.tiers} onChange=${(tiers) => change({ tiers })} />
    <${MultiPick} label="Trust" options=${TRUST} value=${form.trust} onChange=${(trust) => change({ trust })} /></div>
    <div class="two">
      ${[["who", "Who"], ["agent", "Agent"], ["session", "Session"], ["source", "Source"]].map(([name, label]) => html`<label class="field"><span>${label}</span><input type="text" value=${form[name]} onInput=${set(name)} /></label>`)}
      <label class="field"><span>Happened since</span><input type="datetime-local" value=${form.since} onInput=${set("since")} /></label>
      <label class="field"><span>Happened until</span><input type="datetime-local" value=${form.until} onInput=${set("until")} /></label>
      <label class="field"><span>Importance at least</span><input type="number" min="0" max="1" step="0.1" value=${form.importance_min} onInput=${set("importance_min")} /></label>
      <label class="field"><span>Uses at least</span><input type="number" min="0" step="1" value=${form.uses_min} onInput=${set("uses_min")} /></label>
      <label class="field"><span>Marked</span><select value=${form.marked} onChange=${set("marked")}><option value="">anything</option>${Object.keys(MARKS).map((one) => html`<option value=${one}>${one}</option>`)}</select></label>
    </div>
    <label class="field"><span>Condition as JSON, such as {"data.battery": {"$lt": 0.3}}</span>
      <input type="text" class="mono" value=${typed} aria-invalid=${bad ? "true" : "false"} onInput=${(event) => type(event.target.value)} onChange=${(event) => (isJson(event.target.value) || !event.target.value.trim()) && change({ where: event.target.value })} /></label>
  </div>`;
}

function isJson(text) {
  try { return typeof JSON.parse(text) === "object"; } catch { return false; }
}

function Table({ rows, ranked, chosen, flip, open, id, scoped }) {
  return html`<div class="rows"><table class="memory-table"><caption class="hidden">Records</caption>
    <thead><tr><th scope="col"><span class="hidden">Choose</span></th><th scope="col">Memory</th><th scope="col">Kind</th><th scope="col">Happened</th><th scope="col" class="num">${ranked ? "Score" : "Importance"}</th><th scope="col" class="num">Uses</th></tr></thead>
    <tbody>${rows.map((record) => html`<tr key=${`${record.scope} ${record.id}`} class=${record.id === id ? "current" : ""}>
      <td><input type="checkbox" aria-label="Choose this record" checked=${chosen.includes(record.id)} onChange=${() => flip(record)} /></td>
      <td class="cell-text"><button class="row-open" onClick=${() => open(record)}><${Text} text=${record.text || "(no text)"} chars=${record.chars} clamp=${true} /></button>
        <span class="small soft row meta">${record.who && html`<span class="text" dir="auto">${record.who.slice(0, 60)}</span>`}${record.session && html`<span class="mono text">${record.session.slice(0, 50)}</span>`}${scoped && html`<span class="mono">${record.scope}</span>`}
          ${record.pinned && html`<span class="chip accent"><${Icon} name="pin" />pinned</span>`}${record.held && html`<span class="chip warn"><${Icon} name="lock" />held</span>`}
          ${record.trust === "quarantined" || record.trust === "web" ? html`<span class="chip warn">${record.trust}</span>` : ""}</span></td>
      <td><${KindChip} kind=${record.kind} /></td><td class="nowrap small">${day(record.occurred)}</td>
      <td class="num">${ranked ? record.score.toFixed(2) : record.importance.toFixed(2)}</td><td class="num">${count(record.uses)}</td></tr>`)}</tbody></table></div>`;
}

function Detail({ id, scope, head, say, may, onClose, open, onForget }) {
  const [whole, setWhole] = useState(false);
  const [edits, setEdits] = useState(false);
  const { data: read, error, reload } = useLoad((signal) => readRecord(scope, id, signal), [id, scope, head.seq]);
  const data = read && { ...read, ...shown(read.record, whole ? Infinity : PAGE_CHARS) };
  const mark = (name, method) => call(`/memories/${encodeURIComponent(id)}/${name}`, { scope, method });
  const acts = {
    pin: () => mark("pin", "PUT"), unpin: () => mark("pin", "DELETE"), hold: () => mark("hold", "PUT"), release: () => mark("hold", "DELETE"),
    quarantine: () => mark("quarantine", "PUT"), approve: () => call("/approve", { scope, body: { id } }),
  };
  const act = (name, words) => acts[name]().then(() => { say(words); reload(); }, (failed) => say(failed.message));
  if (error && !data) return html`<aside class="card detail"><div class="row spread"><h2>Record</h2><button class="btn quiet" onClick=${onClose}>Close</button></div><${Failure} error=${error} /></aside>`;
  if (!data) return html`<aside class="card detail"><${Loading} what="Reading the record" /></aside>`;
  return html`<aside class="card detail stack" aria-label="Record">
    <div class="row spread"><${MetaLine} record=${data} /><button class="btn quiet" onClick=${onClose} aria-label="Close the record"><${Icon} name="close" /></button></div>
    <p class="detail-text"><${Text} text=${data.text} /></p>
    ${data.chars > data.text.length && html`<div class="note row spread"><span>${count(data.text.length)} of ${count(data.chars)} characters are shown.</span><button class="btn" onClick=${() => setWhole(true)}>Show all</button></div>`}
    ${data.whole && html`<details><summary>Before its tier showed less of it</summary><p><${Text} text=${data.whole.slice(0, PAGE_CHARS)} /></p></details>`}
    <div class="row acts">
      <button class="btn" disabled=${!may("write") || data.held} onClick=${() => setEdits(true)}>Edit</button>
      ${data.pinned ? html`<button class="btn" disabled=${!may("write")} onClick=${() => act("unpin", "Unpinned.")}>Unpin</button>` : html`<button class="btn" disabled=${!may("write")} onClick=${() => act("pin", "Pinned: upkeep leaves it alone.")}>Pin</button>`}
      ${data.held ? html`<button class="btn" disabled=${!may("admin")} onClick=${() => act("release", "The hold has ended.")}>Release</button>` : html`<button class="btn" disabled=${!may("admin")} onClick=${() => act("hold", "Held: nobody can change or delete it.")}>Hold</button>`}
      ${data.trust === "quarantined" ? html`<button class="btn" disabled=${!may("write")} onClick=${() => act("approve", "Approved.")}>Approve</button>` : html`<button class="btn" disabled=${!may("write")} onClick=${() => act("quarantine", "Set aside until somebody approves it.")}>Quarantine</button>`}
      <button class="btn danger" disabled=${!may("forget") || data.held} onClick=${onForget}>Forget…</button>
    </div>
    <${Provenance} data=${data} />
    <section><h3>Strength</h3><p class="small soft">${percent(data.strength.value)} now; the curve is how it fades unless it is used. Tier ${data.tier}${data.level ? `, detail lowered to level ${data.level}` : ""}.</p><${StrengthCurve} strength=${data.strength} /></section>
    <${Links} links=${data.links} open=${open} />
    <${History} data=${data} />
    ${(data.data !== null || Object.keys(data.meta).length > 0 || Object.keys(data.state).length > 0) && html`<details><summary>Data, meta and state</summary><pre class="json" tabindex="0">${JSON.stringify({ data: data.data, meta: data.meta, state: data.state }, null, 2)}</pre></details>`}
    ${edits && html`<${Edit} data=${data} scope=${scope} say=${say} onClose=${() => setEdits(false)} onDone=${reload} />`}
  </aside>`;
}

function Provenance({ data }) {
  const rows = [
    ["Id", html`<span class="mono">${data.id}</span>`], ["Scope", html`<span class="mono">${data.scope}</span>`],
    ["Happened", moment(data.occurred)], ["Stored", moment(data.created)], ["Version", data.version], ["Trust", data.trust],
    ["Importance", data.importance.toFixed(2)], ["Uses", data.last_used ? `${count(data.uses)}, last ${day(data.last_used)}` : count(data.uses)],
    ["Agent", data.agent], ["Session", data.session], ["Step", data.step], ["Source", data.source], ["Place", data.place && data.place.join(", ")],
    ["Expires", data.expires && moment(data.expires)],
  ].filter(([, value]) => value !== null && value !== undefined && value !== "");
  return html`<dl class="facts-list">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd class="text" dir="auto">${value}</dd></div>`)}</dl>`;
}

function Links({ links, open }) {
  const groups = [["made_of", "Made of"], ["made_from_it", "Made from it"], ["beside", "Beside it in the session"]].filter(([name]) => links[name].length);
  if (!groups.length) return null;
  return html`<section class="stack tight">${groups.map(([name, title]) => html`<div><h3>${title}</h3><ul class="links">${links[name].map((record) => html`<li key=${record.id}>
    <button class="pick-row" onClick=${() => open(record)}><${Text} text=${record.text} chars=${record.chars} clamp=${true} /><span class="small soft">${record.kind} · ${moment(record.occurred)}${record.who ? ` · ${record.who.slice(0, 40)}` : ""}</span></button></li>`)}</ul></div>`)}</section>`;
}

function History({ data }) {
  const events = [...data.history];
  const after = (at) => { for (let n = at + 1; n < events.length; n += 1) if (events[n].before && "text" in events[n].before) return events[n].before.text; return data.text; };
  return html`<section><h3>History</h3><ol class="history">${events.map((event, at) => {
    const changed = event.what === "revised" && event.before && typeof event.before.text === "string" && event.before.text !== after(at);
    return html`<li key=${at}><div class="row spread"><span><b>${event.what}</b> <span class="soft">version ${event.version}${event.by ? ` by ${event.by}` : ""}</span></span><span class="small soft nowrap">${moment(event.at)}</span></div>
      ${changed && html`<${Diff} before=${event.before.text} after=${after(at)} />`}</li>`;
  })}</ol></section>`;
}

function Diff({ before, after }) {
  return html`<p class="diff" dir="auto">${diffWords(before, after).map((part, at) => (part.kind === "gone" ? html`<del key=${at}>${part.text}</del>` : part.kind === "came" ? html`<ins key=${at}>${part.text}</ins>` : html`<span key=${at}>${part.text}</span>`))}</p>`;
}

function Edit({ data, scope, say, onClose, onDone }) {
  const [text, setText] = useState(data.text);
  const [importance, setImportance] = useState(data.importance);
  const [kind, setKind] = useState(data.kind);
  const [who, setWho] = useState(data.who || "");
  const [occurred, setOccurred] = useState(localInput(data.occurred));
  const [error, setError] = useState(null);
  const cut = data.chars > data.text.length;
  const save = async (event) => {
    event.preventDefault();
    const body = {};
    if (!cut && text !== data.text) body.text = text;
    if (Number(importance) !== data.importance) body.importance = Number(importance);
    if (kind !== data.kind) body.kind = kind;
    if (who !== (data.who || "")) body.who = who || null;
    if (occurred !== localInput(data.occurred)) body.occurred = fromInput(occurred);
    try {
      const done = await call(`/memories/${encodeURIComponent(data.id)}`, { scope, body, method: "PATCH", ifMatch: data.etag });
      say(done.version === data.version ? "Nothing was changed." : `Saved as version ${done.version}.`);
      onClose();
      onDone();
    } catch (failed) { setError(failed); }
  };
  return html`<${Dialog} title="Edit this memory" onClose=${onClose}><form class="stack tight" onSubmit=${save}>
    <label class="field"><span>Text${cut ? " (only its beginning was read: show all of it first)" : ""}</span><textarea dir="auto" disabled=${cut} value=${text} onInput=${(event) => setText(event.target.value)}></textarea></label>
    <div class="two"><label class="field"><span>Kind</span><select value=${kind} onChange=${(event) => setKind(event.target.value)}>${KINDS.map((one) => html`<option value=${one}>${one}</option>`)}</select></label>
    <label class="field"><span>Who</span><input type="text" value=${who} onInput=${(event) => setWho(event.target.value)} /></label>
    <label class="field"><span>Happened</span><input type="datetime-local" value=${occurred} onInput=${(event) => setOccurred(event.target.value)} /></label>
    <label class="field"><span>Importance ${Number(importance).toFixed(2)}</span><input type="range" min="0" max="1" step="0.05" value=${importance} onInput=${(event) => setImportance(event.target.value)} /></label></div>
    ${error && html`<${Failure} error=${error} />`}
    <div class="row"><button class="btn main-act" type="submit">Save a new version</button><button class="btn" type="button" onClick=${onClose}>Cancel</button></div>
  </form><//>`;
}

function Forget({ ids, scope, say, onClose, onDone }) {
  const [why, setWhy] = useState("");
  const [done, setDone] = useState(null);
  const [failed, setFailed] = useState(null);
  const { data, error } = useLoad((signal) => call("/forget", { scope, signal, body: { ids, preview: true } }).then(({ preview, ...rest }) => ({ ...preview, ...rest })), [ids.join()]);
  const forget = () => call("/forget", { scope, body: { ids, why: why || null } }).then((answer) => { setDone(answer); onDone(); }, setFailed);
  const end = () => onClose();
  if (done) return html`<${Dialog} title="Forgotten" onClose=${end}><${Receipt} done=${done} /><div class="row"><button class="btn main-act" onClick=${end}>Done</button></div><//>`;
  const groups = data ? [["asked", "Asked for"], ["copies", "Word for word the same"], ["dropped", "Made of it, goes too"], ["anew", "Made of it, worded anew without it"]].filter(([name]) => data[name].length) : [];
  return html`<${Dialog} title=${`Forget ${plural(ids.length, "memory", "memories")} for good?`} onClose=${end}>
    ${error && html`<${Failure} error=${error} />`}
    ${!data && !error && html`<${Loading} what="Looking what would go" />`}
    ${data && html`<p>${plural(data.count, "record")} would be deleted, with copies, history and what was made of it. It cannot be undone, and is refused if it comes back.</p>
      ${groups.map(([name, title]) => html`<div><h3>${title} (${count(data[name].length)})</h3><ul class="links">${data[name].slice(0, 6).map((record) => html`<li key=${record.id} class="gone-row"><${Text} text=${record.text} chars=${record.text.length} clamp=${true} /></li>`)}</ul></div>`)}
      <label class="field"><span>Why (kept in the receipt)</span><input type="text" value=${why} onInput=${(event) => setWhy(event.target.value)} /></label>`}
    ${failed && html`<${Failure} error=${failed} />`}
    <div class="row"><button class="btn danger main-act" disabled=${!data} onClick=${forget}>Forget for good</button><button class="btn" onClick=${end}>Keep</button></div>
  <//>`;
}

function Receipt({ done }) {
  const receipt = done.receipt;
  const save = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify({ eidet: "receipt", format: 1, ...receipt }, null, 2)], { type: "application/json" }));
    link.download = `receipt-${receipt.ids[0] || "scope"}.json`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return html`<p>${plural(done.count, "record")} forgotten.</p>
    ${receipt && html`<dl class="facts-list">${Object.entries(receipt.counts).map(([name, n]) => html`<div><dt>${name}</dt><dd class="num">${count(n)}</dd></div>`)}
      <div><dt>Signed by</dt><dd>${receipt.method}</dd></div></dl>
      ${receipt.pending.length > 0 && html`<div class="note warn">${receipt.pending.join("; ")}</div>`}
      <p class="small soft mono text">${receipt.signature}</p>
      <div><button class="btn" onClick=${save}>Save the receipt</button></div>`}`;
}
