import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from "node:http2";
import type { MessageId } from "../../src/protocol/ids.ts";
import type { Message } from "../../src/protocol/message.ts";
import { loadGrpcClient } from "../../src/wire/client/load-grpc-client.ts";
import { FrameReader, frame } from "../../src/wire/grpc-frame.ts";
import { type Workload, writeWorkload } from "../servers/workload.ts";

const dialect = await loadGrpcClient({ protocolVersion: "1.0" });
let counter = 0;

export interface GrpcRequest {
  readonly headers: OutgoingHttpHeaders;
  readonly body: Uint8Array;
}

/** The headers and the body of a send or a stream. */
export function grpcRequest(operation: "send" | "stream", workload: Workload): GrpcRequest {
  if (dialect === undefined) throw new Error("The client has no gRPC.");
  counter += 1;
  const message: Message = {
    messageId: `bench-${process.pid}-${counter}` as MessageId,
    role: "user",
    parts: [{ text: writeWorkload(workload) }],
  };
  const call = { operation, tenant: "", message, metadata: {}, outputModes: [], history: undefined, waitMs: 1e9 };
  const { path, message: bytes } = dialect.codec.encodeRequest(call);
  const headers = {
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
    "a2a-version": "1.0",
  };
  return { headers, body: frame(bytes) };
}

export function openSession(port: number): ClientHttp2Session {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on("error", () => undefined);
  return session;
}

/** Makes one call, and resolves with the number of messages in its answer. */
export function grpcCall(
  session: ClientHttp2Session,
  operation: "send" | "stream",
  workload: Workload,
): Promise<number> {
  const { headers, body } = grpcRequest(operation, workload);
  return new Promise((resolve, reject) => {
    const stream = session.request(headers, { endStream: false });
    const reader = new FrameReader(1e9);
    let messages = 0;
    let status: unknown;
    stream.on("data", (chunk: Buffer) => {
      reader.add(chunk);
      while (reader.next() !== undefined) messages += 1;
    });
    stream.on("trailers", (trailers) => {
      status = trailers["grpc-status"];
    });
    stream.on("error", reject);
    stream.on("close", () => {
      if (status === "0") resolve(messages);
      else reject(new Error(`A call over gRPC ended with status ${String(status)}.`));
    });
    stream.end(body);
  });
}
