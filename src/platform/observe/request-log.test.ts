import { describe, expect, it } from "vitest";
import { badCredentials } from "../../auth/verify/request-credentials.ts";
import { A2AError } from "../../protocol/error.ts";
import { ANONYMOUS } from "../../protocol/principal.ts";
import type { CallReport } from "../../telemetry/call-report.ts";
import { createRefusalLog, createRequestLog } from "./request-log.ts";

const REPORT: CallReport = {
  ...{ agent: "echo", operation: "send", dialect: "1.0/jsonrpc", principal: ANONYMOUS, remote: "127.0.0.1" },
  ...{ taskId: "t", traceId: undefined, error: undefined, durationMs: 1 },
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("The request log", () => {
  it("writes the lines of one turn together, one per call", async () => {
    const written: string[] = [];
    const log = createRequestLog({
      ...{ format: "json", isColored: false },
      stream: { writableLength: 0, write: (text) => written.push(text) },
    });
    log(REPORT);
    log(REPORT);
    await turn();
    expect(written).toHaveLength(1);
    expect(written[0]?.trimEnd().split("\n")).toHaveLength(2);
  });

  it("drops and counts lines while its reader is slow", async () => {
    const written: string[] = [];
    const stream = { writableLength: 2_000_000, write: (text: string) => written.push(text) };
    const log = createRequestLog({ format: "json", isColored: false, stream });
    for (let call = 0; call < 5; call += 1) log(REPORT);
    await turn();
    expect(written).toEqual([]);
    stream.writableLength = 0;
    log(REPORT);
    await turn();
    const lines = (written[0] ?? "").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ msg: "call" }, { level: "warn", dropped: 5 }]);
  });
});

describe("The log of refused credentials", () => {
  it("names the reason, and stops after 10 lines in 10 s", () => {
    const lines: [string, object | undefined][] = [];
    const info = (message: string, details?: object): void => void lines.push([message, details]);
    let now = 0;
    const log = createRefusalLog({ debug: info, info, warn: info, error: info }, () => now);
    const refused = { ...REPORT, error: badCredentials("expired") };
    log(REPORT);
    log({ ...REPORT, error: new A2AError("task-not-found", "Task not found") });
    for (let call = 0; call < 100; call += 1) log(refused);
    expect(lines).toHaveLength(10);
    expect(lines[0]).toMatchObject(["Credentials were refused", { reason: "expired", agent: "echo" }]);
    now = 10_001;
    log(refused);
    expect(lines.slice(10)).toMatchObject([
      ["Further credentials were refused", { count: 90 }],
      ["Credentials were refused", { reason: "expired" }],
    ]);
  });
});
