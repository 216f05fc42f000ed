import { Agent, request } from "node:http";
import { HEADERS } from "./requests.ts";

/** The checked members of a response. */
export interface RpcResult {
  readonly task?: TaskResult;
  readonly id?: string;
  readonly tasks?: readonly TaskResult[];
  readonly nextPageToken?: string;
  readonly totalSize?: number;
}

export interface TaskResult {
  readonly id: string;
  readonly contextId?: string;
  readonly status: { readonly state: string; readonly timestamp?: string };
  readonly artifacts?: readonly { readonly parts: readonly { readonly text?: string }[] }[];
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const LIMIT_MS = 60_000;

/** Sends one JSON-RPC call. Rejects unless the response is a result. */
export async function call(port: number, body: string): Promise<RpcResult> {
  return resultOf(await post(port, body));
}

/** The same with its duration in milliseconds, from sending the request to the complete response. */
export async function timedCall(
  port: number,
  body: string,
): Promise<{ readonly ms: number; readonly result: RpcResult }> {
  const start = performance.now();
  const text = await post(port, body);
  const ms = performance.now() - start;
  return { ms, result: resultOf(text) };
}

function resultOf(text: string): RpcResult {
  const answer: { readonly result?: RpcResult; readonly error?: { readonly message: string } } = JSON.parse(text);
  if (answer.result === undefined) throw new Error(`The server refused: ${answer.error?.message ?? "no result"}`);
  return answer.result;
}

function post(port: number, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: "127.0.0.1", port, method: "POST", path: "/", headers: HEADERS, agent },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("end", () =>
          response.statusCode === 200 ? resolve(text) : reject(new Error(`HTTP ${response.statusCode}: ${text}`)),
        );
        response.on("error", reject);
      },
    );
    outgoing.setTimeout(LIMIT_MS, () => outgoing.destroy(new Error(`No response within ${LIMIT_MS / 1000} s.`)));
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}
