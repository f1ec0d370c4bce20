// Pieces that several views use.
import { html, useEffect, useRef, useState } from "./vendor/htm-preact-standalone.js";
import { call } from "./api.js";

export { html, useEffect, useRef, useState };
export { useMemo, useCallback, useLayoutEffect } from "./vendor/htm-preact-standalone.js";

export const KINDS = ["message", "fact", "episode", "summary", "document", "state", "action", "interaction", "working", "triple", "procedure"];
export const TIERS = ["short", "middle", "long"];
export const TRUST = ["trusted", "user", "tool", "web", "unknown", "quarantined"];
export const SIGNALS = ["dense", "words", "context", "speaker", "entity", "identifier", "date", "form", "reply", "question", "echo", "asked", "importance", "recency"];
export const MEANING = {
  dense: "meaning", words: "words", context: "context", speaker: "speaker", entity: "names", identifier: "identifier",
  date: "time", form: "form", reply: "reply", question: "is a question", echo: "repeats", asked: "named",
  importance: "importance", recency: "recency", text: "how it answers", facts: "still holds",
};
export const SIGNAL_HELP = {
  dense: "How near the meaning is to the question.",
  words: "How well the words fit those of the question.",
  context: "The best match within six turns of the same session.",
  speaker: "Said by the one who is asked about.",
  entity: "Has the other names of the question.",
  identifier: "Has the number, code or version that the question names.",
  date: "Happened at, or speaks of, the time that is asked about.",
  form: "Has what is asked for: a time, a number, a name.",
  reply: "Answers another speaker's matching question.",
  question: "Is itself a question. Counts against it.",
  echo: "Says no more than the question. Counts against it.",
  asked: "Is of the session, or has the phrase, that the question names.",
  importance: "How important the record is.",
  recency: "How new it is.",
  text: "What a second look at the text tells of how well it answers.",
  facts: "What facts tell of whether it still holds.",
};
const KIND_COLOURS = { message: 5, fact: 0, episode: 1, summary: 10, document: 2, state: 8, action: 12, interaction: 3, working: 13, triple: 6 };

export const LATE_SIGNALS = ["facts", "text"]; // signals that no weight of a recipe moves
const STAGE_COLOURS = { text: "var(--edge)", facts: "var(--good)" };
export const signalColour = (name) => STAGE_COLOURS[name] || `var(--c${Math.max(0, SIGNALS.indexOf(name)) % 15})`;
export const kindColour = (kind) => `var(--c${KIND_COLOURS[kind] ?? 9})`;

const PATHS = {
  why: "M9.1 9a3 3 0 1 1 4.2 2.7c-.9.4-1.3 1-1.3 2M12 17h.01M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0z",
  review: "M4 13h5l1.5 3h3L15 13h5M4 13l3-8h10l3 8v6H4z",
  memories: "M4 6h16M4 12h16M4 18h10",
  timeline: "M4 19V9M9 19V5M14 19v-8M19 19V7M3 21h18",
  facts: "M6 7a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM18 9a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM12 21a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM7.8 5.6 16 6.8M7 6.8l4.2 10.3M16.9 8.6 13 17.2",
  health: "M3 12h4l2-6 4 12 2.5-8 1.5 2h4",
  sun: "M12 17a5 5 0 1 0 0-10 5 5 0 0 0 0 10zM12 1v2M12 21v2M4 4l1.5 1.5M18.5 18.5 20 20M1 12h2M21 12h2M4 20l1.5-1.5M18.5 5.5 20 4",
  moon: "M21 13a9 9 0 1 1-10-10 7 7 0 0 0 10 10z",
  pin: "M12 21v-6M8 3h8l-1 6 3 3v3H6v-3l3-3z",
  lock: "M6 11h12v9H6zM9 11V8a3 3 0 0 1 6 0v3",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4",
  close: "M6 6l12 12M18 6 6 18",
  overview: "M4 4h7v7H4zM13 4h7v4h-7zM13 11h7v9h-7zM4 14h7v6H4z",
  add: "M12 5v14M5 12h14",
  star: "M12 3.5l2.6 5.4 5.9.8-4.3 4.1 1 5.9L12 16.9l-5.2 2.8 1-5.9L3.5 9.7l5.9-.8z",
};
export function Icon({ name, filled }) {
  return html`<svg viewBox="0 0 24 24" width="18" height="18" fill=${filled ? "currentColor" : "none"} stroke="currentColor"
    stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d=${PATHS[name]} /></svg>`;
}

