/** A row of a result, by column. */
export type Row = Readonly<Record<string, unknown>>;

/** What Palaver uses of a connection of the package `pg`. */
export interface PostgresClient {
  connect(): Promise<unknown>;
  query(text: string, values?: unknown[]): Promise<{ readonly rows: Row[] }>;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "end", listener: () => void): unknown;
  on(event: "notification", listener: (message: { readonly payload?: string | undefined }) => void): unknown;
  /** Closes the connection; if a query is under way, without waiting for it. */
  end(): Promise<void>;
}

/** Connections that are shared by queries that need no order. */
export interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: Row[] }>;
  on(event: "error", listener: (error: Error) => void): unknown;
  end(): Promise<void>;
}

/** How to connect. Durations are milliseconds. */
export interface ConnectionOptions {
  /** Such as `postgres://user:password@host:5432/database`. */
  readonly url: string;
  /** Name of the connection in `pg_stat_activity`. */
  readonly name: string;
  /** A query that takes longer fails. 0: no limit. */
  readonly queryTimeout: number;
  /** An attempt to connect that takes longer fails. Default 5000. */
  readonly connectTimeout?: number;
}

export interface PostgresDriver {
  createClient(options: ConnectionOptions): PostgresClient;
  /** `size`: how many connections at most; `kept`: how many stay open while they are idle, default 0. */
  createPool(options: ConnectionOptions & { readonly size: number; readonly kept?: number }): PostgresPool;
}

/** Milliseconds until an attempt to connect fails. */
const CONNECT_TIMEOUT = 5000;
/** The type `bigint`, which the driver returns as text by default. All numbers here are exact as JavaScript numbers. */
const BIGINT = 20;

/** Loads the package `pg`. Rejects with an error that says how to install it. */
export async function loadPostgresDriver(): Promise<PostgresDriver> {
  const { default: pg } = await import("pg").catch((error: unknown) => {
    throw new Error("PostgreSQL needs the package pg, which is not installed. Install it: npm install pg", {
      cause: error,
    });
  });
  const types = {
    getTypeParser: (oid: number, format?: "text" | "binary"): unknown =>
      oid === BIGINT ? Number : pg.types.getTypeParser(oid, format),
  };
  const configOf = ({ url, name, queryTimeout, connectTimeout = CONNECT_TIMEOUT }: ConnectionOptions) => ({
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: connectTimeout,
    keepAlive: true,
    types,
    ...(queryTimeout > 0 && { query_timeout: queryTimeout }),
  });
  return {
    createClient: (options) => new pg.Client(configOf(options)),
    createPool: (options) => new pg.Pool({ ...configOf(options), max: options.size, min: options.kept ?? 0 }),
  };
}
