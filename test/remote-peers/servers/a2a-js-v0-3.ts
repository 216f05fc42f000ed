import type { Metadata } from "@grpc/grpc-js";
import { DefaultRequestHandler, InMemoryTaskStore, UnauthenticatedUser } from "a2a-sdk-v0_3/server";
import { agentCardHandler, jsonRpcHandler, restHandler } from "a2a-sdk-v0_3/server/express";
import { A2AService, grpcService } from "a2a-sdk-v0_3/server/grpc";
import type { Request } from "express";
import { installedVersion } from "../../peers/clients/installed-version.ts";
import type { ServerLine } from "../server-line.ts";
import { kindedCard, kindedExecutor } from "./kinds.ts";
import { bearerName, listen } from "./listen.ts";
import { listenGrpc } from "./listen-grpc.ts";

const PROTO_LACKS = {
  "HTTP+JSON": "the server neither reads nor writes it over REST",
  GRPC: "the server neither reads nor writes it over gRPC",
};
const NOT_IN_PROTOCOL = "version 0.3 of the protocol does not have it";

/** The official server of 0.3. */
export const a2aJsV03: ServerLine = {
  package: "@a2a-js/sdk",
  version: installedVersion("a2a-sdk-v0_3"),
  protocol: "0.3",
  bindings: ["JSONRPC", "HTTP+JSON", "GRPC"],
  lacks: {
    "content-types": "the server does not check content types",
    "context-check": "the server does not compare contexts",
    "file-names": PROTO_LACKS,
    "history-in-sends": "the server always returns the whole history",
    "history-zero": "version 0.3 of the protocol cannot request an empty history",
    "null-data": { GRPC: "over gRPC the server reads null as 0, and writes 0" },
    "part-metadata": PROTO_LACKS,
    "unknown-methods": { "HTTP+JSON": "REST has routes, not methods" },
    references: { "HTTP+JSON": "the server does not read it over REST", GRPC: "the server does not read it over gRPC" },
    "stream-refusals": { "HTTP+JSON": "the server fails when it refuses a stream, and reports that failure instead" },
    extensions: "the server does not require extensions",
    lists: NOT_IN_PROTOCOL,
    owners: "the server shows every task to every caller",
    versions: NOT_IN_PROTOCOL,
  },
  rules: {
    finishedTask: "invalid-request",
    unknownPush: "internal",
    repeatedCancel: "task-not-cancelable",
  },
  start({ binding, profile = "able", pace, reachedAt }) {
    const way = { ...(reachedAt !== undefined && { reachedAt }) };
    const handlerAt = (url: string) => {
      const card = kindedCard(profile, { protocolVersion: "0.3.0", url, preferredTransport: binding });
      return new DefaultRequestHandler(
        card,
        new InMemoryTaskStore(),
        kindedExecutor(pace),
        undefined,
        undefined,
        undefined,
        profile === "unprepared" ? undefined : { ...card, description: "Follows a script, and more." },
      );
    };
    if (binding === "GRPC") {
      return listenGrpc(way, {
        service: A2AService,
        create(address) {
          const requestHandler = handlerAt(address);
          const cards = agentCardHandler({ agentCardProvider: requestHandler });
          return {
            implementation: { ...grpcService({ requestHandler, userBuilder: callerOf }) },
            cards: (app) => app.use("/.well-known/agent-card.json", cards),
          };
        },
      });
    }
    return listen(way, (app, url) => {
      const requestHandler = handlerAt(`${url}/a2a`);
      const handler = binding === "JSONRPC" ? jsonRpcHandler : restHandler;
      app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
      app.use("/a2a", handler({ requestHandler, userBuilder }));
    });
  },
};

async function callerOf({ metadata }: { readonly metadata: Metadata }) {
  const userName = bearerName(metadata.get("authorization")[0]?.toString());
  return userName === undefined ? new UnauthenticatedUser() : { isAuthenticated: true, userName };
}

async function userBuilder({ headers }: Request) {
  const userName = bearerName(headers.authorization);
  return userName === undefined ? new UnauthenticatedUser() : { isAuthenticated: true, userName };
}
