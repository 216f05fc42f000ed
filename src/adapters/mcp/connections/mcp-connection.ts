import type { Client, ElicitRequestParams, ElicitResult, Transport } from "@modelcontextprotocol/client";
import { MessageTooLarge } from "./limited-fetch.ts";
import { watchChanges } from "./watch-changes.ts";

/** Answers a question of the server. */
export type ElicitationHandler = (question: ElicitRequestParams) => Promise<ElicitResult>;

export interface ConnectionOptions {
  readonly openTransport: () => Promise<Transport>;
  /** Milliseconds for opening the connection. */
  readonly connectTimeout: number;
  /** The server said that its tools, prompts or resources have changed. */
  readonly onListChanged: () => void;
}

/** One open connection to an MCP server. */
export interface McpConnection {
  readonly client: Client;
  /** Revision 2026-07-28 or later: any number of calls share the connection, and questions are part of results. */
  readonly isModern: boolean;
  /** What broke the connection; `undefined` while it is usable. */
  failure(): Error | undefined;
  /** Answers questions of an earlier revision, which come as requests of their own. Absent: they are declined. */
  onElicitation: ElicitationHandler | undefined;
  /** Called with the id of a question by URL that was settled elsewhere. */
  onElicitationComplete: ((id: string) => void) | undefined;
  /** Resolves when the connection has ended. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** Opens a connection with the newest revision that the server speaks. Rejects with the error of the transport. */
export async function openConnection(options: ConnectionOptions): Promise<McpConnection> {
  try {
    return await connect(options, "auto");
  } catch (error) {
    // Some servers of earlier revisions end when they are asked for the newer one.
    if (!isConnectionLost(error)) throw error;
    return connect(options, "legacy");
  }
}

async function connect(options: ConnectionOptions, mode: "auto" | "legacy"): Promise<McpConnection> {
  const { Client } = await import("@modelcontextprotocol/client");
  const { connectTimeout: timeout, onListChanged } = options;
  const ended = Promise.withResolvers<void>();
  let failure: Error | undefined;
  const renewed = { autoRefresh: false, onChanged: onListChanged };
  const client = new Client(
    { name: "palaver", version: "1" },
    {
      capabilities: { elicitation: { form: {}, url: {} } },
      versionNegotiation: { mode },
      inputRequired: { autoFulfill: false },
      listChanged: { tools: renewed, prompts: renewed, resources: renewed },
    },
  );
  const connection: McpConnection = {
    client,
    get isModern() {
      return client.getProtocolEra() === "modern";
    },
    failure: () => failure,
    onElicitation: undefined,
    onElicitationComplete: undefined,
    closed: ended.promise,
    close: () => client.close().catch(() => {}),
  };
  let watch: { stop(): void } | undefined;
  client.onclose = () => {
    watch?.stop();
    failure ??= new Error("The connection to the MCP server was closed.");
    ended.resolve();
  };
  client.onerror = (error) => {
    if (error instanceof MessageTooLarge) failure ??= error;
  };
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    return connection.onElicitation === undefined ? { action: "decline" } : connection.onElicitation(params);
  });
  client.setNotificationHandler("notifications/elicitation/complete", ({ params }) => {
    connection.onElicitationComplete?.(params.elicitationId);
  });
  const transport = await options.openTransport();
  try {
    await client.connect(transport, { timeout });
  } catch (error) {
    await transport.close().catch(() => {});
    throw failure instanceof MessageTooLarge ? failure : error;
  }
  watch = watchChanges(client, onListChanged);
  return connection;
}

function isConnectionLost(error: unknown): boolean {
  return error instanceof Error && /closed|ended/i.test(error.message) && !(error instanceof MessageTooLarge);
}
