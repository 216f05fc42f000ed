import { A2AExpressApp, DefaultRequestHandler, InMemoryTaskStore } from "a2a-sdk-v0_2/server";
import { installedVersion } from "../../peers/clients/installed-version.ts";
import type { ServerLine } from "../server-line.ts";
import { kindedCard, kindedExecutor } from "./kinds.ts";
import { listen } from "./listen.ts";

const NOT_IN_PROTOCOL = "there is no such thing in version 0.2 of the protocol";

/** The official server of 0.2. */
export const a2aJsV02: ServerLine = {
  package: "@a2a-js/sdk",
  version: installedVersion("a2a-sdk-v0_2"),
  protocol: "0.2",
  bindings: ["JSONRPC"],
  lacks: {
    "content-types": "the server does not look at content types",
    "context-check": "the server does not compare contexts",
    "extended-card": "the server has no extended card",
    "history-in-sends": "the server gives the whole history whatever is asked for",
    "history-zero": "version 0.2 of the protocol has no way to ask for none",
    "push-with-message": "the server does not look at push configurations in messages",
    "push-many": "the server keeps one push configuration per task",
    extensions: "the server does not look at extensions",
    lists: NOT_IN_PROTOCOL,
    owners: "the server has no way to know its callers",
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
      // Safe: a card of 0.3 has all that one of 0.2 has.
      const handler = new DefaultRequestHandler(card as never, new InMemoryTaskStore(), kindedExecutor(pace));
      // Safe: it was typed against an older Express, whose applications have the same methods.
      new A2AExpressApp(handler).setupRoutes(app as never);
    }),
};
