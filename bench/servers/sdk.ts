import { createServer } from "node:http";
import type { AgentCard } from "a2a-sdk-v1";
import { DefaultRequestHandler, InMemoryTaskStore } from "a2a-sdk-v1/server";
import { jsonRpcHandler, UserBuilder } from "a2a-sdk-v1/server/express";
import express from "express";
import { announce, declareMissing, readConfig } from "./control.ts";
import { openDatabaseStore } from "./sdk-database-store.ts";
import { createExecutor } from "./sdk-executor.ts";
import { fillStore } from "./sdk-fill.ts";

/** The official SDK with its own request handler, JSON-RPC handler and Express middleware, as its users run it. */
interface SdkConfig {
  /** A SQLite file for its database store; absent: in memory. */
  readonly database: string;
  /** Number of finished tasks at the start. */
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

try {
  const store = config.database === undefined ? new InMemoryTaskStore() : await openDatabaseStore(config.database);
  await fillStore(store, config.tasks ?? 0);
  listen(new DefaultRequestHandler(card, store, createExecutor()));
} catch (error) {
  if (!isMissingModule(error)) throw error;
  const name = /package '([^']+)'/.exec(error.message)?.[1] ?? "unknown";
  declareMissing(`the SDK's database store needs the package \`${name}\`, which is not installed.`);
}

function listen(requestHandler: DefaultRequestHandler): void {
  const server = createServer(
    express().use("/", jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication })),
  );
  server.listen(0, "127.0.0.1", () => announce(server.address(), "Express, as its documentation sets it up"));
}

function isMissingModule(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
}
