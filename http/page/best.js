/* best.js - the best configuration and the trial that is looked at: value, parameters
 * with buttons that copy them, why it failed; and what the model believes. */
import { choiceText, duration, many, number, percent } from "./numbers.js";
import { commandLine, jsonText, pythonDict } from "./words.js";
import { announce, el, fill } from "./dom.js";
import { Panel } from "./panel.js";
import { redraw } from "./schedule.js";
import { STATES } from "./trials.js";

const BEST_PATIENCE = 3000;

/* Files and plain HTTP may have no clipboard of their own. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = el("textarea", { class: "offscreen", "aria-hidden": "true" }, text);
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/* One trial: its value, its parameters, why it failed. */
class TrialCard {
  constructor(study) {
    this.study = study;
    this.root = el("div", { class: "card" });
    this.trial = null; /* as the server knows it, exact */
  }

  put(row) {
    this.row = row;
    const { study } = this;
    const n = study.trials.number[row];
    const exact = this.trial && this.trial.number === n ? this.trial : null;
    const params = exact ? exact.params : study.paramsOf(row);
    fill(
      this.root,
      this.headline(row, n),
      this.reason(n, exact),
      this.values(params, row),
      this.copies(params),
    );
    this.fetchExact(row, n);
  }

  /* Numbers of columns are rounded; what is copied shall be exact. */
  async fetchExact(row, n) {
    const { study } = this;
    const key = `${n} ${study.trials.state[row]} ${study.trials.value[row]}`;
    if (this.known === key) return;
    this.known = key;
    try {
      const { best } = study.meta;
      const inside = !study.door.live && best && best.number === n;
      this.trial = inside ? best : await study.get(`/trials/${n}`);
    } catch {
      return;
    }
    if (!study.closed && this.row === row) this.put(row);
  }

  headline(row, n) {
    const { study } = this;
    const { trials } = study;
    const complete = study.isComplete(row);
    const belief = row === study.bestRow ? study.beliefOf(row) : null;
    const value = belief ? belief.mean : trials.value[row];
    const big = complete ? number(value, belief ? 4 : 6) : STATES[trials.state[row]];
    const parts = study.picked === row ? [] : [`trial ${n}`];
    if (belief) parts.unshift("expected", `measured ${number(trials.value[row])}`);
    else if (study.noisy && row === study.bestRow) parts.unshift("the luckiest");
    if (trials.seconds(row) >= 0) parts.push(duration(trials.seconds(row)));
    if (trials.feasible[row] === 0) parts.push("breaks a constraint");
    const away = this.distance(row);
    if (away) parts.push(away);
    return el(
      "p",
      { class: "big" },
      el("strong", {}, big),
      el("span", {}, parts.join(" · ")),
    );
  }

  distance(row) {
    const { bestRow, trials } = this.study;
    if (row === bestRow || !this.study.isComplete(row) || bestRow < 0) return "";
    const apart = Math.abs(trials.value[row] - trials.value[bestRow]);
    return `${number(apart, 3)} from the best`;
  }

  reason(n, exact) {
    const short = this.study.trials.reasons.get(n);
    const text = exact && exact.reason ? exact.reason : short;
    if (!text) return null;
    return el("pre", { class: "reason", tabindex: "0", "aria-label": "reason" }, text);
  }

  values(params, row) {
    const list = el("dl", { class: "params" });
    const isFloat = (v) => typeof v === "number";
    for (const [name, v] of Object.entries(params))
      list.append(
        el("dt", {}, name),
        el("dd", {}, isFloat(v) ? number(v) : choiceText(v)),
      );
    for (const [name, column] of this.study.trials.metrics)
      if (!Number.isNaN(column[row]))
        list.append(
          el("dt", { class: "metric" }, name),
          el("dd", { class: "metric" }, number(column[row])),
        );
    return el(
      "div",
      {
        class: "params-scroller",
        tabindex: "0",
        role: "group",
        "aria-label": "its values",
      },
      list,
    );
  }

