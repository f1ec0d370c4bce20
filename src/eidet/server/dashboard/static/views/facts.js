// Facts: the neighbourhood of an entity as a graph, what held when, and contradictions to resolve.
import { html, useEffect, useMemo, useRef, useState, useLoad, useWidth, Dialog, Empty, Failure, Icon, Loading, Text, count, day, moment, plural, seconds, shown, shownFact } from "../ui.js";
import { call } from "../api.js";

const KIND_COLOURS = { person: "var(--c0)", place: "var(--c2)", organisation: "var(--c1)", organization: "var(--c1)", thing: "var(--c5)", event: "var(--c3)" };
const colourOf = (kind) => KIND_COLOURS[kind] || "var(--c9)";
const relationName = (name) => name.replaceAll("_", " ");

const NODES = 60; // entities of a neighbourhood
const DECISIONS = 20;

async function readFacts(scope, name, hops, signal) {
  const ask = (verb, body = {}) => call(`/facts/${verb}`, { scope, signal, body });
  const [{ entities }, { contradictions }, { decisions }] = await Promise.all([ask("entities"), ask("contradictions"), ask("decisions")]);
  const all = {
    entities, total: entities.length, now: Date.now() / 1000, entity: null,
    contradictions: contradictions.map((one) => ({ ...one, facts: one.facts.map(shownFact), quotations: one.quotations.map((side) => side.map(shownQuote)) })),
    decisions: decisions.slice(-DECISIONS).map((one) => shown(one)),
  };
  const same = entities.filter((one) => one.id === name);
  const [entity] = [...same, ...(name && !same.length ? (await ask("entities", { name })).entities : []), ...entities];
  if (!entity) return all;
  const [near, { facts }] = await Promise.all([readNeighbours(ask, entity, hops), ask("timeline", { entity: entity.id })]);
  return { ...all, ...near, entity, timeline: facts.map(shownFact) };
}

// Entities up to so many facts away, nearest first, and the facts between them.
async function readNeighbours(ask, centre, hops) {
  const nodes = new Map([[centre.id, { ...centre, hop: 0 }]]);
  const edges = new Map();
  let ring = [centre];
  for (let hop = 1; hop <= hops; hop += 1) {
    const beyond = [];
    for (const { neighbours } of await Promise.all(ring.map((one) => ask("neighbours", { entity: one.id })))) {
      for (const { entity, fact } of neighbours) {
        if (!nodes.has(entity.id) && nodes.size < NODES) {
          nodes.set(entity.id, { ...entity, hop });
          beyond.push(entity);
        }
        if (nodes.has(entity.id)) edges.set(fact.id, shownFact(fact));
      }
    }
    ring = beyond;
  }
  return { nodes: [...nodes.values()], edges: [...edges.values()] };
}

async function readReason(scope, id, signal) {
  const found = await call("/facts/why", { scope, signal, body: { id } });
  const told = { fact: shownFact(found.fact), premises: found.premises.map(shownFact) };
  return { ...found, ...told, quotations: found.quotations.map(shownQuote), ended_by: found.ended_by.map(shownQuote) };
}

const shownQuote = (one) => ({ ...one, text: one.text.slice(0, 400), occurred: seconds(one.occurred) });

