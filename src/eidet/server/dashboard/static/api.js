// Everything the pages ask of the server goes through `call`, to this host only.
const KEY = "eidet-key";

export class ApiError extends Error {
  constructor(status, body) {
    super(body.message || `the server answered ${status}`);
    this.status = status;
    this.type = body.type;
    this.hint = body.hint || null;
  }
}

export const getKey = () => sessionStorage.getItem(KEY);

export function setKey(key) {
  if (key) sessionStorage.setItem(KEY, key);
  else sessionStorage.removeItem(KEY);
}

function headers(hasBody) {
  const found = { Accept: "application/json" };
  const key = getKey();
  if (key) found.Authorization = `Bearer ${key}`;
  if (hasBody) found["Content-Type"] = "application/json";
  return found;
}

async function ask(path, { scope, params, ...how }) {
  const query = new URLSearchParams(params || {});
  if (scope) query.set("scope", scope);
  const tail = query.size ? `?${query}` : "";
  try {
    return await fetch(`/v1${path}${tail}`, { ...how, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, {
      message: "The server does not answer.",
      hint: "Look whether `eidet serve` is still running, then try again.",
    });
  }
}

export async function call(path, { scope, params, body, signal, method, ifMatch } = {}) {
  const sent = ifMatch ? { ...headers(body !== undefined), "If-Match": ifMatch } : headers(body !== undefined);
  return read(await ask(path, {
    scope, params, signal,
    method: method || (body === undefined ? "GET" : "POST"),
    headers: sent,
    body: body === undefined ? undefined : JSON.stringify(body),
  }));
}

// An export as a file to save.
export async function download(path, { scope }) {
  const answer = await ask(path, { scope, headers: headers(false) });
  if (!answer.ok) await read(answer);
  return answer.blob();
}

export async function upload(path, file, { scope }) {
  const sent = { ...headers(false), "Content-Type": "application/x-ndjson" };
  return read(await ask(path, { scope, method: "POST", headers: sent, body: file }));
}

async function read(answer) {
  const text = await answer.text();
  let said = {};
  try {
    said = text ? JSON.parse(text) : {};
  } catch {
    said = { message: `the server answered ${answer.status} with something that is not JSON` };
  }
  if (!answer.ok) {
    if (answer.status === 401) window.dispatchEvent(new Event("eidet-key-needed"));
    throw new ApiError(answer.status, said);
  }
  return said;
}
