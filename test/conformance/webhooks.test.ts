import { describe, expect, it } from "vitest";
import { accepted, type Caller, type Outcome, type Rules, refusalOf, refused, taskOf, text } from "./dialect-client.ts";
import { jsonRpc0_2 } from "./dialect-clients/v0-2-jsonrpc.ts";
import { jsonRpc0_3 } from "./dialect-clients/v0-3-jsonrpc.ts";
import { DIALECT_CLIENTS, DIALECT_CLIENTS_1_0 } from "./dialect-clients.ts";
import { inEveryDialect } from "./every-dialect.ts";
import type { Webhook } from "./neutral.ts";

const HOOK = "https://hooks.example.org/notify";

/** A webhook with all members. */
const FULL: Webhook = {
  url: `${HOOK}?of=me`,
  token: "secret-token",
  authentication: { schemes: ["Bearer", "Basic"], credentials: "secret-credentials" },
  headers: { "X-Key": "secret-header" },
  events: ["status"],
};

/** The members that responses contain: no secrets, and only members of the version. */
function toldOf({ push }: Rules, webhook: Webhook): Webhook {
  const { token, authentication, headers } = webhook;
  const masked: Webhook = {
    ...webhook,
    ...(token !== undefined && { token: "***" }),
    ...(authentication !== undefined && {
      authentication: {
        schemes: push.schemes === "all" ? authentication.schemes : authentication.schemes.slice(0, 1),
        ...(authentication.credentials !== undefined && { credentials: "***" }),
      },
    }),
    ...(headers !== undefined && { headers: Object.fromEntries(Object.keys(headers).map((name) => [name, "***"])) }),
  };
  const members = Object.entries(masked).filter(([name]) => push.responseFields.some((member) => member === name));
  return { url: webhook.url, ...Object.fromEntries(members) };
}

/** Addresses that no webhook may have, whatever the server allows. */
const FORBIDDEN = [
  "http://169.254.169.254/latest/meta-data",
  "https://[fd00:ec2::254]/",
  "https://10.0.0.1/",
  "https://0x0a000001/",
  "https://[::ffff:10.0.0.1]/",
  "ftp://hooks.example.org/",
  "https://user:password@hooks.example.org/",
  "not a URL",
];

