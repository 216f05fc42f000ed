import { describe, expect, it } from "vitest";
import { accepted, refusalOf, taskOf, text } from "./dialect-client.ts";
import { DIALECT_CLIENTS } from "./dialect-clients.ts";
import { inEveryDialect } from "./every-dialect.ts";
import { createGate } from "./gate.ts";
import { outputOf, textOf } from "./neutral.ts";

/** A unique caller, so that its list contains only its own tasks. */
function somebody(): string {
  return `t${crypto.randomUUID().replaceAll("-", "")}`;
}

inEveryDialect(DIALECT_CLIENTS, ({ dialectClient, caller, textToRun }) => {
  const { rules } = dialectClient;

  describe("getting a task", () => {
    it("returns the same task as the send", async () => {
      for (const history of [undefined, rules.wholeHistory]) {
        const sent = await taskOf(caller("echo").send(text("hello"), { wait: true, history }));
        expect(await accepted(caller("echo").get(sent.id, history))).toEqual(sent);
      }
    });

    it("returns the requested number of the newest history messages", async () => {
      const opening = textToRun(async (task) => {
        for (const question of ["1?", "2?", "3?"]) await task.ask(question);
      });
      const { id } = await taskOf(caller().send(text(opening), { wait: true }));
      for (const answer of ["a", "b"]) await taskOf(caller().send({ ...text(answer), taskId: id }, { wait: true }));
      const history = async (length?: number) =>
        (await accepted(caller().get(id, length))).history?.map(({ parts }) => textOf(parts));
      const whole = await history(rules.wholeHistory);
      expect(await history()).toEqual(rules.wholeHistory === undefined ? whole : undefined);
      expect(whole?.filter((words) => !words.endsWith("?"))).toEqual([opening, "a", "b"]);
      expect(await history(1)).toEqual(whole?.slice(-1));
      expect(await history(2)).toEqual(whole?.slice(-2));
      expect(await history(1000)).toEqual(whole);
      // In some versions a length of zero requests no history, in others it is ignored.
      expect(await history(0)).toEqual(rules.zeroHistory === "none" ? undefined : whole);
    });

    it("refuses a negative history length", async () => {
      const { id } = await taskOf(caller("echo").send(text("hello"), { wait: true }));
      expect(await refusalOf(caller("echo").get(id, -1))).toBe("InvalidParams");
    });

    it("answers not found to other callers, at other agents, and for unknown ids", async () => {
      const { id } = await taskOf(caller("echo", { token: "alice" }).send(text("mine"), { wait: true }));
      expect((await accepted(caller("echo", { token: "alice" }).get(id))).id).toBe(id);
      expect(await refusalOf(caller("echo", { token: "bob" }).get(id))).toBe("TaskNotFound");
      expect(await refusalOf(caller("echo").get(id))).toBe("TaskNotFound");
      expect(await refusalOf(caller("actor", { token: "alice" }).get(id))).toBe("TaskNotFound");
      for (const unknown of ["no-such-task", "a b/c?d", "tasks%2Fx"]) {
        expect(await refusalOf(caller("echo").get(unknown))).toBe("TaskNotFound");
      }
    });
  });

  describe("canceling a task", () => {
    it("stops the task, and every get and stream shows that", async () => {
      const gate = createGate();
      let reason: unknown;
      const opening = textToRun(async (task) => {
        task.signal.addEventListener("abort", () => {
          reason = task.signal.reason;
        });
        gate.open();
        await createGate().passed(task.signal);
      });
      const { id } = await taskOf(caller().send(text(opening), { wait: false }));
      await gate.passed(new AbortController().signal);
      const stream = await accepted(caller().subscribe(id));
      const canceled = await accepted(caller().cancel(id));
      expect(canceled).toMatchObject({ id, status: { state: "canceled" } });
      expect(reason).toMatchObject({ reason: "canceled" });
      const last = (await stream.rest()).at(-1);
      expect(last).toMatchObject({ kind: "status", status: { state: "canceled" } });
      expect((await accepted(caller().get(id))).status.state).toBe("canceled");
    });

    it("works while the task waits for input", async () => {
      const { id } = await taskOf(caller().send(text(textToRun(async (task) => task.ask("?"))), { wait: true }));
      expect((await accepted(caller().cancel(id))).status.state).toBe("canceled");
      expect(await refusalOf(caller().send({ ...text("too late"), taskId: id }))).toBe(rules.finishedSend);
    });

    it(`a second time ${rules.repeatedCancel === "snapshot" ? "returns the task again" : "is refused"}`, async () => {
      const { id } = await taskOf(caller().send(text(textToRun(async (task) => task.ask("?"))), { wait: true }));
      const canceled = await accepted(caller().cancel(id));
      const again = caller().cancel(id);
      if (rules.repeatedCancel === "snapshot") expect(await accepted(again)).toEqual(canceled);
      else expect(await refusalOf(again)).toBe(rules.repeatedCancel);
    });

    it("accepts a reason", async () => {
      const { id } = await taskOf(caller().send(text(textToRun(async (task) => task.ask("?"))), { wait: true }));
      expect((await accepted(caller().cancel(id, { reason: "too slow" }))).status.state).toBe("canceled");
    });

    it("is refused for a finished task, a task of another caller, and an unknown id", async () => {
      const done = await taskOf(caller("echo").send(text("done"), { wait: true }));
      expect(await refusalOf(caller("echo").cancel(done.id))).toBe("TaskNotCancelable");
      const { id } = await taskOf(caller().send(text(textToRun(async (task) => task.ask("?"))), { wait: true }));
      expect(await refusalOf(caller(undefined, { token: "mallory" }).cancel(id))).toBe("TaskNotFound");
      expect(await refusalOf(caller().cancel("no-such-task"))).toBe("TaskNotFound");
      expect((await accepted(caller().get(id))).status.state).toBe("input-required");
    });
  });
});

