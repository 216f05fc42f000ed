import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { TaskFailure } from "palaver";
import { type AgentClient, connect, type RemoteStreamEvent, textOf } from "palaver/client";
import { AgentLoop } from "palaver/plain";
import { from, Observable, Subject, throwError } from "rxjs";
import { expect, it, onTestFinished } from "vitest";
import { type PrintedName, runPrinted } from "../printed/run.ts";
import { serveScript } from "../test-server.ts";
import { seed } from "./seed.ts";

/** Runs the servers that the seed prints, unchanged, and calls them with our client. */

const uuid = (): string => crypto.randomUUID();

/** Starts a printed server on a free port and connects to it with a card: the server has none. */
async function connectTo(
  program: PrintedName,
  scope: Readonly<Record<string, unknown>>,
  card: { readonly preferredTransport: string; readonly path: string },
): Promise<AgentClient> {
  const { router } = runPrinted<{ readonly router: express.Router }>(program, {
    names: ["router"],
    scope: { Router: literalRouter, ...scope },
  });
  const server = createServer(express().use(express.json(), router)).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // Unchecked cast: the server listens on a port.
  const { preferredTransport, path } = card;
  const about = {
    name: "Theirs",
    version: "1",
    protocolVersion: "0.3.0",
    capabilities: { streaming: true },
    skills: [],
  };
  return connect(
    { ...about, preferredTransport, url: `http://127.0.0.1:${port}${path}` },
    { restStyle: "json", retry: { attempts: 1, reconnects: 1, baseDelay: 1 } },
  );
}

/** Express reads `:stream` and `:send` in a path as parameters, so both printed routes would match every method. */
function literalRouter(): express.Router {
  const router = express.Router();
  const post = router.post.bind(router);
  return Object.assign(router, {
    post: (path: string, handler: express.RequestHandler) => post(path.replace(":", "\\:"), handler),
  });
}

async function linesOf(remote: AgentClient, text = "Analyze sales data"): Promise<string[]> {
  const lines: string[] = [];
  for await (const event of remote.stream(text)) lines.push(lineOf(event));
  return lines;
}

function lineOf(event: RemoteStreamEvent): string {
  if (event.kind === "artifact") return `Artifact: ${textOf(event.artifact.parts)}`;
  if (event.kind === "status") return `Status: ${event.status.state}`;
  return event.kind === "task" ? `Task: ${event.task.status.state}` : "Message";
}

it(
  seed.example(
    "Server-Side (TypeScript) › called by our client",
    "the printed server's `started` is read as submitted, and a part without an artifact as a chunk",
  ),
  async () => {
    const unused = (): never => {
      throw new Error("Not called: the stream ends with the task");
    };
    const remote = await connectTo(
      "002-server-side.txt",
      {
        ...{ Observable, Subject, handleTasksGet: unused },
        ...{ generateTaskId: uuid, generateContextId: uuid, generateId: uuid },
      },
      { preferredTransport: "JSONRPC", path: "/api/a2a" },
    );
    expect(await linesOf(remote)).toEqual([
      "Task: submitted",
      "Status: working",
      "Artifact: Result content here...",
      "Status: completed",
    ]);
  },
);

const CHUNK = { type: "artifact-chunk", artifactId: "art-1" };
const EVENTS = [
  { type: "status-update", state: "working" },
  { ...CHUNK, chunk: "Sales " },
  { ...CHUNK, chunk: "increased", append: true, lastChunk: true },
];

/** The class that the printed server imports: ours, over an agent whose run returns events. */
async function agentLoop(): Promise<new () => AgentLoop> {
  const testServer = await serveScript((task) => {
    if (task.text === "fail") return throwError(() => new TaskFailure("No such table"));
    return task.text === "Hello" ? from([{ ...CHUNK, chunk: "Hello back", lastChunk: true }]) : from(EVENTS);
  });
  onTestFinished(() => testServer[Symbol.asyncDispose]());
  return class extends AgentLoop {
    constructor() {
      super({ server: testServer.server });
    }
  };
}

const REST = { preferredTransport: "HTTP+JSON", path: "" };

it(
  seed.example(
    "Server (TypeScript/Express + RxJS) › called by our client",
    "over REST, the printed server's bare events are read; a send returns its task, and its errors are errors",
  ),
  async () => {
    const remote = await connectTo("002-server.txt", { AgentLoop: await agentLoop(), uuidv4: uuid }, REST);
    expect(await linesOf(remote)).toEqual([
      "Task: submitted",
      "Status: working",
      "Artifact: Sales ",
      "Artifact: increased",
      "Status: completed",
    ]);
    const sent = await remote.send("Hello");
    expect(sent).toMatchObject({
      kind: "task",
      task: { status: { state: "completed" }, artifacts: [{ parts: [{ text: "Hello back" }] }] },
    });
    await expect(remote.send("fail")).rejects.toMatchObject({ name: "RemoteError", message: "No such table" });
  },
);

it(
  seed.example(
    "Server (TypeScript/Express + RxJS) › errors",
    "an error among the printed server's events ends the stream if the task cannot be read again",
  ),
  async () => {
    const remote = await connectTo("002-server.txt", { AgentLoop: await agentLoop(), uuidv4: uuid }, REST);
    await expect(linesOf(remote, "fail")).rejects.toMatchObject({ name: "RemoteError" });
  },
);
