import type { Socket } from "node:net";

/** Every HTTP/2 connection begins with this (RFC 9113 §3.4). No method of HTTP/1 does. */
const PREFACE = Buffer.from("PRI");
const TIMED_OUT = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n";

export interface Protocols {
  http1(socket: Socket): void;
  http2(socket: Socket): void;
}

/**
 * Passes connections on by their first bytes. A connection that does not send them in time gets a 408 and is closed. Most connections are
 * HTTP/1 and many are short, so a connection costs one listener here, and no timer of its own.
 */
export class ProtocolSwitch {
  readonly #protocols: Protocols;
  readonly #timeoutMs: number;
  /** When each connection was opened that has not sent enough bytes. By `performance.now()`. */
  readonly #undecided = new Map<Socket, number>();
  readonly #timer: NodeJS.Timeout;

  /** `checkingInterval`: milliseconds between two checks for connections that are too slow. */
  constructor(protocols: Protocols, timeoutMs: number, checkingInterval: number) {
    this.#protocols = protocols;
    this.#timeoutMs = timeoutMs;
    this.#timer = setInterval(() => this.#check(), checkingInterval).unref();
  }

  /** For the `connection` event of a server. */
  readonly add = (socket: Socket): void => {
    this.#undecided.set(socket, performance.now());
    socket.on("error", ignore);
    let held: Buffer | undefined;
    const decide = (piece: Buffer): void => {
      const start = held === undefined ? piece : Buffer.concat([held, piece]);
      const isPreface = beginsLikePreface(start);
      if (isPreface && start.length < PREFACE.length) {
        held = start;
        return;
      }
      // False for a connection that was refused meanwhile.
      if (!this.#undecided.delete(socket)) return;
      socket.removeListener("data", decide);
      if (isPreface) {
        // An HTTP/2 session reads what the socket holds.
        socket.pause();
        socket.unshift(start);
        this.#protocols.http2(socket);
      } else {
        this.#protocols.http1(socket);
        // To the listener of the HTTP/1 server. Putting the bytes back would take another turn of the event loop.
        socket.emit("data", start);
      }
    };
    socket.on("data", decide);
  };

  /** Closes the connections that have not sent enough bytes, and checks no more. */
  close(): void {
    clearInterval(this.#timer);
    for (const socket of this.#undecided.keys()) socket.destroy();
    this.#undecided.clear();
  }

  #check(): void {
    const latest = performance.now() - this.#timeoutMs;
    for (const [socket, openedAt] of this.#undecided) {
      // In the order of opening.
      if (openedAt > latest && !socket.destroyed) return;
      this.#undecided.delete(socket);
      if (!socket.destroyed) socket.end(TIMED_OUT, () => socket.destroy());
    }
  }
}

function beginsLikePreface(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, PREFACE.length);
  for (let index = 0; index < length; index += 1) if (bytes[index] !== PREFACE[index]) return false;
  return true;
}

/** The `close` event follows. */
function ignore(): void {}
