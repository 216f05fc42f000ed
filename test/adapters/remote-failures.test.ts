import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { remoteAgent } from "palaver";
import { expect, it, onTestFinished } from "vitest";
import { connect, type Task, textOf } from "../../src/client.ts";
import { CERTIFICATE, PRIVATE_KEY } from "../../src/outgoing/test/certificate.ts";
import type { AgentCard } from "../../src/protocol/card.ts";
import { openSite } from "../client/own-server.ts";
import { openOrigin, type Received } from "../client/recording-origin.ts";
import { until } from "../e2e/workbench.ts";
import { QUICK, taskOf } from "./relaying.ts";

const DATABASE = "postgres://app:hunter2@db.internal:5432/agents";
const PAGE = `<html><h1>Oops</h1><pre>Error: ${DATABASE}\n    at run (/srv/agent/index.js:10:5)</pre></html>`;

type Answer = (response: ServerResponse, request: Received) => void;

/** A failure, the address of the remote agent, and the error that callers receive. */
interface Case {
  readonly start: () => Promise<string>;
  readonly code: string;
  /** The text in the log. */
  readonly logged: string;
}

const answering = (answer: Answer) => async (): Promise<string> => {
  const origin = await openOrigin(answer);
  onTestFinished(() => origin.close());
  return `${origin.url}/secret-path`;
};

const page =
  (status: number): Answer =>
  (response) =>
    void response.writeHead(status, { "content-type": "text/html", "www-authenticate": "Bearer" }).end(PAGE);

const rpcError =
  (code: number): Answer =>
  (response, { body }) => {
    const error = { code, message: `Failed at ${DATABASE}`, data: { trace: "at run (/srv/agent/index.js:10:5)" } };
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(body).id, error }));
  };

