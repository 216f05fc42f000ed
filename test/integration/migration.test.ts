import { copyFile, readFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { createMemoryBus } from "../../src/bus/memory/bus.ts";
import type { TaskId } from "../../src/protocol/ids.ts";
import { PushTrial } from "../../src/push/test/push-trial.ts";
import type { ListQuery, LogEntry, MessageTrace, Store, TaskRecord, WebhookRecord } from "../../src/store/contract.ts";
import { EngineHarness, endings, scripted } from "../../src/testing/engine-harness.ts";
import { FakeClock } from "../../src/testing/fake-clock.ts";
import { type SqliteTrial, sqliteTrial } from "../../src/testing/sqlite-trial.ts";
import { textOf } from "./dead-end.ts";

/** What the release that wrote the file reads from it: see test/fixtures/stores/README.md. */
interface Expected {
  readonly tasks: Readonly<
    Record<
      string,
      {
        readonly record: TaskRecord;
        readonly log: readonly LogEntry[];
        readonly inbox: unknown;
        readonly steps: unknown;
        readonly webhooks: readonly WebhookRecord[];
      }
    >
  >;
  readonly lists: readonly {
    readonly query: Pick<ListQuery, "scope">;
    readonly total: number;
    readonly ids: readonly string[];
  }[];
  readonly messages: readonly {
    readonly scope: TaskRecord["scope"];
    readonly messageId: string;
    readonly found?: MessageTrace;
  }[];
  readonly due: unknown;
  readonly nextWake: number;
  readonly unheldWebhooks: readonly { readonly task: string; readonly id: string }[];
  readonly failedWebhooks: unknown;
}

const FOLDER = new URL("../fixtures/stores/", import.meta.url);
/** The time of the last commit in the file. */
const WRITTEN_AT = Date.UTC(2030, 0, 1, 0, 2);
/** When the sleeping task wakes up. */
const WAKE_AT = Date.UTC(2030, 0, 1, 1);
const EXPECTED: Expected = JSON.parse(await readFile(new URL("schema-2.json", FOLDER), "utf8"));

async function copied(): Promise<SqliteTrial> {
  const trial = await sqliteTrial();
  await copyFile(new URL("schema-2.db", FOLDER), trial.file);
  return trial;
}

function idOf(name: string): TaskId {
  const task = EXPECTED.tasks[name];
  if (task === undefined) throw new Error(`The file has no task ${name}.`);
  return task.record.id;
}

function versionOf(file: string): unknown {
  const database = new DatabaseSync(file, { readOnly: true });
  const version = database.prepare("PRAGMA user_version").get()?.["user_version"];
  database.close();
  return version;
}

/** What the earlier release reads, apart from what is due. */
const { due: _due, nextWake: _nextWake, unheldWebhooks: _unheldWebhooks, ...RECORDS } = EXPECTED;

async function everything(store: Store): Promise<typeof RECORDS> {
  const tasks: Record<string, Expected["tasks"][string]> = {};
  for (const [name, { record }] of Object.entries(EXPECTED.tasks)) {
    const { id } = record;
    const found = await store.get(id, { artifacts: true });
    if (found === undefined) throw new Error(`The task ${name} is gone.`);
    tasks[name] = {
      record: found,
      log: await store.log(id, 0, 1e9),
      inbox: await store.inbox(id),
      steps: await store.steps(id),
      webhooks: await store.webhooks(id),
    };
  }
  const lists = [];
  for (const { query } of EXPECTED.lists) {
    const page = await store.list({ ...query, limit: 50, artifacts: false, history: 0 });
    lists.push({ query, total: page.total, ids: page.tasks.map(({ id }) => id) });
  }
  const messages = [];
  for (const { scope, messageId } of EXPECTED.messages) {
    const found = await store.findByMessage(scope, messageId);
    messages.push({ scope, messageId, ...(found !== undefined && { found }) });
  }
  return {
    tasks,
    lists,
    messages,
    failedWebhooks: await store.failedWebhooks({ limit: 100 }),
  };
}

describe("a file of schema 2, whose process was killed", () => {
  test("has every record after the migration that the earlier release reads from it, and keeps it when opened again", async () => {
    await using trial = await copied();
    expect(versionOf(trial.file)).toBe(2);
    const store = await trial.open({ now: () => WRITTEN_AT });
    expect(await everything(store)).toEqual(RECORDS);
    await store.close();
    expect(versionOf(trial.file)).toBe(5);
    expect(await everything(await trial.open({ now: () => WRITTEN_AT }))).toEqual(RECORDS);
  });

  test("gives a node the tasks and webhooks that were due in the earlier release", async () => {
    await using trial = await copied();
    const store = await trial.open({ now: () => WRITTEN_AT });
    await store.heartbeat("node", 60_000);
    const agents = Object.values(EXPECTED.tasks).map(({ record }) => record.scope.agent);
    const due = await store.claimDue({ node: "node", agents, limit: 100 });
    expect(due.tasks.map(({ id }) => id)).toEqual(EXPECTED.due);
    expect(due.nextWake).toBe(EXPECTED.nextWake);
    const keysOf = (webhooks: readonly { readonly task: string; readonly id: string }[]): string[] =>
      webhooks.map(({ task, id }) => `${task}/${id}`);
    const claimed = await store.claimWebhooks({ node: "node", agents, limit: 100 });
    expect(keysOf(claimed.map(({ webhook }) => webhook))).toEqual(keysOf(EXPECTED.unheldWebhooks));
  });

  test("is listed for operators by agent, owner, tenant and context", async () => {
    await using trial = await copied();
    const store = await trial.open();
    const listed = async (query: object): Promise<string[]> =>
      (await store.listAll({ ...query, limit: 50 })).tasks.map(({ id }) => id).sort();
    const matching = (matches: (record: TaskRecord) => boolean): string[] =>
      Object.values(EXPECTED.tasks)
        .filter(({ record }) => matches(record))
        .map(({ record }) => record.id)
        .sort();
    expect(await listed({})).toEqual(matching(() => true));
    expect(await listed({ agent: "worker" })).toEqual(matching(({ scope }) => scope.agent === "worker"));
    expect(await listed({ tenant: "acme" })).toEqual(matching(({ scope }) => scope.tenant === "acme"));
    expect(await listed({ owner: "ada", state: "completed" })).toEqual(
      matching(({ scope, head }) => scope.owner === "ada" && head.state === "completed"),
    );
    expect(await listed({ contextId: "talk" })).toEqual(matching(({ contextId }) => contextId === "talk"));
    expect(matching(({ contextId }) => contextId === "talk")).toHaveLength(4);
  });

  test("continues in an engine: running, waiting and sleeping tasks end, and webhooks are notified", async () => {
    await using trial = await copied();
    const clock = new FakeClock(WAKE_AT - 10_000);
    const store = await trial.open({ now: () => clock.now() });
    const executed: string[] = [];
    const agents = [
      scripted(
        async (task) => {
          const out = task.artifact("out");
          await out.write("before ");
          const made = await task.step("first", () => {
            executed.push(`first for ${task.text}`);
            return "again";
          });
          await out.write(`after ${made}`);
          return task.text;
        },
        { id: "worker", name: "Worker" },
      ),
      scripted(
        async (task) => {
          const made = await task.step("prepare", () => {
            executed.push("prepare");
            return "again";
          });
          return `${made} ${await task.ask("Name?")}`;
        },
        { id: "asker", name: "Asker" },
      ),
      scripted(
        async (task) => {
          await task.sleep(3_600_000);
          return "woke up";
        },
        { id: "sleeper", name: "Sleeper" },
      ),
      scripted(async (task) => task.text, { id: "echo", name: "Echo" }),
    ];
    const harness = new EngineHarness({ store, clock, bus: createMemoryBus(), harnesses: [] }, { agents });
    await harness.engine.start();
    await using push = new PushTrial(harness, new Map(), { answer: () => 200 });
    await push.start();
    const ada = { owner: "ada" };
    const bob = { owner: "bob", tenant: "acme" };

    await harness.untilState(idOf("running2"), "completed", { agent: "worker", ...bob });
    const running2 = await harness.get(idOf("running2"), { agent: "worker", ...bob });
    expect(textOf(running2, "out")).toBe("before after one");
    await harness.untilState(idOf("running"), "completed", { agent: "worker", ...ada });
    expect(endings(await harness.log(idOf("running")))).toBe(1);
    expect(await harness.shared.inbox(idOf("running"))).toEqual([]);

    for (const [name, who] of [
      ["asking", ada],
      ["asking2", bob],
    ] as const) {
      const options = { agent: "asker", ...who };
      await harness.start({ taskId: idOf(name), parts: [{ text: "Grace" }] }, options);
      await harness.untilState(idOf(name), "completed", options);
      expect(textOf(await harness.get(idOf(name), options))).toBe("prepared Grace");
    }
    // Stored steps are replayed. Only the next turn, for the message that waited in the inbox, executes its step.
    expect(executed).toEqual(["first for waits"]);

    expect((await harness.get(idOf("sleeping"), { agent: "sleeper" })).status.state).toBe("working");
    // A claim is made by the writer thread, in real time: the clock must go on until a poll has seen the wake time.
    await harness.until(async () => {
      await harness.advance(1000);
      return (await harness.get(idOf("sleeping"), { agent: "sleeper" })).status.state === "completed";
    }, "the sleeping task to complete");
    expect(textOf(await harness.get(idOf("sleeping"), { agent: "sleeper" }))).toBe("woke up");

    const postedTo = (path: string): string[] =>
      push.posts.filter(({ url }) => url === `https://hooks.example/${path}`).map(({ body }) => body);
    await harness.until(() => postedTo("pending").at(-1) === "status:completed", "the pending notifications");
    expect(postedTo("pending")).toEqual(["status:working", "chunk:echo notify", "status:completed"]);
    await harness.until(() => postedTo("running").at(-1) === "status:completed", "the end of the running task");
    expect(postedTo("suspended")).toEqual([]);
    const [suspended] = await harness.shared.webhooks(idOf("suspended"));
    await push.push.deadLetters.redeliver({ taskId: idOf("suspended"), configId: suspended?.id ?? "" });
    await harness.until(() => postedTo("suspended").at(-1) === "status:completed", "the revived webhook");
  });

  test("stays as it was if the migration fails, and is migrated by the next attempt", async () => {
    await using trial = await copied();
    const database = new DatabaseSync(trial.file);
    // The last statements of the migration fail, after the tasks were copied.
    database.exec("CREATE TABLE context_value (key TEXT)");
    database.close();
    await expect(trial.open()).rejects.toMatchObject({ code: "unusable", message: /context_value already exists/ });
    expect(versionOf(trial.file)).toBe(2);
    const again = new DatabaseSync(trial.file);
    expect(again.prepare("SELECT count(*) AS n FROM task INDEXED BY task_by_scope").get()).toEqual({ n: 10 });
    again.exec("DROP TABLE context_value");
    again.close();
    expect(await everything(await trial.open({ now: () => WRITTEN_AT }))).toEqual(RECORDS);
  });
});
