/* compare.js - curves of several studies over one another: the best so far by trial or
 * by time. Studies whose names differ only in a number at the end are repeats of one
 * another and can be seen as a median with a band of quartiles. */
import { alignSteps, lineOptions, lineSeries, plotInto } from "./curves.js";
import { count, duration, number } from "./numbers.js";
import { el, fill, switcher } from "./dom.js";
import { encode, studyRoute } from "./api.js";
import { hideTip, showTip } from "./panel.js";
import { inks, onTheme } from "./theme.js";
import { redraw, unwatch, watch } from "./schedule.js";
import { quantile } from "./trials.js";

const COMPARE_HEIGHT = 420;
const COMPARE_PATIENCE = 1000;

/* "svm-seed-3" and "svm-4" are repeats of svm. */
export function stemOf(name) {
  return name.replace(/[-_. #]*(seed|run|repeat)?[-_. =#]*\d+$/i, "") || name;
}

/* Quantiles of step functions at every x where one of them changes, up to where the
 * shortest ends. */
export function quartiles(functions) {
  const end = Math.min(...functions.map((f) => f.end));
  const [xs, ...columns] = alignSteps(functions);
  const found = { x: [], median: [], low: [], high: [], end };
  xs.forEach((x, i) => {
    const values = columns.map((c) => c[i]).filter((v) => v !== null);
    if (x > end || values.length < functions.length) return;
    const sorted = Float64Array.from(values).sort();
    found.x.push(x);
    found.median.push(quantile(sorted, 0.5));
    found.low.push(quantile(sorted, 0.25));
    found.high.push(quantile(sorted, 0.75));
  });
  return found;
}

export class CompareView {
  constructor(door, names, status) {
    this.door = door;
    this.names = names;
    this.status = status;
    this.by = "trial";
    this.grouped = false;
    this.hidden = new Set();
    this.studies = new Map();
    this.problems = [];
    this.note = el("p", { class: "note" });
    this.body = el("div", { class: "body" });
    this.controls = el("div", { class: "controls" });
    this.legend = el("div", { class: "compare-legend" });
    const head = el(
      "div",
      { class: "head" },
      el("div", {}, el("h2", {}, "Best so far"), this.note),
    );
    head.append(this.controls);
    this.root = el(
      "main",
      { id: "main", tabindex: "-1" },
      el("div", { class: "title-row" }, el("h1", {}, "Compare studies")),
      el("section", { class: "panel full" }, head, this.body, this.legend),
    );
    watch(this, this.body);
    this.untheme = onTheme(() => redraw(this));
  }

  async open() {
    await this.read();
    this.makeControls();
    this.stop = this.door.listen("/api/events", (event) => {
      this.status(event === "lost" ? "lost" : "live");
      if (event === "studies") this.readSoon();
    });
  }

  close() {
    this.closed = true;
    this.untheme();
    unwatch(this, this.body);
    if (this.stop) this.stop();
    if (this.plot) this.plot.destroy();
  }

  readSoon() {
    if (this.timer) return;
    this.timer = setTimeout(async () => {
      await this.read().catch(() => {});
      this.timer = 0;
    }, COMPARE_PATIENCE);
  }

  async read() {
    const found = new Map();
    const problems = [];
    const { studies } = await this.door.get("/api/studies", {}, { limit: 1000 });
    const times = new Map(studies.map((s) => [s.name, s])); /* created, last */
    for (const name of this.names) {
      try {
        const meta = await this.door.get(studyRoute(name));
        const past = await this.door.get(
          studyRoute(name, "/history"),
          {},
          { points: 0 },
        );
        const { created, last } = times.get(name) || meta;
        found.set(name, { name, meta: { ...meta, created, last }, past });
      } catch (e) {
        problems.push(`${name}: ${e.message}`);
        if (this.studies.has(name)) found.set(name, this.studies.get(name));
      }
    }
    if (this.closed) return;
    /* At once: a new width may draw while some are still on their way. */
    this.studies = found;
    this.problems = problems;
    redraw(this);
  }

  makeControls() {
    const groups = new Set([...this.studies.keys()].map(stemOf));
    const parts = [
      switcher(
        "x axis",
        [
          ["trial", "by trial"],
          ["time", "by time"],
        ],
        "trial",
        (v) => {
          this.by = v;
          redraw(this);
        },
      ),
    ];
    if (groups.size < this.studies.size)
      parts.push(
        switcher(
          "repeats",
          [
            ["each", "each study"],
            ["median", "median and band"],
          ],
          "each",
          (v) => {
            this.grouped = v === "median";
            redraw(this);
          },
        ),
      );
    fill(this.controls, parts);
  }

  stepsOf({ meta, past }) {
    const begin = meta.created || (past.best.length > 0 ? past.best[0][2] : 0);
    const x = past.best.map((b) =>
      this.by === "trial" ? b[0] : Math.max(0, b[2] - begin),
    );
    /* Results may come in another order than they were asked for. */
    const order = x.map((_, i) => i).sort((a, b) => x[a] - x[b]);
    const sign = meta.direction === "maximize" ? -1 : 1;
    const steps = { x: [], y: [] };
    for (const i of order) {
      const y = past.best[i][1];
      if (steps.y.length > 0 && sign * y >= sign * steps.y.at(-1)) continue;
      steps.x.push(x[i]);
      steps.y.push(y);
    }
    const last =
      this.by === "trial" ? Math.max(0, meta.count - 1) : (meta.last || begin) - begin;
    return { ...steps, end: Math.max(last, steps.x.at(-1) || 0) };
  }

  /* {label, names, columns: one function, or median, low and high} */
  lines() {
    const studies = [...this.studies.values()];
    if (!this.grouped)
      return studies.map((s) => ({
        label: s.name,
        members: [s],
        parts: [this.stepsOf(s)],
      }));
    const groups = new Map();
    for (const s of studies) {
      const stem = stemOf(s.name);
      groups.set(stem, [...(groups.get(stem) || []), s]);
    }
    return [...groups].map(([stem, members]) => {
      const q = quartiles(members.map((s) => this.stepsOf(s)));
      const part = (y) => ({ x: q.x, y, end: q.end });
      const parts = [part(q.median), part(q.low), part(q.high)];
      return { label: stem, members, parts };
    });
  }

  draw() {
    const lines = this.lines();
    if (lines.length === 0) {
      fill(this.body, el("p", { class: "empty" }, this.problems.join("; ")));
      return;
    }
    const series = [];
    const bands = [];
    const all = [];
    lines.forEach((line, i) => {
      line.index = i;
      const colour = () => inks().curve(i).colour;
      const shown = !this.hidden.has(line.label);
      const { dash } = inks().curve(i);
      series.push({ ...lineSeries(line.label, colour, dash, 2), show: shown });
      all.push(line.parts[0]);
      if (line.parts.length < 3) return;
      for (const part of line.parts.slice(1)) {
        series.push({
          ...lineSeries("quartile", () => "transparent", [], 0),
          show: shown,
        });
        all.push(part);
      }
      bands.push({
        series: [series.length, series.length - 1],
        fill: () => `${colour()}2b`,
      });
    });
    this.make(alignSteps(all), series, bands);
    this.putLegend(lines);
    this.putNote(lines);
  }

  make(data, series, bands) {
    if (this.plot) this.plot.destroy();
    fill(this.body);
    const last = data[0].length > 0 ? data[0].at(-1) : 1;
    const options = lineOptions({
      width: this.width,
      height: COMPARE_HEIGHT,
      xLabel: this.by === "trial" ? "trial" : "time since the study began",
      xRange: () => [0, Math.max(last, 1e-6)],
      xText: this.by === "time" ? (v) => duration(v) : undefined,
      yScale: {},
      series,
      bands,
      hooks: { setCursor: [(u) => this.tip(u)] },
    });
    this.plot = plotInto(
      this.body,
      options,
      data,
      "Best values so far of several studies.",
    );
    this.plot.over.addEventListener("pointermove", (e) => (this.pointer = e));
    this.plot.over.addEventListener("pointerleave", hideTip);
  }

  tip(u) {
    const at = u.cursor.idx;
    if (at === null || at === undefined || !this.pointer || u.cursor.left < 0)
      return hideTip();
    const x = u.data[0][at];
    const lines = [
      el("b", {}, this.by === "trial" ? `trial ${count(x)}` : duration(x)),
    ];
    const table = el("dl", {});
    u.series.forEach((s, i) => {
      if (i > 0 && s.show && s.label !== "quartile")
        table.append(el("dt", {}, s.label), el("dd", {}, number(u.data[i][at], 6)));
    });
    lines.push(table);
    showTip(this.pointer, lines);
  }

  /* A table that is the legend, too. */
  putLegend(lines) {
    const rows = lines.map((line) => {
      const { colour, dash } = inks().curve(line.index);
      const sign = swatch(colour, dash);
      const toggle = el(
        "button",
        {
          type: "button",
          "aria-pressed": String(!this.hidden.has(line.label)),
          "aria-label": `show ${line.label}`,
        },
        sign,
      );
      toggle.addEventListener("click", () => {
        if (!this.hidden.delete(line.label)) this.hidden.add(line.label);
        redraw(this);
      });
      const values = line.parts[0].y;
      const one = line.members.length === 1 ? line.members[0] : null;
      const name = one
        ? el("a", { href: `#/study/${encode(one.name)}` }, line.label)
        : `${line.label} (${line.members.length} repeats)`;
      const trials = line.members.reduce((n, s) => n + s.meta.count, 0);
      return el(
        "tr",
        {},
        el("td", {}, toggle),
        el("th", { scope: "row" }, name),
        el("td", { class: "right" }, values.length > 0 ? number(values.at(-1)) : "–"),
        el("td", { class: "right" }, count(trials)),
        el("td", { class: "c5" }, line.members[0].meta.sampler),
      );
    });
    const head = el(
      "tr",
      {},
      el("td", {}),
      ["study", "best", "trials", "sampler"].map((t, i) =>
        el(
          "th",
          { scope: "col", class: i === 1 || i === 2 ? "right" : i === 3 ? "c5" : "" },
          t,
        ),
      ),
    );
    fill(
      this.legend,
      el("table", { class: "studies" }, el("thead", {}, head), el("tbody", {}, rows)),
    );
  }

  putNote(lines) {
    const ways = new Set([...this.studies.values()].map((s) => s.meta.direction));
    const parts = [
      ways.size > 1
        ? "directions differ"
        : [...ways][0] === "maximize"
          ? "maximised"
          : "minimised",
    ];
    if (lines.some((l) => l.parts.length > 1))
      parts.push("line: median of repeats, band: quartiles");
    parts.push(...this.problems);
    this.note.textContent = parts.join("; ");
  }
}

function swatch(colour, dash) {
  const canvas = el("canvas", {
    width: 56,
    height: 16,
    class: "swatch",
    "aria-hidden": "true",
  });
  const g = canvas.getContext("2d");
  g.scale(2, 2);
  g.strokeStyle = colour;
  g.lineWidth = 2.5;
  g.setLineDash(dash);
  g.beginPath();
  g.moveTo(0, 4);
  g.lineTo(28, 4);
  g.stroke();
  return canvas;
}
