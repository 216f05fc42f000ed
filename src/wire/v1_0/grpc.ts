import type { A2AError } from "../../protocol/error.ts";
import type { Operation } from "../../protocol/operation.ts";
import type { GrpcMethod, GrpcRow } from "../grpc-codec.ts";
import type { DialectSettings } from "../options.ts";
import { createRestCodec } from "./codec.ts";
import { detailsOf, restErrorForm, withOwnFields } from "./error.ts";
import { METHOD_OF } from "./methods.ts";
import { decodeRequest } from "./request.ts";

const EMPTY = "google.protobuf.Empty";

/** Request and answer of each method (A2A 1.0 §10). Every request has a tenant. */
const TYPES: Readonly<Record<Operation, readonly [request: string, answer: string, tenant: number]>> = {
  send: ["SendMessageRequest", "SendMessageResponse", 1],
  stream: ["SendMessageRequest", "StreamResponse", 1],
  get: ["GetTaskRequest", "Task", 1],
  list: ["ListTasksRequest", "ListTasksResponse", 1],
  cancel: ["CancelTaskRequest", "Task", 1],
  subscribe: ["SubscribeToTaskRequest", "StreamResponse", 1],
  "push-create": ["TaskPushNotificationConfig", "TaskPushNotificationConfig", 1],
  "push-get": ["GetTaskPushNotificationConfigRequest", "TaskPushNotificationConfig", 1],
  "push-list": ["ListTaskPushNotificationConfigsRequest", "ListTaskPushNotificationConfigsResponse", 4],
  "push-delete": ["DeleteTaskPushNotificationConfigRequest", EMPTY, 1],
  "extended-card": ["GetExtendedAgentCardRequest", "AgentCard", 1],
};

export const METHODS: Readonly<Record<Operation, GrpcMethod>> = mapOperations(
  ([request, answer, tenant], operation) => ({ name: METHOD_OF[operation], request, answer, tenant }),
);

function mapOperations<T>(map: (types: (typeof TYPES)[Operation], operation: Operation) => T): Record<Operation, T> {
  // Safe: the keys are those of the table.
  const entries = Object.entries(TYPES) as [Operation, (typeof TYPES)[Operation]][];
  return Object.fromEntries(entries.map(([name, types]) => [name, map(types, name)])) as Record<Operation, T>;
}

export const SERVICE = "lf.a2a.v1.A2AService";

export function createGrpcRow(settings: DialectSettings): GrpcRow {
  return createVariantGrpcRow(settings, { text: createRestCodec(settings), decodeRequest });
}

/** gRPC of 1.0, or of a later version. */
export function createVariantGrpcRow(
  settings: DialectSettings,
  variant: Pick<GrpcRow, "text" | "decodeRequest">,
): GrpcRow {
  const { text, decodeRequest } = variant;
  return {
    service: SERVICE,
    agentBy: "tenant",
    methods: METHODS,
    decodeRequest,
    text: { ...text, dialect: `${text.version}/grpc` },
    status: (error) => ({ name: statusName(error, settings), message: error.message }),
    details: (error) => detailsOf(withOwnFields(error)),
  };
}

/** gRPC has a status of its own for a message that is too large. */
function statusName(error: A2AError, { errorProfile }: DialectSettings): string {
  return error.code === "payload-too-large" ? "RESOURCE_EXHAUSTED" : restErrorForm(error, errorProfile).status;
}
