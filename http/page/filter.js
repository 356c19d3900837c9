/* filter.js - the filter of the table. Words are joined by and:
 *   lr<0.01   kernel=rbf   state=failed   number>=100   value<=3   "any text"
 * A name is a parameter, a metric, or one of value, trial, time, state, reason, feasible,
 * origin. A word without a comparison is looked for in states, choices and reasons. */
import { isCategory } from "./scale.js";
import { choiceText } from "./numbers.js";
import { ORIGINS, STATES } from "./trials.js";

const COMPARISON = /^(.+?)(<=|>=|!=|==|=|<|>|~)(.*)$/;
const COMPARE = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "=": (a, b) => a === b,
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
};

/* Words between spaces; quotes keep spaces. */
function wordsOf(text) {
  const words = text.match(/(?:[^\s"]+|"[^"]*"?)+/g) || [];
  return words.map((w) => w.replaceAll('"', ""));
}

/* What of a trial a name means: {text(row)} or {number(row)}; null: nothing. */
function fieldOf(name, study) {
  const { trials } = study;
  const at = study.parameters.findIndex((p) => p.name === name);
  if (at >= 0) {
    const p = study.parameters[at];
    if (!isCategory(p)) return { number: (i) => trials.params[at][i] };
    const texts = p.choices.map(choiceText);
    return { text: (i) => texts[trials.params[at][i]] ?? "inactive" };
  }
  const metric = trials.metrics.get(name);
  if (metric) return { number: (i) => trials.metrics.get(name)[i] };
  if (name === "value") return { number: (i) => trials.value[i] };
  /* As the API and as the table call it. */
  if (name === "number" || name === "trial") return { number: (i) => trials.number[i] };
  if (name === "seconds" || name === "time")
    return { number: (i) => trials.seconds(i) };
  if (name === "state") return { text: (i) => STATES[trials.state[i]] };
  if (name === "origin") return { text: (i) => ORIGINS[trials.origin[i]] };
  if (name === "reason")
    return { text: (i) => trials.reasons.get(trials.number[i]) || "" };
  if (name === "feasible")
    return { text: (i) => ["false", "true"][trials.feasible[i]] || "unknown" };
  return null;
}

function comparison(name, sign, wanted, study) {
  const field = fieldOf(name, study);
  if (!field) return { problem: `there is nothing named ${name}` };
  if (field.number) {
    const v = Number(wanted);
    if (wanted === "" || Number.isNaN(v) || sign === "~")
      return { problem: `${name} is a number, and ${wanted || "nothing"} is none` };
    return { test: (i) => COMPARE[sign](field.number(i), v) };
  }
  const low = wanted.toLowerCase();
  if (sign === "~") return { test: (i) => field.text(i).toLowerCase().includes(low) };
  if (sign === "=" || sign === "==")
    return { test: (i) => field.text(i).toLowerCase() === low };
  if (sign === "!=") return { test: (i) => field.text(i).toLowerCase() !== low };
  return { problem: `${name} is text: use = or != or ~` };
}

function anywhere(word, study) {
  const { trials } = study;
  const low = word.toLowerCase();
  const states = STATES.map((s) => s.includes(low));
  const choices = study.parameters.map((p) =>
    isCategory(p)
      ? p.choices.map((c) => choiceText(c).toLowerCase().includes(low))
      : [],
  );
  return (i) => {
    if (states[trials.state[i]]) return true;
    if (String(trials.number[i]) === low) return true;
    const reason = trials.reasons.get(trials.number[i]);
    if (reason && reason.toLowerCase().includes(low)) return true;
    for (let p = 0; p < choices.length; p++)
      if (choices[p][trials.params[p][i]]) return true;
    return false;
  };
}

/* {text, test: null or f(row), problem: null or a sentence} */
export function compileFilter(text, study) {
  const tests = [];
  let problem = null;
  for (const word of wordsOf(text)) {
    const parts = COMPARISON.exec(word);
    const made = parts
      ? comparison(parts[1], parts[2], parts[3], study)
      : { test: anywhere(word, study) };
    if (made.problem) problem = made.problem;
    else tests.push(made.test);
  }
  const test = tests.length > 0 ? (i) => tests.every((t) => t(i)) : null;
  return { text: text.trim(), test, problem };
}
