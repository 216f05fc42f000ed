import type { ServerResponse } from "node:http";
import { listen } from "./open-servers.ts";

/** A request as the raw server sees it. */
export interface RawCall {
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly id: number;
  readonly outgoing: ServerResponse;
  /** Answers with a result. */
  reply(result: unknown): void;
}

/** Answers a request; `false`: as a normal server of 2025 would. */
export type RawAnswer = (call: RawCall) => boolean | Promise<boolean>;

const TOOL = { name: "go", description: "Goes.", inputSchema: { type: "object" } };

/** An MCP server of 2025 without any SDK, which does what a test wants. Default: one tool, `go`. */
export function openRawServer(answer: RawAnswer = () => false): ReturnType<typeof listen> {
  return listen(async (incoming, outgoing) => {
    if (incoming.method !== "POST") return void outgoing.writeHead(405).end();
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString()) as Pick<RawCall, "id" | "method"> &
      Partial<RawCall>;
    if (id === undefined) return void outgoing.writeHead(202).end();
    const send = (body: object): void => {
      outgoing.writeHead(200, { "content-type": "application/json" });
      outgoing.end(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
    };
    const reply = (result: unknown): void => send({ result });
    if (await answer({ method, params: params ?? {}, id, outgoing, reply })) return;
    const serverInfo = { name: "raw", version: "1" };
    const capabilities = { tools: {} };
    if (method === "initialize") reply({ protocolVersion: "2025-06-18", capabilities, serverInfo });
    else if (method === "tools/list") reply({ tools: [TOOL] });
    else if (method === "tools/call") reply({ content: [{ type: "text", text: "Went." }] });
    else send({ error: { code: -32601, message: `No method ${method}` } });
  });
}
