import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { agent, type TaskContext } from "../../src/engine/agent/agent.ts";
import { createServer } from "../../src/index.ts";
import { AGENT_ID } from "../agent-id.ts";
import { HEADERS, subscribeBody } from "../load/requests.ts";
import { announce, readConfig } from "./control.ts";
import { ANSWER, produce, readWorkload, resumed, type Workload } from "./workload.ts";

export interface PalaverConfig {
  /** A SQLite file; absent: in memory. */
  readonly database?: string;
  /** The address of a PostgreSQL database. Replaces `database`. */
  readonly postgres?: string;
  /** False: the node gets no hints, and finds everything by polling. */
  readonly hints?: boolean;
  /** Bytes that one task may write. */
  readonly maxTaskBytes?: number;
  /** Streams that may be open at once. */
  readonly maxStreams?: number;
  /** True: behind an `http.Server`, which has HTTP/1 only. Default: as the server listens itself. */
  readonly plainListener?: boolean;
  /** A collector that gets a trace of every call. */
  readonly otlp?: string;
  /** False: no metrics. Default: as the server does. */
  readonly metrics?: boolean;
  /** Write a line per call, as JSON. */
  readonly requestLog?: boolean;
  /** The rate limit per caller; a header then names the caller. */
  readonly rateLimit?: { readonly requests: number; readonly seconds: number };
}

const config = readConfig<PalaverConfig>();

// Nothing listens there.
if (config.hints === false) process.env["DATABASE_DIRECT_URL"] = "postgres://127.0.0.1:1/none";

const bench = agent({
  id: AGENT_ID,
  name: "Bench",
  description: "Answers what the bench asks.",
  version: "1.0.0",
  concurrency: 100_000,
  queue: 100_000,
  run(task) {
    const workload = readWorkload(task.text);
    if (workload.kind === "answer") return Promise.resolve(ANSWER);
    if (workload.kind === "wait") return aborted(task.signal);
    if (workload.kind === "resumed") return resume(task, workload);
    if (workload.kind === "subscribe") return subscribe(workload);
    if (workload.kind === "ask") return task.ask("Which ferry do you mean?");
    return produce(workload);
  },
});

async function* resume(task: TaskContext, workload: Extract<Workload, { kind: "resumed" }>): AsyncGenerator<string> {
  yield* resumed(workload, await task.step("begin", () => Date.now()));
}

/** Keeps the readers: a stream whose reader is collected may end. */
const readers: ReadableStreamDefaultReader<Uint8Array>[] = [];

async function subscribe({ ids, each }: Extract<Workload, { kind: "subscribe" }>): Promise<string> {
  for (const id of ids)
    for (let count = 0; count < each; count += 1) {
      const request = new Request("http://127.0.0.1/", { method: "POST", headers: HEADERS, body: subscribeBody(id) });
      const reader = (await server.fetch(request)).body?.getReader();
      const first = await reader?.read();
      if (reader === undefined || first?.value === undefined) throw new Error("A stream has no first event.");
      if (!new TextDecoder().decode(first.value).startsWith("id:")) throw new Error("A subscription was refused.");
      readers.push(reader);
    }
  return ANSWER;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

const server = createServer([bench], {
  port: 0,
  host: "127.0.0.1",
  store: config.postgres ?? (config.database === undefined ? "memory:" : `sqlite:${config.database}`),
  // Both servers keep all tasks, so that both do the same work.
  retention: {},
  ...(config.otlp !== undefined && { otlp: config.otlp }),
  ...(config.metrics === false && { metrics: false }),
  ...(config.requestLog === true && { requestLog: "json" }),
  ...(config.rateLimit !== undefined && {
    rateLimit: { principal: config.rateLimit },
    authenticate: ({ headers }) => ({ id: headers.get("x-caller") ?? "nobody", anonymous: false }),
  }),
  limits: {
    ...(config.maxTaskBytes !== undefined && { maxTaskBytes: config.maxTaskBytes }),
    ...(config.maxStreams !== undefined && { maxStreams: config.maxStreams, maxSubscribers: config.maxStreams }),
  },
});
const port = config.plainListener === true ? await listenPlain() : Number(new URL((await server.listen()).url).port);
process.once("SIGTERM", () => void server.close().then(() => process.exit(0)));
announce(port, config.database === undefined ? "in memory" : "SQLite");

/** The time-outs of the server's own listener. */
async function listenPlain(): Promise<number> {
  const timeouts = { keepAliveTimeout: 65_000, headersTimeout: 10_000, requestTimeout: 60_000 };
  const plain = createHttpServer({ ...timeouts, connectionsCheckingInterval: 1000 }, server.nodeHandler);
  plain.listen(0, "127.0.0.1");
  await once(plain, "listening");
  // Safe: it listens on a port.
  return (plain.address() as AddressInfo).port;
}
