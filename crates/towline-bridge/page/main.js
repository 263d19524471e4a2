// The page as a whole: who is let in, where somebody is (the part of the address behind the #), and what is shown there.
// It holds the data layer and the views together; neither knows the other.

import { ApiError, api, door } from "./data/api.js";
import { put, waiting } from "./data/list.js";
import { Outbox } from "./data/outbox.js";
import { placeIn } from "./data/place.js";
import { blocksOf } from "./data/session.js";
import { follow } from "./follow.js";
import { usage } from "./data/words.js";
import { bannerView } from "./view/banner.js";
import { h } from "./view/dom.js";
import { sessionList } from "./view/list.js";
import { loginView } from "./view/login.js";
import { pastView } from "./view/past.js";
import { startView } from "./view/start.js";
import { askForTrust } from "./view/trust.js";

const app = document.getElementById("app");
const banners = bannerView(document.getElementById("banners"), () => following?.wake());
const records = new Map();
let choices = null;
let following = null;
let used = "";
let sending;
/** What is shown in the middle: `{update?, close?}`. */
let shown = null;

const outbox = new Outbox({
  say: api.say,
  storage: localStorage,
  isShown: (session) => following?.session() === session,
  changed: () => refresh(),
  later() {
    clearTimeout(sending);
    sending = setTimeout(() => following && outbox.flush(), AGAIN);
  },
});

const list = sessionList({
  async find(words) {
    const [here, past] = await Promise.all([words ? api.search(words, 20) : [], api.past({ words, limit: words ? 30 : 15 })]);
    return { here, past };
  },
});
const main = h("main", { id: "main", tabIndex: -1 });

/** Trades the token in the link for a cookie, and takes it out of the address and the history. */
async function enter() {
  const given = /^#token=(.+)$/.exec(location.hash)?.[1];
  if (given) {
    history.replaceState(null, "", "/");
    try {
      await api.login(decodeURIComponent(given));
    } catch (error) {
      return login(error.message);
    }
  }
  try {
    choices = await api.agents();
  } catch (error) {
    if (error.status === 401) return login();
    banners.set({ connection: "waiting" });
    setTimeout(enter, AGAIN);
    return undefined;
  }
  return begin();
}

function login(problem) {
  following?.stop();
  leave();
  following = null;
  banners.set({ connection: "open", trouble: null });
  const view = loginView({
    problem,
    async enter(token) {
      await api.login(token);
      await enter();
    },
  });
  app.replaceChildren(view.element);
  view.focus();
}

function begin() {
  app.replaceChildren(list.element, main);
  following = follow({
    outbox,
    refused: () => door.closed(),
    record(record) {
      if (put(records, record)) refresh();
    },
    connection(state) {
      banners.set(state);
      refresh();
    },
  });
  route();
  following.connect();
  outbox.flush();
  list.older();
  countUsage();
}

/** Shows where somebody is. */
async function route() {
  if (!following) return;
  const { place, id, seq, directory } = placeIn(location.hash);
  leave();
  document.body.dataset.place = place || "list";
  const isStillHere = here();
  try {
    if (place === "s" && id) await showSession(id, seq, isStillHere);
    else if (place === "past" && id) await showPast(id, directory, isStillHere);
    else showStart(place === "new");
  } catch (error) {
    if (!isStillHere()) return;
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401) return login();
    const again = h("button", { type: "button", onclick: route }, "Try again");
    main.replaceChildren(h("section", { class: "centre" }, h("div", { class: "box" }, h("p", { role: "alert" }, error.message), h("div", { class: "row" }, again, h("a", { class: "button", href: "#/" }, "All sessions")))));
  }
  refresh();
}

/** Tells later whether somebody is still where they are now. */
function here() {
  const now = location.hash;
  return () => location.hash === now && following !== null;
}

function leave() {
  shown?.close?.();
  shown = null;
  main.replaceChildren();
}

