import { randomFillSync } from "node:crypto";

/** Makes UUIDs of version 7 (RFC 9562): each sorts after the one before, whatever the clock does. */
export type UuidSource = (now?: number) => string;

const POOL_BYTES = 4096;
const RANDOM_BYTES = 10;
const MAX_COUNTER = 0xfff;
const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/**
 * A source of its own. Within one millisecond, and while the clock stands still or steps back, a 12-bit counter rises; it starts low
 * enough for 2048 ids, and over its top the time of the ids runs ahead by a millisecond. 62 bits are random in every id.
 */
export function createUuidSource(): UuidSource {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  let time = -1;
  let counter = 0;

  return (now = Date.now()) => {
    if (used + RANDOM_BYTES > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    const at = used;
    used += RANDOM_BYTES;
    const milliseconds = Math.floor(now);
    if (milliseconds > time) {
      time = milliseconds;
      counter = ((byteAt(pool, at + 8) << 8) | byteAt(pool, at + 9)) & 0x7ff;
    } else if (counter < MAX_COUNTER) {
      counter += 1;
    } else {
      time += 1;
      counter = 0;
    }
    return format(time, counter, pool.subarray(at, at + 8));
  };
}

/** The process's own source. */
export const uuidv7: UuidSource = createUuidSource();

function format(time: number, counter: number, random: Uint8Array): string {
  const high = Math.floor(time / 0x1_0000);
  const first = hex(high >>> 24) + hex(high >>> 16) + hex(high >>> 8) + hex(high);
  const second = hex(time >>> 8) + hex(time);
  const third = hex(0x70 | (counter >>> 8)) + hex(counter);
  const fourth = hex(0x80 | (byteAt(random, 0) & 0x3f)) + hex(byteAt(random, 1));
  let last = "";
  for (let index = 2; index < 8; index += 1) last += hex(byteAt(random, index));
  return `${first}-${second}-${third}-${fourth}-${last}`;
}

function hex(value: number): string {
  return HEX[value & 0xff] ?? "";
}

function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}
