/* history.js - the value of each trial and the best so far. Points are drawn on uPlot's
 * canvas, one a pixel cell at most, so that 50 000 cost no more than what can be seen.
 * Dragging across selects trials. */
import { alignSteps, lineOptions, lineSeries, plotInto } from "./curves.js";
import { cross, markBest, markPicked } from "./sheet.js";
import { COMPLETE, FAILED, medianSoFar } from "./trials.js";
import { hoverTrials, nearestOf, Panel } from "./panel.js";
import { count, many, number } from "./numbers.js";
import { el, fill, switcher } from "./dom.js";
import { inks, onTheme } from "./theme.js";
import { pixelOf, Pixels } from "./pixels.js";
import { redraw } from "./schedule.js";

const HISTORY_HEIGHT = 320;
const CELL = 2; /* pixels of the screen: of two points in one cell one is drawn */

const MANY = 3000; /* points that are drawn one by one */

export class HistoryPanel extends Panel {
  constructor(study) {
    super(study, "History", "two-thirds");
    this.log = false;
    this.pixels = new Pixels();
    this.controls.append(
      switcher(
        "scale of values",
        [
          ["linear", "linear"],
          ["log", "log"],
        ],
        "linear",
        (v) => {
          this.log = v === "log";
          this.made = null;
          redraw(this);
        },
      ),
    );
    study.on("data", () => {
      this.data = this.placed = null;
    });
    this.listen("data", "mask", "pick");
    this.untheme = onTheme(() => redraw(this));
  }

  close() {
    super.close();
    this.untheme();
    if (this.plot) this.plot.destroy();
  }

  /* Lines: best so far and, where points were repeated, median and quartiles. */
  curves() {
    const { study } = this;
    const { trials, best, sign } = study;
    const end = this.lastNumber();
    const lines = [{ x: best.number, y: best.value, end }];
    if (study.noisy) {
      const m = medianSoFar(trials, study.order, sign);
      if (m.x.length > 0)
        for (const y of [m.median, m.low, m.high]) lines.push({ x: m.x, y, end });
    }
    const data = alignSteps(lines);
    if (data[0].length === 0)
      (data[0].push(0), data.slice(1).forEach((c) => c.push(null)));
    return data;
  }

  lastNumber() {
    const { order, trials } = this.study;
    return order.length > 0 ? trials.number[order[order.length - 1]] : 0;
  }

  yRange() {
    const [low, high] = this.study.range;
    if (!this.logs()) return [low, high];
    const { sorted } = this.study;
    return [sorted[0] * 0.9, sorted[sorted.length - 1] * 1.1];
  }

  logs() {
    return this.log && this.study.sorted.length > 0 && this.study.sorted[0] > 0;
  }

  build(data) {
    const ink = () => inks().marked;
    const series = [lineSeries(this.bestWords(), ink, [], 2)];
    const bands = [];
    if (data.length > 2) {
      const blue = () => inks().shade(0.6);
      series.push(lineSeries("median of repeats", blue, [5, 3], 1.5));
      series.push(lineSeries("quartile", () => "transparent", [], 0));
      series.push(lineSeries("quartile", () => "transparent", [], 0));
      bands.push({ series: [4, 3], fill: () => inks().band });
    }
    if (this.plot) this.plot.destroy();
    fill(this.body);
    const options = lineOptions({
      width: this.width,
      height: HISTORY_HEIGHT,
      brush: true,
      xLabel: "trial",
      xRange: () => [0, Math.max(1, this.lastNumber())],
      yScale: { distr: this.logs() ? 3 : 1, range: () => this.yRange() },
      series,
      bands,
      hooks: {
        drawClear: [(u) => this.drawPoints(u)],
        draw: [(u) => this.drawMarks(u)],
        setSelect: [(u) => this.brushed(u)],
      },
    });
    this.plot = plotInto(this.body, options, data, this.sentence());
    hoverTrials(this.study, this.plot.over, (x, y) =>
      nearestOf(this.xs, this.ys, this.rows, this.shown, x, y),
    );
    this.body.append(this.legend(data.length > 2));
    this.made = `${data.length}|${this.logs()}`;
  }

