// Why?: the answer to a question, and everything that made it.
import {
  html, useEffect, useRef, useState, useLoad, useDebounced, Bar, Dialog, Empty, Failure, Icon, Loading, MetaLine, MultiPick, RecordPicker, Text,
  KINDS, TIERS, SIGNALS, LATE_SIGNALS, MEANING, SIGNAL_HELP, kindColour, signalColour, count, day, fromInput, localInput, millis, percent, plural, shown,
} from "../ui.js";
import { call } from "../api.js";

const STAGES = {
  shown: ["good", "It is in the answer"],
  "set aside": ["warn", "It is set aside"],
  filtered: ["warn", "The filter removed it"],
  expired: ["warn", "It has expired"],
  "not a candidate": ["bad", "No arm found it"],
  "too weak": ["bad", "Its score is too low"],
  outranked: ["bad", "Others were better"],
};
const ARMS = { dense: "By meaning", words: "By words" };

function emptyForm(params) {
  return {
    query: params.get("q") || "", limit: 8, recipe: "auto", weights: {}, kinds: [], tiers: [], who: "", session: "",
    since: "", until: "", now: params.get("now") || "", as_of: "", known_at: "", budget: 600,
  };
}

function toBody(form) {
  const { kinds, tiers, ...rest } = form;
  return {
    ...rest, ...(kinds.length ? { kinds } : {}), ...(tiers.length ? { tiers } : {}), who: form.who || null, session: form.session || null, since: fromInput(form.since), until: fromInput(form.until), now: fromInput(form.now),
    as_of: fromInput(form.as_of), known_at: fromInput(form.known_at),
  };
}

async function readAnswer(scope, body, signal) {
  const answer = await call("/debug/why", { scope, signal, body });
  const cut = (rows) => rows.map((row) => ({ ...row, record: shown(row.record) }));
  const arms = Object.fromEntries(Object.entries(answer.arms).map(([name, rows]) => [name, cut(rows)]));
  return { ...answer, hits: cut(answer.hits), removed: cut(answer.removed), arms };
}

export function Why({ scope, params, head, say, go, may, single }) {
  const [form, setForm] = useState(emptyForm(params));
  const [typed, setTyped] = useState(form.query);
  const [before, setBefore] = useState(null);
  const [missed, setMissed] = useState(null);
  const [gold, setGold] = useState([]);
  const slow = useDebounced(form, 180);
  const last = useRef(null);
  const change = (more) => setForm((old) => ({ ...old, ...more }));
  const { data, error, busy, reload } = useLoad(
    async (signal) => (slow.query.trim() ? readAnswer(scope, toBody(slow), signal) : null),
    [slow, scope, head.seq],
  );
  useEffect(() => {
    if (!data) return;
    const order = data.hits.map((hit) => hit.record.id);
    if (last.current && last.current.query === slow.query) setBefore(last.current.order);
    else setBefore(null);
    last.current = { query: slow.query, order };
  }, [data]);
  useEffect(() => {
    const asked = params.get("q");
    if (asked && asked !== form.query) { setTyped(asked); change({ query: asked }); }
  }, [params.get("q")]);
  const ask = (event) => { event.preventDefault(); setGold([]); setMissed(null); change({ query: typed }); go("why", { scope: params.get("scope"), q: typed }); };
  const tuned = Object.keys(form.weights).length > 0 || form.recipe !== "auto";
  const filters = [form.kinds.length, form.tiers.length, form.who, form.session, form.since, form.until].filter(Boolean).length;

  return html`<div class="stack">
    <form class="card ask" onSubmit=${ask} role="search">
      <label class="grow"><span class="hidden">Question</span>
        <input type="search" class="big" placeholder="Ask this memory something, such as: Where does Jonas live?" dir="auto" value=${typed} onInput=${(event) => setTyped(event.target.value)} /></label>
      <button class="btn main-act" type="submit"><${Icon} name="search" />Ask</button>
    </form>
    <div class="why-grid">
      <div class="stack">
        ${error && html`<${Failure} error=${error} retry=${reload} />`}
        ${!slow.query.trim() && html`<section class="card"><${Suggestions} scope=${scope} onAsk=${(text) => { setTyped(text); change({ query: text }); go("why", { scope: params.get("scope"), q: text }); }} /></section>`}
        ${slow.query.trim() && busy && !data && html`<section class="card"><${Loading} what="Asking" /></section>`}
        ${data && slow.query.trim() && html`<${Answer} data=${data} before=${before} gold=${gold} setGold=${setGold} single=${single}
          onMiss=${setMissed} go=${go} params=${params} />`}
        ${data && gold.length > 0 && html`<${Save} scope=${scope} query=${slow.query} gold=${gold} now=${fromInput(form.now)} say=${say} may=${may} onDone=${() => setGold([])} />`}
        ${data && html`<${WhyNotAny} scope=${scope} onMiss=${setMissed} />`}
        ${data && html`<${Arms} data=${data} onMiss=${setMissed} />`}
        ${data && html`<${Packed} context=${data.context} budget=${form.budget} onBudget=${(budget) => change({ budget })} />`}
      </div>
      <aside class="stack" aria-label="How the answer was made">
        ${data && html`<${Understood} data=${data} />`}
        ${data && html`<${Funnel} data=${data} />`}
        <section class="card"><header><h2>Time and filters</h2>
          ${(filters > 0 || form.now || form.as_of || form.known_at) && html`<button class="btn quiet" onClick=${() => change({ kinds: [], tiers: [], who: "", session: "", since: "", until: "", now: "", as_of: "", known_at: "" })}>Clear</button>`}</header>
          <${Filters} form=${form} change=${change} />
          ${data && data.removed.length > 0 && html`<${Removed} rows=${data.removed} onMiss=${setMissed} />`}
        </section>
        ${data && html`<section class="card"><header><h2>Weights</h2>
          ${tuned && html`<button class="btn quiet" onClick=${() => change({ weights: {}, recipe: "auto" })}>Reset</button>`}</header>
          <${Weights} data=${data} form=${form} change=${change} /></section>`}
      </aside>
    </div>
    ${missed && html`<${WhyNot} scope=${scope} body=${toBody(slow)} record=${missed} onClose=${() => setMissed(null)} go=${go} params=${params} />`}
  </div>`;
}

