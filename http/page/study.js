/* study.js - one study as the page sees it: what it is, its trials, and which of them
 * are selected by brushes and by the filter of the table. Views listen to
 *   data  trials came or changed        mask  another selection
 *   pick  one trial is looked at        news  counts and best only
 *   importances  they are known         shown  a panel came or went
 *   lost  the server does not answer    gone  the study was deleted */
import { studyRoute } from "./api.js";
import { compileFilter } from "./filter.js";
import { isCategory, NumberScale, parameterScale, valueRange } from "./scale.js";
import { COMPLETE, goodness, improvements, rowsByNumber, Trials } from "./trials.js";

const PAGE = 20000; /* trials a request, the most that the server gives */

/* Brushes keep what a set has, or what is in a range, both ends included. */
function keeps(brush, v) {
  if (Number.isNaN(v)) return Boolean(brush.inactive);
  if (brush.choices) return brush.choices.has(v);
  return v >= brush.low && v <= brush.high;
}

export class Study {
  constructor(door, name) {
    this.door = door;
    this.name = name;
    this.listeners = new Map();
    this.brushes = new Map(); /* key of an axis: {low, high} or {choices}, inactive */
    this.filter = compileFilter("", this);
    this.mask = new Uint8Array(0);
    this.selected = 0;
    this.picked = -1; /* row */
    this.stop = () => {};
    this.reading = null;
    this.closed = false;
  }

  on(event, listener) {
    const all = this.listeners.get(event) || new Set();
    this.listeners.set(event, all.add(listener));
  }

  say(event) {
    if (this.closed) return;
    for (const listener of this.listeners.get(event) || []) listener();
  }

  get(rest, chosen, sized) {
    return this.door.get(studyRoute(this.name, rest), chosen, sized);
  }

  /* ---- reading ------------------------------------------------------------------ */

  async load() {
    this.setMeta(await this.get(""));
    this.trials = new Trials(this.parameters);
    await this.read();
    this.stop = this.door.listen(studyRoute(this.name, "/events"), (event, data) =>
      this.hear(event, data),
    );
  }

  setMeta(meta) {
    this.meta = meta;
    this.parameters = meta.space.parameters;
    this.sign = meta.direction === "maximize" ? -1 : 1;
    this.states = meta.states;
    this.noisy = meta.deterministic === false;
    this.bestNumber = meta.best ? meta.best.number : -1;
  }

  close() {
    this.closed = true;
    this.stop();
  }

  hear(event, data) {
    if (event === "gone" || event === "lost") this.say(event);
    if (event === "gone") this.close();
    this.connected = event !== "lost";
    if (event !== "change") return;
    this.states = data.states;
    if (!this.noisy) this.bestNumber = data.best ? data.best.number : -1;
    this.say("news");
    if (this.trials.seq === undefined || data.seq > this.trials.seq) this.readSoon();
  }

  /* One request at a time; what came meanwhile is asked for after it. Reading is paced
   * by its own cost, so that a large study that grows fast leaves time for the reader.
   * */
  async readSoon() {
    this.again = true;
    if (this.reading) return;
    this.reading = true;
    while (this.again && !this.closed) {
      this.again = false;
      const begun = performance.now();
      await this.read().catch(() => {});
      const cost = performance.now() - begun;
      await new Promise((done) => setTimeout(done, Math.min(2000, 4 * cost)));
    }
    this.reading = false;
  }

  async read() {
    const ask = (after) => this.get("/columns", {}, { after, limit: PAGE });
    let coming = ask(this.trials.next);
    while (coming && !this.closed) {
      const doc = await coming;
      /* The next page is on its way while this one is taken in. */
      coming = doc.more && doc.next > this.trials.next ? ask(doc.next) : null;
      this.trials.apply(doc);
      this.trials.seq = doc.seq;
    }
    this.derive();
    this.select();
    this.say("data");
  }

  /* What follows from the trials alone. */
  derive() {
    const { trials, sign } = this;
    this.order = rowsByNumber(trials);
    this.best = improvements(trials, this.order, sign);
    Object.assign(this, goodness(trials, sign));
    this.range = valueRange(this.sorted, -sign);
    this.metricNames = [...trials.metrics.keys()];
    this.version = (this.version || 0) + 1;
    this.completed = this.sorted.length;
  }

