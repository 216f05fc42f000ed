import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A received notification. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** The jti of the signature. */
  readonly jti: string;
}

/** Decides how a request is answered. Answers 200 unless it answers itself; `hang` never answers. */
export type Behaviour = (received: Received, response: ServerResponse) => "hang" | void | Promise<"hang" | void>;

export interface ListenAt {
  readonly host?: string;
  readonly port?: number;
}

/** A webhook receiver with a real socket. */
export class Receiver {
  /** All received notifications, in order of arrival. */
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

/** The claims of a token, unverified. */
export function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
}

function jtiOf(token: string | string[] | undefined): string {
  return typeof token === "string" ? String(claimsOf(token)["jti"]) : "";
}