  copies(params) {
    const { meta, parameters } = this.study;
    const kinds = [
      ["JSON", () => jsonText(params)],
      ["command line", () => commandLine(meta.command, params, parameters)],
      ["Python", () => pythonDict(params, parameters)],
    ];
    const buttons = kinds.map(([name, make]) => {
      const button = el(
        "button",
        { type: "button", "aria-label": `copy as ${name}` },
        name,
      );
      button.addEventListener("click", async () => {
        const done = await copyText(make());
        announce(done ? `copied as ${name}` : "copying is not possible here");
        button.classList.toggle("done", done);
        setTimeout(() => button.classList.remove("done"), 1200);
      });
      return button;
    });
    return el(
      "div",
      { class: "copies" },
      el("span", { class: "quiet" }, "copy as"),
      buttons,
    );
  }
}

/* The trial that was picked in a chart or in the table, at the edge of the window. */
export class PickedCard {
  constructor(study) {
    this.study = study;
    this.card = new TrialCard(study);
    const close = el("button", { type: "button", "aria-label": "close" }, "×");
    close.addEventListener("click", () => study.pick(-1));
    this.heading = el("h2", {});
    this.root = el("aside", {
      class: "picked-card",
      hidden: true,
      "aria-label": "picked trial",
    });
    this.root.append(el("div", { class: "head" }, this.heading, close), this.card.root);
    this.root.addEventListener("keydown", (e) => {
      if (e.key === "Escape") study.pick(-1);
    });
    for (const event of ["pick", "data"]) study.on(event, () => this.show());
  }

  show() {
    const row = this.study.picked;
    this.root.hidden = row < 0;
    if (row < 0) return;
    const n = this.study.trials.number[row];
    this.heading.textContent =
      row === this.study.bestRow ? `Trial ${n}, the best` : `Trial ${n}`;
    this.card.put(row);
    announce(this.heading.textContent);
  }
}

export class BestPanel extends Panel {
  constructor(study) {
    super(study, "Best", "third");
    this.card = new TrialCard(study);
    this.believed = el("div", { class: "believed" });
    this.body.append(this.card.root, this.believed);
    this.listen("data", "news");
  }

  draw() {
    const row = this.study.bestRow;
    if (row < 0)
      return void fill(
        this.card.root,
        el("p", { class: "empty" }, "No trial is complete yet."),
      );
    this.card.put(row);
    this.askBeliefs();
  }

  /* ---- what the model believes -------------------------------------------------- */

  async askBeliefs() {
    const { study } = this;
    if (this.asked === study.completed || this.asking || study.completed < 2) return;
    this.asking = true;
    this.asked = study.completed;
    try {
      const beliefs = await study.get("/beliefs");
      study.believe(beliefs.incumbent);
      if (!study.closed && study.bestRow >= 0) this.card.put(study.bestRow);
      this.putBeliefs(beliefs);
    } catch (e) {
      fill(
        this.believed,
        el("p", { class: "quiet" }, e.status === 404 ? "" : e.message),
      );
    }
    setTimeout(() => {
      this.asking = false;
      if (!study.closed) redraw(this);
    }, BEST_PATIENCE);
  }

  putBeliefs({ incumbent, predicted, success }) {
    const { study } = this;
    const near = (b) => `${number(b.mean, 5)} ± ${number(b.sd, 2)}`;
    const rows = [];
    const add = (name, text, more) =>
      rows.push(el("dt", {}, name), el("dd", {}, text, el("span", {}, more || "")));
    if (incumbent)
      add("expected at the best", near(incumbent), sureness(incumbent, study));
    if (predicted && (!incumbent || predicted.number !== incumbent.number))
      add("best by the model", near(predicted), `trial ${predicted.number}`);
    const b = incumbent || predicted;
    const limited =
      (study.meta.constraints || []).length > 0 || study.states.failed > 0;
    if (b && limited && b.p_feasible !== null) {
      add("P(feasible) there", percent(b.p_feasible));
      if (success !== null) add("of the latest proposals", percent(success));
    }
    fill(this.believed, el("h3", {}, "What the model believes"), el("dl", {}, rows));
  }
}

/* Two deviations against the spread of all values. */
function sureness(b, study) {
  const { sorted } = study;
  if (sorted.length < 4) return many(sorted.length, "result");
  const q = (t) => sorted[Math.floor(t * (sorted.length - 1))];
  const spread = q(0.75) - q(0.25);
  if (!(spread > 0)) return "";
  const part = (2 * b.sd) / spread;
  return part < 0.05
    ? "very sure"
    : part < 0.25
      ? "fairly sure"
      : part < 1
        ? "unsure"
        : "a guess";
}
