import { invalidField } from "../../protocol/error.ts";

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/**
 * Parses an RFC 3339 time with zone; returns milliseconds since the epoch. Fractions of a millisecond are rounded up, so that a filter "at
 * this time or later" stays correct for stored times, which have milliseconds. Offsets are accepted although 1.0 allows only `Z` (A2A 1.0
 * §5.6.1). Throws `invalid-params`.
 */
export function decodeTimestamp(text: string, path: string): number {
  const match = RFC_3339.exec(text);
  if (match === null) throw invalidField(path, "must be a time such as 2026-01-31T12:00:00.000Z");
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const midnight = new Date(0);
  midnight.setUTCFullYear(year, month - 1, day);
  if (midnight.getUTCMonth() !== month - 1 || midnight.getUTCDate() !== day) {
    throw invalidField(path, "must be a day that exists");
  }
  const fraction = Math.ceil(Number(`0.${match[7] ?? 0}`) * 1000 - 1e-9);
  const offset = (match[8] === "-" ? -1 : 1) * (Number(match[9] ?? 0) * 60 + Number(match[10] ?? 0));
  return midnight.getTime() + ((hour * 60 + minute - offset) * 60 + second) * 1000 + fraction;
}
