import { describe, expect, it } from "vitest";
import { createDeferred } from "../../internal/deferred.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import { invokeRemoteAgent, type RemoteInvocationResult } from "./invoke-remote-agent.ts";
import { OFFICIAL, type Plan } from "./test/official-servers.ts";

interface Ended {
  readonly result: RemoteInvocationResult;
  /** The number of polls. */
  readonly polls: number;
}

/** Real servers and connections, with a fake clock for the time between polls. */
async function invoke(
  url: string,
  options: { readonly timeoutMs?: number; readonly onPoll?: () => void } = {},
): Promise<Ended> {
  const clock = new FakeClock();
  let requests = 0;
  const counting: typeof fetch = async (input, init) => {
    requests++;
    return fetch(input, init);
  };
  const { timeoutMs = 300_000, onPoll } = options;
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
  let polls = 0;
  while (result === undefined) {
    const before = requests;
    // Two timers mean that the client waits for the next poll: one for the poll, one for the timeout.
    if (clock.pending === 2) {
      await clock.advance(3000);
      polls++;
      onPoll?.();
    }
    if (requests === before) await new Promise(setImmediate);
  }
  await done;
  return { result, polls };
}

describe.each(Object.entries(OFFICIAL))("an official server of %s", (_name, serve) => {
  it.each<[string, Plan, object]>([
    ["answers", { artifact: "the answer", end: "completed" }, { success: true, responseText: "the answer" }],
    [
      "answers after a progress message",
      { progress: "On it", artifact: "the answer", end: "completed" },
      { success: true, responseText: "the answer" },
    ],
    [
      "ends with a message",
      { artifact: "a file", end: "completed", message: "Here it is" },
      { success: true, responseText: "Here it is" },
    ],
    ["fails with a message", { end: "failed", message: "Out of ink" }, { success: false, error: "Out of ink" }],
    ["fails without a message", { end: "failed" }, { success: false, error: "Task failed" }],
  ])("%s", async (_what, plan, expected) => {
    await using server = await serve(plan);
    const { result } = await invoke(server.url);
    expect(result).toEqual({ taskId: expect.any(String), ...expected });
  });

  it("is slow", async () => {
    const gate = createDeferred();
    await using server = await serve({ until: gate.promise, artifact: "at last", end: "completed" });
    let polls = 0;
    const ended = await invoke(server.url, { onPoll: () => ++polls === 2 && gate.resolve() });
    expect(ended.result).toEqual({ success: true, taskId: expect.any(String), responseText: "at last" });
    expect(ended.polls).toBeGreaterThanOrEqual(2);
  });

  it("never answers", async () => {
    await using server = await serve({ until: new Promise(() => {}), end: "completed" });
    const { result, polls } = await invoke(server.url, { timeoutMs: 10_000 });
    expect(result).toEqual({ success: false, taskId: expect.any(String), error: "Timed out after 10000ms" });
    expect(polls).toBe(4);
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
