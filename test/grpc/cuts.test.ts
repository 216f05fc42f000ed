import { type AgentCard, connect } from "palaver/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { collect, eventsOf, textOf } from "../e2e/rpc.ts";
import { fixture, Workbench } from "../e2e/workbench.ts";
import { sampled } from "../fixtures/budget.ts";
import { Http2Meddler, MEDDLINGS } from "./http2-meddler.ts";

/** Breaks of each version. A cut connection breaks all streams that share it, and counts once. */
const CUTS = sampled(30, 1000);
const CLIENTS = 4;
const STREAMS = sampled(4, 20);
/** Chunks of each stream: it ends after the last break, which comes on average after half of them. */
const CHUNKS = Math.ceil((CUTS * 16) / STREAMS);
/** The most bytes of one answer before it is broken. */
const MOST_BYTES = 600;

let bench: Workbench;
beforeEach(() => {
  bench = new Workbench();
});
afterEach(() => bench.close());

describe("A gRPC stream", () => {
  it.each(["1.0", "0.3"])(
    `that is one of ${STREAMS}, which are cut, reset or sent away ${CUTS} times, brings the client of %s every event exactly once`,
    async (version) => {
      const server = await bench.serve([fixture("long-stream.ts"), "--store", "sqlite:tasks.db"]);
      let planned = 0;
      const proxy: Http2Meddler = await Http2Meddler.start(server.url, () => {
        if (proxy.breaks >= CUTS) return undefined;
        const how = MEDDLINGS.reduce((least, other) => (proxy.done[other] < proxy.done[least] ? other : least));
        // The first frame has the id of the task.
        const after = planned < STREAMS ? 2000 : 1 + Math.floor(Math.random() * MOST_BYTES);
        planned += 1;
        return { after, how };
      });
      try {
        const direct = await connect(server.url, { binding: "GRPC", version });
        const interfaces = direct.card.interfaces.map((at) =>
          at.binding === "GRPC" ? { ...at, url: proxy.host } : at,
        );
        const card: AgentCard = { ...direct.card, interfaces };
        const retry = { baseDelay: 1, maxDelay: 1, reconnects: 2000 };
        const open = () => connect(card, { binding: "GRPC", version, retry });
        const clients = await Promise.all(Array.from({ length: CLIENTS }, open));
        await Promise.all(
          Array.from({ length: STREAMS }, async (_, index) => {
            const stream = clients[index % CLIENTS]?.stream(String(CHUNKS));
            if (stream === undefined) throw new Error("There is no client.");
            const chunks: string[] = [];
            for await (const event of stream) {
              if (event.kind === "artifact") chunks.push(event.artifact.parts[0]?.text ?? "");
            }
            const sent = await stream.result();
            if (sent.kind !== "task") throw new Error("A message came instead of a task.");
            const { id, status } = sent.task;
            expect(status.state).toBe("completed");
            const log = eventsOf(await collect(server.url, { method: "SubscribeToTask", params: { id }, after: 0 }));
            expect(chunks).toEqual(
              log.flatMap((frame) => (frame.result.artifactUpdate === undefined ? [] : [textOf([frame])])),
            );
            expect(chunks.filter((text) => text !== "")).toHaveLength(CHUNKS);
          }),
        );
        process.stdout.write(
          `gRPC ${version}: ${STREAMS} streams of ${CHUNKS} chunks, ${JSON.stringify(proxy.done)}, ${proxy.connections} connections to the server, broken by the server: ${JSON.stringify(proxy.brokenByServer)}\n`,
        );
        expect(Object.values(proxy.done).reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(CUTS);
        expect(Math.min(...Object.values(proxy.done))).toBeGreaterThanOrEqual(Math.floor(CUTS / 4));
        expect(bench.lines("starts")).toHaveLength(STREAMS);
      } finally {
        await proxy.close();
      }
    },
    900_000,
  );
});