export function Facts({ scope, head, say, go, may, params, single }) {
  const [hops, setHops] = useState(1);
  const [words, setWords] = useState("");
  const [why, setWhy] = useState(null);
  const entity = params.get("entity");
  const { data, error, busy, reload } = useLoad((signal) => readFacts(scope, entity, hops, signal), [scope, entity, hops, head.seq]);
  if (error && !data) return html`<${Failure} error=${error} retry=${reload} />`;
  if (!data) return html`<section class="card"><${Loading} what="Reading facts from the texts" /><div class="bar-wait"><i></i></div></section>`;
  if (!data.entity) return html`<section class="card"><${Empty} icon="facts" title="No facts yet"><p>Facts are read from what is stored: “Ann lives in Porto” is one. You can also state one: <code>memory.facts.add("Ann", "lives_in", "Porto")</code></p><//></section>`;
  const pick = (id) => go("facts", { scope: params.get("scope"), entity: id });
  const named = data.entities.filter((one) => one.name.toLowerCase().includes(words.toLowerCase()));
  const decide = (path, id, done) => call(`/facts/${path}`, { scope, body: { id } }).then(() => { say(done); reload(); }, (failed) => say(failed.message));
  const able = may("write") && single;
  return html`<div class="stack">
    ${data.contradictions.length > 0 && html`<${Contradictions} rows=${data.contradictions} able=${able} decide=${decide} onWhy=${setWhy} />`}
    <div class="facts-grid">
      <section class="card entity-list"><header><h2>${plural(data.total, "entity", "entities")}</h2></header>
        <label class="field"><span class="hidden">Find an entity</span><input type="search" placeholder="Find" value=${words} onInput=${(event) => setWords(event.target.value)} /></label>
        <ul>${named.slice(0, 80).map((one) => html`<li key=${one.id}><button class="entity" aria-current=${one.id === data.entity.id ? "true" : undefined} onClick=${() => pick(one.id)}>
          <i class="swatch" style=${{ background: colourOf(one.kind) }}></i><span class="text" dir="auto">${one.name.slice(0, 60)}</span><span class="num small soft">${count(one.facts)}</span></button></li>`)}</ul>
        ${named.length === 0 && html`<p class="small soft">Nobody by that name.</p>`}</section>
      <div class="stack">
        <section class="card"><header><div><h2 class="text" dir="auto">${data.entity.name}</h2><p class="small soft">${data.entity.kind || "of no certain kind"}${data.entity.aliases.length > 1 ? `, also ${data.entity.aliases.filter((one) => one !== data.entity.name).slice(0, 6).join(", ")}` : ""}</p></div>
            <div class="row">${busy && html`<i class="spin"></i>`}<div class="seg" role="group" aria-label="How far"><button class="btn" aria-pressed=${hops === 1 ? "true" : "false"} onClick=${() => setHops(1)}>one fact away</button><button class="btn" aria-pressed=${hops === 2 ? "true" : "false"} onClick=${() => setHops(2)}>two</button></div></div></header>
          <${Graph} nodes=${data.nodes} edges=${data.edges} centre=${data.entity.id} onPick=${pick} onWhy=${setWhy} />
          <div class="legend">${["person", "place", "organisation", "thing", "event"].map((kind) => html`<span><i class="swatch" style=${{ background: colourOf(kind) }}></i>${kind}</span>`)}<span><i class="swatch" style=${{ background: "var(--c9)" }}></i>not known</span></div></section>
        <section class="card"><header><h2>What held when</h2><span class="small soft">${plural(data.timeline.length, "fact")}</span></header><${Spans} facts=${data.timeline} now=${data.now} centre=${data.entity.id} onWhy=${setWhy} /></section>
        ${data.decisions.length > 0 && html`<section class="card"><header><h2>Decisions</h2></header><ul class="lines">${data.decisions.map((one) => html`<li key=${one.id} class="row spread"><span><${Text} text=${one.text} /> <span class="small soft">${moment(one.created)}</span></span>
          <button class="btn quiet" disabled=${!able} onClick=${() => decide("undo", one.id, "Taken back.")}>Undo</button></li>`)}</ul></section>`}
      </div>
    </div>
    ${why && html`<${WhyFact} scope=${scope} id=${why} onClose=${() => setWhy(null)} able=${able} decide=${decide} go=${go} params=${params} />`}
  </div>`;
}

