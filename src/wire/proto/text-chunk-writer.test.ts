import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ArtifactEvent } from "../../protocol/event.ts";
import type { ArtifactId, ContextId, TaskId } from "../../protocol/ids.ts";
import { writeEvent } from "../../protocol/serial.ts";
import { bytesOf } from "../byte-string.ts";
import { loadGrpcDialects } from "../grpc.ts";
import { textChunkIn } from "../text-chunk.ts";

const dialects = await loadGrpcDialects({ preview: ["1.1"] });
const place = { taskId: "t-1" as TaskId, contextId: "c-ä" as ContextId, final: false };
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("", '"', "\\", '\\"', '"}]},"append":true}', "\n\t\u0000", "€😀", "x".repeat(20_000)),
);

function chunk(said: string, id: string, lastChunk: boolean): ArtifactEvent {
  return {
    kind: "artifact",
    artifact: { artifactId: id as ArtifactId, parts: [{ text: said }] },
    append: true,
    lastChunk,
  };
}

describe.each([
  ["lf.a2a.v1", "1.0"],
  ["lf.a2a.v1", "1.1"],
  ["a2a.v1", "0.3"],
])("Text chunks of %s, version %s", (packageName, version) => {
  const family = dialects.families.find(({ service }) => service === `${packageName}.A2AService`);
  const codec = family?.choose(version).codec;
  const type = dialects.type(`${packageName}.StreamResponse`);

  it("have the bytes of their JSON", () => {
    fc.assert(
      fc.property(fc.tuple(text, text, fc.boolean()), fc.nat(), ([said, id, isLast], seq) => {
        const event = { body: writeEvent(chunk(said, id === "" ? "a" : id, isLast)), seq };
        expect(textChunkIn(event.body)).toBeDefined();
        const bytes = codec?.eventBytes(event, place);
        const json: object = JSON.parse(codec?.encodeEvent(event, place) ?? "");
        expect(bytes && type.decode(bytesOf(bytes))).toEqual({ ...json, palaverEventId: String(seq) });
      }),
    );
  });
});

it("Other events are not taken for text chunks", () => {
  const event = chunk("x", "a", false);
  const others: readonly ArtifactEvent[] = [
    { ...event, append: false },
    { ...event, metadata: { a: 1 } },
    { ...event, artifact: { ...event.artifact, name: "n" } },
    { ...event, artifact: { ...event.artifact, parts: [{ text: "x", mediaType: "text/html" }] } },
    { ...event, artifact: { ...event.artifact, parts: [{ text: "x" }, { text: "y" }] } },
    { ...event, artifact: { ...event.artifact, parts: [{ data: { text: "x" } }] } },
  ];
  for (const other of others) expect(textChunkIn(writeEvent(other))).toBeUndefined();
});
