import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { openTelemetry } from "../../src/telemetry.ts";
import { fixture } from "../e2e/workbench.ts";
import { OtlpReceiver, type ReceivedSpan, traceProblems } from "../fixtures/otlp-receiver.ts";

/** Runs one task in a process with the real SDK. */
async function traced(generator: "palaver" | "random"): Promise<readonly ReceivedSpan[]> {
  await using collector = await OtlpReceiver.open();
  const child = spawn(process.execPath, ["--import", fixture("otel-sdk.ts"), fixture("otel-task.ts")], {
    env: {
      ...process.env,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_SERVICE_NAME: "agents",
      GENERATOR: generator,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  return collector.spans;
}

test("without an SDK there is nothing to trace with", () => {
  expect(openTelemetry()).toBeUndefined();
});

test("the SDK of the operator exports the spans; with our idGenerator their ids are derived from the work", async () => {
  const spans = await traced("palaver");
  const [attempt] = spans.filter(({ name }) => name === "invoke_agent worker");
  const [step] = spans.filter(({ name }) => name === "palaver.step look");
  expect(spans.find(({ spanId }) => spanId === attempt?.parentSpanId)?.name).toBe("SendMessage");
  expect(step?.parentSpanId).toBe(attempt?.spanId);
  expect(attempt).toMatchObject({ service: "agents", attributes: { "palaver.span.key": attempt?.spanId } });
  expect(step?.attributes["palaver.span.key"]).toBe(step?.spanId);
  expect(attempt?.events.at(-1)?.attributes["a2a.task.state"]).toBe("TASK_STATE_COMPLETED");
  expect(traceProblems(spans, "00f067aa0ba902b7")).toEqual([]);
});

test("with the SDK's own ids, palaver.span.key identifies the work", async () => {
  const spans = await traced("random");
  const [attempt] = spans.filter(({ name }) => name === "invoke_agent worker");
  expect(attempt?.attributes["palaver.span.key"]).toMatch(/^[0-9a-f]{16}$/);
  expect(attempt?.attributes["palaver.span.key"]).not.toBe(attempt?.spanId);
  expect(traceProblems(spans, "00f067aa0ba902b7")).toEqual([]);
});