const event = (id: unknown, result: object): string => `data: ${JSON.stringify({ jsonrpc: "2.0", id, ...result })}\n\n`;
const WORKING = { id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING", timestamp: "2030-01-01T00:00:00Z" } };

/** A valid start of a stream. */
const beginning =
  (end: (response: ServerResponse, id: unknown) => void): Answer =>
  (response, { body }) => {
    const { id, method } = JSON.parse(body);
    if (method !== "SendStreamingMessage") return page(502)(response, { body, headers: {}, method: "", url: "" });
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(event(id, { result: { task: WORKING } }));
    end(response, id);
  };

async function closedPort(): Promise<string> {
  const origin = await openOrigin(() => {});
  await origin.close();
  return `${origin.url}/secret-path`;
}

async function badCertificate(): Promise<string> {
  const server = createTlsServer({ cert: CERTIFICATE, key: PRIVATE_KEY }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/secret-path`;
}

const CASES: Readonly<Record<string, Case>> = {
  "a connection that is refused": { start: closedPort, code: "remote-unavailable", logged: "ECONNREFUSED" },
  "an unknown host name": {
    start: async () => "http://db.internal.invalid:4321/secret-path",
    code: "remote-unavailable",
    logged: "db.internal.invalid",
  },
  "an untrusted certificate": { start: badCertificate, code: "remote-unavailable", logged: "certificate" },
  "an HTML page with HTTP 500": { start: answering(page(500)), code: "remote-unavailable", logged: "hunter2" },
  "an HTML page with HTTP 502": { start: answering(page(502)), code: "remote-unavailable", logged: "hunter2" },
  "an HTML page with HTTP 429": { start: answering(page(429)), code: "remote-busy", logged: "429" },
  "an HTML page with HTTP 401": { start: answering(page(401)), code: "remote-unauthorized", logged: "401" },
  "an HTML page with HTTP 403": { start: answering(page(403)), code: "remote-unauthorized", logged: "403" },
  "an HTML page instead of JSON": { start: answering(page(200)), code: "remote-invalid", logged: "hunter2" },
  "invalid JSON": {
    start: answering((response) =>
      response.writeHead(200, { "content-type": "application/json" }).end(`{"${DATABASE}`),
    ),
    code: "remote-invalid",
    logged: "hunter2",
  },
  "JSON that is not a JSON-RPC response": {
    start: answering((response) => response.writeHead(200, { "content-type": "application/json" }).end("[1]")),
    code: "remote-invalid",
    logged: "JSON-RPC",
  },
  "an internal error with secrets": { start: answering(rpcError(-32603)), code: "remote-refused", logged: "hunter2" },
  "a refusal with secrets": { start: answering(rpcError(-32602)), code: "remote-refused", logged: "hunter2" },
  "a redirect to an internal host": {
    start: answering((response) => response.writeHead(307, { location: "http://db.internal:5432/x" }).end()),
    code: "remote-unavailable",
    logged: "db.internal",
  },
  "an error in the middle of a stream": {
    start: answering(
      beginning((response, id) => response.end(event(id, { error: { code: -32602, message: `No ${DATABASE}` } }))),
    ),
    code: "remote-refused",
    logged: "hunter2",
  },
  "an event that is not JSON": {
    start: answering(beginning((response) => response.end(`data: {"${DATABASE}\n\n`))),
    code: "remote-invalid",
    logged: "hunter2",
  },
  "a stream that is cut and cannot be resumed": {
    start: answering(beginning((response) => response.write(": alive\n\n", () => response.destroy()))),
    code: "remote-unavailable",
    logged: "hunter2",
  },
};

function cardAt(url: string): AgentCard {
  return {
    name: "Behind",
    description: "Works elsewhere.",
    version: "1",
    interfaces: [{ url, binding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: { streaming: true },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
  };
}

/** A `fetch` that records every response body. */
function listening(): { readonly fetch: typeof fetch; readonly bodies: Promise<string>[] } {
  const bodies: Promise<string>[] = [];
  return {
    bodies,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      bodies.push(response.clone().text());
      return response;
    },
  };
}

function codeIn({ status }: Task): unknown {
  const parts = status.message?.parts ?? [];
  return parts.flatMap(({ data }) => (data === undefined ? [] : [data]))[0];
}

it.each(Object.entries(CASES))(
  "%s gives callers of a bridge an error code without internal details, and logs the details",
  async (_what, { start, code, logged }) => {
    const url = await start();
    const lines: string[] = [];
    const note = (text: string, details?: object): void => void lines.push(`${text} ${inspect(details, { depth: 8 })}`);
    const webhook = await openOrigin((response) => response.end());
    const options = { retry: { attempts: 1, reconnects: 2, baseDelay: 1, maxDelay: 2 }, poll: QUICK.poll };
    const site = await openSite(await remoteAgent(cardAt(url), options), {
      logger: { debug: note, info: note, warn: note, error: note },
      outgoing: { http: true, allow: ["loopback"] },
    });
    onTestFinished(async () => {
      await site.close();
      await webhook.close();
    });
    const { fetch, bodies } = listening();
    const caller = await connect(site.url, { fetch, cache: false });
    // The card names the remote agent on purpose, so it is not checked.
    bodies.length = 0;
    const sent = taskOf(await caller.send("hello", { push: { url: webhook.url, token: "t" } }));
    const streamed = await caller.stream("hello").result();
    await caller.task(sent.id).get();
    await caller.taskPage({ artifacts: true, historyLength: 10 });
    await until(() => webhook.received.some(({ body }) => body.includes("FAILED")));

    expect(sent.status.state).toBe("failed");
    expect(codeIn(sent)).toMatchObject({ code });
    expect(codeIn(taskOf(streamed))).toMatchObject({ code });
    expect(textOf(sent.status.message?.parts ?? [])).toMatch(/^The agent "Behind" [a-zA-Z0-9:,' -]+\.$/);
    const { host, port } = new URL(url);
    const seen = [...(await Promise.all(bodies)), ...webhook.received.map(({ body }) => body)].join("\n");
    for (const internal of [
      host,
      `:${port}`,
      "secret-path",
      "hunter2",
      "postgres",
      "db.internal",
      "<",
      "/srv/",
      "ECONN",
    ]) {
      expect(seen).not.toContain(internal);
    }
    expect(lines.join("\n")).toContain(logged);
  },
);

it("relays the message of the remote agent's failed task", async () => {
  const status = {
    state: "TASK_STATE_FAILED",
    timestamp: "2030-01-01T00:00:01Z",
    message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "Out of ink" }] },
  };
  const url = await answering((response, { body }) => {
    const { id } = JSON.parse(body);
    const task = event(id, { result: { task: { ...WORKING, status } } });
    response.writeHead(200, { "content-type": "text/event-stream" }).end(task);
  })();
  const site = await openSite(await remoteAgent(cardAt(url), QUICK));
  onTestFinished(site.close);
  const task = taskOf(await (await connect(site.url)).send("hello"));
  expect(textOf(task.status.message?.parts ?? [])).toBe("Out of ink");
});