function Contradictions({ rows, able, decide, onWhy }) {
  return html`<section class="card"><header><h2>Contradictions</h2><span class="chip warn">${count(rows.length)} open</span></header>
    <ul class="lines">${rows.map((one, at) => html`<li key=${at}><p><b dir="auto">${one.subject}</b> ${relationName(one.relation)}: these cannot both hold.</p>
      <div class="versus">${one.facts.map((fact, side) => html`<div class="rival" key=${fact.id}><span class="text" dir="auto">${fact.text}</span><span class="small soft">${fact.valid_from ? `since ${day(fact.valid_from)}` : "since unknown"}, ${plural(fact.sources.length, "source")}</span>
        ${(one.quotations[side] || []).slice(0, 3).map((said) => html`<span class="small soft" dir="auto" key=${said.id}>${[said.who, said.source].filter(Boolean).join(", ") || said.trust}, ${day(said.occurred)}</span>`)}
        <div class="row"><button class="btn" disabled=${!able} onClick=${() => decide("resolve", fact.id, "Decided: this one stays.")}>Keep this one</button><button class="btn quiet" onClick=${() => onWhy(fact.id)}>Why?</button></div></div>`)}</div></li>`)}</ul></section>`;
}

// A layout by forces that begins the same way each time, so that the same facts give the same picture.
function layOut(nodes, edges, centre, width, height) {
  const rings = [[], [], []];
  nodes.forEach((node) => rings[node.hop].push(node));
  const place = new Map();
  rings.forEach((ring, hop) => ring.forEach((node, at) => {
    const angle = (2 * Math.PI * (at + 0.25 * hop)) / Math.max(1, ring.length) - 0.6;
    place.set(node.id, { x: hop * 0.42 * Math.cos(angle), y: hop * 0.42 * Math.sin(angle), node });
  }));
  const all = [...place.values()];
  const links = edges.filter((edge) => place.has(edge.subject_id) && place.has(edge.object_id)).map((edge) => [place.get(edge.subject_id), place.get(edge.object_id)]);
  const wish = 0.5 / Math.sqrt(Math.max(1, all.length / 10));
  for (let round = 0; round < 220; round += 1) {
    const heat = 0.06 * (1 - round / 220);
    all.forEach((one) => { one.dx = -one.x * 0.04; one.dy = -one.y * 0.04; });
    for (let i = 0; i < all.length; i += 1) for (let j = i + 1; j < all.length; j += 1) {
      const dx = all[i].x - all[j].x;
      const dy = all[i].y - all[j].y;
      const far = Math.max(0.01, dx * dx + dy * dy);
      const push = (wish * wish) / far;
      all[i].dx += dx * push; all[i].dy += dy * push; all[j].dx -= dx * push; all[j].dy -= dy * push;
    }
    links.forEach(([a, b]) => {
      const dx = a.x - b.x;
      const dy = a.y - b.y;
      const pull = Math.sqrt(dx * dx + dy * dy) / wish - 0.6;
      a.dx -= dx * pull * 0.12; a.dy -= dy * pull * 0.12; b.dx += dx * pull * 0.12; b.dy += dy * pull * 0.12;
    });
    all.forEach((one) => {
      if (one.node.id === centre) { one.x = 0; one.y = 0; return; }
      const step = Math.min(heat, Math.hypot(one.dx, one.dy)) / (Math.hypot(one.dx, one.dy) || 1);
      one.x += one.dx * step; one.y += one.dy * step;
    });
  }
  const reachX = Math.max(0.2, ...all.map((one) => Math.abs(one.x)));
  const reachY = Math.max(0.2, ...all.map((one) => Math.abs(one.y)));
  all.forEach((one) => { one.px = width / 2 + (one.x / reachX) * (width / 2 - (width < 500 ? 56 : 96)); one.py = height / 2 + (one.y / reachY) * (height / 2 - 40); });
  return place;
}

// A name beside a short line that lies flat would cover what it joins.
function hasRoom(a, b, relation) {
  return Math.abs(b.py - a.py) > 44 || Math.abs(b.px - a.px) > relation.length * 5.6 + 24;
}

