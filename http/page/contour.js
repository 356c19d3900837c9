/* contour.js - what the model says over two parameters, the others as in the best
 * trial: shades between the points of a grid, lines of equal value, and the trials on
 * top. */
import { axisBelow, axisLeft, dots, fitText, hair, markBest } from "./sheet.js";
import { markPicked, Sheet } from "./sheet.js";
import { hoverTrials, nearestOf, Panel } from "./panel.js";
import { isCategory, NumberScale, parameterScale } from "./scale.js";
import { askModel, jitter } from "./slices.js";
import { chooser, el, fill, switcher } from "./dom.js";
import { inks, onTheme } from "./theme.js";
import { number } from "./numbers.js";
import { redraw } from "./schedule.js";
import { thin } from "./trials.js";

const CONTOUR_HEIGHT = 340;
const CONTOUR_BOX = { left: 64, right: 76, top: 10, bottom: 44 };
const LEVELS = 8;
const CONTOUR_PATIENCE = 8000;
const CONTOUR_MOST_POINTS = 800;
const KINDS = {
  mean: "mean",
  sd: "uncertainty",
  p_feasible: "P(feasible)",
};

/* Between grid points, in units of the grid; the nearest one along categories. */
function sample(rows, u, v, stepU, stepV) {
  const i = stepU ? Math.round(u) : Math.floor(u);
  const j = stepV ? Math.round(v) : Math.floor(v);
  const at = (a, b) => {
    const row = rows[Math.min(b, rows.length - 1)];
    const z = row[Math.min(a, row.length - 1)];
    return z === null ? NaN : z;
  };
  const [s, t] = [stepU ? 0 : u - i, stepV ? 0 : v - j];
  const low = s > 0 ? at(i, j) * (1 - s) + at(i + 1, j) * s : at(i, j);
  if (!(t > 0)) return low;
  const high = s > 0 ? at(i, j + 1) * (1 - s) + at(i + 1, j + 1) * s : at(i, j + 1);
  return low * (1 - t) + high * t;
}

/* Where a level crosses the edges of a cell: pairs of points. */
export function isoline(rows, level, put) {
  const cut = (a, b) => (level - a) / (b - a);
  for (let j = 0; j + 1 < rows.length; j++)
    for (let i = 0; i + 1 < rows[j].length; i++) {
      const z = [rows[j][i], rows[j][i + 1], rows[j + 1][i + 1], rows[j + 1][i]];
      if (z.some((v) => v === null)) continue;
      const over = z.map((v) => v > level);
      const found = [];
      if (over[0] !== over[1]) found.push([i + cut(z[0], z[1]), j]);
      if (over[1] !== over[2]) found.push([i + 1, j + cut(z[1], z[2])]);
      if (over[2] !== over[3]) found.push([i + cut(z[3], z[2]), j + 1]);
      if (over[3] !== over[0]) found.push([i, j + cut(z[0], z[3])]);
      for (let k = 0; k + 1 < found.length; k += 2) put(found[k], found[k + 1]);
    }
}

export class ContourPanel extends Panel {
  constructor(study) {
    super(study, "Two parameters", "two-thirds");
    this.sheet = new Sheet("", CONTOUR_HEIGHT);
    this.message = el("p", { class: "empty" });
    this.body.append(this.message, this.sheet.canvas);
    this.kind = "mean";
    this.a = 0;
    this.b = Math.min(1, study.parameters.length - 1);
    this.rows = [];
    this.makeControls();
    hoverTrials(study, this.sheet.canvas, (x, y) =>
      nearestOf(this.xs, this.ys, this.rows, this.rows.length, x, y),
    );
    this.listen("data", "mask", "pick");
    study.on("importances", () => this.takeImportant());
    this.untheme = onTheme(() => redraw(this));
  }

  close() {
    super.close();
    this.untheme();
  }

  makeControls() {
    const names = this.study.parameters.map((p, i) => [String(i), p.name]);
    const choose = (which) => (value) => {
      this.chosen = true;
      this[which] = Number(value);
      this.model = null;
      this.asked = undefined;
      redraw(this);
    };
    fill(
      this.controls,
      chooser("x", names, String(this.a), choose("a")),
      chooser("y", names, String(this.b), choose("b")),
      switcher("what", Object.entries(KINDS), this.kind, (v) => {
        this.kind = v;
        redraw(this);
      }),
    );
  }

  /* The two most important ones, until somebody chooses. */
  takeImportant() {
    if (this.chosen) return;
    const shares = this.study.importances.parameters.map((p) => p.share);
    const by = shares.map((_, i) => i).sort((i, j) => shares[j] - shares[i]);
    const active = by.filter((i) => !this.study.parameters[i].condition);
    const [a, b] = active.length > 1 ? active : by;
    if (b === undefined || (a === this.a && b === this.b)) return;
    [this.a, this.b] = [Math.min(a, b), Math.max(a, b)];
    this.model = null;
    this.asked = undefined;
    this.makeControls();
    redraw(this);
  }

