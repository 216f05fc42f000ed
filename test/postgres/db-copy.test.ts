import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agent, createServer, type Server } from "../../src/index.ts";
import { loadPostgresDriver, type PostgresClient } from "../../src/internal/postgres/driver.ts";
import { Terminal } from "../cli/terminal.ts";
import { must, sendParams, type Task } from "../e2e/rpc.ts";
import { until } from "../e2e/workbench.ts";
import { sampled } from "../fixtures/budget.ts";
import { createDatabase, type OwnDatabase } from "../fixtures/own-database.ts";
import { whyNoPostgres } from "../fixtures/postgres-server.ts";
import { type Received, Receiver } from "../push/receiver.ts";

const reason = await whyNoPostgres();
const TASKS = sampled(40, 10_000);
/** Sends under way at a time. */
const AT_ONCE = 16;

let postgres: OwnDatabase;
let admin: PostgresClient;
let folder: string;
const terminal = new Terminal();

/** How often each step ran, by the name of its task. */
const steps = new Map<string, number>();

const worker = agent({
  name: "Worker",
  description: "Does what the message says.",
  version: "1",
  async run(task) {
    const [kind = "", name = ""] = task.text.split(" ");
    await task.step("begin", async () => {
      steps.set(name, (steps.get(name) ?? 0) + 1);
    });
    if (kind === "remember") await task.context.set("name", name);
    if (kind === "recall") return `remembered ${JSON.stringify(await task.context.get("name"))}`;
    await task.artifact("notes").write(`began ${name}`);
    if (kind === "ask") return `answered ${await task.ask("Which one?")}`;
    if (kind === "sleep") await task.sleep(3000);
    return `done ${name}`;
  },
});

async function serve(store: string): Promise<{ server: Server; url: string }> {
  const server = createServer(worker, {
    ...{ store, port: 0, durability: "process", idempotency: { window: 3_600_000 }, drainTimeout: 0 },
    outgoing: { http: true, allow: ["loopback"] },
    logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  });
  return { server, url: (await server.listen()).url };
}

function send(url: string, text: string, extra: Parameters<typeof sendParams>[1] = {}): Promise<Task> {
  return must<{ task: Task }>(url, "SendMessage", sendParams(text, extra)).then(({ task }) => task);
}

/** Runs `work` for each number, some at a time. */
async function each(numbers: readonly number[], work: (n: number) => Promise<void>): Promise<void> {
  const rest = numbers.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const n of rest) await work(n);
    }),
  );
}

const numbers = Array.from({ length: TASKS }, (_, n) => n);
const KINDS = ["done", "ask", "sleep", "webhook"] as const;
const ofKind = (kind: (typeof KINDS)[number]): readonly number[] =>
  numbers.filter((n) => KINDS[n % KINDS.length] === kind);

const db = (...argv: readonly string[]) => terminal.run(["db", ...argv], { env: { DATABASE_URL: postgres.url } });
const address = (schema: string): string => `${postgres.url}?schema=${schema}`;