  /* Which of noisy trials is the best is the model's to say; until it does it is the
   * luckiest one. */
  believe(incumbent) {
    const before = this.bestRow;
    this.incumbent = incumbent;
    if (this.noisy && incumbent) this.bestNumber = incumbent.number;
    if (this.bestRow !== before) this.say("data");
  }

  /* The model's word on a trial that is the best, or null. */
  beliefOf(row) {
    const { incumbent, noisy } = this;
    return noisy && incumbent && incumbent.number === this.trials.number[row]
      ? incumbent
      : null;
  }

  get bestRow() {
    const row = this.trials.rows.get(this.bestNumber);
    if (row !== undefined) return row;
    return this.best.row.length > 0 ? this.best.row[this.best.row.length - 1] : -1;
  }

  /* ---- axes --------------------------------------------------------------------- */

  /* Keys are "value", "number", "seconds", "p0", "p1" ..., "m" + a metric's name. */
  axes() {
    const found = [{ key: "value", label: this.meta.objective || "value" }];
    this.parameters.forEach((p, i) => found.push({ key: `p${i}`, label: p.name }));
    for (const name of this.metricNames) found.push({ key: `m${name}`, label: name });
    return found;
  }

  parameterOf(key) {
    return key[0] === "p" ? this.parameters[Number(key.slice(1))] : null;
  }

  column(key) {
    const { trials } = this;
    if (key === "value" || key === "number") return trials[key];
    if (key[0] === "p") return trials.params[Number(key.slice(1))];
    return trials.metrics.get(key.slice(1)) || new Float64Array(trials.room).fill(NaN);
  }

  scaleOf(key) {
    const p = this.parameterOf(key);
    if (p) return parameterScale(p);
    if (key === "value") return new NumberScale(...this.range);
    const values = [];
    const column = this.column(key);
    for (let i = 0; i < this.trials.n; i++)
      if (Number.isFinite(column[i])) values.push(column[i]);
    return new NumberScale(...valueRange(Float64Array.from(values).sort(), 0));
  }

  isCategory(key) {
    const p = this.parameterOf(key);
    return p !== null && isCategory(p);
  }

  /* ---- selection ---------------------------------------------------------------- */

  brush(key, brush) {
    if (brush) this.brushes.set(key, brush);
    else if (!this.brushes.delete(key)) return;
    this.select();
    this.say("mask");
  }

  setFilter(text) {
    this.filter = compileFilter(text, this);
    this.select();
    this.say("mask");
  }

  clear() {
    this.brushes.clear();
    this.filter = compileFilter("", this);
    this.select();
    this.say("mask");
  }

  get isFiltered() {
    return this.brushes.size > 0 || this.filter.text !== "";
  }

  select() {
    const { n } = this.trials;
    if (this.mask.length < n) this.mask = new Uint8Array(this.trials.room);
    const { mask } = this;
    mask.fill(1, 0, n);
    for (const [key, brush] of this.brushes) this.narrow(this.column(key), brush);
    if (this.filter.test)
      for (let i = 0; i < n; i++) if (mask[i] && !this.filter.test(i)) mask[i] = 0;
    let selected = 0;
    for (let i = 0; i < n; i++) selected += mask[i];
    this.selected = selected;
  }

  narrow(column, brush) {
    const { mask } = this;
    const { n } = this.trials;
    for (let i = 0; i < n; i++) if (mask[i] && !keeps(brush, column[i])) mask[i] = 0;
  }

  pick(row) {
    this.picked = row;
    this.say("pick");
  }

  /* The best complete trial among the selected ones, or -1. */
  bestSelected() {
    const { trials, mask, sign } = this;
    let found = -1;
    for (let i = 0; i < trials.n; i++)
      if (mask[i] && trials.counts(i))
        if (found < 0 || sign * trials.value[i] < sign * trials.value[found]) found = i;
    return found;
  }

  /* Values of the parameters of a trial as they are: {name: scalar}; inactive ones are
   * absent. Numbers of columns are rounded, so what is copied comes from the server. */
  paramsOf(row) {
    const found = {};
    this.parameters.forEach((p, i) => {
      const v = this.trials.params[i][row];
      if (!Number.isNaN(v)) found[p.name] = isCategory(p) ? p.choices[v] : v;
    });
    return found;
  }

  isComplete(row) {
    return this.trials.state[row] === COMPLETE;
  }
}
