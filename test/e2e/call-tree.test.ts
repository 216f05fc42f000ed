import { once } from "node:events";
import { createServer } from "node:net";
import * as sdk from "a2a-sdk-v1";
import { ClientFactory } from "a2a-sdk-v1/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { isTerminal } from "../../src/protocol/state.ts";
import { type ForeignServer, serveForeign } from "../calls/foreign-server.ts";
import { sampled } from "../fixtures/budget.ts";
import { type Serving, until, Workbench } from "./workbench.ts";

let bench: Workbench;
beforeEach(() => {
  bench = new Workbench();
});
afterEach(() => bench.close());

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

interface TreeProcess {
  readonly levels: readonly number[];
  readonly children: Readonly<Record<string, readonly string[]>>;
  readonly waits?: boolean;
  readonly port?: number;
  readonly store: string;
}

const serveTree = (tree: TreeProcess): Promise<Serving> =>
  bench.serveScript("call-tree.ts", { env: { TREE: JSON.stringify(tree), LOG_LEVEL: "error" } });

/** The states of all tasks of an agent. */
async function statesOf(url: string, id: string): Promise<readonly string[]> {
  const states: string[] = [];
  for await (const task of (await connect(`${url}/agents/${id}`)).tasks({ pageSize: 100 }))
    states.push(task.status.state);
  return states;
}

const repeated = (times: number, target: string): readonly string[] => Array.from({ length: times }, () => target);

/** The official server in the middle: it calls agents with the official client, and cancels them when its own task is canceled. */
async function serveBetween(fanOut: number, next: () => string): Promise<ForeignServer> {
  const children = new Map<string, { readonly url: string; readonly id: string }[]>();
  const client = await new ClientFactory().createFromUrl(`${next()}/`);
  return serveForeign(
    async ({ taskId, text }) => {
      const mine: { url: string; id: string }[] = [];
      children.set(taskId, mine);
      for (let index = 0; index < fanOut; index++) {
        const sent = await client.sendMessage(
          sdk.SendMessageRequest.fromJSON({
            message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: `${text}/${index}` }] },
            configuration: { returnImmediately: true },
          }),
        );
        if ("id" in sent && typeof sent.id === "string") mine.push({ url: next(), id: sent.id });
      }
      await new Promise(() => {});
    },
    async (taskId) => {
      await Promise.all(
        (children.get(taskId) ?? []).map(({ id }) =>
          client.cancelTask(sdk.CancelTaskRequest.fromJSON({ id })).catch(() => undefined),
        ),
      );
    },
  );
}

describe("a tree of calls over two processes", () => {
  const CASES: readonly (readonly [string, boolean])[] = [
    ["", false],
    [", also if the process of the root is killed as soon as it has answered the cancel", true],
  ];

  it.each(CASES.slice(sampled(1, 0)))(
    "is canceled as a whole through an official server in between%s",
    async (_name, isKilled) => {
      const fanOut = sampled(2, 3);
      const last = sampled(3, 5);
      const levels = Array.from({ length: last + 1 }, (_, level) => level);
      const down = levels.filter((level) => level >= 3);
      const below = await serveTree({
        levels: down,
        children: Object.fromEntries(
          down.filter((level) => level < last).map((level) => [level, repeated(fanOut, `n${level + 1}`)]),
        ),
        ...{ waits: true, store: "sqlite:below.db" },
      });
      await using between = await serveBetween(fanOut, () => `${below.url}/agents/n3`);
      const upper: TreeProcess = {
        levels: [0, 1],
        children: { 0: repeated(fanOut, "n1"), 1: repeated(fanOut, between.url) },
        ...{ port: await freePort(), store: "sqlite:above.db" },
      };
      const above = await serveTree(upper);
      const root = await connect(`${above.url}/agents/n0`);
      const sent = await root.send("r", { wait: false });
      const id = sent.kind === "task" ? sent.task.id : "";
      const leaves = fanOut ** last;
      await until(
        async () => (await statesOf(below.url, `n${last}`)).filter((state) => state === "working").length === leaves,
      );
      const began = performance.now();
      await root.task(id).cancel();
      if (isKilled) {
        await above.kill("SIGKILL");
        await serveTree(upper);
      }
      const all = async (): Promise<readonly string[]> => {
        const ours = await Promise.all([
          ...[0, 1].map((level) => statesOf(above.url, `n${level}`)),
          ...down.map((level) => statesOf(below.url, `n${level}`)),
        ]);
        return [...ours.flat(), ...between.states()];
      };
      let states: readonly string[] = [];
      await until(async () => {
        states = await all();
        return states.every((state) => state === "canceled");
      });
      const total = levels.reduce((sum, level) => sum + fanOut ** level, 0);
      expect(states).toHaveLength(total);
      process.stdout.write(`${total} tasks were canceled within ${Math.round(performance.now() - began)} ms\n`);
    },
    180_000,
  );

  it("is canceled in a process that was away, once it is back", async () => {
    const port = await freePort();
    const lower: TreeProcess = {
      levels: [1, 2],
      children: { 1: repeated(3, "n2") },
      waits: true,
      port,
      store: "sqlite:below.db",
    };
    const below = await serveTree(lower);
    const above = await serveTree({
      levels: [0],
      children: { 0: repeated(3, `${below.url}/agents/n1`) },
      store: "sqlite:above.db",
    });
    const root = await connect(`${above.url}/agents/n0`);
    const sent = await root.send("r", { wait: false });
    const id = sent.kind === "task" ? sent.task.id : "";
    await until(async () => (await statesOf(below.url, "n2")).filter((state) => state === "working").length === 9);
    await below.kill("SIGKILL");
    expect((await root.task(id).cancel()).status.state).toBe("canceled");
    const again = await serveTree(lower);
    let states: readonly string[] = [];
    await until(async () => {
      states = [...(await statesOf(again.url, "n1")), ...(await statesOf(again.url, "n2"))];
      return states.every((state) => isTerminal(state as never));
    });
    expect(states).toEqual(Array(12).fill("canceled"));
  }, 120_000);
});

