/* numbers.js - numbers, times and values of parameters as people read them. */

/* Up to so many significant digits, without needless zeros: 0.0314, 480772, 1.2e-7. */
export function number(v, digits = 6) {
  if (v === null || v === undefined || Number.isNaN(v)) return "–";
  if (!Number.isFinite(v)) return v > 0 ? "∞" : "−∞";
  if (v === 0) return "0";
  const size = Math.abs(v);
  const text =
    size >= 1e-4 && size < 10 ** Math.max(digits, 6)
      ? String(Number(v.toPrecision(digits)))
      : v.toExponential(digits - 1).replace(/\.?0*e\+?/, "e");
  return text.replace("-", "−").replace("e−", "e-");
}

/* The same number as a program reads it. */
export function exact(v) {
  return JSON.stringify(v);
}

export function count(n) {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/* "1 trial", "2 trials" */
export function many(n, word) {
  return `${count(n)} ${word}${n === 1 ? "" : "s"}`;
}

export function percent(share) {
  if (!(share >= 0)) return "–";
  const p = 100 * share;
  if (p > 0 && p < 1) return "< 1 %";
  if (p < 100 && p > 99) return "> 99 %";
  return `${Math.round(p)} %`;
}

export function duration(seconds) {
  if (!(seconds >= 0)) return "–";
  if (seconds < 1) return `${number(seconds * 1000, 2)} ms`;
  if (seconds < 60) return `${number(seconds, 2)} s`;
  const m = Math.floor(seconds / 60);
  if (m < 60) return `${m} min ${Math.floor(seconds % 60)} s`;
  const h = Math.floor(m / 60);
  return h < 48 ? `${h} h ${m % 60} min` : `${Math.round(h / 24)} days`;
}

export function ago(then, now = Date.now() / 1000) {
  if (!(then > 0)) return "never";
  const s = Math.max(0, now - then);
  if (s < 10) return "just now";
  if (s < 60) return `${Math.floor(s)} s ago`;
  if (s < 3600) return `${Math.floor(s / 60)} min ago`;
  if (s < 48 * 3600) return `${Math.floor(s / 3600)} h ago`;
  return `${Math.floor(s / 86400)} days ago`;
}

/* A choice: text bare unless it would look like something else or like nothing, and
 * everything else as JSON. */
export function choiceText(v) {
  const odd = /^(|true|false|null|[-+]?[\d.]+(e[-+]?\d+)?)$/i;
  return typeof v === "string" && !odd.test(v) ? v : JSON.stringify(v);
}

/* The first line, and no more than so many characters of it. */
export function brief(text, most = 80) {
  const line = String(text).split("\n", 1)[0];
  const chars = [...line];
  return chars.length > most ? chars.slice(0, most - 1).join("") + "…" : line;
}
