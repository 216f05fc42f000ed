import type { ServerProcess } from "./server-process.ts";

/** Resolves with the peak resident size in bytes during the work. */
export async function peakDuring(server: ServerProcess, work: Promise<unknown>): Promise<number> {
  let peak = 0;
  let done = false;
  const finished = work.finally(() => {
    done = true;
  });
  const watch = async () => {
    while (!done) {
      peak = Math.max(peak, (await server.usage({ collect: false })).rss);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  await Promise.all([finished, watch()]);
  return peak;
}
