import { createRequire, syncBuiltinESMExports } from "node:module";
import type { MessagePort } from "node:worker_threads";

// The thread of `reused-worker.ts`: evaluates a worker's module again for each worker, with the port and the data of that worker.

const threads: { parentPort: MessagePort | null; workerData: unknown } = createRequire(import.meta.url)(
  "node:worker_threads",
);
let evaluations = 0;
let last: Promise<unknown> = Promise.resolve();

threads.parentPort?.on("message", ({ url, data, port }: { url: string; data: unknown; port: MessagePort }) => {
  // One after the other: a module reads its port and its data while it is evaluated.
  last = last.then(async () => {
    threads.parentPort = port;
    threads.workerData = data;
    syncBuiltinESMExports();
    evaluations += 1;
    await import(`${url}?evaluation=${evaluations}`);
  });
});
