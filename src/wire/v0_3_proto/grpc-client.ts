import type { ErrorCode } from "../../protocol/error.ts";
import type { ClientRequest } from "../client/client-codec.ts";
import { type GrpcClientRow, notInVersion } from "../client/grpc-client-codec.ts";
import { asId } from "../fields/fields.ts";
import { createRestClientCodec } from "./client-codec.ts";
import { encodeRestRequest } from "./client-request.ts";
import { ERROR_NAMES, METHODS, SERVICE } from "./grpc.ts";

const DIALECT = "0.3/grpc";

export function createGrpcClientRow(): GrpcClientRow {
  return {
    dialect: DIALECT,
    service: SERVICE,
    methods: METHODS,
    encodeRequest,
    text: createRestClientCodec(),
    namedError,
  };
}

/** Bodies are as in REST; ids are resource names. */
function encodeRequest(request: ClientRequest): unknown {
  switch (request.operation) {
    case "send":
    case "stream":
    case "push-create":
      return JSON.parse(encodeRestRequest(request).body ?? "{}");
    case "get":
      // 0 equals absent and means the whole history, so 1 is the smallest limit.
      return {
        name: `tasks/${request.id}`,
        ...(request.history !== undefined && { historyLength: request.history || 1 }),
      };
    case "cancel":
    case "subscribe":
      return { name: `tasks/${request.id}` };
    case "push-list":
      return { parent: `tasks/${request.taskId}` };
    case "push-get":
    case "push-delete":
      return { name: `tasks/${request.taskId}/pushNotificationConfigs/${asId(request.id, "id")}` };
    case "extended-card":
      return {};
    case "list":
      throw notInVersion(request.operation, DIALECT);
  }
}

const CODES: ReadonlyMap<string, ErrorCode> = new Map(
  // Safe: the keys of the table are error codes.
  Object.entries(ERROR_NAMES).map(([code, name]) => [name, code as ErrorCode]),
);

/** Texts of official servers begin with the name of the error. */
function namedError(text: string): { readonly code: ErrorCode; readonly message: string } | undefined {
  const [, name = "", message = ""] = /^(\w+Error): (.*)$/s.exec(text) ?? [];
  const code = CODES.get(name);
  return code === undefined ? undefined : { code, message };
}