// Time and numbers.
const DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const TIME = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
export const day = (seconds) => DATE.format(new Date(seconds * 1000));
export const moment = (seconds) => TIME.format(new Date(seconds * 1000));
export const count = (n) => Number(n).toLocaleString("en");
export const percent = (x, digits = 0) => `${(100 * x).toFixed(digits)} %`;
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
export function bytes(n) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let at = 0;
  while (n >= 1000 && at < units.length - 1) { n /= 1000; at += 1; }
  return `${n >= 100 || at === 0 ? Math.round(n) : n.toFixed(1)} ${units[at]}`;
}
export function millis(n) {
  return n >= 1000 ? `${(n / 1000).toFixed(2)} s` : `${n.toFixed(n < 10 ? 1 : 0)} ms`;
}
export function localInput(seconds) {
  const at = new Date(seconds * 1000);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
}
export const fromInput = (text) => (text ? new Date(text).getTime() / 1000 : null);

export const seconds = (time) => (time ? Date.parse(time) / 1000 : null);

// Values of the REST interface as the views show them: times in seconds, long texts in part.
export function shown(record, chars = 400) {
  const { text, state } = record;
  const times = Object.fromEntries(["occurred", "created", "last_used", "expires"].map((name) => [name, seconds(record[name])]));
  return { ...record, ...times, text: text.slice(0, chars), chars: text.length, pinned: Boolean(state.pinned), held: Boolean(state.hold) };
}
export function shownFact(fact) {
  const times = Object.fromEntries(["valid_from", "valid_to", "known_from"].map((name) => [name, seconds(fact[name])]));
  const cut = Object.fromEntries(["text", "subject", "object"].map((name) => [name, fact[name].slice(0, 400)]));
  return { ...fact, ...times, ...cut };
}

// Finds records by words without counting that as a use.
export async function findByWords(scope, body, signal) {
  const { hits } = await call("/debug/why", { scope, signal, body: { ...body, budget: 1 } });
  return hits.map((hit) => ({ ...shown(hit.record), score: hit.score, why: hit.why }));
}

// States of a view that waits, has nothing, or failed.
export function Loading({ what = "Loading" }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((n) => n + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return html`<div class="loading" role="status"><i class="spin"></i><span>${what}…${seconds > 1 ? ` ${seconds} s` : ""}</span></div>`;
}

// How far long work is, in percent; before anything is told, only that it goes on.
export function Empty({ icon = "search", title, children }) {
  return html`<div class="empty"><${Icon} name=${icon} /><h2>${title}</h2>${children}</div>`;
}

export function Figure({ name, value, tells }) {
  return html`<div class="figure"><dt>${name}</dt><dd class="num">${value}</dd><dd class="small soft">${tells}</dd></div>`;
}

export function Failure({ error, retry }) {
  return html`<div class="note bad stack" role="alert">
    <div><b>${error.status === 403 ? "This key may not do that." : "That did not work."}</b> ${error.message}</div>
    ${error.hint && html`<div>${error.hint}</div>`}
    ${retry && html`<div><button class="btn" onClick=${retry}>Try again</button></div>`}
  </div>`;
}

// Loads something whenever what it depends on changes; the last answer stays until the next one comes.
export function useLoad(load, deps) {
  const [state, setState] = useState({ data: null, error: null, busy: true });
  const [again, setAgain] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    setState((old) => ({ ...old, busy: true }));
    load(stop.signal).then(
      (data) => !stop.signal.aborted && setState({ data, error: null, busy: false }),
      (error) => !stop.signal.aborted && setState((old) => ({ data: old.data, error, busy: false })),
    );
    return () => stop.abort();
  }, [...deps, again]);
  return { ...state, reload: () => setAgain((n) => n + 1) };
}

export function useTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const [theme, setTheme] = useState(localStorage.getItem("eidet-theme") || (dark.matches ? "dark" : "light"));
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  return [theme, () => {
    const next = theme === "dark" ? "light" : "dark";
    localStorage.setItem("eidet-theme", next);
    setTheme(next);
  }];
}

export function useWidth(fallback = 800) {
  const ref = useRef(null);
  const [width, setWidth] = useState(fallback);
  useEffect(() => {
    if (!ref.current) return undefined;
    const watch = new ResizeObserver((seen) => setWidth(Math.max(200, Math.round(seen[0].contentRect.width))));
    watch.observe(ref.current);
    return () => watch.disconnect();
  }, []);
  return [ref, width];
}

