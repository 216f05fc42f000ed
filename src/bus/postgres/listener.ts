import { setTimeout as sleep } from "node:timers/promises";
import type { PostgresClient, PostgresDriver } from "../../internal/postgres/driver.ts";

export interface ListenerOptions {
  readonly loadDriver: () => Promise<PostgresDriver>;
  /** Such as `postgres://user:password@host:5432/database`: a direct connection, because poolers do not pass notifications on. */
  readonly url: string;
  /** Name of the channel. All nodes of a store use the same. */
  readonly channel: string;
  readonly onPayload: (payload: string) => void;
  /** The connection works: for the first time, or again. */
  readonly onConnected: () => void;
  /** The connection broke, or could not be opened. Called once per interruption. */
  readonly onInterrupted: (error: unknown) => void;
}

const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 5000;
/** Milliseconds between two checks whether notifications arrive, and after which a check has failed. */
const CHECK_INTERVAL = 10_000;
const CHECK_TIMEOUT = 5000;
/** Begins the payload of a check. */
const CHECK = "check ";

/** A connection that listens to a channel and connects again whenever it breaks, until it is closed. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #closed = new AbortController();
  readonly #running: Promise<void>;
  /** Present while the connection works. */
  #client: PostgresClient | undefined;
  /** A connection runs one query at a time. */
  #lastQuery: Promise<unknown> = Promise.resolve();
  #checks = 0;
  /** A notification arrived since the last check: one that this process sent, or another one. */
  #hasReceived = false;
  #onCheck: ((payload: string) => void) | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  get isConnected(): boolean {
    return this.#client !== undefined;
  }

  /** Sends payloads to all nodes, this one included. Rejects if they may not have been sent. */
  async notify(payloads: readonly string[]): Promise<void> {
    if (this.#client === undefined) throw new Error("The connection for hints is interrupted.");
    await this.#notify(this.#client, payloads);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    let pause = FIRST_PAUSE;
    let isInterrupted = false;
    const connected = (): void => {
      pause = FIRST_PAUSE;
      isInterrupted = false;
      this.#options.onConnected();
    };
    while (!this.#closed.signal.aborted) {
      try {
        await this.#session(connected);
      } catch (error) {
        if (!isInterrupted && !this.#closed.signal.aborted) this.#options.onInterrupted(error);
        isInterrupted = true;
      }
      await this.#sleep(pause);
      pause = Math.min(pause * 2, LONGEST_PAUSE);
    }
  }

  /** Connects, listens and checks. Rejects when the connection breaks; resolves when the listener is closed. */
  async #session(connected: () => void): Promise<void> {
    const { loadDriver, url, channel, onPayload } = this.#options;
    const driver = await loadDriver();
    const client = driver.createClient({ url, name: "palaver hints", queryTimeout: CHECK_TIMEOUT });
    const broken = Promise.withResolvers<never>();
    broken.promise.catch(() => {}); // It may break while nobody waits.
    client.on("error", broken.reject);
    client.on("end", () => broken.reject(new Error("The server closed the connection.")));
    client.on("notification", ({ payload = "" }) => {
      this.#hasReceived = true;
      if (payload.startsWith(CHECK)) this.#onCheck?.(payload);
      else onPayload(payload);
    });
    try {
      await client.connect();
      await client.query(`LISTEN "${channel.replaceAll('"', '""')}"`);
      await Promise.race([this.#checkFromOutside(driver), broken.promise]);
      this.#client = client;
      connected();
      while (!this.#closed.signal.aborted) {
        await Promise.race([this.#sleep(CHECK_INTERVAL), broken.promise]);
        if (!this.#closed.signal.aborted && !this.#hasReceived)
          await Promise.race([this.#check(client), broken.promise]);
        this.#hasReceived = false;
      }
    } finally {
      this.#client = undefined;
      await client.end().catch(() => {}); // It is not needed any more.
    }
  }

  /**
   * A notification of another connection. A pooler in transaction mode passes on what a connection sends to itself, and nothing else, so only this
   * shows that no such pooler is in between.
   */
  async #checkFromOutside(driver: PostgresDriver): Promise<void> {
    const other = driver.createClient({ url: this.#options.url, name: "palaver hints", queryTimeout: CHECK_TIMEOUT });
    other.on("error", () => {}); // Its query fails.
    try {
      await other.connect();
      await this.#check(other);
    } finally {
      await other.end().catch(() => {}); // It is not needed any more.
    }
  }

  /** A notification to this process: it shows that the network works. */
  async #check(client: PostgresClient): Promise<void> {
    const payload = `${CHECK}${process.pid} ${Math.random()} ${++this.#checks}`;
    const arrived = new Promise<true>((resolve) => {
      this.#onCheck = (received) => {
        if (received === payload) resolve(true);
      };
    });
    await this.#notify(client, [payload]);
    if ((await Promise.race([arrived, this.#sleep(CHECK_TIMEOUT)])) === true || this.#closed.signal.aborted) return;
    throw new Error("Notifications do not arrive. A connection pooler does not pass them on: connect directly.");
  }

  async #notify(client: PostgresClient, payloads: readonly string[]): Promise<void> {
    const values = [this.#options.channel, [...payloads]];
    const query = this.#lastQuery.then(() =>
      client.query("SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload", values),
    );
    this.#lastQuery = query.catch(() => {}); // The caller gets the error.
    await query;
  }

  /** Ends early when the listener is closed. */
  async #sleep(ms: number): Promise<void> {
    await sleep(ms, undefined, { ref: false, signal: this.#closed.signal }).catch(() => {});
  }
}
