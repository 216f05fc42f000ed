import fc from "fast-check";
import { sampled } from "../../../../test/fixtures/budget.ts";
import type { Artifact } from "../../../protocol/artifact.ts";
import type { AgentCard, OAuthFlow, SecurityScheme } from "../../../protocol/card.ts";
import type { TaskEvent } from "../../../protocol/event.ts";
import type { ArtifactId, ContextId, MessageId, TaskId } from "../../../protocol/ids.ts";
import type { JsonObject, JsonValue } from "../../../protocol/json.ts";
import type { Message } from "../../../protocol/message.ts";
import type { OperationRequest, PushConfig, SendRequest } from "../../../protocol/operation.ts";
import type { Part } from "../../../protocol/part.ts";
import { type StoredTask, writeMessage, writeStatus } from "../../../protocol/serial.ts";
import { TASK_STATES } from "../../../protocol/state.ts";
import type { Task, TaskStatus } from "../../../protocol/task.ts";

// Generators of everything in the neutral model that the proto style can encode. Not included: references to other tasks, an
// empty optional text, several flows of one scheme, the difference between no history and the whole history.

/** A fixed seed, so that a failure is reproducible. */
export const SAMPLES: fc.Parameters<unknown> = { seed: 1, numRuns: sampled(40, 300) };

function some<T, K extends keyof T>(members: { [Name in keyof T]: fc.Arbitrary<T[Name]> }, required: K[]) {
  return fc.record(members, { requiredKeys: required, noNullPrototype: true });
}

// Through JSON once, because JSON has no -0.
export const json: fc.Arbitrary<JsonValue> = fc
  .jsonValue({ maxDepth: 3 })
  .map((value): JsonValue => JSON.parse(JSON.stringify(value)));
const key = fc.oneof(
  fc.string(),
  fc.constantFrom("mediaType", "filename", "data_part_compat", "_mediaType", "__proto__", "value", "raw", "kind"),
);
const metadata: fc.Arbitrary<JsonObject> = fc
  .array(fc.tuple(key, json), { minLength: 1, maxLength: 3 })
  .map((entries) => Object.fromEntries(entries));
const text = fc.string({ unit: "binary" });
const filled = fc.string({ unit: "binary", minLength: 1 });
/** Ids and other names, without NUL, which some stores cannot store. */
const id = filled.filter((value) => !value.includes("\0"));
const taskId = id.map((value) => value as TaskId);
const contextId = id.map((value) => value as ContextId);
const strings = fc.array(id, { minLength: 1, maxLength: 3 });

const details = { mediaType: fc.oneof(fc.constantFrom("text/plain", "image/png"), filled), filename: filled, metadata };
const data = fc.oneof(json, fc.constantFrom<JsonValue>({ value: 1 }, { data: {} }, [], null, {}));
export const part: fc.Arbitrary<Part> = fc.oneof(
  some({ text, ...details }, ["text"]),
  some({ raw: fc.base64String(), ...details }, ["raw"]),
  some({ url: filled, ...details }, ["url"]),
  some({ data, ...details }, ["data"]),
);

const links = { contextId, taskId, extensions: strings, metadata };
const messageId = id.map((value) => value as MessageId);
const parts = fc.array(part, { minLength: 1, maxLength: 4 });
export const userMessage: fc.Arbitrary<Message> = some(
  { messageId, role: fc.constant("user" as const), parts, ...links },
  ["messageId", "role", "parts"],
);
export const message: fc.Arbitrary<Message> = some(
  { messageId, role: fc.constantFrom("user" as const, "agent" as const), parts, ...links },
  ["messageId", "role", "parts"],
);

const timestamp = fc.date({ noInvalidDate: true, min: new Date(0) }).map((date) => date.toISOString());
const status: fc.Arbitrary<TaskStatus> = some({ state: fc.constantFrom(...TASK_STATES), message, timestamp }, [
  "state",
  "timestamp",
]);
const artifact: fc.Arbitrary<Artifact> = some(
  {
    artifactId: id.map((value) => value as ArtifactId),
    name: filled,
    description: filled,
    parts: fc.array(part, { maxLength: 3 }),
    extensions: strings,
    metadata,
  },
  ["artifactId", "parts"],
);

export const task: fc.Arbitrary<Task> = some(
  {
    id: taskId,
    contextId,
    status,
    artifacts: fc.array(artifact, { maxLength: 2 }),
    history: fc.array(message, { maxLength: 2 }),
    metadata,
  },
  ["id", "contextId", "status"],
);

export function stored({ id, contextId, status, artifacts, history, metadata }: Task): StoredTask {
  return {
    id,
    contextId,
    seq: 1,
    state: status.state,
    status: writeStatus(status),
    ...(artifacts !== undefined && { artifacts: JSON.stringify(artifacts) }),
    ...(history !== undefined && { history: `[${history.map(writeMessage).join(",")}]` }),
    ...(metadata !== undefined && { metadata: JSON.stringify(metadata) }),
  };
}

export const event: fc.Arbitrary<TaskEvent> = fc.oneof(
  some({ kind: fc.constant("status" as const), status, metadata }, ["kind", "status"]),
  some(
    {
      kind: fc.constant("artifact" as const),
      artifact,
      append: fc.boolean(),
      lastChunk: fc.boolean(),
      metadata,
    },
    ["kind", "artifact", "append", "lastChunk"],
  ),
);

/** Valid header values. */
const sendable = fc
  .array(fc.constantFrom("a", "Z", "0", " ", ".", "~", "\t", "\x80", "\xff", '"'), { minLength: 1, maxLength: 12 })
  .map((characters) => characters.join(""));
const schemes = fc.array(sendable, { maxLength: 2 });

