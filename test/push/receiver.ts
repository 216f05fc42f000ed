import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A notification as it arrived. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** What its signature calls it. */
  readonly jti: string;
}

/** Says what becomes of a request that has arrived. Answers 200 unless it answers otherwise; `hang` never answers. */
export type Behaviour = (received: Received, response: ServerResponse) => "hang" | void | Promise<"hang" | void>;

export interface ListenAt {
  readonly host?: string;
  readonly port?: number;
}

/** Something that webhooks lead to, behind a real socket. */
export class Receiver {
  /** Everything that arrived, in the order of arrival. */
  readonly received: Received[] = [];
  readonly #server: Server;

  constructor(behave: Behaviour = () => {}) {
    this.#server = createServer((request, response) => void this.#take(request, response, behave));
  }

  static async open(behave?: Behaviour, { host = "127.0.0.1", port = 0 }: ListenAt = {}): Promise<Receiver> {
    const receiver = new Receiver(behave);
    receiver.#server.listen(port, host);
    await once(receiver.#server, "listening");
    return receiver;
  }

  get port(): number {
    return this.#address.port;
  }

  get url(): string {
    return `http://${this.#address.address}:${this.port}`;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  get #address(): AddressInfo {
    return this.#server.address() as AddressInfo;
  }

  async #take(request: IncomingMessage, response: ServerResponse, behave: Behaviour): Promise<void> {
    const body = await text(request);
    const { headers, url = "" } = request;
    const received = { path: url, headers, body, jti: jtiOf(headers["x-a2a-notification-signature"]) };
    this.received.push(received);
    if ((await behave(received, response)) === "hang") return;
    if (!response.writableEnded) response.writeHead(200, { "content-length": 0 }).end();
  }
}

/** What a token says, unverified. */
export function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
}

function jtiOf(token: string | string[] | undefined): string {
  return typeof token === "string" ? String(claimsOf(token)["jti"]) : "";
}
