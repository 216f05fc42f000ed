import { agent } from "palaver";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { textOf } from "../../src/protocol/part.ts";
import { CuttingProxy } from "../e2e/cutting-proxy.ts";
import { sampled } from "../fixtures/budget.ts";
import { openSite, type Site } from "./own-server.ts";
import { seededRandom } from "./seeded-random.ts";

const CHUNKS = sampled(800, 5000);
const CUTS = sampled(30, 200);

/** Chunks of many lengths and alphabets, written a few at a time so that they need several connections. */
const longStream = agent({
  id: "long-stream",
  name: "Long stream",
  description: "Streams many chunks.",
  version: "1.0.0",
  async *run(task) {
    for (let index = 1; index <= Number(task.text); index++) yield chunk(index);
  },
});

function chunk(index: number): string {
  return `${index} ${"größer 🌊 ".repeat(index % 13)}\n`;
}

let site: Site;
beforeEach(async () => {
  site = await openSite(longStream);
});
afterEach(() => site.close());

describe.each([
  ["1.0", "JSONRPC"],
  ["0.3", "HTTP+JSON"],
  ["0.1", "JSONRPC"],
])(`a stream of %s over %s that is cut ${CUTS} times`, (version, binding) => {
  it(`delivers ${CHUNKS} chunks, each once and in order`, { timeout: 120_000 }, async () => {
    const seed = Date.now() % 1_000_000;
    const random = seededRandom(seed);
    const direct = await connect(site.url);
    const cutting = await startProxy(site.url, random);
    try {
      // The card is fetched directly, but its interfaces point to the proxy.
      const interfaces = direct.card.interfaces.map((way) => ({
        ...way,
        url: way.url.replace(site.url, cutting.url),
      }));
      const remote = await connect(
        { ...direct.card, interfaces },
        { version, binding, retry: { reconnects: 20, baseDelay: 1, maxDelay: 5 } },
      );
      const stream = remote.stream(String(CHUNKS));
      const chunks: string[] = [];
      const states: string[] = [];
      for await (const event of stream) {
        cutting.mayCut();
        if (event.kind === "artifact") chunks.push(textOf(event.artifact.parts));
        if (event.kind === "status") states.push(event.status.state);
      }
      const message = `seed ${seed}`;
      expect(cutting.proxy.cuts, message).toBe(CUTS);
      expect(
        chunks.filter((text) => text !== ""),
        message,
      ).toEqual(Array.from({ length: CHUNKS }, (_, index) => chunk(index + 1)));
      expect(states.filter((state) => state === "completed")).toHaveLength(1);
      expect(states.at(-1)).toBe("completed");
      const task = await direct.task(stream.task?.id ?? "").get();
      expect(textOf(stream.task?.artifacts?.[0]?.parts ?? [])).toBe(textOf(task.artifacts?.[0]?.parts ?? []));
    } finally {
      await cutting.proxy.close();
    }
  });
});

interface Cutting {
  readonly proxy: CuttingProxy;
  readonly url: string;
  /** The client knows the task id: from here on the connection may be cut anywhere. */
  mayCut(): void;
}

async function startProxy(target: string, random: () => number): Promise<Cutting> {
  let least = 3000;
  const proxy: CuttingProxy = await CuttingProxy.start(target, () =>
    proxy.cuts < CUTS ? least + Math.floor(random() * 7000) : Number.POSITIVE_INFINITY,
  );
  return {
    proxy,
    url: proxy.url,
    mayCut: () => {
      least = 1;
    },
  };
}
