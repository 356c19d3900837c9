/* slices.js - values against each parameter, early trials light and late ones dark,
 * with what the model expects when that parameter alone moves away from the best trial:
 * its mean, and a band of two deviations. */
import { axisBelow, axisLeft, dots, markBest, markPicked, Sheet } from "./sheet.js";
import { hoverTrials, nearestOf, Panel } from "./panel.js";
import { inks, onTheme } from "./theme.js";
import { isCategory, parameterScale } from "./scale.js";
import { redraw, unwatch, watch } from "./schedule.js";
import { el, fill } from "./dom.js";
import { NumberScale } from "./scale.js";
import { many } from "./numbers.js";
import { among, thin } from "./trials.js";

const SLICES_HEIGHT = 190;
const SLICES_BOX = { left: 54, right: 10, top: 10, bottom: 30 };
const SLICES_MOST_POINTS = 1500;
const MOST_SLICES = 24;
const SLICES_SHADES = 6;
const SLICES_PATIENCE = 4000; /* milliseconds between two questions to the model */

/* Models are asked one question at a time. */
let queue = Promise.resolve();
export function askModel(study, chosen, points) {
  const ask = () =>
    study.closed ? null : study.get("/predictions", chosen, { points });
  const answer = queue.then(ask, ask);
  queue = answer.catch(() => {});
  return answer;
}

/* A number in [-0.5, 0.5) that only depends on the trial: dots of a category spread. */
export function jitter(n) {
  let h = Math.imul(n + 1, 0x9e3779b1);
  h = Math.imul(h ^ (h >>> 15), 0x85ebca6b);
  return (((h ^ (h >>> 13)) >>> 0) % 1024) / 1024 - 0.5;
}

class Slice {
  constructor(study, index) {
    this.study = study;
    this.index = index;
    this.p = study.parameters[index];
    this.sheet = new Sheet("", SLICES_HEIGHT);
    this.title = el("h3", { title: this.p.name }, this.p.name);
    this.root = el("div", { class: "slice" }, this.title, this.sheet.canvas);
    hoverTrials(study, this.sheet.canvas, (x, y) =>
      nearestOf(this.xs, this.ys, this.rows, this.rows.length, x, y),
    );
    this.rows = [];
    watch(this, this.root);
  }

  /* The model is asked again when there are new results, now and then; not where the
   * parameter is inactive at the best trial. */
  askAgain() {
    const { bestRow, completed, trials } = this.study;
    if (bestRow >= 0 && Number.isNaN(trials.params[this.index][bestRow])) return;
    if (this.asked === completed || this.asking || completed < 2) return;
    this.asking = true;
    const wait = this.answeredAt
      ? this.answeredAt + SLICES_PATIENCE - performance.now()
      : 0;
    setTimeout(
      async () => {
        this.asked = this.study.completed;
        try {
          this.model = await askModel(this.study, { x: this.p.name }, 50);
        } catch {
          this.model = null;
        }
        this.answeredAt = performance.now();
        this.asking = false;
        if (!this.study.closed) redraw(this);
      },
      Math.max(0, wait),
    );
  }

  draw() {
    const g = this.sheet.start(this.width);
    const { study } = this;
    this.x = parameterScale(this.p).span(
      SLICES_BOX.left + 6,
      this.width - SLICES_BOX.right - 6,
    );
    this.y = new NumberScale(...study.range).span(
      SLICES_HEIGHT - SLICES_BOX.bottom,
      SLICES_BOX.top,
    );
    axisLeft(
      g,
      this.y,
      SLICES_BOX.left,
      this.width - SLICES_BOX.right,
      4,
      SLICES_BOX.left - 8,
    );
    axisBelow(
      g,
      this.x,
      SLICES_HEIGHT - SLICES_BOX.bottom,
      isCategory(this.p) ? 12 : 4,
    );
    this.place();
    g.save();
    g.beginPath();
    g.rect(
      SLICES_BOX.left,
      SLICES_BOX.top - 4,
      this.width - SLICES_BOX.left - SLICES_BOX.right + 2,
      SLICES_HEIGHT - SLICES_BOX.bottom - SLICES_BOX.top + 8,
    );
    g.clip();
    this.band(g);
    this.points(g);
    this.mean(g);
    g.restore();
    this.marks(g);
    this.sheet.describe(this.sentence());
    this.askAgain();
  }

  sentence() {
    const model = this.model ? " and the model's mean with its band" : "";
    return `Values against ${this.p.name}: ${many(this.rows.length, "trial")}${model}.`;
  }

  px(row) {
    const v = this.study.trials.params[this.index][row];
    const x = this.x.at(v);
    if (!isCategory(this.p)) return x;
    return x + jitter(this.study.trials.number[row]) * 0.5 * this.x.band;
  }

  py(row) {
    const y = this.y.at(this.study.trials.value[row]);
    return Math.max(SLICES_BOX.top, Math.min(SLICES_HEIGHT - SLICES_BOX.bottom, y));
  }

