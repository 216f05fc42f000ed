import fc from "fast-check";
import { expect, test } from "vitest";
import type { Artifact } from "../../protocol/artifact.ts";
import type { ArtifactId } from "../../protocol/ids.ts";
import type { LargeArtifacts } from "../../protocol/large-members.ts";
import { writeEvent } from "../../protocol/serial.ts";
import { createMemoryStore } from "../../store/memory/store.ts";
import { createOf, statusEntry, taskId, writeOf } from "../../testing/store-operations.ts";
import { foldLog, foldUpTo } from "./fold-log.ts";
import { largeHistory } from "./large-members.ts";

const T = taskId(1);

/** The artifacts that the pieces add up to. */
async function joined({ read }: LargeArtifacts): Promise<unknown[]> {
  const artifacts: Artifact[] = [];
  let parts: string[] = [];
  let texts: string[] = [];
  let begun: Artifact | undefined;
  for await (const piece of read()) {
    if (piece.kind === "text") {
      texts.push(piece.json);
      continue;
    }
    if (texts.length > 0) parts.push(`{"text":"${texts.join("")}"}`);
    texts = [];
    if (piece.kind === "begin") begun = piece.artifact;
    else if (piece.kind === "parts") parts.push(piece.parts);
    else if (begun !== undefined) {
      artifacts.push({ ...begun, parts: JSON.parse(`[${parts.join(",")}]`) });
      parts = [];
    }
  }
  return artifacts;
}

const PART = fc.oneof(
  fc.record({ text: fc.string({ unit: "binary", maxLength: 20 }) }),
  fc.record({ data: fc.jsonValue(), mediaType: fc.constant("application/json") }),
  fc.record({ text: fc.constantFrom('"}]},"append":true}', "\\", '"', "]", "x".repeat(300_000)) }),
);
const EVENT = fc.record(
  {
    artifactId: fc.constantFrom("a", "b", "c", 'd"', "e\\"),
    append: fc.boolean(),
    lastChunk: fc.boolean(),
    parts: fc.array(PART, { maxLength: 3 }),
    name: fc.string(),
    metadata: fc.constantFrom({ a: 1 }, { b: [{}] }),
    extensions: fc.constantFrom(["urn:x"], []),
  },
  { requiredKeys: ["artifactId", "append", "lastChunk", "parts"] },
);

test("the pieces of a large log add up to the folded artifacts", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(EVENT, { minLength: 1, maxLength: 25 }), async (events) => {
      const store = createMemoryStore();
      const entries = events.map(({ append, lastChunk, ...artifact }, index) => ({
        seq: index + 2,
        body: writeEvent({ kind: "artifact", artifact: artifact as unknown as Artifact, append, lastChunk }),
      }));
      await store.commit([createOf(T)]);
      await store.commit([writeOf(T, { entries })]);
      const upTo = entries.length + 1;
      const { large } = await foldUpTo(store, { id: T, upTo }, 1);
      if (large === undefined) throw new Error("It should be large.");
      const expected = await foldLog(store, T, upTo);
      expect(large.ids).toEqual(expected.map(({ artifactId }) => artifactId));
      expect(await joined(large)).toEqual(JSON.parse(JSON.stringify(expected)));
    }),
    { numRuns: 150 },
  );
});

test("no piece of an artifact made of many chunks is much larger than 64 KB", async () => {
  const store = createMemoryStore();
  await store.commit([createOf(T)]);
  const entries = Array.from({ length: 3000 }, (_, index) => ({
    seq: index + 2,
    body: writeEvent({
      kind: "artifact",
      artifact: { artifactId: "a" as ArtifactId, parts: [{ text: "t".repeat(1000) }] },
      append: index > 0,
      lastChunk: false,
    }),
  }));
  await store.commit([writeOf(T, { entries })]);
  const { large } = await foldUpTo(store, { id: T, upTo: 3001 }, 1_000_000);
  expect(await joined(large as LargeArtifacts)).toEqual([
    { artifactId: "a", parts: [{ text: "t".repeat(3_000_000) }] },
  ]);
  const sizes: number[] = [];
  for await (const piece of large?.read() ?? []) if (piece.kind === "text") sizes.push(piece.json.length);
  expect(sizes.length).toBeGreaterThan(40);
  expect(Math.max(...sizes)).toBeLessThan(70_000);
});

test("reading the pieces of a deleted task fails instead of ending early", async () => {
  const store = createMemoryStore();
  await store.commit([createOf(T, {}, { history: [{ after: 0, body: '"m"' }] })]);
  await store.commit([writeOf(T, { entries: [statusEntry(2)] })]);
  const history = largeHistory({ store, id: T }, { from: 0, to: 3 });
  await expect(Array.fromAsync(history.read())).rejects.toThrow("deleted while it was being read");
});
