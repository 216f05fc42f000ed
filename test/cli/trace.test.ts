import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connect } from "../../src/client.ts";
import { agent } from "../../src/index.ts";
import { createServer } from "../../src/server.ts";
import { called } from "../console/agents.ts";
import { OtlpReceiver, traceProblems } from "../fixtures/otlp-receiver.ts";
import { Receiver } from "../push/receiver.ts";
import { type Run, Terminal } from "./terminal.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "palaver-trace-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
const worker = agent({
  name: "Worker",
  description: "Works.",
  version: "1",
  async run(task) {
    await task.step("look", () => 1);
    await task.ask("Which one?");
    return "done";
  },
});

/** Runs one task with a question and a webhook. Returns its id. */
async function runTask(otlp: string | undefined): Promise<string> {
  const webhook = await Receiver.open();
  const server = createServer(worker, {
    store: `sqlite:${join(folder, "tasks.db")}`,
    port: 0,
    logger: SILENT,
    outgoing: { http: true, allow: ["loopback"] },
    otlp,
  });
  try {
    const { url } = await server.listen();
    const remote = await connect(url);
    const asked = await remote.send("go", { push: { id: "hook", url: webhook.url } });
    if (asked.kind !== "task") throw new Error("A task was expected.");
    await remote.task(asked.task.id).reply("this one");
    await expect
      .poll(() => webhook.received.some(({ body }) => /completed/i.test(body)), { timeout: 10_000 })
      .toBe(true);
    return asked.task.id;
  } finally {
    await server.close();
    await webhook.close();
  }
}

function palaver(...args: readonly string[]): Promise<Run> {
  const store = `sqlite:${join(folder, "tasks.db")}`;
  return new Terminal().run(["trace", ...args, "--store", store], { env: { COLUMNS: "100" } });
}