function Graph({ nodes, edges, centre, onPick, onWhy }) {
  const [ref, width] = useWidth(800);
  const height = Math.max(320, Math.min(560, 240 + nodes.length * 14));
  const place = useMemo(() => layOut(nodes, edges, centre, width, height), [nodes, edges, centre, width]);
  const [over, setOver] = useState(null);
  const label = `${plural(nodes.length, "entity", "entities")}: ${edges.slice(0, 12).map((edge) => edge.text).join("; ")}`;
  const loose = edges.filter((edge) => !place.has(edge.subject_id) || !place.has(edge.object_id));
  return html`<figure ref=${ref} class="graph"><svg width=${width} height=${height} role="group" aria-label=${label}>
    <defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="var(--edge)" /></marker></defs>
    ${edges.map((edge) => {
      const a = place.get(edge.subject_id);
      const b = place.get(edge.object_id);
      if (!a || !b || a === b) return null;
      const far = Math.hypot(b.px - a.px, b.py - a.py) || 1;
      const trim = 11 / far;
      const x1 = a.px + (b.px - a.px) * trim;
      const y1 = a.py + (b.py - a.py) * trim;
      const x2 = b.px - (b.px - a.px) * trim * 1.25;
      const y2 = b.py - (b.py - a.py) * trim * 1.25;
      const hot = over === edge.id || over === edge.subject_id || over === edge.object_id;
      return html`<g key=${edge.id} class=${`edge ${hot ? "hot" : ""}`} onClick=${() => onWhy(edge.id)} onMouseEnter=${() => setOver(edge.id)} onMouseLeave=${() => setOver(null)}>
        <line class="edge-hit" x1=${x1} y1=${y1} x2=${x2} y2=${y2} /><line class="edge-line" x1=${x1} y1=${y1} x2=${x2} y2=${y2} marker-end="url(#arrow)" stroke-dasharray=${edge.derived ? "4 3" : undefined} />
        <title>${edge.text}</title>${((nodes.length < 24 && hasRoom(a, b, edge.relation)) || hot) && html`<text class="edge-text" x=${(a.px + b.px) / 2} y=${(a.py + b.py) / 2 - 4} text-anchor="middle">${relationName(edge.relation)}</text>`}</g>`;
    })}
    ${nodes.map((node) => {
      const at = place.get(node.id);
      const main = node.id === centre;
      const short = node.name.length > 26 ? `${node.name.slice(0, 24)}…` : node.name;
      return html`<g key=${node.id} class="node" tabindex="0" role="button" aria-label=${`${short}: ${node.name}, ${plural(node.facts, "fact")}`} onClick=${() => onPick(node.id)} onKeyDown=${(event) => event.key === "Enter" && onPick(node.id)} onMouseEnter=${() => setOver(node.id)} onMouseLeave=${() => setOver(null)}>
        <circle cx=${at.px} cy=${at.py} r=${main ? 11 : 7.5} fill=${colourOf(node.kind)} stroke="var(--surface)" stroke-width="2" />
        <text class=${`node-text ${main ? "main" : ""}`} x=${at.px} y=${at.py + (main ? 27 : 22)} text-anchor="middle">${short}</text></g>`;
    })}
  </svg>${loose.length > 0 && html`<p class="small soft">${plural(loose.length, "further fact")} lead beyond this picture.</p>`}</figure>`;
}