  /* The smallest of noisy values is luck. */
  bestWords() {
    return this.study.noisy ? "luckiest so far" : "best so far";
  }

  legend(repeated) {
    const key = (kind, text) =>
      el("span", { class: "key" }, el("i", { class: `sign ${kind}` }), text);
    const legend = el("div", { class: "legend" }, key("best-line", this.bestWords()));
    legend.append(key("dot", "trial"));
    const { trials } = this.study;
    const has = (test) => this.study.order.some(test);
    if (repeated) legend.append(key("median-line", "median and quartiles of repeats"));
    if (has((i) => trials.feasible[i] === 0)) legend.append(key("ring", "infeasible"));
    if (has((i) => trials.state[i] === FAILED)) legend.append(key("cross", "failed"));
    legend.append(key("diamond", "best"));
    return legend;
  }

  sentence() {
    const { study } = this;
    const row = study.bestRow;
    if (row < 0) return "No trial is complete yet.";
    const { number: numbers, value } = study.trials;
    const best = `best ${number(value[row])}, trial ${numbers[row]}`;
    return `Values of ${many(study.completed, "complete trial")}; ${best}.`;
  }

  draw() {
    const { study } = this;
    if (study.trials.n === 0) {
      this.made = null;
      if (this.plot) this.plot.destroy();
      this.plot = null;
      return this.empty("No trials yet.");
    }
    const data = this.data || (this.data = this.curves());
    if (this.made !== `${data.length}|${this.logs()}`) this.build(data);
    if (this.plot.width !== this.width)
      this.plot.setSize({ width: this.width, height: HISTORY_HEIGHT });
    this.plot.setData(data);
    this.plot.root.setAttribute("aria-label", this.sentence());
    this.say(this.noteText());
  }

  noteText() {
    const { study } = this;
    const [low, high] = this.yRange();
    const { sorted } = study;
    let beyond = 0;
    for (let i = 0; i < sorted.length; i++)
      if (sorted[i] < low || sorted[i] > high) beyond++;
    const cut = beyond > 0 ? `; ${count(beyond)} beyond the edge` : "";
    const some = study.trials.thinned ? `a sample: ${count(study.completed)} of ` : "";
    const all = study.trials.thinned ? study.states.complete : study.completed;
    const way = study.sign > 0 ? "minimised" : "maximised";
    return `${way}; ${some}${many(all, "complete trial")}${cut}`;
  }

  /* ---- points ------------------------------------------------------------------- */

  /* Pixels of the canvas for a row: {x, y, inside}. */
  places(u) {
    const { left, top, width, height } = u.bbox;
    const [low, high] = this.yRange();
    const log = this.logs();
    const f = log ? Math.log : (v) => v;
    const a = f(low);
    const perValue = height / (f(high) - a);
    const perTrial = width / Math.max(1, this.lastNumber());
    const x = (number) => left + number * perTrial;
    const clamp = (y) => Math.max(top, Math.min(top + height, y));
    const y = (v) => clamp(top + height - (f(v) - a) * perValue);
    const bad = this.study.sign > 0 ? top + 5 : top + height - 5;
    return { x, y, bad };
  }

  /* Where every trial is, as pixels, in their order; its cell is -1 where it has no
   * place. None of it depends on what is selected. */
  placeAll(u) {
    const { trials, order } = this.study;
    const { left, top, width, height } = u.bbox;
    const key = [left, top, width, height, this.logs()].join();
    if (this.placed && this.placed.key === key) return this.placed;
    const at = this.places(u);
    const across = Math.ceil(width / CELL) + 2;
    const cells = across * (Math.ceil(height / CELL) + 2);
    const all = { key, cells, cell: new Int32Array(order.length).fill(-1) };
    all.x = new Float32Array(order.length);
    all.y = new Float32Array(order.length);
    for (let k = 0; k < order.length; k++) {
      const row = order[k];
      const state = trials.state[row];
      if (state !== COMPLETE && state !== FAILED) continue;
      all.x[k] = at.x(trials.number[row]) - left;
      all.y[k] = (state === FAILED ? at.bad : at.y(trials.value[row])) - top;
      all.cell[k] = Math.floor(all.x[k] / CELL) + across * Math.floor(all.y[k] / CELL);
    }
    this.placed = all;
    return all;
  }