  /* The complete trials that have the parameter, in the order of their numbers. */
  having() {
    const { study } = this;
    if (this.version === study.version) return this.all;
    const column = study.trials.params[this.index];
    const has = (row) => study.isComplete(row) && !Number.isNaN(column[row]);
    this.all = study.order.filter(has);
    this.version = study.version;
    return this.all;
  }

  /* Those that are drawn. */
  place() {
    const { study } = this;
    const off = study.isFiltered ? among(this.having(), study.mask, 0) : [];
    this.off = thin(off, SLICES_MOST_POINTS / 3);
    this.rows = thin(among(this.having(), study.mask, 1), SLICES_MOST_POINTS);
    this.xs = Float32Array.from(this.rows, (row) => this.px(row));
    this.ys = Float32Array.from(this.rows, (row) => this.py(row));
  }

  points(g) {
    const ink = inks();
    const off = { x: Float32Array.from(this.off, (r) => this.px(r)) };
    off.y = Float32Array.from(this.off, (r) => this.py(r));
    dots(g, off.x, off.y, this.off.length, 1.5, ink.faint);
    const n = this.rows.length;
    for (let s = 0; s < SLICES_SHADES; s++) {
      const [a, b] = [
        Math.floor((s * n) / SLICES_SHADES),
        Math.floor(((s + 1) * n) / SLICES_SHADES),
      ];
      const colour = ink.shade(0.15 + (0.6 * s) / (SLICES_SHADES - 1));
      const radius = n > 500 ? 1.6 : 2.4;
      dots(g, this.xs.subarray(a, b), this.ys.subarray(a, b), b - a, radius, colour);
    }
  }

  /* Pixels of what the model says: x, mean, low, high. */
  curve() {
    if (!this.model) return [];
    const { x, mean, sd } = this.model;
    const category = isCategory(this.p);
    const found = [];
    mean.forEach((m, i) => {
      if (m === null) return;
      const s = sd[i] || 0;
      const at = this.x.at(category ? i : x.values[i]);
      found.push([at, this.y.at(m), this.y.at(m - 2 * s), this.y.at(m + 2 * s)]);
    });
    return found;
  }

  band(g) {
    const curve = this.curve();
    g.fillStyle = inks().soft;
    if (isCategory(this.p)) {
      const half = this.x.band * 0.32;
      for (const [x, , low, high] of curve)
        g.fillRect(x - half, Math.min(low, high), 2 * half, Math.abs(high - low));
      return;
    }
    g.beginPath();
    for (const [x, , , high] of curve) g.lineTo(x, high);
    for (const [x, , low] of curve.reverse()) g.lineTo(x, low);
    g.fill();
  }

  mean(g) {
    g.strokeStyle = inks().marked;
    g.lineWidth = 2;
    g.beginPath();
    if (isCategory(this.p))
      for (const [x, y] of this.curve()) {
        g.moveTo(x - this.x.band * 0.32, y);
        g.lineTo(x + this.x.band * 0.32, y);
      }
    else for (const [x, y] of this.curve()) g.lineTo(x, y);
    g.stroke();
  }

  marks(g) {
    const { bestRow, picked, trials } = this.study;
    const has = (row) =>
      row >= 0 &&
      this.study.isComplete(row) &&
      !Number.isNaN(trials.params[this.index][row]);
    if (has(bestRow)) markBest(g, this.px(bestRow), this.py(bestRow));
    if (has(picked)) markPicked(g, this.px(picked), this.py(picked));
  }
}

export class SlicesPanel extends Panel {
  constructor(study) {
    super(study, "Slices");
    this.grid = el("div", { class: "slices" });
    this.body.append(this.grid);
    const dots = "values against each parameter, late trials strong";
    this.say(`${dots}; line and band: the model at the best trial, ± 2 deviations`);
    this.slices = study.parameters.map((_, i) => new Slice(study, i));
    this.all = this.slices.length <= MOST_SLICES;
    this.put(this.slices);
    for (const event of ["data", "mask", "pick"])
      study.on(event, () => this.slices.forEach(redraw));
    this.untheme = onTheme(() => this.slices.forEach(redraw));
    study.on("importances", () => this.reorder());
  }

  put(slices) {
    const shown = this.all ? slices : slices.slice(0, MOST_SLICES);
    fill(
      this.grid,
      shown.map((s) => s.root),
    );
    if (this.all) return;
    const more = el("button", { type: "button" }, `show all ${slices.length}`);
    more.addEventListener("click", () => {
      this.all = true;
      this.put(slices);
    });
    this.grid.append(more);
  }

  /* The most important first. */
  reorder() {
    const share = new Map();
    for (const p of this.study.importances.parameters) share.set(p.name, p.share);
    const of = (s) => share.get(s.p.name) || 0;
    this.put([...this.slices].sort((a, b) => of(b) - of(a)));
  }

  draw() {}

  close() {
    super.close();
    this.untheme();
    for (const s of this.slices) unwatch(s, s.root);
  }
}
