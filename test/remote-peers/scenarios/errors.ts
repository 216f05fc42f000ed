import { expect } from "vitest";
import { connect, discover, type Message } from "../../../src/client.ts";
import { NOBODY, type ScenarioGroup, taskOf } from "../stage.ts";

/** Refusals by the servers, each with the client's error code. */
export const errors: ScenarioGroup = {
  title: "Errors",
  scenarios: [
    {
      operation: "no such task",
      async run(stage) {
        const agent = await stage.meet();
        const task = agent.task(NOBODY);
        const error = await stage.refused(task.get(), "task-not-found");
        expect(error.message).toContain(NOBODY);
        await stage.refused(task.cancel(), "task-not-found");
        await stage.refused(task.wait(), "task-not-found");
        await stage.refused(task.subscribe().result(), "task-not-found");
        await stage.refused(task.reply("more"), "task-not-found");
      },
    },
    {
      operation: "task of another caller",
      needs: "owners",
      async run(stage) {
        const alice = await stage.meet("able", { headers: { authorization: "Bearer alice" } });
        const { id } = taskOf(await alice.send("hello"));
        const bob = await stage.meet("able", { headers: { authorization: "Bearer bob" } });
        await stage.refused(bob.task(id).get(), "task-not-found");
        expect((await alice.task(id).get()).id).toBe(id);
      },
    },
    {
      operation: "task cannot be canceled",
      async run(stage) {
        const agent = await stage.meet();
        const { id } = taskOf(await agent.send("hello"));
        await stage.refused(agent.task(id).cancel(), "task-not-cancelable");
      },
    },
    {
      operation: "message to a finished task",
      async run(stage) {
        const agent = await stage.meet();
        const { id: taskId } = taskOf(await agent.send("hello"));
        await stage.refused(agent.send("more", { taskId }), stage.finishedTask);
      },
    },
    {
      operation: "streams to no task, and to a finished one",
      needs: "stream-refusals",
      async run(stage) {
        const agent = await stage.meet();
        await stage.refused(agent.stream("more", { taskId: NOBODY }).result(), "task-not-found");
        const { id: taskId } = taskOf(await agent.send("hello"));
        await stage.refused(agent.stream("more", { taskId }).result(), stage.finishedTask);
      },
    },
    {
      operation: "push notifications not supported",
      async run(stage) {
        const agent = await stage.meet("bare");
        const { push } = agent.task(taskOf(await agent.send("hello")).id);
        await stage.refused(push.create({ url: "https://example.org/hook" }), "push-not-supported");
        await stage.refused(push.get("mine"), "push-not-supported");
      },
    },
    {
      operation: "push notifications not supported, nor listed or deleted",
      needs: "push-many",
      async run(stage) {
        const agent = await stage.meet("bare");
        const { push } = agent.task(taskOf(await agent.send("hello")).id);
        await stage.refused(push.list(), "push-not-supported");
        await stage.refused(push.delete("mine"), "push-not-supported");
      },
    },
    {
      operation: "no extended card",
      needs: "extended-card",
      async run(stage) {
        await stage.refused((await stage.meet("bare")).extendedCard(), "unsupported-operation");
        await stage.refused((await stage.meet("unprepared")).extendedCard(), "extended-card-not-configured");
      },
    },
    {
      operation: "content type not supported",
      needs: "content-types",
      async run(stage) {
        const agent = await stage.meet("plain");
        const picture = { raw: "AAAA", mediaType: "image/png" };
        await stage.refused(agent.send(picture), "content-type-not-supported");
        await stage.refused(agent.stream(picture).result(), "content-type-not-supported");
      },
    },
    {
      operation: "extension required",
      needs: "extensions",
      async run(stage) {
        const agent = await stage.meet("demanding");
        await stage.refused(agent.send("hello"), "extension-support-required");
        await stage.refused(agent.stream("hello").result(), "extension-support-required");
      },
    },
    {
      operation: "malformed message",
      async run(stage) {
        const agent = await stage.meet();
        // Cast by hand: our own messages always have an id.
        const nameless = { messageId: "" as Message["messageId"], parts: [{ text: "hello" }] };
        await stage.refused(agent.send(nameless), "invalid-params");
        await stage.refused(agent.stream(nameless).result(), "invalid-params");
      },
    },
    {
      operation: "another context than the task's",
      needs: "context-check",
      async run(stage) {
        const agent = await stage.meet();
        const { id } = taskOf(await agent.send("ask"));
        await stage.refused(agent.task(id).reply("this one", { contextId: "another" }), "invalid-params");
      },
    },
    {
      operation: "malformed list request",
      needs: "lists",
      async run(stage) {
        const agent = await stage.meet();
        await stage.refused(agent.taskPage({ pageSize: 0 }), "invalid-params");
        await stage.refused(agent.taskPage({ pageSize: 101 }), "invalid-params");
      },
    },
    {
      operation: "version not supported",
      needs: "versions",
      async run(stage) {
        await stage.refused(stage.meet("ahead"), "no-interface");
        const { url } = await stage.serving("ahead");
        const { card } = await discover(url);
        const interfaces = card.interfaces.map((way) => ({ ...way, protocolVersion: stage.line.protocol }));
        const agent = await connect({ ...card, interfaces });
        await stage.refused(agent.send("hello"), "version-not-supported");
      },
    },
    {
      operation: "no such method",
      needs: "unknown-methods",
      async run(stage) {
        const { card } = await stage.meet();
        // Calls the server in a version with other method names.
        const interfaces = card.interfaces.map((way) => ({ ...way, protocolVersion: "1.0" }));
        const agent = await connect({ ...card, interfaces });
        await stage.refused(agent.task(NOBODY).get(), "method-not-found");
      },
    },
    {
      operation: "agent that breaks",
      async run(stage) {
        const agent = await stage.meet();
        expect(taskOf(await agent.send("break")).status.state).toBe("failed");
        expect(taskOf(await agent.stream("break").result()).status.state).toBe("failed");
      },
    },
    {
      operation: "nobody listens",
      async run(stage) {
        const { card } = await stage.meet();
        const gone = await stage.line.start({ binding: stage.binding });
        await gone.close();
        const interfaces = card.interfaces.map((way) => ({ ...way, url: gone.url }));
        const agent = await connect({ ...card, interfaces }, { retry: { attempts: 2, baseDelay: 1 } });
        await stage.refused(agent.send("hello"), "network");
      },
    },
  ],
};