export function Dialog({ title, onClose, children }) {
  const ref = useRef(null);
  useEffect(() => {
    const before = document.activeElement;
    ref.current.showModal();
    return () => before && before.focus && before.focus();
  }, []);
  return html`<dialog ref=${ref} aria-label=${title} onCancel=${onClose} onClose=${onClose}
    onClick=${(event) => event.target === ref.current && onClose()}>
    <div>
      <div class="row spread"><h2>${title}</h2>
        <button class="btn quiet" onClick=${onClose} aria-label="Close"><${Icon} name="close" /></button></div>
      ${children}
    </div>
  </dialog>`;
}

export function KindChip({ kind }) {
  return html`<span class="chip"><i class="swatch" style=${{ background: kindColour(kind) }}></i>${kind}</span>`;
}

export function Text({ text, clamp, chars }) {
  const more = chars !== undefined && chars > text.length;
  return html`<span class=${`text ${clamp ? "clamp" : ""}`} dir="auto">${text}${more ? "…" : ""}</span>`;
}

export function MetaLine({ record, scoped }) {
  return html`<div class="row small soft meta">
    <${KindChip} kind=${record.kind} />
    <span class="nowrap">${moment(record.occurred)}</span>
    ${record.who && html`<span class="text" dir="auto">${record.who.slice(0, 80)}</span>`}
    ${record.session && html`<span class="mono text">${record.session.slice(0, 60)}</span>`}
    ${scoped && html`<span class="mono text">${record.scope}</span>`}
    ${record.pinned && html`<span class="chip accent"><${Icon} name="pin" />pinned</span>`}
    ${record.held && html`<span class="chip warn"><${Icon} name="lock" />held</span>`}
    ${record.trust !== "user" && record.trust !== "trusted" && html`<span class="chip warn">${record.trust}</span>`}
  </div>`;
}

// A bar of parts, each with a colour and a share of the whole width.
export function Bar({ parts, total, label, height = 10 }) {
  return html`<div class="bar" role="img" aria-label=${label || "nothing"} style=${{ height: `${height}px` }}>
    ${parts.map((part) => html`<i key=${part.name} title=${part.title || part.name}
      style=${{ width: `${(100 * part.value) / total}%`, background: part.colour }}></i>`)}
  </div>`;
}

export function MultiPick({ label, options, value, onChange, colour }) {
  const flip = (one) => onChange(value.includes(one) ? value.filter((x) => x !== one) : [...value, one]);
  return html`<fieldset class="multi"><legend>${label}</legend><div class="row">
    ${options.map((one) => html`<button type="button" class="btn pick" aria-pressed=${value.includes(one) ? "true" : "false"}
      onClick=${() => flip(one)}>${colour && html`<i class="swatch" style=${{ background: colour(one) }}></i>`}${one}</button>`)}
  </div></fieldset>`;
}

export function useDebounced(value, wait = 250) {
  const [slow, setSlow] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(value), wait);
    return () => clearTimeout(timer);
  }, [value]);
  return slow;
}

// Finds a record by words; used where any record may be named.
export function RecordPicker({ scope, label, onPick, placeholder }) {
  const [words, setWords] = useState("");
  const slow = useDebounced(words);
  const { data, error } = useLoad(
    async (signal) => (slow.trim() ? findByWords(scope, { query: slow, limit: 8 }, signal) : null),
    [slow, scope],
  );
  const rows = data || [];
  return html`<div class="picker">
    <label class="field"><span>${label}</span>
      <input type="search" value=${words} placeholder=${placeholder} onInput=${(event) => setWords(event.target.value)} /></label>
    ${error && html`<${Failure} error=${error} />`}
    ${slow.trim() && data && !rows.length && html`<p class="small soft">Nothing fits these words.</p>`}
    ${rows.length > 0 && html`<ul class="pick-list">${rows.map((record) => html`<li key=${record.id}>
      <button class="pick-row" onClick=${() => { setWords(""); onPick(record); }}>
        <${Text} text=${record.text.slice(0, 140)} clamp=${true} /><span class="small soft">${record.kind} · ${day(record.occurred)}</span>
      </button></li>`)}</ul>`}
  </div>`;
}
