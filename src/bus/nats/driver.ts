import { readFileSync } from "node:fs";

/** What the bus uses of a connection of the package `@nats-io/transport-node`. */
export interface NatsConnection {
  publish(subject: string, payload: string): void;
  subscribe(
    subject: string,
    options: { readonly callback: (error: Error | null, message: { string(): string }) => void },
  ): { unsubscribe(): void };
  /** What happens to the connection; it connects again by itself. Ends when it is closed. */
  status(): AsyncIterable<{ readonly type: string; readonly error?: Error }>;
  /** Resolves when the server has received everything that was published. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** Where the servers are, and how to log in. */
export interface NatsAddress {
  /** Such as `nats.example.org:4222`. */
  readonly servers: readonly string[];
  readonly tls: boolean;
  readonly user?: string;
  readonly password?: string;
  readonly token?: string;
  /** A file with a user's JSON Web Token and key. */
  readonly credentials?: string;
}

/** Connects once. */
export type NatsConnect = (address: NatsAddress) => Promise<NatsConnection>;

/** Milliseconds until an attempt to connect fails; between two attempts; and between two checks whether the server answers. */
const CONNECT_TIMEOUT = 5000;
const RECONNECT_PAUSE = 500;
const PING_INTERVAL = 5000;

/** Loads the package `@nats-io/transport-node`. Rejects with an error that says how to install it. */
export async function loadNatsDriver(): Promise<NatsConnect> {
  const { connect, credsAuthenticator } = await import("@nats-io/transport-node").catch((error: unknown) => {
    throw new Error(
      "A bus of NATS needs the package @nats-io/transport-node, which is not installed. Install it: npm install @nats-io/transport-node",
      { cause: error },
    );
  });
  return ({ servers, tls, user, password, token, credentials }) =>
    connect({
      servers: [...servers],
      name: "palaver",
      timeout: CONNECT_TIMEOUT,
      maxReconnectAttempts: -1,
      reconnectTimeWait: RECONNECT_PAUSE,
      reconnectJitter: RECONNECT_PAUSE,
      pingInterval: PING_INTERVAL,
      maxPingOut: 2,
      // A login that fails is tried again: credentials may have been replaced on the server first.
      ignoreAuthErrorAbort: true,
      ...(tls && { tls: {} }),
      ...(user !== undefined && { user }),
      ...(password !== undefined && { pass: password }),
      ...(token !== undefined && { token }),
      ...(credentials !== undefined && { authenticator: credsAuthenticator(readFileSync(credentials)) }),
    });
}
