/* dom.js - elements. Texts of studies only ever become text nodes and attribute values,
 * never markup; styles are set by class or, where a number decides, through CSSOM, so
 * that a strict Content-Security-Policy holds. */

const SVG = "http://www.w3.org/2000/svg";

function append(node, children) {
  for (const child of children.flat(3))
    if (child !== null && child !== undefined && child !== false) node.append(child);
  return node;
}

function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
}

/* el("p", {class: "quiet", onclick: f}, "text", otherElement) */
export function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  setAttributes(node, attributes);
  return append(node, children);
}

export function svg(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  setAttributes(node, attributes);
  return append(node, children);
}

export function fill(node, ...children) {
  node.replaceChildren();
  return append(node, children);
}

/* A labelled <select>; choices are [value, text] pairs. */
export function chooser(label, choices, chosen, onchange) {
  const select = el("select", { "aria-label": label });
  for (const [value, text] of choices)
    select.append(el("option", { value, selected: value === chosen }, text));
  select.addEventListener("change", () => onchange(select.value));
  return el("label", { class: "chooser" }, el("span", {}, label), select);
}

/* Buttons of which one is pressed; choices are [value, text] pairs. */
export function switcher(label, choices, chosen, onchange) {
  const group = el("div", { class: "switcher", role: "group", "aria-label": label });
  const press = (value) => {
    for (const b of group.children)
      b.setAttribute("aria-pressed", String(b.dataset.value === value));
  };
  for (const [value, text] of choices) {
    const button = el("button", { type: "button", "data-value": value }, text);
    button.addEventListener("click", () => {
      press(value);
      onchange(value);
    });
    group.append(button);
  }
  press(chosen);
  return group;
}

/* A sentence for screen readers, and the one place where the page says what it did. */
export function announce(text) {
  document.getElementById("said").textContent = text;
}
