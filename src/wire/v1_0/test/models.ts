import fc from "fast-check";
import { sampled } from "../../../../test/fixtures/budget.ts";
import type { Artifact } from "../../../protocol/artifact.ts";
import { type AgentCard, OAUTH_FLOWS, type SecurityScheme } from "../../../protocol/card.ts";
import { A2AError, ERROR_CODES } from "../../../protocol/error.ts";
import type { TaskEvent } from "../../../protocol/event.ts";
import type { ArtifactId, ContextId, MessageId, TaskId } from "../../../protocol/ids.ts";
import type { JsonObject, JsonValue } from "../../../protocol/json.ts";
import type { Message } from "../../../protocol/message.ts";
import type { OperationRequest, PushConfig, SendRequest } from "../../../protocol/operation.ts";
import type { Part } from "../../../protocol/part.ts";
import { type StoredTask, writeMessage, writeStatus } from "../../../protocol/serial.ts";
import { TASK_STATES } from "../../../protocol/state.ts";
import type { TaskStatus } from "../../../protocol/task.ts";

// Generators of everything in the neutral model that 1.0 can encode.

/** A fixed seed, so that a failure is reproducible. */
export const SAMPLES: { readonly seed: number; readonly numRuns: number } = { seed: 1, numRuns: sampled(40, 200) };

/** Through JSON once, because JSON has no -0. */
export const json: fc.Arbitrary<JsonValue> = fc
  .jsonValue({ maxDepth: 4 })
  .map((value): JsonValue => JSON.parse(JSON.stringify(value)));

export const metadata: fc.Arbitrary<JsonObject> = fc
  .dictionary(fc.oneof(fc.string(), fc.constantFrom("__proto__", "kind", "toString")), json, { maxKeys: 4 })
  .map((value): JsonObject => JSON.parse(JSON.stringify(value)));

const word = fc.string({ minLength: 1, maxLength: 12 });
/** Ids may contain any valid Unicode, including separators of paths and resource names. */
const idText = fc.oneof(
  fc.uuid(),
  word.filter((text) => text !== "." && text !== ".."),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }).filter((text) => text.isWellFormed()),
  fc.constantFrom("a/b", "x:cancel", "a b", "100%", "é", "?#&=+", "%2e%2e", "tasks/1"),
);
export const taskId: fc.Arbitrary<TaskId> = idText.map((id) => id as TaskId);
export const contextId: fc.Arbitrary<ContextId> = idText.map((id) => id as ContextId);
const messageId = idText.map((id) => id as MessageId);
const artifactId = idText.map((id) => id as ArtifactId);

export const timestamp: fc.Arbitrary<string> = fc
  .date({ min: new Date(0), max: new Date("9999-12-31T00:00:00.000Z"), noInvalidDate: true })
  .map((date) => date.toISOString());

const details = { mediaType: fc.constantFrom("text/plain", "image/png", "application/json"), filename: word, metadata };
const content = fc.oneof(
  fc.record({ text: fc.string({ unit: "binary" }) }),
  fc.record({ raw: fc.base64String() }),
  fc.record({ url: fc.webUrl() }),
  fc.record({ data: json }),
);
export const part: fc.Arbitrary<Part> = fc
  .tuple(content, fc.record(details, { requiredKeys: [] }))
  .map(([one, more]) => ({ ...one, ...more }));
const parts = fc.array(part, { minLength: 1, maxLength: 3 });

const uris = fc.array(fc.webUrl(), { minLength: 1, maxLength: 2 });

export const message: fc.Arbitrary<Message> = fc.record(
  {
    messageId,
    role: fc.constantFrom("user", "agent"),
    parts,
    contextId,
    taskId,
    referenceTaskIds: fc.array(taskId, { minLength: 1, maxLength: 2 }),
    extensions: uris,
    metadata,
  },
  { requiredKeys: ["messageId", "role", "parts"] },
);

export const status: fc.Arbitrary<TaskStatus> = fc.record(
  { state: fc.constantFrom(...TASK_STATES), message, timestamp },
  { requiredKeys: ["state", "timestamp"] },
);

