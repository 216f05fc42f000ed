import type { Socket } from "node:net";
import type { Bench } from "../scenario.ts";
import type { ServerProcess } from "../server-process.ts";
import { openStream } from "./open-stream.ts";
import { streamBody } from "./requests.ts";

const STREAMS = 16;
const CHUNKS = 100;
const CHUNK_BYTES = 24;
const workload = { kind: "chunks", count: CHUNKS, bytes: CHUNK_BYTES, delayMs: 0 } as const;

export interface StreamedEvents {
  readonly events: number;
  readonly perSecond: number;
}

/** Sixteen callers, each with one stream of a hundred chunks after the other. */
export async function streamFor(bench: Bench, { port }: ServerProcess, seconds: number): Promise<StreamedEvents> {
  const start = performance.now();
  const until = start + seconds * 1000;
  let events = 0;
  const idle: Socket[] = [];
  const caller = async () => {
    while (performance.now() < until) {
      const stream = openStream({ port, body: streamBody(workload), signal: bench.signal, idle });
      const received = await stream.ended;
      if (received < CHUNKS) throw new Error(`A stream ended after ${received} events.`);
      events += received;
    }
  };
  await Promise.all(Array.from({ length: STREAMS }, caller));
  for (const socket of idle) socket.destroy();
  return { events, perSecond: events / ((performance.now() - start) / 1000) };
}

/** Checks that every chunk arrives as its own event, in order. */
export async function checkStream(bench: Bench, { label, port }: ServerProcess): Promise<void> {
  const texts: string[] = [];
  const onFrame = (frame: Buffer) => {
    const text = /"text":"(\d+) /.exec(frame.toString("utf8"))?.[1];
    if (text !== undefined && frame.includes("artifactUpdate")) texts.push(text);
  };
  await openStream({ port, body: streamBody(workload), signal: bench.signal, onFrame }).ended;
  const expected = Array.from({ length: CHUNKS }, (_, index) => String(index));
  if (texts.join() !== expected.join()) throw new Error(`${label} does not stream chunk by chunk: ${texts.join()}`);
}
