/* parallel.js - one line a trial across value, parameters and metrics, the best ones
 * dark. An axis is brushed by dragging along it, a category also by a click, both by
 * arrow keys; what is brushed here filters every other view. A conditional parameter
 * has a lane below its axis for where it is inactive. */
import { choiceText, many, number } from "./numbers.js";
import { fitText, pointerOn, Sheet } from "./sheet.js";
import { inks, onTheme } from "./theme.js";
import { el, fill, switcher } from "./dom.js";
import { among, FAILED, thin } from "./trials.js";
import { Panel } from "./panel.js";
import { Pixels } from "./pixels.js";
import { redraw } from "./schedule.js";

const TOP = 34;
const AXIS = 280; /* pixels of an axis */
const LANE = 26; /* from the end of an axis to its lane of what is inactive */
const APART = 104; /* least pixels between axes; beyond that the chart scrolls */
const PARALLEL_MOST = 700;
const MOST_BEST = 150; /* of these, the best ones that are always there */
const MOST_CONTEXT = 250;
const MOST_FAILED = 120;
const DRAGGED = 0.4; /* share of these lines while an axis is being brushed */
const PARALLEL_SHADES = 16;
const BRUSH_HALF = 8;

export class ParallelPanel extends Panel {
  constructor(study) {
    super(study, "Parallel coordinates");
    this.sheet = new Sheet("", TOP + AXIS + LANE + 16);
    this.pixels = new Pixels();
    this.strips = el("div", { class: "strips" });
    this.frame = el("div", { class: "frame" }, this.sheet.canvas, this.strips);
    this.scroller = el("div", { class: "scroller", tabindex: "0", role: "group" });
    this.scroller.setAttribute("aria-label", "axes, may scroll sideways");
    this.scroller.append(this.frame);
    this.body.append(this.scroller);
    this.metrics = false;
    this.listen("data", "mask", "pick");
    this.untheme = onTheme(() => redraw(this));
  }

  close() {
    super.close();
    this.untheme();
  }

  /* Axes to draw; metrics only when asked for, or when constraints are on them. */
  wanted() {
    const bounds = (this.study.meta.constraints || []).join(" ");
    return this.study.axes().filter(({ key, label }) => {
      if (key[0] !== "m") return true;
      return this.metrics || bounds.includes(label);
    });
  }

  /* ---- layout ------------------------------------------------------------------- */

  layOut() {
    const axes = this.wanted();
    const signature = axes.map((a) => a.key).join("\n") + `|${this.width}`;
    const width = Math.max(this.width, axes.length * APART);
    const gap = (width - 110) / Math.max(1, axes.length - 1);
    axes.forEach((axis, i) => {
      axis.x = axes.length === 1 ? 60 : 44 + i * gap;
      axis.room = gap;
      axis.scale = this.study.scaleOf(axis.key).span(TOP + AXIS, TOP);
      axis.column = this.study.column(axis.key);
      axis.category = this.study.isCategory(axis.key);
      axis.p = this.study.parameterOf(axis.key);
      axis.lane = axis.p ? Boolean(axis.p.condition) : true;
    });
    this.axes = axes;
    this.full = width;
    if (signature === this.signature) return;
    this.signature = signature;
    this.makeStrips();
    if (this.study.metricNames.length > 0 && !this.controls.firstChild)
      this.controls.append(
        switcher(
          "axes",
          [
            ["few", "parameters"],
            ["all", "and metrics"],
          ],
          "few",
          (v) => {
            this.metrics = v === "all";
            redraw(this);
          },
        ),
      );
  }

  /* Where a row crosses an axis. Lines of a category fan out over its band, the best on
   * top, so that how many they are is seen. */
  y(axis, row) {
    const v = axis.column[row];
    if (Number.isNaN(v)) return TOP + AXIS + LANE;
    const at = axis.scale.at(v);
    if (!axis.category) return Math.max(TOP - 6, Math.min(TOP + AXIS + 6, at));
    const good = this.study.good[row];
    return at - ((Number.isNaN(good) ? 0 : good) - 0.5) * 0.55 * axis.scale.band;
  }

  /* ---- drawing ------------------------------------------------------------------ */

