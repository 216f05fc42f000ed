import type { GrpcStatus } from "../../wire/grpc-codec.ts";
import type { FullReply, Headers } from "../exchange.ts";

export const GRPC_TYPE = "application/grpc";

export const INVALID_ARGUMENT = 3;
export const NOT_FOUND = 5;
export const RESOURCE_EXHAUSTED = 8;
export const UNAVAILABLE = 14;

/** Statuses that no A2A error has. */
export const DEADLINE_EXCEEDED: GrpcStatus = { code: 4, message: "The deadline of the call has passed" };
export const UNIMPLEMENTED: GrpcStatus = { code: 12, message: "Method not found" };
const OK: Headers = { "grpc-status": "0" };

/** Messages longer than this are cut: clients limit the size of all headers, often to 8 KB. */
const MAX_MESSAGE = 1024;
/** Details longer than this are left out, for the same reason. */
const MAX_DETAILS = 4096;

/** The trailers of a call; without a status, of a successful one. */
export function trailersOf(status: GrpcStatus | undefined): Headers {
  if (status === undefined) return OK;
  const { code, message, details } = status;
  return {
    "grpc-status": String(code),
    "grpc-message": percentEncoded(message.slice(0, MAX_MESSAGE)),
    ...(details !== undefined &&
      details.byteLength <= MAX_DETAILS && {
        "grpc-status-details-bin": Buffer.from(details).toString("base64").replace(/=+$/, ""),
      }),
  };
}

/** A call that fails before its first message: the status is in the headers, and there are no trailers. */
export function statusReply(status: GrpcStatus, headers?: Headers): FullReply {
  return { status: 200, headers: { "content-type": GRPC_TYPE, ...headers, ...trailersOf(status) }, body: "" };
}

/** Everything but printable ASCII without `%` is percent-encoded, as UTF-8. */
function percentEncoded(text: string): string {
  return text.toWellFormed().replaceAll(/[^ -$&-~]+/g, (part) => {
    const bytes = Buffer.from(part).toString("hex");
    return bytes.replaceAll(/../g, (byte) => `%${byte.toUpperCase()}`);
  });
}