export const artifact: fc.Arbitrary<Artifact> = fc.record(
  { artifactId, name: word, description: word, parts, extensions: uris, metadata },
  { requiredKeys: ["artifactId", "parts"] },
);

export const event: fc.Arbitrary<TaskEvent> = fc.oneof(
  fc.record({ kind: fc.constant("status" as const), status, metadata }, { requiredKeys: ["kind", "status"] }),
  fc.record(
    { kind: fc.constant("artifact" as const), artifact, append: fc.boolean(), lastChunk: fc.boolean(), metadata },
    { requiredKeys: ["kind", "artifact", "append", "lastChunk"] },
  ),
);

const storedParts = fc.record(
  {
    artifacts: fc.array(artifact, { maxLength: 2 }).map((list) => JSON.stringify(list)),
    history: fc.array(message, { maxLength: 2 }).map((list) => `[${list.map(writeMessage).join(",")}]`),
    metadata: metadata.map((object) => JSON.stringify(object)),
  },
  { requiredKeys: [] },
);

export const storedTask: fc.Arbitrary<StoredTask> = fc
  .tuple(taskId, contextId, status, storedParts)
  .map(([id, context, current, rest]) => ({
    id,
    contextId: context,
    seq: 1,
    state: current.state,
    status: writeStatus(current),
    ...rest,
  }));

const history = fc.option(fc.nat({ max: 1000 }), { nil: undefined });
const tenant = fc.oneof(fc.constant(""), idText);

export const pushConfig: fc.Arbitrary<PushConfig> = fc.record(
  {
    id: idText,
    url: fc.webUrl(),
    token: word,
    authentication: fc.record(
      { schemes: word.map((scheme): readonly [string] => [scheme]), credentials: word },
      { requiredKeys: ["schemes"] },
    ),
  },
  { requiredKeys: ["url"] },
);

/** A send that waits for the result, or does not wait. */
export const sendRequest: fc.Arbitrary<SendRequest> = fc.record(
  {
    operation: fc.constantFrom("send", "stream"),
    tenant,
    message: message.map((from): Message => ({ ...from, role: "user" })),
    metadata,
    outputModes: fc.array(fc.constantFrom("text/plain", "image/*"), { maxLength: 2 }),
    history,
    waitMs: fc.constantFrom(0, Number.POSITIVE_INFINITY),
    push: pushConfig,
  },
  { requiredKeys: ["operation", "tenant", "message", "metadata", "outputModes", "history", "waitMs"] },
);

export const request: fc.Arbitrary<OperationRequest> = fc.oneof(
  sendRequest,
  fc.record({ operation: fc.constant("get" as const), tenant, id: taskId, history }),
  fc.record({ operation: fc.constant("cancel" as const), tenant, id: taskId, metadata }),
  fc.record({ operation: fc.constant("subscribe" as const), tenant, id: taskId }),
  fc.record({ operation: fc.constant("push-create" as const), tenant, taskId, config: pushConfig }),
  fc.record({ operation: fc.constantFrom("push-get" as const, "push-delete" as const), tenant, taskId, id: idText }),
  fc.record({ operation: fc.constant("push-list" as const), tenant, taskId }),
  fc.record({ operation: fc.constant("extended-card" as const), tenant }),
  fc.record(
    {
      operation: fc.constant("list" as const),
      tenant,
      contextId,
      state: fc.constantFrom(...TASK_STATES),
      statusSince: timestamp.map((time) => Date.parse(time)),
      pageSize: fc.integer({ min: 1, max: 100 }),
      before: fc.record({ at: fc.nat(), id: fc.uuid() }),
      artifacts: fc.boolean(),
      history,
    },
    { requiredKeys: ["operation", "tenant", "pageSize", "artifacts", "history"] },
  ),
);

const modes = fc.array(fc.constantFrom("text/plain", "image/png"), { minLength: 1, maxLength: 2 });
const schemeName = fc.oneof(word, fc.constantFrom("schemes", "__proto__"));
const security = fc.array(fc.dictionary(schemeName, fc.array(word, { maxLength: 2 }), { maxKeys: 2 }), {
  maxLength: 2,
});

