import { BARE_FRAMES } from "../contenders.ts";
import { checkStream, streamFor } from "../load/fast-streams.ts";
import type { CpuWork } from "./work.ts";

/** Callers with streams whose chunks come as fast as they are accepted. */
export const streamWork: CpuWork = {
  name: "stream",
  title: "16 streams × 100 chunks",
  unit: "event",
  bare: BARE_FRAMES,
  async prepare(bench, server) {
    await checkStream(bench, server);
    return (seconds, measured) => measured(async () => (await streamFor(bench, server, seconds)).events);
  },
};
