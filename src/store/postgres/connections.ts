import type {
  ConnectionOptions,
  PostgresClient,
  PostgresDriver,
  PostgresPool,
  Row,
} from "../../internal/postgres/driver.ts";
import { StoreError } from "../contract.ts";
import { CallQueue } from "./call-queue.ts";
import { isRolledBack, type PossibleEffect, storeErrorOf } from "./postgres-error.ts";

/** How often a transaction is tried that the server rolls back because of others. */
const MAX_TRIES = 5;
/** Milliseconds. A renewal that takes longer is tried again on another connection, before half of a lease of 5 seconds is over. */
const RENEWAL_TIMEOUT = 1200;
/** Connections for everything but commits. */
const POOL_SIZE = 8;
/** Of these, connections that stay open. */
const POOL_KEPT = 3;

/**
 * The connections of a store: one that commits, so that commits are applied in the order of their calls; one that renews the lease, so that a
 * renewal waits for nothing; and a pool for all other calls, which never wait for a commit. A connection that breaks is replaced at the next call.
 */
export class Connections {
  readonly #driver: PostgresDriver;
  readonly #options: ConnectionOptions;
  readonly #writing: (text: string) => string;
  readonly #pool: PostgresPool;
  readonly #renewals: PostgresPool;
  readonly #queue: CallQueue;
  readonly #pending = new Set<Promise<unknown>>();
  #writer: Promise<PostgresClient> | undefined;
  #lastWrite: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  /** `waitsForDisk`: a statement that writes is done when the server has written it to disk. */
  constructor(driver: PostgresDriver, options: ConnectionOptions, waitsForDisk = true) {
    this.#writing = waitsForDisk ? (text) => text : withoutWaiting;
    this.#driver = driver;
    this.#options = options;
    this.#pool = driver.createPool({ ...options, size: POOL_SIZE, kept: POOL_KEPT });
    this.#queue = new CallQueue({ size: POOL_SIZE, maxWait: options.queryTimeout });
    const { queryTimeout } = options;
    const timeout = queryTimeout > 0 ? Math.min(queryTimeout, RENEWAL_TIMEOUT) : RENEWAL_TIMEOUT;
    this.#renewals = driver.createPool({ ...options, queryTimeout: timeout, connectTimeout: timeout, size: 1 });
    // An idle connection broke. The pool has removed it; a call that needs one connects again.
    for (const pool of [this.#pool, this.#renewals]) pool.on("error", () => {});
  }

  /** Runs one statement on the connection that commits, after those before it. */
  write(text: string, values: unknown[]): Promise<readonly Row[]> {
    return this.#call(() => {
      const result = this.#lastWrite.then(() => this.#write(this.#writing(text), values));
      this.#lastWrite = result.catch(() => {}); // The caller gets the error.
      return result;
    });
  }

  /** Runs one statement on any other connection. */
  query(text: string, values: unknown[], effect: PossibleEffect = "nothing"): Promise<readonly Row[]> {
    const statement = effect === "nothing" ? text : this.#writing(text);
    return this.#call(() => this.#queue.run(() => retried(() => this.#pool.query(statement, values), effect)));
  }

  /** Runs the statement that renews the lease, even while all other connections are in use. */
  renew(text: string, values: unknown[]): Promise<readonly Row[]> {
    return this.#call(() => retried(() => this.#renewals.query(this.#writing(text), values), "anything"));
  }

  /** Opens the connections that stay open, and runs one statement on each that only reads: `text` on those of the pool, `writing` on that which commits. */
  async open(text: string, writing: string): Promise<void> {
    const queries = Array.from({ length: POOL_KEPT }, () => this.query(text, []));
    await Promise.all([this.write(writing, []), ...queries]);
  }

  /** A new connection that belongs to the caller, who ends it. */
  async connect(): Promise<PostgresClient> {
    const client = this.#driver.createClient(this.#options);
    client.on("error", () => {});
    await client.connect();
    return client;
  }

  /** Waits for all calls. Later calls reject with `closed`. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #write(text: string, values: unknown[]): Promise<readonly Row[]> {
    this.#writer ??= this.#connectWriter();
    const connecting = this.#writer;
    let client: PostgresClient;
    try {
      client = await connecting;
    } catch (error) {
      throw storeErrorOf(error, "nothing");
    }
    try {
      return await retried(() => client.query(text, values), "anything");
    } catch (error) {
      // After a timeout the query is still under way: its answer must not be taken for that of the next one.
      if (error instanceof StoreError && error.code === "lost") this.#dropWriter(connecting, client);
      throw error;
    }
  }

  #connectWriter(): Promise<PostgresClient> {
    const client = this.#driver.createClient(this.#options);
    const connected = client.connect().then(() => client);
    const drop = (): void => {
      if (this.#writer === connected) this.#writer = undefined;
    };
    client.on("error", drop);
    client.on("end", drop);
    connected.catch(drop);
    return connected;
  }

  #dropWriter(connecting: Promise<PostgresClient>, client: PostgresClient): void {
    if (this.#writer === connecting) this.#writer = undefined;
    void client.end().catch(() => {}); // It is broken anyway.
  }

  #call<T>(run: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) return Promise.reject(new StoreError("closed", "The store is closed."));
    const call = run();
    this.#pending.add(call);
    const settled = (): void => void this.#pending.delete(call);
    call.then(settled, settled);
    return call;
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#pending);
    const writer = await this.#writer?.catch(() => undefined);
    const ended = Promise.allSettled([writer?.end(), this.#pool.end(), this.#renewals.end()]);
    // A connection that broke may never report its end. Nothing is under way any more, so the process need not wait for it.
    await Promise.race([ended, new Promise((resolve) => void setTimeout(resolve, END_WITHIN).unref())]);
  }
}

/** Milliseconds to wait for the ends of connections. */
const END_WITHIN = 3000;

/**
 * The same SELECT, whose transaction does not wait for the disk. A setting of the session would do as well, but a pooler in transaction mode refuses
 * or forgets it.
 */
function withoutWaiting(text: string): string {
  return text.replace(/^SELECT /, "SELECT set_config('synchronous_commit', 'off', true), ");
}

/** Repeats a transaction that the server rolled back because of others. */
async function retried(
  run: () => Promise<{ readonly rows: readonly Row[] }>,
  effect: PossibleEffect,
): Promise<readonly Row[]> {
  for (let tries = 1; ; tries += 1) {
    try {
      return (await run()).rows;
    } catch (error) {
      if (tries >= MAX_TRIES || !isRolledBack(error)) throw storeErrorOf(error, effect);
    }
  }
}
