import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AgentCard } from "a2a-sdk-v1";
import {
  DefaultRequestHandler,
  defaultServerCallContextBuilder,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  UnauthenticatedUser,
} from "a2a-sdk-v1/server";
import { announce, declareMissing, readConfig } from "./control.ts";
import { openDatabaseStore } from "./sdk-database-store.ts";
import { createExecutor } from "./sdk-executor.ts";
import { fillStore } from "./sdk-fill.ts";

/**
 * The official SDK behind bare `node:http`: its own request handler and JSON-RPC handler, without the web framework it is
 * usually mounted in, which would only slow it down.
 */
interface SdkConfig {
  /** A SQLite file for its database store; absent: in memory. */
  readonly database: string;
  /** So many finished tasks from the start. */
  readonly tasks: number;
}

const card: AgentCard = {
  name: "Bench",
  description: "Answers what the bench asks.",
  version: "1.0.0",
  supportedInterfaces: [{ url: "http://127.0.0.1/", protocolBinding: "JSONRPC", protocolVersion: "1.0", tenant: "" }],
  provider: undefined,
  capabilities: { streaming: true, extensions: [] },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [],
  signatures: [],
};

const config = readConfig<SdkConfig>();
const user = new UnauthenticatedUser();

try {
  const store = config.database === undefined ? new InMemoryTaskStore() : await openDatabaseStore(config.database);
  await fillStore(store, config.tasks ?? 0);
  listen(new JsonRpcTransportHandler(new DefaultRequestHandler(card, store, createExecutor())));
} catch (error) {
  if (!isMissingModule(error)) throw error;
  const name = /package '([^']+)'/.exec(error.message)?.[1] ?? "unknown";
  declareMissing(`the SDK's database store needs the package \`${name}\`, which is not installed.`);
}

function listen(rpc: JsonRpcTransportHandler): void {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      void respond(rpc, Buffer.concat(chunks).toString("utf8"), { request, response });
    });
  });
  server.listen(0, "127.0.0.1", () => announce(server.address(), "node:http, no web framework"));
}

interface HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

async function respond(rpc: JsonRpcTransportHandler, body: string, { request, response }: HttpExchange): Promise<void> {
  const context = defaultServerCallContextBuilder({
    extensions: undefined,
    user,
    headers: request.headers,
    requestedVersion: "1.0",
  });
  const result = await rpc.handle(body, context);
  if (!(Symbol.asyncIterator in result)) {
    const text = JSON.stringify(result);
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
    response.end(text);
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  for await (const event of result) response.write(`data: ${JSON.stringify(event)}\n\n`);
  response.end();
}

function isMissingModule(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
}
