import { createServer, type ServerResponse } from "node:http";
import { announce } from "./control.ts";
import { chunkText, readWorkload, stampedText, type Workload } from "./workload.ts";

/**
 * A minimal server of event streams over `node:http`: it writes the frames that Palaver writes for the same workload, from
 * a timer, and stores nothing. It is the baseline of paced streams.
 */
const TASK_ID = "0193a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b";
const CONTEXT_ID = "0193a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1c";
const OPENING = { task: { id: TASK_ID, contextId: CONTEXT_ID, status: { state: "TASK_STATE_SUBMITTED" } } };

interface StreamRequest {
  readonly id: string | number;
  readonly params: { readonly message: { readonly parts: readonly { readonly text: string }[] } };
}

function frame(seq: number, id: string | number, result: object): string {
  return `id: ${seq}\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`;
}

function chunk(text: string): object {
  const artifact = { artifactId: "result", parts: [{ text }] };
  return { artifactUpdate: { taskId: TASK_ID, contextId: CONTEXT_ID, artifact, append: true } };
}

function stream({ id, params }: StreamRequest, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.write(frame(0, id, OPENING));
  const workload = readWorkload(params.message.parts[0]?.text ?? "");
  if (workload.kind === "paced") writePaced(workload, id, response);
  else if (workload.kind === "chunks") writeChunks(workload, id, response);
  else throw new Error(`This server cannot do ${workload.kind}.`);
}

function writeChunks(
  workload: Extract<Workload, { kind: "chunks" }>,
  id: string | number,
  response: ServerResponse,
): void {
  for (let index = 0; index < workload.count; index += 1) {
    response.write(frame(index + 1, id, chunk(chunkText(index, workload.bytes))));
  }
  response.end();
}

function writePaced(
  { count, perSecond }: Extract<Workload, { kind: "paced" }>,
  id: string | number,
  response: ServerResponse,
): void {
  const start = performance.now();
  let index = 0;
  const tick = () => {
    if (response.destroyed) return;
    response.write(frame(index + 1, id, chunk(stampedText())));
    index += 1;
    if (index === count) response.end();
    else setTimeout(tick, start + (index * 1000) / perSecond - performance.now());
  };
  tick();
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (bytes: Buffer) => chunks.push(bytes));
  request.on("end", () => stream(JSON.parse(Buffer.concat(chunks).toString("utf8")), response));
});
server.listen(0, "127.0.0.1", () => announce(server.address(), "node:http"));
