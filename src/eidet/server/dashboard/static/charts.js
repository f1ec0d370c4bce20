// Small charts as SVG, coloured by the theme.
import { html, useEffect, useWidth, day } from "./ui.js";

const round = (n) => Math.round(n * 10) / 10;

export function StrengthCurve({ strength, created }) {
  const [ref, width] = useWidth(420);
  const height = 150;
  const left = 34;
  const bottom = 22;
  const times = strength.points.map((point) => point[0]);
  const from = times[0];
  const to = times[times.length - 1];
  const x = (at) => left + ((at - from) / Math.max(1, to - from)) * (width - left - 8);
  const y = (value) => 8 + (1 - value) * (height - bottom - 8);
  const line = strength.points.map(([at, value], n) => `${n ? "L" : "M"}${round(x(at))} ${round(y(value))}`).join("");
  const area = `${line}L${round(x(to))} ${y(0)}L${left} ${y(0)}Z`;
  const past = strength.now >= from && strength.now <= to;
  return html`<figure ref=${ref}><svg width=${width} height=${height} role="img"
      aria-label=${`Strength ${Math.round(100 * strength.value)} percent now, falling from ${day(from)} to ${Math.round(100 * strength.points[strength.points.length - 1][1])} percent on ${day(to)} if it is not used`}>
    ${[0, 0.5, 1].map((value) => html`<line class="grid-line" x1=${left} x2=${width - 8} y1=${y(value)} y2=${y(value)} /><text class="axis" x=${left - 6} y=${y(value) + 4} text-anchor="end">${100 * value}</text>`)}
    <path d=${area} fill="var(--accent)" opacity="0.12" /><path d=${line} fill="none" stroke="var(--accent)" stroke-width="2" />
    ${strength.forget_below > 0 && html`<line x1=${left} x2=${width - 8} y1=${y(strength.forget_below)} y2=${y(strength.forget_below)} stroke="var(--bad)" stroke-dasharray="4 3" />`}
    ${past && html`<line x1=${x(strength.now)} x2=${x(strength.now)} y1="8" y2=${y(0)} stroke="var(--edge)" stroke-dasharray="3 3" />
      <circle cx=${x(strength.now)} cy=${y(strength.value)} r="4.5" fill="var(--accent)" /><text class="axis" x=${Math.min(x(strength.now) + 8, width - 40)} y=${y(strength.value) < 24 ? y(strength.value) + 20 : y(strength.value) - 8}>now</text>`}
    <text class="axis" x=${left} y=${height - 6}>${day(from)}</text><text class="axis" x=${width - 8} y=${height - 6} text-anchor="end">${day(to)}</text>
  </svg></figure>`;
}

export function HeatMap({ days, first, last, label, onDay, chosen }) {
  const [ref, room] = useWidth(700);
  const gap = 3;
  const start = Math.floor((first + 3) / 7) * 7 - 3; // weeks begin on Monday: day 0 was a Thursday
  const weeks = Math.max(1, Math.ceil((last - start + 1) / 7));
  const cell = Math.max(12, Math.min(20, Math.floor((room - 36) / weeks) - gap));
  const most = Math.max(1, ...Object.values(days));
  const tone = (n) => (n ? 1 + Math.min(3, Math.floor((4 * Math.log1p(n)) / Math.log1p(most) - 0.001)) : 0);
  const cells = [];
  const months = [];
  let named = -10;
  for (let week = 0; week < weeks; week += 1) {
    const monday = new Date((start + week * 7) * 86400000);
    if (monday.getUTCDate() <= 7 && week - named > 2) { months.push([week, monday.toLocaleDateString("en-GB", { month: "short", timeZone: "UTC" })]); named = week; }
    for (let at = 0; at < 7; at += 1) {
      const number = start + week * 7 + at;
      if (number < first || number > last) continue;
      cells.push([week, at, number, days[number] || 0]);
    }
  }
  const name = (number) => new Date(number * 86400000).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
  const width = weeks * (cell + gap) + 34;
  useEffect(() => { if (ref.current) ref.current.scrollLeft = ref.current.scrollWidth; }, [width, room]);
  return html`<div class="scroll" tabindex="0" role="group" aria-label=${label} ref=${ref}><svg width=${width} height=${7 * (cell + gap) + 22} role="img" aria-label=${label}>
    ${["Mon", "Wed", "Fri"].map((text, n) => html`<text class="axis" x="0" y=${18 + n * 2 * (cell + gap) + cell / 2 + 4}>${text}</text>`)}
    ${months.map(([week, text]) => html`<text class="axis" x=${34 + week * (cell + gap)} y="11">${text}</text>`)}
    ${cells.map(([week, at, number, n]) => html`<rect key=${number} class=${`heat ${chosen === number ? "on" : ""}`} x=${34 + week * (cell + gap)} y=${18 + at * (cell + gap)} width=${cell} height=${cell} rx="3"
      fill=${`var(--h${tone(n)})`} onClick=${() => onDay(number)}><title>${`${name(number)}: ${n}`}</title></rect>`)}
  </svg></div>`;
}

