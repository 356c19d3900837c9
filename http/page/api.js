/* api.js - the one door to data. A live page asks the server that it came from; a
 * report has all its documents inside, under the same paths. Nothing else in the page
 * knows which of the two it is. */

const KEY = "cocabo-token"; /* of sessionStorage */

export class NoDocument extends Error {
  constructor(sentence, status) {
    super(sentence);
    this.status = status; /* of HTTP; 404 where a report has no such document */
  }
}

export const encode = encodeURIComponent;

/* Parts of an address that only say how much is wanted; reports are written for none.
 * */
function pathOf(route, wanted) {
  const query = Object.entries(wanted || {}).map(([k, v]) => `${k}=${encode(v)}`);
  return query.length > 0 ? `${route}?${query.join("&")}` : route;
}

/* What a part of an address says. */
export function unescapeWord(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; /* a lone percent sign */
  }
}

/* A token in the address is kept for the tab and taken out of the address. */
function takeToken() {
  const found = /[#&]token=([^&]*)/.exec(location.hash);
  if (found) {
    sessionStorage.setItem(KEY, unescapeWord(found[1]));
    history.replaceState(null, "", location.pathname + location.search + "#/");
  }
}

class ReportDoor {
  constructor(documents) {
    this.documents = documents;
    this.live = false;
  }
  async get(route, chosen) {
    const found = this.documents[pathOf(route, chosen)];
    if (!found) throw new NoDocument("this is not in the report", 404);
    if (typeof found.error === "string") throw new NoDocument(found.error, 409);
    return found;
  }
  listen() {
    return () => {};
  }
}

class LiveDoor {
  constructor() {
    this.live = true;
  }

  headers(more) {
    const token = sessionStorage.getItem(KEY);
    return token ? { ...more, Authorization: `Bearer ${token}` } : more;
  }

  setToken(token) {
    sessionStorage.setItem(KEY, token);
  }

  async open(path, options) {
    const answer = await fetch(path.slice(1), {
      ...options,
      headers: this.headers(options.headers),
    });
    if (answer.ok) return answer;
    const said = await answer.json().catch(() => ({}));
    throw new NoDocument(
      said.error || `the server said ${answer.status}`,
      answer.status,
    );
  }

  /* chosen: what is wanted, part of a report's paths too; sized: how much of it. */
  async get(route, chosen, sized) {
    const path = pathOf(route, { ...chosen, ...sized });
    return (await this.open(path, { headers: { Accept: "application/json" } })).json();
  }

  /* Calls `hear(event, data)` for every server-sent event, over broken connections too,
   * and `hear("lost")` when one breaks. Returns what stops it. */
  listen(route, hear) {
    const stop = new AbortController();
    const follow = async () => {
      for (let wait = 1; !stop.signal.aborted; wait = Math.min(15, 2 * wait)) {
        try {
          await this.follow(route, stop.signal, (event, data) => {
            wait = 1;
            hear(event, data);
          });
        } catch {
          if (stop.signal.aborted) return;
        }
        if (!stop.signal.aborted) hear("lost", null);
        await new Promise((done) => setTimeout(done, 1000 * wait));
      }
    };
    follow();
    return () => stop.abort();
  }

  /* fetch, not EventSource, because that cannot send a token. */
  async follow(route, signal, hear) {
    const headers = { Accept: "text/event-stream" };
    const answer = await this.open(route, { headers, signal, cache: "no-store" });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const parts = (rest + value).split(/\r?\n\r?\n/);
      rest = parts.pop();
      for (const part of parts) hearEvent(part, hear);
    }
  }
}

function hearEvent(text, hear) {
  let event = "message";
  const data = [];
  for (const line of text.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    const field = line.slice(0, colon);
    const value = line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") event = value;
    if (field === "data") data.push(value);
  }
  if (data.length > 0) hear(event, JSON.parse(data.join("\n")));
}

export function openDoor() {
  const inside = document.getElementById("cocabo-data");
  if (inside) return new ReportDoor(JSON.parse(inside.textContent));
  takeToken();
  return new LiveDoor();
}

export const studyRoute = (name, rest = "") => `/api/studies/${encode(name)}${rest}`;
