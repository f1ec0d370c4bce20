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

export async function call(path, { scope, params, body, signal, method, ifMatch } = {}) {
  const query = new URLSearchParams(params || {});
  if (scope) query.set("scope", scope);
  const tail = query.size ? `?${query}` : "";
  let answer;
  try {
    answer = await fetch(`/v1${path}${tail}`, {
      method: method || (body === undefined ? "GET" : "POST"),
      headers: ifMatch ? { ...headers(body !== undefined), "If-Match": ifMatch } : headers(body !== undefined),
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      cache: "no-store",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, {
      message: "The server does not answer.",
      hint: "Look whether `eidet serve` is still running, then try again.",
    });
  }
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

// Long work answers with lines of JSON: how far it is, then its result or an error. What follows is a file.
export async function work(path, { scope, body, onProgress, signal }) {
  const query = new URLSearchParams(scope ? { scope } : {});
  let answer;
  try {
    answer = await fetch(`/v1${path}?${query}`, {
      method: "POST", headers: headers(body !== undefined), body: body === undefined ? undefined : JSON.stringify(body), signal, cache: "no-store",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, { message: "The server does not answer.", hint: "Look whether `eidet serve` is still running, then try again." });
  }
  if (!answer.ok) throw new ApiError(answer.status, await answer.json().catch(() => ({})));
  const lines = new WorkLines(onProgress);
  const reader = answer.body.getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) lines.take(piece.value);
  return lines.end();
}

// The same for a file that is sent; the browser tells how much of it has gone.
export function upload(path, file, { scope, onProgress, onSent }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const lines = new WorkLines(onProgress);
    let taken = 0;
    const read = () => {
      if (request.status !== 200) return;
      const piece = request.responseText.slice(taken);
      taken = request.responseText.length;
      try { lines.take(new TextEncoder().encode(piece)); } catch (error) { reject(error); }
    };
    request.open("POST", `/v1${path}?${new URLSearchParams({ scope })}`);
    for (const [name, value] of Object.entries(headers(false))) request.setRequestHeader(name, value);
    request.setRequestHeader("Content-Type", "application/x-ndjson");
    request.upload.onprogress = (event) => onSent(event.loaded, event.total);
    request.onprogress = read;
    request.onerror = () => reject(new ApiError(0, { message: "The connection broke off.", hint: "Nothing was loaded unless the whole file had arrived." }));
    request.onload = () => {
      try {
        if (request.status !== 200) throw new ApiError(request.status, JSON.parse(request.responseText));
        read();
        resolve(lines.end().result);
      } catch (error) { reject(error); }
    };
    request.send(file);
  });
}

class WorkLines {
  constructor(onProgress) {
    this.onProgress = onProgress;
    this.rest = new Uint8Array();
    this.result = null;
    this.file = [];
    this.size = 0;
  }

  take(piece) {
    if (this.result !== null) {
      this.keep(piece);
      return;
    }
    let bytes = new Uint8Array(this.rest.length + piece.length);
    bytes.set(this.rest);
    bytes.set(piece, this.rest.length);
    for (let at = bytes.indexOf(10); at >= 0 && this.result === null; at = bytes.indexOf(10)) {
      this.read(JSON.parse(new TextDecoder().decode(bytes.slice(0, at))));
      bytes = bytes.slice(at + 1);
    }
    if (this.result === null) this.rest = bytes;
    else this.keep(bytes);
  }

  read(said) {
    if (said.error) throw new ApiError(422, said.error);
    if (said.result) this.result = said.result;
    else this.onProgress(said.done, said.of);
  }

  keep(piece) {
    if (!piece.length) return;
    this.file.push(piece);
    this.size += piece.length;
    if (this.result.bytes) this.onProgress(this.size, this.result.bytes, "Downloading");
  }

  end() {
    const whole = this.result !== null && this.size === (this.result.bytes || 0);
    if (!whole) throw new ApiError(0, { message: "The connection broke off before the work was done.", hint: "Look whether `eidet serve` is still running, then try again." });
    return { result: this.result, file: this.file };
  }
}