async function showSession(id, seq, isStillHere) {
  main.replaceChildren(h("p", { class: "faint pad" }, "Loading…"));
  const view = await following.open(id, {
    seq,
    isStillHere,
    allowsBypass: choices.bypass_permissions,
    back: () => (location.hash = "#/"),
    ended: () => (location.hash = "#/"),
  });
  if (!view) return;
  shown = view;
  main.replaceChildren(view.element);
  view.settled();
}

function showStart(isWanted) {
  const recent = [...new Set([...records.values()].sort((a, b) => b.active_at - a.active_at).map((record) => record.directory))].slice(0, 8);
  const view = startView({
    choices,
    recent,
    folders: api.directory,
    async begin(wish, content) {
      if (!(await mayBegin(wish.directory))) throw new Error("Nothing was started.");
      const { record } = await api.start(wish);
      put(records, record);
      outbox.put(record.id, content);
      // The agent may think up a better title later; until then the list says what was asked for.
      const title = firstWords(content);
      if (title) api.change(record.id, { title }).catch(() => {});
      location.hash = `#/s/${record.id}`;
    },
  });
  main.replaceChildren(view.element);
  // A small screen shows the list first; there a keyboard would be in the way.
  if (isWanted || matchMedia("(min-width: 800px)").matches) view.focus();
}

/** Asks whether a folder may be trusted, if it never was and its files wait for that; whether a session may begin there. */
async function mayBegin(directory) {
  // Without one the bridge says what is missing.
  if (!directory) return true;
  let trust;
  try {
    trust = await api.trust(directory);
  } catch (error) {
    // A folder that cannot be looked at is not trusted. The start says what is wrong with it.
    if (error instanceof ApiError && !error.mayPass) return true;
    throw error;
  }
  if (trust.trusted || !trust.asks.length) return true;
  const answer = await askForTrust(trust);
  if (answer === "trust") await api.answerTrust(directory, true, trust.digest);
  return answer !== null;
}

/** How a message begins, as a title. */
function firstWords(content) {
  const words = blocksOf(content).find((block) => block.type === "text")?.text.trim().split("\n")[0] ?? "";
  return words.length > 60 ? `${words.slice(0, 59)}…` : words;
}

async function showPast(session, directory, isStillHere) {
  main.replaceChildren(h("p", { class: "faint pad" }, "Loading…"));
  const history = await api.history(session);
  if (!isStillHere()) return;
  const view = pastView({
    session,
    directory,
    history,
    back: () => (location.hash = "#/"),
    async resume({ fork }) {
      if (!(await mayBegin(directory))) return;
      const { record } = await api.start({ resume: session, fork, directory: directory || undefined });
      put(records, record);
      location.hash = `#/s/${record.id}`;
    },
  });
  main.replaceChildren(view.element);
  view.settled();
}

let isPlanned = false;
/** Shows everything anew, once for all that has changed until the next picture. */
function refresh() {
  if (isPlanned) return;
  isPlanned = true;
  // A page in the background gets no animation frames, and its title still has to tell.
  const plan = document.hidden ? (run) => setTimeout(run, 250) : requestAnimationFrame;
  plan(() => {
    isPlanned = false;
    if (!following) return;
    list.update({ records, chosen: following.session(), used });
    shown?.update?.();
    document.body.classList.toggle("away", !following.isOpen());
    const count = waiting(records);
    document.title = `${count ? `(${count}) ` : ""}Towline`;
  });
}

async function countUsage() {
  try {
    const { total } = await api.usage();
    used = total.turns ? `All sessions: ${usage(total) || "no tokens"}` : "";
    refresh();
  } catch {
    // The figure is an addition; the next time will do.
  }
}

door.closed = () => following && login("You are not let in any more: the token has changed, or you were away for long.");
addEventListener("hashchange", () => (location.hash.startsWith("#token=") ? enter() : route()));
addEventListener("online", () => following?.wake());
document.addEventListener("visibilitychange", () => document.hidden || following?.wake());
addEventListener("pageshow", (event) => event.persisted && following?.wake());
setInterval(() => {
  refresh();
  if (following && !document.hidden) countUsage();
}, 60_000);

/** How long to wait for a bridge that is not there, in milliseconds. */
const AGAIN = 2_000;

enter();
