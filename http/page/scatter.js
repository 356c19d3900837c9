/* scatter.js - any two of value and metrics against each other: bounds of constraints,
 * what breaks them as rings, and the Pareto front of the rest. */
import { axisBelow, axisLeft, dots, fitText, hair, markBest } from "./sheet.js";
import { markPicked, rings, Sheet } from "./sheet.js";
import { hoverTrials, nearestOf, Panel } from "./panel.js";
import { inks, onTheme } from "./theme.js";
import { chooser, el, fill } from "./dom.js";
import { NumberScale, valueRange } from "./scale.js";
import { many } from "./numbers.js";
import { redraw } from "./schedule.js";
import { orderBy, thin } from "./trials.js";

const SCATTER_HEIGHT = 340;
const SCATTER_BOX = { left: 70, right: 14, top: 10, bottom: 44 };
const SCATTER_MOST_POINTS = 4000;
const BOUND = /^\s*`?(.*?)`?\s*(<=|>=|<|>)\s*([-+0-9.eE]+)\s*$/;

/* {name, sense: 1 small is good or -1, bound} */
export function parseConstraint(text) {
  const parts = BOUND.exec(text);
  if (!parts || Number.isNaN(Number(parts[3]))) return null;
  return {
    name: parts[1],
    sense: parts[2][0] === "<" ? 1 : -1,
    bound: Number(parts[3]),
  };
}

/* Rows that no other row beats in both; a and b as if small is good. */
export function paretoFront(rows, a, b) {
  const keys = new Float64Array(rows.length);
  rows.forEach((row, i) => (keys[i] = a(row)));
  const front = [];
  let least = Infinity;
  for (const i of orderBy(keys)) {
    const row = rows[i];
    if (!(b(row) < least)) continue;
    least = b(row);
    if (front.length > 0 && a(front.at(-1)) === a(row)) front.pop();
    front.push(row);
  }
  return front;
}

export class ScatterPanel extends Panel {
  constructor(study) {
    super(study, "Metrics and constraints", "half");
    this.sheet = new Sheet("", SCATTER_HEIGHT);
    this.body.append(this.sheet.canvas);
    this.bounds = (study.meta.constraints || []).map(parseConstraint).filter(Boolean);
    this.senses = new Map();
    this.ranges = new Map(); /* of axes, as long as the trials are the same */
    this.rows = [];
    hoverTrials(study, this.sheet.canvas, (x, y) =>
      nearestOf(this.xs, this.ys, this.rows, this.rows.length, x, y),
    );
    study.on("data", () => this.offer());
    this.listen("data", "mask", "pick");
    this.untheme = onTheme(() => redraw(this));
    this.show(false);
    this.offer();
  }

  close() {
    super.close();
    this.untheme();
  }

  /* The axes that there are; a constrained metric first. */
  offer() {
    const { study } = this;
    const axes = study.axes().filter((a) => a.key === "value" || a.key[0] === "m");
    const signature = axes.map((a) => a.key).join("\n");
    if (signature === this.signature || axes.length < 2) return;
    this.signature = signature;
    const bounded = axes.find((a) => this.bounds.some((b) => `m${b.name}` === a.key));
    this.a = this.a || (bounded || axes[1]).key;
    this.b = this.b || "value";
    const names = axes.map((a) => [a.key, a.label]);
    const choose = (which) => (key) => {
      this[which] = key;
      this.putSenses();
      redraw(this);
    };
    this.sensesBox = el("div", { class: "switcher" });
    fill(
      this.controls,
      chooser("x", names, this.a, choose("a")),
      chooser("y", names, this.b, choose("b")),
      this.sensesBox,
    );
    this.putSenses();
    this.show(true);
  }

  /* Buttons that say which way is good, where nothing else does. */
  putSenses() {
    const button = (which) => {
      const key = this[which];
      const up = this.sense(key) < 0;
      const text = `${which === "a" ? "x" : "y"}: ${up ? "large" : "small"} is good`;
      return el(
        "button",
        {
          type: "button",
          disabled: key === "value",
          onclick: () => {
            this.senses.set(key, up ? 1 : -1);
            this.putSenses();
            redraw(this);
          },
        },
        text,
      );
    };
    fill(this.sensesBox, button("a"), button("b"));
  }

  sense(key) {
    if (key === "value") return this.study.sign;
    const bound = this.bounds.find((b) => `m${b.name}` === key);
    return this.senses.get(key) || (bound ? bound.sense : 1);
  }

  scaleFor(key, column) {
    const known = this.ranges.get(key);
    const version = `${this.study.version} ${this.sense(key)}`;
    if (known && known.version === version) return new NumberScale(...known.range);
    const values = [];
    for (let i = 0; i < this.study.trials.n; i++)
      if (Number.isFinite(column[i]) && this.study.isComplete(i))
        values.push(column[i]);
    for (const b of this.bounds) if (`m${b.name}` === key) values.push(b.bound);
    const range = valueRange(new Float64Array(values).sort(), -this.sense(key));
    this.ranges.set(key, { version, range });
    return new NumberScale(...range);
  }

