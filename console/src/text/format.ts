// Times, sizes and numbers as people read them. Spaces between a number and its unit do not break.

const SPACE = "\u00a0";

/** `12 ms`, `9.1 s`, `1 m 48 s`, `2 d 1 h`: two units at most. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))}${SPACE}ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)}${SPACE}s`;
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds}${SPACE}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return two([minutes, "m"], [seconds % 60, "s"]);
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? two([hours, "h"], [minutes % 60, "m"]) : two([Math.floor(hours / 24), "d"], [hours % 24, "h"]);
}

type Amount = readonly [count: number, unit: string];

function two([count, unit]: Amount, [rest, smaller]: Amount): string {
  return `${count}${SPACE}${unit}${rest === 0 ? "" : `${SPACE}${rest}${SPACE}${smaller}`}`;
}

/** `now`, `12 s ago`, `3 h ago`, and after a day the date. */
export function ago(time: number, now: number = Date.now()): string {
  const ms = now - time;
  if (ms < 1500) return "now";
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds}${SPACE}s ago`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}${SPACE}m ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours}${SPACE}h ago` : day(time);
}

/** Formats in the browser's language, made at first use: to make one takes longer than to use it hundreds of times. */
const FORMATS = {
  day: once(() => new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" })),
  clock: once(
    () => new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false }),
  ),
  exact: once(() => new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "long" })),
  count: once(() => new Intl.NumberFormat()),
} as const;

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/** A time that is no time, perhaps of a remote agent. */
const UNKNOWN_TIME = "unknown time";

function formatted(format: () => Intl.DateTimeFormat, time: number): string {
  return Number.isNaN(new Date(time).getTime()) ? UNKNOWN_TIME : format().format(time);
}

/** `18 Nov`. */
function day(time: number): string {
  return formatted(FORMATS.day, time);
}

/** `09:14:41`. */
export function clock(time: number): string {
  return formatted(FORMATS.clock, time);
}

/** The exact time with its zone, for titles. */
export function exact(time: number): string {
  return formatted(FORMATS.exact, time);
}

/** `2.1 KB`; a kilobyte has 1000 bytes. */
export function bytes(count: number): string {
  if (count < 1000) return `${count}${SPACE}B`;
  const units = ["KB", "MB", "GB", "TB"];
  let value = count / 1000;
  let unit = 0;
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 100 ? value.toFixed(1) : Math.round(value)}${SPACE}${units[unit] ?? ""}`;
}

/** With the browser's separators. */
export function count(value: number): string {
  return FORMATS.count().format(value);
}

/** `1 task`, `2 tasks`. */
export function plural(value: number, one: string, many: string = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** The start and the end of an id. */
export function shortId(id: string): string {
  return id.length <= 13 ? id : `${id.slice(0, 8)}…${id.slice(-4)}`;
}
