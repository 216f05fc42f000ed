import { loadGrpcClient } from "../../wire/client/load-grpc-client.ts";
import type { Channel } from "../http/channel.ts";
import { RemoteError } from "../http/errors.ts";
import { createGrpcChannel, type GrpcChannelOptions } from "./grpc-channel.ts";
import { hasHttp2 } from "./http2-connection.ts";

/** A channel over gRPC. Rejects with `no-interface` where gRPC is not available, and says why. */
export async function openGrpc(options: Omit<GrpcChannelOptions, "dialect">): Promise<Channel> {
  const { at } = options;
  if (!hasHttp2()) throw new RemoteError("no-interface", "gRPC needs Node: this runtime has no HTTP/2.");
  const dialect = await loadGrpcClient(at).catch((cause: unknown) => {
    const text = "gRPC needs the package @bufbuild/protobuf: run `npm install @bufbuild/protobuf`.";
    throw new RemoteError("no-interface", text, { cause });
  });
  if (dialect !== undefined) return createGrpcChannel({ ...options, dialect });
  throw new RemoteError("no-interface", `Version ${at.protocolVersion} over gRPC is not supported.`);
}
