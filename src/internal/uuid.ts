import { randomFillSync } from "node:crypto";

/** Creates UUIDs of version 7 (RFC 9562). Each sorts after the one before, even if the clock stands still or goes back. */
export type UuidSource = (now?: number) => string;

/** Random bytes are fetched in bulk: one call per id would cost more than the rest. */
const POOL_BYTES = 4096;
/** Hexadecimal digits that one id takes from the random pool: 62 bits after the variant, and 12 bits for the start of the counter. */
const DIGITS = 20;
const MAX_COUNTER = 0xfff;
/** The digits whose first two bits are `10` (RFC 9562 §4.1). */
const VARIANT = ["8", "9", "a", "b"];

/**
 * Creates an independent source. Within one millisecond, and while the clock does not advance, a 12-bit counter rises. It starts below 2048, so
 * that at least 2048 ids fit; when it overflows, the timestamp of the ids advances by 1 ms. Every id has 62 random bits.
 */
export function createUuidSource(): UuidSource {
  const bytes = Buffer.alloc(POOL_BYTES);
  let pool = "";
  let used = 0;
  let time = -1;
  let counter = 0;
  /** The first 13 characters, the same for all ids of one millisecond. */
  let prefix = "";

  return (now = Date.now()) => {
    if (used + DIGITS > pool.length) {
      // Convert the pool to text once: converting per digit would cost more than the rest.
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

/** The source that the whole process uses. */
export const uuidv7: UuidSource = createUuidSource();

/** 48 bits of milliseconds as `xxxxxxxx-xxxx`. */
function prefixOf(time: number): string {
  const digits = time.toString(16).padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}
