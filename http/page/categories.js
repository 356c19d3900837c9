/* categories.js - which choice was tried when: for each choice a row, for each stretch of
 * trials a cell, the darker the more of its trials took that choice; at the right how
 * often it was tried and its best value. The paper's Figure 2, for a living study. */
import { choiceText, count, number } from "./numbers.js";
import { fitText, Sheet } from "./sheet.js";
import { inks, onTheme } from "./theme.js";
import { isCategory } from "./scale.js";
import { redraw, unwatch, watch } from "./schedule.js";
import { el } from "./dom.js";
import { Panel } from "./panel.js";

const CATEGORIES_ROW = 22;
const HEAD = 20;
const LEFT = 104;
const RIGHT = 126;
const LEAST_CELL = 7; /* pixels */
const MOST_ROWS = 24;

class Chosen {
  constructor(study, index) {
    this.study = study;
    this.index = index;
    this.p = study.parameters[index];
    this.shown = Math.min(MOST_ROWS, this.p.choices.length);
    this.sheet = new Sheet("", HEAD + CATEGORIES_ROW * this.shown + 20);
    const more = this.p.choices.length - this.shown;
    const title = more > 0 ? `${this.p.name} (${more} more choices)` : this.p.name;
    this.root = el("div", { class: "chosen" }, el("h3", {}, title), this.sheet.canvas);
    watch(this, this.root);
  }

  /* counts[k * bins + b]; tried, failed and best of each choice */
  tally(bins) {
    const { study, index } = this;
    const { trials, order, mask, sign } = study;
    const column = trials.params[index];
    const k = this.p.choices.length;
    const all = order.length > 0 ? trials.number[order[order.length - 1]] + 1 : 1;
    const found = {
      all,
      counts: new Float32Array(k * bins),
      sums: new Float32Array(bins),
      tried: new Uint32Array(k),
      best: new Float64Array(k).fill(NaN),
    };
    for (const row of order) {
      const c = column[row];
      if (!mask[row] || Number.isNaN(c)) continue;
      const bin = Math.floor((trials.number[row] * bins) / all);
      found.counts[c * bins + bin]++;
      found.sums[bin]++;
      found.tried[c]++;
      if (trials.counts(row) && !(sign * trials.value[row] >= sign * found.best[c]))
        found.best[c] = trials.value[row];
    }
    return found;
  }

  draw() {
    const ink = inks();
    const { study } = this;
    const g = this.sheet.start(this.width);
    const left = Math.min(LEFT, this.width * 0.28);
    const room = this.width - left - RIGHT;
    const trials = study.order.length;
    const bins = Math.max(1, Math.min(trials, Math.floor(room / LEAST_CELL)));
    const found = this.tally(bins);
    g.textBaseline = "middle";
    g.fillStyle = ink.quiet;
    g.textAlign = "right";
    g.fillText("tried", this.width - 70, HEAD / 2);
    g.fillText("best", this.width - 4, HEAD / 2);
    let best = -1;
    for (let k = 0; k < this.shown; k++)
      if (best < 0 || study.sign * found.best[k] < study.sign * found.best[best])
        if (!Number.isNaN(found.best[k])) best = k;
    for (let k = 0; k < this.shown; k++)
      this.row(g, k, found, bins, left, room, k === best);
    this.below(g, found.all, left, room);
    this.sheet.describe(this.sentence(found));
  }

  row(g, k, found, bins, left, room, isBest) {
    const ink = inks();
    const y = HEAD + k * CATEGORIES_ROW;
    const cell = room / bins;
    g.fillStyle = ink.ink;
    g.textAlign = "right";
    g.fillText(fitText(g, choiceText(this.p.choices[k]), left - 10), left - 8, y + CATEGORIES_ROW / 2);
    for (let b = 0; b < bins; b++) {
      const share = found.counts[k * bins + b] / found.sums[b];
      g.fillStyle = share > 0 ? ink.shade(0.1 + 0.75 * share) : ink.empty || ink.grid;
      g.globalAlpha = share > 0 ? 1 : 0.5;
      const gap = cell > 5 ? 1 : 0;
      g.fillRect(left + b * cell, y + 1.5, cell - gap, CATEGORIES_ROW - 3);
    }
    g.globalAlpha = 1;
    g.fillStyle = ink.quiet;
    g.fillText(count(found.tried[k]), this.width - 70, y + CATEGORIES_ROW / 2);
    g.fillStyle = isBest ? ink.marked : ink.ink;
    g.fillText(number(found.best[k], 4), this.width - 4, y + CATEGORIES_ROW / 2);
  }

  below(g, all, left, room) {
    g.fillStyle = inks().quiet;
    const y = HEAD + this.shown * CATEGORIES_ROW + 11;
    g.textAlign = "left";
    g.fillText("trial 0", left, y);
    g.textAlign = "right";
    g.fillText(count(all - 1), left + room, y);
  }

  sentence(found) {
    const parts = this.p.choices
      .slice(0, this.shown)
      .map((c, k) => `${choiceText(c)} ${count(found.tried[k])} times`);
    return `Choices of ${this.p.name} over time: ${parts.join(", ")}.`;
  }
}

export class CategoriesPanel extends Panel {
  constructor(study) {
    super(study, "Categories over time", "half");
    this.say("the darker, the more of the trials of that time took the choice");
    this.blocks = [];
    study.parameters.forEach((p, i) => {
      if (isCategory(p)) this.blocks.push(new Chosen(study, i));
    });
    this.show(this.blocks.length > 0);
    this.body.append(...this.blocks.map((b) => b.root));
    for (const event of ["data", "mask"])
      study.on(event, () => this.blocks.forEach(redraw));
    this.untheme = onTheme(() => this.blocks.forEach(redraw));
  }
  draw() {}
  close() {
    super.close();
    this.untheme();
    for (const b of this.blocks) unwatch(b, b.root);
  }
}
