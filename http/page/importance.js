/* importance.js - each parameter's share in the variation of the values, with its
 * standard error, and how far that can be trusted. */
import { el, fill, svg } from "./dom.js";
import { Panel } from "./panel.js";
import { percent } from "./numbers.js";
import { redraw } from "./schedule.js";

const IMPORTANCE_MOST = 30;
const IMPORTANCE_PATIENCE = 15000; /* milliseconds: it takes the server seconds */

export class ImportancePanel extends Panel {
  constructor(study) {
    super(study, "Importance", "third");
    this.list = el("ol", { class: "bars" });
    this.body.append(this.list);
    this.listen("data");
  }

  draw() {
    const { study } = this;
    if (this.asked === study.completed || this.asking) return;
    this.asking = true;
    this.ask().finally(() => {
      setTimeout(() => {
        this.asking = false;
        if (!study.closed) redraw(this);
      }, IMPORTANCE_PATIENCE);
    });
  }

  async ask() {
    const { study } = this;
    this.asked = study.completed;
    try {
      study.importances = await study.get("/importances");
    } catch (e) {
      this.say(study.completed < 4 ? "needs at least four complete trials" : e.message);
      return;
    }
    this.put(study.importances);
    study.say("importances");
  }

  put({ parameters, explained }) {
    const sorted = [...parameters]
      .sort((a, b) => b.share - a.share)
      .slice(0, IMPORTANCE_MOST);
    const most = Math.max(0.01, ...sorted.map((p) => p.share + (p.se || 0)));
    fill(
      this.list,
      sorted.map((p) => this.row(p, Math.min(1, most))),
    );
    const trust =
      explained < 0.2
        ? "; take it with care"
        : explained > 0.8
          ? ""
          : "; a rough picture";
    const how = "share in the variation of values, ± standard error";
    const well = `a model of these trials explains ${percent(explained)} of unseen ones`;
    this.say(`${how}; ${well}${trust}`);
  }

  row(p, most) {
    const x = (v) => `${(100 * Math.max(0, Math.min(most, v))) / most}%`;
    const se = p.se || 0;
    const picture = svg("svg", { class: "bar", "aria-hidden": "true" });
    picture.append(
      svg("rect", {
        class: "bar-fill",
        x: 0,
        y: 3,
        width: x(p.share),
        height: 12,
        rx: 1,
      }),
      svg("line", {
        class: "whisker",
        x1: x(p.share - se),
        x2: x(p.share + se),
        y1: 9,
        y2: 9,
      }),
    );
    const said = se > 0 ? `${percent(p.share)} ± ${percent(se)}` : percent(p.share);
    return el(
      "li",
      {},
      el("span", { class: "name" }, p.name),
      picture,
      el("span", {}, said),
    );
  }
}
