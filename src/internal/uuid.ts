import { randomFillSync } from "node:crypto";

/** Makes UUIDs of version 7 (RFC 9562): each sorts after the one before, whatever the clock does. */
export type UuidSource = (now?: number) => string;

const POOL_BYTES = 4096;
/** Hexadecimal digits one id takes from the pool: 62 random bits behind the variant, and 12 for the counter's start. */
const DIGITS = 20;
const MAX_COUNTER = 0xfff;
const VARIANT = ["8", "9", "a", "b"];

/**
 * A source of its own. Within one millisecond, and while the clock stands still or steps back, a 12-bit counter rises; it starts low
 * enough for 2048 ids, and over its top the time of the ids runs ahead by a millisecond. 62 bits are random in every id.
 */
export function createUuidSource(): UuidSource {
  const bytes = Buffer.alloc(POOL_BYTES);
  let pool = "";
  let used = 0;
  let time = -1;
  let counter = 0;
  /** The first 13 characters, which ids of one millisecond share. */
  let prefix = "";

  return (now = Date.now()) => {
    if (used + DIGITS > pool.length) {
      // Made into text all at once: digit by digit costs more than everything else here.
      pool = randomFillSync(bytes).toString("hex");
      used = 0;
    }
    const at = used;
    used += DIGITS;
    const milliseconds = Math.floor(now);
    if (milliseconds > time) {
      time = milliseconds;
      counter = Number.parseInt(pool.slice(at + 16, at + 19), 16) & 0x7ff;
      prefix = prefixOf(time);
    } else if (counter < MAX_COUNTER) {
      counter += 1;
    } else {
      time += 1;
      counter = 0;
      prefix = prefixOf(time);
    }
    const variant = VARIANT[Number.parseInt(pool.charAt(at), 16) & 3];
    const third = counter.toString(16).padStart(3, "0");
    return `${prefix}-7${third}-${variant}${pool.slice(at + 1, at + 4)}-${pool.slice(at + 4, at + 16)}`;
  };
}

/** The process's own source. */
export const uuidv7: UuidSource = createUuidSource();

function prefixOf(time: number): string {
  const digits = time.toString(16).padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}
