/* list.js - all studies of the store: how far they are, their curves in small, what is
 * best; and a choice of some to compare. */
import { ago, count, many, number } from "./numbers.js";
import { el, fill, svg } from "./dom.js";
import { encode, studyRoute } from "./api.js";

const WIDTH = 120;
const LIST_HEIGHT = 28;
const LIST_PATIENCE = 1000;

/* Best so far as a step line, large values above: points are [number, value]. */
export function sparkline(points, all) {
  const picture = svg("svg", {
    class: "spark",
    viewBox: `0 0 ${WIDTH} ${LIST_HEIGHT}`,
    "aria-hidden": "true",
  });
  if (!points || points.length === 0) return picture;
  const values = points.map((p) => p[1]);
  const [high, low] = [Math.max(...values), Math.min(...values)];
  const end = Math.max(all - 1, points.at(-1)[0], 1);
  const x = (n) => ((n / end) * (WIDTH - 8) + 3).toFixed(1);
  const y = (v) =>
    (high > low
      ? 4 + ((high - v) / (high - low)) * (LIST_HEIGHT - 8)
      : LIST_HEIGHT / 2
    ).toFixed(1);
  let path = `M${x(points[0][0])},${y(values[0])}`;
  points.slice(1).forEach((p, i) => (path += `H${x(p[0])}V${y(values[i + 1])}`));
  path += `H${x(end)}`;
  picture.append(
    svg("path", { d: path }),
    svg("circle", { cx: x(points.at(-1)[0]), cy: y(values.at(-1)), r: 2.5 }),
  );
  return picture;
}

export class ListView {
  constructor(door, status) {
    this.door = door;
    this.chosen = new Set();
    this.sparks = new Map(); /* name: [count, points] */
    this.root = el("main", { id: "main", tabindex: "-1" });
    this.status = status;
  }

  async open() {
    await this.read();
    this.stop = this.door.listen("/api/events", (event) => {
      this.status(event === "lost" ? "lost" : "live");
      if (event === "studies") this.readSoon();
    });
  }

  close() {
    this.closed = true;
    if (this.stop) this.stop();
  }

  readSoon() {
    if (this.timer) return;
    this.timer = setTimeout(async () => {
      await this.read().catch(() => {});
      this.timer = 0;
    }, LIST_PATIENCE);
  }

  async read() {
    const doc = await this.door.get("/api/studies", {}, { limit: 1000 });
    if (this.closed) return;
    this.studies = doc.studies;
    this.total = doc.total;
    this.put();
    this.fetchSparks();
  }

  /* Those the server has not read yet; one after the other. */
  async fetchSparks() {
    for (const s of this.studies) {
      if (this.closed) return;
      const kept = this.sparks.get(s.name);
      if (s.spark || !s.best || (kept && kept.count === s.count)) continue;
      try {
        const doc = await this.door.get(
          studyRoute(s.name, "/history"),
          {},
          { points: 0 },
        );
        this.sparks.set(s.name, { count: s.count, points: doc.best });
      } catch {
        this.sparks.set(s.name, { count: s.count, points: [] });
      }
      const cell = this.cells && this.cells.get(s.name);
      if (cell) fill(cell, this.spark(s));
    }
  }

  spark(s) {
    const kept = this.sparks.get(s.name);
    const points = s.spark || (kept ? kept.points : []);
    return sparkline(points, s.count);
  }

  put() {
    const { studies } = this;
    const focused = document.activeElement && document.activeElement.id;
    this.cells = new Map();
    const names = new Set(studies.map((s) => s.name));
    for (const name of this.chosen) if (!names.has(name)) this.chosen.delete(name);
    fill(
      this.root,
      el("div", { class: "title-row" }, el("h1", {}, "Studies"), this.compareButton()),
      studies.length > 0
        ? this.table()
        : el("p", { class: "empty" }, "This store has no studies yet."),
    );
    if (focused && document.getElementById(focused))
      document.getElementById(focused).focus();
  }

  compareButton() {
    this.compare = el("button", { type: "button", class: "primary", id: "compare" });
    this.compare.addEventListener("click", () => {
      location.hash = `#/compare/${[...this.chosen].map(encode).join(",")}`;
    });
    this.showCompare();
    return this.studies.length > 1 ? this.compare : null;
  }

  showCompare() {
    const n = this.chosen.size;
    this.compare.disabled = n < 2;
    this.compare.textContent =
      n < 2
        ? "choose studies to compare"
        : `compare ${many(n, "study").replace("studys", "studies")}`;
  }

  table() {
    const titles = [
      "",
      "study",
      "best so far",
      "best",
      "trials",
      "sampler",
      "last active",
    ];
    const right = [0, 0, 0, 1, 1, 0, 0];
    const head = el(
      "tr",
      {},
      titles.map((t, i) =>
        t
          ? el("th", { scope: "col", class: right[i] ? "right" : `c${i}` }, t)
          : el("td", {}),
      ),
    );
    const body = el(
      "tbody",
      {},
      this.studies.map((s, i) => this.row(s, i)),
    );
    const table = el("table", { class: "studies" }, el("thead", {}, head), body);
    return el("div", { class: "panel full" }, table, this.more());
  }

  more() {
    if (this.total <= this.studies.length) return null;
    return el(
      "p",
      { class: "note" },
      `the first ${count(this.studies.length)} of ${count(this.total)}`,
    );
  }

  row(s, i) {
    const box = el("input", {
      type: "checkbox",
      id: `c-${i}`,
      "aria-label": `compare ${s.name}`,
    });
    box.checked = this.chosen.has(s.name);
    box.addEventListener("change", () => {
      if (box.checked) this.chosen.add(s.name);
      else this.chosen.delete(s.name);
      this.showCompare();
    });
    const spark = el("td", { class: "spark-cell" }, this.spark(s));
    this.cells.set(s.name, spark);
    const link = el("a", { href: `#/study/${encode(s.name)}`, id: `s-${i}` }, s.name);
    return el(
      "tr",
      {},
      el("td", { class: "choose" }, this.studies.length > 1 ? box : null),
      el("th", { scope: "row" }, link, this.pulse(s)),
      spark,
      el("td", { class: "right best-cell" }, this.bestText(s)),
      el("td", { class: "right" }, this.countText(s)),
      el("td", { class: "c5" }, s.sampler),
      el("td", { class: "c6" }, ago(s.last)),
    );
  }

  pulse(s) {
    return s.states.running > 0 && this.door.live
      ? el("span", { class: "running" }, `${s.states.running} running`)
      : null;
  }

  bestText(s) {
    if (!s.best) return "–";
    const text = [el("b", {}, number(s.best.value))];
    if (s.best.feasible === false && s.constrained)
      text.push(el("span", { class: "quiet" }, " infeasible"));
    return text;
  }

  countText(s) {
    const failed = s.states.failed;
    return failed > 0
      ? [
          count(s.count),
          el("span", { class: "quiet failures" }, ` (${count(failed)} failed)`),
        ]
      : count(s.count);
  }
}
