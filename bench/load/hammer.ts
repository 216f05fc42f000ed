import { connect, type Socket } from "node:net";
import { rawRequest } from "./requests.ts";
import type { LoadResult } from "./wrk.ts";

export interface HammerOptions {
  readonly port: number;
  readonly seconds: number;
  readonly connections: number;
  readonly signal: AbortSignal;
  /** A new connection for each request. Default: connections are kept. */
  readonly reconnect?: boolean;
  nextBody(): string;
}

/**
 * A small load generator over raw sockets, for machines without `wrk`: each connection sends the next request as soon
 * as it has its response. Responses must have a content length.
 */
export async function hammer(options: HammerOptions): Promise<LoadResult> {
  const until = performance.now() + options.seconds * 1000;
  const start = performance.now();
  const caller = async (): Promise<number> => {
    let answers = 0;
    do answers += await drive(options, until);
    while (options.reconnect === true && performance.now() < until);
    return answers;
  };
  const counts = await Promise.all(Array.from({ length: options.connections }, caller));
  const requests = counts.reduce((sum, count) => sum + count, 0);
  return { requests, perSecond: requests / ((performance.now() - start) / 1000) };
}

/** Resolves with the number of responses. */
function drive(options: HammerOptions, until: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(options.port, "127.0.0.1");
    socket.setNoDelay(true);
    let pending: Buffer = Buffer.alloc(0);
    let answers = 0;
    const { port, reconnect = false } = options;
    const ask = () => socket.write(rawRequest(port, options.nextBody(), { isLast: reconnect }));
    const stop = () => socket.destroy(new Error("The measurement time is over."));
    options.signal.addEventListener("abort", stop, { once: true });
    socket.on("connect", ask);
    socket.on("error", reject);
    socket.on("close", () => {
      options.signal.removeEventListener("abort", stop);
      resolve(answers);
    });
    socket.on("data", (chunk) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      const rest = afterAnswer(pending);
      if (rest === undefined) return;
      if (rest instanceof Error) {
        socket.destroy(rest);
        return;
      }
      pending = rest;
      answers += 1;
      if (!reconnect && performance.now() < until) ask();
      else socket.end();
    });
  });
}

/** The bytes after the first complete response; `undefined` while it is incomplete. */
function afterAnswer(bytes: Buffer): Buffer | Error | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = bytes.toString("latin1", 0, headEnd);
  if (!head.startsWith("HTTP/1.1 200")) return new Error(`The server answered ${head.split("\r\n")[0]}`);
  const length = /content-length: (\d+)/i.exec(head)?.[1];
  if (length === undefined) return new Error("The response has no content length.");
  const end = headEnd + 4 + Number(length);
  return bytes.length < end ? undefined : bytes.subarray(end);
}
