import { once } from "node:events";
import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import express, { type Express } from "express";
import fastify, { type FastifyInstance } from "fastify";
import { Hono } from "hono";
import { mount } from "hono/mount";
import type { Server } from "../../src/index.ts";
import { ROOT } from "../architecture/imports.ts";
import { serveFetch } from "./serve-fetch.ts";

/** An application that agents are mounted in. Each has a page of its own at `/hello`. */
export interface Host {
  readonly name: string;
  /** Below which the agents are; empty: the root. */
  readonly prefix: string;
  /** The host's own parser is asked before the agents: its limits and its complaints come first. */
  readonly parsesFirst: boolean;
  /** Resolves with how to stop it. */
  start(agents: Server, port: number): Promise<() => Promise<void>>;
}

/** The examples, each below a prefix (some hosts take it off, some do not), and for each the shortest way to mount at the root. */
export const HOSTS: readonly Host[] = [
  below("node:http", async (agents, port) => listen((await load<HttpServer>("mount-node.ts"))(agents), port)),
  below("Express", async (agents, port) =>
    listen(createServer((await load<Express>("mount-express.ts"))(agents)), port),
  ),
  below("Fastify", async (agents, port) =>
    listenFastify((await load<FastifyInstance>("mount-fastify.ts"))(agents), port),
  ),
  below("Hono", async (agents, port) => listen(serveFetch((await load<Hono>("mount-hono.ts"))(agents).fetch), port)),
  below("Hono's mount()", (agents, port) => {
    const app = new Hono();
    app.get("/hello", (context) => context.json(HELLO));
    app.all("/assistant/*", mount(agents.fetch));
    return listen(serveFetch(app.fetch), port);
  }),
  atRoot("node:http", (agents, port) => {
    const server = createServer((request, response) => {
      if (request.url === "/hello") response.end(JSON.stringify(HELLO));
      else agents.nodeHandler(request, response);
    });
    return listen(server, port);
  }),
  {
    ...atRoot("Express behind its parsers", (agents, port) => {
      const app = express();
      app.use(express.json(), express.urlencoded(), express.text());
      app.get("/hello", (_request, response) => void response.json(HELLO));
      app.use(agents.nodeHandler);
      return listen(createServer(app), port);
    }),
    parsesFirst: true,
  },
  atRoot("Fastify", (agents, port) => {
    const app = fastify();
    app.get("/hello", async () => HELLO);
    app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
      scope.all("/*", (request, reply) => {
        reply.hijack();
        agents.nodeHandler(request.raw, reply.raw);
      });
    });
    return listenFastify(app, port);
  }),
  atRoot("Hono", (agents, port) => {
    const app = new Hono();
    app.get("/hello", (context) => context.json(HELLO));
    app.all("*", (context) => agents.fetch(context.req.raw));
    return listen(serveFetch(app.fetch), port);
  }),
];

export const HELLO = { hello: "from the application" };

function below(name: string, start: Host["start"]): Host {
  return { name, prefix: "/assistant", parsesFirst: false, start };
}

function atRoot(name: string, start: Host["start"]): Host {
  return { name, prefix: "", parsesFirst: false, start };
}

/** The examples are compiled by rules of their own, so they are not imported by name. */
async function load<App>(example: string): Promise<(agents: Server) => App> {
  const module: { createApp(agents: Server): App } = await import(join(ROOT, "examples", example));
  return module.createApp;
}

async function listen(server: HttpServer, port: number): Promise<() => Promise<void>> {
  await once(server.listen(port, "127.0.0.1"), "listening");
  return async () => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
}

async function listenFastify(app: FastifyInstance, port: number): Promise<() => Promise<void>> {
  await app.listen({ port, host: "127.0.0.1" });
  return async () => {
    app.server.closeAllConnections();
    await app.close();
  };
}

/** A port that nobody listens on just now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
