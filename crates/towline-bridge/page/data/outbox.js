// What a person has said and the bridge has not confirmed yet. Each message has a name of its own, so that sending it
// again never runs it twice; kept in the browser, so that it survives a reload and a lost connection.

/** A name that nobody else thinks up. (`crypto.randomUUID` is not there on plain HTTP.) */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Outbox {
  /**
   * `say(session, content, id)` sends, and gives the number in the session; `changed()` is called when something is to
   * be shown anew; `isShown(session)` says whether the session's frames come in here.
   */
  constructor({ say, changed, isShown, storage }) {
    Object.assign(this, { say, changed, isShown, storage });
    this.items = this.load();
    this.isSending = false;
  }

  /** Those of a session, the oldest first: `{id, session, content, problem}`. */
  of(session) {
    return this.items.filter((item) => item.session === session);
  }

  /** Puts in a message and sends it. */
  put(session, content) {
    const item = { id: newId(), session, content, problem: null };
    this.items.push(item);
    this.save();
    this.flush();
    return item.id;
  }

  /** Frames of a session up to this number are seen, with these inputs among them. */
  seen(session, last, hasInput) {
    for (const item of this.of(session)) {
      if (hasInput(item.id) || item.accepted <= last) this.remove(item.id);
    }
  }

  /** Forgets a message, and gives it back. */
  remove(id) {
    const item = this.items.find((item) => item.id === id);
    if (!item) return null;
    this.items = this.items.filter((other) => other !== item);
    this.save();
    return item;
  }

  /** Tries a message again that was refused. */
  retry(id) {
    const item = this.items.find((item) => item.id === id);
    if (item) item.problem = null;
    this.save();
    return this.flush();
  }

  /** Sends what waits, in order, until something does not go through. */
  async flush() {
    if (this.isSending) return;
    this.isSending = true;
    try {
      // A message that was refused holds up those behind it: they may build on it.
      const stuck = new Set();
      for (let item; (item = this.items.find((item) => !item.accepted && !stuck.has(item.session))); ) {
        if (item.problem) {
          stuck.add(item.session);
          continue;
        }
        try {
          const { seq } = await this.say(item.session, item.content, item.id);
          item.accepted = seq;
          // It stays until it is seen in the session, so that it never vanishes in between.
          if (!this.isShown(item.session)) this.remove(item.id);
        } catch (error) {
          if (error.mayPass || error.status === 401) {
            item.waits = error.message;
            break;
          }
          item.problem = error.message;
        }
        this.save();
      }
    } finally {
      this.isSending = false;
      this.save();
    }
  }

  load() {
    try {
      const items = JSON.parse(this.storage?.getItem(PLACE) ?? "[]");
      const isItem = (item) => typeof item?.id === "string" && typeof item?.session === "string" && item.content;
      // What was accepted but not seen is sent again: it has the same name, so nothing runs twice.
      return items.filter(isItem).map(({ id, session, content, problem }) => ({ id, session, content, problem }));
    } catch {
      return [];
    }
  }

  save() {
    try {
      this.storage?.setItem(PLACE, JSON.stringify(this.items));
    } catch {
      // Pictures may be too large to be kept; they are sent all the same.
    }
    this.changed();
  }
}

const PLACE = "towline.outbox";
