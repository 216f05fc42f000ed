import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createOtlpExporter } from "../../telemetry/otlp/otlp-exporter.ts";
import { spanJson } from "../../telemetry/otlp/otlp-json.ts";
import type { CollectorAnswer } from "../../telemetry/otlp/post-traces.ts";
import { type ReportedSpan, reported } from "../../telemetry/otlp/span-sink.ts";
import type { SpanSpool } from "../../telemetry/otlp/span-spool.ts";
import type { SharedAttributes, SpanData } from "../../telemetry/spans/span-data.ts";
import { openSpanFile } from "./span-file.ts";
import { linesIn, readSpanJournal } from "./span-journal.ts";
import { recoveredSpans } from "./span-lines.ts";

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "palaver-spans-"));
  file = join(folder, "tasks.db.spans");
});
afterEach(() => rmSync(folder, { recursive: true }));

const SHARED: SharedAttributes = { values: { agent: "a" }, json: undefined };
const END_SHARED: SharedAttributes = { values: { outcome: "completed" }, json: undefined };
const id = (number: number): string => number.toString(16).padStart(16, "0");
const begun = (number: number): SpanData => ({
  context: { traceId: "a".repeat(32), spanId: id(number), flags: 1 },
  ...{ parentSpanId: undefined, name: "n", kind: "internal", start: 5, end: undefined },
  ...{ shared: SHARED, attributes: { own: `${number}` }, events: [], droppedEvents: 0, links: [], failed: false },
});
const ended = (number: number): SpanData => ({ ...begun(number), end: 9, endShared: END_SHARED });

/** As the exporter does. `span`: what `began` got. */
function end(spool: SpanSpool, number: number, span: ReportedSpan = reported(begun(number))): void {
  const whole = Object.assign(span, ended(number));
  spool.queue.add(whole);
  spool.ended(whole);
}

function begin(spool: SpanSpool, number: number): ReportedSpan {
  const span = reported(begun(number));
  spool.began(span);
  return span;
}

function flushed(spool: SpanSpool, span: ReportedSpan): ReportedSpan {
  spool.flush();
  return span;
}

/** As the exporter does when the collector has the first batch. */
function removeFirst({ queue, sent }: SpanSpool): void {
  const count = queue.first()?.count ?? 0;
  queue.removeFirst();
  sent(count);
}

/** What the next process sends, as numbers; the process before was killed. */
function recovered(): readonly number[] {
  const { queue } = openSpanFile(file, SILENT);
  const text = `[${Buffer.concat(queue.lines()).toString().slice(0, -2)}]`;
  const spans = JSON.parse(text) as readonly { readonly spanId: string }[];
  return spans.map((span) => Number.parseInt(span.spanId, 16));
}

describe("the file of spans", () => {
  it("has what was not sent after a kill: ended spans in their order, then those that had not ended", () => {
    const spool = openSpanFile(file, SILENT);
    begin(spool, 1);
    for (const number of [2, 3]) end(spool, number);
    // Is being sent, so further spans are in another batch.
    spool.queue.first();
    end(spool, 4);
    removeFirst(spool);
    end(spool, 5);
    spool.flush();
    expect(recovered()).toEqual([4, 5, 1]);
    // The next process was killed before it sent anything.
    expect(recovered()).toEqual([4, 5, 1]);
  });

  it("has the end of a span that has begun once: without its beginning, also after the file was written anew", () => {
    const spool = openSpanFile(file, SILENT);
    // The first spans of a kind define it.
    for (const number of [1, 2, 3]) end(spool, number, flushed(spool, begin(spool, number)));
    const spans = [4, 5, 6].map((number) => begin(spool, number));
    spool.flush();
    end(spool, 5, spans[1]);
    spool.flush();
    const written = readFileSync(file, "utf8");
    expect(written.split(id(5))).toHaveLength(3);
    expect(written).not.toContain(spanJson(ended(5)));
    expect(recovered()).toEqual([1, 2, 3, 5, 4, 6]);
    const all = JSON.parse(`[${Buffer.concat(openSpanFile(file, SILENT).queue.lines()).toString().slice(0, -2)}]`);
    expect(all[3]).toEqual(JSON.parse(spanJson(ended(5))));
  });

  it("has nothing for the next process once everything was sent", () => {
    const spool = openSpanFile(file, SILENT);
    end(spool, 1, begin(spool, 1));
    spool.flush();
    removeFirst(spool);
    const copy = `${file}.copy`;
    copyFileSync(file, copy);
    expect(openSpanFile(copy, SILENT).queue.count).toBe(0);
    end(spool, 2);
    spool.flush();
    expect(recovered()).toEqual([2]);
  });

  it("does not have a span that was dropped", () => {
    const spool = openSpanFile(file, SILENT);
    spool.forget(begin(spool, 1));
    spool.flush();
    expect(recovered()).toEqual([]);
  });

  it("does not grow without limit while the collector is away", () => {
    const spool = openSpanFile(file, SILENT);
    end(spool, 1);
    const attributes = { long: "x".repeat(1000) };
    for (let number = 2; number < 20_000; number += 1) {
      const span = reported({ ...begun(number), attributes });
      spool.began(span);
      spool.forget(span);
      if (number % 100 === 0) spool.flush();
    }
    expect(statSync(file).size).toBeLessThan(17_000_000);
    expect(recovered()).toEqual([1]);
  });

  it("ignores a last line that was not written whole", () => {
    writeFileSync(file, `${spanJson(ended(1))}\n${spanJson(ended(2)).slice(0, 99)}`);
    expect(recovered()).toEqual([1]);
  });

  it("has the end of a span before the collector has it: the next process would otherwise end the span a second time", async () => {
    const spool = openSpanFile(file, SILENT);
    const atRequest: string[] = [];
    const post = (): Promise<CollectorAnswer> => {
      atRequest.push(readSpanJournal(file));
      return Promise.resolve({ status: 200, retryAfter: undefined });
    };
    const exporter = createOtlpExporter({ url: "http://127.0.0.1:4318/v1/traces", resource: {}, spool, post });
    const span = reported(begun(1));
    exporter.began?.(span, true);
    exporter.ended(Object.assign(span, ended(1)));
    // Sends at once, in the same turn of the event loop.
    await exporter.close();
    expect(atRequest.map((text) => recoveredSpans(text))).toEqual([[expect.stringContaining("endTimeUnixNano")]]);
    expect(recoveredSpans(atRequest[0] ?? "").join()).not.toContain("crashed");
  });

  it("is abandoned with one warning when it cannot be written", () => {
    const warnings: string[] = [];
    const spool = openSpanFile(file, { ...SILENT, warn: (message: string) => void warnings.push(message) });
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "");
    spool.began(reported({ ...begun(1), attributes: { long: " ".repeat(8_000_000) } }));
    spool.flush();
    end(spool, 2);
    spool.flush();
    expect(warnings).toEqual([expect.stringContaining("cannot be written")]);
  });
});

