import { describe, expect, test } from "vitest";
import type { WebhookDraft } from "../../store/contract.ts";
import { openHarness, scripted, turns } from "../../testing/engine-harness.ts";
import type { SubmittedWebhook } from "../api.ts";

const asking = scripted(async (task) => `said ${await task.ask("Well?")}`);

function webhook(id: string, rest: Partial<SubmittedWebhook> = {}): SubmittedWebhook {
  const { draft = draftOf(id) } = rest;
  return { maxPerTask: 2, only: false, isSame: (stored) => stored.body === draft.body, ...rest, draft };
}

function draftOf(id: string, rest: Partial<WebhookDraft> = {}): WebhookDraft {
  return { id, dialect: "test", body: `sealed ${id}`, unnamed: false, at: 1, ...rest };
}

describe("a webhook sent with a message", () => {
  test("that creates a task is stored in the same commit and receives all events", async () => {
    await using harness = await openHarness({ agents: asking });
    const { taskId } = await harness.start("go", { webhook: webhook("w") });
    const [created] = harness.store.commits.flat().filter((operation) => operation.kind === "write");
    expect(created?.create?.webhook).toEqual(webhook("w").draft);
    expect(await harness.shared.webhooks(taskId)).toMatchObject([{ id: "w", state: "active", cursor: 0 }]);
  });

  test("that is repeated idempotently is not set again", async () => {
    await using harness = await openHarness({ agents: asking });
    const message = { messageId: "m" as never, parts: [{ text: "go" }] };
    const { taskId } = await harness.start(message, { idempotencyWindow: 1000, webhook: webhook("w") });
    await harness.start(message, { idempotencyWindow: 1000, webhook: webhook("v") });
    expect((await harness.shared.webhooks(taskId)).map(({ id }) => id)).toEqual(["w"]);
  });

  test("to an existing task is stored before the message and receives the events it causes", async () => {
    await using harness = await openHarness({ agents: asking });
    const { id } = await harness.send("go");
    const { seq } = (await harness.shared.get(id, { artifacts: false })) ?? { seq: -1 };
    const done = await harness.send({ taskId: id, parts: [{ text: "hi" }] }, { webhook: webhook("w") });
    expect(done.status.state).toBe("completed");
    expect(await harness.shared.webhooks(id)).toMatchObject([{ id: "w", cursor: seq }]);
    const kinds = harness.store.commits.flat().map(({ kind }) => kind);
    expect(kinds.indexOf("webhook-set")).toBeLessThan(kinds.indexOf("post"));
  });

  test("that the task has already is not stored again, unless it has changed or another one is newer", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        for (;;) await task.next();
      }),
    });
    const { taskId } = await harness.start("go", { webhook: webhook("a") });
    const stored = async (submitted: SubmittedWebhook) => {
      const before = harness.store.commits.flat().filter(({ kind }) => kind === "webhook-set").length;
      await harness.start({ taskId, parts: [{ text: "x" }] }, { webhook: submitted });
      return harness.store.commits.flat().filter(({ kind }) => kind === "webhook-set").length - before;
    };
    expect(await stored(webhook("a"))).toBe(0);
    expect(await stored(webhook("a", { draft: draftOf("a", { body: "changed" }) }))).toBe(1);
    expect(await stored(webhook("b", { draft: draftOf("b", { at: 2 }) }))).toBe(1);
    expect(await stored(webhook("b"))).toBe(0);
    // The latest webhook answers a request without an id.
    expect(await stored(webhook("a"))).toBe(1);
  });

  test("replaces all others in a dialect with one webhook per task", async () => {
    await using harness = await openHarness({ agents: scripted(async (task) => void (await task.next())) });
    const { taskId } = await harness.start("go", { webhook: webhook("a") });
    await harness.start({ taskId, parts: [{ text: "x" }] }, { webhook: webhook("b", { only: true }) });
    expect((await harness.shared.webhooks(taskId)).filter(({ state }) => state !== "removed")).toMatchObject([
      { id: "b" },
    ]);
  });

  test("over the limit refuses the message, and nothing is stored", async () => {
    await using harness = await openHarness({ agents: asking });
    const { taskId } = await harness.start("go", { webhook: webhook("a", { maxPerTask: 1 }) });
    await harness.untilState(taskId, "input-required");
    const refused = harness.start({ taskId, parts: [{ text: "x" }] }, { webhook: webhook("b", { maxPerTask: 1 }) });
    await expect(refused).rejects.toMatchObject({ code: "resource-exhausted" });
    expect(await harness.shared.inbox(taskId)).toEqual([]);
    expect((await harness.get(taskId)).history).toHaveLength(2);
  });

  test("is not kept if the message is refused: full inbox, ended task, or another context", async () => {
    let go: (() => void) | undefined;
    await using harness = await openHarness({
      agents: scripted(() => new Promise<void>((resolve) => (go = resolve))),
      limits: { maxInbox: 1 },
    });
    const { taskId } = await harness.start("go");
    await harness.start({ taskId, parts: [{ text: "waits" }] });
    const send = () => harness.start({ taskId, parts: [{ text: "x" }] }, { webhook: webhook("w") });
    await expect(send()).rejects.toMatchObject({ code: "resource-exhausted", retryAfter: 5 });
    await expect(
      harness.start({ taskId, contextId: "elsewhere" as never }, { webhook: webhook("w") }),
    ).rejects.toMatchObject({ code: "invalid-params" });
    go?.();
    await harness.until(async () => {
      go?.();
      return (await harness.get(taskId)).status.state === "completed";
    });
    await expect(send()).rejects.toMatchObject({ code: "unsupported-operation" });
    expect(await harness.shared.webhooks(taskId)).toEqual([]);
  });

  test("is deleted again if the task ends between webhook and message", async () => {
    let go: (() => void) | undefined;
    await using harness = await openHarness({
      agents: scripted(() => new Promise<void>((resolve) => (go = resolve))),
    });
    const { taskId } = await harness.start("go");
    harness.store.hold();
    const sent = harness.start({ taskId, parts: [{ text: "x" }] }, { webhook: webhook("w") });
    const refused = expect(sent).rejects.toMatchObject({ code: "unsupported-operation" });
    await harness.until(() => harness.store.held === 1);
    // The end of the task is queued before the message.
    go?.();
    await turns(3);
    harness.store.release();
    await refused;
    const kinds = harness.store.commits.flat().map(({ kind }) => kind);
    expect(kinds.slice(-3)).toEqual(["write", "post", "webhook-delete"]);
    expect(await harness.shared.webhooks(taskId)).toEqual([]);
  });
});