const push: fc.Arbitrary<PushConfig> = some(
  {
    id,
    url: fc.webUrl(),
    token: sendable,
    authentication: some({ schemes: schemes.map((others) => ["Bearer", ...others] as const), credentials: sendable }, [
      "schemes",
    ]),
  },
  ["url"],
);

const history = fc.option(fc.integer({ min: 1, max: 100 }), { nil: undefined });
export const send: fc.Arbitrary<SendRequest> = some(
  {
    operation: fc.constantFrom("send" as const, "stream" as const),
    tenant: fc.constant(""),
    message: userMessage,
    metadata: fc.oneof(fc.constant({}), metadata),
    outputModes: fc.oneof(fc.constant([]), strings),
    history,
    waitMs: fc.constantFrom(0, Number.POSITIVE_INFINITY),
    push,
  },
  ["operation", "tenant", "message", "metadata", "outputModes", "history", "waitMs"],
);

/** As `JSON.parse` returns it. */
function plain<T>(members: { [Name in keyof T]: fc.Arbitrary<T[Name]> }): fc.Arbitrary<T> {
  return fc.record(members, { noNullPrototype: true });
}

/** Ids in a path. */
const pathId = id.filter((value) => value !== "." && value !== "..");
const pathTask = pathId.map((value) => value as TaskId);
const tenant = fc.constant("");
export const request: fc.Arbitrary<OperationRequest> = fc.oneof(
  send,
  plain({ operation: fc.constant("get" as const), tenant, id: pathTask, history }),
  plain({ operation: fc.constant("cancel" as const), tenant, id: pathTask, metadata: fc.constant({}) }),
  plain({ operation: fc.constant("subscribe" as const), tenant, id: pathTask }),
  plain({ operation: fc.constant("push-create" as const), tenant, taskId: pathTask, config: push }),
  plain({ operation: fc.constant("push-get" as const), tenant, taskId: pathTask, id: pathId }),
  plain({ operation: fc.constant("push-delete" as const), tenant, taskId: pathTask, id: pathId }),
  plain({ operation: fc.constant("push-list" as const), tenant, taskId: pathTask }),
  plain({ operation: fc.constant("extended-card" as const), tenant }),
);

const url = fc.webUrl();
const scopes = fc.dictionary(filled, text, { maxKeys: 2, noNullPrototype: true });
const flow = (...names: (keyof OAuthFlow)[]): fc.Arbitrary<OAuthFlow> =>
  fc.record({ ...Object.fromEntries(names.map((name) => [name, url])), scopes }, { noNullPrototype: true });
const flows: fc.Arbitrary<Extract<SecurityScheme, { type: "oauth2" }>["flows"]> = fc.oneof(
  flow("authorizationUrl", "tokenUrl", "refreshUrl").map((authorizationCode) => ({ authorizationCode })),
  flow("tokenUrl").map((clientCredentials) => ({ clientCredentials })),
  flow("authorizationUrl").map((implicit) => ({ implicit })),
  flow("tokenUrl", "refreshUrl").map((password) => ({ password })),
);
const scheme: fc.Arbitrary<SecurityScheme> = fc.oneof(
  some(
    {
      type: fc.constant("apiKey" as const),
      in: fc.constantFrom("header" as const, "query" as const, "cookie" as const),
      name: filled,
      description: filled,
    },
    ["type", "in", "name"],
  ),
  some({ type: fc.constant("http" as const), scheme: filled, bearerFormat: filled }, ["type", "scheme"]),
  some({ type: fc.constant("oauth2" as const), flows, oauth2MetadataUrl: url, description: filled }, ["type", "flows"]),
  some({ type: fc.constant("openIdConnect" as const), openIdConnectUrl: url, description: filled }, [
    "type",
    "openIdConnectUrl",
  ]),
  some({ type: fc.constant("mutualTLS" as const), description: filled }, ["type"]),
);
const security = fc.array(
  fc.dictionary(filled, fc.array(filled, { maxLength: 2 }), { maxKeys: 2, noNullPrototype: true }),
  { minLength: 1, maxLength: 2 },
);
const skill = some(
  {
    id,
    name: text,
    description: text,
    tags: strings,
    examples: strings,
    inputModes: strings,
    outputModes: strings,
    security,
  },
  ["id", "name", "description", "tags"],
);

export const card: fc.Arbitrary<AgentCard> = some(
  {
    name: text,
    description: text,
    version: text,
    // The main interface of 0.3 is JSON-RPC.
    interfaces: fc
      .uniqueArray(fc.constantFrom("JSONRPC", "HTTP+JSON", "GRPC"), { minLength: 1 })
      .map((bindings) => bindings.toSorted((a, b) => Number(b === "JSONRPC") - Number(a === "JSONRPC")))
      .map((bindings) =>
        bindings.map((binding) => ({ url: `https://agent.test/${binding}`, binding, protocolVersion: "0.3" })),
      ),
    provider: fc.record({ organization: text, url: text }, { noNullPrototype: true }),
    iconUrl: url,
    documentationUrl: url,
    capabilities: some(
      {
        streaming: fc.boolean(),
        pushNotifications: fc.boolean(),
        extendedAgentCard: fc.boolean(),
        extensions: fc.array(
          some({ uri: url, description: filled, required: fc.boolean(), params: metadata }, ["uri"]),
          { maxLength: 2 },
        ),
      },
      [],
    ),
    defaultInputModes: strings,
    defaultOutputModes: strings,
    skills: fc.array(skill, { maxLength: 2 }),
    securitySchemes: fc.dictionary(filled, scheme, { maxKeys: 3, noNullPrototype: true }),
    security,
  },
  ["name", "description", "version", "interfaces", "capabilities", "defaultInputModes", "defaultOutputModes", "skills"],
);