describe("palaver trace", () => {
  it("draws a task that ran while nothing was traced: attempts, steps, questions and deliveries in time", async () => {
    const id = await runTask(undefined);
    const { code, stdout, stderr } = await palaver(id);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout).toContain(`Task ${id} of worker: completed`);
    expect(stdout).toMatch(/^attempt 1 +completed .*█/m);
    expect(stdout).toMatch(/^ {2}step look +completed .*█/m);
    expect(stdout).toMatch(/^ {2}question Which one\? +answered .*░/m);
    expect(stdout).toMatch(/^webhook hook: event.* delivered .*▒/m);
    expect(stdout.split("\n").every((line) => line.length <= 100)).toBe(true);
  });

  it("draws the tasks that a task has called, at every level, and the server shows the same", async () => {
    const store = `sqlite:${join(folder, "tasks.db")}`;
    const server = createServer([...called], { store, port: 0, logger: SILENT });
    const { url } = await server.listen();
    const sent = await (await connect(`${url}/agents/desk`)).send("deed");
    const id = sent.kind === "task" ? sent.task.id : "";
    const running = await new Terminal().run(["trace", id, "--url", url, "--store", store], {
      env: { COLUMNS: "100" },
    });
    const tree = await new Terminal().run(["task", "tree", id, "-a", `${url}/agents/desk`]);
    await server.close();
    expect(tree.stdout.toLowerCase().match(/desk|clerk|archive/g)).toEqual([
      ...["desk", "clerk", "archive", "clerk", "archive"],
    ]);
    const stopped = await palaver(id);
    expect(stopped.stdout).toBe(running.stdout);
    expect(stopped.stdout.match(/^ {2}call of clerk, task .+ completed .*█/gm)).toHaveLength(2);
    const json = JSON.parse((await palaver(id, "--json")).stdout) as {
      readonly rows: readonly { readonly kind: string; readonly taskId?: string }[];
    };
    const { taskId = "" } = json.rows.find(({ kind }) => kind === "child") ?? {};
    expect((await palaver(taskId)).stdout).toMatch(/^ {2}call of archive, task .+ completed/m);
  });

  it("exports the spans with the ids that the server gave them, and prints them as JSON", async () => {
    await using live = await OtlpReceiver.open();
    await using later = await OtlpReceiver.open();
    const id = await runTask(live.url);
    const exported = await palaver(id, "--otlp", later.url);
    expect(exported).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+ spans of trace [0-9a-f]{32} sent\.\n$/),
    });
    const ids = (spans: OtlpReceiver["spans"], name: RegExp): readonly string[] =>
      spans
        .filter((span) => name.test(span.name))
        .map(({ traceId, spanId, parentSpanId }) => `${traceId} ${spanId} ${parentSpanId}`);
    for (const name of [/^invoke_agent/, /^palaver\.step/, /^palaver\.question/]) {
      expect(ids(later.spans, name)).toEqual(ids(live.spans, name));
      expect(ids(later.spans, name)).toHaveLength(1);
    }
    // Notifications that succeed one after the other are one entry of the journal; its span is the last one.
    const delivered = ids(live.spans, /deliver/);
    for (const span of ids(later.spans, /deliver/)) expect(delivered).toContain(span);
    const attempt = later.spans.find(({ name }) => name.startsWith("invoke_agent"));
    expect(traceProblems(later.spans, attempt?.parentSpanId ?? "")).toEqual([]);
    expect(attempt?.events.at(-1)?.attributes["a2a.task.state"]).toBe("TASK_STATE_COMPLETED");
    // The text of the question is shown in the terminal only.
    expect(later.bodies.join()).not.toContain("Which one?");

    const { rows } = JSON.parse((await palaver(id, "--json")).stdout);
    expect(rows[0]).toMatchObject({
      kind: "attempt",
      outcome: "completed",
      spanId: attempt?.spanId,
      durationMs: expect.any(Number),
    });
  });

  it("asks a running server, also about a task that waits, and opens the store if another program has its address now", async () => {
    const store = `sqlite:${join(folder, "tasks.db")}`;
    const server = createServer(worker, { store, port: 0, logger: SILENT });
    const { url } = await server.listen();
    const remote = await connect(url);
    const asked = await remote.send("go");
    const id = asked.kind === "task" ? asked.task.id : "";
    const { code, stdout } = await palaver(id);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}question Which one\? +running /m);
    expect((await palaver(id, "--url", url)).code).toBe(0);
    expect(await palaver("nope")).toMatchObject({ code: 1, stderr: expect.stringContaining("has no task nope.") });
    await server.close();
    const other = createServer(worker, { store: "memory:", port: Number(new URL(url).port), logger: SILENT });
    await other.listen();
    expect((await palaver(id)).stdout).toMatch(/^ {2}question Which one\? /m);
    expect(await palaver(id, "--url", url)).toMatchObject({ code: 1, stderr: expect.stringContaining("HTTP 40") });
    await other.close();
    expect(await palaver(id, "--url", url)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("No server answers"),
    });
  });

  it("says how to read from a running server without the operator API, and that a store in memory has no tasks", async () => {
    const store = `sqlite:${join(folder, "tasks.db")}`;
    const server = createServer(worker, { store, port: 0, logger: SILENT, operator: false });
    await server.listen();
    expect(await palaver("any")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is in use by .*\n?[\s\S]*without --no-operator/),
    });
    await server.close();
    const memory = await new Terminal().run(["trace", "any", "--store", "memory:"]);
    expect(memory).toMatchObject({ code: 2, stderr: expect.stringContaining("--url") });
  });

  it("says what is wrong with an unknown task, a store that does not exist, and a collector that cannot be reached", async () => {
    expect(await palaver("nope")).toMatchObject({ code: 1, stderr: expect.stringContaining("There is no store at") });
    const id = await runTask(undefined);
    expect(await palaver("nope")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("The store has no task nope."),
    });
    expect(await palaver(id, "--otlp", "nowhere")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("must be like"),
    });
  });
});