inEveryDialect(DIALECT_CLIENTS, ({ dialectClient, caller, textToRun }) => {
  const { rules } = dialectClient;

  /** Starts a task that waits for an answer, and returns its id. */
  const begin = async (by: Caller = caller()): Promise<string> => {
    const asking = textToRun(async (task) => `You said ${await task.ask("What?")}`);
    return (await taskOf(by.send(text(asking), { wait: true }))).id;
  };

  /** The task's stored webhooks, as far as the version returns them. */
  const kept = async (taskId: string): Promise<readonly Webhook[]> => {
    if (rules.managesPush) return (await accepted(caller().pushList(taskId))).webhooks;
    const webhook = await accepted(caller().pushGet(taskId));
    return webhook === undefined ? [] : [webhook];
  };

  describe("A webhook", () => {
    it("is stored as it was set, and its secrets are never returned", async () => {
      const taskId = await begin();
      const created = await caller().pushCreate(taskId, FULL);
      const webhook = await accepted(created);
      expect(webhook).toEqual(toldOf(rules, { ...FULL, ...(rules.managesPush && { id: expect.stringMatching(/./) }) }));
      const got = await caller().pushGet(taskId, webhook.id);
      expect(await accepted(got)).toEqual(webhook);
      expect(await kept(taskId)).toEqual([webhook]);
      for (const { http } of [created, got]) expect(http.text).not.toContain("secret");
    });

    it("with only a URL is stored with only a URL", async () => {
      const taskId = await begin();
      const { id, ...rest } = await accepted(caller().pushCreate(taskId, HOOK));
      expect([typeof id, rest]).toEqual([rules.managesPush ? "string" : "undefined", { url: HOOK }]);
    });

    it.runIf(rules.managesPush)("may be one of several, each under an id that the server makes up", async () => {
      const taskId = await begin();
      const urls = [`${HOOK}/1`, `${HOOK}/2`, `${HOOK}/3`];
      const ids: unknown[] = [];
      for (const url of urls) ids.push((await accepted(caller().pushCreate(taskId, url))).id);
      expect(new Set(ids).size).toBe(3);
      expect((await kept(taskId)).map(({ id, url }) => [id, url])).toEqual(ids.map((id, index) => [id, urls[index]]));
    });

    it.runIf(rules.managesPush)("set again under its id takes the place of the one before", async () => {
      const taskId = await begin();
      await accepted(caller().pushCreate(taskId, { id: "mine", ...FULL }));
      await accepted(caller().pushCreate(taskId, { id: "other", url: HOOK }));
      const again = await accepted(caller().pushCreate(taskId, { id: "mine", url: `${HOOK}/new` }));
      expect(again).toEqual({ id: "mine", url: `${HOOK}/new` });
      expect(await kept(taskId)).toEqual([again, { id: "other", url: HOOK }]);
      expect(await accepted(caller().pushGet(taskId, "mine"))).toEqual(again);
    });

    it.runIf(!rules.managesPush)("takes the place of the one before: a task has one", async () => {
      const taskId = await begin();
      await accepted(caller().pushCreate(taskId, FULL));
      await accepted(caller().pushCreate(taskId, `${HOOK}/new`));
      expect(await kept(taskId)).toEqual([{ url: `${HOOK}/new` }]);
    });

    it.runIf(rules.managesPush)(
      "is gone once it is deleted, and may be deleted twice, or without ever having been there",
      async () => {
        const taskId = await begin();
        const { id = "" } = await accepted(caller().pushCreate(taskId, HOOK));
        const other = await accepted(caller().pushCreate(taskId, `${HOOK}/other`));
        for (const gone of [id, id, "never-there"]) await accepted(caller().pushDelete(taskId, gone));
        expect(await refusalOf(caller().pushGet(taskId, id))).toBe("TaskNotFound");
        expect(await kept(taskId)).toEqual([other]);
      },
    );

    it.runIf(!rules.managesPush)("is gone once nothing is set in its place", async () => {
      const taskId = await begin();
      await accepted(caller().pushCreate(taskId, HOOK));
      for (const _ of [1, 2]) await accepted(caller().pushDelete(taskId, ""));
      expect(await kept(taskId)).toEqual([]);
    });

    it("that is missing gets the error of the version", async () => {
      const taskId = await begin();
      expect(await kept(taskId)).toEqual([]);
      if (!rules.managesPush) return;
      const refusal = await refused(caller().pushGet(taskId, "nothing"));
      expect(refusal.name).toBe("TaskNotFound");
      if (!dialectClient.rules.errorsAreText) expect(refusal.facts).toMatchObject({ taskId, id: "nothing" });
    });

    it("can be set for an ended task", async () => {
      const { id } = await taskOf(caller("echo").send(text("done"), { wait: true }));
      const webhook = await accepted(caller("echo").pushCreate(id, HOOK));
      expect(await accepted(caller("echo").pushGet(id, webhook.id))).toEqual(webhook);
    });

    it("in a message is stored like any other", async () => {
      const asking = textToRun(async (task) => void (await task.ask("What?")));
      const sent = await taskOf(caller().send(text(asking), { wait: true, push: FULL }));
      const id = rules.managesPush ? { id: expect.stringMatching(/./) } : {};
      expect(await kept(sent.id)).toEqual([toldOf(rules, { ...FULL, ...id })]);
      const stream = await accepted(caller().stream(text(asking), { push: FULL }));
      const [opening] = await stream.until((frame) => frame.kind === "task");
      await stream.close();
      if (opening?.kind !== "task") throw new Error("There is no task.");
      expect(await kept(opening.task.id)).toEqual([toldOf(rules, { ...FULL, ...id })]);
    });

    it("can also be in a later message", async () => {
      const taskId = await begin();
      await accepted(caller().send({ ...text("tea"), taskId }, { wait: true, push: HOOK }));
      expect((await kept(taskId)).map(({ url }) => url)).toEqual([HOOK]);
    });
  });

  describe("A webhook of another caller", () => {
    const operations: Readonly<Record<string, (by: Caller, taskId: string) => Promise<Outcome<unknown>>>> = {
      create: (by, taskId) => by.pushCreate(taskId, HOOK),
      get: (by, taskId) => by.pushGet(taskId, "mine"),
      ...(rules.managesPush && {
        list: (by: Caller, taskId: string) => by.pushList(taskId),
        delete: (by: Caller, taskId: string) => by.pushDelete(taskId, "mine"),
      }),
    };

    it.each(Object.entries(operations))(
      "%s: the task of another caller gets the same error as a missing task",
      async (_, ask) => {
        const taskId = await begin(caller(undefined, { token: "alice" }));
        const alice = caller(undefined, { token: "alice" });
        await accepted(alice.pushCreate(taskId, rules.managesPush ? { id: "mine", url: HOOK } : HOOK));
        const mallory = caller(undefined, { token: "mallory" });
        const [absent, hidden] = [await refused(ask(mallory, "nothing")), await refused(ask(mallory, taskId))];
        expect(absent.name).toBe("TaskNotFound");
        expect(JSON.stringify(hidden)).toBe(JSON.stringify(absent).replaceAll("nothing", taskId));
        expect((await accepted(alice.pushGet(taskId, "mine")))?.url).toBe(HOOK);
      },
    );

    it.each(Object.entries(operations))(
      "%s: an agent without push notifications answers so before it looks up the task",
      async (_, ask) => {
        const { id } = await taskOf(caller("mute").send(text("hi"), { wait: true }));
        for (const taskId of ["nothing", id]) {
          expect(await refusalOf(ask(caller("mute"), taskId))).toBe("PushNotificationNotSupported");
        }
      },
    );
  });

  describe("A forbidden webhook address", () => {
    it.each(FORBIDDEN)("is refused with an error that names the caller's field: %s", async (url) => {
      const taskId = await begin();
      const { fields } = rules.push;
      const set = await refused(caller().pushCreate(taskId, url));
      expect([set.name, set.fields]).toEqual(["InvalidParams", [fields.create]]);
      expect(set.message).toContain(fields.create);
      expect(await kept(taskId)).toEqual([]);
    });

    it("is refused before its message is processed", async () => {
      let runs = 0;
      const opening = textToRun(async () => {
        runs += 1;
      });
      for (const url of FORBIDDEN) {
        const sent = await refused(caller().send(text(opening), { push: url }));
        expect([sent.name, sent.fields]).toEqual(["InvalidParams", [rules.push.fields.send]]);
        const streamed = await refused(caller().stream(text(opening), { push: url }));
        expect([streamed.name, streamed.fields]).toEqual(["InvalidParams", [rules.push.fields.send]]);
      }
      expect(runs).toBe(0);
    });
  });

  // The definitions of gRPC have no field for headers.
  it.runIf(dialectClient.binding !== "grpc")("refuses headers that callers may not set", async () => {
    const taskId = await begin();
    for (const name of ["Host", "Content-Length", "content-type", "X-A2A-Notification-Token"]) {
      const { name: refusal, message } = await refused(
        caller().pushCreate(taskId, { url: HOOK, headers: { [name]: "x" } }),
      );
      expect([refusal, message]).toEqual(["InvalidParams", expect.stringContaining(name)]);
    }
    expect(await kept(taskId)).toEqual([]);
  });
});

