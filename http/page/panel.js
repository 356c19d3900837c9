/* panel.js - the frame of a chart: a heading, a quiet sentence, controls and a body;
 * and the tip that follows the pointer. */
import { choiceText, duration, number } from "./numbers.js";
import { el, fill } from "./dom.js";
import { redraw, unwatch, watch } from "./schedule.js";
import { isCategory } from "./scale.js";
import { FAILED, STATES } from "./trials.js";

let panels = 0;

/* Views extend it: draw() is called when it is in sight and something changed. */
export class Panel {
  constructor(study, title, span = "full") {
    this.study = study;
    const id = `panel-${++panels}`;
    this.heading = el("h2", { id }, title);
    this.note = el("p", { class: "note" });
    this.controls = el("div", { class: "controls" });
    this.body = el("div", { class: "body" });
    const head = el("div", { class: "head" }, el("div", {}, this.heading, this.note));
    head.append(this.controls);
    this.root = el("section", { class: `panel ${span}`, "aria-labelledby": id }, head);
    this.root.append(this.body);
    watch(this, this.body);
  }
  listen(...events) {
    for (const event of events) this.study.on(event, () => redraw(this));
    return this;
  }
  say(text) {
    this.note.textContent = text;
  }
  /* Instead of a chart. */
  empty(sentence) {
    fill(this.body, el("p", { class: "empty" }, sentence));
  }
  show(visible) {
    if (this.root.hidden === !visible) return;
    this.root.hidden = !visible;
    this.study.say("shown");
  }
  close() {
    unwatch(this, this.body);
  }
}

/* ---- the tip -------------------------------------------------------------------- */

const tip = el("div", { class: "tip", role: "presentation", hidden: true });

export function showTip(event, lines) {
  if (!tip.isConnected) document.body.append(tip);
  fill(tip, ...lines);
  tip.hidden = false;
  const { offsetWidth: w, offsetHeight: h } = tip;
  const right = event.clientX + 14 + w > innerWidth;
  const below = event.clientY + 14 + h > innerHeight;
  const x = right ? event.clientX - w - 14 : event.clientX + 14;
  const y = below ? event.clientY - h - 14 : event.clientY + 14;
  tip.style.left = `${Math.max(4, x)}px`;
  tip.style.top = `${Math.max(4, y)}px`;
}

export function hideTip() {
  tip.hidden = true;
}

export function paramText(p, v) {
  if (Number.isNaN(v)) return "inactive";
  return isCategory(p) ? choiceText(p.choices[v]) : number(v);
}

/* What a tip says of a trial. */
export function trialLines(study, row, most = 12) {
  const { trials } = study;
  const state = STATES[trials.state[row]];
  const head = study.isComplete(row) ? number(trials.value[row]) : state;
  const lines = [
    el("b", {}, head),
    el("span", { class: "quiet" }, ` trial ${trials.number[row]}`),
  ];
  const reason = trials.reasons.get(trials.number[row]);
  if (trials.state[row] === FAILED && reason) lines.push(el("div", {}, reason));
  if (trials.feasible[row] === 0) lines.push(el("div", {}, "breaks a constraint"));
  const table = el("dl", {});
  study.parameters.slice(0, most).forEach((p, i) => {
    const v = trials.params[i][row];
    if (!Number.isNaN(v))
      table.append(el("dt", {}, p.name), el("dd", {}, paramText(p, v)));
  });
  lines.push(table);
  const took = trials.seconds(row);
  if (took >= 0) lines.push(el("div", { class: "quiet" }, duration(took)));
  return lines;
}

/* Shows the trial under the pointer and picks it on a click. nearest(x, y) is a row or
 * -1; x and y are in pixels of the element. */
export function hoverTrials(study, element, nearest) {
  const rowAt = (event) => {
    const box = element.getBoundingClientRect();
    return nearest(event.clientX - box.left, event.clientY - box.top);
  };
  element.addEventListener("pointermove", (event) => {
    const row = event.buttons ? -1 : rowAt(event);
    if (row >= 0) showTip(event, trialLines(study, row));
    else hideTip();
  });
  element.addEventListener("pointerleave", hideTip);
  element.addEventListener("click", (event) => {
    const row = rowAt(event);
    if (row >= 0) study.pick(row);
  });
}

/* The nearest of points that were drawn, within 14 pixels: xs, ys in pixels. */
export function nearestOf(xs, ys, rows, n, x, y) {
  let found = -1;
  let least = 14 * 14;
  for (let i = 0; i < n; i++) {
    const d = (xs[i] - x) ** 2 + (ys[i] - y) ** 2;
    if (d < least) {
      least = d;
      found = rows[i];
    }
  }
  return found;
}
