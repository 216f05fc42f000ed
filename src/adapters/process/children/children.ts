import { Child, type ChildOptions } from "./child.ts";
import { ProcessRecords } from "./process-records.ts";

/** All processes of one agent. */
export class Children {
  readonly #live = new Set<Child>();
  readonly #records: ProcessRecords;
  /** If this process ends while others run, they must not survive it. Only SIGKILL prevents this; then the next start kills them. */
  readonly #onExit = (): void => {
    for (const child of this.#live) child.kill();
  };

  constructor(stateFolder: string) {
    this.#records = new ProcessRecords(stateFolder);
  }

  /** Kills what an earlier server has left behind; returns how many processes. Throws the system's error if the state folder cannot be written. */
  async open(): Promise<number> {
    this.#records.prepare();
    return this.#records.killOrphans();
  }

  /** Starts a program. Throws the system's error if it cannot be started, or its start cannot be recorded. */
  start(options: Omit<ChildOptions, "records">): Child {
    const child = new Child({ ...options, records: this.#records });
    if (this.#live.size === 0) process.on("exit", this.#onExit);
    this.#live.add(child);
    const forget = (): void => {
      this.#live.delete(child);
      if (this.#live.size === 0) process.off("exit", this.#onExit);
    };
    child.ended.then(forget, forget);
    return child;
  }

  /** Stops all processes, and waits until they have ended. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#live, (child) => child.stop()));
    this.#records.close();
  }
}
