/* words.js - a configuration in the words of programs: JSON, a command line, Python. */

const PLACE = /\{\{[^{}]*\}\}|(\$?)\{([^{}:]+)(?::-([^}]*))?\}/g;

export function shellWord(word) {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/* Text bare, everything else as JSON: what the program gets as an argument. */
function argument(v) {
  return typeof v === "string" ? v : JSON.stringify(v);
}

/* One word of a command, or null where it is dropped: a word without white space that
 * holds a parameter that is inactive. */
function fillWord(word, params, known) {
  let dropped = false;
  const script = /\s/.test(word);
  const text = word.replace(PLACE, (all, dollar, name, other) => {
    if (name === undefined) return all.slice(1, -1);
    if (dollar && other !== undefined) return all;
    if (!known.has(name)) return all;
    if (name in params) return dollar + argument(params[name]);
    if (other !== undefined) return other;
    if (!script) dropped = true;
    return dollar;
  });
  return dropped ? null : text;
}

/* The study's command with the parameters in their places, or --name=value words where
 * the study has none. */
export function commandLine(command, params, parameters) {
  if (!command || command.length === 0)
    return Object.entries(params)
      .map(([name, v]) => shellWord(`--${name}=${argument(v)}`))
      .join(" ");
  const known = new Set(parameters.map((p) => p.name));
  const words = [];
  for (const word of command) {
    const text = fillWord(word, params, known);
    if (text !== null) words.push(text);
    else if (/^\{[^{}]*\}$/.test(word) && /^-[^={}]*$/.test(words.at(-1) || ""))
      words.pop(); /* the flag before it */
  }
  return words.map(shellWord).join(" ");
}

function pythonScalar(v, isFloat) {
  if (v === null) return "None";
  if (v === true) return "True";
  if (v === false) return "False";
  if (typeof v === "string") return JSON.stringify(v);
  const text = String(v);
  return isFloat && /^-?\d+$/.test(text) ? `${text}.0` : text;
}

export function pythonDict(params, parameters) {
  const floats = new Set(
    parameters.filter((p) => p.kind === "float").map((p) => p.name),
  );
  const items = Object.entries(params).map(
    ([name, v]) => `    ${JSON.stringify(name)}: ${pythonScalar(v, floats.has(name))},`,
  );
  return `params = {\n${items.join("\n")}\n}`;
}

export function jsonText(params) {
  return JSON.stringify(params, null, 2);
}
