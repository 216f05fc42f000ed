import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { IS_FULL } from "../fixtures/budget.ts";
import type { Measured } from "../fixtures/server.ts";
import { chunksOf, type LargeTask, seedLargeTasks, textHash } from "./large-tasks.ts";
import { fixture, type Serving, until, Workbench } from "./workbench.ts";

/** In full: 100 tasks of 8 MB and one of 64 MB, which takes minutes and 2 GB of disk. */
const MB = 1024 * 1024;
const SIZES = IS_FULL ? { tasks: 100, bytes: 8 * MB, large: 64 * MB } : { tasks: 3, bytes: 1.5 * MB, large: 6 * MB };
/** Has the format of the server's task ids. */
const idOf = (n: number): string => `01990000-0000-7000-8000-${String(n).padStart(12, "0")}`;
const LARGE: LargeTask = { id: idOf(1001), bytes: SIZES.large };
const CHATTY: LargeTask = { id: idOf(1000), bytes: 1, messages: 400 };
const TASKS: readonly LargeTask[] = [
  ...Array.from({ length: SIZES.tasks }, (_, n) => ({ id: idOf(n), bytes: SIZES.bytes })),
  CHATTY,
  LARGE,
];
const HASHES = new Map(TASKS.map((task) => [task.id, textHash(chunksOf(task))]));
/**
 * Limits for the server's memory and for the delay of other requests. On a busy machine, other processes cause part of
 * the delay.
 */
const MAX_RSS = 400 * MB;
/** Two of the equal tasks exceed a page. */
const PAGE = IS_FULL ? 4 * MB : 2 * MB;
const READERS = IS_FULL ? 8 : 4;

let bench: Workbench;
let server: Serving;
beforeAll(async () => {
  bench = new Workbench();
  await seedLargeTasks(bench.path("tasks.db"), "firehose", TASKS);
  const options = { limits: { maxPageBytes: PAGE } };
  server = await bench.serveScript("server.ts", {
    env: { SETUP: JSON.stringify({ modules: [fixture("firehose.ts")], options }) },
    // On a machine with much memory V8 lets garbage grow; with this limit the figures are about what the server holds.
    nodeFlags: ["--expose-gc", "--max-old-space-size=256"],
  });
  await measure();
}, 600_000);
afterAll(() => bench.close());

const measure = async () => (await server.ask({ kind: "measure" })) as Measured;

/** Runs `work` and checks how much memory and time the server used. */
async function measured(what: string, work: () => Promise<void>): Promise<void> {
  await measure();
  await work();
  const { peakRss, longestDelayMs, longestHoldMs } = await measure();
  const delay = `event-loop delay ${longestDelayMs.toFixed(0)} ms, of which own work ${longestHoldMs.toFixed(0)} ms`;
  process.stdout.write(`  ${what}: peak RSS ${(peakRss / MB).toFixed(0)} MB, longest ${delay}\n`);
  expect(peakRss).toBeLessThan(MAX_RSS);
}

interface WireTask {
  readonly id: string;
  readonly artifacts?: readonly { readonly parts: readonly { readonly text: string }[] }[];
  readonly history?: readonly unknown[];
}

interface Page {
  readonly tasks: readonly WireTask[];
  readonly total: number | undefined;
  readonly next: string | undefined;
}

const JSON_1_0 = { "content-type": "application/json", "a2a-version": "1.0" };

async function rpc<Result>(method: string, params: object, version = "1.0"): Promise<Result> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "content-type": "application/json", "a2a-version": version };
  const response = await fetch(server.url, { method: "POST", headers, body });
  const answer = (await response.json()) as { result?: Result; error?: unknown };
  expect(answer.error).toBeUndefined();
  return answer.result as Result;
}

interface ListAnswer {
  readonly tasks: readonly WireTask[];
  readonly totalSize: number;
  readonly nextPageToken: string;
}

type List = (options: { readonly artifacts: boolean; readonly token?: string | undefined }) => Promise<Page>;

const pageOf = ({ tasks, totalSize, nextPageToken }: ListAnswer): Page => ({
  tasks,
  total: totalSize,
  next: nextPageToken || undefined,
});

const LISTS: Readonly<Record<string, List>> = {
  "JSON-RPC 1.0": async ({ artifacts, token }) =>
    pageOf(await rpc("ListTasks", { pageSize: 100, includeArtifacts: artifacts, historyLength: 1, pageToken: token })),
  "REST 1.0": async ({ artifacts, token }) => {
    const query = new URLSearchParams({ pageSize: "100", includeArtifacts: String(artifacts), historyLength: "1" });
    if (token !== undefined) query.set("pageToken", token);
    const response = await fetch(`${server.url}/tasks?${query.toString()}`, { headers: JSON_1_0 });
    return pageOf((await response.json()) as ListAnswer);
  },
  "REST 0.3": async ({ token }) => {
    const query = token ?? "?historyLength=1";
    const response = await fetch(`${server.url}/v1/tasks${query}`);
    const link = /^<([^>]*)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1];
    return { tasks: (await response.json()) as WireTask[], total: undefined, next: link };
  },
};

