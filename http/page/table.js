/* table.js - all trials, with a filter, sorting and the reasons of failures. Only rows
 * in sight exist as elements; two spacers stand for the others, so 50 000 cost as
 * little as fifty. */
import { brief, count, duration, number } from "./numbers.js";
import { Panel, paramText } from "./panel.js";
import { orderBy, STATES } from "./trials.js";
import { announce, el, fill } from "./dom.js";
import { redraw } from "./schedule.js";

const TABLE_ROW = 30; /* pixels, as in the style sheet */
const TABLE_HEIGHT = 480;
const SPARE = 6; /* rows beyond the edges */

export class TablePanel extends Panel {
  constructor(study) {
    super(study, "Trials");
    this.sort = { key: "number", down: true };
    this.makeFilter();
    this.top = el("tr", { "aria-hidden": "true" }, el("td", {}));
    this.bottom = el("tr", { "aria-hidden": "true" }, el("td", {}));
    this.heads = el("tr", {});
    this.rowsBody = el("tbody", {});
    this.table = el(
      "table",
      { class: "trials" },
      el("thead", {}, this.heads),
      this.rowsBody,
    );
    this.scroller = el("div", {
      class: "table-scroller",
      tabindex: "0",
      role: "group",
      "aria-label": "trials, may scroll",
    });
    this.scroller.append(this.table);
    this.scroller.style.maxHeight = `${TABLE_HEIGHT}px`;
    this.scroller.addEventListener("scroll", () => this.window(), { passive: true });
    this.body.append(this.scroller);
    this.stop = 0; /* of the rows, where Tab stops and from where arrows move */
    this.rowsBody.addEventListener("keydown", (e) => this.pressed(e));
    this.listen("data", "mask", "pick");
    study.on("pick", () => this.reveal());
  }

