import { ShortLineReader } from "./short-lines.ts";

/** Spans of one process that are recovered at most: the newest. */
const MAX_RECOVERED = 20_000;

/** Text in every span that will be repeated with the same id if it did not end: a notification is sent again by the next process. */
const REPEATED = '"palaver.webhook.deliver"';

/** Says that the collector has the first `count` ended spans of the lines before that no such line has counted yet. */
export function sentLine(count: number): string {
  return `{"sent":${count}}`;
}

/** Says that a span that has begun will not be sent. */
export function forgottenLine(spanId: string): string {
  return `{"forgotten":"${spanId}"}`;
}

/** The spans in the lines of an earlier process that it had not sent: the ended ones in their order, then the others, which end as failed with the last line. */
export function recoveredSpans(text: string): readonly string[] {
  const open = new Map<string, string>();
  const ended: string[] = [];
  const reader = new ShortLineReader();
  let sent = 0;
  let last = "";
  // The process may have died while it wrote the last line.
  for (const written of text.split("\n").slice(0, -1)) {
    // Lines that were copied from the queue end with a comma.
    const line = written.endsWith(",") ? written.slice(0, -1) : reader.json(written, (spanId) => open.get(spanId));
    const [, count, forgotten] = /^\{"(?:sent":(\d+)|forgotten":"([0-9a-f]{16})")\}$/.exec(line) ?? [];
    if (count !== undefined) sent += Number(count);
    if (forgotten !== undefined) open.delete(forgotten);
    const [, spanId] = /^\{"traceId":"[0-9a-f]{32}","spanId":"([0-9a-f]{16})".*\}$/.exec(line) ?? [];
    if (spanId === undefined) continue;
    if (line.includes('"endTimeUnixNano"')) {
      open.delete(spanId);
      ended.push(line);
    } else open.set(spanId, line);
    for (const [, time] of line.matchAll(/"(?:start|end)TimeUnixNano":"(\d+)"/g)) {
      if (time !== undefined && time.length >= last.length && time > last) last = time;
    }
  }
  const crashed = [...open.values()].filter((span) => !span.includes(REPEATED)).map((span) => endedByCrash(span, last));
  return [...ended.slice(sent), ...crashed].slice(-MAX_RECOVERED);
}

function endedByCrash(span: string, end: string): string {
  const outcome = '{"key":"palaver.outcome","value":{"stringValue":"crashed"}}';
  return span
    .replace('"attributes":[', `"endTimeUnixNano":"${end}","attributes":[${outcome},`)
    .replace(`${outcome},]`, `${outcome}]`)
    .replace(/\}$/, ',"status":{"code":2}}');
}
