import { describe, expect, it } from "vitest";
import { createDeferred } from "../../internal/deferred.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import { invokeRemoteAgent, type RemoteInvocationResult } from "./invoke-remote-agent.ts";
import { OFFICIAL, type Plan } from "./test/official-servers.ts";

interface Ended {
  readonly result: RemoteInvocationResult;
  /** How often it looked. */
  readonly looks: number;
}

/** Real servers and connections; only the time between looks passes quickly. */
async function invoke(
  url: string,
  options: { readonly timeoutMs?: number; readonly looked?: () => void } = {},
): Promise<Ended> {
  const clock = new FakeClock();
  let requests = 0;
  const counting: typeof fetch = async (input, init) => {
    requests++;
    return fetch(input, init);
  };
  const { timeoutMs = 300_000, looked } = options;
  const invoked = invokeRemoteAgent(url, "Do it", {
    fetch: counting,
    clock,
    timeoutMs,
    cache: false,
    timeout: Number.POSITIVE_INFINITY,
  });
  let result: RemoteInvocationResult | undefined;
  const done = invoked.then((given) => {
    result = given;
  });
  let looks = 0;
  while (result === undefined) {
    const before = requests;
    // Only while it waits for the next look does time pass: it then has a timer for that, and one for the whole.
    if (clock.pending === 2) {
      await clock.advance(3000);
      looks++;
      looked?.();
    }
    if (requests === before) await new Promise(setImmediate);
  }
  await done;
  return { result, looks };
}

describe.each(Object.entries(OFFICIAL))("an official server of %s", (_name, serve) => {
  it.each<[string, Plan, object]>([
    ["answers", { artifact: "the answer", end: "completed" }, { success: true, responseText: "the answer" }],
    [
      "answers, having told of its progress",
      { progress: "On it", artifact: "the answer", end: "completed" },
      { success: true, responseText: "the answer" },
    ],
    [
      "ends with a message",
      { artifact: "a file", end: "completed", message: "Here it is" },
      { success: true, responseText: "Here it is" },
    ],
    ["fails with words", { end: "failed", message: "Out of ink" }, { success: false, error: "Out of ink" }],
    ["fails without a word", { end: "failed" }, { success: false, error: "Task failed" }],
  ])("%s", async (_what, plan, expected) => {
    await using server = await serve(plan);
    const { result } = await invoke(server.url);
    expect(result).toEqual({ taskId: expect.any(String), ...expected });
  });

  it("is slow", async () => {
    const gate = createDeferred();
    await using server = await serve({ until: gate.promise, artifact: "at last", end: "completed" });
    let looks = 0;
    const ended = await invoke(server.url, { looked: () => ++looks === 2 && gate.resolve() });
    expect(ended.result).toEqual({ success: true, taskId: expect.any(String), responseText: "at last" });
    expect(ended.looks).toBeGreaterThanOrEqual(2);
  });

  it("never answers", async () => {
    await using server = await serve({ until: new Promise(() => {}), end: "completed" });
    const { result, looks } = await invoke(server.url, { timeoutMs: 10_000 });
    expect(result).toEqual({ success: false, taskId: expect.any(String), error: "Timed out after 10000ms" });
    expect(looks).toBe(4);
  });

  it("is not there", async () => {
    const { url } = await serve({ end: "completed" }).then(async (server) => {
      await server[Symbol.asyncDispose]();
      return server;
    });
    const { result } = await invoke(url);
    expect(result).toEqual({ success: false, error: expect.stringMatching(/^Submit failed: .*ECONNREFUSED/) });
  });
});
