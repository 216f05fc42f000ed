import { once } from "node:events";
import { connect } from "node:net";

/** The types of HTTP/2 frames (RFC 9113 §6). */
export const TYPE = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
} as const;

export const PREFACE: Buffer = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

export interface FrameOptions {
  readonly flags?: number;
  readonly stream?: number;
  readonly payload?: Uint8Array;
  /** The length in the head, if it is not that of the payload. */
  readonly length?: number;
}

export function http2Frame(type: number, options: FrameOptions = {}): Buffer {
  const { flags = 0, stream = 0, payload = new Uint8Array(), length = payload.byteLength } = options;
  const head = Buffer.alloc(9);
  head.writeUIntBE(length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

export const SETTINGS: Buffer = http2Frame(TYPE.settings);

/** An HPACK literal header without indexing and without Huffman codes. */
export function header(name: string, value: string): Buffer {
  return Buffer.concat([Uint8Array.of(0), lengthed(name), lengthed(value)]);
}

function lengthed(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length: number[] = [];
  if (bytes.length < 127) length.push(bytes.length);
  else {
    length.push(127);
    let rest = bytes.length - 127;
    for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128);
    length.push(rest);
  }
  return Buffer.concat([Uint8Array.from(length), bytes]);
}

/** The headers of a call that is otherwise valid. */
export function callHeaders(path: string, ...more: readonly Buffer[]): Buffer {
  return Buffer.concat([
    header(":method", "POST"),
    header(":scheme", "http"),
    header(":path", path),
    header(":authority", "127.0.0.1"),
    header("content-type", "application/grpc"),
    header("te", "trailers"),
    ...more,
  ]);
}

/** Sends pieces until the server closes the connection or `pieces` end; resolves with how that ended. */
export async function attack(
  url: string,
  pieces: Iterable<Uint8Array>,
  patienceMs: number,
): Promise<"closed" | "open"> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  socket.resume();
  let isClosed = false;
  const closed = new Promise<"closed">((resolve) => {
    socket.on("close", () => {
      isClosed = true;
      resolve("closed");
    });
  });
  await once(socket, "connect");
  for (const piece of pieces) {
    if (isClosed) break;
    if (!socket.write(piece)) {
      const drained = new AbortController();
      await Promise.race([closed, once(socket, "drain", { signal: drained.signal }).catch(() => undefined)]);
      drained.abort();
    }
  }
  const timer = Promise.withResolvers<"open">();
  const timeout = setTimeout(() => timer.resolve("open"), patienceMs);
  const outcome = await Promise.race([closed, timer.promise]);
  clearTimeout(timeout);
  socket.destroy();
  return outcome;
}

/** How a server answers the frames of stream 1. */
export interface FramesAnswer {
  /** The types of the frames that it sent for the stream, and of GOAWAY. */
  readonly types: readonly number[];
  /** The bytes of its header blocks. */
  readonly headers: Buffer;
}

/** Sends frames, and reads until the server ends or resets stream 1, or closes the connection. */
export async function answerTo(url: string, pieces: readonly Uint8Array[]): Promise<FramesAnswer> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  for (const piece of pieces) socket.write(piece);
  const types: number[] = [];
  const headers: Buffer[] = [];
  let rest = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      const [length, type, flags, stream] = [
        rest.readUIntBE(0, 3),
        rest.readUInt8(3),
        rest.readUInt8(4),
        rest.readUInt32BE(5),
      ];
      const payload = rest.subarray(9, 9 + length);
      rest = rest.subarray(9 + length);
      if (stream !== 1 && type !== TYPE.goaway) continue;
      types.push(type);
      if (type === TYPE.headers) headers.push(payload);
      const isEnd = type === TYPE.reset || type === TYPE.goaway;
      const hasEndFlag = (type === TYPE.headers || type === TYPE.data) && (flags & 1) === 1;
      if (isEnd || hasEndFlag) socket.destroy();
    }
  });
  await once(socket, "close");
  return { types, headers: Buffer.concat(headers) };
}
