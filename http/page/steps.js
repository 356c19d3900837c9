/* steps.js - intermediate values: one line for each trial that reported some, the best
 * one marked, those of selected trials dark. */
import { axisBelow, axisLeft, dots, hair, Sheet } from "./sheet.js";
import { hoverTrials, nearestOf, Panel } from "./panel.js";
import { inks, onTheme } from "./theme.js";
import { NumberScale, valueRange } from "./scale.js";
import { COMPLETE, STATES } from "./trials.js";
import { many } from "./numbers.js";
import { redraw } from "./schedule.js";

const STEPS_HEIGHT = 280;
const STEPS_BOX = { left: 64, right: 12, top: 10, bottom: 34 };
const STEPS_PATIENCE = 1500;

export class StepsPanel extends Panel {
  constructor(study) {
    super(study, "Intermediate values", "half");
    this.sheet = new Sheet("", STEPS_HEIGHT);
    this.body.append(this.sheet.canvas);
    this.show(false);
    this.rows = [];
    hoverTrials(study, this.sheet.canvas, (x, y) =>
      nearestOf(this.xs, this.ys, this.rows, this.rows.length, x, y),
    );
    this.listen("mask", "pick");
    study.on("data", () => this.ask());
    this.untheme = onTheme(() => redraw(this));
  }

  close() {
    super.close();
    this.untheme();
  }

  async ask() {
    const { study } = this;
    if (study.trials.reported.size === 0 || this.asking) return;
    if (this.asked === study.trials.seq) return;
    this.asking = true;
    this.asked = study.trials.seq;
    try {
      this.doc = await study.get("/intermediate", {}, { trials: 60, points: 200 });
      this.show(this.doc.trials.length > 0);
      redraw(this);
    } catch {
      this.doc = this.doc || null;
    }
    setTimeout(() => {
      this.asking = false;
      if (!study.closed) this.ask();
    }, STEPS_PATIENCE);
  }

  scales() {
    const values = [];
    let last = 1;
    for (const t of this.doc.trials) {
      values.push(...t.values.filter((v) => v !== null));
      last = Math.max(last, t.steps[t.steps.length - 1] || 0);
    }
    const sorted = Float64Array.from(values).sort();
    const range = valueRange(sorted, -this.study.sign);
    this.y = new NumberScale(...range).span(
      STEPS_HEIGHT - STEPS_BOX.bottom,
      STEPS_BOX.top,
    );
    this.x = new NumberScale(0, last).span(
      STEPS_BOX.left,
      this.width - STEPS_BOX.right,
    );
  }

  draw() {
    if (!this.doc) return;
    const g = this.sheet.start(this.width);
    this.scales();
    axisLeft(g, this.y, STEPS_BOX.left, this.width - STEPS_BOX.right, 5);
    axisBelow(g, this.x, STEPS_HEIGHT - STEPS_BOX.bottom, 6);
    [this.xs, this.ys, this.rows] = [[], [], []];
    g.save();
    g.beginPath();
    g.rect(
      STEPS_BOX.left,
      STEPS_BOX.top,
      this.width - STEPS_BOX.left,
      STEPS_HEIGHT - STEPS_BOX.top - STEPS_BOX.bottom + 2,
    );
    g.clip();
    const { study } = this;
    const strength = (t) => this.strengthOf(study.trials.rows.get(t.number));
    const sorted = [...this.doc.trials].sort((a, b) => strength(a) - strength(b));
    for (const t of sorted) this.line(g, t);
    g.restore();
    const { total, trials } = this.doc;
    const some = trials.length < total ? `${trials.length} of ` : "";
    this.say(
      `${some}${many(total, "trial")} that reported, the best ones strong; x: step`,
    );
    this.sheet.describe(`Intermediate values of ${this.note.textContent}`);
  }

  /* Faint where it is not selected; the best and the picked one on top. */
  strengthOf(row) {
    const { study } = this;
    if (row === undefined || !study.mask[row]) return -1;
    if (row === study.picked) return 3;
    if (row === study.bestRow) return 2;
    return Number.isNaN(study.good[row]) ? 0 : study.good[row];
  }

  line(g, t) {
    const ink = inks();
    const row = this.study.trials.rows.get(t.number);
    const strength = this.strengthOf(row);
    g.strokeStyle =
      strength < 0
        ? ink.faint
        : strength === 3
          ? ink.ink
          : strength === 2
            ? ink.marked
            : ink.shade(0.12 + 0.6 * strength ** 2);
    g.lineWidth = strength >= 2 ? 2.4 : hair(g);
    const ended = t.state === "complete" || t.state === COMPLETE;
    g.setLineDash(ended ? [] : t.state === STATES[1] ? [2, 3] : [6, 3]);
    g.beginPath();
    t.steps.forEach((step, i) => {
      if (t.values[i] === null) return;
      const [x, y] = [this.x.at(step), this.y.at(t.values[i])];
      g.lineTo(x, y);
      if (row === undefined || strength < 0) return;
      this.xs.push(x);
      this.ys.push(y);
      this.rows.push(row);
    });
    g.stroke();
    g.setLineDash([]);
    if (t.steps.length > 1 || t.values[0] === null) return;
    const [x, y] = [this.x.at(t.steps[0]), this.y.at(t.values[0])];
    dots(g, [x], [y], 1, strength >= 2 ? 4 : 2.4, g.strokeStyle);
  }
}