  draw() {
    const { study } = this;
    if (study.trials.n === 0) return this.say("No trials yet.");
    this.layOut();
    const g = this.sheet.start(this.full);
    this.frame.style.width = `${this.full}px`;
    const { on, off, failed } = this.choose();
    const ink = inks();
    const { canvas } = this.sheet;
    this.pixels.start(canvas.width, canvas.height, ink.ground);
    this.thinLines(off, ink.faint);
    this.thinLines(failed, ink.lost);
    this.shaded(on);
    this.pixels.put(g);
    this.marked(g);
    for (const axis of this.axes) this.drawAxis(g, axis);
    this.tellStrips();
    const drawn = on.length;
    const of = drawn < this.all ? `${many(drawn, "line")} for ` : "";
    const rest = study.isFiltered ? " selected" : "";
    this.say(
      `${of}${many(this.all, "complete trial")}${rest}; drag along an axis to select`,
    );
    this.sheet.describe(
      `One line a trial across ${this.axes.length} axes. ${this.note.textContent}`,
    );
  }

  choose() {
    const { trials, mask, ranked, isFiltered } = this.study;
    const on = among(ranked, mask, 1);
    this.all = on.length;
    const cut = Math.max(0, on.length - MOST_BEST);
    const share = this.dragging ? DRAGGED : 1;
    const worse = thin(on.subarray(0, cut), share * PARALLEL_MOST - MOST_BEST);
    const off = isFiltered ? thin(among(ranked, mask, 0), share * MOST_CONTEXT) : [];
    const failed = [];
    for (let i = trials.n - 1; i >= 0 && failed.length < share * MOST_FAILED; i--)
      if (mask[i] && trials.state[i] === FAILED) failed.push(i);
    return { on: [...worse, ...on.subarray(cut)], off, failed };
  }

  trace(g, row) {
    const { axes } = this;
    g.moveTo(axes[0].x, this.y(axes[0], row));
    for (let k = 1; k < axes.length; k++) g.lineTo(axes[k].x, this.y(axes[k], row));
  }

  lines(g, rows, colour, width) {
    g.strokeStyle = colour;
    g.lineWidth = width;
    for (const row of rows) {
      g.beginPath();
      this.trace(g, row);
      g.stroke();
    }
  }

  thinLines(rows, colour) {
    const { axes, pixels } = this;
    const ratio = this.sheet.ratio;
    pixels.ink(colour);
    for (const row of rows) {
      let y = this.y(axes[0], row) * ratio;
      for (let k = 1; k < axes.length; k++) {
        const next = this.y(axes[k], row) * ratio;
        pixels.line(axes[k - 1].x * ratio, y, axes[k].x * ratio, next);
        y = next;
      }
    }
  }

  /* rows from worst to best, so that the best are on top */
  shaded(rows) {
    const ink = inks();
    const { good } = this.study;
    for (let begin = 0; begin < rows.length;) {
      const shade = Math.floor(good[rows[begin]] * (PARALLEL_SHADES - 1));
      let end = begin;
      while (
        end < rows.length &&
        Math.floor(good[rows[end]] * (PARALLEL_SHADES - 1)) === shade
      )
        end++;
      /* Squared: few lines are dark. */
      const t = (shade / (PARALLEL_SHADES - 1)) ** 2;
      this.thinLines(rows.slice(begin, end), ink.shade(0.06 + 0.84 * t));
      begin = end;
    }
  }

  marked(g) {
    const { bestRow, picked, mask } = this.study;
    if (bestRow >= 0 && mask[bestRow]) this.lines(g, [bestRow], inks().marked, 2.4);
    if (picked >= 0) this.lines(g, [picked], inks().ink, 2);
  }

  drawAxis(g, axis) {
    const ink = inks();
    const x = Math.round(axis.x) + 0.5;
    g.strokeStyle = ink.ink;
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(x, TOP);
    g.lineTo(x, TOP + AXIS);
    g.stroke();
    if (axis.category) this.drawBands(g, axis, x);
    this.drawBrush(g, axis, x);
    const wanted = axis.category ? 20 : 6;
    for (const tick of axis.scale.ticks(wanted))
      this.label(g, axis, x, axis.scale.at(tick.value), tick.text);
    if (axis.lane) this.label(g, axis, x, TOP + AXIS + LANE, this.laneText(axis));
    g.font = `600 ${g.font}`;
    g.textAlign = "center";
    g.textBaseline = "alphabetic";
    g.fillStyle = this.study.brushes.has(axis.key) ? ink.marked : ink.ink;
    const title = fitText(g, axis.label, Math.max(60, axis.room - 10));
    const half = g.measureText(title).width / 2;
    g.fillText(title, Math.max(half, Math.min(this.full - half - 2, x)), TOP - 16);
    g.font = g.font.replace("600 ", "");
  }

