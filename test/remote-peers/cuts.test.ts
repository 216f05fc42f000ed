import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { connect } from "../../src/client.ts";
import { seededRandom } from "../client/seeded-random.ts";
import { CuttingProxy } from "../e2e/cutting-proxy.ts";
import { IS_FULL, sampled } from "../fixtures/budget.ts";
import type { Binding } from "../peers/line.ts";
import { chunks, type Pace } from "./agent-script.ts";
import { answerOf, taskOf } from "./scenario-setup.ts";
import type { ServerLine } from "./server-line.ts";
import { a2aJsV02 } from "./servers/a2a-js-v0-2.ts";
import { a2aJsV03 } from "./servers/a2a-js-v0-3.ts";
import { a2aJsV1 } from "./servers/a2a-js-v1.ts";
import { silenceConsole } from "./silence-console.ts";

const CUTS = sampled(25, 200);
const CHUNKS = 5000;

/**
 * The newest server copies the whole task for every chunk: 5,000 chunks take it more than 30 s without any cut. All
 * servers keep writing to cut connections. So not every binding gets 5,000 chunks; all get all the cuts.
 */
const LINES: readonly [ServerLine, Binding, number][] = [
  [a2aJsV1, "JSONRPC", sampled(400, CHUNKS)],
  [a2aJsV1, "HTTP+JSON", sampled(400, CHUNKS)],
  [a2aJsV03, "JSONRPC", sampled(400, CHUNKS)],
  [a2aJsV03, "HTTP+JSON", sampled(300, CHUNKS)],
  [a2aJsV02, "JSONRPC", sampled(300, CHUNKS)],
];

silenceConsole();

describe.each(LINES.map(([line, binding, count]) => ({ name: `${line.version} ${binding}`, line, binding, count })))(
  "a stream of $count chunks from the official server $name",
  ({ line, binding, count }) => {
    it("receives the complete artifact although the connection is cut again and again", {
      timeout: IS_FULL ? 900_000 : 240_000,
    }, async () => {
      const seed = Date.now() % 1_000_000;
      const storm = new Storm(count, seededRandom(seed));
      const server = await line.start({ binding, reachedAt: storm.start, pace: storm.pace });
      try {
        const agent = await connect(server.url, { retry: { baseDelay: 10 }, poll: { first: 20 } });
        const stream = agent.stream(`chunks ${count}`);
        for await (const event of stream) if (event.kind === "artifact") storm.begin();
        const message = `seed ${seed}`;
        expect(storm.cuts, message).toBe(CUTS);
        expect(stream.task?.status.state, message).toBe("completed");
        expect(answerOf(stream.task) === chunks(count), message).toBe(true);
        expect(answerOf(taskOf(await stream.result())) === chunks(count), message).toBe(true);
      } finally {
        await Promise.all([storm.close(), server.close()]);
      }
    });
  },
);

/** Approximate bytes per chunk in the task that opens a resumed stream. */
const CHUNK_BYTES = 30;

/**
 * Cuts connections at random bytes, one cut per `#chunksPerCut` chunks: some inside the task that opens a resumed
 * stream, some in the events after it. The agent waits for the cut that is due, and so continues without a reader.
 */
class Storm {
  readonly #chunksPerCut: number;
  readonly #random: () => number;
  #proxy: CuttingProxy | undefined;
  #published = 0;
  #hasBegun = false;

  constructor(count: number, random: () => number) {
    this.#chunksPerCut = count / CUTS;
    this.#random = random;
  }

  get cuts(): number {
    return this.#proxy?.cuts ?? 0;
  }

  /** The client knows the task id: from here on the connection may be cut anywhere. */
  begin(): void {
    this.#hasBegun = true;
  }

  readonly start = async (url: string): Promise<string> => {
    this.#proxy = await CuttingProxy.start(url, () => {
      if (!this.#hasBegun || this.cuts >= CUTS) return Number.POSITIVE_INFINITY;
      return 1 + Math.floor(this.#random() * 3 * (this.#published * CHUNK_BYTES + 2000));
    });
    return this.#proxy.url;
  };

  readonly pace: Pace = async (index) => {
    this.#published = index + 1;
    const due = Math.floor(this.#published / this.#chunksPerCut);
    for (let waits = 0; this.cuts < due || !this.#hasBegun; waits++) {
      // No data flows while the agent waits, so the pending cut happens now.
      if (this.#hasBegun && waits > 10) this.#proxy?.cutNow();
      await sleep(1);
    }
    await new Promise((resolve) => setImmediate(resolve));
  };

  async close(): Promise<void> {
    await this.#proxy?.close();
  }
}
