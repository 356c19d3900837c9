/* categories.js - which choice was tried when: for each choice a row, for each stretch
 * of trials a cell, the stronger the more of its trials took that choice; at the right
 * how often it was tried and its best value. The paper's Figure 2, for a living study.
 * */
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
const MOST_ROWS = 12; /* choices, the most tried ones */

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

  /* As the server counted, where the trials here are only a sample of all. */
  told() {
    const { study } = this;
    if (!study.trials.thinned || study.isFiltered || !study.categories) return null;
    const doc = study.categories.parameters.find((p) => p.name === this.p.name);
    const bins = doc.counts[0].length;
    const counts = Float32Array.from(doc.counts.flat());
    const sums = new Float32Array(bins);
    counts.forEach((n, i) => (sums[i % bins] += n));
    const best = Float64Array.from(doc.best, (v) => (v === null ? NaN : v));
    return { all: study.trials.count, bins, counts, sums, tried: doc.tried, best };
  }

  /* counts[k * bins + b]; tried and best of each choice */
  tally(bins) {
    const { study, index } = this;
    const { trials, order, mask, sign } = study;
    const column = trials.params[index];
    const k = this.p.choices.length;
    const all = order.length > 0 ? trials.number[order[order.length - 1]] + 1 : 1;
    const found = {
      all,
      bins,
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
    const fitting = Math.max(1, Math.min(trials, Math.floor(room / LEAST_CELL)));
    const found = this.told() || this.tally(fitting);
    const rows = this.rowsOf(found);
    g.textBaseline = "middle";
    g.fillStyle = ink.quiet;
    g.textAlign = "right";
    g.fillText("tried", this.width - 70, HEAD / 2);
    g.fillText("best", this.width - 4, HEAD / 2);
    const better = (a, b) => study.sign * found.best[a] < study.sign * found.best[b];
    const known = rows.filter((k) => !Number.isNaN(found.best[k]));
    const best = known.reduce((a, b) => (a < 0 || better(b, a) ? b : a), -1);
    rows.forEach((k, line) => this.row(g, k, line, found, left, room, k === best));
    this.below(g, found.all, left, room);
    this.sheet.describe(this.sentence(found));
  }

  /* The most tried choices, in the order of the space. */
  rowsOf({ tried }) {
    const all = this.p.choices.map((_, k) => k);
    const most = [...all]
      .sort((a, b) => tried[b] - tried[a] || a - b)
      .slice(0, this.shown);
    return most.sort((a, b) => a - b);
  }

  row(g, k, line, found, left, room, isBest) {
    const ink = inks();
    const { bins } = found;
    const y = HEAD + line * CATEGORIES_ROW;
    const cell = room / bins;
    g.fillStyle = ink.ink;
    g.textAlign = "right";
    g.fillText(
      fitText(g, choiceText(this.p.choices[k]), left - 10),
      left - 8,
      y + CATEGORIES_ROW / 2,
    );
    for (let b = 0; b < bins; b++) {
      const share = found.counts[k * bins + b] / found.sums[b];
      g.fillStyle = share > 0 ? ink.shade(0.1 + 0.75 * share) : ink.grid;
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
    const parts = this.rowsOf(found).map(
      (k) => `${choiceText(this.p.choices[k])} ${count(found.tried[k])} times`,
    );
    return `Choices of ${this.p.name} over time: ${parts.join(", ")}.`;
  }
}

export class CategoriesPanel extends Panel {
  constructor(study) {
    super(study, "Categories over time", "half");
    this.say("the stronger, the more of the trials of that time took the choice");
    this.blocks = [];
    study.parameters.forEach((p, i) => {
      if (isCategory(p)) this.blocks.push(new Chosen(study, i));
    });
    this.show(this.blocks.length > 0);
    this.body.append(...this.blocks.map((b) => b.root));
    for (const event of ["data", "mask"])
      study.on(event, () => this.blocks.forEach(redraw));
    study.on("data", () => this.ask());
    this.untheme = onTheme(() => this.blocks.forEach(redraw));
  }

  async ask() {
    const { study } = this;
    if (!study.trials.thinned || study.categories || this.blocks.length === 0) return;
    study.categories = await study.get("/categories").catch(() => null);
    this.blocks.forEach(redraw);
  }

  draw() {}
  close() {
    super.close();
    this.untheme();
    for (const b of this.blocks) unwatch(b, b.root);
  }
}
