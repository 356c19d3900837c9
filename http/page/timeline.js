/* timeline.js - when trials ran: a bar from start to end, in as many lanes as ran at
 * once; and who is at work now. */
import { COMPLETE, FAILED, RUNNING, STATES } from "./trials.js";
import { count, duration, many } from "./numbers.js";
import { hideTip, Panel, showTip, trialLines } from "./panel.js";
import { inks, onTheme } from "./theme.js";
import { pointerOn, Sheet } from "./sheet.js";
import { el, fill } from "./dom.js";
import { NumberScale } from "./scale.js";
import { redraw } from "./schedule.js";

const MOST_LANES = 32;
const FOOT = 26;

/* Each trial goes to the first lane that is free when it starts. Lane i is free from
 * ends[i] on. */
export function assignLanes(rows, started, ended) {
  const ends = [];
  const lanes = new Int32Array(rows.length);
  rows.forEach((row, i) => {
    let lane = ends.findIndex((end) => end <= started[row] + 1e-4);
    if (lane < 0) lane = ends.length < 512 ? ends.push(0) - 1 : 0;
    ends[lane] = ended(row);
    lanes[i] = lane;
  });
  return { lanes, used: ends.length };
}

export class TimelinePanel extends Panel {
  constructor(study) {
    super(study, "Timeline", "half");
    this.sheet = new Sheet("", 120);
    this.workers = el("div", { class: "workers" });
    this.body.append(this.sheet.canvas, this.workers);
    this.sheet.canvas.addEventListener("pointermove", (e) => this.hover(e));
    this.sheet.canvas.addEventListener("pointerleave", hideTip);
    this.sheet.canvas.addEventListener("click", (e) => {
      const row = this.rowAt(...pointerOn(this.sheet.canvas, e));
      if (row >= 0) study.pick(row);
    });
    study.on("data", () => {
      this.laid = null;
      this.askWorkers();
    });
    this.listen("data", "mask", "pick");
    this.untheme = onTheme(() => redraw(this));
  }

  close() {
    super.close();
    this.untheme();
  }

  async askWorkers() {
    if (!this.study.door.live || this.asking) return;
    this.asking = true;
    try {
      this.putWorkers((await this.study.get("/workers")).workers);
    } catch {
      fill(this.workers);
    }
    setTimeout(() => {
      this.asking = false;
    }, 2000);
  }

