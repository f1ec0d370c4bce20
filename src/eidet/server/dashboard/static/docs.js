// The REST interface, made from the schema that the server tells: every route, to read and to try.
import { html, useEffect, useState, useLoad, useTheme, Failure, Icon, Loading } from "./ui.js";
import { render } from "./vendor/htm-preact-standalone.js";
import { getKey, setKey } from "./api.js";

const LONGEST = 20000; // letters of an answer that are shown
const DEPTH = 5; // levels of a schema that an example goes down

async function loadSchema(signal) {
  const answer = await fetch("/openapi.json", { signal, cache: "no-store" });
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return answer.json();
}

// The routes by their tags, in the order of the schema.
function groupRoutes(schema) {
  const groups = new Map();
  for (const [path, methods] of Object.entries(schema.paths)) {
    for (const [method, told] of Object.entries(methods)) {
      const tag = (told.tags || ["other"])[0];
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push({ path, method, told, id: told.operationId || `${method} ${path}` });
    }
  }
  return groups;
}

function resolve(schema, part) {
  if (!part || !part.$ref) return part || {};
  return part.$ref.replace("#/", "").split("/").reduce((at, name) => at[name], schema);
}

// A value that fits a part of the schema: what a request may look like.
function exampleOf(schema, given, depth = 0) {
  const part = resolve(schema, given);
  if (part.example !== undefined) return part.example;
  if (part.examples) return part.examples[0];
  if (part.default !== undefined && part.default !== null) return part.default;
  if (part.const !== undefined) return part.const;
  if (part.enum) return part.enum[0];
  const either = part.anyOf || part.oneOf || part.allOf;
  if (either) return exampleOf(schema, either.find((one) => one.type !== "null") || either[0], depth);
  if (depth > DEPTH) return null;
  if (part.type === "object" || part.properties) return exampleObject(schema, part, depth);
  if (part.type === "array") return [exampleOf(schema, part.items || {}, depth + 1)];
  return { string: "text", integer: part.minimum ?? 1, number: part.minimum ?? 0.5, boolean: false }[part.type] ?? null;
}

function exampleObject(schema, part, depth) {
  const made = {};
  const needed = part.required || [];
  const first = Object.keys(part.properties || {}).slice(0, 1);
  for (const name of needed.length ? needed : first) made[name] = exampleOf(schema, part.properties[name], depth + 1);
  return made;
}

function typeOf(schema, given) {
  const part = resolve(schema, given);
  const either = part.anyOf || part.oneOf;
  if (either) return either.map((one) => typeOf(schema, one)).filter((one) => one !== "null").join(" or ");
  if (part.enum) return part.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (part.type === "array") return `list of ${typeOf(schema, part.items || {})}`;
  if (part.properties && part.title) return part.title;
  return part.format || part.type || "any";
}

// The objects that a field may hold, by itself or in a list.
function objectsIn(schema, given) {
  const part = resolve(schema, given);
  if (part.type === "array") return objectsIn(schema, part.items || {});
  if (part.anyOf || part.oneOf) return (part.anyOf || part.oneOf).flatMap((one) => objectsIn(schema, one));
  return part.properties ? [part] : [];
}

function bodyOf(schema, told) {
  const content = told.requestBody && told.requestBody.content;
  if (!content) return null;
  const [kind, media] = Object.entries(content)[0];
  return { kind, part: media.schema || {}, json: kind === "application/json" };
}

function Fields({ schema, part, above = [] }) {
  return objectsIn(schema, part).map((shape) => html`<${Shape} key=${shape.title} schema=${schema} shape=${shape} above=${above} />`);
}

function Shape({ schema, shape, above }) {
  const known = [...above, shape.title];
  const inner = new Map();
  for (const one of Object.values(shape.properties)) {
    for (const found of objectsIn(schema, one)) if (!known.includes(found.title)) inner.set(found.title, found);
  }
  return html`<div class="scroll"><table class="docs-table"><caption class="hidden">Fields of ${shape.title}</caption>
    <thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">What it says</th></tr></thead>
    <tbody>${Object.entries(shape.properties).map(([name, one]) => html`<tr key=${name}>
      <td class="mono">${name}${(shape.required || []).includes(name) ? html`<b title="required"> *</b>` : ""}</td>
      <td class="small soft">${typeOf(schema, one)}</td><td class="small">${resolve(schema, one).description || ""}</td></tr>`)}</tbody></table></div>
    ${[...inner.values()].map((one) => html`<details key=${one.title}><summary>${one.title}</summary><p class="small soft">${one.description || ""}</p><${Shape} schema=${schema} shape=${one} above=${known} /></details>`)}`;
}