describe("a tree of 40 tasks whose processes are killed", () => {
  it(
    "has its result, calls no child twice and loses none",
    async () => {
      const kills = sampled(2, 300);
      await using foreign = await serveForeign(async ({ finish }) => finish("1 0"));
      const ports = [await freePort(), await freePort()];
      const urls = ports.map((port) => `http://127.0.0.1:${port}`);
      const trees: readonly TreeProcess[] = [
        {
          levels: [0, 1],
          children: { 0: repeated(3, "n1"), 1: repeated(3, `${urls[1]}/agents/n2`) },
          port: ports[0],
          store: "sqlite:above.db",
        } as TreeProcess,
        {
          levels: [2, 3],
          children: { 2: ["n3", "n3", foreign.url] },
          port: ports[1],
          store: "sqlite:below.db",
        } as TreeProcess,
      ];
      const servers = await Promise.all(trees.map(serveTree));
      let made = 0;
      let roots = 0;
      let unknown = 0;
      // A simple generator of random numbers, so that a failure can be repeated with the same sequence.
      let seed = 7;
      const random = (): number => {
        seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
        return seed / 2_147_483_648;
      };
      const reach = async <T>(work: () => Promise<T>): Promise<T> => {
        for (;;) {
          try {
            return await work();
          } catch {
            await new Promise((resolve) => setTimeout(resolve, 20));
          }
        }
      };
      // A kill comes after the tree has got further, so that kills are spread over its whole life; after 4 s in any case.
      const progress = (): number => bench.lines("leaves").length + foreign.messages();
      let before = progress();
      const untilFurther = async (): Promise<void> => {
        for (let waited = 0; waited < 4000 && progress() === before; waited += 20)
          await new Promise((resolve) => setTimeout(resolve, 20));
        before = progress();
      };
      while (made < kills) {
        roots += 1;
        const messageId = crypto.randomUUID();
        const message = { messageId: messageId as never, parts: [{ text: `r${roots}` }] };
        const id = await reach(async () => {
          const sent = await (await connect(`${urls[0]}/agents/n0`, { resend: true })).send(message, { wait: false });
          return sent.kind === "task" ? sent.task.id : "";
        });
        for (;;) {
          const task = await reach(async () => (await connect(`${urls[0]}/agents/n0`)).task(id).get());
          if (isTerminal(task.status.state)) {
            expect([task.status.state, task.status.message?.parts[0]?.text]).toEqual(["completed", undefined]);
            const text = (task.artifacts ?? []).flatMap(({ parts }) => parts.map((part) => part.text ?? "")).join("");
            const [ok = 0, lost = 0] = text.split(" ").map(Number);
            expect(ok + lost).toBe(27);
            unknown += lost;
            break;
          }
          if (made >= kills) {
            await new Promise((resolve) => setTimeout(resolve, 20));
            continue;
          }
          if (random() < 0.8) await untilFurther();
          await new Promise((resolve) => setTimeout(resolve, Math.floor(random() * 150)));
          const victim = random() < 0.5 ? 0 : 1;
          await servers[victim]?.kill("SIGKILL");
          made += 1;
          if (made % 20 === 0) process.stdout.write(`${made} kills, ${roots} trees\n`);
          const tree = trees[victim];
          if (tree !== undefined) servers[victim] = await serveTree(tree);
        }
      }
      const counts = [
        (await statesOf(urls[0] ?? "", "n0")).length,
        (await statesOf(urls[0] ?? "", "n1")).length,
        (await statesOf(urls[1] ?? "", "n2")).length,
        (await statesOf(urls[1] ?? "", "n3")).length,
      ];
      expect(counts).toEqual([roots, 3 * roots, 9 * roots, 18 * roots]);
      // The official server got each message at most once.
      expect([...foreign.counts().values()].every((count) => count === 1)).toBe(true);
      expect(foreign.messages()).toBeLessThanOrEqual(9 * roots);
      expect(foreign.messages()).toBeGreaterThanOrEqual(9 * roots - unknown);
      process.stdout.write(`${made} kills, ${roots} trees, ${unknown} unknown outcomes\n`);
    },
    sampled(300_000, 7_200_000),
  );
});
