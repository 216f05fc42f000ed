import { once } from "node:events";
import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from "node:http2";

/** The answer to a call, or to a request that is none. */
export interface RawAnswer {
  /** The HTTP status; 0 if the stream was reset before an answer. */
  readonly http: number;
  /** `grpc-status`; `undefined` if there is none. */
  readonly grpc: number | undefined;
  readonly message: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

export const SERVICE_1_0 = "lf.a2a.v1.A2AService";
export const SERVICE_0_3 = "a2a.v1.A2AService";

export interface RawCall {
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: Uint8Array;
  /** The body never ends. */
  readonly isUnfinished?: boolean;
}

/** Sends a request as it is over an HTTP/2 connection. */
export async function rawCall(
  session: ClientHttp2Session,
  { path, headers, body, isUnfinished = false }: RawCall,
): Promise<RawAnswer> {
  const stream = session.request(
    { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers", ...headers },
    { endStream: false },
  );
  let head: Record<string, unknown> = {};
  let trailers: Record<string, unknown> = {};
  const chunks: Buffer[] = [];
  stream.on("response", (received) => {
    head = received;
  });
  stream.on("trailers", (received) => {
    trailers = received;
  });
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  stream.on("error", () => undefined);
  if (!isUnfinished) stream.end(body);
  else if (body !== undefined) stream.write(body);
  await once(stream, "close");
  const status = trailers["grpc-status"] ?? head["grpc-status"];
  const message = trailers["grpc-message"] ?? head["grpc-message"];
  return {
    http: Number(head[":status"] ?? 0),
    grpc: status === undefined ? undefined : Number(status),
    message: typeof message === "string" ? decodeURIComponent(message) : "",
    headers: { ...head, ...trailers },
    body: Buffer.concat(chunks),
  };
}

export async function openSession(url: string): Promise<ClientHttp2Session> {
  const session = connect(url);
  session.on("error", () => undefined);
  await once(session, "connect");
  return session;
}
