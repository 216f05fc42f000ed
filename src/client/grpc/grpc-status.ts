import type { Operation } from "../../protocol/operation.ts";
import type { GrpcClientCodec } from "../../wire/client/grpc-client-codec.ts";
import { codeOfStatus } from "../../wire/error-table.ts";
import { RemoteError, remoteErrorOf } from "../http/errors.ts";
import type { Http2Answer } from "./http2-connection.ts";

/** UNAVAILABLE: the server is shutting down or out of reach. */
export const UNAVAILABLE = 14;

/** The error of an answer whose head already says that the call failed. */
export function headError(codec: GrpcClientCodec, operation: Operation, answer: Http2Answer): RemoteError | undefined {
  const { status, headers } = answer;
  if (headers.has("grpc-status")) {
    answer.cancel();
    return statusError(codec, operation, headers);
  }
  const isGrpc = headers.get("content-type")?.startsWith("application/grpc") === true;
  if (status === 200 && isGrpc) return undefined;
  answer.cancel();
  const code = status === 200 ? "invalid-agent-response" : codeOfStatus(status);
  const retryAfter = secondsIn(headers);
  return new RemoteError(code, `The agent answered with HTTP ${status}, which is not gRPC.`, {
    remote: { httpStatus: status, ...(retryAfter !== undefined && { retryAfter }) },
  });
}

/** The error in the trailers of an answer; `undefined` if the call succeeded. */
export function statusError(codec: GrpcClientCodec, operation: Operation, trailers: Headers): RemoteError | undefined {
  const text = trailers.get("grpc-status");
  if (text === "0") return undefined;
  if (text === null || !/^\d{1,3}$/.test(text))
    return new RemoteError("network", "The agent's answer ended without a gRPC status.");
  const code = Number(text);
  const details = bytesOf(trailers.get("grpc-status-details-bin"));
  const message = percentDecoded(trailers.get("grpc-message") ?? "");
  const error = codec.decodeStatus({ code, message, ...(details !== undefined && { details }) }, operation);
  const authenticate = trailers.get("www-authenticate");
  const retryAfter = secondsIn(trailers);
  return remoteErrorOf(error, {
    grpcStatus: code,
    ...(authenticate !== null && { authenticate }),
    ...(retryAfter !== undefined && { retryAfter }),
  });
}

function secondsIn(headers: Headers): number | undefined {
  const value = headers.get("retry-after") ?? "";
  return /^\d{1,9}$/.test(value) ? Number(value) : undefined;
}

function bytesOf(base64: string | null): Uint8Array | undefined {
  if (base64 === null) return undefined;
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Invalid sequences stay as they are. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
