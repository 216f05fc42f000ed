import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Artifact } from "../protocol/artifact.ts";
import type { ContextId, TaskId } from "../protocol/ids.ts";
import {
  type ArtifactPiece,
  type LargeMembers,
  PLACEHOLDER_ARTIFACTS,
  PLACEHOLDER_HISTORY,
} from "../protocol/large-members.ts";
import { mergedParts } from "../protocol/merged-parts.ts";
import type { OperationResult } from "../protocol/operation.ts";
import type { Part } from "../protocol/part.ts";
import { type StoredTask, writeStatus } from "../protocol/serial.ts";
import type { Codec } from "./codec.ts";
import { resultPieces } from "./large-task.ts";
import { dialectSettings } from "./options.ts";
import { createRestCodec as createPlainCodec } from "./plain/codec.ts";
import { createRpcCodec as createRpcCodec0_1 } from "./v0_1/codec.ts";
import { createUnionRpcCodec } from "./v0_1/union.ts";
import { createRpcCodec as createRpcCodec0_2 } from "./v0_2/codec.ts";
import { createRestCodec as createRestCodec0_3, createRpcCodec as createRpcCodec0_3 } from "./v0_3/codec.ts";
import { createRestCodec as createProtoCodec } from "./v0_3_proto/codec.ts";
import { createRestCodec, createRpcCodec } from "./v1_0/codec.ts";

const settings = dialectSettings({});
const CODECS: readonly Codec[] = [
  createRpcCodec(),
  createRestCodec(settings),
  createRpcCodec0_3(settings),
  createRestCodec0_3(settings),
  createProtoCodec(settings),
  createRpcCodec0_2(settings),
  createRpcCodec0_1(settings),
  createUnionRpcCodec(createRpcCodec0_3(settings)),
  createPlainCodec(settings),
];

function largeMembers(artifacts: readonly Artifact[], messages: readonly string[]): LargeMembers {
  return {
    artifacts: {
      ids: artifacts.map(({ artifactId }) => artifactId),
      async *read(): AsyncGenerator<ArtifactPiece> {
        for (const { parts, ...rest } of artifacts) {
          yield { kind: "begin", artifact: { ...rest, parts: [] } };
          for (const part of parts) yield* partPieces(part);
          yield { kind: "end" };
        }
      },
    },
    history: {
      async *read() {
        for (const message of messages) yield [message];
      },
    },
  };
}

/** Splits a text part of two or more characters into pieces. */
function* partPieces(part: Part): Generator<ArtifactPiece> {
  if (part.text === undefined || part.text.length < 2) {
    yield { kind: "parts", parts: JSON.stringify(part) };
    return;
  }
  for (const character of part.text) yield { kind: "text", json: JSON.stringify(character).slice(1, -1) };
}

const WORDS = fc.constantFrom("", "a", "böse 🙂", '"}],"parts":[]', "\\", "\n\n");
const PART: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ text: WORDS }),
  fc.record({ data: fc.constantFrom({ x: [1, "2"] }, null, "d"), mediaType: fc.constant("application/json") }),
  fc.record({ url: fc.constant("https://example.com/f"), filename: WORDS }),
  fc.record({ raw: fc.constant("AAAA"), mediaType: fc.constant("image/png") }),
);
/** Joins consecutive text chunks to one part, as in every folded artifact. */
const merged = (parts: Part[]): Part[] => [...mergedParts(parts)];
const ARTIFACT = fc.record(
  {
    artifactId: fc.uuid(),
    name: WORDS,
    metadata: fc.constant({ parts: [] }),
    parts: fc.array(PART, { maxLength: 4 }).map(merged),
  },
  { requiredKeys: ["artifactId", "parts"] },
);
const TASK = fc.record({
  artifacts: fc.uniqueArray(ARTIFACT, { selector: ({ artifactId }) => artifactId, minLength: 1, maxLength: 4 }),
  history: fc.array(
    fc.record({ messageId: fc.uuid(), role: fc.constantFrom("ROLE_USER", "ROLE_AGENT"), parts: fc.array(PART) }),
    { minLength: 1, maxLength: 4 },
  ),
});

async function piecesOf(codec: Codec, result: OperationResult): Promise<unknown> {
  const texts = await Array.fromAsync(resultPieces(codec, result, (text) => `{"result":${text}}`));
  return JSON.parse(texts.join(""));
}

describe.each(CODECS.map((codec) => [codec.dialect, codec] as const))("in %s", (name, codec) => {
  test.each(["1.0/jsonrpc", "0.1/jsonrpc"])(
    "a large task created in %s has the same text in pieces as in one",
    async (dialect) => {
      await fc.assert(
        fc.asyncProperty(TASK, async ({ artifacts, history }) => {
          const head = {
            id: "t" as TaskId,
            contextId: "c" as ContextId,
            seq: 3,
            state: "completed",
            status: writeStatus({ state: "completed", timestamp: "2026-01-01T00:00:00.000Z" }),
            metadata: '{"m":1}',
            dialect,
          } as const;
          const texts = history.map((message) => JSON.stringify(message));
          const whole: StoredTask = { ...head, artifacts: JSON.stringify(artifacts), history: `[${texts.join(",")}]` };
          const large: StoredTask = {
            ...head,
            artifacts: PLACEHOLDER_ARTIFACTS,
            history: PLACEHOLDER_HISTORY,
            large: largeMembers(artifacts as unknown as Artifact[], texts),
          };
          for (const kind of ["task", "sent"] as const) {
            const expected = JSON.parse(codec.encodeResult({ kind, task: whole }));
            const written = await piecesOf(codec, { kind, task: large });
            // The plain dialect writes artifacts without text as an empty message instead of none.
            if (name === "plain" && JSON.stringify(written).includes('"text":""')) return;
            expect(written).toEqual({ result: expected });
          }
          if (name === "plain") return;
          const page = { kind: "tasks", total: 9, pageSize: 3, next: { at: 1, id: "x" } } as const;
          // In lists the union codec writes tasks in the newer format.
          if (name.startsWith("0.1+") && dialect.startsWith("0.1")) return;
          const tasks = [whole, { ...head, artifacts: "[]" }, whole];
          const expected = JSON.parse(codec.encodeResult({ ...page, tasks }));
          const written = await piecesOf(codec, { ...page, tasks: [large, { ...head, artifacts: "[]" }, large] });
          expect(written).toEqual({ result: expected });
        }),
        { numRuns: 40 },
      );
    },
  );
});