/** Numbers from 0 to 1, always the same. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return ((state >>> 8) & 0xffff) / 0x10000;
  };
}

/** A spool whose spans begin, end and are sent in any order, and what the next process must find after a kill. */
class UsedSpool {
  readonly sent = new Set<number>();
  #spool = openSpanFile(file, SILENT, 1500);
  #open: { readonly number: number; readonly span: ReportedSpan }[] = [];
  #queued: number[] = [];
  #next = 1;
  #isSealed = false;

  /** Spans that have begun or ended, and that the collector does not have. */
  get needed(): readonly number[] {
    return [...this.#open.map(({ number }) => number), ...this.#queued];
  }

  begin(): void {
    const number = this.#next++;
    this.#open.push({ number, span: begin(this.#spool, number) });
    this.#spool.flush();
  }

  end(choice: number): void {
    const [span] = this.#open.splice(Math.floor(choice * this.#open.length), 1);
    // A span whose context nobody used has not begun in the file.
    const number = span?.number ?? this.#next++;
    end(this.#spool, number, span?.span);
    this.#queued.push(number);
    this.#spool.flush();
  }

  /** The exporter takes the first batch, or the collector has answered. */
  send(): void {
    if (this.#isSealed) {
      const gone = this.#queued.splice(0, this.#spool.queue.first()?.count);
      removeFirst(this.#spool);
      for (const number of gone) this.sent.add(number);
    } else this.#spool.queue.first();
    this.#isSealed = !this.#isSealed && this.#queued.length > 0;
  }

  /** The process is killed, and the next one opens the file. */
  killed(): void {
    this.#queued = foundIn(readFileSync(file));
    this.#open = [];
    this.#isSealed = false;
    this.#spool = openSpanFile(file, SILENT, 1500);
  }
}

function foundIn(bytes: Buffer): number[] {
  return recoveredSpans(linesIn(bytes)).map((line) => {
    const { spanId }: { readonly spanId: string } = JSON.parse(line);
    return Number.parseInt(spanId, 16);
  });
}

it("has each span that was not sent exactly once, and none that was sent, wherever kills cut its writes", () => {
  const random = numbersFrom(7);
  const spool = new UsedSpool();
  const sorted = (numbers: readonly number[]): readonly number[] => numbers.toSorted((one, other) => one - other);
  for (let change = 0; change < 200; change += 1) {
    const before = { bytes: readFileSync(file), needed: spool.needed, sent: new Set(spool.sent) };
    const choice = random();
    if (choice < 0.4) spool.begin();
    else if (choice < 0.75) spool.end(random());
    else if (choice < 0.98) spool.send();
    else spool.killed();
    const after = readFileSync(file);
    expect(sorted(foundIn(after))).toEqual(sorted(spool.needed));
    // The file was replaced by another one, which is not cut.
    if (choice >= 0.98 || after.compare(before.bytes, 0, 64, 0, 64) !== 0) continue;
    const wrong: string[] = [];
    for (let cuts = 0; cuts < 8; cuts += 1) {
      const cut = Math.floor(random() * after.length);
      // Bytes are written from the first to the last.
      const found = foundIn(Buffer.concat([after.subarray(0, cut), before.bytes.subarray(cut)]));
      const all = new Set(found);
      if (all.size < found.length) wrong.push(`cut at ${cut}: ${found.join()} has doubles`);
      for (const number of before.needed)
        if (!all.has(number) && !spool.sent.has(number)) wrong.push(`cut at ${cut}: ${number} is missing`);
      for (const number of before.sent) if (all.has(number)) wrong.push(`cut at ${cut}: ${number} was sent`);
    }
    expect(wrong).toEqual([]);
  }
  expect(spool.sent.size).toBeGreaterThan(10);
});
