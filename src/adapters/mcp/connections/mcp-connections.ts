import { setTimeout as sleep } from "node:timers/promises";
import type { McpConnection } from "./mcp-connection.ts";

export interface ConnectionsOptions {
  readonly open: () => Promise<McpConnection>;
  /** Connections at a time. Further calls wait. */
  readonly max: number;
  /** A connection was opened after an earlier one was lost, so the server may have changed. */
  readonly onReopened: () => void;
}

/** The use of a connection for one call. */
export interface Lease {
  readonly connection: McpConnection;
  /** Ends the use. `suspect`: the server did not answer in time, so the connection gets no further calls. */
  release(suspect?: boolean): void;
}

/** Milliseconds before the second and the third attempt to open a connection. */
const PAUSES = [250, 1000];

/**
 * The connections to one MCP server. With servers of 2026-07-28 and later all calls share one; with earlier ones each call has one for itself, because their
 * questions do not say which call they belong to. One unused connection stays open, and the next call gets it.
 */
export class McpConnections {
  readonly #options: ConnectionsOptions;
  readonly #all = new Set<McpConnection>();
  readonly #users = new Map<McpConnection, number>();
  readonly #retired = new Set<McpConnection>();
  readonly #waiting: (() => void)[] = [];
  #idle: McpConnection[] = [];
  #shared: McpConnection | undefined;
  readonly #openings = new Set<Promise<McpConnection>>();
  /** Whether the last connection could be shared; `undefined` before the first one. */
  #isModern: boolean | undefined;
  /** A connection was lost since the last one was opened. */
  #isLost = false;
  #isClosed = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** Rejects if the server cannot be reached, and with the signal's reason. */
  async lease(signal?: AbortSignal): Promise<Lease> {
    for (;;) {
      signal?.throwIfAborted();
      if (this.#isClosed) throw new Error("The connections to this MCP server are closed.");
      const free = this.#shared ?? this.#idle.pop();
      if (free !== undefined) return this.#use(free);
      if (this.#mayOpen()) return this.#use(await this.#open(signal));
      await this.#room(signal);
    }
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake();
    // A connection that is being opened is closed as soon as it is open.
    await Promise.allSettled(this.#openings);
    await Promise.all(Array.from(this.#all, (connection) => connection.close()));
  }

  /** While a connection is being opened that may be shared, others wait for it. */
  #mayOpen(): boolean {
    const isShareable = this.#isModern !== false && this.#openings.size > 0;
    return !isShareable && this.#all.size + this.#openings.size < this.#options.max;
  }

  async #open(signal: AbortSignal | undefined): Promise<McpConnection> {
    const opening = this.#opened(signal);
    this.#openings.add(opening);
    try {
      const connection = await opening;
      this.#all.add(connection);
      if (connection.isModern) this.#shared = connection;
      void connection.closed.then(() => this.#forget(connection));
      if (this.#isClosed) await connection.close();
      else if (this.#isLost) this.#options.onReopened();
      this.#isLost = false;
      this.#isModern = connection.isModern;
      return connection;
    } finally {
      this.#openings.delete(opening);
      this.#wake();
    }
  }

  /** Nothing was sent yet, so it can be tried again. */
  async #opened(signal: AbortSignal | undefined): Promise<McpConnection> {
    for (const pause of this.#isModern === undefined ? [] : PAUSES) {
      try {
        return await this.#options.open();
      } catch (error) {
        if (this.#isClosed) throw error;
        await sleep(pause, undefined, signal === undefined ? {} : { signal });
      }
    }
    return this.#options.open();
  }

  #use(connection: McpConnection): Lease {
    this.#users.set(connection, (this.#users.get(connection) ?? 0) + 1);
    let isReleased = false;
    return {
      connection,
      release: (suspect = false) => {
        if (isReleased) return;
        isReleased = true;
        this.#users.set(connection, (this.#users.get(connection) ?? 1) - 1);
        if (suspect) this.#retire(connection);
        this.#settle(connection);
        this.#wake();
      },
    };
  }

  #retire(connection: McpConnection): void {
    this.#isLost = true;
    this.#retired.add(connection);
    if (this.#shared === connection) this.#shared = undefined;
  }

  /** Keeps the connection for the next call, or closes it. */
  #settle(connection: McpConnection): void {
    if ((this.#users.get(connection) ?? 0) > 0 || !this.#all.has(connection)) return;
    if (this.#retired.has(connection)) void connection.close();
    else if (!connection.isModern) this.#keep(connection);
  }

  #keep(connection: McpConnection): void {
    connection.onElicitation = undefined;
    connection.onElicitationComplete = undefined;
    if (this.#idle.length === 0 || this.#waiting.length > 0) {
      this.#idle.push(connection);
      return;
    }
    this.#retired.add(connection);
    void connection.close();
  }

  #forget(connection: McpConnection): void {
    this.#all.delete(connection);
    this.#users.delete(connection);
    if (!this.#retired.delete(connection)) this.#isLost = true;
    this.#idle = this.#idle.filter((one) => one !== connection);
    if (this.#shared === connection) this.#shared = undefined;
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async #room(signal: AbortSignal | undefined): Promise<void> {
    const room = Promise.withResolvers<void>();
    this.#waiting.push(room.resolve);
    const wake = (): void => room.resolve();
    signal?.addEventListener("abort", wake, { once: true });
    await room.promise;
    signal?.removeEventListener("abort", wake);
  }
}
