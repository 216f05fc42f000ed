import { monitorEventLoopDelay } from "node:perf_hooks";
import { serve } from "../../src/platform/serve.ts";
import type { Retention } from "../../src/store/contract.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { createUnreliableStore, type StoreFaults } from "../../src/testing/unreliable-store.ts";
import { openJournal } from "../journal.ts";
import { createRandom } from "../random.ts";
import { unsettledIn } from "../truth.ts";
import { scriptedAgent } from "./agent.ts";

/** The JSON argument of the server process. */
export interface ServerSetup {
  readonly database: string;
  readonly steps: string;
  /** The address for callers: the proxy's. */
  readonly publicUrl: string;
  readonly seed: string;
  readonly faults?: StoreFaults;
  readonly retention?: Retention;
}

/** The first message to the parent, sent when the server listens. */
export interface ServerStarted {
  readonly url: string;
  /** Duration of each part of the start, in milliseconds. */
  readonly times: { readonly load: number; readonly store: number; readonly serve: number };
}

/** The questions that the parent may ask over IPC. */
export type ServerQuestion = "unsettled" | "usage";

/** Sizes in bytes; delays in milliseconds since the last question. */
export interface ServerUsage {
  readonly heap: number;
  readonly rss: number;
  readonly loopDelay: number;
}

const setup: ServerSetup = JSON.parse(process.argv[2] ?? "");
const { database, seed, faults, retention } = setup;
const loadedAt = performance.now();
const store = await openSqliteStore({ file: database, ...(retention !== undefined && { retention }) });
const openedAt = performance.now();
const { url } = await serve(scriptedAgent(openJournal(setup.steps)), {
  port: 0,
  publicUrl: setup.publicUrl,
  store:
    faults === undefined
      ? store
      : createUnreliableStore(store, { seed: createRandom(seed).between(0, 2 ** 31 - 1), ...faults }),
  // The same after every start; a test needs no real secret.
  secret: new Uint8Array(32).fill(7),
  idempotency: { window: 86_400_000 },
  drainTimeout: 300,
  cancelGrace: 500,
  lease: 3000,
  heartbeat: 1000,
  push: { retries: 20, retryDelay: 20, timeout: 3000 },
  outgoing: { http: true, allow: ["loopback"] },
});
const delays = monitorEventLoopDelay({ resolution: 10 });
delays.enable();
process.on("message", (question: ServerQuestion) => {
  void (question === "usage" ? usage() : unsettledIn(store)).then((answer) => process.send?.(answer));
});
process.on("disconnect", () => process.exit(1));
process.send?.({
  url,
  times: { load: loadedAt, store: openedAt - loadedAt, serve: performance.now() - openedAt },
} satisfies ServerStarted);

/** Rejects if the process was started without `--expose-gc`: a heap with garbage is not comparable. */
async function usage(): Promise<ServerUsage> {
  if (globalThis.gc === undefined) throw new Error("Start the server with --expose-gc to measure its memory.");
  const loopDelay = delays.percentile(99) / 1e6;
  globalThis.gc();
  const { heapUsed: heap, rss } = process.memoryUsage();
  delays.reset();
  return { heap, rss, loopDelay };
}
