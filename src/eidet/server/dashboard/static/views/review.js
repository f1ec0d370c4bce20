// Review: an inbox of what waits for a person. j and k move, a approves, e edits, r twice rejects.
import { html, useEffect, useLayoutEffect, useRef, useState, useLoad, Empty, Failure, Loading, MetaLine, Text, count, percent, plural, shown } from "../ui.js";
import { call } from "../api.js";

const MOST = 100; // that are shown
const CHARS = 20000; // of a text
const KEYS = [["j", "next"], ["k", "previous"], ["a", "approve"], ["e", "edit"], ["r", "reject"]];
const writes = (node) => node && (["INPUT", "TEXTAREA", "SELECT"].includes(node.tagName) || node.closest("dialog"));

async function readWaiting(scope, signal) {
  const { memories } = await call("/review", { scope, signal, body: { limit: MOST + 1 } });
  return { records: memories.slice(0, MOST).map((one) => shown(one, CHARS)), more: memories.length > MOST };
}

export function Review({ scope, head, say, may, single }) {
  const { data, error, reload } = useLoad((signal) => readWaiting(scope, signal), [scope, head.seq]);
  const [at, setAt] = useState(0);
  const [draft, setDraft] = useState(null);
  const [armed, setArmed] = useState(false);
  const [failed, setFailed] = useState(null);
  const busy = useRef(false); // until the list is there again: a second press would mean what has gone
  useLayoutEffect(() => { busy.current = false; }, [data]);
  const rows = data ? data.records : [];
  const here = Math.min(at, Math.max(0, rows.length - 1));
  const move = (to) => { setAt(Math.max(0, Math.min(rows.length - 1, to))); setDraft(null); setArmed(false); setFailed(null); };
  const decide = async (verb, more, words) => {
    const { id, version, scope: place } = rows[here];
    if (busy.current) return;
    busy.current = true;
    try {
      await call(`/${verb}`, { scope: place, body: { id, version, ...more } });
      say(words);
      move(here);
    } catch (problem) { setFailed(problem); setArmed(false); }
    reload();
  };
  const acts = {
    j: () => move(here + 1), ArrowDown: () => move(here + 1), k: () => move(here - 1), ArrowUp: () => move(here - 1),
    a: () => may("write") && decide("approve", {}, "Approved."),
    e: () => may("write") && !isCut(rows[here]) && setDraft(rows[here].text),
    r: () => may("forget") && (armed ? decide("reject", {}, "Rejected, and forgotten.") : setArmed(true)),
    Escape: () => setArmed(false),
  };
  useLayoutEffect(() => {
    const press = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || writes(event.target) || !rows.length || !acts[event.key]) return;
      event.preventDefault();
      acts[event.key]();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  if (error && !data) return html`<${Failure} error=${error} retry=${reload} />`;
  if (!data) return html`<section class="card"><${Loading} what="Looking what waits" /></section>`;
  if (!rows.length) return html`<section class="card"><${Empty} icon="review" title="Nothing waits"><p>What is quarantined, labelled as suspicious, or held by the setting <code>review</code> appears here.</p><//></section>`;
  return html`<section class="card stack tight"><div class="row spread"><p class="soft" role="status">${data.more ? `More than ${count(rows.length)}` : count(rows.length)} waiting, newest first.</p>
    <p class="small soft keys">${KEYS.map(([key, words]) => html`<span key=${key}><kbd>${key}</kbd> ${words}</span>`)}</p></div>
    <ol class="inbox">${rows.map((record, n) => html`<${Row} key=${`${record.scope} ${record.id}`} record=${record} current=${n === here} scoped=${!single} may=${may} acts=${acts} armed=${armed} draft=${draft}
      failed=${failed} onPick=${() => move(n)} onDraft=${setDraft} onSave=${() => decide("approve", { text: draft }, "Edited and approved.")} />`)}</ol></section>`;
}

const isCut = (record) => record.chars > record.text.length;

function Row({ record, current, scoped, may, acts, armed, draft, failed, onPick, onDraft, onSave }) {
  const ref = useRef(null);
  const shown = useRef(false); // the first row does not take the focus from the heading of the page
  useEffect(() => {
    if (shown.current && current && !writes(document.activeElement)) { ref.current.focus({ preventScroll: true }); ref.current.scrollIntoView({ block: "nearest" }); }
    shown.current = true;
  }, [current, draft === null]);
  if (!current) return html`<li><button class="row-open" onClick=${onPick}><${Text} text=${record.text} chars=${record.chars} clamp=${true} /></button><${MetaLine} record=${record} scoped=${scoped} /></li>`;
  return html`<li ref=${ref} tabindex="-1" aria-current="true">
    ${draft === null ? html`<p class="detail-text"><${Text} text=${record.text} chars=${record.chars} /></p>` : html`<${Editor} text=${draft} onText=${onDraft} onSave=${onSave} />`}
    <${MetaLine} record=${record} scoped=${scoped} />
    <p class="small soft">${why(record)}</p>
    ${failed && html`<${Failure} error=${failed} />`}
    ${armed && html`<div class="note bad" role="alert">Rejecting forgets it for good. Press r again, or Escape.</div>`}
    ${draft === null && html`<div class="row acts">
      <button class="btn main-act" disabled=${!may("write")} onClick=${acts.a}>Approve</button>
      <button class="btn" disabled=${!may("write") || isCut(record)} onClick=${acts.e}>Edit</button>
      <button class="btn danger" disabled=${!may("forget")} onClick=${acts.r}>${armed ? "Reject for good" : "Reject"}</button></div>`}</li>`;
}

function why(record) {
  const { poison, quarantine } = record.state;
  const told = [quarantine && quarantine.because, ...((poison && poison.why) || [])].filter(Boolean).join("; ");
  const source = record.source ? ` Source: ${record.source}.` : "";
  const score = poison ? ` Looks like instructions: ${percent(poison.score)}.` : "";
  const sources = record.derived_from.length ? ` Made from ${plural(record.derived_from.length, "memory", "memories")}.` : "";
  return `${told ? `${told[0].toUpperCase()}${told.slice(1)}.` : "In quarantine."}${score}${sources}${source}`;
}

function Editor({ text, onText, onSave }) {
  const field = useRef(null);
  useEffect(() => field.current.focus(), []);
  const press = (event) => {
    if (event.key === "Escape") onText(null);
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) onSave();
  };
  return html`<label class="field"><span>Text</span><textarea ref=${field} dir="auto" value=${text} onInput=${(event) => onText(event.target.value)} onKeyDown=${press}></textarea></label>
    <div class="row acts"><button class="btn main-act" disabled=${!text.trim()} onClick=${onSave}>Approve this text</button><button class="btn" onClick=${() => onText(null)}>Cancel</button>
      <span class="small soft"><kbd>Ctrl</kbd> <kbd>Enter</kbd> approves, <kbd>Esc</kbd> cancels</span></div>`;
}
