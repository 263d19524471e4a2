// Follows the list of sessions and one session of it: what happens, the session's state, and what a person does there.

import { api } from "./data/api.js";
import * as session from "./data/session.js";
import { Stream } from "./data/stream.js";
import { fromHistory } from "./view/past.js";
import { sessionView } from "./view/session.js";

/** `record(record)` is told of sessions, `connection(state)` of the connection, `refused()` when the door is closed. */
export function follow({ outbox, refused, record, connection }) {
  let state = null;
  let changed = () => {};
  let isOpen = false;
  const stream = new Stream({
    place: () => ({ session: state?.id, after: state?.last }),
    check: api.agents,
    on: {
      event(name, data) {
        if (name === "session") record(data);
        if (name === "trouble") {
          connection({ trouble: data });
          if (!data) outbox.flush();
        }
        if (name === "gap") connection({ gap: data.session === state?.id });
        if (state && session.apply(state, name, data)) changed(name);
      },
      state(now, wait) {
        if (now === "refused") return refused();
        // Going from one session to another is no loss of the connection.
        if (now !== "connecting") isOpen = now === "open";
        if (now === "open") {
          // If the log still cannot be written, that is said next.
          connection({ connection: "open", trouble: null });
          outbox.flush();
          return undefined;
        }
        if (state && now === "waiting") session.disconnected(state);
        return connection({ connection: now, wait });
      },
    },
  });

  /** Opens a session; gives its view, or nothing if somebody has gone elsewhere meanwhile. */
  async function open(id, { seq, isStillHere, allowsBypass, back, ended }) {
    const description = await api.describe(id);
    const last = description.record.last_seq;
    // Whoever looks for something that was said sees what stands around it, up to now.
    const from = Math.max(0, seq ? Math.min(seq - AROUND, last - PAGE) : last - PAGE);
    const frames = await pages(id, from, null);
    if (!isStillHere()) return null;
    state = session.open(id, description, frames);
    const mine = state;
    let isLoading = false;
    let isBeginning = false;
    let earlier = null;

    async function older() {
      if (isLoading || isBeginning || state !== mine) return;
      isLoading = true;
      try {
        if (mine.first > 1) {
          const frames = await pages(id, Math.max(0, mine.first - 1 - PAGE), mine.first);
          view.timeline.holding(() => {
            session.prepend(mine, frames);
            update();
          });
        } else if (mine.record.agent_session_id) {
          isBeginning = true;
          await showPast();
        }
      } catch (error) {
        earlier = `What was before cannot be shown: ${error.message}`;
      } finally {
        isLoading = false;
        update();
      }
    }

    /** A session that was resumed has messages from before it came here. */
    async function showPast() {
      const { messages, earlier: isMore } = await api.history(mine.record.agent_session_id);
      const before = messages.filter(({ timestamp }) => Date.parse(timestamp) < mine.record.created_at);
      if (!before.length) return;
      earlier = isMore ? "There is more before this." : null;
      view.timeline.holding(() => view.timeline.setPast(fromHistory(id, before)));
    }

    const view = sessionView({
      directory: description.record.directory,
      allowsBypass,
      text: written.get(id) ?? "",
      actions: {
        back,
        older,
        say(content) {
          outbox.put(id, content);
          view.timeline.toEnd();
        },
        retry: (item) => outbox.retry(item),
        takeBack: (item) => outbox.remove(item),
        interrupt: () => api.interrupt(id),
        answer: (question, decision) => api.answer(id, question, decision),
        setMode: (mode) => api.change(id, { permission_mode: mode }),
        setModel: (model) => api.change(id, { model }),
        models: () => (mine.about?.models ?? []).map((model) => model.value ?? model.id).filter(Boolean),
        rename: (title) => api.change(id, { title }),
        async end() {
          await api.end(id);
          ended();
        },
        diff: () => api.diff(description.record.directory),
      },
    });

    function update() {
      if (state !== mine) return;
      outbox.seen(id, mine.last, (name) => session.hasInput(mine, name));
      if (view.timeline.isAtEnd()) session.trim(mine, MOST, KEPT);
      view.update(mine, outbox.of(id), { earlier, isConnected: isOpen });
    }
    changed = () => connection({});
    stream.connect();
    return {
      element: view.element,
      update,
      settled() {
        update();
        if (seq && view.timeline.show(seq)) return;
        view.timeline.toEnd();
        if (mine.first === 1 || !view.timeline.isFull()) older();
        if (matchMedia("(min-width: 800px)").matches) view.focus();
      },
      close() {
        view.close();
        written.set(id, view.text());
        if (state !== mine) return;
        state = null;
        changed = () => {};
        stream.move();
      },
    };
  }

  return {
    connect: () => stream.socket ?? stream.connect(),
    wake: () => stream.wake(),
    stop: () => stream.stop(),
    session: () => state?.id ?? null,
    isOpen: () => isOpen,
    open,
  };
}

/** Frames after a number, up to another or to the end; the bridge may give fewer at once than it has. */
async function pages(id, after, before) {
  let frames = [];
  for (let more = true; more; ) {
    const limit = before === null ? PAGE : Math.min(PAGE, before - 1 - after);
    if (limit <= 0) break;
    const page = await api.messages(id, after, limit);
    frames = frames.concat(page.frames);
    more = page.more && page.frames.length > 0;
    after = frames.at(-1)?.seq ?? after;
  }
  return frames;
}

/** What was being written in each session. */
const written = new Map();
/** How many frames are fetched at once. */
const PAGE = 200;
/** How many are fetched before the one that is looked for. */
const AROUND = 30;
/** With more frames than this the oldest are forgotten, down to so many. */
const MOST = 3_000;
const KEPT = 1_000;
