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

/** An application that mounts agents. Each application has its own page at `/hello`. */
export interface Host {
  readonly name: string;
  /** The path below which the agents are mounted; empty for the root. */
  readonly prefix: string;
  /** The host parses bodies before the agents do: its limits and errors apply first. */
  readonly parsesFirst: boolean;
  /** Starts the host; resolves with a function that stops it. */
  start(agents: Server, port: number): Promise<() => Promise<void>>;
}

/**
 * The examples, each below a prefix (some hosts strip the prefix, some do not), and for each the shortest way to mount
 * at the root.
 */
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

/** The examples have their own compiler settings, so they are loaded by path. */
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

/** Returns a free port. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