  laneText(axis) {
    return axis.p ? "inactive" : "no value";
  }

  /* A label stands on the ground, so that lines do not cross it. */
  label(g, axis, x, y, text) {
    const ink = inks();
    const shown = fitText(g, text, Math.max(40, axis.room - 22));
    const width = g.measureText(shown).width;
    g.globalAlpha = 0.82;
    g.fillStyle = ink.ground;
    g.fillRect(x + 4, y - 8, width + 5, 16);
    g.globalAlpha = 1;
    g.strokeStyle = ink.ink;
    g.beginPath();
    g.moveTo(x - 3, Math.round(y) + 0.5);
    g.lineTo(x + 3, Math.round(y) + 0.5);
    g.stroke();
    g.textAlign = "left";
    g.textBaseline = "middle";
    g.fillStyle = text === "inactive" || text === "no value" ? ink.quiet : ink.ink;
    g.fillText(shown, x + 6.5, y + 0.5);
  }

  drawBands(g, axis, x) {
    g.lineWidth = 3;
    g.strokeStyle = inks().ink;
    g.beginPath();
    const half = axis.scale.band * 0.3;
    for (let k = 0; k < axis.scale.count; k++) {
      g.moveTo(x, axis.scale.at(k) - half);
      g.lineTo(x, axis.scale.at(k) + half);
    }
    g.stroke();
  }

  drawBrush(g, axis, x) {
    const brush = this.study.brushes.get(axis.key);
    if (!brush) return;
    const box = (top, bottom) => {
      g.fillStyle = inks().marked;
      g.globalAlpha = 0.25;
      g.fillRect(x - BRUSH_HALF, top, 2 * BRUSH_HALF, bottom - top);
      g.globalAlpha = 1;
      g.strokeStyle = inks().marked;
      g.lineWidth = 1.5;
      g.strokeRect(x - BRUSH_HALF, top, 2 * BRUSH_HALF, bottom - top);
    };
    if (brush.choices)
      for (const k of brush.choices) {
        const half = axis.scale.band * 0.42;
        box(axis.scale.at(k) - half, axis.scale.at(k) + half);
      }
    else if (brush.high >= brush.low)
      box(
        this.clampY(axis.scale.at(brush.high)),
        this.clampY(axis.scale.at(brush.low)),
      );
    if (brush.inactive) box(TOP + AXIS + LANE - 9, TOP + AXIS + LANE + 9);
  }

  clampY(y) {
    return Math.max(TOP - 6, Math.min(TOP + AXIS + 6, y));
  }

  /* ---- brushing ----------------------------------------------------------------- */

  /* A strip lies over each axis and takes pointer and keys. */
  makeStrips() {
    fill(
      this.strips,
      this.axes.map((axis) => {
        const strip = el("div", {
          class: "strip",
          tabindex: "0",
          role: "slider",
          "aria-orientation": "vertical",
          "aria-label": `selected range of ${axis.label}`,
          "aria-valuemin": "0",
          "aria-valuemax": "100",
        });
        strip.style.left = `${axis.x - 18}px`;
        strip.style.top = `${TOP - 32}px`;
        strip.style.height = `${AXIS + LANE + 46}px`;
        this.takePointer(strip, axis.key);
        strip.addEventListener("keydown", (e) => this.key(e, axis.key));
        strip.addEventListener("dblclick", () => this.study.brush(axis.key, null));
        return strip;
      }),
    );
  }

  tellStrips() {
    this.axes.forEach((axis, i) => {
      const strip = this.strips.children[i];
      const brush = this.study.brushes.get(axis.key);
      strip.setAttribute(
        "aria-valuetext",
        brush ? brushText(axis.p, brush) : "everything",
      );
      strip.setAttribute("aria-valuenow", brush ? "50" : "0");
    });
  }

