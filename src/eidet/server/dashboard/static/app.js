// The shell: which view, which scope, which theme, and whether the memory has changed.
import { html, useEffect, useState, useRef, Icon, Dialog, Loading, Failure, count, useTheme } from "./ui.js";
import { render } from "./vendor/htm-preact-standalone.js";
import { call, setKey } from "./api.js";
import { Overview } from "./views/overview.js";
import { Why } from "./views/why.js";
import { Memories } from "./views/memories.js";
import { Timeline } from "./views/timeline.js";
import { Review } from "./views/review.js";
import { Facts } from "./views/facts.js";
import { Health } from "./views/health.js";

const VIEWS = [
  { path: "overview", name: "Overview", view: Overview, tells: "How much there is, what came lately, what was asked, and what waits." },
  { path: "why", name: "Why?", view: Why, tells: "Ask, and see what made the answer: each signal, each candidate, each thing left out." },
  { path: "memories", name: "Memories", view: Memories, tells: "All that is stored in this scope, with where it came from and what became of it." },
  { path: "review", name: "Review", view: Review, tells: "What waits until you approve, edit or reject it." },
  { path: "timeline", name: "Timeline", view: Timeline, tells: "What was written and recalled, from years down to minutes." },
  { path: "facts", name: "Facts", view: Facts, tells: "Who and what is known, how it hangs together, and what changed." },
  { path: "health", name: "Health", view: Health, tells: "How well recalls do, what lies unused, and what upkeep would change." },
];
const POLL = 2000;

function readRoute() {
  const said = location.hash.replace(/^#\/?/, "");
  const at = said.includes("?") ? said.indexOf("?") : said.length;
  return { path: said.slice(0, at) || "overview", params: new URLSearchParams(said.slice(at + 1)) };
}

export function go(path, params = {}) {
  const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value));
  location.hash = `#/${path}${query.size ? `?${query}` : ""}`;
}

