import { Server, ServerCredentials } from "@grpc/grpc-js";
import type { AgentCard } from "a2a-sdk-v1";
import { DefaultRequestHandler, InMemoryTaskStore } from "a2a-sdk-v1/server";
import { A2AService, grpcService, UserBuilder } from "a2a-sdk-v1/server/grpc";
import { announce } from "./control.ts";
import { createExecutor } from "./sdk-executor.ts";

/** The official SDK with its own request handler and gRPC service, as its users run it. */
const card: AgentCard = {
  name: "Bench",
  description: "Answers what the bench asks.",
  version: "1.0.0",
  supportedInterfaces: [{ url: "127.0.0.1", protocolBinding: "GRPC", protocolVersion: "1.0", tenant: "" }],
  provider: undefined,
  capabilities: { streaming: true, extensions: [] },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [],
  signatures: [],
};

const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), createExecutor());
const server = new Server();
server.addService(A2AService, { ...grpcService({ requestHandler, userBuilder: UserBuilder.noAuthentication }) });
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  announce(port, "grpc-js, as its documentation sets it up");
});
