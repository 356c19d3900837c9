/* theme.js - inks for canvases, light and dark, read from the style sheet so that the
 * two never differ; and the colours of curves. The blues are those of cocabo plot. */

const NAMES = ["ground", "ink", "quiet", "grid", "line", "pale", "bar", "marked"];
const MORE = ["lost", "apart", "faint", "soft", "band"];
const LIGHT = ["#d6e4f2", "#a3c6e2", "#5fa2d0", "#2575b0", "#0b4a8a", "#061f47"];
const DARK = ["#173049", "#1f5a8c", "#3d84bb", "#6facd8", "#a3c6e2", "#dceaf7"];
/* What differs in colour differs in its dash too. */
export const CURVES = [
  { light: "#d55e00", dark: "#ff8c3a", dash: [] },
  { light: "#0072b2", dark: "#5fa2d0", dash: [] },
  { light: "#008060", dark: "#2fc79a", dash: [5, 3] },
  { light: "#8a6d00", dark: "#e6c040", dash: [8, 3] },
  { light: "#a0447c", dark: "#e79ac4", dash: [2, 3] },
  { light: "#332288", dark: "#a99bff", dash: [9, 3, 2, 3] },
  { light: "#661100", dark: "#e0907a", dash: [4, 2] },
  { light: "#4d4d4d", dark: "#bbbbbb", dash: [2, 2] },
];

let cached = null;
const listeners = new Set();

export function isDark() {
  const forced = document.documentElement.dataset.theme;
  if (forced) return forced === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

function channels(hex) {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

/* 256 colours between the stops, 0 faint, 255 strong. */
function ramp(stops) {
  const colours = stops.map(channels);
  return Array.from({ length: 256 }, (_, i) => {
    const at = (i / 255) * (colours.length - 1);
    const k = Math.min(colours.length - 2, Math.floor(at));
    const mix = colours[k].map((c, j) => c + (at - k) * (colours[k + 1][j] - c));
    return mix.map(Math.round);
  });
}

/* {ink, quiet, ..., shade(0..1) as a CSS colour, rgb(0..1) as three numbers} */
export function inks() {
  if (cached) return cached;
  const style = getComputedStyle(document.documentElement);
  const found = { dark: isDark() };
  for (const name of [...NAMES, ...MORE])
    found[name] = style.getPropertyValue(`--${name}`).trim();
  const colours = ramp(found.dark ? DARK : LIGHT);
  const texts = colours.map((c) => `rgb(${c.join(",")})`);
  const index = (t) => Math.max(0, Math.min(255, Math.round(t * 255)));
  found.shade = (t) => texts[index(t)];
  found.rgb = (t) => colours[index(t)];
  found.curve = (i) => {
    const curve = CURVES[i % CURVES.length];
    return { colour: found.dark ? curve.dark : curve.light, dash: curve.dash };
  };
  cached = found;
  return found;
}

export function onTheme(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function changed() {
  cached = null;
  for (const listener of listeners) listener();
}

/* Storage may be forbidden, as in some browsers for files. */
function remembered() {
  try {
    return localStorage.getItem("cocabo-theme");
  } catch {
    return null;
  }
}

export function startTheme() {
  const kept = remembered();
  if (kept === "dark" || kept === "light")
    document.documentElement.dataset.theme = kept;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}

export function toggleTheme() {
  const next = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem("cocabo-theme", next);
  } catch {
    /* then only for this page */
  }
  changed();
}
