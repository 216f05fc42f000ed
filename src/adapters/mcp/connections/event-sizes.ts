const LINE_FEED = 0x0a;
const RETURN = 0x0d;
const ID_LINE = /^id:/m;

/** Counts the bytes of the current event of a stream of server-sent events, which empty lines separate. */
export class EventSizes {
  #size = 0;
  #isLineEmpty = true;
  /** An event had an id, as far as it was seen in one chunk. */
  hasIds = false;

  /** The bytes of the event that is not complete yet, after this chunk. */
  add(chunk: Uint8Array): number {
    let start = 0;
    this.hasIds ||= ID_LINE.test(new TextDecoder("latin1").decode(chunk));
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, start)) {
      const isBlank = at === start || (at === start + 1 && chunk[start] === RETURN);
      this.#size = this.#isLineEmpty && isBlank ? 0 : this.#size + at - start;
      this.#isLineEmpty = true;
      start = at + 1;
    }
    if (start < chunk.length) this.#isLineEmpty = false;
    this.#size += chunk.length - start;
    return this.#size;
  }
}