  draw() {
    const { study } = this;
    if (!this.a) return;
    const g = this.sheet.start(this.width);
    const [ca, cb] = [study.column(this.a), study.column(this.b)];
    this.x = this.scaleFor(this.a, ca).span(
      SCATTER_BOX.left,
      this.width - SCATTER_BOX.right,
    );
    this.y = this.scaleFor(this.b, cb).span(
      SCATTER_HEIGHT - SCATTER_BOX.bottom,
      SCATTER_BOX.top,
    );
    axisLeft(g, this.y, SCATTER_BOX.left, this.width - SCATTER_BOX.right, 6);
    axisBelow(g, this.x, SCATTER_HEIGHT - SCATTER_BOX.bottom, 5);
    this.names(g);
    this.limits(g);
    const clampX = (v) => Math.max(this.x.from, Math.min(this.x.to, this.x.at(v)));
    const clampY = (v) => Math.max(this.y.to, Math.min(this.y.from, this.y.at(v)));
    this.px = (r) => clampX(ca[r]);
    this.py = (r) => clampY(cb[r]);
    const has = (r) =>
      study.isComplete(r) && Number.isFinite(ca[r]) && Number.isFinite(cb[r]);
    this.points(g, study.order.filter(has));
    const front = this.front(
      g,
      study.order.filter((r) => has(r) && study.mask[r]),
      ca,
      cb,
    );
    for (const [row, mark] of [
      [study.bestRow, markBest],
      [study.picked, markPicked],
    ])
      if (row >= 0 && has(row)) mark(g, this.px(row), this.py(row));
    const limits =
      this.bounds.length > 0 ? `; ${study.meta.constraints.join(", ")}` : "";
    this.say(`${many(front, "trial")} on the Pareto front${limits}`);
    this.sheet.describe(
      `${this.label(this.a)} and ${this.label(this.b)}: ${this.note.textContent}`,
    );
  }

  label(key) {
    return key === "value" ? this.study.meta.objective || "value" : key.slice(1);
  }

  names(g) {
    g.fillStyle = inks().ink;
    g.textAlign = "center";
    g.textBaseline = "alphabetic";
    const middle = (SCATTER_BOX.left + this.width - SCATTER_BOX.right) / 2;
    g.fillText(
      fitText(g, this.label(this.a), this.width - 160),
      middle,
      SCATTER_HEIGHT - 6,
    );
    g.save();
    g.translate(11, (SCATTER_HEIGHT - SCATTER_BOX.bottom + SCATTER_BOX.top) / 2);
    g.rotate(-Math.PI / 2);
    g.fillText(fitText(g, this.label(this.b), SCATTER_HEIGHT - 80), 0, 0);
    g.restore();
  }

  /* What constraints forbid is shaded. */
  limits(g) {
    const ink = inks();
    const { from: x0, to: x1 } = this.x;
    const { from: y1, to: y0 } = this.y;
    for (const b of this.bounds) {
      g.fillStyle = ink.apart;
      g.globalAlpha = 0.35;
      if (`m${b.name}` === this.a) {
        const x = Math.max(x0, Math.min(x1, this.x.at(b.bound)));
        if (b.sense > 0) g.fillRect(x, y0, x1 - x, y1 - y0);
        else g.fillRect(x0, y0, x - x0, y1 - y0);
      }
      if (`m${b.name}` === this.b) {
        const y = Math.max(y0, Math.min(y1, this.y.at(b.bound)));
        if (b.sense > 0) g.fillRect(x0, y0, x1 - x0, y - y0);
        else g.fillRect(x0, y, x1 - x0, y1 - y);
      }
      g.globalAlpha = 1;
    }
  }

  points(g, rows) {
    const { study } = this;
    const { trials, mask } = study;
    const ink = inks();
    const put = (chosen, radius, colour) => {
      const some = thin(chosen, SCATTER_MOST_POINTS);
      const xs = Float32Array.from(some, this.px);
      const ys = Float32Array.from(some, this.py);
      dots(g, xs, ys, some.length, radius, colour);
      return { some, xs, ys };
    };
    if (study.isFiltered)
      put(
        rows.filter((r) => !mask[r]),
        1.5,
        ink.faint,
      );
    const broken = rows.filter((r) => mask[r] && trials.feasible[r] === 0);
    const apart = [...thin(broken, SCATTER_MOST_POINTS)];
    g.lineWidth = hair(g);
    rings(g, apart.map(this.px), apart.map(this.py), apart.length, 2.5, ink.quiet);
    const on = put(
      rows.filter((r) => mask[r] && trials.feasible[r] !== 0),
      rows.length > 2000 ? 1.5 : 2.5,
      ink.pale,
    );
    this.rows = [...on.some, ...apart];
    this.xs = Float32Array.from(this.rows, this.px);
    this.ys = Float32Array.from(this.rows, this.py);
  }

  front(g, rows, ca, cb) {
    const [sa, sb] = [this.sense(this.a), this.sense(this.b)];
    const kept = rows.filter((r) => this.study.trials.feasible[r] !== 0);
    const front = paretoFront(
      kept,
      (r) => sa * ca[r],
      (r) => sb * cb[r],
    );
    const ink = inks();
    g.strokeStyle = ink.shade(0.75);
    g.lineWidth = 1.5;
    g.beginPath();
    let last = null;
    for (const r of front) {
      if (last !== null) g.lineTo(this.px(r), last);
      g.lineTo(this.px(r), this.py(r));
      last = this.py(r);
    }
    g.stroke();
    const xs = Float32Array.from(front, this.px);
    const ys = Float32Array.from(front, this.py);
    dots(g, xs, ys, front.length, 3.2, ink.shade(0.75));
    return front.length;
  }
}
