import type { ClientHttp2Session } from "node:http2";
import { FrameReader } from "../../src/wire/grpc-frame.ts";
import type { Workload } from "../servers/workload.ts";
import { grpcRequest } from "./grpc-calls.ts";

export interface GrpcStream {
  /** Resolves at the first message. */
  readonly first: Promise<void>;
  /** Resolves when the stream has ended with status 0. */
  readonly ended: Promise<void>;
  /** The messages so far. */
  readonly received: number;
}

/** Opens a stream over gRPC, with minimal work per message. */
export function openGrpcStream(session: ClientHttp2Session, workload: Workload): GrpcStream {
  const { headers, body } = grpcRequest("stream", workload);
  const first = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  for (const { promise } of [first, ended]) promise.catch(() => undefined);
  const reader = new FrameReader(1e9);
  const stream = session.request(headers, { endStream: false });
  let received = 0;
  let status: unknown;
  stream.on("data", (chunk: Buffer) => {
    reader.add(chunk);
    while (reader.next() !== undefined) received += 1;
    first.resolve();
  });
  stream.on("trailers", (trailers) => {
    status = trailers["grpc-status"];
  });
  stream.on("error", () => undefined);
  stream.on("close", () => {
    const error = new Error(`A stream over gRPC ended with status ${String(status)}.`);
    first.reject(error);
    if (status === "0") ended.resolve();
    else ended.reject(error);
  });
  stream.end(body);
  return {
    first: first.promise,
    ended: ended.promise,
    get received() {
      return received;
    },
  };
}
