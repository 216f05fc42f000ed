import type { Socket } from "node:net";

/** Every HTTP/2 connection begins with this (RFC 9113 §3.4). No method of HTTP/1 does. */
const PREFACE = Buffer.from("PRI");
const TIMED_OUT = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n";

export interface Protocols {
  http1(socket: Socket): void;
  http2(socket: Socket): void;
}

/**
 * Passes a connection on by its first bytes, and puts them back. A connection that does not send them within `timeoutMs` gets a 408 and is
 * closed.
 */
export function switchProtocol(socket: Socket, protocols: Protocols, timeoutMs: number): void {
  const fail = (): void => {
    socket.destroy();
  };
  socket.setTimeout(timeoutMs, () => socket.end(TIMED_OUT, fail));
  socket.on("error", fail);
  let held: Buffer = Buffer.alloc(0);
  const decide = (): void => {
    const piece: unknown = socket.read();
    if (!Buffer.isBuffer(piece)) return;
    const start = held.length === 0 ? piece : Buffer.concat([held, piece]);
    const isPreface = start.subarray(0, PREFACE.length).equals(PREFACE.subarray(0, start.length));
    if (isPreface && start.length < PREFACE.length) {
      // Not put back yet: that would announce it as new data.
      held = start;
      return;
    }
    socket.unshift(start);
    socket.removeListener("readable", decide);
    socket.removeListener("error", fail);
    socket.setTimeout(0);
    socket.removeAllListeners("timeout");
    if (isPreface) protocols.http2(socket);
    else protocols.http1(socket);
  };
  socket.on("readable", decide);
}
