import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ContextId, TaskId } from "../../protocol/ids.ts";
import { readTask, type StoredTask } from "../../protocol/serial.ts";
import type { EventPlace, PushCodec, PushedChange } from "../codec.ts";
import { createDialects } from "../dialects.ts";
import { dialectSettings } from "../options.ts";
import { VERSIONS } from "../registry.ts";
import { createRpcCodec as createRpc0_1 } from "../v0_1/codec.ts";
import { createRpcCodec as createRpc0_3 } from "../v0_3/codec.ts";
import { storedEvent } from "../v0_3/test/frames.ts";
import { createRpcCodec as createRpc1_0 } from "../v1_0/codec.ts";
import { SAMPLES, storedTask } from "../v1_0/test/models.ts";
import { pushCodecOf } from "./push-codecs.ts";

const place: EventPlace = { taskId: "t" as TaskId, contextId: "c" as ContextId, final: false };
const timestamp = "2026-01-01T00:00:00.000Z";
const about: PushedChange = { kind: "artifact", at: Date.parse(timestamp) };
const STATUS = storedEvent({ kind: "status", status: { state: "working", timestamp } }, new Map());

function codecOf(dialect: string): PushCodec {
  const codec = pushCodecOf(dialect);
  if (codec === undefined) throw new Error(dialect);
  return codec;
}

function body(codec: PushCodec, task: StoredTask): unknown {
  const text = codec.encodeTask(task, about);
  expect(text).not.toMatch(/[\n\r]/);
  return JSON.parse(text);
}

describe("Webhooks", () => {
  it.each([
    ["1.0/jsonrpc", "event", "application/a2a+json", false],
    ["1.0/rest", "event", "application/a2a+json", false],
    ["0.3/jsonrpc", "task", "application/json", false],
    ["0.3/rest-json", "task", "application/json", false],
    ["0.3/rest-proto", "task", "application/json", false],
    ["0.2/jsonrpc", "task", "application/json", false],
    ["0.1/jsonrpc", "task", "application/json", true],
  ])("of %s are sent each %s as %s", (...[dialect, carries, mediaType, tokenAsBearer]) => {
    expect(pushCodecOf(dialect)).toMatchObject({ carries, mediaType, tokenAsBearer, headers: {} });
  });

  it.each(["plain", "", "1", "1.0.1/rest", "9.9/jsonrpc", "__proto__/rest", "toString"])(
    "do not exist in %j",
    (dialect) => {
      expect(pushCodecOf(dialect)).toBeUndefined();
    },
  );

  it("have a codec in every version that has webhooks", () => {
    expect(VERSIONS.filter((version) => pushCodecOf(`${version}/jsonrpc`) === undefined)).toEqual(["plain"]);
    // Whatever versions this server supports.
    createDialects({ versions: ["1.0"] });
    expect(pushCodecOf("0.1/jsonrpc")).toBeDefined();
  });

  it("are sent application/json if restMediaType says so", () => {
    expect(pushCodecOf("1.0/rest", { restMediaType: "application/json" })?.mediaType).toBe("application/json");
    expect(pushCodecOf("1.0/rest", { restMediaType: "application/a2a+json" })?.mediaType).toBe("application/a2a+json");
    expect(pushCodecOf("0.3/jsonrpc", { restMediaType: "application/a2a+json" })?.mediaType).toBe("application/json");
  });
});

describe("A notification of 1.0", () => {
  const codec = codecOf("1.0/jsonrpc");

  it("has the cached text of streams", () => {
    const rpc = createRpc1_0();
    let made = 0;
    const counted = {
      ...STATUS,
      get body() {
        made += 1;
        return STATUS.body;
      },
    };
    const text = rpc.encodeEvent(counted, place);
    expect(codec.encodeEvent(counted, { ...place, final: true })).toBe(text);
    expect(made).toBe(1);
    expect(Object.keys(JSON.parse(text))).toEqual(["statusUpdate"]);
  });

  it("is the whole task if the events are no longer stored", () => {
    fc.assert(
      fc.property(storedTask, (task) => {
        expect(body(codec, task)).toEqual({
          task: JSON.parse(createRpc1_0().encodeResult({ kind: "task", task })),
        });
      }),
      SAMPLES,
    );
  });
});

describe("A notification of 0.3 and 0.2", () => {
  it("is the task in the format of JSON-RPC, whatever binding registered the webhook", () => {
    const rpc = createRpc0_3(dialectSettings({}));
    fc.assert(
      fc.property(storedTask, (task) => {
        const expected = JSON.parse(rpc.encodeResult({ kind: "task", task }));
        expect(expected).toMatchObject({ kind: "task" });
        for (const dialect of ["0.3/jsonrpc", "0.3/rest-json", "0.3/rest-proto", "0.2/jsonrpc"])
          expect(body(codecOf(dialect), task)).toEqual(expected);
      }),
      SAMPLES,
    );
  });
});

describe("A notification of 0.1", () => {
  it("is the task with the kind and time of the event", () => {
    const rpc = createRpc0_1(dialectSettings({}), () => "new");
    fc.assert(
      fc.property(storedTask, (task) => {
        expect(body(codecOf("0.1/jsonrpc"), task)).toEqual({
          ...JSON.parse(rpc.encodeResult({ kind: "task", task })),
          taskId: readTask(task).id,
          eventType: "artifact",
          timestamp,
        });
      }),
      SAMPLES,
    );
  });
});