// What was stored and asked on each of some days, side by side.
export function DayBars({ days }) {
  const [ref, width] = useWidth(600);
  const [height, left, bottom] = [150, 30, 22];
  const most = Math.max(4, ...days.map((one) => Math.max(one.stored, one.recalls)));
  const room = (width - left) / days.length;
  const bar = Math.max(2, Math.min(16, room / 2 - 3));
  const y = (n) => 8 + (1 - n / most) * (height - bottom - 8);
  const name = (number) => new Date(number * 86400000).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
  const sum = (key) => days.reduce((all, one) => all + one[key], 0);
  const step = Math.ceil(56 / room);
  return html`<figure ref=${ref}><svg width=${width} height=${height} role="img" aria-label=${`In ${days.length} days ${sum("stored")} memories were stored, and ${sum("recalls")} questions asked`}>
    ${[0, 0.5, 1].map((share) => html`<line class="grid-line" x1=${left} x2=${width} y1=${y(share * most)} y2=${y(share * most)} /><text class="axis" x=${left - 6} y=${y(share * most) + 4} text-anchor="end">${Math.round(share * most)}</text>`)}
    ${days.map((one, at) => { const x = left + at * room + room / 2; return html`<g key=${one.day}><title>${`${name(one.day)}: ${one.stored} stored, ${one.recalls} asked`}</title>
      <rect x=${round(x - bar - 1)} y=${round(y(one.stored))} width=${round(bar)} height=${round(y(0) - y(one.stored))} rx="2" fill="var(--c0)" /><rect x=${round(x + 1)} y=${round(y(one.recalls))} width=${round(bar)} height=${round(y(0) - y(one.recalls))} rx="2" fill="var(--c2)" />
      ${(days.length - 1 - at) % step === 0 && html`<text class="axis" x=${round(Math.min(x, width - 20))} y=${height - 6} text-anchor="middle">${name(one.day)}</text>`}</g>`; })}
  </svg><figcaption class="legend"><span><i class="swatch" style=${{ background: "var(--c0)" }}></i>stored</span><span><i class="swatch" style=${{ background: "var(--c2)" }}></i>asked</span></figcaption></figure>`;
}

export function RateBar({ rate, name, good }) {
  if (!rate) return html`<div class="rate"><span>${name}</span><b class="soft">no data yet</b></div>`;
  return html`<div class="rate"><span>${name}</span><b class="num">${(100 * rate.value).toFixed(rate.value > 0.995 || rate.value < 0.005 ? 0 : 1)} %</b>
    <div class="rate-line" role="img" aria-label=${`${name}: ${(100 * rate.value).toFixed(1)} percent, between ${(100 * rate.low).toFixed(1)} and ${(100 * rate.high).toFixed(1)}, of ${rate.of}`}>
      <i class="span" style=${{ left: `${100 * rate.low}%`, width: `${Math.max(1, 100 * (rate.high - rate.low))}%` }}></i>
      <i class=${`mark ${good || ""}`} style=${{ left: `${100 * rate.value}%` }}></i></div>
    <small class="soft num">${(100 * rate.low).toFixed(0)} to ${(100 * rate.high).toFixed(0)} % of ${rate.of.toLocaleString("en")}</small></div>`;
}
