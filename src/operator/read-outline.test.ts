import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TaskEvent } from "../protocol/event.ts";
import type { ArtifactId } from "../protocol/ids.ts";
import { writeEvent } from "../protocol/serial.ts";
import { createMemoryStore } from "../store/memory/store.ts";
import { chunkEntry, createOf, endOf, taskId, writeOf } from "../testing/store-operations.ts";
import type { OperatorParts } from "./contract.ts";
import { LogSummary } from "./log-summary.ts";
import { createOutlines } from "./read-outline.ts";

const { signal } = new AbortController();

/** Chunks of two artifacts, some of them with more than a text, and states between them. */
const event: fc.Arbitrary<TaskEvent> = fc.oneof(
  fc.constant<TaskEvent>({ kind: "status", status: { state: "working", timestamp: "2030-01-31T12:00:00.000Z" } }),
  fc
    .record({
      id: fc.constantFrom("one", 'two "quoted"'),
      text: fc.oneof(fc.string(), fc.constant('a"},{"text":"b'), fc.constant("line\n\\break")),
      kind: fc.constantFrom("text", "text", "text", "data", "named"),
      append: fc.boolean(),
    })
    .map(
      ({ id, text, kind, append }): TaskEvent => ({
        kind: "artifact",
        artifact: {
          artifactId: id as ArtifactId,
          parts: kind === "data" ? [{ data: { text } }] : [{ text, ...(kind === "named" && { filename: "f.txt" }) }],
        },
        append,
        lastChunk: false,
      }),
    ),
);

describe("a summary of a log", () => {
  it("has every character and every chunk, whatever the events contain", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        const summary = new LogSummary();
        for (const [index, each] of events.entries()) summary.add({ seq: index + 1, body: writeEvent(each) });
        const chunks = events.flatMap((each) => (each.kind === "artifact" ? [each] : []));
        const characters = chunks.map(({ artifact: { parts } }) => parts[0]?.text ?? JSON.stringify(parts[0]?.data));
        const sum = characters.reduce((total, text) => total + text.length, 0);
        const rows = summary.rows ?? [];
        expect(rows.reduce((total, row) => total + (row.chunks ?? 0), 0)).toBe(chunks.length);
        expect(rows.reduce((total, row) => total + (row.characters ?? 0), 0)).toBe(sum);
        expect(summary.written.reduce((total, piece) => total + piece.characters, 0)).toBe(sum);
        expect(contentOf(summary.artifacts)).toEqual(contentOf(folded(chunks)));
      }),
    );
  });
});

describe("an outline", () => {
  it("has what was read in time, and the rest when it is asked again", async () => {
    const store = createMemoryStore();
    const task = taskId(1);
    // Each page of the log has half a megabyte.
    const entries = [2, 3, 4].map((seq) => chunkEntry(seq, "x".repeat(600_000), seq > 2));
    await store.commit([createOf(task)]);
    await store.commit([writeOf(task, { entries, end: endOf(5) })]);
    // Safe cast: an outline needs the store alone.
    const { outline } = createOutlines({ store } as unknown as OperatorParts);
    const first = await outline(task, { hasLog: true, within: 0, signal });
    expect(first).toMatchObject({ log: { lastSeq: 5, ended: true } });
    expect(readTo(first)).toBeLessThan(5);
    const whole = await outline(task, { hasLog: true, signal });
    expect(whole).toMatchObject({ log: { lastSeq: 5, ended: true, artifacts: [{ omitted: 1_600_000 }] } });
    expect(readTo(whole)).toBeUndefined();
  });
});

function readTo(answer: object): number | undefined {
  return (answer as { readonly log: { readonly readTo?: number } }).log.readTo;
}

type Parts = readonly { readonly text?: string; readonly data?: unknown; readonly filename?: string }[];
type Folded = { readonly artifactId: string; readonly parts: Parts };

/** The artifacts as a client builds them. */
function folded(chunks: readonly Extract<TaskEvent, { kind: "artifact" }>[]): readonly Folded[] {
  const all = new Map<string, Parts>();
  for (const { artifact, append } of chunks) {
    const before = append ? (all.get(artifact.artifactId) ?? []) : [];
    all.set(artifact.artifactId, [...before, ...artifact.parts]);
  }
  return [...all].map(([artifactId, parts]) => ({ artifactId, parts }));
}

/** Texts in a row are one text. */
function contentOf(artifacts: readonly object[]): readonly string[] {
  return (artifacts as readonly Folded[]).map(({ artifactId, parts }) => {
    const texts = parts.map(({ text, data, filename }) =>
      filename === undefined && text !== undefined ? text : JSON.stringify({ text, data, filename }),
    );
    return `${artifactId}: ${texts.join("")}`;
  });
}
