import fc from "fast-check";
import type { Artifact } from "../../../protocol/artifact.ts";
import type { AgentCard, AgentInterface, SecurityScheme } from "../../../protocol/card.ts";
import type { TaskEvent } from "../../../protocol/event.ts";
import type { JsonObject, JsonValue } from "../../../protocol/json.ts";
import type { Message } from "../../../protocol/message.ts";
import type { OperationRequest, PushConfig, SendRequest } from "../../../protocol/operation.ts";
import type { Part } from "../../../protocol/part.ts";
import { type StoredTask, writeMessage, writeStatus } from "../../../protocol/serial.ts";
import type { Task, TaskStatus } from "../../../protocol/task.ts";
import * as neutral from "../../v1_0/test/models.ts";

// Generators of everything in the neutral model that 0.3 can encode. Not included: tenants, metadata of a part that is
// empty, list filters, device code flows.

export { contextId, SAMPLES, taskId } from "../../v1_0/test/models.ts";

/** Metadata keys that the codec itself uses, and their escaped form. */
const key = fc.oneof(
  fc.string(),
  fc.constantFrom("mediaType", "filename", "data_part_compat", "_mediaType", "__filename", "_data_part_compat"),
  fc.constantFrom("__proto__", "value", "kind"),
);
const partMetadata: fc.Arbitrary<JsonObject> = fc
  .array(fc.tuple(key, fc.oneof(neutral.json, fc.constantFrom<JsonValue>(true, "text/plain", ""))), {
    minLength: 1,
    maxLength: 4,
  })
  .map((entries): JsonObject => Object.fromEntries(entries));
const data = fc.oneof(neutral.json, fc.constantFrom<JsonValue>({ value: 1 }, { value: { value: [] } }, null, [], {}));

export const part: fc.Arbitrary<Part> = fc
  .tuple(neutral.part, data, fc.option(partMetadata, { nil: undefined }))
  .map(([{ metadata: _replaced, ...one }, value, metadata]) => {
    const content = one.data === undefined ? one : { ...one, data: value };
    return metadata === undefined ? content : { ...content, metadata };
  });
const parts = fc.array(part, { minLength: 1, maxLength: 3 });

export const message: fc.Arbitrary<Message> = fc
  .tuple(neutral.message, parts)
  .map(([shape, own]) => ({ ...shape, parts: own }));

const status: fc.Arbitrary<TaskStatus> = fc
  .tuple(neutral.status, message)
  .map(([shape, own]) => (shape.message === undefined ? shape : { ...shape, message: own }));

const artifact: fc.Arbitrary<Artifact> = fc
  .tuple(neutral.artifact, parts)
  .map(([shape, own]) => ({ ...shape, parts: own }));

export const event: fc.Arbitrary<TaskEvent> = fc
  .tuple(neutral.event, status, artifact)
  .map(([shape, current, own]) =>
    shape.kind === "status" ? { ...shape, status: current } : { ...shape, artifact: own },
  );

export const task: fc.Arbitrary<Task> = fc.record(
  {
    id: neutral.taskId,
    contextId: neutral.contextId,
    status,
    artifacts: fc.array(artifact, { maxLength: 2 }),
    history: fc.array(message, { maxLength: 2 }),
    metadata: neutral.metadata,
  },
  { requiredKeys: ["id", "contextId", "status"] },
);

export function stored({ id, contextId, status: current, artifacts, history, metadata }: Task): StoredTask {
  return {
    id,
    contextId,
    seq: 1,
    state: current.state,
    status: writeStatus(current),
    ...(artifacts !== undefined && { artifacts: JSON.stringify(artifacts) }),
    ...(history !== undefined && { history: `[${history.map(writeMessage).join(",")}]` }),
    ...(metadata !== undefined && { metadata: JSON.stringify(metadata) }),
  };
}

const pushConfig: fc.Arbitrary<PushConfig> = fc
  .tuple(neutral.pushConfig, fc.array(fc.constantFrom("Basic", "Digest"), { maxLength: 2 }))
  .map(([shape, others]) => {
    const { authentication } = shape;
    if (authentication === undefined) return shape;
    return { ...shape, authentication: { ...authentication, schemes: [authentication.schemes[0], ...others] } };
  });

const sendRequest: fc.Arbitrary<SendRequest> = fc
  .tuple(neutral.sendRequest, message, pushConfig)
  .map(([shape, own, push]) => ({
    ...shape,
    tenant: "",
    message: { ...own, role: "user" },
    ...(shape.push !== undefined && { push }),
  }));

/** Requests that REST can encode. */
export const request: fc.Arbitrary<OperationRequest> = fc
  .tuple(neutral.request, sendRequest, pushConfig)
  .map(([shape, send, config]): OperationRequest => {
    switch (shape.operation) {
      case "send":
      case "stream":
        return send;
      case "list":
        return { operation: "list", tenant: "", pageSize: 100, artifacts: true, history: shape.history };
      case "push-create":
        return { ...shape, tenant: "", config };
      default:
        return { ...shape, tenant: "" };
    }
  });

/** Requests that JSON-RPC can encode. */
export const rpcRequest: fc.Arbitrary<OperationRequest> = fc.oneof(
  request.filter(({ operation }) => operation !== "list"),
  fc.record({ operation: fc.constant("push-get" as const), tenant: fc.constant(""), taskId: neutral.taskId }),
);

/** The main interface is JSON-RPC. */
const interfaces: fc.Arbitrary<AgentInterface[]> = fc
  .tuple(
    fc.webUrl(),
    fc.uniqueArray(fc.record({ url: fc.webUrl(), binding: fc.constantFrom("HTTP+JSON", "GRPC") }), {
      maxLength: 2,
      selector: ({ binding }) => binding,
    }),
  )
  .map(([url, others]) =>
    [{ url, binding: "JSONRPC" }, ...others].map((entry) => ({ ...entry, protocolVersion: "0.3" })),
  );

const scopes = fc.dictionary(fc.string(), fc.string(), { maxKeys: 2, noNullPrototype: true });
const url = fc.webUrl();
const refresh = fc.oneof(fc.constant({}), fc.record({ refreshUrl: url }));
const flow = <T extends object>(urls: { [Name in keyof T]: fc.Arbitrary<T[Name]> }) =>
  fc.tuple(fc.record(urls), refresh, scopes).map(([own, more, granted]) => ({ ...own, ...more, scopes: granted }));
const oauth2: fc.Arbitrary<SecurityScheme> = fc.record({
  type: fc.constant("oauth2" as const),
  flows: fc.record(
    {
      authorizationCode: flow({ authorizationUrl: url, tokenUrl: url }),
      clientCredentials: flow({ tokenUrl: url }),
      implicit: flow({ authorizationUrl: url }),
      password: flow({ tokenUrl: url }),
    },
    { requiredKeys: [] },
  ),
});

export const card: fc.Arbitrary<AgentCard> = fc
  .tuple(neutral.card, interfaces, oauth2)
  .map(([{ securitySchemes = {}, ...shape }, own, scheme]) => ({
    ...shape,
    interfaces: own,
    securitySchemes: Object.fromEntries(
      Object.entries(securitySchemes).map(([name, declared]) => [name, declared.type === "oauth2" ? scheme : declared]),
    ),
  }));
