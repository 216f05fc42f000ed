import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ContextId, TaskId } from "../../protocol/ids.ts";
import { readTask, writeEvent } from "../../protocol/serial.ts";
import { dialectSettings } from "../options.ts";
import {
  createRestClientCodec as createOlderRest,
  createRpcClientCodec as createOlderRpc,
} from "../v1_0/client-codec.ts";
import { event, SAMPLES, sendRequest, storedTask } from "../v1_0/test/models.ts";
import { createRestClientCodec, createRpcClientCodec } from "./client-codec.ts";
import { createRestCodec, createRpcCodec } from "./codec.ts";
import { encodeOpening } from "./event.ts";

const rpcServer = createRpcCodec();
const restServer = createRestCodec(dialectSettings({}));
const rpc = createRpcClientCodec();
const rest = createRestClientCodec();

/** Most of the format is tested in 1.0. */
const FEW = { ...SAMPLES, numRuns: 40 };

describe("A client of 1.1", () => {
  it("writes conditional messages that the server decodes to the same request", () => {
    fc.assert(
      fc.property(sendRequest, fc.option(fc.nat(), { nil: undefined }), (source, expectedSeq) => {
        const request = { ...source, ...(expectedSeq !== undefined && { expectedSeq }) };
        const { params } = rpc.encodeRequest(request);
        expect(rpcServer.decodeRequest(request.operation, JSON.parse(params))).toEqual(request);
        const { body = "" } = rest.encodeRequest({ ...request, tenant: "" });
        const sent = { path: {}, query: new URLSearchParams(), body: JSON.parse(body) };
        expect(restServer.decodeRequest(request.operation, sent)).toEqual({ ...request, tenant: "" });
      }),
      FEW,
    );
  });

  it("writes a wait for a change that the server decodes to the same request", () => {
    for (const history of [undefined, 0, 3]) {
      const request = { operation: "get", tenant: "", id: "t" as TaskId, history, waitAfterSeq: 6 } as const;
      const { params } = rpc.encodeRequest(request);
      expect(JSON.parse(params).currentGeneration).toBe("7");
      expect(rpcServer.decodeRequest("get", JSON.parse(params))).toEqual(request);
      const { path } = rest.encodeRequest(request);
      const { searchParams: query } = new URL(`http://host${path}`);
      expect(restServer.decodeRequest("get", { path: { id: "t" }, query, body: undefined })).toEqual(request);
    }
  });

  it("writes all other requests as in 1.0", () => {
    const request = { operation: "cancel", tenant: "a", id: "t" as TaskId, metadata: {} } as const;
    expect(rpc.encodeRequest(request)).toEqual(createOlderRpc().encodeRequest(request));
    expect(rest.encodeRequest(request)).toEqual(createOlderRest().encodeRequest(request));
  });
});

describe.each([
  ["JSON-RPC", rpc, rpcServer],
  ["REST", rest, restServer],
])("An answer of 1.1 over %s", (_binding, client, server) => {
  it("has the generation of every task", () => {
    fc.assert(
      fc.property(storedTask, (stored) => {
        const task = { ...readTask(stored), generation: stored.seq + 1 };
        const got = JSON.parse(server.encodeResult({ kind: "task", task: stored }));
        expect(client.decodeResult("get", got)).toEqual({ kind: "task", task });
        const sent = JSON.parse(server.encodeResult({ kind: "sent", task: stored }));
        expect(client.decodeResult("send", sent)).toEqual({ kind: "sent", task });
        const page = { kind: "tasks", tasks: [stored], total: 1, pageSize: 5 } as const;
        const listed = client.decodeResult("list", JSON.parse(server.encodeResult(page)));
        expect(listed).toMatchObject({ tasks: [{ generation: stored.seq + 1 }] });
        const opening = JSON.parse(encodeOpening({ kind: "task", task: stored }));
        expect(client.decodeEvent(opening)).toEqual({ kind: "task", task });
      }),
      FEW,
    );
  });

  it("has the generation of every event", () => {
    fc.assert(
      fc.property(event, fc.nat(), (source, seq) => {
        const state = source.kind === "status" ? { state: source.status.state } : {};
        const place = { taskId: "t" as TaskId, contextId: "c" as ContextId, final: false };
        const text = server.encodeEvent({ body: writeEvent(source), seq, ...state }, place);
        expect(client.decodeEvent(JSON.parse(text))).toMatchObject({ kind: source.kind, generation: seq + 1 });
      }),
      FEW,
    );
  });

  it.each([0, "0", -1, "x", 1.5, null, {}, "9223372036854775807"])("has no generation if it is %j", (generation) => {
    const status = { state: "TASK_STATE_WORKING" };
    const decoded = client.decodeResult("get", { id: "t", contextId: "c", status, generation });
    expect(decoded).not.toHaveProperty("task.generation");
    const update = { statusUpdate: { taskId: "t", contextId: "c", status, generation } };
    expect(client.decodeEvent(update)).not.toHaveProperty("generation");
  });
});
