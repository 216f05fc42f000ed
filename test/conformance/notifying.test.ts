import type { RunFunction } from "palaver";
import type { DeliveryRecord } from "palaver/server";
import { verifyWebhook } from "palaver/webhook";
import { describe, expect, it } from "vitest";
import { until } from "../e2e/workbench.ts";
import { accepted, type Caller, type DialectClient, taskOf, text } from "./dialect-client.ts";
import { jsonRpc0_3 } from "./dialect-clients/v0-3-jsonrpc.ts";
import { jsonRpc1_0 } from "./dialect-clients/v1-0-jsonrpc.ts";
import { DIALECT_CLIENTS } from "./dialect-clients.ts";
import { inEveryDialect } from "./every-dialect.ts";
import { type Inbox, openInbox } from "./inbox.ts";
import { isTerminal, NO_SUCH_MEMBER, outputOf, type StreamEvent, type Task, type Webhook } from "./neutral.ts";

/** The outcomes of all deliveries, and the tests that wait for one. */
const records: DeliveryRecord[] = [];
let changed = Promise.withResolvers<void>();

function onDelivery(record: DeliveryRecord): void {
  records.push(record);
  changed.resolve();
  changed = Promise.withResolvers<void>();
}

/** The deliveries of a task, up to the first with this outcome. */
async function deliveriesOf(taskId: string, last: DeliveryRecord["outcome"]): Promise<readonly DeliveryRecord[]> {
  for (;;) {
    const own = records.filter((record) => record.taskId === taskId);
    if (own.some(({ outcome }) => outcome === last)) return own;
    await changed.promise;
  }
}

/** Sends a status, writes two chunks, asks a question, and completes. */
const tea: RunFunction = async (task) => {
  await task.status("Boiling water");
  const cup = task.artifact("cup");
  await cup.write("half ");
  await cup.write("full");
  await task.ask("Sugar?");
};

const stateOf = (event: StreamEvent): string | undefined => {
  if (event.kind === "task") return event.task.status.state;
  return event.kind === "status" ? event.status.state : undefined;
};

/**
 * The notifications of this dialect's webhook up to the task's end. Each body is checked against the version's format.
 */
async function eventsUntilEnd({ readPushed, rules }: DialectClient, inbox: Inbox): Promise<readonly StreamEvent[]> {
  const ended = (event: StreamEvent): boolean => {
    const state = stateOf(event);
    return state !== undefined && isTerminal(state as Task["status"]["state"]);
  };
  const post = await inbox.until(({ body }) => ended(readPushed(JSON.parse(body))));
  for (const { headers } of post) expect(headers["content-type"]).toBe(rules.push.mediaType);
  return post.map(({ body }) => readPushed(JSON.parse(body)));
}

