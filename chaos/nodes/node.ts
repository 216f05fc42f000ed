import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { ended, nextMessage, startChild } from "../child.ts";
import type { Drain } from "../supervisor.ts";
import type { DatabaseProxy } from "./database-proxy.ts";
import type { NodeSetup } from "./server.ts";

export interface NodeOptions {
  /** Starts with 0. */
  readonly index: number;
  /** The setup of a process with this name. */
  readonly setupOf: (process: string) => NodeSetup;
  readonly log: string;
  readonly nodeOptions: readonly string[];
  readonly proxies: { readonly store: DatabaseProxy; readonly hints: DatabaseProxy };
  /** Called with the new address after every start. */
  readonly onStart: (url: string) => void;
}

/** Milliseconds before a process that could not start is started again: the database may be down. */
const PAUSE = 300;

/** One node: a process that is started again whenever it ends, like a process manager does. */
export class ChaosNode {
  readonly index: number;
  readonly proxies: NodeOptions["proxies"];
  readonly #options: NodeOptions;
  #child: ChildProcess | undefined;
  #isListening = false;
  #isExpected = false;
  #starts = 0;
  kills = 0;
  failedStarts = 0;
  readonly drains: Drain[] = [];
  /** Ends of a listening process that nobody caused, as text. */
  readonly deaths: string[] = [];

  constructor(options: NodeOptions) {
    this.#options = options;
    this.index = options.index;
    this.proxies = options.proxies;
  }

  /** The name of the present process: different after each start. */
  get process(): string {
    return `node-${this.index}-${this.#starts}`;
  }

  get isListening(): boolean {
    return this.#isListening;
  }

  /** Resolves when the node listens. */
  async start(): Promise<void> {
    while (!(await this.#startOnce())) {
      this.failedStarts += 1;
      await sleep(PAUSE);
    }
  }

  /** Sends `kill -9` and starts the node again. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || !this.#isListening) return;
    this.kills += 1;
    this.#expectEnd();
    child.kill("SIGKILL");
    await ended(child);
    await this.start();
  }

  /** Stops the process for that many milliseconds. */
  async suspend(time: number): Promise<void> {
    const child = this.#child;
    child?.kill("SIGSTOP");
    await sleep(time);
    child?.kill("SIGCONT");
  }

  /** Moves the clock of the process by that many milliseconds. */
  jumpClock(by: number): void {
    if (this.#child?.connected === true) this.#child.send({ jump: by });
  }

  /** Sends SIGTERM, and starts the node again when it has ended. */
  async replace(): Promise<void> {
    if (!this.#isListening) return;
    await this.stop();
    await this.start();
  }

  /** Sends SIGTERM, without a new start. */
  async stop(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const begun = Date.now();
    this.#expectEnd();
    child.kill("SIGCONT");
    child.kill("SIGTERM");
    await ended(child);
    this.drains.push({ begun, over: Date.now(), code: child.exitCode });
  }

  #expectEnd(): void {
    this.#isExpected = true;
    this.#isListening = false;
  }

  async #startOnce(): Promise<boolean> {
    const { setupOf, log, nodeOptions, onStart } = this.#options;
    this.#starts += 1;
    this.#isExpected = false;
    const child = startChild({ script: "nodes/server.ts", setup: setupOf(this.process), log, nodeOptions });
    this.#child = child;
    child.once("exit", (code, signal) => this.#exited(child, code ?? signal));
    const started = await nextMessage<{ readonly url: string }>(child);
    if (started === undefined) return false;
    this.#isListening = true;
    onStart(started.url);
    return true;
  }

  #exited(child: ChildProcess, how: number | string | null): void {
    const wasListening = this.#isListening;
    if (this.#child !== child) return;
    this.#child = undefined;
    this.#isListening = false;
    if (this.#isExpected || !wasListening) return;
    this.deaths.push(`${this.process} ended by itself (${how}).`);
    void this.start();
  }
}
