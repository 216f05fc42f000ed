import { expect, it } from "vitest";
import { accepted, type Caller, refusalOf, taskOf, text } from "./dialect-client.ts";
import { DIALECT_CLIENTS_1_0 } from "./dialect-clients.ts";
import { inEveryDialect } from "./every-dialect.ts";
import { openInbox } from "./inbox.ts";

const HOOK = "https://hooks.example.org/notify";

/** The push notification requirements for a server of 1.0, by number; `musts.test.ts` checks that none is missing. */
inEveryDialect(DIALECT_CLIENTS_1_0, ({ dialectClient, caller, textToRun }) => {
  const begin = async (by: Caller = caller()): Promise<string> =>
    (await taskOf(by.send(text(textToRun(async (task) => `You chose ${await task.ask("Which?")}`))))).id;

  it("1.0 MUST 44: without push notifications each webhook operation fails with PushNotificationNotSupported", async () => {
    for (const outcome of [
      caller("mute").pushCreate("x", HOOK),
      caller("mute").pushGet("x", "y"),
      caller("mute").pushList("x"),
      caller("mute").pushDelete("x", "y"),
    ]) {
      expect(await refusalOf(outcome)).toBe("PushNotificationNotSupported");
    }
  });

  it("1.0 MUST 45: a configuration is stored until the task ends or the configuration is deleted", async () => {
    await using inbox = await openInbox();
    const taskId = await begin();
    const kept = await accepted(caller().pushCreate(taskId, inbox.url("/kept")));
    const deleted = await accepted(caller().pushCreate(taskId, inbox.url("/deleted")));
    await accepted(caller().pushDelete(taskId, deleted.id ?? ""));
    expect((await accepted(caller().pushList(taskId))).webhooks).toEqual([kept]);
    await accepted(caller().send({ ...text("tea"), taskId }));
    const received = await inbox.until(({ body }) => body.includes("TASK_STATE_COMPLETED"));
    expect(new Set(received.map(({ path }) => path))).toEqual(new Set(["/kept"]));
  });

  it("1.0 MUST 46: get returns the URL and the settings, and fails if there is none for this caller", async () => {
    const [alice, bob] = [caller(undefined, { token: "alice" }), caller(undefined, { token: "bob" })];
    const taskId = await begin(alice);
    const settings = { url: HOOK, authentication: { schemes: ["Bearer"] } };
    const { id = "" } = await accepted(alice.pushCreate(taskId, settings));
    expect(await accepted(alice.pushGet(taskId, id))).toEqual({ id, ...settings });
    expect(await refusalOf(alice.pushGet(taskId, "nothing"))).toBe("TaskNotFound");
    expect(await refusalOf(alice.pushGet("nothing", id))).toBe("TaskNotFound");
    expect(await refusalOf(bob.pushGet(taskId, id))).toBe("TaskNotFound");
  });

  it("1.0 MUST 47: list returns all active configurations", async () => {
    const taskId = await begin();
    expect((await accepted(caller().pushList(taskId))).webhooks).toEqual([]);
    for (const id of ["a", "b", "c"]) await accepted(caller().pushCreate(taskId, { id, url: HOOK }));
    await accepted(caller().pushDelete(taskId, "b"));
    expect((await accepted(caller().pushList(taskId))).webhooks.map(({ id }) => id)).toEqual(["a", "c"]);
  });

  it("1.0 MUST 48: a delete is permanent and can be repeated", async () => {
    const taskId = await begin();
    await accepted(caller().pushCreate(taskId, { id: "a", url: HOOK }));
    for (const _ of [1, 2, 3]) await accepted(caller().pushDelete(taskId, "a"));
    expect(await refusalOf(caller().pushGet(taskId, "a"))).toBe("TaskNotFound");
  });

  it("1.0 MUST 49: each webhook gets at least one attempt, even if another fails", async () => {
    await using dead = await openInbox((_, response) => void response.destroy());
    await using inbox = await openInbox();
    const taskId = await begin();
    for (const { url } of [dead, inbox, inbox]) await accepted(caller().pushCreate(taskId, url(`/${Math.random()}`)));
    await accepted(caller().send({ ...text("tea"), taskId }));
    await dead.next();
    for (const _ of [1, 2]) await inbox.until(({ body }) => body.includes("TASK_STATE_COMPLETED"));
    expect(new Set(inbox.received.map(({ path }) => path)).size).toBe(2);
  });

  it("1.0 MUST 50: credentials are sent as configured", async () => {
    await using inbox = await openInbox();
    for (const scheme of ["Bearer", "Basic", "ApiKey"]) {
      const taskId = await begin();
      await accepted(
        caller().pushCreate(taskId, { url: inbox.url(), authentication: { schemes: [scheme], credentials: "abc=" } }),
      );
      await accepted(caller().send({ ...text("tea"), taskId }));
      const received = await inbox.until(({ body }) => body.includes("TASK_STATE_COMPLETED"));
      expect(new Set(received.map(({ headers }) => headers.authorization))).toEqual(new Set([`${scheme} abc=`]));
    }
  });

  it("1.0 MUST 51: the body of a notification is a StreamResponse with exactly one member", async () => {
    await using inbox = await openInbox();
    const opening = textToRun(async (task) => {
      await task.status("Begun");
      return "done";
    });
    const { id } = await taskOf(caller().send(text(opening), { push: inbox.url() }));
    for (const { body } of await inbox.until(({ body }) => body.includes("TASK_STATE_COMPLETED"))) {
      expect(Object.keys(JSON.parse(body))).toHaveLength(1);
      const event = dialectClient.readPushed(JSON.parse(body));
      expect([["status", "artifact"].includes(event.kind), "taskId" in event && event.taskId]).toEqual([true, id]);
    }
  });
});
