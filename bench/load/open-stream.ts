import { connect, type Socket } from "node:net";
import { ChunkedBody } from "./chunked-body.ts";
import { rawRequest } from "./requests.ts";

export interface StreamOptions {
  readonly port: number;
  readonly body: string;
  readonly signal: AbortSignal;
  /** Events after this one only. */
  readonly lastEventId?: string;
  /** Called with every event's frame, without the blank line that ends it. The bytes are valid only during the call. */
  readonly onFrame?: (frame: Buffer) => void;
  /**
   * Idle connections to reuse; this connection is added when its stream has ended. Callers keep connections, as `fetch`
   * does.
   */
  readonly idle?: Socket[];
}

export interface OpenStream {
  /** The first event's frame, as text. */
  readonly first: Promise<string>;
  /** Resolves with the number of frames when the server ended the stream; rejects if the connection broke. */
  readonly ended: Promise<number>;
  /** Stops reading, and keeps the connection. */
  stall(): void;
  close(): void;
}

const FRAME_END = Buffer.from("\n\n");
/** First bytes of a comment and of `retry:`, which are not events. */
const COLON = 58;
const LETTER_R = 114;

/** Opens an event stream over a socket, with minimal work per event. */
export function openStream({ port, body, signal, lastEventId, onFrame, idle }: StreamOptions): OpenStream {
  const socket: Socket = idle?.pop() ?? connect(port, "127.0.0.1");
  const first = Promise.withResolvers<string>();
  const ended = Promise.withResolvers<number>();
  for (const { promise } of [first, ended]) promise.catch(() => undefined);
  const response = new ChunkedBody();
  let carry: Buffer = Buffer.alloc(0);
  let frames = 0;
  let closing = false;

  const take = (piece: Buffer) => {
    const bytes = carry.length === 0 ? piece : Buffer.concat([carry, piece]);
    let start = 0;
    for (let end = bytes.indexOf(FRAME_END); end >= 0; end = bytes.indexOf(FRAME_END, start)) {
      const initial = bytes[start];
      if (initial !== COLON && initial !== LETTER_R) {
        frames += 1;
        if (frames === 1) first.resolve(bytes.toString("utf8", start, end));
        onFrame?.(bytes.subarray(start, end));
      }
      start = end + FRAME_END.length;
    }
    carry = start === bytes.length ? Buffer.alloc(0) : Buffer.from(bytes.subarray(start));
  };
  const fail = (error: Error) => {
    first.reject(error);
    ended.reject(error);
    socket.destroy();
  };
  const stop = () => fail(new Error("The measurement time is over."));
  signal.addEventListener("abort", stop, { once: true });
  socket.setNoDelay(true);
  socket.write(rawRequest(port, body, lastEventId === undefined ? {} : { lastEventId }));
  socket.on("data", (bytes) => {
    try {
      response.feed(bytes, take);
    } catch (error) {
      fail(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    if (!response.ended) return;
    if (frames === 0)
      return fail(
        new Error(`The server did not stream: HTTP ${response.status} ${carry.toString("utf8").slice(0, 300)}`),
      );
    ended.resolve(frames);
    if (idle === undefined) {
      socket.destroy();
      return;
    }
    signal.removeEventListener("abort", stop);
    socket.removeAllListeners("data");
    socket.removeAllListeners("close");
    socket.removeAllListeners("error");
    socket.on("error", () => {});
    idle.push(socket);
  });
  socket.on("error", fail);
  socket.on("close", () => {
    signal.removeEventListener("abort", stop);
    if (!closing) fail(new Error(`The connection closed after ${frames} events.`));
  });
  return {
    first: first.promise,
    ended: ended.promise,
    stall: () => socket.pause(),
    close() {
      closing = true;
      socket.destroy();
    },
  };
}

/** The task id in the first frame of a stream. */
export function taskIdOf(frame: string): string {
  const data = frame.slice(frame.indexOf("data:") + 5);
  const parsed: { readonly result?: { readonly task?: { readonly id: string } } } = JSON.parse(data);
  const id = parsed.result?.task?.id;
  if (id === undefined) throw new Error(`The stream's first event is not a task: ${data.slice(0, 300)}`);
  return id;
}
