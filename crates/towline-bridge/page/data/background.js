// A page that nobody sees. Over HTTP/1.1 a browser has six connections to one bridge, for all tabs together, and an event
// stream takes one for as long as it lasts: with six tabs an approval would wait for ever. So hidden pages let go of theirs
// and go on from the last frame when they are seen again. One of them may keep it: its title tells who waits.

/** `rest()` lets go of the stream, `wake()` takes it up again. Without `locks` every hidden page rests. */
export class Background {
  constructor({ locks, rest, wake }) {
    Object.assign(this, { locks, rest, wake });
    this.release = null;
  }

  /** Nobody sees the page any more. */
  async enter() {
    if (this.release) return;
    let release;
    const shown = new Promise((resolve) => (release = resolve));
    this.release = release;
    if (!this.locks) return this.rest();
    await this.locks.request(NAME, { ifAvailable: true }, (lock) => {
      if (lock) return shown;
      if (this.release === release) this.rest();
      return undefined;
    });
  }

  /** Somebody sees it again. */
  leave() {
    this.release?.();
    this.release = null;
    this.wake();
  }
}

const NAME = "towline: the hidden page that follows";