  /* The server wants the two in the order of the space; turned is mean[i][j] for us. */
  async ask() {
    const { study } = this;
    const [first, second] = [Math.min(this.a, this.b), Math.max(this.a, this.b)];
    const key = `${this.a},${this.b},${study.completed}`;
    if (this.asked === key || this.asking || this.a === this.b || study.completed < 2)
      return;
    this.asking = true;
    this.asked = key;
    const [a, b] = [this.a, this.b];
    const stale = () => this.a !== a || this.b !== b;
    let model = null;
    let problem = "";
    try {
      const names = {
        x: study.parameters[first].name,
        y: study.parameters[second].name,
      };
      const doc = await askModel(study, names, 24);
      model = a === first ? doc : turned(doc);
    } catch (e) {
      const absent = "The report has no prediction for these two parameters.";
      problem = e.status === 404 ? absent : e.message;
    }
    if (!stale()) {
      this.model = model;
      this.problem = problem;
    }
    /* What was asked for two others, which somebody has left since, is nobody's. */
    setTimeout(
      () => {
        this.asking = false;
        if (!study.closed) redraw(this);
      },
      stale() ? 0 : model ? Math.min(CONTOUR_PATIENCE, 4000) : 1000,
    );
    if (!study.closed) redraw(this);
  }

  draw() {
    const { study } = this;
    if (this.a === this.b) this.problem = "Choose two different parameters.";
    else if (this.problem === "Choose two different parameters.") this.problem = "";
    const [p, q] = [study.parameters[this.a], study.parameters[this.b]];
    const g = this.sheet.start(this.width);
    this.x = parameterScale(p).span(CONTOUR_BOX.left, this.width - CONTOUR_BOX.right);
    this.y = parameterScale(q).span(
      CONTOUR_HEIGHT - CONTOUR_BOX.bottom,
      CONTOUR_BOX.top,
    );
    if (this.model) this.field(g);
    axisLeft(
      g,
      this.y,
      CONTOUR_BOX.left,
      this.model ? CONTOUR_BOX.left : this.width - CONTOUR_BOX.right,
      6,
      56,
    );
    axisBelow(g, this.x, CONTOUR_HEIGHT - CONTOUR_BOX.bottom, isCategory(p) ? 12 : 5);
    this.names(g, p, q);
    this.points(g);
    this.message.textContent = this.problem || "";
    this.message.hidden = !this.problem;
    const kind = KINDS[this.kind];
    const rest = this.model && `the other parameters as in trial ${this.model.number}`;
    this.say(
      this.model ? `${kind} by the model, ${rest}` : "trials over two parameters",
    );
    this.sheet.describe(`${p.name} and ${q.name}: ${this.note.textContent}`);
    this.ask();
  }

  names(g, p, q) {
    g.fillStyle = inks().ink;
    g.textAlign = "center";
    g.textBaseline = "alphabetic";
    const middle = (CONTOUR_BOX.left + this.width - CONTOUR_BOX.right) / 2;
    g.fillText(fitText(g, p.name, this.width - 160), middle, CONTOUR_HEIGHT - 6);
    g.save();
    g.translate(11, (CONTOUR_HEIGHT - CONTOUR_BOX.bottom + CONTOUR_BOX.top) / 2);
    g.rotate(-Math.PI / 2);
    g.fillText(fitText(g, q.name, CONTOUR_HEIGHT - 80), 0, 0);
    g.restore();
  }

  /* Strength of the shade of z: dark is good, uncertain or likely feasible. */
  strength() {
    if (this.kind === "p_feasible") return { low: 0, high: 1, of: (z) => z };
    const flat = this.model[this.kind].flat().filter((z) => z !== null);
    let [low, high] = [Math.min(...flat), Math.max(...flat)];
    if (!(high > low)) high = low + 1;
    const t = (z) => (z - low) / (high - low);
    const turn = this.kind === "mean" && this.study.sign > 0;
    return { low, high, of: turn ? (z) => 1 - t(z) : t };
  }

  field(g) {
    const rows = this.model[this.kind];
    if (!rows || !Array.isArray(rows[0])) return;
    const how = this.strength();
    const [w, h] = [
      this.width - CONTOUR_BOX.left - CONTOUR_BOX.right,
      CONTOUR_HEIGHT - CONTOUR_BOX.top - CONTOUR_BOX.bottom,
    ];
    this.shadeField(g, rows, how, w, h);
    const numeric =
      !isCategory(this.study.parameters[this.a]) &&
      !isCategory(this.study.parameters[this.b]);
    if (numeric) this.lines(g, rows, how, w, h);
    this.bar(g, how);
  }