  axis(key) {
    return this.axes.find((a) => a.key === key);
  }

  takePointer(strip, key) {
    let from = null;
    let moved = false;
    strip.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      from = pointerOn(this.sheet.canvas, event)[1];
      moved = false;
      strip.setPointerCapture(event.pointerId);
    });
    strip.addEventListener("pointermove", (event) => {
      if (from === null) return;
      const y = pointerOn(this.sheet.canvas, event)[1];
      if (!moved && Math.abs(y - from) < 4) return;
      moved = this.dragging = true;
      this.study.brush(key, this.between(this.axis(key), from, y));
    });
    const end = () => {
      from = null;
      this.dragging = false;
      redraw(this);
    };
    strip.addEventListener("pointerup", () => {
      if (from !== null && !moved) this.clicked(this.axis(key), from);
      end();
    });
    strip.addEventListener("pointercancel", end);
  }

  /* What lies between two heights. */
  between(axis, a, b) {
    const [low, high] = [
      axis.scale.back(Math.max(a, b)),
      axis.scale.back(Math.min(a, b)),
    ];
    const inactive = axis.lane && Math.max(a, b) > TOP + AXIS + 10;
    if (!axis.category) return { low, high, inactive };
    const choices = new Set();
    for (let k = 0; k < axis.scale.count; k++)
      if (k > low - 0.5 && k < high + 0.5) choices.add(k);
    return choices.size > 0 || inactive ? { choices, inactive } : null;
  }

  /* A click takes a category in or out, or the lane; elsewhere it clears the axis. */
  clicked(axis, y) {
    const old = this.study.brushes.get(axis.key);
    const inLane = axis.lane && y > TOP + AXIS + 10;
    if (!axis.category && !inLane) return this.study.brush(axis.key, null);
    const choices = new Set(old && old.choices);
    let inactive = Boolean(old && old.inactive);
    if (inLane) inactive = !inactive;
    else {
      const k = Math.round(axis.scale.back(y));
      if (k < 0 || k >= axis.scale.count) return;
      if (!choices.delete(k)) choices.add(k);
    }
    if (axis.category)
      return this.study.brush(
        axis.key,
        choices.size || inactive ? { choices, inactive } : null,
      );
    const range = old || { low: Infinity, high: -Infinity };
    const nothing = !inactive && !(range.high >= range.low);
    this.study.brush(axis.key, nothing ? null : { ...range, inactive });
  }

  /* Arrows move the selected range, with shift they widen or narrow it. */
  key(event, key) {
    const axis = this.axis(key);
    const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (event.key === "Escape" || event.key === "Delete") this.study.brush(key, null);
    else if (step && axis.category) this.stepChoice(axis, step);
    else if (step) this.stepRange(axis, step, event.shiftKey);
    else return;
    event.preventDefault();
  }

  stepChoice(axis, step) {
    const old = this.study.brushes.get(axis.key);
    const last = axis.scale.count - 1;
    const at =
      old && old.choices.size > 0 ? [...old.choices][0] + step : step > 0 ? 0 : last;
    this.study.brush(axis.key, { choices: new Set([Math.max(0, Math.min(last, at))]) });
  }

  stepRange(axis, step, widen) {
    const old = this.study.brushes.get(axis.key);
    const s = axis.scale;
    let bottom = old ? s.at(old.low) : s.at(s.low) - (step > 0 ? 0 : 0.75 * AXIS);
    let top = old ? s.at(old.high) : bottom - 0.25 * AXIS;
    if (old) {
      top -= step * 0.05 * AXIS;
      bottom -= (widen ? 0 : step) * 0.05 * AXIS;
    }
    bottom = Math.min(TOP + AXIS, bottom);
    top = Math.max(TOP, Math.min(top, bottom - 2));
    this.study.brush(axis.key, { low: s.back(bottom), high: s.back(top) });
  }
}

/* A brush in words; p is the parameter, or null. */
export function brushText(p, brush) {
  const parts = [];
  if (brush.choices)
    parts.push(...[...brush.choices].map((k) => choiceText(p.choices[k])));
  else if (brush.high >= brush.low)
    parts.push(`${number(brush.low, 4)} to ${number(brush.high, 4)}`);
  if (brush.inactive) parts.push(p ? "inactive" : "no value");
  return parts.join(", ");
}
