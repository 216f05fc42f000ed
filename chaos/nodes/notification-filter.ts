/** Bytes of a message's head: its type, and its length without the type. */
const HEAD = 5;
const NOTIFICATION = "A".charCodeAt(0);

/** Drops notifications from what a PostgreSQL server sends: whole messages of the protocol, so that the connection stays usable. */
export class NotificationFilter {
  readonly #isDropped: () => boolean;
  #rest: Buffer = Buffer.alloc(0);

  /** `isDropped` is called for each notification. */
  constructor(isDropped: () => boolean) {
    this.#isDropped = isDropped;
  }

  /** The bytes to pass on. A message that has not arrived completely waits. */
  pass(bytes: Buffer): Buffer {
    let left = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const passed: Buffer[] = [];
    while (left.length >= HEAD) {
      const size = 1 + left.readUInt32BE(1);
      if (left.length < size) break;
      if (left[0] !== NOTIFICATION || !this.#isDropped()) passed.push(left.subarray(0, size));
      left = left.subarray(size);
    }
    this.#rest = Buffer.from(left);
    return Buffer.concat(passed);
  }
}
