/* main.js - starts the page: the door to data, the theme, and which view an address
 * means: #/ all studies, #/study/NAME, #/compare/A,B. */
import { el, fill } from "./dom.js";
import { startTheme, toggleTheme } from "./theme.js";
import { CompareView } from "./compare.js";
import { ListView } from "./list.js";
import { openDoor, unescapeWord } from "./api.js";
import { StudyView } from "./view.js";

const door = openDoor();
const place = document.getElementById("place");
const crumbs = document.getElementById("crumbs");
const live = document.getElementById("live");
let current = null;
let visits = 0;

function setStatus(word) {
  live.dataset.state = door.live ? word : "report";
  const said = { live: "live", lost: "reconnecting", report: "report", wait: "…" };
  live.textContent = said[live.dataset.state];
}

function viewFor(hash) {
  const [, kind, rest] = /^#\/([a-z]*)\/?(.*)$/.exec(hash) || [];
  if (kind === "study" && rest)
    return {
      view: new StudyView(door, unescapeWord(rest), setStatus),
      title: unescapeWord(rest),
    };
  if (kind === "compare" && rest) {
    const names = [...new Set(rest.split(",").map(unescapeWord))];
    return { view: new CompareView(door, names, setStatus), title: "compare" };
  }
  return { view: new ListView(door, setStatus), title: "" };
}

async function visit() {
  const mine = ++visits;
  const { view, title } = viewFor(location.hash);
  if (current) current.close();
  current = view;
  document.title = title ? `${title} – cocabo` : "cocabo";
  fill(crumbs, title ? el("span", { "aria-current": "page" }, title) : null);
  setStatus(door.live ? "wait" : "report");
  scrollTo(0, 0);
  try {
    /* In the page before it opens, so that its widths are known. */
    fill(place, view.root);
    await view.open();
    if (mine === visits) setStatus(door.live ? "live" : "report");
  } catch (e) {
    if (mine !== visits) return;
    if (e.status === 401) askToken(view);
    else
      fill(
        view.root,
        el("h1", {}, "Not to be seen"),
        el("p", { class: "empty" }, e.message),
      );
  }
}

/* Where the server wants a token. */
function askToken(view) {
  const input = el("input", { type: "password", id: "token", autocomplete: "off" });
  const form = el(
    "form",
    { id: "token-form", class: "panel" },
    el("label", { for: "token" }, "This server wants a token."),
    input,
    el("button", { type: "submit", class: "primary" }, "open"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    door.setToken(input.value);
    visit();
  });
  fill(view.root, form);
  input.focus();
}

/* A report of one study opens there. */
async function firstAddress() {
  if (location.hash.length > 2 || door.live) return;
  const doc = await door.get("/api/studies").catch(() => null);
  if (doc && doc.studies.length === 1)
    history.replaceState(
      null,
      "",
      `#/study/${encodeURIComponent(doc.studies[0].name)}`,
    );
}

async function start() {
  startTheme();
  document.getElementById("theme").addEventListener("click", toggleTheme);
  await firstAddress();
  addEventListener("hashchange", visit);
  await visit();
}

start();
