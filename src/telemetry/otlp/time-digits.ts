/** The texts of milliseconds, each at a place that follows from it: large numbers are slow to convert, and spans that are written together have few. */
const PLACES = 64;
const milliseconds = new Float64Array(PLACES).fill(Number.NaN);
const texts: string[] = Array.from({ length: PLACES }, () => "");

/** The last six digits of nanoseconds, by microsecond. */
const MICROSECONDS: readonly string[] = Array.from(
  { length: 1000 },
  (_, micros) => `${String(micros).padStart(3, "0")}000`,
);

/** A time in microseconds from milliseconds since 1970: a double cannot hold nanoseconds. */
export function microsecondsOf(time: number): number {
  return Math.round(time * 1000);
}

/** The first digits of a time in nanoseconds: those of its milliseconds. */
export function firstDigits(microseconds: number): string {
  const whole = Math.floor(microseconds / 1000);
  const place = whole & (PLACES - 1);
  if (milliseconds[place] !== whole) {
    milliseconds[place] = whole;
    texts[place] = String(whole);
  }
  return texts[place] ?? "";
}

/** The last six digits of a time in nanoseconds. */
export function lastDigits(microseconds: number): string {
  return MICROSECONDS[microseconds % 1000] ?? "";
}