describe.skipIf(reason !== undefined)(
  `palaver db with PostgreSQL${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  () => {
    beforeAll(async () => {
      postgres = await createDatabase();
      admin = (await loadPostgresDriver()).createClient({ url: postgres.url, name: "administrator", queryTimeout: 0 });
      await admin.connect();
      folder = mkdtempSync(join(tmpdir(), "palaver-db-"));
      terminal.open();
    });
    afterAll(async () => {
      terminal.close();
      await admin.end();
      rmSync(folder, { recursive: true, force: true });
    });

    const title = `copy: of ${TASKS} tasks, those that wait, sleep or have pending webhooks go on where they were`;
    test(title, { timeout: sampled(120_000, 900_000) }, async () => {
      let isReceiving = false;
      const deliveries = new Map<string, Received[]>();
      const receiver = await Receiver.open((received) => {
        if (!isReceiving) return "hang";
        deliveries.set(received.path, [...(deliveries.get(received.path) ?? []), received]);
        return undefined;
      });
      const file = `sqlite:${join(folder, "tasks.db")}`;
      const before = await serve(file);
      const tasks = new Map<number, Task>();
      const first = sendParams("remember all", { message: { contextId: "shared", messageId: "only-once" } });
      const remembered = (await must<{ task: Task }>(before.url, "SendMessage", first)).task;
      await each(numbers, async (n) => {
        const kind = KINDS[n % KINDS.length] ?? "done";
        const taskPushNotificationConfig = { url: `${receiver.url}/${n}`, token: `token-${n}` };
        const configuration = {
          returnImmediately: kind === "sleep",
          ...(kind === "webhook" && { taskPushNotificationConfig }),
        };
        tasks.set(n, await send(before.url, `${kind} ${n}`, { configuration }));
      });
      // All of them have begun to sleep.
      await each(ofKind("sleep"), async (n) => {
        await until(async () => {
          const { artifacts = [] } = await must<Task>(before.url, "GetTask", { id: tasks.get(n)?.id });
          return artifacts.length > 0;
        });
      });
      const keysBefore: unknown = await (await fetch(`${before.url}/.well-known/jwks.json`)).json();

      // The server owns the file: the copy is refused, and the status comes from the operator API.
      const refused = await db("copy", file, address("copied"));
      expect(refused).toMatchObject({ code: 1, stdout: "" });
      expect(refused.stderr).toContain(`is in use by this process (pid ${process.pid})`);
      expect(refused.stderr).toContain("A copy needs a stopped server");
      const running = JSON.parse((await db("status", file, "--json")).stdout);
      expect(running).toMatchObject({ schema: 5, newestSchema: 5, tasks: { "input-required": ofKind("ask").length } });
      expect(running.nodes).toHaveLength(1);
      await before.server.close();

      const stopped = await db("status", file);
      expect(stopped.stdout).toMatch(/^Schema +5$/m);
      expect(stopped.stdout).toContain(`${ofKind("ask").length} input-required`);

      const copied = await db("copy", file, address("copied"), "--json");
      expect(copied).toMatchObject({ code: 0 });
      const { records } = JSON.parse(copied.stdout);
      expect(records.task.count).toBe(TASKS + 1);
      expect(records.webhook.count).toBe(ofKind("webhook").length);
      expect(records.value.count).toBe(1);
      expect(records.step.count).toBeGreaterThan(0);
      expect(records.journal.count).toBeGreaterThan(0);

      // There and back again: the same digests of every kind.
      const back = `sqlite:${join(folder, "back.db")}`;
      const returned = await db("copy", address("copied"), back, "--json");
      expect(returned).toMatchObject({ code: 0 });
      expect(JSON.parse(returned.stdout).records).toEqual(records);
      expect(existsSync(join(folder, "back.db.key"))).toBe(true);

      isReceiving = true;
      const after = await serve(address("copied"));
      try {
        expect(await (await fetch(`${after.url}/.well-known/jwks.json`)).json()).toEqual(keysBefore);
        await each(numbers, async (n) => {
          const task = tasks.get(n);
          const message = { taskId: task?.id, contextId: task?.contextId };
          const kind = KINDS[n % KINDS.length];
          const ended = kind === "ask" ? await send(after.url, `this ${n}`, { message }) : task;
          let now = await must<Task>(after.url, "GetTask", { id: task?.id });
          await until(async () => {
            now = await must<Task>(after.url, "GetTask", { id: task?.id });
            return now.status.state === "TASK_STATE_COMPLETED";
          });
          const texts = now.artifacts?.flatMap(({ parts }) => parts.map(({ text }) => text));
          expect(texts).toEqual([`began ${n}`, kind === "ask" ? `answered this ${n}` : `done ${n}`]);
          expect(ended?.id).toBe(now.id);
        });
        // No step ran again, whatever the task waited for.
        expect([...steps.values()].every((times) => times === 1)).toBe(true);
        // An idempotent message is known, and a value of the context as well.
        const again = (await must<{ task: Task }>(after.url, "SendMessage", first)).task;
        expect(again.id).toBe(remembered.id);
        const recalled = await send(after.url, "recall it", { message: { contextId: "shared" } });
        expect(recalled.artifacts?.[0]?.parts[0]?.text).toBe('remembered "all"');
        // Each webhook gets everything, with its own token, which was stored encrypted.
        const deliveriesOf = (n: number) => deliveries.get(`/${n}`) ?? [];
        const isNotified = (n: number): boolean =>
          deliveriesOf(n).some(({ body }) => body.includes("TASK_STATE_COMPLETED"));
        await until(() => ofKind("webhook").every(isNotified));
        for (const n of ofKind("webhook")) {
          for (const { headers } of deliveriesOf(n)) expect(headers["x-a2a-notification-token"]).toBe(`token-${n}`);
        }
      } finally {
        await after.server.close();
        await receiver.close();
      }
    });

    test("copy: refuses a target that was used, and says how to go on", async () => {
      const file = `sqlite:${join(folder, "small.db")}`;
      const { server, url } = await serve(file);
      await send(url, "done 1");
      await server.close();
      const { server: node } = await serve(address("used"));
      await node.close();
      const refused = await db("copy", file, address("used"));
      expect(refused).toMatchObject({ code: 1, stdout: "" });
      expect(refused.stderr).toContain("The schema used is not empty (secret): a server has used it.");
      expect(refused.stderr).toContain("DROP SCHEMA used CASCADE");
      expect((await db("copy", file, file)).stderr).toContain("Both stores are the same.");
      writeFileSync(join(folder, "there.db"), "");
      expect((await db("copy", address("used"), `sqlite:${join(folder, "there.db")}`)).stderr).toContain(
        "there.db exists already",
      );
      expect((await db("copy", "sqlite:missing.db", address("none"))).stderr).toContain("There is no file");
      expect((await db("copy", file, "mysql://x")).code).toBe(2);
    });

    test("copy: a failure in the middle leaves the target empty, and a second try succeeds", async () => {
      const file = `sqlite:${join(folder, "small.db")}`;
      await db("migrate", address("broken"));
      await admin.query("ALTER TABLE broken.message ADD CONSTRAINT nothing CHECK (false)");
      const failed = await db("copy", file, address("broken"));
      expect(failed.code).toBe(1);
      expect(failed.stderr).toContain("Nothing was copied.");
      expect((await admin.query("SELECT count(*) AS n FROM broken.task")).rows[0]?.["n"]).toBe(0);
      await admin.query("ALTER TABLE broken.message DROP CONSTRAINT nothing");
      expect((await db("copy", file, address("broken"))).code).toBe(0);
    });

    test("copy: a copy that differs from its source is not kept", async () => {
      const file = `sqlite:${join(folder, "small.db")}`;
      await db("migrate", address("altered"));
      // Changes what is written, as a defect of the copy would.
      await admin.query(`
        CREATE FUNCTION altered.change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.after := 77; RETURN NEW; END $$;
        CREATE TRIGGER change BEFORE INSERT ON altered.message FOR EACH ROW EXECUTE FUNCTION altered.change();`);
      const failed = await db("copy", file, address("altered"));
      expect(failed.code).toBe(1);
      expect(failed.stderr).toContain("The copy differs from its source (message: 1 records read, 1 stored)");
      expect((await admin.query("SELECT count(*) AS n FROM altered.task")).rows[0]?.["n"]).toBe(0);
    });

    test("copy: shows its progress on a terminal", async () => {
      const file = `sqlite:${join(folder, "small.db")}`;
      const { stderr } = await terminal.run(["db", "copy", file, address("shown")], { isTTY: true });
      expect(stderr).toContain("the digests are equal");
    });

    test("copy: a file with an older schema must be migrated first", async () => {
      const old = join(folder, "old.db");
      const database = new DatabaseSync(old);
      database.exec("PRAGMA user_version = 0");
      database.close();
      const refused = await db("copy", `sqlite:${old}`, address("older"));
      expect(refused.stderr).toContain("Migrate it first: palaver db migrate sqlite:");
      expect((await db("migrate", `sqlite:${old}`)).stdout).toContain("was migrated from schema 0 to 5");
      expect((await db("copy", `sqlite:${old}`, address("older"))).code).toBe(0);
    });

    test("migrate creates the tables; status shows the schema before and after, nodes with leases, and sizes", async () => {
      const none = await db("status", address("fresh"));
      expect(none.stdout).toMatch(/^Schema +none: the tables are created by palaver db migrate/m);
      expect((await db("migrate", address("fresh"))).stdout).toMatch(/was migrated from schema 0 to 3\.$/m);
      expect((await db("migrate", address("fresh"))).stdout).toContain("has schema 3 already");
      const { server, url } = await serve(address("fresh"));
      try {
        await send(url, "ask 1");
        const { stdout } = await db("status", address("fresh"));
        expect(stdout).toContain(`PostgreSQL at 127.0.0.1:${postgres.port}/${postgres.name}, schema fresh`);
        expect(stdout).toMatch(/^Tasks +1 input-required$/m);
        expect(stdout).toMatch(/^NODE +LEASE +TASKS\n[0-9a-f-]{36} +for \d\.\d s +\d$/m);
        expect(stdout).toMatch(/^task +\d+\.\d kB/m);
        expect(stdout).not.toContain("postgres@");
        const living = await db("copy", address("fresh"), `sqlite:${join(folder, "living.db")}`);
        expect(living.stderr).toMatch(/The node [0-9a-f-]{36} uses the schema fresh. Stop all nodes first/);
      } finally {
        await server.close();
      }
    });
  },
);
