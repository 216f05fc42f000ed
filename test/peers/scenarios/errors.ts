import { expect } from "vitest";
import { until } from "../../e2e/workbench.ts";
import { NODES } from "../../fixtures/nodes/serve-agents.ts";
import { MAX_BODY_BYTES } from "../peer-server.ts";
import { all, NOBODY, type ScenarioGroup, taskOf } from "../scenario.ts";

/** Errors that clients receive, each in the client's own type if it has one. */
export const errors: ScenarioGroup = {
  title: "Errors",
  scenarios: [
    {
      operation: "no such task",
      async run(stage) {
        const echo = await stage.meet("echo");
        await stage.refused(echo.get(NOBODY), "task-not-found");
        await stage.refused(echo.cancel(NOBODY), "task-not-found");
        await stage.refused(echo.subscribe(NOBODY), "task-not-found");
        await stage.refused(echo.get("no id of ours / ?#%"), "task-not-found");
        const taskId = stage.fresh();
        if (stage.line.rules.unknownTask === "a new task") {
          expect(taskOf(await echo.send({ content: "more", taskId }))).toMatchObject({
            id: taskId,
            state: "completed",
          });
          return;
        }
        await stage.refused(echo.send({ content: "more", taskId }), "task-not-found");
        await stage.refused(echo.stream({ content: "more", taskId }), "task-not-found");
      },
    },
    {
      operation: "task of another caller",
      needs: "credentials",
      async run(stage) {
        const alice = await stage.meet("guarded", "alice");
        const { id } = taskOf(await alice.send({ content: "mine" }));
        expect((await alice.get(id)).state).toBe("completed");
        const bob = await stage.meet("guarded", "bob");
        await stage.refused(bob.get(id), "task-not-found");
        await stage.refused(bob.cancel(id), "task-not-found");
        await stage.refused(bob.subscribe(id), "task-not-found");
        await stage.refused(bob.send({ content: "more", taskId: id }), "task-not-found");
        const echo = await stage.meet("echo");
        await stage.refused(echo.get(id), "task-not-found");
      },
    },
    {
      operation: "task cannot be canceled",
      async run(stage) {
        const echo = await stage.meet("echo");
        const { id } = taskOf(await echo.send({ content: "done" }));
        await stage.refused(echo.cancel(id), "task-not-cancelable");
      },
    },
    {
      operation: "message to a finished task",
      async run(stage) {
        const echo = await stage.meet("echo");
        const { id: taskId } = taskOf(await echo.send({ content: "done" }));
        await stage.refused(echo.send({ content: "more", taskId }), "unsupported-operation");
        await stage.refused(echo.stream({ content: "more", taskId }), "unsupported-operation");
      },
    },
    {
      operation: "streaming not supported",
      async run(stage) {
        const quiet = await stage.meet("quiet");
        await stage.refused(quiet.regardless.stream({ content: "x" }), "unsupported-operation");
        await stage.refused(quiet.regardless.subscribe(NOBODY), "unsupported-operation");
      },
    },
    {
      operation: "push notifications not supported",
      async run(stage) {
        const plain = await stage.meet("plain");
        const { id } = taskOf(await plain.send({ content: "done" }));
        expect(plain.regardless.push.length).toBeGreaterThan(0);
        for (const call of plain.regardless.push) await stage.refused(call(id), "push-not-supported");
        const push = { url: "https://example.org/hook" };
        await stage.refused(plain.send({ content: "x", push }), "push-not-supported");
        await stage.refused(plain.stream({ content: "x", push }), "push-not-supported");
      },
    },
    {
      operation: "no extended card",
      needs: "extended-card",
      async run(stage) {
        const echo = await stage.meet("echo");
        await stage.refused(echo.regardless.extendedCard(), stage.line.rules.noExtendedCard);
        // Without the test's override, the client keeps the card it has.
        expect(await echo.extendedCard()).toEqual(echo.card);
      },
    },
    {
      operation: "content type not supported",
      async run(stage) {
        const plain = await stage.meet("plain");
        const picture = [{ raw: "AAAA", mediaType: "image/png" }];
        await stage.refused(plain.send({ content: picture }), "content-type-not-supported");
        await stage.refused(plain.stream({ content: picture }), "content-type-not-supported");
        const outputModes = ["image/png"];
        await stage.refused(plain.send({ content: "x", outputModes }), "content-type-not-supported");
        expect(taskOf(await plain.send({ content: "x", outputModes: ["text/*"] })).state).toBe("completed");
      },
    },
    {
      operation: "extension required",
      async run(stage) {
        const demanding = await stage.meet("demanding");
        const { missingExtension } = stage.line.rules;
        await stage.refused(demanding.send({ content: "x" }), missingExtension);
        await stage.refused(demanding.stream({ content: "x" }), missingExtension);
        await stage.refused(demanding.get(NOBODY), missingExtension);
      },
    },
    {
      operation: "malformed request",
      async run(stage) {
        const echo = await stage.meet("echo");
        await stage.refused(echo.send({ content: [] }), "invalid-params");
        await stage.refused(echo.send({ content: "x", history: -1 }), "invalid-params");
        await stage.refused(echo.get(NOBODY, { history: -1 }), "invalid-params");
        const asking = await stage.meet("asking");
        const { id: taskId } = taskOf(await asking.send({ content: "The weather, please" }));
        await stage.refused(asking.send({ content: "Oslo", taskId, contextId: "another" }), "invalid-params");
      },
    },
    {
      operation: "malformed stream request",
      needs: "stream-refusals",
      async run(stage) {
        const echo = await stage.meet("echo");
        await stage.refused(echo.stream({ content: [] }), "invalid-params");
        await stage.refused(echo.stream({ content: "x", history: -1 }), "invalid-params");
      },
    },
    {
      operation: "malformed list request",
      needs: "lists",
      async run(stage) {
        const echo = await stage.meet("echo");
        await stage.refused(echo.list({ pageSize: 0 }), "invalid-params");
        await stage.refused(echo.list({ pageSize: 101 }), "invalid-params");
        await stage.refused(echo.list({ pageToken: "made up" }), "invalid-params");
        await stage.refused(echo.list({ history: -1 }), "invalid-params");
        // Over gRPC a client cannot send a time that is none.
        if (stage.binding !== "GRPC") await stage.refused(echo.list({ since: "yesterday" }), "invalid-params");
      },
    },
    {
      operation: "version not supported",
      needs: "versions",
      async run(stage) {
        const echo = await stage.meet("echo");
        const { id } = taskOf(await echo.send({ content: "done" }));
        await stage.refused(echo.regardless.getAs("9.9", id), "version-not-supported");
        await stage.refused(echo.regardless.getAs("nonsense", id), "version-not-supported");
        expect(await stage.refusal(echo.regardless.getAs("1.0.7", id))).toBe("no error");
      },
    },
    {
      operation: "no such method",
      needs: "own-methods",
      async run(stage) {
        const echo = await stage.meet("echo");
        await stage.refused(echo.regardless.ownMethod("example/unheardOf"), "method-not-found");
        await stage.refused(echo.regardless.ownMethod("UnheardOf"), "method-not-found");
      },
    },
    {
      operation: "not authenticated",
      needs: "status-refusals",
      async run(stage) {
        const guarded = await stage.meet("guarded");
        await stage.refused(guarded.send({ content: "x" }), "unauthenticated");
        await stage.refused(guarded.stream({ content: "x" }), "unauthenticated");
        await stage.refused(guarded.get(NOBODY), "unauthenticated");
        const discreet = await stage.meet("discreet");
        await stage.refused(discreet.extendedCard(), "unauthenticated");
      },
    },
    {
      operation: "not permitted",
      needs: "credentials",
      async run(stage) {
        const banned = await stage.meet("guarded", "banned");
        await stage.refused(banned.send({ content: "x" }), "permission-denied");
        await stage.refused(banned.get(NOBODY), "permission-denied");
      },
    },
    {
      operation: "request too large",
      needs: "status-refusals",
      async run(stage) {
        const echo = await stage.meet("echo");
        // gRPC has one status for both.
        const error = stage.binding === "GRPC" ? "resource-exhausted" : "payload-too-large";
        await stage.refused(echo.send({ content: "x".repeat(MAX_BODY_BYTES + 1) }), error);
      },
    },
    {
      operation: "too much to do",
      async run(stage) {
        const narrow = await stage.meet("narrow");
        const name = stage.fresh();
        // Each node has its own limit, and gets one of as many sends as there are nodes.
        const ids: string[] = [];
        for (let node = 0; node < NODES; node += 1)
          ids.push(taskOf(await narrow.send({ content: name, wait: false })).id);
        await stage.refused(narrow.send({ content: name }), "resource-exhausted");
        stage.gates.open(name);
        for (const id of ids) await until(async () => (await narrow.get(id)).state === "completed");
      },
    },
    {
      operation: "failure of the agent, without its inside",
      async run(stage) {
        const unhappy = await stage.meet("unhappy");
        await stage.refused(unhappy.send({ content: "reply" }), "internal");
        await expect(unhappy.send({ content: "reply" })).rejects.not.toThrow(/secret/);
      },
    },
    {
      operation: "nothing in any answer that is not in the client's version",
      needs: "json-answers",
      async run(stage) {
        const [echo, paced] = await Promise.all([stage.meet("echo"), stage.meet("paced")]);
        const name = stage.fresh();
        stage.gates.open(name);
        stage.gates.open(`${name}!`);
        const [first] = await all(paced.stream({ content: name }));
        await paced.get(first?.kind === "task" ? first.task.id : "");
        await echo.send({ content: "message: Hi" });
        if (stage.can("extended-card")) await (await stage.meet("discreet", "alice")).extendedCard();
        await stage.refusal(echo.get(NOBODY));
        // Covers this request and all earlier responses.
        const { inspector } = stage;
        await inspector.settled();
        expect(inspector.faults).toEqual([]);
        expect(inspector.seen.size).toBeGreaterThanOrEqual(5);
      },
    },
  ],
};