inEveryDialect([jsonRpc0_3, jsonRpc0_2], ({ caller, textToRun }) => {
  it("returns the latest webhook for a request without an id, and the latest one without an id for the default id", async () => {
    const asking = textToRun(async (task) => void (await task.ask("What?")));
    const { id: taskId } = await taskOf(caller().send(text(asking), { wait: true }));
    await accepted(caller().pushCreate(taskId, `${HOOK}/1`));
    const unnamed = await accepted(caller().pushCreate(taskId, `${HOOK}/2`));
    const named = await accepted(caller().pushCreate(taskId, { id: "named", url: `${HOOK}/3` }));
    expect(await accepted(caller().pushGet(taskId))).toEqual(named);
    expect(await accepted(caller().pushGet(taskId, "default"))).toEqual(unnamed);
    await accepted(caller().pushDelete(taskId, "default"));
    expect(await refusalOf(caller().pushGet(taskId, unnamed.id))).toBe("TaskNotFound");
  });
});

inEveryDialect(DIALECT_CLIENTS_1_0, ({ caller, textToRun }) => {
  it("lists webhooks in pages on request", async () => {
    const asking = textToRun(async (task) => void (await task.ask("What?")));
    const { id: taskId } = await taskOf(caller().send(text(asking), { wait: true }));
    for (const id of ["a", "b", "c"]) await accepted(caller().pushCreate(taskId, { id, url: `${HOOK}/${id}` }));
    const first = await accepted(caller().pushList(taskId, { pageSize: 2 }));
    expect(first.webhooks.map(({ id }) => id)).toEqual(["a", "b"]);
    const rest = await accepted(caller().pushList(taskId, { pageSize: 2, pageToken: first.nextPageToken ?? "" }));
    expect([rest.webhooks.map(({ id }) => id), rest.nextPageToken]).toEqual([["c"], ""]);
    expect(await accepted(caller().pushList(taskId))).toMatchObject({ nextPageToken: "" });
    expect((await refused(caller().pushList(taskId, { pageToken: "!" }))).fields).toEqual(["pageToken"]);
  });
});

inEveryDialect(
  DIALECT_CLIENTS.filter(({ rules }) => rules.managesPush),
  ({ caller, textToRun }) => {
    it("limits the webhooks of a task to the configured number, and refuses the next one", async () => {
      const asking = textToRun(async (task) => void (await task.ask("What?")));
      const { id: taskId } = await taskOf(caller().send(text(asking), { wait: true }));
      for (const id of ["a", "b"]) await accepted(caller().pushCreate(taskId, { id, url: HOOK }));
      expect(await refusalOf(caller().pushCreate(taskId, HOOK))).toBe("ResourceExhausted");
      expect(await refusalOf(caller().send({ ...text("tea"), taskId }, { push: HOOK }))).toBe("ResourceExhausted");
      // Replacing a webhook, or deleting one, leaves room for another.
      await accepted(caller().pushCreate(taskId, { id: "b", url: `${HOOK}/new` }));
      await accepted(caller().pushDelete(taskId, "a"));
      await accepted(caller().pushCreate(taskId, { id: "c", url: HOOK }));
      expect((await accepted(caller().pushList(taskId))).webhooks.map(({ id }) => id)).toEqual(["b", "c"]);
    });
  },
  { push: { maxWebhooksPerTask: 2 } },
);
