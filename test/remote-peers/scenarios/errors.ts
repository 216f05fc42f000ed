import { expect } from "vitest";
import { connect, discover, type Message } from "../../../src/client.ts";
import { NOBODY, type ScenarioGroup, taskOf } from "../scenario-setup.ts";

/** Refusals by the servers, each with the client's error code. */
export const errors: ScenarioGroup = {
  title: "Errors",
  scenarios: [
    {
      operation: "no such task",
      async run(setup) {
        const agent = await setup.connect();
        const task = agent.task(NOBODY);
        const error = await setup.refused(task.get(), "task-not-found");
        expect(error.message).toContain(NOBODY);
        await setup.refused(task.cancel(), "task-not-found");
        await setup.refused(task.wait(), "task-not-found");
        await setup.refused(task.subscribe().result(), "task-not-found");
        await setup.refused(task.reply("more"), "task-not-found");
      },
    },
    {
      operation: "task of another caller",
      needs: "owners",
      async run(setup) {
        const alice = await setup.connect("able", { headers: { authorization: "Bearer alice" } });
        const { id } = taskOf(await alice.send("hello"));
        const bob = await setup.connect("able", { headers: { authorization: "Bearer bob" } });
        await setup.refused(bob.task(id).get(), "task-not-found");
        expect((await alice.task(id).get()).id).toBe(id);
      },
    },
    {
      operation: "task cannot be canceled",
      async run(setup) {
        const agent = await setup.connect();
        const { id } = taskOf(await agent.send("hello"));
        await setup.refused(agent.task(id).cancel(), "task-not-cancelable");
      },
    },
    {
      operation: "message to a finished task",
      async run(setup) {
        const agent = await setup.connect();
        const { id: taskId } = taskOf(await agent.send("hello"));
        await setup.refused(agent.send("more", { taskId }), setup.finishedTask);
      },
    },
    {
      operation: "streams to no task, and to a finished one",
      needs: "stream-refusals",
      async run(setup) {
        const agent = await setup.connect();
        await setup.refused(agent.stream("more", { taskId: NOBODY }).result(), "task-not-found");
        const { id: taskId } = taskOf(await agent.send("hello"));
        await setup.refused(agent.stream("more", { taskId }).result(), setup.finishedTask);
      },
    },
    {
      operation: "push notifications not supported",
      async run(setup) {
        const agent = await setup.connect("bare");
        const { push } = agent.task(taskOf(await agent.send("hello")).id);
        await setup.refused(push.create({ url: "https://example.org/hook" }), "push-not-supported");
        await setup.refused(push.get("mine"), "push-not-supported");
      },
    },
    {
      operation: "push notifications not supported, nor listed or deleted",
      needs: "push-many",
      async run(setup) {
        const agent = await setup.connect("bare");
        const { push } = agent.task(taskOf(await agent.send("hello")).id);
        await setup.refused(push.list(), "push-not-supported");
        await setup.refused(push.delete("mine"), "push-not-supported");
      },
    },
    {
      operation: "no extended card",
      needs: "extended-card",
      async run(setup) {
        await setup.refused((await setup.connect("bare")).extendedCard(), "unsupported-operation");
        await setup.refused((await setup.connect("unprepared")).extendedCard(), "extended-card-not-configured");
      },
    },
    {
      operation: "content type not supported",
      needs: "content-types",
      async run(setup) {
        const agent = await setup.connect("plain");
        const picture = { raw: "AAAA", mediaType: "image/png" };
        await setup.refused(agent.send(picture), "content-type-not-supported");
        await setup.refused(agent.stream(picture).result(), "content-type-not-supported");
      },
    },
    {
      operation: "extension required",
      needs: "extensions",
      async run(setup) {
        const agent = await setup.connect("demanding");
        await setup.refused(agent.send("hello"), "extension-support-required");
        await setup.refused(agent.stream("hello").result(), "extension-support-required");
      },
    },
    {
      operation: "malformed message",
      async run(setup) {
        const agent = await setup.connect();
        // Cast by hand: our own messages always have an id.
        const nameless = { messageId: "" as Message["messageId"], parts: [{ text: "hello" }] };
        await setup.refused(agent.send(nameless), "invalid-params");
        await setup.refused(agent.stream(nameless).result(), "invalid-params");
      },
    },
    {
      operation: "another context than the task's",
      needs: "context-check",
      async run(setup) {
        const agent = await setup.connect();
        const { id } = taskOf(await agent.send("ask"));
        await setup.refused(agent.task(id).reply("this one", { contextId: "another" }), "invalid-params");
      },
    },
    {
      operation: "malformed list request",
      needs: "lists",
      async run(setup) {
        const agent = await setup.connect();
        await setup.refused(agent.taskPage({ pageSize: 0 }), "invalid-params");
        await setup.refused(agent.taskPage({ pageSize: 101 }), "invalid-params");
      },
    },
    {
      operation: "version not supported",
      needs: "versions",
      async run(setup) {
        await setup.refused(setup.connect("ahead"), "no-interface");
        const { url } = await setup.serving("ahead");
        const { card } = await discover(url);
        const interfaces = card.interfaces.map((way) => ({ ...way, protocolVersion: setup.line.protocol }));
        const agent = await connect({ ...card, interfaces });
        await setup.refused(agent.send("hello"), "version-not-supported");
      },
    },
    {
      operation: "no such method",
      needs: "unknown-methods",
      async run(setup) {
        const { card } = await setup.connect();
        // Calls the server in a version with other method names.
        const interfaces = card.interfaces.map((way) => ({ ...way, protocolVersion: "1.0" }));
        const agent = await connect({ ...card, interfaces });
        await setup.refused(agent.task(NOBODY).get(), "method-not-found");
      },
    },
    {
      operation: "agent that breaks",
      async run(setup) {
        const agent = await setup.connect();
        expect(taskOf(await agent.send("break")).status.state).toBe("failed");
        expect(taskOf(await agent.stream("break").result()).status.state).toBe("failed");
      },
    },
    {
      operation: "nobody listens",
      async run(setup) {
        const { card } = await setup.connect();
        const gone = await setup.line.start({ binding: setup.binding });
        await gone.close();
        const interfaces = card.interfaces.map((way) => ({ ...way, url: gone.url }));
        const agent = await connect({ ...card, interfaces }, { retry: { attempts: 2, baseDelay: 1 } });
        await setup.refused(agent.send("hello"), "network");
      },
    },
  ],
};
