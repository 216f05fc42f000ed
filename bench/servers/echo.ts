import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { announce } from "./control.ts";
import { ANSWER } from "./workload.ts";

/**
 * A minimal JSON-RPC server over `node:http`: reads the body, parses it, and answers with JSON of the shape and size of
 * a real response. It is the baseline of all measurements.
 */
const TASK_ID = "0193a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b";
const CONTEXT_ID = "0193a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1c";

/** The message of the task in the response to a get. */
const EARLIER_MESSAGE = {
  messageId: "bench-1-1",
  role: "ROLE_USER",
  parts: [{ text: "When does the ferry leave, and from where? Where do I buy a ticket?" }],
};

interface EchoRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params: { readonly message?: object };
}

function answer(request: EchoRequest): string {
  const task = {
    id: TASK_ID,
    contextId: CONTEXT_ID,
    status: { state: "TASK_STATE_COMPLETED", timestamp: "2026-01-01T00:00:00.000Z" },
    artifacts: [{ artifactId: "result", name: "result", parts: [{ text: ANSWER }] }],
    history: [{ ...(request.params.message ?? EARLIER_MESSAGE), taskId: TASK_ID, contextId: CONTEXT_ID }],
  };
  return JSON.stringify({ jsonrpc: "2.0", id: request.id, result: request.method === "SendMessage" ? { task } : task });
}

function serve(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = answer(JSON.parse(Buffer.concat(chunks).toString("utf8")));
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
    response.end(body);
  });
}

const server = createServer(serve);
server.listen(0, "127.0.0.1", () => announce(server.address(), "node:http"));
