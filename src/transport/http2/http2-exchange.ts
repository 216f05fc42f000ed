import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { ClientCertificate } from "../../auth/verify/contract.ts";
import { A2AError } from "../../protocol/error.ts";
import { BodyBuffer } from "../body/body-buffer.ts";
import { droppedBody, incompleteBody, tooLarge } from "../body/body-error.ts";
import type { ReserveBody } from "../body/body-memory.ts";
import { type BodyCheck, type Exchange, targetOf } from "../exchange.ts";
import { clientCertificate } from "../node/client-certificate.ts";

/** One request of an HTTP/2 connection: its stream and its headers, names in lower case. */
export interface Http2Request {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  /** Names and values alternate. */
  readonly rawHeaders: readonly string[];
}

/** A request of `node:http2`. Creates expensive objects, such as the signal, only on demand. */
export class Http2Exchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly fault: A2AError | undefined;
  readonly isHttp2 = true;
  readonly #request: Http2Request;
  #controller: AbortController | undefined;
  #gone = false;

  constructor(request: Http2Request) {
    const { headers } = request;
    this.#request = request;
    this.method = headers[":method"] ?? "GET";
    this.target = targetOf(headers[":path"] ?? "/");
    this.fault = requestFault(headers);
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#gone) this.#controller.abort();
    return this.#controller.signal;
  }

  get remote(): string | undefined {
    return this.#request.stream.session?.socket.remoteAddress;
  }

  get certificate(): ClientCertificate | undefined {
    const { session } = this.#request.stream;
    return session === undefined ? undefined : clientCertificate(session.socket);
  }

  header(name: string): string | undefined {
    const { headers } = this.#request;
    if (name === "host") return headers[":authority"] ?? headers.host;
    const value = headers[name];
    // Node keeps only the first of several, while a proxy in front may have checked another: pass all, so that they are refused.
    if (name === "authorization" && value !== undefined) return this.#all(name).join(", ");
    return Array.isArray(value) ? value.join(", ") : value;
  }

  #all(name: string): readonly string[] {
    const { rawHeaders } = this.#request;
    return rawHeaders.filter((_value, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
  }

  body(limit: number, reserve: ReserveBody, check?: BodyCheck): Promise<Uint8Array> {
    const { stream, headers } = this.#request;
    return new Promise((resolve, reject) => {
      const length = headers["content-length"];
      const declared = length === undefined ? undefined : Number(length);
      if (declared !== undefined && declared > limit) {
        reject(tooLarge(limit));
        return;
      }
      if (stream.destroyed) {
        reject(incompleteBody(stream.errored));
        return;
      }
      // Node ends a stream without a body before anybody reads it.
      if (stream.readableEnded) {
        resolve(new Uint8Array());
        return;
      }
      let isOver = false;
      const stop = (error: unknown): void => {
        isOver = true;
        stream.removeAllListeners("data");
        // The answer resets the stream, so that the caller sends nothing more.
        stream.pause();
        reject(error);
      };
      const buffer = new BodyBuffer({ limit, declared, reserve, dropped: () => stop(droppedBody()) });
      const start = check === undefined ? undefined : new BodyStart(check);
      stream.on("data", (chunk: Buffer) => {
        try {
          start?.add(chunk);
          buffer.add(chunk);
        } catch (error) {
          buffer.release();
          stop(error);
        }
      });
      stream.on("end", () => {
        if (isOver) return;
        isOver = true;
        resolve(buffer.finish());
      });
      stream.on("close", () => {
        if (isOver) return;
        buffer.release();
        stop(incompleteBody(stream.errored));
      });
    });
  }

  chunks(): AsyncIterable<Uint8Array> {
    return this.#request.stream.iterator({ destroyOnReturn: false });
  }

  abort(): void {
    this.#gone = true;
    this.#controller?.abort();
  }

  /** The stream was closed, or the answer was sent. */
  closed(answered: boolean): void {
    if (!answered) this.abort();
  }
}

/** The problem of a request that proxies may parse differently: another host than the one that they checked. */
function requestFault({ ":authority": authority, host, ":method": method }: IncomingHttpHeaders): A2AError | undefined {
  if (authority !== undefined && host !== undefined && authority !== host)
    return new A2AError("invalid-request", "The Host header differs from :authority");
  return method === "CONNECT" ? new A2AError("invalid-request", "CONNECT is not supported") : undefined;
}

/** Calls a check once the bytes that it needs have arrived, however they are split. */
class BodyStart {
  readonly #check: BodyCheck;
  readonly #bytes: Uint8Array;
  #length = 0;

  constructor(check: BodyCheck) {
    this.#check = check;
    this.#bytes = new Uint8Array(check.bytes);
  }

  add(chunk: Uint8Array): void {
    const missing = this.#bytes.byteLength - this.#length;
    if (missing === 0) return;
    this.#bytes.set(chunk.subarray(0, missing), this.#length);
    this.#length += Math.min(missing, chunk.byteLength);
    if (this.#length === this.#bytes.byteLength) this.#check.accept(this.#bytes);
  }
}
