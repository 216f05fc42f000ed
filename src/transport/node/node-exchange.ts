import type { IncomingMessage } from "node:http";
import type { ClientCertificate } from "../../auth/verify/contract.ts";
import type { A2AError } from "../../protocol/error.ts";
import { BodyBuffer } from "../body/body-buffer.ts";
import { droppedBody, incompleteBody, tooLarge } from "../body/body-error.ts";
import type { ReserveBody } from "../body/body-memory.ts";
import { type Exchange, targetOf } from "../exchange.ts";
import { clientCertificate } from "./client-certificate.ts";
import { parsedBody } from "./parsed-body.ts";
import { requestFault } from "./request-fault.ts";

/** A request of `node:http`. Creates expensive objects, such as the signal, only on demand. */
export class NodeExchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly fault: A2AError | undefined;
  readonly #request: IncomingMessage;
  #controller: AbortController | undefined;
  #gone = false;
  #dropped = false;

  constructor(request: IncomingMessage) {
    this.#request = request;
    this.method = request.method ?? "GET";
    this.target = targetOf(request.url ?? "/");
    this.fault = requestFault(request);
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#gone) this.#controller.abort();
    return this.#controller.signal;
  }

  get remote(): string | undefined {
    return this.#request.socket.remoteAddress;
  }

  get certificate(): ClientCertificate | undefined {
    return clientCertificate(this.#request.socket);
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name];
    // Node keeps only the first of several, while a proxy in front may have checked another: pass all, so that they are refused.
    if (name === "authorization" && value !== undefined) return this.#request.headersDistinct[name]?.join(", ");
    return Array.isArray(value) ? value.join(", ") : value;
  }

  /** True if the connection must be closed after the answer, because unread bytes of this request may follow on it. */
  get isLast(): boolean {
    return this.#dropped || this.fault !== undefined;
  }

  body(limit: number, reserve: ReserveBody): Promise<Uint8Array> {
    const request = this.#request;
    return new Promise((resolve, reject) => {
      if (request.readableEnded) {
        resolve(parsedBody(request, limit));
        return;
      }
      if (request.destroyed) {
        reject(incompleteBody(request.errored));
        return;
      }
      const length = request.headers["content-length"];
      const declared = length === undefined ? undefined : Number(length);
      if (declared !== undefined && declared > limit) {
        discard(request, limit);
        reject(tooLarge(limit));
        return;
      }
      const dropped = (): void => {
        this.#dropped = true;
        request.removeAllListeners("data");
        request.pause();
        reject(droppedBody());
      };
      let buffer: BodyBuffer | undefined;
      request.on("data", (chunk: Buffer) => {
        // Most bodies arrive as a whole.
        if (buffer === undefined && chunk.byteLength === declared) {
          resolve(chunk);
          return;
        }
        try {
          buffer ??= new BodyBuffer({ limit, declared, reserve, dropped });
          buffer.add(chunk);
        } catch (error) {
          request.removeAllListeners("data");
          discard(request, limit);
          reject(error);
        }
      });
      request.on("end", () => resolve(buffer?.finish() ?? NO_BYTES));
      request.on("error", (cause) => {
        buffer?.release();
        reject(incompleteBody(cause));
      });
    });
  }

  /** The connection was closed, or the answer was sent. */
  closed(answered: boolean): void {
    if (answered) return;
    this.#gone = true;
    this.#controller?.abort();
  }
}

const NO_BYTES = new Uint8Array();

/** The least bytes to discard: data already on its way must not break a connection that the caller may reuse. */
const LEAST_DISCARDED = 65_536;

/**
 * Discards the rest of a body that is too large, so that the caller reads the answer instead of a broken connection; closes it after a bound.
 */
function discard(request: IncomingMessage, limit: number): void {
  let left = Math.max(limit, LEAST_DISCARDED);
  request.on("data", (chunk: Buffer) => {
    left -= chunk.byteLength;
    if (left < 0) request.destroy();
  });
}