function Parameters({ schema, rows }) {
  if (!rows.length) return null;
  return html`<h4>Parameters</h4><div class="scroll"><table class="docs-table"><caption class="hidden">Parameters</caption>
    <thead><tr><th scope="col">Name</th><th scope="col">In</th><th scope="col">Type</th><th scope="col">What it says</th></tr></thead>
    <tbody>${rows.map((one) => html`<tr key=${one.name}><td class="mono">${one.name}${one.required ? html`<b title="required"> *</b>` : ""}</td>
      <td class="small soft">${one.in}</td><td class="small soft">${typeOf(schema, one.schema)}</td><td class="small">${one.description || ""}</td></tr>`)}</tbody></table></div>`;
}

function Answers({ schema, told }) {
  const good = Object.entries(told.responses).find(([status]) => status.startsWith("2"));
  const media = good && good[1].content && good[1].content["application/json"];
  return html`<h4>Answers</h4><div class="statuses">${Object.entries(told.responses).map(([status, one]) => html`<span key=${status}
      class=${`chip ${status.startsWith("2") ? "good" : ""}`} title=${one.description}><b>${status}</b>${status.startsWith("2") ? ` ${one.description}` : ""}</span>`)}</div>
    ${media && media.schema && html`<details><summary>What a good answer holds</summary><${Fields} schema=${schema} part=${media.schema} /></details>`}`;
}

async function send(route, rows, values, body) {
  let path = route.path;
  const query = new URLSearchParams();
  const headers = {};
  for (const one of rows) {
    const value = values[one.name];
    if (!value) continue;
    if (one.in === "path") path = path.replace(`{${one.name}}`, encodeURIComponent(value));
    else if (one.in === "query") query.set(one.name, value);
    else headers[one.name] = value;
  }
  if (body !== null) headers["Content-Type"] = "application/json";
  if (getKey()) headers.Authorization = `Bearer ${getKey()}`;
  const began = performance.now();
  const answer = await fetch(`${path}${query.size ? `?${query}` : ""}`, {
    method: route.method.toUpperCase(), headers, body: body === null ? undefined : body, cache: "no-store",
  });
  const text = await answer.text();
  return { status: answer.status, etag: answer.headers.get("etag"), text: indent(text), took: performance.now() - began };
}