const hashOf = ({ artifacts = [] }: WireTask): string =>
  textHash(artifacts.flatMap(({ parts }) => parts.map(({ text }) => text)));

describe.each(Object.entries(LISTS))("a list by %s", (name, list) => {
  it("contains every task once and complete, in pages limited by bytes", async () => {
    await measured(`all pages by ${name}`, async () => {
      const seen: string[] = [];
      let token: string | undefined;
      do {
        const page = await list({ artifacts: true, token });
        expect(page.tasks.length).toBeGreaterThan(0);
        // Two of these tasks exceed a page.
        expect(page.tasks.filter(({ id }) => id < CHATTY.id).length).toBeLessThanOrEqual(1);
        if (page.total !== undefined) expect(page.total).toBe(TASKS.length);
        for (const task of page.tasks) {
          expect(hashOf(task)).toBe(HASHES.get(task.id));
          expect(task.history).toHaveLength(1);
          seen.push(task.id);
        }
        token = page.next;
      } while (token !== undefined);
      expect(seen).toEqual(TASKS.map(({ id }) => id).toReversed());
    });
  }, 600_000);

  it("can be read by several callers at the same time", async () => {
    await measured(`${READERS} pages at once by ${name}`, async () => {
      const pages = await Promise.all(Array.from({ length: READERS }, () => list({ artifacts: true })));
      for (const { tasks } of pages) expect(tasks.map(hashOf)).toEqual(tasks.map(({ id }) => HASHES.get(id)));
    });
  }, 600_000);
});

it("a list without artifacts fits in one page", async () => {
  const page = await LISTS["JSON-RPC 1.0"]?.({ artifacts: false });
  expect(page?.tasks).toHaveLength(Math.min(100, TASKS.length));
});

describe("a large task", () => {
  it.each([
    ["1.0", "GetTask"],
    ["0.3", "tasks/get"],
  ])(
    "is complete in JSON-RPC %s",
    async (version, method) => {
      await measured(`get of ${SIZES.large / MB} MB in ${version}`, async () => {
        expect(hashOf(await rpc<WireTask>(method, { id: LARGE.id }, version))).toBe(HASHES.get(LARGE.id));
      });
    },
    120_000,
  );

  it("is complete in REST 1.0 and 0.3", async () => {
    for (const path of [`/tasks/${LARGE.id}`, `/v1/tasks/${LARGE.id}`]) {
      const headers = path.startsWith("/v1") ? {} : { "a2a-version": "1.0" };
      const response = await fetch(server.url + path, { headers });
      expect(hashOf((await response.json()) as WireTask)).toBe(HASHES.get(LARGE.id));
    }
  }, 120_000);

  it("is complete as the first frame of a stream", async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tasks/resubscribe", params: { id: LARGE.id } });
    const headers = { "content-type": "application/json", accept: "text/event-stream" };
    const text = await (await fetch(server.url, { method: "POST", headers, body })).text();
    const data = /^data: (.*)$/m.exec(text)?.[1] ?? "";
    expect(hashOf((JSON.parse(data) as { result: WireTask }).result)).toBe(HASHES.get(LARGE.id));
  }, 120_000);

  it("with a long history is complete, and read in parts", async () => {
    const task = await rpc<{ history: { messageId: string }[] }>("GetTask", { id: CHATTY.id });
    expect(task.history.map(({ messageId }) => messageId)).toEqual(
      Array.from({ length: CHATTY.messages ?? 0 }, (_, n) => `${CHATTY.id}-${n}`),
    );
    const last = await rpc<{ history: { messageId: string }[] }>("GetTask", { id: CHATTY.id, historyLength: 300 });
    expect(last.history.map(({ messageId }) => messageId)).toEqual(task.history.slice(-300).map((m) => m.messageId));
  });

  it("uses little memory for callers that never read the response", async () => {
    const calls = [
      { method: "GetTask", params: { id: LARGE.id } },
      { method: "ListTasks", params: { includeArtifacts: true, pageSize: 100 } },
      { method: "tasks/get", params: { id: LARGE.id } },
    ];
    const sockets: Socket[] = [];
    await measured(`${READERS} unread responses each: get in 1.0, list, get in 0.3`, async () => {
      for (const call of calls)
        for (let n = 0; n < READERS; n++)
          sockets.push(await neverRead(call, call.method.startsWith("tasks/") ? "0.3" : "1.0"));
      // Other callers are answered in the meantime.
      for (let n = 0; n < 20; n++) await rpc("GetTask", { id: CHATTY.id, historyLength: 1 }).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 1000));
    });
    for (const socket of sockets) socket.destroy();
    await until(async () => ((await server.ask({ kind: "memory" })) as NodeJS.MemoryUsage).rss < MAX_RSS);
  }, 120_000);
});

/** Sends a request and never reads from its socket. */
async function neverRead(call: { method: string; params: object }, version: string): Promise<Socket> {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.pause();
  socket.on("error", () => {});
  await once(socket, "connect");
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, ...call });
  const head = `content-type: application/json\r\na2a-version: ${version}\r\ncontent-length: ${body.length}`;
  socket.write(`POST / HTTP/1.1\r\nhost: ${hostname}\r\n${head}\r\n\r\n${body}`);
  return socket;
}
