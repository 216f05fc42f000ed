import { describe, expect, it } from "vitest";
import { A2AError } from "../../protocol/error.ts";
import { jsonLine, type LoggedCall, prettyLine } from "./call-line.ts";

const CALL: LoggedCall = {
  at: Date.parse("2030-01-31T12:00:00.000Z"),
  agent: "echo",
  operation: "send",
  dialect: "1.0/jsonrpc",
  principal: { id: "key:ada", anonymous: false },
  remote: "127.0.0.1",
  taskId: "t-1",
  traceId: undefined,
  error: undefined,
  refusal: undefined,
  durationMs: 12.34,
};

describe("A line of the request log", () => {
  it("for people has time, agent, operation, dialect, caller, task, outcome and duration", () => {
    expect(
      prettyLine(CALL, false)
        .split(/ {2,}| (?=\d\d:|[a-z])/)
        .join("|"),
    ).toContain("12:00:00|echo|send|1.0/jsonrpc|key:ada|t-1|ok");
    expect(prettyLine(CALL, false)).toMatch(/12\.3 ms$/);
  });

  it("is green for success, yellow for refused calls and red for failures of the server", () => {
    const colored = (code: "task-not-found" | "internal"): string =>
      prettyLine({ ...CALL, error: new A2AError(code, "no") }, true);
    expect(prettyLine(CALL, true)).toContain("\u001b[32mok\u001b[0m");
    expect(colored("task-not-found")).toContain("\u001b[33mtask-not-found");
    expect(colored("internal")).toContain("\u001b[31minternal");
  });

  it("says why credentials were refused", () => {
    const call = {
      ...CALL,
      error: new A2AError("unauthenticated", "Invalid credentials"),
      refusal: "bearer: wrong-audience",
    };
    expect(prettyLine(call, false)).toContain("unauthenticated (bearer: wrong-audience)");
    expect(JSON.parse(jsonLine(call))).toMatchObject({ outcome: "unauthenticated", refusal: "bearer: wrong-audience" });
  });

  it("has no control characters of callers, and cuts long texts off", () => {
    const hostile = "\u001b[2J\u0007\r\n\u009b31m\u202eevil";
    const call = { ...CALL, taskId: hostile, principal: { id: hostile.repeat(100), anonymous: false } };
    for (const line of [prettyLine(call, false), jsonLine(call)]) {
      expect(line).not.toMatch(/[\p{Cc}\u202e]/u);
      expect(line.length).toBeLessThan(1500);
    }
    expect(JSON.parse(jsonLine(call)).taskId).toBe(hostile);
  });

  it("as JSON leaves out what is not known", () => {
    expect(JSON.parse(jsonLine(CALL))).toEqual({
      level: "info",
      time: "2030-01-31T12:00:00.000Z",
      msg: "call",
      agent: "echo",
      operation: "send",
      dialect: "1.0/jsonrpc",
      caller: "key:ada",
      taskId: "t-1",
      outcome: "ok",
      durationMs: 12.3,
      remote: "127.0.0.1",
    });
  });
});
