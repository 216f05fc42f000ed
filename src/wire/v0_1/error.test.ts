import { describe, expect, it } from "vitest";
import { A2AError, ERROR_CODES, type ErrorCode } from "../../protocol/error.ts";
import { dialectSettings } from "../options.ts";
import { createRpcCodec } from "./codec.ts";
import { decodeError, encodeError } from "./error.ts";

const { statusOf } = createRpcCodec(dialectSettings({}));

function written(code: ErrorCode, metadata: Readonly<Record<string, string>> = {}): unknown {
  return JSON.parse(encodeError(new A2AError(code, "No", { metadata, cause: new Error("inside") })));
}

describe("A 0.1 error", () => {
  it.each<[ErrorCode, number, number]>([
    ["parse-error", -32700, 400],
    ["invalid-request", -32600, 200],
    ["method-not-found", -32601, 200],
    ["invalid-params", -32602, 200],
    ["internal", -32603, 200],
    ["task-not-found", -32001, 200],
    ["task-not-cancelable", -32002, 200],
    ["push-not-supported", -32003, 200],
    ["unsupported-operation", -32004, 200],
    ["content-type-not-supported", -32005, 200],
    ["unauthenticated", -32007, 401],
    ["permission-denied", -32008, 403],
    ["rate-limited", -32010, 429],
    ["resource-exhausted", -32011, 200],
    ["unavailable", -32011, 503],
  ])("%s is %d, with HTTP %d", (code, number, status) => {
    expect(written(code)).toMatchObject({ code: number, message: "No" });
    expect(statusOf(new A2AError(code, "No"))).toBe(status);
  });

  it("has a code for an agent without streaming", () => {
    expect(written("unsupported-operation", { capability: "streaming" })).toEqual({
      code: -32006,
      message: "No",
      data: { reason: "UNSUPPORTED_OPERATION", capability: "streaming" },
    });
  });

  it("has a code for a message to a finished task", () => {
    expect(written("unsupported-operation", { taskId: "t", state: "completed" })).toEqual({
      code: -32009,
      message: "No",
      data: { reason: "INVALID_TRANSITION", taskId: "t", state: "completed" },
    });
  });

  it("has the names of the invalid fields", () => {
    const violations = [{ field: "id", description: "is required" }];
    const error = new A2AError("invalid-params", "No", { violations });
    expect(JSON.parse(encodeError(error))).toMatchObject({ data: { violations } });
  });

  it.each(ERROR_CODES)(
    "%s never tells its cause, and never borrows a number that means something else here",
    (code) => {
      const wire = written(code);
      expect(JSON.stringify(wire)).not.toContain("inside");
      const number = (wire as { code: number }).code;
      const taken: Readonly<Record<number, readonly ErrorCode[]>> = {
        [-32006]: [],
        [-32007]: ["unauthenticated"],
        [-32008]: ["permission-denied"],
        [-32009]: [],
        [-32010]: ["rate-limited"],
        [-32011]: ["resource-exhausted", "unavailable"],
      };
      expect(taken[number] ?? [code]).toContain(code);
    },
  );

  it.each(ERROR_CODES)("%s is decoded to the same code", (code) => {
    const error = new A2AError(code, "No", {
      metadata: { taskId: "t" },
      violations: [{ field: "a", description: "b" }],
    });
    const understood = decodeError(JSON.parse(encodeError(error)), statusOf(error));
    // Two errors share the code; the first in ERROR_CODES is decoded.
    expect(understood.code).toBe(code === "unsupported-media-type" ? "content-type-not-supported" : code);
    expect(understood).toMatchObject({ message: "No", metadata: { taskId: "t" }, violations: error.violations });
  });

  it("of a finished task is decoded to the same code", () => {
    expect(decodeError(written("unsupported-operation", { taskId: "t", state: "failed" }), 200)).toMatchObject({
      code: "unsupported-operation",
      metadata: { taskId: "t", state: "failed" },
    });
  });

  it.each<[number, number, ErrorCode]>([
    [-32001, 200, "task-not-found"],
    [-32006, 200, "unsupported-operation"],
    [-32007, 401, "unauthenticated"],
    [-32008, 403, "permission-denied"],
    [-32009, 200, "unsupported-operation"],
    [-32010, 429, "rate-limited"],
    [-32011, 200, "resource-exhausted"],
    [-32000, 401, "unauthenticated"],
    [-32000, 403, "permission-denied"],
    [-32000, 200, "internal"],
  ])("%d with HTTP %d is decoded from any agent as %s", (number, status, code) => {
    expect(decodeError({ code: number, message: "No" }, status)).toMatchObject({ code, message: "No" });
    expect(decodeError({ error: { code: number, message: "No" } }, status)).toMatchObject({ code, message: "No" });
  });

  it.each([null, undefined, "No", [], {}, { error: null }, { code: "x" }, { code: -32009, data: "x" }])(
    "is one even if it is %j",
    (value) => {
      expect(decodeError(value, 500)).toBeInstanceOf(A2AError);
    },
  );
});
