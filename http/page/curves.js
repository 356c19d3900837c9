/* curves.js - lines over trials or time, drawn by uPlot: how it is set up here, and
 * step functions brought to one x axis. */
import { FONT } from "./sheet.js";
import { inks } from "./theme.js";
import { number } from "./numbers.js";
import { uPlot } from "./vendor/uPlot.js";

/* Step functions {x, y} (x rises) as uPlot wants them: one sorted x, a column each;
 * null before a function begins and, where it has an end, after it. */
export function alignSteps(functions) {
  const all = new Set();
  for (const f of functions) {
    for (const x of f.x) all.add(x);
    if (f.end !== undefined) all.add(f.end);
  }
  const xs = [...all].sort((a, b) => a - b);
  const columns = functions.map((f) => {
    let k = -1;
    return xs.map((x) => {
      while (k + 1 < f.x.length && f.x[k + 1] <= x) k++;
      return k < 0 || (f.end !== undefined && x > f.end) ? null : f.y[k];
    });
  });
  return [xs, ...columns];
}

function axis(more) {
  return {
    stroke: () => inks().quiet,
    font: FONT,
    labelFont: FONT,
    labelSize: 18,
    gap: 5,
    grid: { stroke: () => inks().grid, width: 1 },
    ticks: { show: false },
    ...more,
  };
}

export const stepped = uPlot.paths.stepped({ align: 1 });

export function lineSeries(label, colour, dash, width = 2) {
  return {
    label,
    stroke: colour,
    width,
    dash,
    paths: stepped,
    points: { show: false },
  };
}

const label = (v) => number(v, 5);

/* width, height; labels of the axes; scales and series as uPlot takes them. */
export function lineOptions(o) {
  return {
    width: o.width,
    height: o.height,
    padding: [10, 10, 0, 4],
    legend: { show: false },
    cursor: {
      points: { show: false },
      x: o.crosshair !== false,
      y: false,
      drag: { x: o.brush === true, y: false, setScale: false, dist: 6 },
    },
    focus: { prox: 20 },
    scales: { x: { time: false, range: o.xRange }, y: o.yScale },
    axes: [
      axis({
        grid: { show: false },
        label: o.xLabel,
        size: 30,
        space: 60,
        values: (u, ticks) => ticks.map(o.xText || label),
      }),
      axis({
        size: o.ySize || 64,
        space: 36,
        values: (u, ticks) => ticks.map((v) => (v === null ? "" : label(v))),
      }),
    ],
    series: [{}, ...o.series],
    bands: o.bands,
    hooks: o.hooks || {},
  };
}

/* Makes a plot that screen readers hear as one picture. */
export function plotInto(body, options, data, text) {
  const plot = new uPlot(options, data, body);
  plot.root.setAttribute("role", "img");
  plot.root.setAttribute("aria-label", text);
  return plot;
}