function useRoute() {
  const [route, setRoute] = useState(readRoute());
  useEffect(() => {
    const follow = () => setRoute(readRoute());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return route;
}

// The number of the last write, asked for every two seconds while the page is seen.
function useHead(scope) {
  const [head, setHead] = useState({ seq: null, state: "wait" });
  useEffect(() => {
    if (!scope) return undefined;
    let stopped = false;
    async function look() {
      if (document.hidden) return;
      try {
        const { seq, epoch } = await call("/dashboard/head", { scope });
        const mark = `${epoch}.${seq}`;
        if (!stopped) setHead((old) => (old.seq === mark && old.state === "on" ? old : { seq: mark, state: "on" }));
      } catch {
        if (!stopped) setHead((old) => ({ ...old, state: "off" }));
      }
    }
    look();
    const timer = setInterval(look, POLL);
    return () => { stopped = true; clearInterval(timer); };
  }, [scope]);
  return head;
}

function KeyDialog({ onDone }) {
  const [key, type] = useState("");
  const send = (event) => { event.preventDefault(); setKey(key.trim()); onDone(); };
  return html`<${Dialog} title="This server needs a key" onClose=${() => {}}>
    <p>Paste a key of the server's keys file. It stays in this tab and is forgotten when you close it.</p>
    <form class="stack" onSubmit=${send}>
      <label class="field"><span>Key</span><input type="password" autocomplete="off" value=${key} onInput=${(event) => type(event.target.value)} /></label>
      <div class="row"><button class="btn main-act" type="submit">Open the dashboard</button></div>
    </form>
  <//>`;
}

function ScopePick({ scopes, scope, onPick }) {
  const paths = Object.keys(scopes).sort();
  const above = new Map();
  for (const path of paths) {
    const parts = path.split("/");
    for (let n = 1; n < parts.length; n += 1) {
      const root = parts.slice(0, n).join("/");
      above.set(root, (above.get(root) || 0) + scopes[path]);
    }
  }
  const known = paths.includes(scope) || (scope.endsWith("/**") && above.has(scope.slice(0, -3)));
  return html`<label class="scope-pick field"><span>Scope</span>
    <select value=${scope} onChange=${(event) => onPick(event.target.value)} aria-label="Scope">
      ${!known && html`<option value=${scope}>${scope}</option>`}
      ${paths.map((path) => html`<option key=${path} value=${path}>${path} (${count(scopes[path])})</option>`)}
      ${[...above.keys()].sort().map((root) => html`<option key=${`${root}/**`} value=${`${root}/**`}>${root}/** (${count(above.get(root) + (scopes[root] || 0))})</option>`)}
    </select></label>`;
}

function Toast({ words, onEnd }) {
  useEffect(() => {
    const timer = setTimeout(onEnd, 4200);
    return () => clearTimeout(timer);
  }, [words]);
  return html`<div class="toast" role="status">${words}</div>`;
}

function App() {
  const route = useRoute();
  const [theme, flipTheme] = useTheme();
  const [start, setStart] = useState({ data: null, error: null });
  const [asksKey, setAsksKey] = useState(false);
  const [words, say] = useState(null);
  const title = useRef(null);
  const open = () => call("/dashboard/start").then((data) => setStart({ data, error: null }), (error) => setStart((old) => (old.data ? old : { data: null, error })));
  const largest = start.data && Object.entries(start.data.scopes).sort((a, b) => b[1] - a[1])[0];
  const first = start.data && (start.data.scopes.default ? "default" : largest ? largest[0] : start.data.home);
  const scope = route.params.get("scope") || localStorage.getItem("eidet-scope") || first;
  const chosen = start.data && !route.params.get("scope") && scope && !(scope in start.data.scopes) && !scope.endsWith("/**") ? first : scope;
  const may = (right) => Boolean(start.data && start.data.rights.includes(right));
  const head = useHead(may("read") ? chosen : null);

  useEffect(() => { open(); }, []);
  useEffect(() => {
    const ask = () => setAsksKey(true);
    addEventListener("eidet-key-needed", ask);
    return () => removeEventListener("eidet-key-needed", ask);
  }, []);
  useEffect(() => { if (head.seq && start.data) open(); }, [head.seq]);
  useEffect(() => {
    const view = VIEWS.find((one) => one.path === route.path);
    document.title = view ? `${view.name} · Eidet` : "Eidet";
    if (title.current) title.current.focus();
  }, [route.path]);

  const pick = (next) => { localStorage.setItem("eidet-scope", next); go(route.path, { scope: next }); };
  const view = VIEWS.find((one) => one.path === route.path) || VIEWS[0];
  const common = { scope: chosen, params: route.params, head, say, go, may, single: chosen && !chosen.endsWith("/**") };
  return html`
    <a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); title.current.focus(); }}>Skip to the content</a>
    <div class="shell">
      <header class="side">
        <a class="brand" href="#/overview"><img src="/dashboard/icon.svg" alt="" /><span>Eidet</span></a>
        ${start.data && html`<${ScopePick} scopes=${start.data.scopes} scope=${chosen} onPick=${pick} />`}
        <nav aria-label="Views"><ul>${VIEWS.map((one) => html`<li key=${one.path}>
          <a href=${`#/${one.path}${route.params.get("scope") ? `?scope=${encodeURIComponent(chosen)}` : ""}`}
            aria-current=${one.path === view.path ? "page" : undefined}><${Icon} name=${one.path} />${one.name}</a></li>`)}</ul></nav>
        <div class="foot">
          <a class="docs-link" href="/docs">REST documentation</a>
          ${may("read") && html`<div class="live" role="status"><i class=${`dot ${head.state === "on" ? "" : head.state}`}></i>
            <span class="live-words">${head.state === "on" ? `Live, change ${head.seq.split(".")[1]}` : head.state === "off" ? "The server does not answer" : "Connecting"}</span></div>`}
          <button class="btn" onClick=${flipTheme} aria-label=${theme === "dark" ? "Light theme" : "Dark theme"}>
            <${Icon} name=${theme === "dark" ? "sun" : "moon"} /><span class="live-words">${theme === "dark" ? "Light" : "Dark"}</span></button>
        </div>
      </header>
      <main class="main" id="main">
        <div class="head"><div><h1 tabindex="-1" ref=${title}>${view.name}</h1><p>${view.tells}</p></div></div>
        ${start.error && html`<${Failure} error=${start.error} retry=${open} />`}
        ${!start.data && !start.error && html`<${Loading} what="Opening the memory" />`}
        ${start.data && html`<${view.view} key=${`${view.path} ${chosen}`} ...${common} />`}
      </main>
    </div>
    ${asksKey && html`<${KeyDialog} onDone=${() => { setAsksKey(false); open(); }} />`}
    ${words && html`<${Toast} words=${words} onEnd=${() => say(null)} />`}`;
}

const root = document.getElementById("app");
root.replaceChildren();
render(html`<${App} />`, root);