function Suggestions({ scope, onAsk }) {
  const { data } = useLoad((signal) => call("/find", { scope, signal, body: { limit: 40, kinds: ["message", "fact", "document", "episode"] } }), [scope]);
  const asked = data ? data.memories.filter((one) => /\?\s*$/.test(one.text) && one.text.length < 90).slice(0, 4).map((one) => one.text) : [];
  if (!data) return html`<${Loading} what="Looking around" />`;
  const shown = asked.length ? asked : ["What did we decide last week?", "Who is this about?"];
  return html`<${Empty} icon="why" title="Ask a question to see how it is answered">
    <p>Every signal that ranks a memory is shown, and for any memory you miss, where it fell out and what it lacked. Nothing here counts as a use.</p>
    ${data && data.memories.length === 0 ? html`<p>This scope is empty. Store something first: <code>eidet remember "…" --scope ${scope}</code></p>`
      : html`<div class="row suggest">${shown.map((text) => html`<button class="btn" onClick=${() => onAsk(text)} dir="auto">${text}</button>`)}</div>`}
  <//>`;
}

function Legend({ hits }) {
  const used = [...LATE_SIGNALS, ...SIGNALS].filter((name) => hits.some((hit) => hit.signals.some((signal) => signal.name === name && Math.abs(signal.share) >= 0.005)));
  return html`<div class="legend" aria-hidden="true">${used.map((name) => html`<span title=${SIGNAL_HELP[name]}><i class="swatch" style=${{ background: signalColour(name) }}></i>${MEANING[name]}</span>`)}</div>`;
}

