import { BARE_FRAMES } from "../contenders.ts";
import { type OpenStream, openStream } from "../load/open-stream.ts";
import { streamBody } from "../load/requests.ts";
import type { Bench } from "../scenario.ts";
import type { CpuWork, Measured } from "./work.ts";

const STREAMS = 500;
const PER_SECOND = 20;
const OPEN_PER_TICK = 20;
const TICK_MS = 20;
const SETTLE_SECONDS = 1;

/** Many callers, each with a stream of twenty events per second, as language models produce them. */
export const pacedWork: CpuWork = {
  name: "paced",
  title: `${STREAMS} streams × ${PER_SECOND} events/s`,
  unit: "event",
  bare: BARE_FRAMES,
  limit: 2,
  async prepare(bench, { port }) {
    return (seconds, measured) => round(bench, port, { seconds, measured });
  },
};

async function round(
  bench: Bench,
  port: number,
  { seconds, measured }: { readonly seconds: number; readonly measured: Measured },
): Promise<void> {
  let events = 0;
  const onFrame = () => {
    events += 1;
  };
  const opening = (STREAMS / OPEN_PER_TICK) * (TICK_MS / 1000);
  const count = Math.ceil((opening + SETTLE_SECONDS + seconds + 0.5) * PER_SECOND);
  const streams: OpenStream[] = [];
  try {
    while (streams.length < STREAMS) {
      for (let some = 0; some < OPEN_PER_TICK; some += 1) {
        const body = streamBody({ kind: "paced", count, perSecond: PER_SECOND });
        streams.push(openStream({ port, body, signal: bench.signal, onFrame }));
      }
      await pause(TICK_MS);
    }
    await Promise.all(streams.map(({ first }) => first));
    await pause(SETTLE_SECONDS * 1000);
    await measured(async () => {
      const before = events;
      await pause(seconds * 1000);
      return events - before;
    });
    await Promise.all(streams.map(({ ended }) => ended));
  } finally {
    for (const stream of streams) stream.close();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
