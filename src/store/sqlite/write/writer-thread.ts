import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import { Worker } from "node:worker_threads";
import { StoreError } from "../../contract.ts";
import { type StoreFailure, storeError } from "../sqlite-error.ts";
import type { WriterData, WriterNotice, WriterReply, WriterRequest } from "./writer-messages.ts";

interface Pending {
  readonly settle: (reply: WriterReply) => void;
  readonly fail: (failure: StoreFailure) => void;
}

export interface WriterThreadOptions extends WriterData {
  /** Called when rows leave the hot log: pairs of a task and the last row that left. */
  readonly onMoved: (tasks: readonly (readonly [string, number])[]) => void;
}

/** Sends requests to the writer thread. */
export class WriterThread {
  readonly #worker: Worker;
  readonly #pending: Pending[] = [];
  readonly #file: string;
  /** Set when no more writes are possible. */
  #broken: StoreFailure | undefined;

  readonly #ready = Promise.withResolvers<void>();

  /** Resolves when the file is open and its schema is up to date; rejects with a {@link StoreError}. */
  static async start(options: WriterThreadOptions): Promise<WriterThread> {
    const thread = new WriterThread(options);
    await thread.#ready.promise;
    return thread;
  }

  private constructor({ onMoved, ...data }: WriterThreadOptions) {
    // The published package has .js files; a clone of the repository runs the .ts files.
    const module = import.meta.url.endsWith(".ts") ? "./writer-worker.ts" : "./writer-worker.js";
    this.#file = data.file;
    this.#worker = new Worker(new URL(module, import.meta.url), {
      ...{ workerData: data, name: "palaver-store" },
      env: { ...process.env, ...compileCache() },
    });
    this.#worker.on("message", (message: WriterReply | WriterNotice) => {
      if (message.kind === "moved") onMoved(message.tasks);
      else if (message.kind === "ready") this.#ready.resolve();
      else if (message.kind === "unusable") this.#ready.reject(storeError(message.failure));
      else this.#answered(message);
    });
    this.#worker.on("error", (thrown) => this.#died(thrown));
    this.#worker.on("exit", () => this.#died(undefined));
  }

  get failure(): StoreFailure | undefined {
    return this.#broken;
  }

  /** Sends a request. `read` is called in the order of the requests, before any other code can see the result. */
  request<T>(request: WriterRequest, read: (reply: WriterReply) => T): Promise<T> {
    if (this.#broken !== undefined) return Promise.reject(storeError(this.#broken));
    return new Promise((resolve, reject) => {
      this.#pending.push({
        settle: (reply) => (reply.kind === "failed" ? reject(storeError(reply.failure)) : resolve(read(reply))),
        fail: (failure) => reject(storeError(failure)),
      });
      this.#worker.postMessage(request);
    });
  }

  /** Waits for earlier requests, then ends the thread. */
  async close(): Promise<void> {
    try {
      if (this.#broken === undefined) await this.request({ kind: "close" }, () => undefined);
    } catch (thrown) {
      // Opening the file again completes what could not be done now.
      if (!(thrown instanceof StoreError)) throw thrown;
    } finally {
      this.#broken ??= { code: "closed", message: "The store is closed." };
      await this.#worker.terminate();
    }
  }

  #answered(reply: WriterReply): void {
    if (reply.kind === "failed" && reply.failure.code === "unknown") this.#broken = reply.failure;
    this.#pending.shift()?.settle(reply);
  }

  #died(thrown: unknown): void {
    const reason = thrown instanceof Error ? ` (${thrown.message})` : "";
    const message = `The writer thread of ${this.#file} died${reason}. Whether its last commits were written is known after the file is opened again: restart the process.`;
    this.#broken ??= { code: "unknown", message };
    this.#ready.reject(storeError(this.#broken));
    for (const { fail } of this.#pending.splice(0)) fail(this.#broken);
  }
}

/** A thread uses the cache of compiled modules only if its environment names the folder. */
function compileCache(): { readonly NODE_COMPILE_CACHE?: string } {
  const used = getCompileCacheDir();
  return used === undefined ? {} : { NODE_COMPILE_CACHE: dirname(used) };
}