inEveryDialect(
  DIALECT_CLIENTS.filter(({ rules }) => rules.list === "array"),
  ({ caller }) => {
    it("a list has only the caller's tasks, newest first", async () => {
      const mine = caller("echo", { token: somebody() });
      expect((await accepted(mine.list())).tasks).toEqual([]);
      const ids: string[] = [];
      for (const words of ["one", "two", "three"])
        ids.unshift((await taskOf(mine.send(text(words), { wait: true }))).id);
      expect((await accepted(mine.list())).tasks.map(({ id }) => id)).toEqual(ids);
    });
  },
);

inEveryDialect(
  DIALECT_CLIENTS.filter(({ rules }) => rules.list === "pages"),
  ({ dialectClient, caller, textToRun }) => {
    it("a list has pages with the caller's tasks only, newest status first", async () => {
      const mine = caller("echo", { token: somebody() });
      expect(await accepted(mine.list())).toEqual({ tasks: [], nextPageToken: "", pageSize: 50, totalSize: 0 });
      const ids: string[] = [];
      for (let count = 0; count < 5; count++) {
        ids.unshift((await taskOf(mine.send(text(`${count}`), { wait: true }))).id);
      }
      await taskOf(caller("echo").send(text("somebody else's"), { wait: true }));
      const seen: string[] = [];
      let pageToken = "";
      const sizes: number[] = [];
      do {
        const page = await accepted(mine.list({ pageSize: 2, ...(pageToken !== "" && { pageToken }) }));
        expect(page).toMatchObject({ pageSize: 2, totalSize: 5 });
        seen.push(...page.tasks.map(({ id }) => id));
        sizes.push(page.tasks.length);
        pageToken = page.nextPageToken ?? "";
      } while (pageToken !== "");
      expect(seen).toEqual(ids);
      expect(sizes).toEqual([2, 2, 1]);
    });

    it("a list neither skips nor repeats tasks if new ones are created between pages", async () => {
      const mine = caller("echo", { token: somebody() });
      const ids: string[] = [];
      for (let count = 0; count < 4; count++) {
        ids.unshift((await taskOf(mine.send(text(`${count}`), { wait: true }))).id);
      }
      const first = await accepted(mine.list({ pageSize: 2 }));
      await taskOf(mine.send(text("late"), { wait: true }));
      const second = await accepted(mine.list({ pageSize: 2, pageToken: first.nextPageToken ?? "" }));
      expect([...first.tasks, ...second.tasks].map(({ id }) => id)).toEqual(ids);
    });

    it("a list can be filtered by context, state and time", async () => {
      const token = somebody();
      const mine = caller(undefined, { token });
      const done = await taskOf(mine.send(text(textToRun(async () => "done")), { wait: true }));
      const { contextId } = done;
      const asks = textToRun(async (task) => task.ask("?"));
      const asking = await taskOf(mine.send({ ...text(asks), contextId }, { wait: true }));
      const other = await taskOf(mine.send(text(textToRun(async () => "done")), { wait: true }));
      const ids = async (query: object) => (await accepted(mine.list(query))).tasks.map(({ id }) => id);
      expect(await ids({ contextId })).toEqual([asking.id, done.id]);
      expect(await ids({ state: "input-required" })).toEqual([asking.id]);
      expect(await ids({ state: "completed", contextId })).toEqual([done.id]);
      expect(await ids({ state: "failed" })).toEqual([]);
      expect(await ids({ contextId: "nowhere" })).toEqual([]);
      // At that time or later.
      expect(await ids({ since: other.status.timestamp })).toContain(other.id);
      expect(await ids({ since: "2999-01-01T00:00:00Z" })).toEqual([]);
      expect(await ids({ since: "2020-01-01T00:00:00+01:00" })).toHaveLength(3);
    });

    it("a list has artifacts and history only on request", async () => {
      const mine = caller("echo", { token: somebody() });
      await taskOf(mine.send(text("hello"), { wait: true }));
      const tasks = async (query: object) => (await accepted(mine.list(query))).tasks;
      expect((await tasks({})).map((task) => "artifacts" in task)).toEqual([false]);
      expect((await tasks({ artifacts: false })).map((task) => "artifacts" in task)).toEqual([false]);
      expect((await tasks({ artifacts: true })).map(outputOf)).toEqual(["hello"]);
      expect((await tasks({ history: 0 })).map((task) => "history" in task)).toEqual([false]);
      expect((await tasks({ history: 1 })).map(({ history }) => history?.length)).toEqual([1]);
    });

    it.each<[string, object]>([
      ["no page", { pageSize: 0 }],
      ["a negative page", { pageSize: -1 }],
      ["a page of too many", { pageSize: 101 }],
      ["a token nobody gave", { pageToken: "made up" }],
      ["a negative history", { history: -1 }],
      // The time of protobuf is a number.
      ...(dialectClient.binding === "grpc"
        ? []
        : [["a time that is none", { since: "yesterday" }] as [string, object]]),
    ])("a list is refused for %s", async (_name, query) => {
      expect(await refusalOf(caller("echo").list(query))).toBe("InvalidParams");
    });
  },
);