  putWorkers(workers) {
    if (workers.length === 0) return fill(this.workers);
    const now = Date.now() / 1000;
    const rows = workers
      .slice(0, 50)
      .map((w) =>
        el(
          "tr",
          {},
          el("td", {}, w.host || w.owner, w.process ? ` (${w.process})` : ""),
          el("td", { class: "right" }, String(w.trial)),
          el("td", { class: "right" }, w.since ? duration(now - w.since) : "–"),
          el("td", {}, w.gone || w.left < 0 ? "lost" : "at work"),
        ),
      );
    const head = ["worker", "trial", "for", ""].map((t, i) =>
      el(
        i < 3 ? "th" : "td",
        { scope: i < 3 ? "col" : null, class: i % 3 ? "right" : "" },
        t,
      ),
    );
    fill(
      this.workers,
      el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows)),
    );
  }

  ended(row) {
    const { trials } = this.study;
    if (trials.state[row] === RUNNING) return Infinity;
    return Number.isNaN(trials.finished[row])
      ? trials.started[row]
      : trials.finished[row];
  }

  /* Rows by start, with lanes, and the ends of time. */
  layOut() {
    const { trials } = this.study;
    const rows = [];
    for (let i = 0; i < trials.n; i++) {
      const s = trials.state[i];
      if (trials.started[i] > 0 && (s === RUNNING || s === COMPLETE || s === FAILED))
        rows.push(i);
    }
    rows.sort((a, b) => trials.started[a] - trials.started[b]);
    const { lanes, used } = assignLanes(rows, trials.started, (r) => this.ended(r));
    let first = Infinity;
    let last = -Infinity;
    for (const r of rows) {
      first = Math.min(first, trials.started[r]);
      last = Math.max(last, trials.finished[r] || 0, trials.started[r]);
    }
    const live = this.study.door.live && this.study.states.running > 0;
    if (live) last = Math.max(last, Math.min(Date.now() / 1000, last + 3600));
    this.laid = { rows, lanes, used, first, last: Math.max(last, first + 1e-3) };
  }

  draw() {
    if (!this.laid) this.layOut();
    const { rows, used, first, last } = this.laid;
    this.show(rows.length > 0);
    if (rows.length === 0) return;
    const shown = Math.min(used, MOST_LANES);
    const step = Math.max(6, Math.min(22, Math.floor(220 / shown)));
    this.step = step;
    const height = Math.max(60, shown * step + FOOT + 8);
    const g = this.sheet.start(this.width, height);
    this.x = new NumberScale(0, last - first).span(6, this.width - 10);
    this.bars(g, shown, step);
    this.times(g, height);
    const more = used > shown ? `, the first ${shown} of ${count(used)} shown` : "";
    this.say(
      `${many(used, "trial")} at once at most${more}; ${duration(last - first)} in all`,
    );
    this.sheet.describe(`When trials ran: ${this.note.textContent}`);
  }

  colour(row) {
    const { trials, mask, picked } = this.study;
    const ink = inks();
    if (row === picked) return ink.ink;
    if (!mask[row]) return ink.faint;
    if (trials.state[row] === FAILED) return ink.marked;
    return trials.state[row] === RUNNING ? ink.shade(0.65) : ink.pale;
  }

  /* Bars that would fall onto the same pixel of a lane are one. */
  bars(g, shown, step) {
    const { trials } = this.study;
    const { rows, lanes, first, last } = this.laid;
    const reached = new Float64Array(shown).fill(-1);
    rows.forEach((row, i) => {
      const lane = lanes[i];
      if (lane >= shown) return;
      const from = this.x.at(trials.started[row] - first);
      const to = this.x.at(Math.min(this.ended(row), last) - first);
      if (to < reached[lane] + 0.6) return;
      reached[lane] = to;
      const gap = to - from > 4 ? 1 : 0;
      g.fillStyle = this.colour(row);
      g.fillRect(from, 4 + lane * step + 1, Math.max(0.8, to - from - gap), step - 2);
    });
  }

  times(g, height) {
    const ink = inks();
    const span = this.laid.last - this.laid.first;
    const unit = span > 7200 ? [3600, "h"] : span > 120 ? [60, "min"] : [1, "s"];
    const scale = new NumberScale(0, span / unit[0]).span(this.x.from, this.x.to);
    const y = height - FOOT + 4.5;
    g.strokeStyle = ink.line;
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(scale.from, y);
    g.lineTo(scale.to, y);
    g.stroke();
    g.fillStyle = ink.quiet;
    g.textBaseline = "top";
    const ticks = scale.ticks(Math.max(2, Math.floor(this.width / 90)));
    ticks.forEach((tick, i) => {
      g.textAlign = i === 0 ? "left" : "center";
      const text = i === ticks.length - 1 ? `${tick.text} ${unit[1]}` : tick.text;
      g.fillText(text, Math.min(scale.at(tick.value), scale.to - 16), y + 5);
    });
  }

  rowAt(x, y) {
    if (!this.laid || !this.x) return -1;
    const lane = Math.floor((y - 4) / this.step);
    const time = this.x.back(x) + this.laid.first;
    const slack = (this.laid.last - this.laid.first) / this.width;
    const { rows, lanes } = this.laid;
    for (let i = rows.length - 1; i >= 0; i--) {
      if (lanes[i] !== lane) continue;
      const row = rows[i];
      if (this.study.trials.started[row] > time + slack) continue;
      return this.ended(row) + slack >= time ? row : -1;
    }
    return -1;
  }

  hover(event) {
    const row = this.rowAt(...pointerOn(this.sheet.canvas, event));
    if (row < 0) return hideTip();
    showTip(event, [
      ...trialLines(this.study, row, 6),
      el("div", { class: "quiet" }, STATES[this.study.trials.state[row]]),
    ]);
  }
}
