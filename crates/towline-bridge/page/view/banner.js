// What everybody has to know at once: no connection, a log that cannot be written, something that was left out.

import { h } from "./dom.js";

/** Shows banners in an element; `wake` tries to connect now. */
export function bannerView(element, wake) {
  let state = { connection: "open", trouble: null, gap: false };
  let quiet;
  let shownSince = 0;

  function show() {
    const banners = [];
    const isAway = state.connection !== "open";
    if (isAway && Date.now() - shownSince >= PATIENCE) {
      banners.push(h("p", { class: "banner warn" }, navigator.onLine === false ? "This device is offline. " : "No connection to the bridge. Trying again. ", "What you write is kept and sent later. ", h("button", { type: "button", class: "link", onclick: wake }, "Try now")));
    }
    if (state.trouble) banners.push(h("p", { class: "banner bad" }, `The bridge cannot write its log, and takes in nothing new until it can: ${state.trouble}`));
    if (state.gap) {
      banners.push(h("p", { class: "banner" }, "This page was too slow, and some words of a message in progress were left out. Whole messages are all here. ", h("button", { type: "button", class: "link", onclick: () => set({ gap: false }) }, "All right")));
    }
    element.replaceChildren(...banners);
  }

  function set(changes) {
    const wasAway = state.connection !== "open";
    state = { ...state, ...changes };
    const isAway = state.connection !== "open";
    if (isAway && !wasAway) {
      // A reconnect that takes a moment is nobody's business.
      shownSince = Date.now();
      clearTimeout(quiet);
      quiet = setTimeout(show, PATIENCE);
    }
    show();
  }
  return { set };
}

const PATIENCE = 1_200;
