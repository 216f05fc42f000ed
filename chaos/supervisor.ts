import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { ended, nextMessage, startChild } from "./child.ts";
import type { ServerQuestion, ServerSetup, ServerStarted, ServerUsage } from "./server/main.ts";
import type { Unsettled } from "./truth.ts";

export interface SupervisorOptions {
  readonly setup: ServerSetup;
  readonly log: string;
  readonly nodeOptions: readonly string[];
  /** Called with the new address after every start. */
  readonly onStart: (url: string) => void;
}

/** A period during which the server shuts down after SIGTERM. */
export interface Drain {
  readonly begun: number;
  readonly over: number;
  readonly code: number | null;
}

/**
 * Milliseconds from the start of a process until it listens: total, to load the code, to open the store, and to serve.
 */
export interface Start {
  readonly total: number;
  readonly load: number;
  readonly store: number;
  readonly serve: number;
}

const MAX_FAILED_STARTS = 5;

/** Keeps a server running: restarts it whenever it ends, like a process manager. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  #child: ChildProcess | undefined;
  #expected = false;
  #stopping = false;
  #starts = 0;
  kills = 0;
  stops = 0;
  slowestStart: Start | undefined;
  readonly drains: Drain[] = [];
  /** Unexpected ends of the process, as text. */
  readonly deaths: string[] = [];

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Resolves when the server listens. */
  async start(): Promise<void> {
    for (let failures = 0; failures < MAX_FAILED_STARTS; failures++) {
      if (await this.#startOnce()) return;
    }
    throw new Error(`The server failed to start ${MAX_FAILED_STARTS} times in a row; see ${this.#options.log}.`);
  }

  async #startOnce(): Promise<boolean> {
    const { setup, log, nodeOptions, onStart } = this.#options;
    const begun = Date.now();
    this.#starts += 1;
    // Each start uses another seed.
    const seeded = { ...setup, seed: `${setup.seed}/${this.#starts}` };
    const child = startChild({ script: "server/main.ts", setup: seeded, log, nodeOptions });
    this.#child = child;
    child.once("exit", (code, signal) => this.#exited(code ?? signal));
    const started = await nextMessage<ServerStarted>(child);
    if (started === undefined) return false;
    const start: Start = { total: Date.now() - begun, ...started.times };
    if (start.total > (this.slowestStart?.total ?? 0)) this.slowestStart = start;
    onStart(started.url);
    return true;
  }

  #exited(how: number | string | null): void {
    this.#child = undefined;
    if (!this.#expected) this.deaths.push(`The server ended by itself (${how}), start ${this.#starts}.`);
    this.#expected = false;
  }

  /** Sends `kill -9` and restarts the server. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#expected = true;
    this.kills += 1;
    child.kill("SIGKILL");
    await ended(child);
    await this.start();
  }

  /** Sends SIGTERM and restarts the server. */
  async restart(): Promise<void> {
    await this.#terminate();
    await this.start();
  }

  /** Sends SIGTERM without a restart. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#terminate();
  }

  async #terminate(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const begun = Date.now();
    this.#expected = true;
    child.kill("SIGTERM");
    await ended(child);
    this.drains.push({ begun, over: Date.now(), code: child.exitCode });
  }

  /** Suspends the process for that many milliseconds. */
  async suspend(time: number): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.stops += 1;
    child.kill("SIGSTOP");
    await sleep(time);
    child.kill("SIGCONT");
  }

  /** Restarts the process if it has crashed. */
  async revive(): Promise<void> {
    if (this.#child === undefined && !this.#stopping) await this.start();
  }

  unsettled(): Promise<Unsettled | undefined> {
    return this.#ask("unsettled");
  }

  usage(): Promise<ServerUsage | undefined> {
    return this.#ask("usage");
  }

  async #ask<Answer>(question: ServerQuestion): Promise<Answer | undefined> {
    const child = this.#child;
    if (child === undefined) return undefined;
    const answer = nextMessage<Answer>(child);
    child.send(question);
    return answer;
  }
}