  makeFilter() {
    const label = "filter trials";
    this.input = el("input", {
      type: "search",
      "aria-label": label,
      placeholder: "filter: lr<0.01 state=failed …",
      spellcheck: "false",
      autocomplete: "off",
    });
    this.problem = el("span", { class: "problem", role: "status" });
    let timer = 0;
    this.input.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        this.study.setFilter(this.input.value);
        this.problem.textContent = this.study.filter.problem || "";
      }, 120);
    });
    this.controls.append(this.problem, this.input);
  }

  /* {key, label, right, get(row) for sorting, text(row)} */
  columns() {
    const { study } = this;
    const { trials } = study;
    const num = (key, label, get, text) => ({ key, label, right: true, get, text });
    const found = [
      num(
        "number",
        "trial",
        (r) => trials.number[r],
        (r) => String(trials.number[r]),
      ),
      {
        key: "state",
        label: "state",
        get: (r) => trials.state[r],
        text: (r) => this.stateText(r),
      },
      num(
        "value",
        study.meta.objective || "value",
        (r) => trials.value[r],
        (r) => number(trials.value[r]),
      ),
    ];
    study.parameters.forEach((p, i) => {
      const get = (r) => trials.params[i][r];
      const text = (r) => (Number.isNaN(get(r)) ? "" : paramText(p, get(r)));
      found.push({ key: `p${i}`, label: p.name, right: !p.choices, get, text });
    });
    for (const name of study.metricNames) {
      const get = (r) => trials.metrics.get(name)[r];
      found.push(
        num(`m${name}`, name, get, (r) => (Number.isNaN(get(r)) ? "" : number(get(r)))),
      );
    }
    found.push(
      num(
        "seconds",
        "time",
        (r) => trials.seconds(r),
        (r) => (trials.seconds(r) >= 0 ? duration(trials.seconds(r)) : ""),
      ),
    );
    if (trials.reasons.size > 0) {
      const text = (r) => trials.reasons.get(trials.number[r]) || "";
      found.push({
        key: "reason",
        label: "reason",
        get: text,
        text: (r) => brief(text(r), 120),
      });
    }
    return found;
  }

  stateText(row) {
    const { trials } = this.study;
    const state = STATES[trials.state[row]];
    return trials.feasible[row] === 0 ? "infeasible" : state;
  }

  draw() {
    const { study } = this;
    this.shape();
    this.sortRows();
    this.table.setAttribute("aria-rowcount", String(this.rows.length + 1));
    const all = count(study.trials.count || study.trials.n);
    const thinned = study.trials.thinned
      ? `, ${count(study.trials.n)} of them here`
      : "";
    this.say(
      study.isFiltered
        ? `${count(this.rows.length)} of ${all} trials`
        : `${all} trials${thinned}`,
    );
    if (this.input.value !== study.filter.text && document.activeElement !== this.input)
      this.input.value = study.filter.text;
    this.drawn = null;
    this.window();
  }

  /* Columns, when there are new ones. */
  shape() {
    this.cols = this.columns();
    const signature = this.cols.map((c) => c.key).join("\n");
    if (signature !== this.signature) {
      this.signature = signature;
      fill(
        this.heads,
        this.cols.map((c) => this.headCell(c)),
      );
      for (const spacer of [this.top, this.bottom])
        spacer.firstChild.setAttribute("colspan", String(this.cols.length));
    }
    this.cols.forEach((c, i) => {
      const on = c.key === this.sort.key;
      const way = this.sort.down ? "descending" : "ascending";
      this.heads.children[i].setAttribute("aria-sort", on ? way : "none");
    });
  }

  headCell(c) {
    const button = el("button", { type: "button", title: c.label }, c.label);
    button.addEventListener("click", () => {
      const again = this.sort.key === c.key;
      this.sort = { key: c.key, down: again ? !this.sort.down : false };
      announce(`sorted by ${c.label}, ${this.sort.down ? "descending" : "ascending"}`);
      this.scroller.scrollTop = 0;
      redraw(this);
    });
    return el("th", { scope: "col", class: c.right ? "right" : "" }, button);
  }

  /* Selected rows in their order; what has no value comes last either way. */
  sortRows() {
    const { order, mask } = this.study;
    const rows = order.filter((r) => mask[r]);
    const col = this.cols.find((c) => c.key === this.sort.key) || this.cols[0];
    const way = this.sort.down ? -1 : 1;
    if (col.key === "number") this.rows = way < 0 ? rows.reverse() : rows;
    else if (col.key === "reason")
      this.rows = rows.sort((a, b) => {
        const [s, t] = [col.get(a), col.get(b)];
        if (!s !== !t) return s ? -1 : 1;
        return way * s.localeCompare(t) || a - b;
      });
    else this.rows = sortBy(rows, col.get, way);
  }

  /* Makes the elements of the rows in sight. */
  window() {
    const at = Math.floor(this.scroller.scrollTop / TABLE_ROW);
    const from = Math.max(0, at - SPARE);
    const to = Math.min(
      this.rows.length,
      at + Math.ceil(TABLE_HEIGHT / TABLE_ROW) + SPARE,
    );
    const picked = this.study.picked;
    const drawn = `${from} ${to}`;
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const focused = this.rowsBody.contains(document.activeElement);
    if (this.stop < from || this.stop >= to) this.stop = Math.min(at, to - 1);
    this.top.firstChild.style.height = `${from * TABLE_ROW}px`;
    this.bottom.firstChild.style.height = `${(this.rows.length - to) * TABLE_ROW}px`;
    const lines = [];
    for (let i = from; i < to; i++) lines.push(this.line(i, picked));
    fill(
      this.rowsBody,
      from > 0 ? this.top : null,
      lines,
      to < this.rows.length ? this.bottom : null,
    );
    if (this.rows.length === 0)
      this.rowsBody.append(
        el("tr", {}, el("td", { colspan: this.cols.length }, "No trial is like this.")),
      );
    if (focused) this.focusStop();
  }

  /* Elements of rows come and go; what has the focus must not go with them. */
  focusStop() {
    const button = this.rowsBody.querySelector("button[tabindex='0']");
    (button || this.scroller).focus({ preventScroll: true });
  }

  /* One stop for all rows; arrow keys move it. */
  pressed(event) {
    const page = Math.floor(TABLE_HEIGHT / TABLE_ROW) - 2;
    const last = this.rows.length - 1;
    const to = {
      ArrowDown: this.stop + 1,
      ArrowUp: this.stop - 1,
      PageDown: this.stop + page,
      PageUp: this.stop - page,
      Home: 0,
      End: last,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.stop = Math.max(0, Math.min(last, to));
    const y = this.stop * TABLE_ROW;
    const { scrollTop } = this.scroller;
    if (y < scrollTop || y > scrollTop + TABLE_HEIGHT - 3 * TABLE_ROW)
      this.scroller.scrollTop = Math.max(0, y - TABLE_HEIGHT / 3);
    this.drawn = null;
    this.window();
  }

  line(i, picked) {
    const row = this.rows[i];
    const { study } = this;
    const line = el("tr", {
      "aria-rowindex": String(i + 2),
      class: row === picked ? "picked" : row === study.bestRow ? "best" : "",
    });
    for (const c of this.cols) {
      const text = c.text(row);
      const cell = el("td", { class: c.right ? "right" : "" });
      if (c.key === "number")
        cell.append(
          el(
            "button",
            {
              type: "button",
              tabindex: i === this.stop ? "0" : "-1",
              "aria-label": `show trial ${text}`,
              onclick: () => study.pick(row === study.picked ? -1 : row),
            },
            text,
          ),
        );
      else if (c.key === "state")
        cell.append(el("span", { class: `state ${text}` }, text));
      else cell.textContent = text;
      if (text.length > 24) cell.setAttribute("title", text);
      line.append(cell);
    }
    return line;
  }

  /* Scrolls to the picked trial within the table, if it is there. */
  reveal() {
    const at = this.rows ? this.rows.indexOf(this.study.picked) : -1;
    if (at < 0) return;
    const y = at * TABLE_ROW;
    const { scrollTop } = this.scroller;
    if (y < scrollTop || y > scrollTop + TABLE_HEIGHT - 2 * TABLE_ROW)
      this.scroller.scrollTop = Math.max(0, y - TABLE_HEIGHT / 3);
  }
}

/* What has no value comes last either way. */
function sortBy(rows, get, way) {
  return orderBy(Float64Array.from(rows, (r) => way * get(r))).map((i) => rows[i]);
}
