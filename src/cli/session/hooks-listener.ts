import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { messageOf, StartupError, systemCode } from "../../platform/startup-error.ts";
import type { WebhookResult } from "../../webhook/contract.ts";
import type { WebhookVerifier } from "../../webhook/create-webhook-verifier.ts";
import { parseNotification } from "../../webhook/parse-notification.ts";

/** A request that the listener received. */
export interface Arrival {
  readonly method: string;
  /** The path, without the query. */
  readonly path: string;
  readonly body: Uint8Array;
  /** Absent: nothing is verified. */
  readonly verdict: WebhookResult | undefined;
  /** `undefined` if the body is no notification. */
  readonly notification: ReturnType<typeof parseNotification>;
  /** The HTTP status of the response. */
  readonly answered: number;
}

/** Where to listen, and what to do with notifications. */
export interface ListenerOptions {
  readonly host: string;
  /** The port; 0 picks a free one. */
  readonly port: number;
  /** Creates the verifier once the listener's address is known. Absent: nothing is verified. */
  readonly verifierFor: ((url: string) => WebhookVerifier) | undefined;
  /** The status for the next request, unless the request is invalid. */
  readonly nextStatus: () => number | undefined;
  readonly onArrival: (arrival: Arrival) => Promise<void>;
}

/** A running listener. */
export interface HooksListener {
  readonly url: string;
  close(): Promise<void>;
}

/** A longer body is answered with 413. */
const MAX_BYTES = 10_000_000;

/** Receives notifications and answers them. Rejects with a {@link StartupError} if it cannot listen. */
export async function listenForHooks(options: ListenerOptions): Promise<HooksListener> {
  let verify: WebhookVerifier | undefined;
  const server = createServer((request, response) => {
    receive(request, response, { ...options, verify }).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(explain(error, options)));
    server.listen(options.port, options.host, resolve);
  });
  // Safe: a server that listens on a port has this kind of address.
  const { port } = server.address() as AddressInfo;
  const url = `http://${options.host.includes(":") ? `[${options.host}]` : options.host}:${port}`;
  verify = options.verifierFor?.(url);
  return {
    url,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Receiving extends ListenerOptions {
  readonly verify: WebhookVerifier | undefined;
}

/** The answer follows the printing, so that a slow terminal slows the sender down instead of filling the memory. */
async function receive(request: IncomingMessage, response: ServerResponse, options: Receiving): Promise<void> {
  const { method = "", headers } = request;
  const url = URL.parse(request.url ?? "", "http://localhost");
  const challenge = method === "GET" ? url?.searchParams.get("validationToken") : undefined;
  if (challenge != null) {
    // Some agents send a challenge to check the webhook before they use it.
    response.writeHead(200, { "content-type": "text/plain", "x-content-type-options": "nosniff" }).end(challenge);
    return;
  }
  const body = await readAll(request);
  if (body === undefined) {
    response.writeHead(413, { connection: "close" }).end();
    return;
  }
  const verdict = await options.verify?.({ method, headers, body });
  const answered = statusFor(method, verdict, options);
  const notification = parseNotification(body);
  await options.onArrival({ method, path: url?.pathname ?? "/", body, verdict, notification, answered });
  response.writeHead(answered).end();
}

function statusFor(method: string, verdict: WebhookResult | undefined, { nextStatus }: Receiving): number {
  if (verdict?.ok === false) return verdict.status;
  return method === "POST" ? (nextStatus() ?? 204) : 405;
}

async function readAll(request: IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const arriving: AsyncIterable<Uint8Array> = request;
  for await (const chunk of arriving) {
    length += chunk.byteLength;
    if (length > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function explain(error: unknown, { host, port }: ListenerOptions): StartupError {
  const reason =
    systemCode(error) === "EADDRINUSE"
      ? `Port ${port} is in use. Choose another with --port, or --port 0 for a free one.`
      : `Could not listen on ${host}:${port}: ${messageOf(error)}`;
  return new StartupError("failed", reason, { cause: error });
}
