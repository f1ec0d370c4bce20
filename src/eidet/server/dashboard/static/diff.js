// Two texts word by word: what stayed, what went, what came.
const MOST = 1200; // words of each; longer texts are told as a whole

export function diffWords(before, after) {
  const one = before.split(/(\s+)/);
  const other = after.split(/(\s+)/);
  if (before === after) return [{ kind: "same", text: after }];
  if (one.length > MOST || other.length > MOST) return [{ kind: "gone", text: before }, { kind: "came", text: after }];
  return join(walk(one, other, table(one, other)));
}

function table(one, other) {
  const wide = other.length + 1;
  const found = new Uint16Array((one.length + 1) * wide);
  for (let i = one.length - 1; i >= 0; i -= 1) {
    for (let j = other.length - 1; j >= 0; j -= 1) {
      found[i * wide + j] = one[i] === other[j] ? found[(i + 1) * wide + j + 1] + 1 : Math.max(found[(i + 1) * wide + j], found[i * wide + j + 1]);
    }
  }
  return found;
}

function walk(one, other, found) {
  const wide = other.length + 1;
  const told = [];
  let i = 0;
  let j = 0;
  while (i < one.length || j < other.length) {
    if (i < one.length && j < other.length && one[i] === other[j]) { told.push({ kind: "same", text: one[i] }); i += 1; j += 1; }
    else if (j >= other.length || (i < one.length && found[(i + 1) * wide + j] >= found[i * wide + j + 1])) { told.push({ kind: "gone", text: one[i] }); i += 1; }
    else { told.push({ kind: "came", text: other[j] }); j += 1; }
  }
  return told;
}

function join(parts) {
  const told = [];
  for (const part of parts) {
    const last = told[told.length - 1];
    if (last && last.kind === part.kind) last.text += part.text;
    else told.push({ ...part });
  }
  return told;
}