  shadeField(g, rows, how, w, h) {
    const steps = [this.a, this.b].map((i) => isCategory(this.study.parameters[i]));
    const key = [rows, inks(), w];
    if (!this.shaded || key.some((k, i) => k !== this.shaded.key[i]))
      this.shaded = { key, image: this.makeField(rows, how, w, h, steps) };
    g.imageSmoothingEnabled = !steps[0] && !steps[1];
    g.drawImage(this.shaded.image, CONTOUR_BOX.left, CONTOUR_BOX.top, w, h);
  }

  /* At half the resolution. */
  makeField(rows, how, w, h, steps) {
    const ink = inks();
    const [nx, ny] = [rows[0].length, rows.length];
    const [iw, ih] = [Math.ceil(w / 2), Math.ceil(h / 2)];
    const image = new ImageData(iw, ih);
    const grid = (t, n, step) => (step ? t * n - 0.5 : t * (n - 1));
    for (let py = 0; py < ih; py++)
      for (let px = 0; px < iw; px++) {
        const u = grid((px + 0.5) / iw, nx, steps[0]);
        const v = grid(1 - (py + 0.5) / ih, ny, steps[1]);
        const z = sample(rows, Math.max(0, u), Math.max(0, v), steps[0], steps[1]);
        if (Number.isNaN(z)) continue;
        const [r, gr, b] = ink.rgb(0.05 + 0.75 * how.of(z));
        image.data.set([r, gr, b, 255], 4 * (py * iw + px));
      }
    const small = el("canvas", { width: iw, height: ih });
    small.getContext("2d").putImageData(image, 0, 0);
    return small;
  }

  lines(g, rows, how, w, h) {
    const at = ([i, j]) => [
      CONTOUR_BOX.left + (i / (rows[0].length - 1)) * w,
      CONTOUR_BOX.top + h - (j / (rows.length - 1)) * h,
    ];
    g.strokeStyle = inks().ground;
    g.globalAlpha = 0.55;
    g.lineWidth = hair(g);
    g.beginPath();
    for (let k = 1; k < LEVELS; k++)
      isoline(rows, how.low + (k / LEVELS) * (how.high - how.low), (a, b) => {
        g.moveTo(...at(a));
        g.lineTo(...at(b));
      });
    g.stroke();
    g.globalAlpha = 1;
  }

  /* The key to the shades. */
  bar(g, how) {
    const scale = new NumberScale(how.low, how.high).span(
      CONTOUR_HEIGHT - CONTOUR_BOX.bottom,
      CONTOUR_BOX.top,
    );
    const x = this.width - CONTOUR_BOX.right + 14;
    const ink = inks();
    for (let y = CONTOUR_BOX.top; y < CONTOUR_HEIGHT - CONTOUR_BOX.bottom; y++) {
      g.fillStyle = ink.shade(0.05 + 0.75 * how.of(scale.back(y)));
      g.fillRect(x, y, 9, 1.5);
    }
    g.fillStyle = ink.quiet;
    g.textAlign = "left";
    g.textBaseline = "middle";
    for (const tick of scale.ticks(5))
      g.fillText(fitText(g, number(tick.value, 4), 48), x + 13, scale.at(tick.value));
  }

  points(g) {
    const { study } = this;
    const { trials } = study;
    const [ca, cb] = [trials.params[this.a], trials.params[this.b]];
    const has = (r) => !Number.isNaN(ca[r]) && !Number.isNaN(cb[r]);
    const on = study.order.filter(
      (r) => has(r) && study.mask[r] && study.isComplete(r),
    );
    const place = (scale, column, seed) => (r) => {
      const at = scale.at(column[r]);
      return scale.band
        ? at + jitter(trials.number[r] * 2 + seed) * 0.5 * scale.band
        : at;
    };
    const [fx, fy] = [place(this.x, ca, 0), place(this.y, cb, 1)];
    this.rows = thin(on, CONTOUR_MOST_POINTS);
    this.xs = Float32Array.from(this.rows, fx);
    this.ys = Float32Array.from(this.rows, fy);
    const ink = inks();
    dots(g, this.xs, this.ys, this.rows.length, 2.6, ink.ground);
    dots(g, this.xs, this.ys, this.rows.length, 1.7, ink.ink);
    const best = study.bestRow;
    if (best >= 0 && has(best)) markBest(g, fx(best), fy(best));
    if (study.picked >= 0 && has(study.picked))
      markPicked(g, fx(study.picked), fy(study.picked));
  }
}

function turned(doc) {
  const swap = (rows) => rows && rows[0].map((_, i) => rows.map((row) => row[i]));
  return {
    ...doc,
    x: doc.y,
    y: doc.x,
    mean: swap(doc.mean),
    sd: swap(doc.sd),
    p_feasible: swap(doc.p_feasible),
  };
}
