import { describe, expect, it } from "vitest";
import { accepted, type Caller, type CallerOptions, refusalOf, refused, taskOf, text } from "./dialect-client.ts";
import { rest1_0 } from "./dialect-clients/v1-0-rest.ts";
import { DIALECT_CLIENTS_1_0 } from "./dialect-clients.ts";
import { inEveryDialect } from "./every-dialect.ts";

inEveryDialect(DIALECT_CLIENTS_1_0, ({ dialectClient, caller, textToRun }) => {
  const places = dialectClient.binding === "rest" ? (["path", "query", "body"] as const) : (["body"] as const);
  const within = (tenant: string, tenantIn: NonNullable<CallerOptions["tenantIn"]> = "path"): Caller =>
    caller(undefined, { tenant, tenantIn });

  describe("a tenant", () => {
    it.each(places)("in the %s is passed to the agent", async (place) => {
      let seen: string | undefined;
      const opening = textToRun(async ({ tenant }) => {
        seen = tenant;
      });
      await taskOf(within("acme & söhne", place).send(text(opening), { wait: true }));
      expect(seen).toBe("acme & söhne");
    });

    it("has its own tasks, which requests with another tenant or none do not see", async () => {
      const opening = textToRun(async (task) => task.ask("?"));
      const { id } = await taskOf(within("one").send(text(opening), { wait: true }));
      for (const other of [within("two"), caller()]) {
        expect(await refusalOf(other.get(id))).toBe("TaskNotFound");
        expect(await refusalOf(other.subscribe(id))).toBe("TaskNotFound");
        expect(await refusalOf(other.cancel(id))).toBe("TaskNotFound");
        expect(await refusalOf(other.send({ ...text("hi"), taskId: id }))).toBe("TaskNotFound");
        expect((await accepted(other.list())).tasks.map((task) => task.id)).not.toContain(id);
      }
      for (const place of places) {
        expect((await accepted(within("one", place).get(id))).id).toBe(id);
        expect((await accepted(within("one", place).list())).tasks.map((task) => task.id)).toEqual([id]);
      }
      expect((await accepted(within("one").cancel(id))).status.state).toBe("canceled");
    });

    it("is required by every operation", async () => {
      const mine = within("three");
      const opening = textToRun(async () => "done");
      const frames = await (await accepted(mine.stream(text(opening)))).rest();
      const [first] = frames;
      const id = first?.kind === "task" ? first.task.id : "";
      expect((await accepted(mine.get(id))).status.state).toBe("completed");
      const webhook = await accepted(mine.pushCreate(id, "https://example.org/hook"));
      expect((await accepted(mine.pushList(id))).webhooks).toEqual([webhook]);
      expect(await refusalOf(within("two").pushList(id))).toBe("TaskNotFound");
      await accepted(mine.pushDelete(id, webhook.id ?? ""));
      expect(await refusalOf(mine.extendedCard())).toBe("UnsupportedOperation");
    });
  });
});

inEveryDialect([rest1_0], ({ caller, textToRun }) => {
  describe("a tenant in the path", () => {
    it("cannot shadow an existing path without a tenant", async () => {
      // This is the task with that id.
      expect(await refused(caller(undefined, { tenant: "tasks" }).get("tasks"))).toMatchObject({
        name: "MethodNotFound",
      });
      for (const tenant of ["v1", "agents", ".well-known", "extendedAgentCard"]) {
        expect(await refusalOf(caller(undefined, { tenant }).list())).toBe("MethodNotFound");
      }
    });

    it("has priority over a tenant in the body or the query", async () => {
      let seen: string | undefined;
      const opening = textToRun(async ({ tenant }) => {
        seen = tenant;
      });
      const alter = (body: object) => ({ ...body, tenant: "body" });
      await taskOf(caller(undefined, { tenant: "path", alter }).send(text(opening), { wait: true }));
      expect(seen).toBe("path");
    });
  });
});
