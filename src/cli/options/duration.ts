/** Milliseconds per unit. */
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Parses `500ms`, `2s`, `1.5m`, `1h`, `1m30s`, or a bare number of seconds into milliseconds; `undefined` if it is invalid. */
export function parseDuration(text: string): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return inRange(Number(text) * 1000);
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, , unit = ""] of text.matchAll(/(\d+(\.\d+)?)(ms|s|m|h)/g)) {
    total += Number(amount) * (UNITS[unit] ?? 0);
  }
  return inRange(total);
}

/** The longest delay of a timer: about 24 days. */
const MAX_MS = 2 ** 31 - 1;

function inRange(milliseconds: number): number | undefined {
  return milliseconds <= MAX_MS ? milliseconds : undefined;
}