function Answer({ data, before, gold, setGold, single, onMiss, go, params }) {
  const best = Math.max(0.0001, ...data.hits.map((hit) => hit.score));
  return html`<section class="card"><header><h2>Answer</h2><${Legend} hits=${data.hits} /></header>
    ${!data.hits.length && html`<${Empty} title="Nothing fits"><p>No memory of this scope scores high enough. Loosen the filter, ask otherwise, or ask below why a certain memory was not found.</p><//>`}
    <ol class="hits">${data.hits.map((hit, at) => html`<${HitRow} key=${`${hit.record.scope} ${hit.record.id}`} hit=${hit} at=${at} best=${best} before=${before}
      right=${gold.includes(hit.record.id)} onRight=${single ? () => setGold(gold.includes(hit.record.id) ? gold.filter((id) => id !== hit.record.id) : [...gold, hit.record.id]) : null}
      onMiss=${onMiss} go=${go} params=${params} />`)}</ol>
  </section>`;
}

function Move({ id, at, before }) {
  if (!before) return null;
  const was = before.indexOf(id);
  if (was === at) return null;
  if (was < 0) return html`<span class="move new">new</span>`;
  const up = was > at;
  return html`<span class=${`move ${up ? "up" : "down"}`} aria-label=${`${up ? "up" : "down"} ${Math.abs(was - at)}`}>${up ? "▲" : "▼"}${Math.abs(was - at)}</span>`;
}

function HitRow({ hit, at, best, before, right, onRight, onMiss, go, params }) {
  const [open, setOpen] = useState(at === 0);
  const parts = hit.signals.filter((signal) => signal.share > 0).map((signal) => ({
    name: signal.name, value: signal.share, colour: signalColour(signal.name), title: `${MEANING[signal.name] || signal.name} ${signal.share.toFixed(3)}`,
  }));
  const sum = parts.reduce((total, part) => total + part.value, 0) || 1;
  const label = `Score ${hit.score.toFixed(2)}: ${parts.map((part) => part.title).join(", ")}`;
  return html`<li class="hit">
    <div class="hit-rank num"><b>${at + 1}</b><${Move} id=${hit.record.id} at=${at} before=${before} /></div>
    <div class="hit-body">
      <p class="hit-text"><${Text} text=${hit.record.text} chars=${hit.record.chars} clamp=${!open} /></p>
      <div class="hit-bar"><div class="hit-fill" style=${{ width: `${Math.max(1.5, (100 * hit.score) / Math.max(best, 0.25))}%` }}>
        <${Bar} parts=${parts} total=${sum} label=${label} height=${12} /></div></div>
      <p class="small soft">${hit.why}</p>
      <div class="row spread hit-foot"><${MetaLine} record=${hit.record} />
        <div class="row">
          <button class="btn quiet" aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}>${open ? "Less" : "Signals"}</button>
          <button class="btn quiet" onClick=${() => onMiss(hit.record)}>Why here?</button>
          <button class="btn quiet" onClick=${() => go("memories", { scope: params.get("scope"), id: hit.record.id, at: hit.record.scope })}>Open</button>
          ${onRight && html`<button class=${`btn quiet ${right ? "on" : ""}`} aria-pressed=${right ? "true" : "false"} onClick=${onRight}><${Icon} name="star" filled=${right} />Right answer</button>`}
        </div></div>
      ${open && html`<${SignalTable} hit=${hit} />`}
    </div>
    <div class="hit-score num"><b>${hit.score >= 0.995 ? "1.00" : hit.score.toFixed(2)}</b></div>
  </li>`;
}

function SignalTable({ hit }) {
  const most = Math.max(0.0001, ...hit.signals.map((signal) => Math.abs(signal.share)));
  return html`<table class="signals"><caption class="hidden">Signals of this hit</caption>
    <thead><tr><th scope="col">Signal</th><th scope="col"><span class="hidden">Bar</span></th><th scope="col" class="num">Share</th><th scope="col" class="num">Value</th><th scope="col" class="num">Rank</th></tr></thead>
    <tbody>${hit.signals.map((signal) => html`<tr key=${signal.name}>
      <th scope="row" title=${SIGNAL_HELP[signal.name]}>${MEANING[signal.name] || signal.name}${signal.name === "words" && hit.matched.length ? html`<span class="soft text" dir="auto"> ${hit.matched.slice(0, 6).join(", ")}</span>` : ""}</th>
      <td class="bar-cell"><i class=${signal.share < 0 ? "neg" : ""} style=${{ width: `${(100 * Math.abs(signal.share)) / most}%`, background: signalColour(signal.name) }}></i></td>
      <td class="num">${signal.share.toFixed(3)}</td><td class="num soft">${signal.value.toFixed(2)}</td><td class="num soft">${signal.rank ? `#${signal.rank}` : ""}</td></tr>`)}</tbody></table>`;
}

function Understood({ data }) {
  const told = data.understood;
  const chips = [];
  const add = (label, value, tone = "accent") => value && chips.push(html`<span class=${`chip ${tone}`} dir="auto"><b>${label}</b>${value}</span>`);
  (told.names || []).forEach((name) => add("about", name));
  (told.entities || []).forEach((name) => add("names", name));
  if (told.speaker && !(told.names || []).includes(told.speaker)) add("said by", told.speaker);
  (told.dates || []).forEach((one) => add(`“${one.text}”`, one.first === one.last ? one.first : `${one.first} to ${one.last}`));
  (told.form || []).forEach((form) => add("asks for", form));
  if (told.several) add("asks for", "several answers");
  (told.phrases || []).forEach((phrase) => add("quotes", phrase));
  (told.identifiers || []).forEach((one) => add("identifier", one));
  add("session", told.session);
  if (told.moment) add("moment", told.moment);
  return html`<section class="card"><header><h2>Understood</h2></header>
    <div class="row">${chips.length ? chips : html`<span class="soft small">No names, times or forms were read from the question.</span>`}</div>
    ${told.terms.length > 0 && html`<p class="small soft terms">Looks for ${told.terms.map((term) => html`<span class="chip mono" dir="auto">${term}</span>`)}</p>`}
  </section>`;
}

const stageColour = (at) => `var(--c${[5, 0, 1, 2, 8, 9, 3, 10][at % 8]})`;

function Funnel({ data }) {
  const kept = data.searched - data.filtered;
  const steps = [["Searched", data.searched], ["Passed the filter", kept], ["Shown", data.hits.length]];
  const stages = Object.entries(data.millis);
  const total = stages.reduce((sum, [, ms]) => sum + ms, 0);
  return html`<section class="card"><header><h2>How it went</h2><span class="small soft num">${millis(total)}</span></header>
    <dl class="funnel">${steps.map(([name, n]) => html`<div><dt>${name}</dt><dd class="num">${count(n)}</dd>
      <dd class="funnel-bar" aria-hidden="true" style=${{ width: `${Math.max(1, (100 * n) / Math.max(1, data.searched))}%` }}></dd></div>`)}</dl>
    ${data.filtered > 0 && html`<p class="small soft">The filter removed ${plural(data.filtered, "record")}.</p>`}
    <${Bar} label=${`Stages: ${stages.map(([name, ms]) => `${name} ${millis(ms)}`).join(", ")}`} total=${total || 1}
      parts=${stages.map(([name, ms], at) => ({ name, value: ms, colour: stageColour(at), title: `${name} ${millis(ms)}` }))} />
    <div class="legend">${stages.map(([name, ms], at) => html`<span><i class="swatch" style=${{ background: stageColour(at) }}></i>${name} ${millis(ms)}</span>`)}</div>
  </section>`;
}

function Filters({ form, change }) {
  const set = (name) => (event) => change({ [name]: event.target.value });
  return html`<div class="stack tight">
    <label class="field"><span>Asked at (moves “last week” and recency)</span><input type="datetime-local" value=${form.now} onInput=${set("now")} /></label>
    <label class="field"><span>What was true at</span><input type="datetime-local" value=${form.as_of} onInput=${set("as_of")} /></label>
    <label class="field"><span>What was known at</span><input type="datetime-local" value=${form.known_at} onInput=${set("known_at")} /></label>
    <${MultiPick} label="Kinds" options=${KINDS.slice(0, 6)} value=${form.kinds} onChange=${(kinds) => change({ kinds })} colour=${kindColour} />
    <details><summary>More filters</summary><div class="stack tight">
      <${MultiPick} label="Tiers" options=${TIERS} value=${form.tiers} onChange=${(tiers) => change({ tiers })} />
      <div class="two"><label class="field"><span>Who</span><input type="text" value=${form.who} onInput=${set("who")} /></label>
      <label class="field"><span>Session</span><input type="text" value=${form.session} onInput=${set("session")} /></label>
      <label class="field"><span>Happened since</span><input type="datetime-local" value=${form.since} onInput=${set("since")} /></label>
      <label class="field"><span>Happened until</span><input type="datetime-local" value=${form.until} onInput=${set("until")} /></label></div>
    </div></details>
  </div>`;
}

function Removed({ rows, onMiss }) {
  return html`<div class="removed"><h3>Would have been found without the filter</h3>
    <ul class="lines">${rows.map((row) => html`<li key=${row.record.id}><div class="row spread"><span class="num small soft">${row.score.toFixed(2)}</span>
      <button class="btn quiet" onClick=${() => onMiss(row.record)}>Why not?</button></div>
      <${Text} text=${row.record.text} chars=${row.record.chars} clamp=${true} /><p class="small soft text">${row.because.join("; ")}</p></li>`)}</ul></div>`;
}

function Weights({ data, form, change }) {
  const names = SIGNALS.filter((name) => name in data.recipe);
  const set = (name) => (event) => change({ weights: { ...form.weights, [name]: Number(event.target.value) } });
  return html`<div class="stack tight">
    <label class="field"><span>Recipe</span><select value=${form.recipe} onChange=${(event) => change({ recipe: event.target.value, weights: {} })}>
      ${data.recipes.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>
    <div class="sliders">${names.map((name) => {
      const value = form.weights[name] ?? data.recipe[name];
      const top = name === "identifier" ? 6 : 2;
      return html`<label class="slider" title=${SIGNAL_HELP[name]}><span><i class="swatch" style=${{ background: signalColour(name) }}></i>${MEANING[name]}</span>
        <input type="range" min="0" max=${top} step="0.05" value=${value} onInput=${set(name)} aria-label=${`Weight of ${MEANING[name]}`} />
        <b class="num">${value.toFixed(2)}</b></label>`;
    })}</div>
    <p class="small soft">Arrows beside the ranks show how the last change moved them.</p>
  </div>`;
}

function Arms({ data, onMiss }) {
  const shown = new Set(data.hits.map((hit) => hit.record.id));
  const names = Object.keys(data.arms);
  if (!names.length) return null;
  return html`<section class="card"><header><h2>Candidates of each arm</h2><span class="small soft">filled: in the answer</span></header>
    <div class="arms">${names.map((name) => {
      const most = Math.max(0.0001, ...data.arms[name].map((row) => row.score));
      return html`<div><h3>${ARMS[name] || name}</h3><ol class="arm">${data.arms[name].slice(0, 12).map((row, at) => html`<li key=${row.record.id} class=${shown.has(row.record.id) ? "in" : ""}>
        <span class="num soft">${at + 1}</span>
        <span class="arm-bar"><i style=${{ width: `${(100 * row.score) / most}%`, background: signalColour(name) }}></i></span>
        <span class="num small">${row.score.toFixed(2)}</span>
        <span class="arm-text"><${Text} text=${row.record.text.slice(0, 120)} clamp=${true} /></span>
        ${shown.has(row.record.id) ? html`<span class="chip good">shown</span>` : html`<button class="btn quiet" onClick=${() => onMiss(row.record)}>Why not?</button>`}</li>`)}</ol></div>`;
    })}</div></section>`;
}

function Packed({ context, budget, onBudget }) {
  const told = context.lines.filter((line) => line.id);
  const frame = context.tokens - told.reduce((sum, line) => sum + line.tokens, 0);
  const parts = told.map((line, at) => ({ name: `${line.id} ${at}`, value: line.tokens, colour: kindColour(line.kind), title: `${line.kind}, ${line.tokens} tokens` }));
  if (frame > 0) parts.push({ name: "headings", value: frame, colour: "var(--edge)", title: `headings, ${frame} tokens` });
  const label = `${context.tokens} of ${context.budget} tokens: ${plural(told.length, "record")}`;
  return html`<section class="card"><header><h2>Packed context</h2>
      <label class="row small soft budget">Budget <input type="number" min="50" max="20000" step="50" value=${budget} onChange=${(event) => onBudget(Math.max(1, Number(event.target.value) || 600))} /></label></header>
    <${Bar} parts=${parts} total=${context.budget} label=${label} height=${16} />
    <p class="small soft num">${count(context.tokens)} of ${count(context.budget)} tokens, ${plural(context.told, "record")}${context.left_out ? `; ${plural(context.left_out, "hit")} left out` : ""}</p>
    ${context.text === "" || !context.lines.some((line) => line.text) ? html`<p class="soft">Nothing was packed.</p>` : html`<div class="packed" tabindex="0" role="group" aria-label="The packed context, line by line">${context.lines.map((line, at) => html`<div key=${at} class=${line.id ? "told" : "frame"}>
      <span class="num soft">${line.text ? line.tokens : ""}</span><i style=${{ width: `${Math.min(100, (100 * line.tokens) / Math.max(1, context.tokens)) * 2}px`, background: line.id ? kindColour(line.kind) : "var(--edge)" }}></i><${Text} text=${line.text} /></div>`)}</div>`}
  </section>`;
}

function WhyNotAny({ scope, onMiss }) {
  return html`<section class="card"><header><h2>Why not this one?</h2></header>
    <${RecordPicker} scope=${scope} label="Find the memory that you expected" placeholder="Some of its words" onPick=${onMiss} /></section>`;
}

function WhyNot({ scope, body, record, onClose, go, params }) {
  const { data, error } = useLoad((signal) => call("/debug/why-not", { scope, signal, body: { ...body, id: record.id, at: record.scope } }), [record.id, scope]);
  const [tone, words] = (data && STAGES[data.stage]) || ["", ""];
  const title = data && data.stage === "shown" ? "Why here?" : "Why not this one?";
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <p class="quote"><${Text} text=${record.text} chars=${record.chars} clamp=${true} /></p>
    ${error && html`<${Failure} error=${error} />`}
    ${!data && !error && html`<${Loading} what="Looking for it" />`}
    ${data && html`<div class="stack tight">
      <div class="row"><span class=${`chip ${tone}`}>${words}</span>
        ${data.rank && html`<span class="chip">${data.stage === "shown" ? "rank" : "would be"} ${count(data.rank)} of ${count(data.of)} candidates</span>`}
        ${data.score !== null && html`<span class="chip num">score ${data.score < 0.01 ? data.score.toExponential(1) : data.score.toFixed(2)}</span>`}
        ${data.in_context && html`<span class="chip good">in the packed context</span>`}</div>
      ${data.words.length > 0 && html`<ul class="bullets">${data.words.map((line) => html`<li>${line}</li>`)}</ul>`}
      ${data.stage === "shown" && data.rank === 1 && html`<p>It is the best hit: there is nothing it lacks against another.</p>`}
      ${data.gaps.length > 0 && html`<${Gaps} data=${data} />`}
      <div class="row"><button class="btn" onClick=${() => { onClose(); go("memories", { scope: params.get("scope"), id: record.id, at: record.scope }); }}>Open this memory</button></div>
    </div>`}
  <//>`;
}

function Gaps({ data }) {
  const rows = data.gaps.filter((gap) => Math.abs(gap.own) + Math.abs(gap.wanted) > 0.0005);
  const most = Math.max(0.001, ...rows.map((gap) => Math.max(Math.abs(gap.own), Math.abs(gap.wanted))));
  return html`<table class="gaps"><caption class="small soft">Its signals (filled) against those of ${data.stage === "shown" ? "the hit before it" : "the last hit shown"} (outlined)</caption>
    <thead class="hidden"><tr><th scope="col">Signal</th><th scope="col">Bars</th><th scope="col">Difference</th></tr></thead>
    <tbody>${rows.map((gap) => html`<tr key=${gap.name}><th scope="row">${MEANING[gap.name] || gap.name}</th>
      <td class="gap-cell"><i class="own" style=${{ width: `${(100 * Math.abs(gap.own)) / most}%`, background: signalColour(gap.name) }}></i><i class="wanted" style=${{ width: `${(100 * Math.abs(gap.wanted)) / most}%`, borderColor: signalColour(gap.name) }}></i></td>
      <td class=${`num ${gap.own < gap.wanted ? "minus" : "plus"}`}>${gap.own >= gap.wanted ? "+" : "−"}${Math.abs(gap.own - gap.wanted).toFixed(3)}</td></tr>`)}</tbody></table>`;
}

function Save({ scope, query, gold, now, say, may, onDone }) {
  const [error, setError] = useState(null);
  const save = () => call("/debug/evaluation", { scope, body: { query, gold, now } }).then(
    (done) => { say(`Saved${done.file ? ` to ${done.file}` : ""}: ${plural(done.questions, "question")} of this scope.${done.command ? ` Measure with: ${done.command}` : ""}`); onDone(); }, setError);
  return html`<section class="card row spread"><span>${plural(gold.length, "right answer")} marked for “<span dir="auto">${query}</span>”.</span>
    <button class="btn main-act" disabled=${!may("admin")} onClick=${save}>Save into the evaluation set</button>
    ${!may("admin") && html`<span class="small soft">This needs a key with the right admin.</span>`}
    ${error && html`<${Failure} error=${error} />`}</section>`;
}
