import { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Writable } from "node:stream";
import { encodingOf } from "./encoding.ts";

/**
 * Writes the pieces of a chunked HTTP/1.1 answer to its socket, each with its chunk header and end in one write. `response.write` needs four
 * writes, which the socket then joins.
 */
export class DirectWriter {
  readonly #response: ServerResponse;

  private constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** `undefined` if the answer is not one of `node:http`, has no chunked body, or its `write` was replaced (by a compressing middleware). */
  static of(sink: Writable): DirectWriter | undefined {
    // Call it after `writeHead`, which decides whether the body is chunked.
    return isAnswer(sink) && isPlain(sink) && sink.chunkedEncoding && sink.req.method !== "HEAD"
      ? new DirectWriter(sink)
      : undefined;
  }

  /**
   * The socket, if a piece may be written to it now. `undefined`: write to the answer, because its head is not sent, or it waits for the
   * answers to earlier requests of the connection (pipelining).
   */
  get socket(): Socket | undefined {
    const response = this.#response;
    const { socket } = response;
    if (socket === null || !isPlain(response) || response.writableEnded || response.writableCorked > 0)
      return undefined;
    // The answer itself must hold nothing back: what it holds must be sent first.
    return response.writableLength === socket.writableLength ? socket : undefined;
  }
}

/** Writes one piece as an HTTP chunk. Returns false if the socket is full; its `drain` event then follows. */
export function writeChunk(socket: Socket, piece: string): boolean {
  const length = Buffer.byteLength(piece);
  return socket.write(`${length.toString(16)}\r\n${piece}\r\n`, encodingOf(piece, length));
}

function isAnswer(sink: Writable): sink is ServerResponse {
  return sink instanceof ServerResponse;
}

function isPlain(response: ServerResponse): boolean {
  return response.write === ServerResponse.prototype.write;
}
