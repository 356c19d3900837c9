/* trials.js - the trials of a study as columns of numbers, so that 50 000 of them are
 * read, filtered and sorted within a frame. Row i of every column is one trial; rows
 * keep their places, and a trial that changes is written over its old row.
 *
 *   n        rows in use; columns may be longer
 *   params   one Float64Array a parameter: numbers, or indices of choices, or NaN
 *   metrics  Map of names to Float64Array; NaN: the trial has none of it
 *   value    NaN unless complete;  feasible  1, 0, or -1: not known */

export const STATES = [
  "waiting",
  "running",
  "complete",
  "failed",
  "interrupted",
  "stale",
];
export const RUNNING = 1;
export const COMPLETE = 2;
export const FAILED = 3;
export const ORIGINS = ["", "design", "sampler", "user"];

/* column[rows[i]] = told[i], and `none` where nothing is told. */
function put(column, rows, told, none) {
  for (let i = 0; i < rows.length; i++) {
    const v = told[i];
    column[rows[i]] = v === null || v === undefined ? none : v;
  }
}

function grown(old, size, value) {
  const next = new old.constructor(size);
  if (value !== 0) next.fill(value, old.length);
  next.set(old);
  return next;
}

export class Trials {
  constructor(parameters) {
    this.n = 0;
    this.room = 0;
    this.number = new Int32Array(0);
    this.state = new Uint8Array(0);
    this.origin = new Uint8Array(0);
    this.attempt = new Int32Array(0);
    this.feasible = new Int8Array(0);
    this.value = new Float64Array(0);
    this.started = new Float64Array(0);
    this.finished = new Float64Array(0);
    this.params = parameters.map(() => new Float64Array(0));
    this.metrics = new Map();
    this.reasons = new Map(); /* number: first line */
    this.reported = new Set(); /* numbers of those that have intermediate values */
    this.rows = new Map(); /* number: row */
    this.next = 0; /* what to read after */
    this.count = 0; /* trials of the study, also those that were thinned out */
    this.thinned = false;
  }

  grow(wanted) {
    if (wanted <= this.room) return;
    const size = Math.max(256, wanted, Math.ceil(this.room * 1.5));
    const numbers = ["number", "state", "origin", "attempt"];
    for (const c of numbers) this[c] = grown(this[c], size, 0);
    this.feasible = grown(this.feasible, size, -1);
    for (const c of ["value", "started", "finished"])
      this[c] = grown(this[c], size, NaN);
    this.params = this.params.map((c) => grown(c, size, NaN));
    for (const [name, c] of this.metrics) this.metrics.set(name, grown(c, size, NaN));
    this.room = size;
  }

  rowFor(number) {
    let row = this.rows.get(number);
    if (row === undefined) {
      row = this.n++;
      this.rows.set(number, row);
      this.number[row] = number;
    }
    return row;
  }

  /* Takes in a document of /columns. New trials get their rows by number. */
  apply(doc) {
    const size = doc.number.length;
    this.grow(this.n + size);
    for (const name of Object.keys(doc.metrics || {}))
      if (!this.metrics.has(name))
        this.metrics.set(name, new Float64Array(this.room).fill(NaN));
    const rows = new Uint32Array(size);
    for (const i of orderBy(doc.number)) rows[i] = this.rowFor(doc.number[i]);
    this.applyColumns(doc, rows);
    for (const [number, text] of Object.entries(doc.reasons || {}))
      this.reasons.set(Number(number), text);
    for (const number of doc.reported || []) this.reported.add(number);
    this.next = doc.next;
    this.count = doc.count;
    this.thinned = Boolean(doc.thinned);
    return size;
  }

  applyColumns(doc, rows) {
    put(this.state, rows, doc.state, 0);
    put(this.origin, rows, doc.origin, 0);
    put(this.attempt, rows, doc.attempt, 0);
    put(this.feasible, rows, doc.feasible, -1);
    put(this.value, rows, doc.value, NaN);
    put(this.started, rows, doc.started, NaN);
    put(this.finished, rows, doc.finished, NaN);
    this.params.forEach((column, p) => put(column, rows, doc.params[p], NaN));
    for (const [name, column] of this.metrics)
      put(column, rows, (doc.metrics && doc.metrics[name]) || [], NaN);
  }

  seconds(row) {
    return this.finished[row] - this.started[row];
  }

  /* Complete, and not known to break a constraint. */
  counts(row) {
    return this.state[row] === COMPLETE && this.feasible[row] !== 0;
  }
}

/* Rows by number; rows of live studies are nearly so already. */
export function rowsByNumber(trials) {
  const rows = new Uint32Array(trials.n);
  const { number } = trials;
  let rising = true;
  for (let i = 0; i < rows.length; i++) {
    rows[i] = i;
    if (i > 0 && number[i] < number[i - 1]) rising = false;
  }
  return rising ? rows : rows.sort((a, b) => number[a] - number[b]);
}

