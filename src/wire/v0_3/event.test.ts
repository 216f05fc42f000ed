import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampled } from "../../../test/fixtures/budget.ts";
import type { TaskEvent } from "../../protocol/event.ts";
import type { ArtifactId, ContextId, TaskId } from "../../protocol/ids.ts";
import type { EventPlace } from "../codec.ts";
import { dialectSettings } from "../options.ts";
import { createRestCodec, createRpcCodec } from "./codec.ts";
import { encodeEvent } from "./event.ts";
import { place as anyPlace, storedEvent } from "./test/frames.ts";
import { event, SAMPLES } from "./test/models.ts";

const place: EventPlace = { taskId: "t" as TaskId, contextId: "c" as ContextId, final: false };
const working: TaskEvent = { kind: "status", status: { state: "working", timestamp: "2026-01-01T00:00:00.000Z" } };

function chunk(text: string, more: object = {}): TaskEvent {
  const artifact = { artifactId: "a" as ArtifactId, parts: [{ text }] };
  return { kind: "artifact", artifact, append: true, lastChunk: false, ...more };
}

describe("A 0.3 event", () => {
  it("is a status with its ids and final, and kind as the first member", () => {
    expect(encodeEvent(storedEvent(working), place)).toBe(
      '{"kind":"status-update","taskId":"t","contextId":"c",' +
        '"status":{"state":"working","timestamp":"2026-01-01T00:00:00.000Z"},"final":false}',
    );
    const asking: TaskEvent = { kind: "status", status: { ...working.status, state: "input-required" } };
    expect(JSON.parse(encodeEvent(storedEvent(asking), { ...place, final: true }))).toMatchObject({
      status: { state: "input-required" },
      final: true,
    });
  });

  it("is an artifact, whole or in chunks", () => {
    const beginning = '{"kind":"artifact-update","taskId":"t","contextId":"c","artifact":{"artifactId":"a",';
    expect(encodeEvent(storedEvent(chunk("x", { append: false })), place)).toBe(
      `${beginning}"parts":[{"kind":"text","text":"x"}]}}`,
    );
    expect(encodeEvent(storedEvent(chunk("x")), place)).toBe(
      `${beginning}"parts":[{"kind":"text","text":"x"}]},"append":true}`,
    );
    expect(encodeEvent(storedEvent(chunk("x", { lastChunk: true })), place)).toBe(
      `${beginning}"parts":[{"kind":"text","text":"x"}]},"append":true,"lastChunk":true}`,
    );
  });

  it("has the same text with and without the fast path for text chunks", () => {
    const tricky = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.stringMatching(/^["\\]*$/),
      fc.constantFrom('"}]},"append":true}', '\\"}]},"append":true', '","parts":[{"text":"', "\\", '\\"', ""),
    );
    const part = fc.record({ text: tricky, mediaType: fc.constant("a/b") }, { requiredKeys: ["text"] });
    const artifact = fc.record(
      { artifactId: tricky.map((id) => id as ArtifactId), parts: fc.array(part, { maxLength: 2 }), name: tricky },
      { requiredKeys: ["artifactId", "parts"] },
    );
    const source = fc.record(
      {
        kind: fc.constant("artifact" as const),
        artifact,
        append: fc.boolean(),
        lastChunk: fc.boolean(),
        metadata: fc.constant({ text: '"}]},"append":true}' }),
      },
      { requiredKeys: ["kind", "artifact", "append", "lastChunk"] },
    );
    fc.assert(
      fc.property(source, (made) => {
        const { artifactId, name } = made.artifact;
        expect(JSON.parse(encodeEvent(storedEvent(made), place))).toEqual({
          kind: "artifact-update",
          taskId: "t",
          contextId: "c",
          artifact: {
            artifactId,
            ...(name !== undefined && { name }),
            parts: made.artifact.parts.map(({ text, mediaType }) => ({
              kind: "text",
              text,
              ...(mediaType !== undefined && { metadata: { mediaType } }),
            })),
          },
          ...(made.append && { append: true }),
          ...(made.lastChunk && { lastChunk: true }),
          ...(made.metadata !== undefined && { metadata: made.metadata }),
        });
      }),
      { ...SAMPLES, numRuns: sampled(125, 1000) },
    );
  });

  it("has no line break, whatever it contains", () => {
    fc.assert(
      fc.property(event, anyPlace, (source, here) => {
        expect(encodeEvent(storedEvent(source), here)).not.toMatch(/[\n\r]/);
      }),
      SAMPLES,
    );
  });

  it("is encoded once per value of final for all readers and bindings", () => {
    const settings = dialectSettings({});
    const rpc = createRpcCodec(settings);
    const rest = createRestCodec(settings);
    for (const source of [working, chunk("x"), chunk("x", { append: false })]) {
      const encoded = new Map<string, string>();
      const stored = storedEvent(source, encoded);
      let made = 0;
      const counted = {
        ...stored,
        get body() {
          made += 1;
          return stored.body;
        },
      };
      for (const final of [false, true]) {
        const bare = rpc.encodeEvent(counted, { ...place, final });
        for (let reader = 0; reader < 5; reader++) {
          expect(rpc.encodeEvent(counted, { ...place, final })).toBe(bare);
          expect(rest.encodeEvent(counted, { ...place, final })).toBe(`${bare.slice(0, -1)},"result":${bare}}`);
        }
      }
      const texts = source.kind === "status" ? 2 : 1;
      expect(made).toBe(texts);
      expect(encoded.size).toBe(texts);
    }
  });
});