function indent(text) {
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // An export is lines of JSON, and metrics are none.
  }
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST)}…` : shown;
}

function Try({ schema, route, rows }) {
  const body = bodyOf(schema, route.told);
  const [values, setValues] = useState({});
  const [text, setText] = useState(body && body.json ? JSON.stringify(exampleOf(schema, body.part), null, 2) : "");
  const [state, setState] = useState(null);
  const run = (event) => {
    event.preventDefault();
    setState({ busy: true });
    send(route, rows, values, body ? text : null).then((done) => setState({ done }), () => setState({ error: { message: "The server does not answer." } }));
  };
  return html`<form class="try" onSubmit=${run}>
    ${rows.length > 0 && html`<div class="pairs">${rows.map((one) => html`<label class="field" key=${one.name}><span>${one.name}</span>
      <input type="text" required=${Boolean(one.required)} value=${values[one.name] || ""} onInput=${(event) => setValues({ ...values, [one.name]: event.target.value })} /></label>`)}</div>`}
    ${body && html`<label class="field"><span>Body (${body.kind})</span><textarea spellcheck=${false} value=${text} onInput=${(event) => setText(event.target.value)}></textarea></label>`}
    <div class="row"><button class="btn main-act" type="submit" disabled=${Boolean(state && state.busy)}>Send</button></div>
    ${state && state.busy && html`<${Loading} what="Waiting for the answer" />`}
    ${state && state.error && html`<${Failure} error=${state.error} />`}
    ${state && state.done && html`<div class="stack tight" role="status"><div class="row"><span class=${`chip ${state.done.status < 400 ? "good" : "bad"}`}>${state.done.status}</span>
      <span class="small soft num">${Math.round(state.done.took)} ms</span>${state.done.etag && html`<span class="small soft mono">ETag ${state.done.etag}</span>`}</div>
      ${state.done.text && html`<pre class="schema" tabindex="0" aria-label="The answer">${state.done.text}</pre>`}</div>`}
  </form>`;
}

function Operation({ schema, route }) {
  const [tries, setTries] = useState(false);
  const rows = (route.told.parameters || []).map((one) => resolve(schema, one));
  const body = bodyOf(schema, route.told);
  return html`<section class="card operation" id=${route.id} aria-label=${`${route.method.toUpperCase()} ${route.path}`}>
    <header><span class=${`method ${route.method}`}>${route.method.toUpperCase()}</span><h3>${route.path}</h3></header>
    ${(route.told.description || route.told.summary || "").split("\n\n").map((one) => html`<p class="about">${one.replaceAll("`", "")}</p>`)}
    <${Parameters} schema=${schema} rows=${rows} />
    ${body && body.json && html`<h4>Body</h4><${Fields} schema=${schema} part=${body.part} />`}
    <${Answers} schema=${schema} told=${route.told} />
    <p><button class="btn" aria-expanded=${tries ? "true" : "false"} onClick=${() => setTries(!tries)}>${tries ? "Close" : "Try it"}</button></p>
    ${tries && html`<${Try} schema=${schema} route=${route} rows=${rows} />`}
  </section>`;
}

function KeyField() {
  const [key, type] = useState(getKey() || "");
  const keep = (event) => { type(event.target.value); setKey(event.target.value.trim()); };
  return html`<label class="field"><span>Key, if the server needs one</span><input type="password" autocomplete="off" value=${key} onInput=${keep} /></label>`;
}

function Docs() {
  const [theme, flipTheme] = useTheme();
  const { data, error, reload } = useLoad(loadSchema, []);
  const [words, setWords] = useState("");
  useEffect(() => {
    const named = data && location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (named) named.scrollIntoView();
  }, [data]);
  const fits = (route) => `${route.method} ${route.path} ${route.told.description || ""}`.toLowerCase().includes(words.toLowerCase());
  const groups = data ? [...groupRoutes(data)].map(([tag, routes]) => [tag, routes.filter(fits)]).filter(([, routes]) => routes.length) : [];
  return html`<div class="shell">
    <header class="side">
      <a class="brand" href="/"><img src="/dashboard/icon.svg" alt="" /><span>Eidet</span></a>
      <${KeyField} />
      <nav class="docs-nav" aria-label="Routes" tabindex="0">${groups.map(([tag, routes]) => html`<h2 key=${tag}>${tag}</h2><ul>${routes.map((route) => html`<li key=${route.id}>
        <a href=${`#${route.id}`}><span class=${`method ${route.method}`}>${route.method.toUpperCase()}</span>${route.told.operationId.replaceAll("_", " ")}</a></li>`)}</ul>`)}</nav>
      <div class="foot"><a href="/openapi.json">openapi.json</a>
        <button class="btn" onClick=${flipTheme} aria-label=${theme === "dark" ? "Light theme" : "Dark theme"}><${Icon} name=${theme === "dark" ? "sun" : "moon"} /><span class="live-words">${theme === "dark" ? "Light" : "Dark"}</span></button></div>
    </header>
    <main class="main">
      <div class="head"><div><h1>REST</h1>${data && data.info.description.split("\n\n").map((one) => html`<p>${one.replaceAll("`", "")}</p>`)}</div></div>
      ${error && html`<${Failure} error=${error} retry=${reload} />`}
      ${!data && !error && html`<${Loading} what="Reading the schema" />`}
      ${data && html`<label class="field"><span>Find a route</span><input type="search" value=${words} onInput=${(event) => setWords(event.target.value)} /></label>`}
      ${data && !groups.length && html`<p class="soft">No route fits these words.</p>`}
      ${groups.map(([tag, routes]) => html`<h2 class="tag-name" key=${tag}>${tag}</h2>${routes.map((route) => html`<${Operation} key=${route.id} schema=${data} route=${route} />`)}`)}
    </main></div>`;
}

const root = document.getElementById("app");
root.replaceChildren();
render(html`<${Docs} />`, root);