inEveryDialect(
  DIALECT_CLIENTS,
  ({ dialectClient, caller, textToRun, url }) => {
    const { rules } = dialectClient;

    /** Starts a task with a webhook in the message, and returns its id. */
    const begin = async (run: RunFunction, push: Webhook | string, by: Caller = caller()): Promise<string> =>
      (await taskOf(by.send(text(textToRun(run)), { wait: true, push }))).id;

    /** Starts a task that waits for an answer and then completes. */
    const asking = async (by: Caller = caller()): Promise<string> =>
      (await taskOf(by.send(text(textToRun(async (task) => `You said ${await task.ask("What?")}`)), { wait: true })))
        .id;

    const answer = (taskId: string, by: Caller = caller()) =>
      accepted(by.send({ ...text("one lump"), taskId }, { wait: true }));

    describe("A webhook in a message", () => {
      it("receives all events from the first one, in order and in the form of its version", async () => {
        await using inbox = await openInbox();
        const taskId = await begin(tea, inbox.url());
        await answer(taskId);
        const events = await eventsUntilEnd(dialectClient, inbox);
        const end = await accepted(caller().get(taskId, rules.wholeHistory));
        if (rules.push.sends === "events") {
          expect(events.map((each) => stateOf(each) ?? each.kind)).toEqual([
            "working",
            "working",
            "artifact",
            "artifact",
            "input-required",
            "working",
            "artifact",
            "completed",
          ]);
          expect(events.every((each) => "taskId" in each && each.taskId === taskId)).toBe(true);
          const pieces = events.flatMap((each) => (each.kind === "artifact" ? [each] : []));
          expect(pieces.map(({ append, lastChunk, artifact }) => [append, lastChunk, artifact.parts])).toEqual([
            [false, false, [{ text: "half " }]],
            [true, false, [{ text: "full" }]],
            [true, true, [{ text: "" }]],
          ]);
          expect(events.at(-1)).toMatchObject({ kind: "status", status: end.status });
          return;
        }
        const tasks = events.flatMap((each) => (each.kind === "task" ? [each.task] : []));
        const states = tasks.map(({ status }) => status.state).filter((state, at, all) => state !== all[at - 1]);
        expect(states).toEqual(["working", "input-required", "working", "completed"]);
        // The output grows from notification to notification, and the last is the final task.
        const outputs = tasks.map(outputOf);
        for (const [index, output] of outputs.entries()) expect(output.startsWith(outputs[index - 1] ?? "")).toBe(true);
        expect(tasks.every(({ id, contextId }) => id === taskId && contextId !== NO_SUCH_MEMBER)).toBe(true);
        expect(tasks.at(-1)).toMatchObject({ status: end.status, artifacts: end.artifacts });
      });

      it("receives the events of a streamed task too", async () => {
        await using inbox = await openInbox();
        const stream = await accepted(caller().stream(text(textToRun(async () => "done")), { push: inbox.url() }));
        await stream.rest();
        expect((await eventsUntilEnd(dialectClient, inbox)).map(stateOf).at(-1)).toBe("completed");
      });
    });

    // The definitions of gRPC have no fields for headers and kinds of events.
    const hasExtras = dialectClient.binding !== "grpc";
    it("sends the configured token, credentials and headers to a webhook, with the server's signature", async () => {
      await using inbox = await openInbox();
      const webhook: Webhook = {
        url: inbox.url("/hook?of=me"),
        token: "my-token",
        authentication: { schemes: ["Custom", "Bearer"], credentials: "my-credentials" },
        ...(hasExtras && { headers: { "X-Key": "my-key" } }),
      };
      const taskId = await begin(async () => "done", webhook);
      for (const { path, headers, body } of await inbox.until(({ body }) => /completed/i.test(body))) {
        expect(path).toBe("/hook?of=me");
        expect(headers).toMatchObject({
          "x-a2a-notification-token": "my-token",
          authorization: "Custom my-credentials",
          ...(hasExtras && { "x-key": "my-key" }),
        });
        const trusted = { issuers: [url()], audience: webhook.url, token: "my-token" };
        const result = await verifyWebhook({ method: "POST", headers, body }, trusted);
        expect(result).toMatchObject({ ok: true, taskId, issuer: url(), repeated: false });
        const forged = await verifyWebhook(
          { method: "POST", headers, body: body.replace("completed", "failed") },
          trusted,
        );
        if (body.includes("completed")) expect(forged).toMatchObject({ ok: false, reason: "wrong-body" });
      }
    });

    it("authenticates with its own token if a webhook requires Bearer without credentials", async () => {
      await using inbox = await openInbox();
      await begin(async () => "done", { url: inbox.url(), token: "t", authentication: { schemes: ["Bearer"] } });
      const { headers } = await inbox.next();
      expect(headers.authorization).toBe(`Bearer ${String(headers["x-a2a-notification-signature"])}`);
      expect(headers["x-a2a-notification-token"]).toBe("t");
    });

    it("sends the token as credentials only in versions that define that", async () => {
      await using inbox = await openInbox();
      await begin(async () => "done", { url: inbox.url(), token: "my-token" });
      const { headers } = await inbox.next();
      expect(headers["x-a2a-notification-token"]).toBe("my-token");
      expect(headers.authorization).toBe(rules.push.tokenAsBearer ? "Bearer my-token" : undefined);
    });

    it("continues the trace of the message", async () => {
      await using inbox = await openInbox();
      const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
      const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
      await begin(async () => "done", inbox.url(), caller(undefined, { headers }));
      expect((await inbox.next()).headers["traceparent"]).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
    });

    it("notifies webhooks in the dialect in which they were set, whatever dialect created or continues the task", async () => {
      const another = dialectClient.version === "1.0" ? jsonRpc0_3 : jsonRpc1_0;
      const other = another.at(url());
      await using inbox = await openInbox();
      await using otherInbox = await openInbox();
      const taskId = await asking(other);
      await accepted(caller().pushCreate(taskId, inbox.url()));
      // In a version with one webhook per task, a webhook set in a version with several does not replace it.
      await accepted(other.pushCreate(taskId, otherInbox.url()));
      await answer(taskId, other);
      for (const [by, post] of [
        [dialectClient, inbox],
        [another, otherInbox],
      ] as const) {
        const states = (await eventsUntilEnd(by, post)).flatMap((event) => stateOf(event) ?? []);
        expect([states.includes("working"), states.at(-1)]).toEqual([true, "completed"]);
      }
    });

    it.runIf(hasExtras)("sends only the requested kinds of events", async () => {
      await using statuses = await openInbox();
      await using artifacts = await openInbox();
      const [ofStatuses, ofArtifacts] = [
        await begin(tea, { url: statuses.url(), events: ["status"] }),
        await begin(tea, { url: artifacts.url(), events: ["artifact"] }),
      ];
      for (const taskId of [ofStatuses, ofArtifacts]) await answer(taskId);
      const events = await eventsUntilEnd(dialectClient, statuses);
      expect(events.map(({ kind }) => kind)).not.toContain("artifact");
      expect(events.map(stateOf).slice(-3)).toEqual(["input-required", "working", "completed"]);
      await artifacts.until(({ body }) => body.includes("full"));
      for (const { body } of artifacts.received) {
        const each = dialectClient.readPushed(JSON.parse(body));
        if (rules.push.sends === "events") expect(each.kind).toBe("artifact");
        if (dialectClient.version === "0.1")
          expect(JSON.parse(body)).toMatchObject({ taskId: ofArtifacts, eventType: "artifact" });
      }
    });

    describe("A webhook that fails", () => {
      it("is retried, then removed or suspended depending on the version, without effect on the task", async () => {
        await using broken = await openInbox((_, response) => void response.writeHead(500).end());
        const { id: taskId } = await taskOf(
          caller().send(text(textToRun(tea)), {
            wait: true,
            push: rules.managesPush ? { id: "mine", url: broken.url() } : broken.url(),
          }),
        );
        const outcomes = (await deliveriesOf(taskId, "given-up")).map(({ outcome }) => outcome);
        expect(outcomes).toEqual(["retried", "given-up"]);
        expect(new Set(broken.received.map(({ body, jti }) => body + jti)).size).toBe(1);
        expect((await accepted(caller().get(taskId))).status.state).toBe("input-required");
        if (rules.push.afterFailure === "removed") {
          await until(async () => (await accepted(caller().pushGet(taskId))) === undefined);
        } else {
          expect(await accepted(caller().pushGet(taskId, "mine"))).toEqual({ id: "mine", url: broken.url() });
        }
        // A webhook that is set again is notified again.
        await using inbox = await openInbox();
        await accepted(caller().pushCreate(taskId, rules.managesPush ? { id: "mine", url: inbox.url() } : inbox.url()));
        await answer(taskId);
        expect((await eventsUntilEnd(dialectClient, inbox)).map(stateOf).at(-1)).toBe("completed");
        expect(broken.received).toHaveLength(2);
      });
    });

    it("sends nothing more to a deleted webhook", async () => {
      await using gone = await openInbox();
      await using left = await openInbox();
      const taskId = await asking();
      const { id = "" } = await accepted(caller().pushCreate(taskId, gone.url()));
      await accepted(caller().pushDelete(taskId, id));
      await accepted(caller().pushCreate(taskId, left.url()));
      await answer(taskId);
      await eventsUntilEnd(dialectClient, left);
      expect(gone.received).toEqual([]);
    });

    it("sends the final state to a webhook that is set after the task has ended", async () => {
      await using inbox = await openInbox();
      const { id } = await taskOf(caller("echo").send(text("done"), { wait: true }));
      await accepted(caller("echo").pushCreate(id, inbox.url()));
      expect((await eventsUntilEnd(dialectClient, inbox)).map(stateOf)).toEqual(["completed"]);
    });

    it("sends a webhook no events from before it was set", async () => {
      await using inbox = await openInbox();
      const taskId = await asking();
      await accepted(caller().pushCreate(taskId, inbox.url()));
      await answer(taskId);
      const events = await eventsUntilEnd(dialectClient, inbox);
      expect(events.flatMap((each) => stateOf(each) ?? [])).toEqual(["working", "completed"]);
    });
  },
  { on: { delivery: onDelivery } },
);
