/* scale.js - from values to pixels: linear, logarithmic, and bands for categories. A
 * scale has from and to in pixels, at(value), back(pixel) and ticks(wanted). */
import { choiceText, number } from "./numbers.js";

/* Steps of 1, 2, 2.5 or 5 times a power of ten, about `wanted` of them. */
function linearTicks(low, high, wanted) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const rough = span / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((s) => s * power >= rough * 0.999) * power;
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++)
    ticks.push(Math.abs(k * step) < step * 1e-9 ? 0 : k * step);
  return ticks;
}

/* Powers of ten, with 2 and 5 between them where there is room; linear ones where the
 * range is less than a decade. */
function logTicks(low, high, wanted) {
  const decades = Math.log10(high / low);
  if (decades < 1) return linearTicks(low, high, wanted);
  const first = Math.floor(Math.log10(low));
  const last = Math.ceil(Math.log10(high));
  const every = Math.max(1, Math.ceil((last - first) / wanted));
  const factors = every > 1 || decades * 3 > wanted ? [1] : [1, 2, 5];
  const ticks = [];
  for (let p = first; p <= last; p += every)
    for (const f of factors) {
      const t = f * 10 ** p;
      if (t >= low * 0.999999 && t <= high * 1.000001) ticks.push(t);
    }
  return ticks;
}

export class NumberScale {
  constructor(low, high, log = false, whole = false) {
    if (!(high > low)) {
      const pad = Math.abs(low) * 0.1 || 1;
      [low, high] = log && low > 0 ? [low / 2, low * 2] : [low - pad, low + pad];
    }
    this.low = low;
    this.high = high;
    this.whole = whole; /* ticks at integers only */
    this.log = log && low > 0;
    this.a = this.log ? Math.log(low) : low;
    this.b = this.log ? Math.log(high) : high;
    this.from = 0;
    this.to = 1;
  }
  span(from, to) {
    this.from = from;
    this.to = to;
    return this;
  }
  at(v) {
    const t = ((this.log ? Math.log(v) : v) - this.a) / (this.b - this.a);
    return this.from + t * (this.to - this.from);
  }
  back(p) {
    const t = (p - this.from) / (this.to - this.from);
    const u = this.a + t * (this.b - this.a);
    return this.log ? Math.exp(u) : u;
  }
  ticks(wanted) {
    const values = (this.log ? logTicks : linearTicks)(this.low, this.high, wanted);
    const kept = this.whole ? values.filter(Number.isInteger) : values;
    return kept.map((v) => ({ value: v, text: number(v, 5) }));
  }
}

/* Choice k has the band from k to k + 1, upwards in the order of the space. */
export class BandScale {
  constructor(choices) {
    this.choices = choices;
    this.count = choices.length;
    this.from = 0;
    this.to = 1;
  }
  span(from, to) {
    this.from = from;
    this.to = to;
    return this;
  }
  get band() {
    return Math.abs(this.to - this.from) / this.count;
  }
  at(k) {
    return this.from + ((k + 0.5) / this.count) * (this.to - this.from);
  }
  back(p) {
    return ((p - this.from) / (this.to - this.from)) * this.count - 0.5;
  }
  ticks(wanted) {
    const every = Math.max(1, Math.ceil(this.count / wanted));
    const ticks = [];
    for (let k = 0; k < this.count; k += every)
      ticks.push({ value: k, text: choiceText(this.choices[k]) });
    return ticks;
  }
}

export const isCategory = (p) => p.kind === "choice" || p.kind === "ordinal";

/* The scale of a parameter over its whole domain. */
export function parameterScale(p) {
  return isCategory(p)
    ? new BandScale(p.choices)
    : new NumberScale(p.low, p.high, Boolean(p.log), p.kind === "int");
}

/* Where values are, with a little room; extreme ones on the bad side are cut off where
 * they would squeeze all others: beyond the median by more than 8 times the distance
 * from the good end to the 75 % quantile. good < 0: small values are good. */
export function valueRange(sorted, good) {
  const n = sorted.length;
  if (n === 0) return [0, 1];
  let low = sorted[0];
  let high = sorted[n - 1];
  if (n >= 8 && good !== 0) {
    const q = sorted[Math.floor((n - 1) * (good < 0 ? 0.75 : 0.25))];
    if (good < 0 && high > low + 4 * (q - low) && q > low) high = low + 4 * (q - low);
    if (good > 0 && low < high - 4 * (high - q) && q < high)
      low = high - 4 * (high - q);
  }
  const pad = (high - low) * 0.04 || Math.abs(high) * 0.05 || 1;
  return [low - pad, high + pad];
}
