import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { A2AError, ERROR_CODES } from "../../protocol/error.ts";
import type { ContextId, TaskId } from "../../protocol/ids.ts";
import { OPERATIONS } from "../../protocol/operation.ts";
import { writeEvent } from "../../protocol/serial.ts";
import { dialectSettings } from "../options.ts";
import { createRestCodec as createOlderRest, createRpcCodec as createOlderRpc } from "../v1_0/codec.ts";
import { METHOD_OF } from "../v1_0/methods.ts";
import { event, SAMPLES, storedTask } from "../v1_0/test/models.ts";
import { createRestCodec, createRpcCodec } from "./codec.ts";
import { encodeOpening } from "./event.ts";
import { PUSH } from "./push.ts";

const settings = dialectSettings({});

/** Most of the format is tested in 1.0. */
const FEW = { ...SAMPLES, numRuns: 40 };
const CODECS = [
  ["JSON-RPC", createRpcCodec(), createOlderRpc()],
  ["REST", createRestCodec(settings), createOlderRest(settings)],
] as const;

describe.each(CODECS)("The 1.1 codec of %s", (_binding, codec, older) => {
  it("encodes a task as in 1.0, with the generation seq + 1 as text", () => {
    fc.assert(
      fc.property(storedTask, (task) => {
        const generation = String(task.seq + 1);
        const one = JSON.parse(older.encodeResult({ kind: "task", task }));
        expect(JSON.parse(codec.encodeResult({ kind: "task", task }))).toEqual({ ...one, generation });
        expect(JSON.parse(codec.encodeResult({ kind: "sent", task }))).toEqual({ task: { ...one, generation } });
        expect(JSON.parse(encodeOpening({ kind: "task", task }))).toEqual({
          task: { ...one, generation },
        });
        const page = { kind: "tasks", tasks: [task, task], total: 2, pageSize: 50 } as const;
        expect(JSON.parse(codec.encodeResult(page)).tasks).toEqual([
          { ...one, generation },
          { ...one, generation },
        ]);
      }),
      FEW,
    );
  });

  it("encodes an event as in 1.0, with the generation after the event, once for all readers and for webhooks", () => {
    fc.assert(
      fc.property(event, fc.nat(), (source, seq) => {
        const state = source.kind === "status" ? { state: source.status.state } : {};
        const stored = { body: writeEvent(source), seq, encoded: new Map<string, string>(), ...state };
        const place = { taskId: "t" as TaskId, contextId: "c" as ContextId, final: false };
        const text = codec.encodeEvent(stored, place);
        const member = source.kind === "status" ? "statusUpdate" : "artifactUpdate";
        const expected = JSON.parse(older.encodeEvent(stored, place));
        expect(JSON.parse(text)).toEqual({ [member]: { ...expected[member], generation: String(seq + 1) } });
        expect(codec.encodeEvent({ ...stored, body: "{}" }, place)).toBe(text);
        expect(PUSH.encodeEvent({ ...stored, body: "{}" }, place)).toBe(text);
      }),
      FEW,
    );
  });

  it.each(ERROR_CODES)("encodes %s as in 1.0", (code) => {
    const error = new A2AError(code, "No", { metadata: { taskId: "t" } });
    expect(codec.encodeError(error)).toBe(older.encodeError(error));
    expect(codec.statusOf(error)).toBe(older.statusOf(error));
  });

  it("has the policy of 1.0", () => {
    expect(codec.policy).toEqual(older.policy);
    expect([codec.version, codec.dialect.split("/")[0]]).toEqual(["1.1", "1.1"]);
  });
});

describe("The 1.1 codec of JSON-RPC", () => {
  it("has the methods of 1.0", () => {
    const codec = createRpcCodec();
    expect(OPERATIONS.map((operation) => codec.operationOf(METHOD_OF[operation]))).toEqual([...OPERATIONS]);
    expect(codec.operationOf("message/send")).toBeUndefined();
  });
});
