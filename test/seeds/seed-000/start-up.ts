import { type ChildProcess, spawn } from "node:child_process";
import { utimes } from "node:fs/promises";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { A2AError, createServer, StartupError } from "palaver";
import { apiKeys } from "palaver/auth";
import { expect, it } from "vitest";
import { at, get, post } from "../exchange.ts";
import { createIssuer } from "../issuer.ts";
import { resultOf, rpcRequest } from "../rpc.ts";
import { scripted, serveAgents, serveScript } from "../test-server.ts";
import { seed } from "./seed.ts";
import { taskParams } from "./tasks.ts";

it(
  seed.example(
    "6.1 Start-up check › pushNotifications",
    "an agent that declares a capability the server does not support is not served",
  ),
  () => {
    const boasting = scripted(async () => "done", { capabilities: { pushNotifications: true } });
    const silent = { store: "memory:", push: false } as const;
    expect(() => createServer(boasting, silent)).toThrow(StartupError);
    expect(() => createServer(boasting, silent)).toThrow(/pushNotifications/);
  },
);

it(
  seed.example("6.3 Authentication › the card is public", "callers that may not call may still read the card"),
  async () => {
    await using testServer = await serveAgents(
      scripted(async () => "done"),
      {
        authenticate() {
          throw new A2AError("unauthenticated", "Nobody is let in");
        },
      },
    );
    const send = await post(testServer.url, rpcRequest(1, "tasks/send", taskParams("task-1", "Hello")));
    expect(send.status).toBe(401);
    expect((await get(`${testServer.url}/.well-known/agent.json`)).status).toBe(200);
  },
);

it(
  seed.example(
    "6.3 Authentication › unauthorized",
    "a caller without the token or key that the card requires gets 401 and the error code of 0.1; the card stays public",
  ),
  async () => {
    const issuer = await createIssuer();
    const keys = apiKeys({ verify: (key) => (key === "right" ? { id: "alice", scopes: [] } : undefined) });
    const security = { schemes: { bearer: issuer.verifier, key: keys } };
    await using testServer = await serveScript(async (task) => task.caller.id, {}, { security });
    const card = await get(`${testServer.url}/.well-known/agent.json`);
    expect([card.status, at(card.json, "authentication.schemes")]).toEqual([200, ["Bearer", "ApiKey"]]);
    const send = (id: string, headers: Readonly<Record<string, string>>) =>
      post(testServer.url, rpcRequest(1, "tasks/send", taskParams(id, "Hello")), headers);
    for (const shown of [{}, { authorization: "Bearer wrong" }, { "x-api-key": "wrong" }]) {
      const { status, headers, json } = await send("task-0", shown);
      expect([status, at(json, "error.code"), at(json, "id")]).toEqual([401, -32007, 1]);
      expect(headers.get("www-authenticate")).toMatch(/^Bearer .*ApiKey /);
    }
    for (const [id, shown] of [
      ["task-1", await issuer.bearer("alice")],
      ["task-2", { "x-api-key": "right" }],
    ] as const) {
      expect(at(resultOf(await send(id, shown), 1), "id")).toBe(id);
    }
  },
);

it(seed.example(
  "6.4 End to end › npm run dev",
  "serves the demonstration agents, and restarts when a source file changes",
), { timeout: 90_000 }, async () => {
  const root = fileURLToPath(new URL("../../..", import.meta.url));
  const child = spawn("npm", ["run", "dev", "--", "--port", "0", "--store", "memory:"], {
    cwd: root,
    // A separate process group, so that npm, node --watch and the server end together.
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const addresses = listeningAddresses(child);
    const first = await addresses.next();
    const card = await get(`${String(first.value)}/.well-known/agent.json`);
    expect([card.status, at(card.json, "name")]).toEqual([200, "Echo"]);
    const now = new Date();
    await utimes(`${root}/src/demo/echo.ts`, now, now);
    const second = await addresses.next();
    expect((await get(`${String(second.value)}/.well-known/agent.json`)).status).toBe(200);
  } finally {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  }
});

/** The address that the server prints, each time it starts. */
async function* listeningAddresses({ stdout }: ChildProcess): AsyncGenerator<string> {
  if (stdout === null) throw new Error("There is no output to read");
  for await (const line of createInterface(stdout)) {
    const [, address] = / is listening on (http:\S+)/.exec(line) ?? [];
    if (address !== undefined) yield address;
  }
  throw new Error("The server ended before it was listening");
}