/* Every improvement of the best value, by number: {number, value, row} as lists. sign
 * is 1 where small values are good, -1 where large ones are. */
export function improvements(trials, order, sign) {
  const found = { number: [], value: [], row: [] };
  let best = Infinity;
  for (const row of order) {
    if (!trials.counts(row) || !(sign * trials.value[row] < best)) continue;
    best = sign * trials.value[row];
    found.number.push(trials.number[row]);
    found.value.push(trials.value[row]);
    found.row.push(row);
  }
  return found;
}

/* The places of keys in rising order, equal ones as they stand; NaN counts as infinite.
 * Typed arrays sort fast only without a comparison of ours, so keys are sorted and each
 * then looks up its place. */
export function orderBy(keys) {
  const sorted = new Float64Array(keys.length);
  for (let i = 0; i < keys.length; i++)
    sorted[i] = Number.isNaN(keys[i]) ? Infinity : keys[i];
  sorted.sort();
  const used = new Uint32Array(keys.length); /* of the first place of each value */
  const order = new Uint32Array(keys.length);
  for (let i = 0; i < keys.length; i++) {
    const key = Number.isNaN(keys[i]) ? Infinity : keys[i];
    let low = 0;
    for (let high = sorted.length; low < high;) {
      const mid = (low + high) >>> 1;
      if (sorted[mid] < key) low = mid + 1;
      else high = mid;
    }
    order[low + used[low]++] = i;
  }
  return order;
}

/* How good each complete trial is among them: 0 worst, 1 best, by rank; NaN elsewhere.
 * Also the sorted values, and the rows from worst to best. */
export function goodness(trials, sign) {
  const rows = new Uint32Array(trials.n);
  let n = 0;
  for (let i = 0; i < trials.n; i++) if (trials.state[i] === COMPLETE) rows[n++] = i;
  const keys = new Float64Array(n);
  for (let i = 0; i < n; i++) keys[i] = -sign * trials.value[rows[i]];
  const ranked = orderBy(keys);
  const good = new Float32Array(trials.n).fill(NaN);
  const sorted = new Float64Array(n);
  for (let rank = 0; rank < n; rank++) {
    const row = rows[ranked[rank]];
    ranked[rank] = row;
    good[row] = n === 1 ? 1 : rank / (n - 1);
    sorted[sign > 0 ? n - 1 - rank : rank] = trials.value[row];
  }
  return { good, ranked, sorted };
}

/* Noisy values: the point whose repeats have the best median so far, as trials came in,
 * of those that were tried at least twice: {x, median, low, high} as lists, low and
 * high being its quartiles. It may get worse again when repeats come in. */
export function medianSoFar(trials, order, sign) {
  const groups = new Map();
  const curve = { x: [], median: [], low: [], high: [] };
  let best = null;
  for (const row of order) {
    if (!trials.counts(row)) continue;
    const group = addRepeat(groups, trials, row);
    if (group.values.length < 2) continue;
    const worse = group === best && sign * group.median > sign * group.before;
    if (worse) best = bestGroup(groups, sign);
    else if (!best || sign * group.median < sign * best.median) best = group;
    else if (group !== best) continue;
    curve.x.push(trials.number[row]);
    curve.median.push(best.median);
    curve.low.push(quantile(best.values, 0.25));
    curve.high.push(quantile(best.values, 0.75));
  }
  return curve;
}

function addRepeat(groups, trials, row) {
  const key = trials.params.map((c) => c[row]).join("|");
  const group = groups.get(key) || { values: [], median: NaN };
  groups.set(key, group);
  const v = trials.value[row];
  const at = group.values.findIndex((other) => other > v);
  group.values.splice(at < 0 ? group.values.length : at, 0, v);
  group.before = group.median;
  group.median = quantile(group.values, 0.5);
  return group;
}

function bestGroup(groups, sign) {
  let best = null;
  for (const g of groups.values())
    if (g.values.length > 1 && (!best || sign * g.median < sign * best.median))
      best = g;
  return best;
}

export function quantile(sorted, q) {
  const at = q * (sorted.length - 1);
  const k = Math.floor(at);
  const rest = at - k;
  return rest > 0 ? sorted[k] + rest * (sorted[k + 1] - sorted[k]) : sorted[k];
}

/* The rows whose mask is `kept`, in their order. */
export function among(rows, mask, kept) {
  const found = new Uint32Array(rows.length);
  let n = 0;
  for (let i = 0; i < rows.length; i++) if (mask[rows[i]] === kept) found[n++] = rows[i];
  return found.subarray(0, n);
}

/* At most `most` of the rows, evenly, in their order. */
export function thin(rows, most) {
  if (rows.length <= most) return rows;
  const kept = new Uint32Array(most);
  const step = rows.length / most;
  for (let i = 0; i < most; i++) kept[i] = rows[Math.floor(i * step)];
  return kept;
}
