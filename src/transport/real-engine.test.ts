import { expect, it } from "vitest";
import type { TaskContext } from "../engine/agent/agent.ts";
import { EngineHarness, scripted } from "../testing/engine-harness.ts";
import { allFrames, describeFaces, framesOf, type Open, type Site, type SseFrame, textMessage } from "./test/faces.ts";

const parrot = scripted(
  async function* run(task: TaskContext) {
    if (task.text === "hang") {
      await task.status("waiting");
      await new Promise((resolve) => task.signal.addEventListener("abort", resolve));
      return;
    }
    if (task.text === "ask") {
      yield `You said ${await task.ask("What?")}`;
      return;
    }
    for (const word of task.text.split(" ")) yield word;
  },
  {
    id: "parrot",
    reply: ({ parts }) => (parts[0]?.text?.startsWith("message:") === true ? "at once" : undefined),
  },
);

async function openParrot(open: Open): Promise<{ site: Site; harness: EngineHarness }> {
  const harness = await EngineHarness.open({ agents: parrot });
  return { site: await open({ agents: [parrot], engine: harness.engine }), harness };
}

function firstTask(frame: SseFrame | undefined): { readonly id: string } {
  expect(Object.keys(frame?.data?.result)).toEqual(["task"]);
  return frame?.data?.result.task;
}

describeFaces("The whole way from the wire to the engine and back", (open) => {
  it("sends and gets", async () => {
    const { site, harness } = await openParrot(open);
    await using _ = harness;
    const { task } = (await site.call("SendMessage", textMessage("one two"))).result;
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    expect(task.artifacts[0].parts).toEqual([{ text: "onetwo" }]);
    expect((await site.call("GetTask", { id: task.id })).result).toEqual(task);
    expect((await site.call("SendMessage", textMessage("more", { taskId: task.id }))).error?.code).toBe(-32004);
    expect((await site.call("SendMessage", textMessage("more", { taskId: "nope" }))).error?.code).toBe(-32001);
    expect((await site.call("CancelTask", { id: task.id })).error?.code).toBe(-32002);
    expect((await site.call("SubscribeToTask", { id: task.id })).error?.code).toBe(-32004);
    const listed = (await site.call("ListTasks", { contextId: task.contextId, includeArtifacts: true })).result;
    expect(listed).toMatchObject({
      totalSize: 1,
      nextPageToken: "",
      tasks: [{ id: task.id, artifacts: task.artifacts }],
    });
  });

  it("replies without a task", async () => {
    const { site, harness } = await openParrot(open);
    await using _ = harness;
    const { result } = await site.call("SendMessage", textMessage("message: hi"));
    expect(result.message).toMatchObject({ role: "ROLE_AGENT", parts: [{ text: "at once" }] });
    expect(result.message.contextId).toEqual(expect.any(String));
    const frames = await allFrames(await site.post("SendStreamingMessage", textMessage("message: hi")));
    expect(frames).toHaveLength(1);
    expect((await site.call("ListTasks", {})).result.totalSize).toBe(0);
  });

  it("streams all events, and every resumed stream delivers exactly the rest", async () => {
    const { site, harness } = await openParrot(open);
    await using _ = harness;
    const frames = await allFrames(await site.post("SendStreamingMessage", textMessage("a b c d")));
    const seqs = frames.map((frame) => Number(frame.id));
    expect(seqs).toEqual(Array.from(seqs, (_seq, index) => index));
    expect(Object.keys(frames[0]?.data?.result)).toEqual(["task"]);
    const id = firstTask(frames[0]).id;
    for (const cursor of seqs.slice(0, -1)) {
      const rest = await allFrames(await site.post("SubscribeToTask", { id }, { "last-event-id": String(cursor) }));
      expect(rest.slice(1)).toEqual(frames.slice(cursor + 1));
      const again = await site.post("SendStreamingMessage", textMessage("a b c d"), {
        "last-event-id": String(cursor),
      });
      expect(await allFrames(again)).toEqual(rest);
    }
    const last = String(seqs.at(-1));
    expect((await site.call("SubscribeToTask", { id }, { "last-event-id": last })).error?.code).toBe(-32004);
    expect((await site.call("SubscribeToTask", { id }, { "last-event-id": `${last}0` })).error?.code).toBe(-32602);
    expect((await site.call("ListTasks", {})).result.totalSize).toBe(1);
  });

  it("asks a question and receives the answer, while a subscriber sees all events", async () => {
    const { site, harness } = await openParrot(open);
    await using _ = harness;
    const asked = await allFrames(await site.post("SendStreamingMessage", textMessage("ask")));
    expect(asked.at(-1)?.data?.result.statusUpdate.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    const { id: taskId } = firstTask(asked[0]);
    const watching = framesOf(await site.post("SubscribeToTask", { id: taskId }));
    await watching.next();
    const wrong = textMessage("hi", { taskId, contextId: "another" });
    expect((await site.call("SendMessage", wrong)).error?.code).toBe(-32602);
    const answer = await allFrames(
      await site.post("SendStreamingMessage", textMessage("hi", { taskId, messageId: "m-2" })),
    );
    expect(Object.keys(answer[0]?.data?.result)).toEqual(["task"]);
    expect(answer.at(-1)?.data?.result.statusUpdate.status.state).toBe("TASK_STATE_COMPLETED");
    const seen: unknown[] = [];
    for await (const frame of watching) seen.push(frame);
    expect(seen.slice(-answer.length + 1)).toEqual(answer.slice(1));
    expect((await site.call("GetTask", { id: taskId })).result.artifacts[0].parts).toEqual([{ text: "You said hi" }]);
  });

  it("cancels, also repeatedly, and ends the streams", async () => {
    const { site, harness } = await openParrot(open);
    await using _ = harness;
    const frames = framesOf(await site.post("SendStreamingMessage", textMessage("hang")));
    const { id } = firstTask((await frames.next()).value ?? undefined);
    expect((await site.call("CancelTask", { id })).result.status.state).toBe("TASK_STATE_CANCELED");
    expect((await site.call("CancelTask", { id })).result.status.state).toBe("TASK_STATE_CANCELED");
    let last: string | undefined;
    for await (const frame of frames) last = frame.data?.result.statusUpdate.status.state;
    expect(last).toBe("TASK_STATE_CANCELED");
  });

  it("logs no failure when a waiting caller disconnects", async () => {
    const errors: string[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (message: string) => errors.push(message) };
    const harness = await EngineHarness.open({ agents: parrot });
    await using _ = harness;
    const records: string[] = [];
    const hooks = { on: { call: ({ error = "none" }) => void records.push(error) } };
    const site = await open({ agents: [parrot], engine: harness.engine, logger, hooks });
    const controller = new AbortController();
    const waiting = site.request("/", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: textMessage("hang") }),
      signal: controller.signal,
    });
    waiting.catch(() => {});
    await expect.poll(() => harness.engine.counts().running).toBe(1);
    controller.abort();
    await expect.poll(() => records).toEqual(["unavailable"]);
    expect(errors).toEqual([]);
    expect(harness.engine.counts().running).toBe(1);
  });
});
