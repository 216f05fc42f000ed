import { A2AExpressApp, DefaultRequestHandler, InMemoryTaskStore } from "a2a-sdk-v0_2/server";
import { installedVersion } from "../../peers/clients/installed-version.ts";
import type { ServerLine } from "../server-line.ts";
import { kindedCard, kindedExecutor } from "./kinds.ts";
import { listen } from "./listen.ts";

const NOT_IN_PROTOCOL = "version 0.2 of the protocol does not have it";

/** The official server of 0.2. */
export const a2aJsV02: ServerLine = {
  package: "@a2a-js/sdk",
  version: installedVersion("a2a-sdk-v0_2"),
  protocol: "0.2",
  bindings: ["JSONRPC"],
  lacks: {
    "content-types": "the server does not check content types",
    "context-check": "the server does not compare contexts",
    "extended-card": "the server has no extended card",
    "history-in-sends": "the server always returns the whole history",
    "history-zero": "version 0.2 of the protocol cannot request an empty history",
    "push-with-message": "the server ignores webhooks in messages",
    "push-many": "the server keeps one webhook per task",
    extensions: "the server ignores extensions",
    lists: NOT_IN_PROTOCOL,
    owners: "the server does not authenticate callers",
    versions: NOT_IN_PROTOCOL,
  },
  rules: {
    finishedTask: "invalid-request",
    unknownPush: "internal",
    repeatedCancel: "task-not-cancelable",
  },
  start: ({ profile = "able", pace, reachedAt }) =>
    listen({ ...(reachedAt !== undefined && { reachedAt }) }, (app, url) => {
      const card = kindedCard(profile, { protocolVersion: "0.2.5", url });
      // Unchecked cast: a 0.3 card has all members of a 0.2 card.
      const handler = new DefaultRequestHandler(card as never, new InMemoryTaskStore(), kindedExecutor(pace));
      // Unchecked cast: the types are those of an older Express with the same methods.
      new A2AExpressApp(handler).setupRoutes(app as never);
    }),
};
