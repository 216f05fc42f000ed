import { EventEmitter } from "node:events";
import type * as threads from "node:worker_threads";

/**
 * A `Worker` class whose instances share one thread, which has loaded their modules already: starting a thread takes longer than many tests. Each
 * instance has a port and an evaluation of its module of its own. For workers that end by closing their port, not by `process.exit()`.
 */
export function reusedWorker({ Worker, MessageChannel }: typeof threads): unknown {
  let host: threads.Worker | undefined;
  return class ReusedWorker extends EventEmitter {
    readonly #port: threads.MessagePort;

    constructor(url: URL, { workerData: data }: threads.WorkerOptions) {
      super();
      if (host === undefined) {
        host = new Worker(new URL("./reused-worker-host.ts", import.meta.url));
        host.unref();
      }
      const { port1, port2 } = new MessageChannel();
      this.#port = port1.on("message", (message: unknown) => this.emit("message", message));
      host.postMessage({ url: url.href, data, port: port2 }, [port2]);
    }

    postMessage(message: unknown): void {
      this.#port.postMessage(message);
    }

    async terminate(): Promise<number> {
      this.#port.close();
      this.emit("exit", 0);
      return 0;
    }
  };
}
