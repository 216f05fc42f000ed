import { expect } from "vitest";
import type { Frame, JsonAnswer } from "./exchange.ts";

type RequestId = string | number;

export function rpcRequest(id: RequestId, method: string, params?: object): object {
  return { jsonrpc: "2.0", id, method, ...(params !== undefined && { params }) };
}

/** The result of a call; checks that the response is a JSON-RPC envelope without additional members. */
export function resultOf(answer: JsonAnswer, id: RequestId): unknown {
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(answer.status).toBe(200);
  return openEnvelope(answer.json, id);
}

/** The error of a call that was refused in a JSON-RPC envelope with HTTP 200. */
export function errorOf(answer: JsonAnswer, id: RequestId | null): unknown {
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(answer.status).toBe(200);
  expect(answer.json).toEqual({ jsonrpc: "2.0", id, error: expect.anything() });
  return (answer.json as { readonly error: unknown }).error;
}

/** The results of a stream, each in its own envelope. */
export function resultsOf(frames: readonly Frame[], id: RequestId): readonly unknown[] {
  return frames.map(({ json }) => openEnvelope(json, id));
}

function openEnvelope(envelope: unknown, id: RequestId): unknown {
  expect(envelope).toEqual({ jsonrpc: "2.0", id, result: expect.anything() });
  return (envelope as { readonly result: unknown }).result;
}
