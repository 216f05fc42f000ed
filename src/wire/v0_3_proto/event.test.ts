import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sampled } from "../../../test/fixtures/budget.ts";
import type { TaskEvent } from "../../protocol/event.ts";
import type { ArtifactId, ContextId, TaskId } from "../../protocol/ids.ts";
import { writeEvent } from "../../protocol/serial.ts";
import { isTerminal } from "../../protocol/state.ts";
import type { EventText } from "../codec.ts";
import { createRestClientCodec } from "./client-codec.ts";
import { encodeEvent, encodeOpening } from "./event.ts";
import { event, message, SAMPLES, stored, task } from "./test/models.ts";

const client = createRestClientCodec();
const place = { taskId: "t" as TaskId, contextId: "c" as ContextId, final: false };
const last = { ...place, final: true };

function textOf(someEvent: TaskEvent, encoded?: Map<string, string>): EventText {
  const body = writeEvent(someEvent);
  return someEvent.kind === "status" ? { body, state: someEvent.status.state, encoded } : { body, encoded };
}

const timestamp = "2030-01-01T00:00:00.000Z";
const chunk: TaskEvent = {
  kind: "artifact",
  artifact: { artifactId: "a" as ArtifactId, parts: [{ text: 'the "url": of\\"raw": things' }] },
  append: true,
  lastChunk: false,
};

describe("an event", () => {
  test("has this text: pinned", () => {
    expect(encodeEvent(textOf(chunk), place)).toBe(
      '{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"the \\"url\\": of\\\\\\"raw\\": things"}]},"append":true}}',
    );
    const status = textOf({ kind: "status", status: { state: "canceled", timestamp }, metadata: { k: 1 } });
    expect(JSON.parse(encodeEvent(status, place))).toStrictEqual({
      statusUpdate: {
        taskId: "t",
        contextId: "c",
        status: { state: "TASK_STATE_CANCELLED", timestamp },
        metadata: { k: 1 },
      },
    });
    expect(JSON.parse(encodeEvent(status, last))).toHaveProperty("statusUpdate.final", true);
  });

  test("decodes to the encoded event, with and without the fast path for stored text", () => {
    fc.assert(
      fc.property(event, fc.boolean(), (someEvent, final) => {
        const text = encodeEvent(textOf(someEvent), { ...place, final });
        expect(text).not.toMatch(/[\r\n]/);
        expect(client.decodeEvent(JSON.parse(text))).toStrictEqual({
          ...someEvent,
          taskId: "t",
          contextId: "c",
          final: final && someEvent.kind === "status",
        });
      }),
      { ...SAMPLES, numRuns: sampled(125, 1000) },
    );
  });

  test.each(["mediaType", "filename", "data_part_compat", "_filename", "__data_part_compat"])(
    "keeps the author's metadata %s apart from the member that the style adds",
    (name) => {
      const artifact = { artifactId: "a" as ArtifactId, parts: [{ text: "x", metadata: { [name]: "mine" } }] };
      const text = encodeEvent(textOf({ ...chunk, artifact }), place);
      expect(JSON.parse(text)).toHaveProperty("artifactUpdate.artifact.parts.0.metadata", { [`_${name}`]: "mine" });
      expect(client.decodeEvent(JSON.parse(text))).toMatchObject({ artifact });
    },
  );

  test("is encoded once for all readers, and once more with final", () => {
    fc.assert(
      fc.property(event, (someEvent) => {
        const encoded = new Map<string, string>();
        const [first, again] = [
          encodeEvent(textOf(someEvent, encoded), place),
          encodeEvent(textOf(someEvent, encoded), { ...place }),
        ];
        expect(again).toBe(first);
        expect([...encoded.values()]).toEqual([first]);
        const ending = encodeEvent(textOf(someEvent, encoded), last);
        expect([...encoded.values()]).toEqual(someEvent.kind === "status" ? [first, ending] : [first]);
        expect(
          encodeEvent(
            {
              body: "nothing to be parsed",
              ...(someEvent.kind === "status" && { state: someEvent.status.state }),
              encoded,
            },
            last,
          ),
        ).toBe(ending);
      }),
      SAMPLES,
    );
  });

  test("has its own cache key", () => {
    const encoded = new Map([
      ["1.0", "another"],
      ["0.3", "another"],
      ["0.3 final", "another"],
    ]);
    expect(encodeEvent(textOf(chunk, encoded), place)).not.toBe("another");
    const status = textOf({ kind: "status", status: { state: "completed", timestamp } }, encoded);
    expect(encodeEvent(status, { ...place, final: isTerminal("completed") })).not.toBe("another");
  });
});

test("the first frame of a stream decodes to the encoded opening", () => {
  fc.assert(
    fc.property(task, message, (someTask, reply) => {
      const opened = JSON.parse(encodeOpening({ kind: "task", task: stored(someTask) }));
      expect(client.decodeEvent(opened)).toStrictEqual({ kind: "task", task: someTask });
      const replied = JSON.parse(encodeOpening({ kind: "message", message: reply }));
      expect(client.decodeEvent(replied)).toStrictEqual({ kind: "message", message: reply });
    }),
    SAMPLES,
  );
});

test.each<[string, unknown, unknown]>([
  [
    "in snake_case",
    { status_update: { task_id: "t", context_id: "c", status: { state: 3 }, final: true } },
    { kind: "status", taskId: "t", contextId: "c", final: true, status: { state: "completed" } },
  ],
  [
    "of an artifact in snake_case",
    { artifact_update: { task_id: "t", artifact: { artifact_id: "a" }, last_chunk: true } },
    { kind: "artifact", contextId: "", append: false, lastChunk: true, artifact: { artifactId: "a", parts: [] } },
  ],
  [
    "with a message under its name in the definition",
    { msg: { message_id: "m", content: [{ text: "x" }] } },
    { kind: "message", message: { messageId: "m", role: "agent" } },
  ],
  [
    "bare, in JSON style",
    { kind: "status-update", taskId: "t", contextId: "c", status: { state: "working" }, final: false },
    { kind: "status", taskId: "t", final: false },
  ],
])("an agent's frame is decoded %s", (_name, frame, expected) => {
  expect(client.decodeEvent(frame)).toMatchObject(expected as object);
});

test.each([
  [null],
  ["task"],
  [{}],
  [{ task: {} }],
  [{ statusUpdate: { status: {} } }],
  [{ artifactUpdate: { taskId: "t" } }],
])("an invalid frame throws invalid-agent-response: %j", (frame) => {
  expect(() => client.decodeEvent(frame)).toThrow(expect.objectContaining({ code: "invalid-agent-response" }));
});