/** All members, even those that the flow does not define. */
const flow = fc.record(
  {
    authorizationUrl: fc.webUrl(),
    deviceAuthorizationUrl: fc.webUrl(),
    tokenUrl: fc.webUrl(),
    refreshUrl: fc.webUrl(),
    scopes: fc.dictionary(word, word, { maxKeys: 2 }),
    pkceRequired: fc.boolean(),
  },
  { requiredKeys: ["scopes"] },
);

export const securityScheme: fc.Arbitrary<SecurityScheme> = fc.oneof(
  fc.record(
    {
      type: fc.constant("apiKey" as const),
      in: fc.constantFrom("header", "query", "cookie"),
      name: word,
      description: word,
    },
    { requiredKeys: ["type", "in", "name"] },
  ),
  fc.record(
    { type: fc.constant("http" as const), scheme: word, bearerFormat: word, description: word },
    { requiredKeys: ["type", "scheme"] },
  ),
  fc.record(
    {
      type: fc.constant("oauth2" as const),
      flows: fc.dictionary(fc.constantFrom(...OAUTH_FLOWS), flow, { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
      oauth2MetadataUrl: fc.webUrl(),
      description: word,
    },
    { requiredKeys: ["type", "flows"] },
  ),
  fc.record(
    { type: fc.constant("openIdConnect" as const), openIdConnectUrl: fc.webUrl(), description: word },
    { requiredKeys: ["type", "openIdConnectUrl"] },
  ),
  fc.record({ type: fc.constant("mutualTLS" as const), description: word }, { requiredKeys: ["type"] }),
);

const skill = fc.record(
  {
    id: word,
    name: word,
    description: word,
    tags: fc.array(word, { minLength: 1, maxLength: 2 }),
    examples: fc.array(word, { maxLength: 2 }),
    inputModes: modes,
    outputModes: modes,
    security,
  },
  { requiredKeys: ["id", "name", "description", "tags"] },
);

const extension = fc.record(
  { uri: fc.webUrl(), description: word, required: fc.boolean(), params: metadata },
  { requiredKeys: ["uri"] },
);

export const card: fc.Arbitrary<AgentCard> = fc.record(
  {
    name: word,
    description: word,
    version: word,
    interfaces: fc.array(
      fc.record(
        {
          url: fc.webUrl(),
          binding: fc.constantFrom("JSONRPC", "HTTP+JSON", "GRPC"),
          protocolVersion: fc.constantFrom("1.0", "0.3"),
          tenant: word,
        },
        { requiredKeys: ["url", "binding", "protocolVersion"] },
      ),
      { minLength: 1, maxLength: 3 },
    ),
    provider: fc.record({ organization: word, url: fc.webUrl() }),
    iconUrl: fc.webUrl(),
    documentationUrl: fc.webUrl(),
    capabilities: fc.record(
      {
        streaming: fc.boolean(),
        pushNotifications: fc.boolean(),
        extensions: fc.array(extension, { maxLength: 2 }),
        extendedAgentCard: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
    defaultInputModes: modes,
    defaultOutputModes: modes,
    skills: fc.array(skill, { minLength: 1, maxLength: 2 }),
    securitySchemes: fc.dictionary(schemeName, securityScheme, { maxKeys: 3 }),
    security,
  },
  {
    requiredKeys: [
      "name",
      "description",
      "version",
      "interfaces",
      "capabilities",
      "defaultInputModes",
      "defaultOutputModes",
      "skills",
    ],
  },
);

const violation = fc.record({ field: word, description: word });

export const error: fc.Arbitrary<A2AError> = fc
  .record({
    code: fc.constantFrom(...ERROR_CODES),
    message: word,
    metadata: fc.dictionary(word, fc.string(), { maxKeys: 2 }),
    violations: fc.array(violation, { maxLength: 2 }),
  })
  .map(({ code, message: text, ...rest }) => new A2AError(code, text, rest));
