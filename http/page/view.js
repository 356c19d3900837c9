/* view.js - the page of one study: its heading, the bar that says what is selected, and
 * its panels in their order. */
import { ago, count, many } from "./numbers.js";
import { announce, el, fill } from "./dom.js";
import { BestPanel, PickedCard } from "./best.js";
import { brushText, ParallelPanel } from "./parallel.js";
import { CategoriesPanel } from "./categories.js";
import { ContourPanel } from "./contour.js";
import { HistoryPanel } from "./history.js";
import { ImportancePanel } from "./importance.js";
import { ScatterPanel } from "./scatter.js";
import { SlicesPanel } from "./slices.js";
import { StepsPanel } from "./steps.js";
import { Study } from "./study.js";
import { TablePanel } from "./table.js";
import { TimelinePanel } from "./timeline.js";

export class StudyView {
  constructor(door, name, status) {
    this.study = new Study(door, name);
    this.status = status;
    this.title = el("h1", {}, name);
    this.facts = el("p", { class: "facts" });
    this.meter = el("div", { class: "meter", "aria-hidden": "true" });
    this.chips = el("div", { class: "chips", hidden: true, role: "group" });
    this.chips.setAttribute("aria-label", "what is selected");
    this.grid = el("div", { class: "grid" });
    this.root = el("main", { id: "main", tabindex: "-1" });
    this.panels = [];
  }

  async open() {
    const { study } = this;
    await study.load();
    this.root.append(
      el("div", { class: "title-row" }, el("div", {}, this.title, this.facts)),
      this.meter,
      this.grid,
      el("div", { class: "dock" }, new PickedCard(study).root, this.chips),
    );
    this.panels = this.makePanels(study);
    this.grid.append(...this.panels.map((p) => p.root));
    study.on("data", () => this.tell());
    study.on("news", () => this.tell());
    study.on("mask", () => this.tellChips());
    study.on("gone", () => this.gone());
    study.on("lost", () => this.status("lost"));
    study.on("shown", () => this.pair());
    this.tell();
    study.say("data");
    this.pair();
  }

  makePanels(study) {
    const kinds = [
      HistoryPanel,
      BestPanel,
      ParallelPanel,
      ContourPanel,
      ImportancePanel,
    ];
    kinds.push(SlicesPanel, CategoriesPanel, ScatterPanel, StepsPanel, TimelinePanel);
    kinds.push(TablePanel);
    const two = study.parameters.length > 1;
    return kinds.filter((P) => two || P !== ContourPanel).map((P) => new P(study));
  }

  /* Of an odd number of half panels the last takes the whole width. */
  pair() {
    const halves = [...this.grid.querySelectorAll(".half:not([hidden])")];
    halves.forEach((panel, i) =>
      panel.classList.toggle(
        "alone",
        halves.length % 2 === 1 && i === halves.length - 1,
      ),
    );
  }

  close() {
    this.study.close();
    for (const panel of this.panels) panel.close();
  }

  gone() {
    fill(this.root, el("p", { class: "empty" }, "This study was deleted."));
  }

  /* One quiet line: how it stands. */
  tell() {
    const { study } = this;
    const { states, meta } = study;
    if (study.connected) this.status("live");
    const parts = [study.sign > 0 ? "minimised" : "maximised"];
    const all = meta.budget ? ` of ${count(meta.budget)}` : "";
    parts.push(`${count(states.complete)} complete${all}`);
    for (const s of ["running", "failed", "waiting", "interrupted", "stale"])
      if (states[s] > 0) parts.push(`${count(states[s])} ${s}`);
    parts.push(`sampler ${meta.sampler}`);
    if (meta.deterministic === false) parts.push("noisy values");
    for (const c of meta.constraints || []) parts.push(c);
    const first = study.order.length > 0 ? study.trials.started[study.order[0]] : NaN;
    if ((meta.created || first) > 0) parts.push(`begun ${ago(meta.created || first)}`);
    fill(
      this.facts,
      parts.map((p, i) => el("span", { class: i === 1 ? "strong" : "" }, p)),
    );
    this.meter.hidden = !meta.budget;
    if (meta.budget) {
      const share = (states.complete + states.failed) / meta.budget;
      this.meter.style.setProperty("--share", `${Math.min(100, 100 * share)}%`);
    }
    this.tellChips();
  }

  /* What is selected, each part with a button that drops it. */
  tellChips() {
    const { study } = this;
    this.chips.hidden = !study.isFiltered;
    if (!study.isFiltered) return fill(this.chips);
    const chip = (text, drop) =>
      el(
        "button",
        { type: "button", class: "chip", "aria-label": `drop ${text}`, onclick: drop },
        text,
        el("span", { "aria-hidden": "true" }, "×"),
      );
    const parts = [];
    for (const [key, brush] of study.brushes) {
      const p = study.parameterOf(key);
      const name = p
        ? p.name
        : key[0] === "m"
          ? key.slice(1)
          : key === "number"
            ? "trial"
            : key;
      parts.push(chip(`${name} ${brushText(p, brush)}`, () => study.brush(key, null)));
    }
    if (study.filter.text)
      parts.push(chip(study.filter.text, () => study.setFilter("")));
    const clear = el(
      "button",
      { type: "button", onclick: () => study.clear() },
      "clear all",
    );
    const shown = `${count(study.selected)} of ${many(study.trials.n, "trial")}`;
    fill(this.chips, el("b", {}, shown), parts, clear);
    announce(`${shown} selected`);
  }
}
