import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Artifact } from "./artifact.ts";
import type { ArtifactEvent, TaskEvent } from "./event.ts";
import { ArtifactFold } from "./fold.ts";
import type { ArtifactId } from "./ids.ts";
import type { Part } from "./part.ts";

const id = (name: string): ArtifactId => name as ArtifactId;

function chunk(artifact: Artifact, append: boolean): ArtifactEvent {
  return { kind: "artifact", artifact, append, lastChunk: false };
}

function fold(events: readonly TaskEvent[]): Artifact[] {
  const folding = new ArtifactFold();
  for (const event of events) folding.add(event);
  return folding.artifacts();
}

/** A simple implementation to compare with: for each artifact, the chunks since it was last replaced. */
function naive(events: readonly TaskEvent[]): Artifact[] {
  const chunks = events.filter((event) => event.kind === "artifact");
  const order = [...new Set(chunks.map(({ artifact }) => artifact.artifactId))];
  return order.map((artifactId) => {
    const own = chunks.filter(({ artifact }) => artifact.artifactId === artifactId);
    const begins = Math.max(
      0,
      own.findLastIndex(({ append }) => !append),
    );
    const since = own.slice(begins).map(({ artifact }) => artifact);
    return Object.assign({}, ...since, { parts: naivelyMerged(since.flatMap(({ parts }) => parts)) });
  });
}

function naivelyMerged(parts: readonly Part[]): readonly Part[] {
  const isPlain = (part: Part | undefined): boolean =>
    part !== undefined && Object.keys(part).length === 1 && part.text !== undefined;
  const filled = parts.filter((part) => !isPlain(part) || part.text !== "");
  if (filled.length === 0) return parts.slice(0, 1);
  const begins = filled.flatMap((part, index) => (isPlain(part) && isPlain(filled[index - 1]) ? [] : [index]));
  return begins.flatMap((from, index): readonly Part[] => {
    const run = filled.slice(from, begins[index + 1]);
    return isPlain(run[0]) ? [{ text: run.map(({ text }) => text).join("") }] : run;
  });
}

const artifact: fc.Arbitrary<Artifact> = fc.record(
  {
    artifactId: fc.constantFrom(id("a"), id("b"), id("c")),
    parts: fc.array(
      fc.oneof(
        fc.string({ maxLength: 3 }).map((text) => ({ text })),
        fc.constantFrom<Part>({ data: 1 }, { text: "", mediaType: "text/html" }, { text: "b", filename: "b.txt" }),
        fc.constantFrom<Part>({ text: "", metadata: {} }, { raw: "" }, { data: null }),
      ),
      { maxLength: 3 },
    ),
    name: fc.string(),
    description: fc.string(),
    extensions: fc.array(fc.string()),
    metadata: fc.dictionary(fc.string(), fc.integer(), { noNullPrototype: true }),
  },
  { requiredKeys: ["artifactId", "parts"], noNullPrototype: true },
);
const events: fc.Arbitrary<TaskEvent[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.tuple(artifact, fc.boolean()).map(([value, append]) => chunk(value, append)) },
    {
      weight: 1,
      arbitrary: fc.constant<TaskEvent>({
        kind: "status",
        status: { state: "working", timestamp: "2030-01-01T00:00:00.000Z" },
      }),
    },
  ),
  { maxLength: 30 },
);

describe("ArtifactFold", () => {
  test("computes the same artifacts as a simple implementation", () => {
    fc.assert(
      fc.property(events, (log) => {
        expect(fold(log)).toStrictEqual(naive(log));
      }),
    );
  });

  test("can be read at any time without changing later results", () => {
    fc.assert(
      fc.property(events, (log) => {
        const folding = new ArtifactFold();
        for (const [index, event] of log.entries()) {
          folding.add(event);
          expect(folding.artifacts()).toStrictEqual(naive(log.slice(0, index + 1)));
        }
      }),
    );
  });

  test("does not change its events", () => {
    fc.assert(
      fc.property(events, (log) => {
        const before = structuredClone(log);
        fold(log);
        expect(log).toStrictEqual(before);
      }),
    );
  });

  test("an appended chunk adds its parts and replaces the details it contains", () => {
    const folded = fold([
      chunk({ artifactId: id("a"), name: "old", description: "stays", parts: [{ text: "1" }] }, false),
      chunk({ artifactId: id("a"), name: "new", parts: [{ text: "2" }] }, true),
    ]);
    expect(folded).toEqual([{ artifactId: "a", name: "new", description: "stays", parts: [{ text: "12" }] }]);
  });

  test("streamed text is one part, and keeps its place between other parts", () => {
    const of = (...parts: Part[]): ArtifactEvent => chunk({ artifactId: id("a"), parts }, true);
    const html: Part = { text: "<b>", mediaType: "text/html" };
    const folded = fold([
      of({ text: "Hel" }),
      of({ text: "lo" }),
      of({ data: 1 }),
      of(html),
      of(html),
      of({ text: "!" }),
    ]);
    expect(folded[0]?.parts).toEqual([{ text: "Hello" }, { data: 1 }, html, html, { text: "!" }]);
  });

  test("an empty closing chunk leaves no trace, except as the only part", () => {
    const of = (...parts: Part[]): ArtifactEvent => chunk({ artifactId: id("a"), parts }, true);
    expect(fold([of({ text: "a" }), of({ text: "" })])[0]?.parts).toEqual([{ text: "a" }]);
    expect(fold([of({ data: 1 }), of({ text: "" })])[0]?.parts).toEqual([{ data: 1 }]);
    expect(fold([of({ text: "" }), of({ data: 1 })])[0]?.parts).toEqual([{ data: 1 }]);
    expect(fold([of({ text: "" }), of({ text: "" })])[0]?.parts).toEqual([{ text: "" }]);
  });

  test("a chunk that does not append starts the artifact again, in its old place", () => {
    const folded = fold([
      chunk({ artifactId: id("a"), name: "gone", parts: [{ text: "1" }] }, false),
      chunk({ artifactId: id("b"), parts: [] }, false),
      chunk({ artifactId: id("a"), parts: [{ text: "2" }] }, false),
    ]);
    expect(folded).toEqual([
      { artifactId: "a", parts: [{ text: "2" }] },
      { artifactId: "b", parts: [] },
    ]);
  });

  test("appending to an unknown artifact creates it", () => {
    expect(fold([chunk({ artifactId: id("a"), parts: [{ text: "1" }] }, true)])).toEqual([
      { artifactId: "a", parts: [{ text: "1" }] },
    ]);
  });
});
