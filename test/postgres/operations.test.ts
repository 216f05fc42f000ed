import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Agent, agent, createServer, type Server, type ServerOptions } from "../../src/index.ts";
import { Terminal } from "../cli/terminal.ts";
import { collect, must, sendParams, type Task } from "../e2e/rpc.ts";
import { until } from "../e2e/workbench.ts";
import { type NatsServer, startNats, whyNoNats } from "../fixtures/nats-server.ts";
import { createDatabase, type OwnDatabase } from "../fixtures/own-database.ts";
import { whyNoPostgres } from "../fixtures/postgres-server.ts";

const reason = await whyNoPostgres();
const terminal = new Terminal();
const open: Server[] = [];
let postgres: OwnDatabase;

interface Node {
  readonly server: Server;
  readonly url: string;
}

/** A node on the schema of this name. */
async function join(schema: string, agents: readonly Agent[], options: ServerOptions = {}): Promise<Node> {
  const server = createServer(agents, {
    ...{ store: `${postgres.url}?schema=${schema}`, port: 0, drainTimeout: 0, signCards: true },
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    ...options,
  });
  open.push(server);
  return { server, url: (await server.listen()).url };
}

/** Waits for permission before each part. */
class Gates {
  #open = new Set<string>();
  #waiting = new Map<string, () => void>();

  open(name: string): void {
    this.#open.add(name);
    this.#waiting.get(name)?.();
  }

  async pass(name: string, signal: AbortSignal): Promise<void> {
    if (this.#open.has(name)) return;
    await new Promise<void>((resolve, reject) => {
      this.#waiting.set(name, resolve);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  }
}
const gates = new Gates();

/** An agent that writes two parts, the second after its gate was opened. Which nodes have run it is in `runs`. */
function gated(id: string, runs: string[] = [], node = ""): Agent {
  return agent({
    ...{ id, name: id, description: "Writes two parts.", version: "1" },
    async run(task) {
      runs.push(node);
      await task.artifact("a").write("first");
      await task.flush();
      await gates.pass(task.text, task.signal);
      return "second";
    },
  });
}

const send = (url: string, path: string, text: string): Promise<Task> =>
  must<{ task: Task }>(
    `${url}/agents/${path}`,
    "SendMessage",
    sendParams(text, { configuration: { returnImmediately: true } }),
  ).then(({ task }) => task);
const get = (url: string, path: string, id: string): Promise<Task> =>
  must<Task>(`${url}/agents/${path}`, "GetTask", { id });
const keys = (...argv: readonly string[]) =>
  terminal.run(["keys", ...argv], { env: { DATABASE_URL: `${postgres.url}?schema=rotated` } });
/** The signing keys as `palaver keys list` shows them. */
const signing = async (): Promise<readonly { readonly kid: string; readonly state: string }[]> =>
  JSON.parse((await keys("list", "--store", "postgres:", "--json")).stdout).signing;
const published = async (url: string): Promise<readonly string[]> => {
  const { keys: all } = (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] };
  return all.map(({ kid }) => kid);
};

describe.skipIf(reason !== undefined)(
  `nodes on one PostgreSQL${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  () => {
    beforeAll(async () => {
      postgres = await createDatabase();
      terminal.open();
    });
    afterEach(async () => {
      await Promise.all(open.splice(0).map((server) => server.close()));
    });
    afterAll(async () => {
      terminal.close();
    });

    test("may serve different agents: a task waits for a node that serves its agent, and continues there", async () => {
      const runs: string[] = [];
      const both = await join("agents", [gated("common"), gated("special", runs, "first")]);
      const common = await join("agents", [gated("common")]);
      const task = await send(both.url, "special", "special");
      await until(async () => ((await get(both.url, "special", task.id)).artifacts ?? []).length > 0);
      const missing = await fetch(`${common.url}/agents/special/.well-known/agent-card.json`);
      expect(missing.status).toBe(404);
      await both.server.close();
      // The other node serves the common agent and leaves the special task alone.
      gates.open("special");
      gates.open("common");
      const other = await send(common.url, "common", "common");
      await until(async () => (await get(common.url, "common", other.id)).status.state === "TASK_STATE_COMPLETED");
      const status = await terminal.run(["db", "status", `${postgres.url}?schema=agents`, "--json"]);
      expect(JSON.parse(status.stdout)).toMatchObject({ due: { count: 1 }, tasks: { working: 1, completed: 1 } });
      const later = await join("agents", [gated("special", runs, "second")]);
      await until(async () => (await get(later.url, "special", task.id)).status.state === "TASK_STATE_COMPLETED");
      expect(runs).toEqual(["first", "second"]);
    });

    test("sign with a key that palaver keys rotate has made, and no longer publish one that was revoked", async () => {
      expect((await keys("rotate", "--store", "postgres:")).stderr).toContain(
        "The schema rotated has no tables. Create them: palaver db migrate",
      );
      const before = await join("rotated", [gated("one")]);
      const [first = ""] = await published(before.url);
      const second = (await keys("rotate", "--store", "postgres:")).stdout.trim();
      expect(second).toMatch(/^[\w-]{43}$/);
      const listed = await signing();
      expect(listed.map(({ kid, state }) => [kid, state])).toEqual([
        [second, "current"],
        [first, "previous"],
      ]);
      expect(JSON.stringify(listed)).not.toContain('"d"');
      const after = await join("rotated", [gated("one")]);
      expect(await published(after.url)).toEqual([second, first]);
      // A node that runs notices it, too.
      await until(async () => (await published(before.url)).length === 2);
      expect((await keys("revoke", first, "--store", "postgres:")).code).toBe(0);
      await until(async () => (await published(after.url)).length === 1);
      expect(await published(after.url)).toEqual([second]);
      const made = await Promise.all(Array.from({ length: 4 }, () => keys("rotate", "--store", "postgres:")));
      const kids = made.map(({ stdout }) => stdout.trim());
      const all = await signing();
      for (const kid of kids) expect(all.map((key) => key.kid)).toContain(kid);
    });

    test("a bus needs a store that several nodes share, and an address", async () => {
      await expect(join("x", [gated("one")], { store: "memory:", bus: "nats://127.0.0.1" })).rejects.toThrow(
        "it needs --store postgres://",
      );
      await expect(join("x", [gated("one")], { bus: "redis://127.0.0.1" })).rejects.toThrow(
        'The bus must be nats://…, not "redis://127.0.0.1"',
      );
    });

    const noNats = whyNoNats();
    test.skipIf(noNats !== undefined)(
      `stream each other's tasks by hints of NATS, and without it${noNats === undefined ? "" : ` (skipped: ${noNats})`}`,
      async () => {
        const nats: NatsServer = await startNats();
        try {
          const options = { bus: nats.url };
          const [a, b] = [await join("hinted", [gated("one")], options), await join("hinted", [gated("one")], options)];
          for (const name of ["with the server", "after its crash"]) {
            const task = await send(a.url, "one", name);
            // From the first event on, which is allowed also if the task ends before the request arrives.
            const request = { method: "SubscribeToTask", params: { id: task.id }, after: 0 };
            const stream = collect(`${b.url}/agents/one`, request);
            await until(async () => ((await get(b.url, "one", task.id)).artifacts ?? []).length > 0);
            gates.open(name);
            const frames = await stream;
            expect(JSON.stringify(frames)).toContain("second");
            expect(frames.at(-1)?.result.statusUpdate?.status.state).toBe("TASK_STATE_COMPLETED");
            await nats.crash();
          }
        } finally {
          await Promise.all(open.splice(0).map((server) => server.close()));
          await nats.stop();
        }
      },
    );
  },
);