function Spans({ facts, now, centre, onWhy }) {
  const [ref, width] = useWidth(800);
  if (!facts.length) return html`<p class="soft" ref=${ref}>Nothing is dated.</p>`;
  const known = facts.flatMap((fact) => [fact.valid_from, fact.valid_to, fact.known_from]).filter((at) => at !== null && at > 0);
  const first = Math.min(...known);
  const last = Math.max(now, ...known);
  const margin = Math.max(86400, (last - first) * 0.04);
  const left = Math.min(200, width * 0.3);
  const x = (at) => left + ((at - first + margin) / (last - first + 2 * margin)) * (width - left - 8);
  const groups = new Map();
  for (const fact of facts) {
    const about = `${fact.subject_id === centre ? "" : "← "}${relationName(fact.relation)}`;
    if (!groups.has(about)) groups.set(about, []);
    groups.get(about).push(fact);
  }
  const rows = [...groups].flatMap(([about, list]) => list.map((fact, at) => [at ? "" : about, fact]));
  const tall = 28;
  const height = rows.length * tall + 30;
  return html`<figure ref=${ref}><svg width=${width} height=${height} role="group" aria-label="Facts by the time in which they held">
    <line x1=${x(now)} x2=${x(now)} y1="0" y2=${height - 22} stroke="var(--edge)" stroke-dasharray="3 3" /><text class="axis" x=${Math.min(x(now), width - 16)} y=${height - 6} text-anchor="middle">now</text>
    <text class="axis" x=${left} y=${height - 6}>${day(first)}</text>
    ${rows.map(([about, fact], at) => {
      const from = fact.valid_from === null ? left : x(fact.valid_from);
      const to = fact.valid_to === null ? width - 8 : x(fact.valid_to);
      const held = fact.valid_to === null || fact.valid_to > now;
      const name = `${fact.negated ? "not " : ""}${fact.subject_id === centre ? fact.object : fact.subject}`;
      const room = Math.max(0, Math.floor((width - from - 20) / 6.6));
      const shown = name.length > room ? `${name.slice(0, room)}…` : name;
      const fitting = Math.floor(left / 6.8);
      const title = about.length > fitting ? `${about.slice(0, fitting - 1)}…` : about;
      return html`<text class="span-about" x="0" y=${at * tall + 17}><title>${about}</title>${title}</text><g key=${fact.id} class="span-row" tabindex="0" role="button" aria-label=${`${shown}: ${fact.text}, ${fact.valid_from ? `from ${day(fact.valid_from)}` : "since unknown"}${fact.valid_to ? ` to ${day(fact.valid_to)}` : ""}`} onClick=${() => onWhy(fact.id)} onKeyDown=${(event) => event.key === "Enter" && onWhy(fact.id)}>
        <rect x="0" y=${at * tall} width=${width} height=${tall - 2} fill="transparent" />
        <rect x=${from} y=${at * tall + 3} width=${Math.max(6, to - from)} height=${tall - 10} rx="5" class=${held ? "span-held" : "span-ended"} />
        <text class=${held ? "span-name" : "span-name ended"} x=${from + 8} y=${at * tall + 16}>${shown}</text></g>`;
    })}</svg></figure>`;
}

function WhyFact({ scope, id, onClose, able, decide, go, params }) {
  const { data, error } = useLoad((signal) => readReason(scope, id, signal), [id]);
  const open = (quote) => go("memories", { scope: params.get("scope"), id: quote.id, at: data.fact.scope });
  const quotes = (rows) => html`<ul class="links">${rows.map((one) => html`<li key=${one.id}><button class="pick-row" onClick=${() => open(one)}><${Text} text=${one.text} /><span class="small soft">${moment(one.occurred)}${one.who ? ` · ${one.who}` : ""} · ${one.trust}</span></button></li>`)}</ul>`;
  return html`<${Dialog} title="Why is this believed?" onClose=${onClose}>
    ${error && html`<${Failure} error=${error} />`}${!data && !error && html`<${Loading} what="Looking for its sources" />`}
    ${data && html`<p class="quote text" dir="auto">${data.fact.text}</p>
      <div class="row"><span class="chip">${data.fact.valid_from ? `from ${day(data.fact.valid_from)}` : "since unknown"}</span><span class=${`chip ${data.fact.valid_to ? "warn" : "good"}`}>${data.fact.valid_to ? `to ${day(data.fact.valid_to)}` : "holds"}</span><span class="chip num">confidence ${data.fact.confidence.toFixed(2)}</span></div>
      ${data.rule && html`<p>Follows by the rule: ${data.rule}</p>`}
      ${data.premises.length > 0 && html`<ul class="bullets">${data.premises.map((one) => html`<li class="text" dir="auto">${one.text}</li>`)}</ul>`}
      ${data.quotations.length > 0 && html`<h3>Said by</h3>${quotes(data.quotations)}`}
      ${data.ended_by.length > 0 && html`<h3>Ended by</h3>${quotes(data.ended_by)}`}
      ${!data.fact.derived && html`<div class="row"><button class="btn danger" disabled=${!able} onClick=${() => { decide("retract", id, "Retracted: it never held."); onClose(); }}>It never held</button></div>`}`}
  <//>`;
}
