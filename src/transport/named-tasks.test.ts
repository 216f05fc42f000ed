import { expect, it } from "vitest";
import type { TaskContext } from "../engine/agent/agent.ts";
import type { TaskId } from "../protocol/ids.ts";
import { EngineHarness, scripted } from "../testing/engine-harness.ts";
import { allFrames, describeFaces, type SseFrame } from "./test/faces.ts";

/** Some dialects identify artifacts only by number, also for readers that join in the middle of a task. */
const ORDER = ["b", "a", "b", "c", "a", "c", "b"];

const author = scripted(
  async (task: TaskContext) => {
    for (const name of ORDER) await task.artifact(name).write(name);
  },
  { id: "author" },
);

const message = { role: "user", parts: [{ type: "text", text: "go" }] };
/** The methods decide, not the version that calls name by default. */
const UNNAMED = { "a2a-version": "" };

function piece({ data }: SseFrame): unknown {
  const { artifact } = data?.result ?? {};
  return artifact === undefined ? undefined : [artifact.parts[0].text, artifact.index];
}

describeFaces("A task that its caller names", (open) => {
  it("numbers an artifact equally in a stream, in a resumed stream and in the whole task", async () => {
    const harness = await EngineHarness.open({ agents: author });
    await using _ = harness;
    const site = await open({ agents: [author], engine: harness.engine });
    const frames = await allFrames(await site.post("tasks/sendSubscribe", { id: "t", message }, UNNAMED));
    expect(frames.map(piece).filter(Boolean)).toEqual(ORDER.map((name) => [name, { b: 0, a: 1, c: 2 }[name]]));
    expect(frames.at(-1)?.data?.result).toMatchObject({ id: "t", status: { state: "completed" }, final: true });
    for (const cursor of frames.slice(0, -1).map(({ id }) => Number(id))) {
      const resumed = { ...UNNAMED, "last-event-id": String(cursor) };
      const rest = await allFrames(await site.post("tasks/resubscribe", { id: "t" }, resumed));
      expect(rest.slice(1).map(piece)).toEqual(frames.filter(({ id }) => Number(id) > cursor).map(piece));
    }
    const { result } = await site.call("tasks/get", { id: "t" }, UNNAMED);
    const artifacts = result.artifacts as readonly { parts: readonly { text: string }[]; index: number }[];
    expect(artifacts.map(({ parts, index }) => [parts[0]?.text, index])).toEqual([
      ["bbb", 0],
      ["aa", 1],
      ["cc", 2],
    ]);
  });

  it("is found by its id when its send is repeated, streaming or not, and runs only once", async () => {
    const harness = await EngineHarness.open({ agents: author });
    await using _ = harness;
    const site = await open({ agents: [author], engine: harness.engine });
    const again = { ...UNNAMED, "last-event-id": "1" };
    const sent = await site.call("tasks/send", { id: "t", message }, UNNAMED);
    await harness.until(async () => (await harness.get("t" as TaskId)).status.state === "completed");
    expect((await site.call("tasks/send", { id: "t", message }, again)).result).toMatchObject({
      id: sent.result.id,
      status: { state: "completed" },
    });
    expect((await site.call("tasks/send", { id: "other", message }, again)).error).toMatchObject({ code: -32001 });
    const stream = await site.post("tasks/sendSubscribe", { id: "other", message }, again);
    expect(await stream.json()).toMatchObject({ error: { code: -32001 } });
    expect((await harness.get("t" as TaskId)).history).toHaveLength(1);
  });

  it("refuses messages after it is finished, and explains why", async () => {
    const harness = await EngineHarness.open({ agents: author });
    await using _ = harness;
    const site = await open({ agents: [author], engine: harness.engine });
    await allFrames(await site.post("tasks/sendSubscribe", { id: "t", message }, UNNAMED));
    for (const method of ["tasks/send", "tasks/sendSubscribe"]) {
      const { error } = await site.call(method, { id: "t", message }, UNNAMED);
      expect(error).toMatchObject({
        code: -32009,
        data: { reason: "INVALID_TRANSITION", taskId: "t", state: "completed" },
      });
    }
  });

  it("is not streamed if the agent declares no streaming", async () => {
    const site = await open({ definition: { capabilities: { streaming: false } } });
    const { error } = await site.call("tasks/sendSubscribe", { id: "t", message }, UNNAMED);
    expect(error?.code).toBe(-32006);
  });
});