  /* Which trials are seen: the first of each cell, what is selected first. */
  place(u) {
    const { mask, order } = this.study;
    const all = this.placeAll(u);
    const taken = new Uint8Array(all.cells);
    const most = Math.min(all.cells, order.length);
    this.xs = new Float32Array(most);
    this.ys = new Float32Array(most);
    this.rows = new Uint32Array(most);
    this.shown = 0;
    for (let pass = 1; pass >= 0; pass--)
      for (let k = 0; k < order.length; k++) {
        const cell = all.cell[k];
        if (mask[order[k]] !== pass || cell < 0 || taken[cell]) continue;
        taken[cell] = 1;
        this.xs[this.shown] = all.x[k];
        this.ys[this.shown] = all.y[k];
        this.rows[this.shown++] = order[k];
      }
  }

  drawPoints(u) {
    this.place(u);
    const { left, top } = u.bbox;
    const g = u.ctx;
    const ratio = devicePixelRatio;
    g.save();
    if (this.shown > MANY) this.paintPixels(g, u.bbox);
    g.translate(left, top);
    this.paint(g, ratio);
    g.restore();
    /* From here on in pixels of CSS, for the pointer. */
    for (let i = 0; i < this.shown; i++) {
      this.xs[i] /= ratio;
      this.ys[i] /= ratio;
    }
  }

  /* Thousands of points: written as pixels, because a rectangle each takes ten times as
   * long. Grid and axes come on top of them. */
  paintPixels(g, { left, top, width, height }) {
    const [x0, y0] = [Math.round(left), Math.round(top)];
    const across = Math.round(width) + 4;
    const ink = inks();
    const words = this.pixels.start(across, Math.round(height) + 4, ink.ground).words;
    const { mask, trials } = this.study;
    const [faint, pale] = [pixelOf(ink.faint), pixelOf(ink.pale)];
    for (let i = this.shown - 1; i >= 0; i--) {
      const row = this.rows[i];
      if (trials.state[row] === FAILED) continue;
      const at = Math.floor(this.xs[i]) + across * Math.floor(this.ys[i]);
      const word = mask[row] ? pale : faint;
      words[at] = words[at + 1] = word;
      words[at + across] = words[at + across + 1] = word;
    }
    this.pixels.put(g, x0 - 1, y0 - 1);
  }

  paint(g, ratio) {
    const ink = inks();
    const { mask, trials } = this.study;
    const r = (this.shown > 400 ? 2 : 2.8) * ratio;
    const few = this.shown <= MANY;
    g.lineWidth = 1;
    for (let i = this.shown - 1; i >= 0; i--) {
      const row = this.rows[i];
      const failed = trials.state[row] === FAILED;
      const broken = trials.feasible[row] === 0;
      if (!failed && !few) continue;
      const loud = failed ? ink.marked : broken ? ink.quiet : ink.pale;
      g.fillStyle = g.strokeStyle = mask[row] ? loud : ink.faint;
      g.beginPath();
      if (failed) cross(g, this.xs[i], this.ys[i], 3 * ratio);
      else g.arc(this.xs[i], this.ys[i], r, 0, 6.2832);
      if (failed || broken) g.stroke();
      else g.fill();
    }
  }

  drawMarks(u) {
    const { study } = this;
    const { trials } = study;
    const at = this.places(u);
    const ratio = devicePixelRatio;
    const put = (row, mark) => {
      if (row < 0 || !study.isComplete(row)) return;
      u.ctx.save();
      u.ctx.translate(at.x(trials.number[row]), at.y(trials.value[row]));
      u.ctx.scale(ratio, ratio);
      mark(u.ctx, 0, 0);
      u.ctx.restore();
    };
    put(study.bestRow, markBest);
    put(study.picked, markPicked);
  }

  brushed(u) {
    const { left, width } = u.select;
    if (width < 4) return;
    const low = Math.ceil(u.posToVal(left, "x"));
    const high = Math.floor(u.posToVal(left + width, "x"));
    u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    if (high >= low) this.study.brush("number", { low, high });
  }
}
