import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type SpanText, spanText } from "../../telemetry/otlp/otlp-json.ts";
import type { SpanSpool } from "../../telemetry/otlp/span-spool.ts";
import type { SpanData } from "../../telemetry/spans/span-data.ts";
import { openSpanFile } from "./span-file.ts";

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "palaver-spans-"));
  file = join(folder, "tasks.db.spans");
});
afterEach(() => rmSync(folder, { recursive: true }));

const id = (number: number): string => number.toString(16).padStart(16, "0");
const begun = (number: number): SpanData => ({
  context: { traceId: "a".repeat(32), spanId: id(number), flags: 1 },
  ...{ parentSpanId: undefined, name: "n", kind: "internal", start: 5, end: undefined },
  ...{ attributes: {}, events: [], droppedEvents: 0, links: [], failed: false },
});
const ended = (number: number): SpanData => ({ ...begun(number), end: 9 });

/** As the exporter does. `span`: what `began` got. */
function end(spool: SpanSpool, number: number, span?: SpanText): void {
  const whole = Object.assign(span ?? spanText(ended(number)), { tail: spanText(ended(number)).tail });
  spool.queue.add(whole);
  spool.ended(whole);
}

function begin(spool: SpanSpool, number: number): SpanText {
  const span = spanText(begun(number));
  spool.began(span);
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
    const spans = [1, 2, 3].map((number) => begin(spool, number));
    end(spool, 2, spans[1]);
    spool.flush();
    const written = readFileSync(file, "utf8");
    expect(written.split(spanText(begun(2)).head)).toHaveLength(2);
    expect(recovered()).toEqual([2, 1, 3]);
    const [first] = JSON.parse(`[${Buffer.concat(openSpanFile(file, SILENT).queue.lines()).toString().slice(0, -2)}]`);
    const { head, tail } = spanText(ended(2));
    expect(first).toEqual(JSON.parse(head + tail));
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
      const span = spanText({ ...begun(number), attributes });
      spool.began(span);
      spool.forget(span);
      if (number % 100 === 0) spool.flush();
    }
    expect(statSync(file).size).toBeLessThan(17_000_000);
    expect(recovered()).toEqual([1]);
  });

  it("ignores a last line that was not written whole", () => {
    const { head, tail } = spanText(ended(1));
    writeFileSync(file, `${head}${tail}\n${spanText(ended(2)).head}`);
    expect(recovered()).toEqual([1]);
  });

  it("is abandoned with one warning when it cannot be written", () => {
    const warnings: string[] = [];
    const spool = openSpanFile(file, { ...SILENT, warn: (message: string) => void warnings.push(message) });
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "");
    end(spool, 1, { ...spanText(ended(1)), head: " ".repeat(8_000_000) });
    spool.flush();
    end(spool, 2);
    spool.flush();
    expect(warnings).toEqual([expect.stringContaining("cannot be written")]);
  });
});
