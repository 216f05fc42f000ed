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
      async run(setup) {
        const echo = await setup.connect("echo");
        await setup.refused(echo.get(NOBODY), "task-not-found");
        await setup.refused(echo.cancel(NOBODY), "task-not-found");
        await setup.refused(echo.subscribe(NOBODY), "task-not-found");
        await setup.refused(echo.get("no id of ours / ?#%"), "task-not-found");
        const taskId = setup.unusedName();
        if (setup.line.rules.unknownTask === "a new task") {
          expect(taskOf(await echo.send({ content: "more", taskId }))).toMatchObject({
            id: taskId,
            state: "completed",
          });
          return;
        }
        await setup.refused(echo.send({ content: "more", taskId }), "task-not-found");
        await setup.refused(echo.stream({ content: "more", taskId }), "task-not-found");
      },
    },
    {
      operation: "task of another caller",
      needs: "credentials",
      async run(setup) {
        const alice = await setup.connect("guarded", "alice");
        const { id } = taskOf(await alice.send({ content: "mine" }));
        expect((await alice.get(id)).state).toBe("completed");
        const bob = await setup.connect("guarded", "bob");
        await setup.refused(bob.get(id), "task-not-found");
        await setup.refused(bob.cancel(id), "task-not-found");
        await setup.refused(bob.subscribe(id), "task-not-found");
        await setup.refused(bob.send({ content: "more", taskId: id }), "task-not-found");
        const echo = await setup.connect("echo");
        await setup.refused(echo.get(id), "task-not-found");
      },
    },
    {
      operation: "task cannot be canceled",
      async run(setup) {
        const echo = await setup.connect("echo");
        const { id } = taskOf(await echo.send({ content: "done" }));
        await setup.refused(echo.cancel(id), "task-not-cancelable");
      },
    },
    {
      operation: "message to a finished task",
      async run(setup) {
        const echo = await setup.connect("echo");
        const { id: taskId } = taskOf(await echo.send({ content: "done" }));
        await setup.refused(echo.send({ content: "more", taskId }), "unsupported-operation");
        await setup.refused(echo.stream({ content: "more", taskId }), "unsupported-operation");
      },
    },
    {
      operation: "streaming not supported",
      async run(setup) {
        const quiet = await setup.connect("quiet");
        await setup.refused(quiet.regardless.stream({ content: "x" }), "unsupported-operation");
        await setup.refused(quiet.regardless.subscribe(NOBODY), "unsupported-operation");
      },
    },
    {
      operation: "push notifications not supported",
      async run(setup) {
        const plain = await setup.connect("plain");
        const { id } = taskOf(await plain.send({ content: "done" }));
        expect(plain.regardless.push.length).toBeGreaterThan(0);
        for (const call of plain.regardless.push) await setup.refused(call(id), "push-not-supported");
        const push = { url: "https://example.org/hook" };
        await setup.refused(plain.send({ content: "x", push }), "push-not-supported");
        await setup.refused(plain.stream({ content: "x", push }), "push-not-supported");
      },
    },
    {
      operation: "no extended card",
      needs: "extended-card",
      async run(setup) {
        const echo = await setup.connect("echo");
        await setup.refused(echo.regardless.extendedCard(), setup.line.rules.noExtendedCard);
        // Without the test's override, the client keeps the card it has.
        expect(await echo.extendedCard()).toEqual(echo.card);
      },
    },
    {
      operation: "content type not supported",
      async run(setup) {
        const plain = await setup.connect("plain");
        const picture = [{ raw: "AAAA", mediaType: "image/png" }];
        await setup.refused(plain.send({ content: picture }), "content-type-not-supported");
        await setup.refused(plain.stream({ content: picture }), "content-type-not-supported");
        const outputModes = ["image/png"];
        await setup.refused(plain.send({ content: "x", outputModes }), "content-type-not-supported");
        expect(taskOf(await plain.send({ content: "x", outputModes: ["text/*"] })).state).toBe("completed");
      },
    },
    {
      operation: "extension required",
      async run(setup) {
        const demanding = await setup.connect("demanding");
        const { missingExtension } = setup.line.rules;
        await setup.refused(demanding.send({ content: "x" }), missingExtension);
        await setup.refused(demanding.stream({ content: "x" }), missingExtension);
        await setup.refused(demanding.get(NOBODY), missingExtension);
      },
    },
    {
      operation: "malformed request",
      async run(setup) {
        const echo = await setup.connect("echo");
        await setup.refused(echo.send({ content: [] }), "invalid-params");
        await setup.refused(echo.send({ content: "x", history: -1 }), "invalid-params");
        await setup.refused(echo.get(NOBODY, { history: -1 }), "invalid-params");
        const asking = await setup.connect("asking");
        const { id: taskId } = taskOf(await asking.send({ content: "The weather, please" }));
        await setup.refused(asking.send({ content: "Oslo", taskId, contextId: "another" }), "invalid-params");
      },
    },
    {
      operation: "malformed stream request",
      needs: "stream-refusals",
      async run(setup) {
        const echo = await setup.connect("echo");
        await setup.refused(echo.stream({ content: [] }), "invalid-params");
        await setup.refused(echo.stream({ content: "x", history: -1 }), "invalid-params");
      },
    },
    {
      operation: "malformed list request",
      needs: "lists",
      async run(setup) {
        const echo = await setup.connect("echo");
        await setup.refused(echo.list({ pageSize: 0 }), "invalid-params");
        await setup.refused(echo.list({ pageSize: 101 }), "invalid-params");
        await setup.refused(echo.list({ pageToken: "made up" }), "invalid-params");
        await setup.refused(echo.list({ history: -1 }), "invalid-params");
        // Over gRPC a client cannot send a time that is none.
        if (setup.binding !== "GRPC") await setup.refused(echo.list({ since: "yesterday" }), "invalid-params");
      },
    },
    {
      operation: "version not supported",
      needs: "versions",
      async run(setup) {
        const echo = await setup.connect("echo");
        const { id } = taskOf(await echo.send({ content: "done" }));
        await setup.refused(echo.regardless.getAs("9.9", id), "version-not-supported");
        await setup.refused(echo.regardless.getAs("nonsense", id), "version-not-supported");
        expect(await setup.refusal(echo.regardless.getAs("1.0.7", id))).toBe("no error");
      },
    },
    {
      operation: "no such method",
      needs: "own-methods",
      async run(setup) {
        const echo = await setup.connect("echo");
        await setup.refused(echo.regardless.ownMethod("example/unheardOf"), "method-not-found");
        await setup.refused(echo.regardless.ownMethod("UnheardOf"), "method-not-found");
      },
    },
    {
      operation: "not authenticated",
      needs: "status-refusals",
      async run(setup) {
        const guarded = await setup.connect("guarded");
        await setup.refused(guarded.send({ content: "x" }), "unauthenticated");
        await setup.refused(guarded.stream({ content: "x" }), "unauthenticated");
        await setup.refused(guarded.get(NOBODY), "unauthenticated");
        const discreet = await setup.connect("discreet");
        await setup.refused(discreet.extendedCard(), "unauthenticated");
      },
    },
    {
      operation: "not permitted",
      needs: "credentials",
      async run(setup) {
        const banned = await setup.connect("guarded", "banned");
        await setup.refused(banned.send({ content: "x" }), "permission-denied");
        await setup.refused(banned.get(NOBODY), "permission-denied");
      },
    },
    {
      operation: "request too large",
      needs: "status-refusals",
      async run(setup) {
        const echo = await setup.connect("echo");
        // gRPC has one status for both.
        const error = setup.binding === "GRPC" ? "resource-exhausted" : "payload-too-large";
        await setup.refused(echo.send({ content: "x".repeat(MAX_BODY_BYTES + 1) }), error);
      },
    },
    {
      operation: "too much to do",
      async run(setup) {
        const narrow = await setup.connect("narrow");
        const name = setup.unusedName();
        // Each node has its own limit, and gets one of as many sends as there are nodes.
        const ids: string[] = [];
        for (let node = 0; node < NODES; node += 1)
          ids.push(taskOf(await narrow.send({ content: name, wait: false })).id);
        await setup.refused(narrow.send({ content: name }), "resource-exhausted");
        setup.gates.open(name);
        for (const id of ids) await until(async () => (await narrow.get(id)).state === "completed");
      },
    },
    {
      operation: "failure of the agent, without its inside",
      async run(setup) {
        const unhappy = await setup.connect("unhappy");
        await setup.refused(unhappy.send({ content: "reply" }), "internal");
        await expect(unhappy.send({ content: "reply" })).rejects.not.toThrow(/secret/);
      },
    },
    {
      operation: "nothing in any answer that is not in the client's version",
      needs: "json-answers",
      async run(setup) {
        const [echo, paced] = await Promise.all([setup.connect("echo"), setup.connect("paced")]);
        const name = setup.unusedName();
        setup.gates.open(name);
        setup.gates.open(`${name}!`);
        const [first] = await all(paced.stream({ content: name }));
        await paced.get(first?.kind === "task" ? first.task.id : "");
        await echo.send({ content: "message: Hi" });
        if (setup.can("extended-card")) await (await setup.connect("discreet", "alice")).extendedCard();
        await setup.refusal(echo.get(NOBODY));
        // Covers this request and all earlier responses.
        const { inspector } = setup;
        await inspector.settled();
        expect(inspector.faults).toEqual([]);
        expect(inspector.seen.size).toBeGreaterThanOrEqual(5);
      },
    },
  ],
};
