/* sheet.js - a canvas in CSS pixels at the screen's resolution, and what charts on one
 * share: axes, marks, the place of the pointer. */
import { el } from "./dom.js";
import { inks } from "./theme.js";

export const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

export class Sheet {
  constructor(label, height) {
    this.canvas = el("canvas", { role: "img", "aria-label": label || "a chart" });
    this.canvas.style.width = "100%"; /* until it is drawn */
    this.canvas.style.height = `${height}px`;
    this.height = height;
    this.width = 0;
    this.g = this.canvas.getContext("2d");
  }
  describe(label) {
    this.canvas.setAttribute("aria-label", label);
  }
  /* Clears it; width in CSS pixels. Returns the context. */
  start(width, height = this.height) {
    const ratio = Math.min(3, window.devicePixelRatio || 1);
    if (height !== this.height) this.canvas.style.height = `${height}px`;
    this.width = width;
    this.height = height;
    this.ratio = ratio; /* pixels of the screen in one of CSS */
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== w) this.canvas.width = w;
    if (this.canvas.height !== h) this.canvas.height = h;
    this.canvas.style.width = `${width}px`;
    this.g.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.g.clearRect(0, 0, width, height);
    this.g.font = FONT;
    this.g.lineJoin = "bevel";
    return this.g;
  }
}

export function pointerOn(element, event) {
  const box = element.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

/* Text that would be wider is cut. */
export function fitText(g, text, width) {
  if (g.measureText(text).width <= width) return text;
  const chars = [...text];
  while (chars.length > 1 && g.measureText(chars.join("") + "…").width > width)
    chars.pop();
  return chars.join("") + "…";
}

/* Ticks to the left of an area, with hair lines across it. */
export function axisLeft(g, scale, x, right, wanted, room = 60) {
  const ink = inks();
  g.textAlign = "right";
  g.textBaseline = "middle";
  for (const tick of scale.ticks(wanted)) {
    const y = Math.round(scale.at(tick.value)) + 0.5;
    g.strokeStyle = ink.grid;
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(x, y);
    g.lineTo(right, y);
    g.stroke();
    g.fillStyle = ink.quiet;
    g.fillText(fitText(g, tick.text, room), x - 6, y);
  }
}

/* Ticks below an area; a label that would meet another is left out. */
export function axisBelow(g, scale, y, wanted) {
  const ink = inks();
  g.textBaseline = "top";
  g.fillStyle = ink.quiet;
  g.strokeStyle = ink.line;
  g.lineWidth = 1;
  g.beginPath();
  g.moveTo(scale.from, y + 0.5);
  g.lineTo(scale.to, y + 0.5);
  g.stroke();
  let free = -Infinity;
  const most = scale.band ? Math.max(24, scale.band - 4) : 90;
  for (const tick of scale.ticks(wanted)) {
    const x = scale.at(tick.value);
    const text = fitText(g, tick.text, most);
    const half = g.measureText(text).width / 2;
    const centre = scale.band
      ? x
      : Math.min(Math.max(x, scale.from + half - 8), scale.to - half + 8);
    if (centre - half < free) continue;
    g.beginPath();
    g.moveTo(Math.round(x) + 0.5, y);
    g.lineTo(Math.round(x) + 0.5, y + 4);
    g.stroke();
    g.textAlign = "center";
    g.fillText(text, centre, y + 6);
    free = centre + half + 8;
  }
}

/* ---- marks: dots of trials, crosses of failures, rings of what is infeasible ---- */

export function cross(g, x, y, size = 3) {
  g.moveTo(x - size, y - size);
  g.lineTo(x + size, y + size);
  g.moveTo(x + size, y - size);
  g.lineTo(x - size, y + size);
}

export function diamond(g, x, y, size = 6) {
  g.moveTo(x, y - size);
  g.lineTo(x + size, y);
  g.lineTo(x, y + size);
  g.lineTo(x - size, y);
  g.closePath();
}

/* The best trial: filled, with a rim of the ground so that it stands out. */
export function markBest(g, x, y) {
  const ink = inks();
  g.beginPath();
  diamond(g, x, y);
  g.fillStyle = ink.marked;
  g.strokeStyle = ink.ground;
  g.lineWidth = 1.5;
  g.fill();
  g.stroke();
}

export function markPicked(g, x, y) {
  g.beginPath();
  g.arc(x, y, 7, 0, 2 * Math.PI);
  g.strokeStyle = inks().ink;
  g.lineWidth = 2;
  g.stroke();
}

/* Many dots of one colour. One by one: a path of thousands of arcs takes ten times as
 * long to fill. */
export function dots(g, xs, ys, n, radius, colour) {
  g.fillStyle = colour;
  if (radius <= 1.6)
    for (let i = 0; i < n; i++)
      g.fillRect(xs[i] - radius, ys[i] - radius, 2 * radius, 2 * radius);
  else
    for (let i = 0; i < n; i++) {
      g.beginPath();
      g.arc(xs[i], ys[i], radius, 0, 6.2832);
      g.fill();
    }
}

export function rings(g, xs, ys, n, radius, colour) {
  g.strokeStyle = colour;
  for (let i = 0; i < n; i++) {
    g.beginPath();
    g.arc(xs[i], ys[i], radius, 0, 6.2832);
    g.stroke();
  }
}

/* Lines of a pixel of the screen are drawn fifty times as fast as wider ones: what is
 * drawn by the hundred has this width, in units of the canvas. */
export function hair(g) {
  return 1 / (g.getTransform().a || 1);
}
