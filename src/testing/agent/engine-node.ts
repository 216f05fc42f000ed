import type { Bus } from "../../bus/contract.ts";
import type { Agent } from "../../engine/agent/agent.ts";
import { createEngine } from "../../engine/engine.ts";
import type { RunningEngine } from "../../engine/engine-options.ts";
import { createDeferred } from "../../internal/deferred.ts";
import type { Logger } from "../../internal/logger.ts";
import type { Store } from "../../store/contract.ts";
import { CrashingStore } from "./crashing-store.ts";
import { testCallees } from "./test-callees.ts";
import type { EngineClock, TestClock } from "./test-clock.ts";

/** A year: the fake clock may jump far, and the engine must not take that for a crash. */
const LEASE_MS = 365 * 24 * 3_600_000;
/** Names the server in the paths of calls. */
const SERVER_ID = "test";
/** Encrypts sensitive answers. It must be the same after a crash. */
const SECRET = new Uint8Array(32).fill(7);

export interface NodeOptions {
  readonly agents: readonly Agent[];
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: TestClock;
  readonly logger: Logger;
  readonly name: string;
  /** Called after each stored commit. Returns true to kill the engine at that moment. */
  readonly dies: () => boolean;
}

/** One engine over the store of a test, as the process of a server is. */
export class EngineNode {
  readonly engine: RunningEngine;
  readonly agents: readonly Agent[];
  readonly #options: NodeOptions;
  readonly #store: CrashingStore;
  readonly #clock: EngineClock;
  readonly #died = createDeferred<"died">();
  #isDead = false;

  constructor(options: NodeOptions) {
    const { agents, store, bus, clock, logger, name, dies } = options;
    this.#options = options;
    this.agents = agents;
    this.#clock = clock.forEngine();
    this.#store = new CrashingStore(store, () => {
      if (!this.#isDead && dies()) this.kill();
    });
    this.engine = createEngine({
      agents,
      callees: testCallees({ agents, engine: () => this.engine, serverId: SERVER_ID, logger }),
      store: this.#store,
      bus,
      clock: this.#clock,
      logger,
      node: name,
      serverId: SERVER_ID,
      secret: SECRET,
      leaseMs: LEASE_MS,
      // A run that waits stays in memory, so that the clock need not move for it to go on.
      parkAfter: Number.POSITIVE_INFINITY,
      limits: { maxWait: Number.POSITIVE_INFINITY },
      onFatal: (error) => {
        throw error;
      },
    });
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Resolves when the engine was killed. */
  get died(): Promise<"died"> {
    return this.#died.promise;
  }

  async start(): Promise<void> {
    for (const agent of this.agents) await agent.open?.(this.#options.logger);
    await this.engine.start();
  }

  /** As `kill -9`: writes and receives nothing more. */
  kill(): void {
    this.#isDead = true;
    this.#store.cut();
    this.#clock.stop();
    this.#died.resolve("died");
  }

  /** Releases the leases of a killed engine, so that the next engine need not wait until they end. */
  async release(): Promise<void> {
    await this.#options.store.leave(this.#options.name);
  }

  async close(): Promise<void> {
    if (!this.#isDead) await this.engine.close();
    this.kill();
    await Promise.all(this.agents.map(async (agent) => agent.close?.()));
  }
}
