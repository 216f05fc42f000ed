import { randomUUID } from "node:crypto";
import * as sdk from "a2a-sdk-v1";
import {
  type Client,
  ClientFactory,
  createAuthenticatingFetchWithRetry,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  type RequestOptions,
  RestTransportFactory,
  ServiceParameters,
  withA2AExtensions,
} from "a2a-sdk-v1/client";
import { GrpcTransportFactory } from "a2a-sdk-v1/client/grpc";
import * as errors from "a2a-sdk-v1/errors";
import type { Part, TaskState } from "palaver";
import type {
  Answer,
  CallOptions,
  ClientLine,
  ConnectOptions,
  ListQuery,
  Peer,
  SeenArtifact,
  SeenCard,
  SeenEvent,
  SeenMessage,
  SeenState,
  SeenTask,
  SendRequest,
  Webhook,
} from "../client-line.ts";
import { nameError } from "../error-name.ts";
import { installedVersion } from "./installed-version.ts";
import { OVER_GRPC } from "./over-grpc.ts";
import { retryCredentials } from "./retry-credentials.ts";

/** The official client, newest release line. */
export const a2aJsV1: ClientLine = {
  package: "@a2a-js/sdk",
  version: installedVersion("a2a-sdk-v1"),
  protocol: "1.0",
  bindings: ["JSONRPC", "HTTP+JSON", "GRPC"],
  lacks: {
    "own-methods": { "HTTP+JSON": "REST has routes, not methods", GRPC: "the client calls only the methods it knows" },
    ...OVER_GRPC,
    tenants: { GRPC: "over gRPC the tenant names one of several agents" },
  },
  rules: {
    unknownTask: "task-not-found",
    repeatedCancel: "the task",
    finishedSubscribe: "unsupported-operation",
    noExtendedCard: "unsupported-operation",
    missingExtension: "extension-support-required",
    bareData: "as it is",
    marksLast: false,
    pushes: "events",
  },
  connect,
  readPush: (body) => seenEvent(sdk.StreamResponse.fromJSON(body)),
  nameOf: (thrown) =>
    nameError(thrown, {
      classes: {
        "task-not-found": errors.TaskNotFoundError,
        "task-not-cancelable": errors.TaskNotCancelableError,
        "push-not-supported": errors.PushNotificationNotSupportedError,
        "unsupported-operation": errors.UnsupportedOperationError,
        "content-type-not-supported": errors.ContentTypeNotSupportedError,
        "invalid-agent-response": errors.InvalidAgentResponseError,
        "extended-card-not-configured": errors.ExtendedAgentCardNotConfiguredError,
        "extension-support-required": errors.ExtensionSupportRequiredError,
        "version-not-supported": errors.VersionNotSupportedError,
        "invalid-params": errors.RequestMalformedError,
      },
      codeOf: (error) => numberIn(error, "envelopeCode"),
      statusOf: (error) => numberIn(error, "statusCode"),
      grpcCodeOf: (error) => (Reflect.get(error, "transport") === "grpc" ? numberIn(error, "status") : undefined),
    }),
};

function numberIn(error: Error, member: string): number | undefined {
  const value: unknown = Reflect.get(error, member);
  return typeof value === "number" ? value : undefined;
}

async function connect(address: string, options: ConnectOptions): Promise<Peer> {
  const { binding, only = false, credentials } = options;
  const fetchImpl =
    credentials === undefined
      ? options.fetch
      : createAuthenticatingFetchWithRetry(options.fetch, retryCredentials(credentials));
  const transports = [
    new JsonRpcTransportFactory({ fetchImpl }),
    new RestTransportFactory({ fetchImpl }),
    new GrpcTransportFactory(),
  ];
  const resolver = new DefaultAgentCardResolver({ fetchImpl });
  let found: sdk.AgentCard | undefined;
  const factory = new ClientFactory({
    transports: only ? transports.filter(({ protocolName }) => protocolName === binding) : transports,
    ...(!only && { preferredTransports: [binding] }),
    cardResolver: {
      async resolve(base, path) {
        found = await resolver.resolve(base, path);
        return found;
      },
    },
  });
  const client = await factory.createFromUrl(address);
  if (found === undefined) throw new Error("The client did not request the card.");
  if (client.transport.protocolName !== binding) throw new Error(`The client uses ${client.transport.protocolName}.`);
  if (client.protocolVersion !== "1.0") throw new Error(`The client uses version ${client.protocolVersion}.`);
  return peerOf(client, seenCard(found));
}

function peerOf(client: Client, card: SeenCard): Peer {
  const { transport } = client;
  return {
    card,
    send: async (request, options) => seenAnswer(await client.sendMessage(requestOf(request), optionsOf(options))),
    stream: (request, options) => seenEvents(client.sendMessageStream(requestOf(request), optionsOf(options))),
    get: async (id, { history, tenant = "" } = {}) =>
      seenTask(await client.getTask({ tenant, id, ...(history !== undefined && { historyLength: history }) })),
    async list(query) {
      const { tasks, totalSize, pageSize, nextPageToken } = await client.listTasks(listRequestOf(query));
      return { tasks: tasks.map(seenTask), total: totalSize, pageSize, next: nextPageToken };
    },
    cancel: async (id) => seenTask(await client.cancelTask({ tenant: "", id, metadata: undefined })),
    subscribe: (id, options) => seenEvents(client.resubscribeTask({ tenant: "", id }, optionsOf(options))),
    extendedCard: async () => seenCard(await client.getAgentCard()),
    webhooks: {
      set: async (taskId, webhook) =>
        seenWebhook(await client.createTaskPushNotificationConfig(sentWebhook(taskId, webhook))),
      get: async (taskId, id) => seenWebhook(await client.getTaskPushNotificationConfig({ tenant: "", taskId, id })),
      async list(taskId) {
        const { configs } = await client.listTaskPushNotificationConfig({
          tenant: "",
          taskId,
          pageSize: 10,
          pageToken: "",
        });
        return configs.map(seenWebhook);
      },
      delete: (taskId, id) => client.deleteTaskPushNotificationConfig({ tenant: "", taskId, id }),
    },
    regardless: {
      stream: (request) => seenEvents(transport.sendMessageStream(requestOf(request), VERSIONED)),
      subscribe: (id) => seenEvents(transport.resubscribeTask({ tenant: "", id }, VERSIONED)),
      extendedCard: async () => seenCard(await transport.getExtendedAgentCard({ tenant: "" }, VERSIONED)),
      push: [
        (taskId) =>
          transport.createTaskPushNotificationConfig(
            { tenant: "", id: "", taskId, url: "https://example.org/hook", token: "", authentication: undefined },
            VERSIONED,
          ),
        (taskId) => transport.getTaskPushNotificationConfig({ tenant: "", taskId, id: "hook" }, VERSIONED),
        (taskId) =>
          transport.listTaskPushNotificationConfig({ tenant: "", taskId, pageSize: 10, pageToken: "" }, VERSIONED),
        (taskId) => transport.deleteTaskPushNotificationConfig({ tenant: "", taskId, id: "hook" }, VERSIONED),
      ],
      async ownMethod(name) {
        if (!isExtensible(transport)) throw new Error("This binding has no methods.");
        return transport.callExtensionMethod(name, {}, VERSIONED);
      },
      getAs: (version, id) =>
        transport.getTask({ tenant: "", id }, { serviceParameters: { [sdk.A2A_VERSION_HEADER]: version } }),
    },
  };
}

/** Methods of its JSON-RPC transport beyond the common transport interface. */
interface Extensible {
  callExtensionMethod(method: string, params: object, options: RequestOptions): Promise<unknown>;
}

function isExtensible(transport: object): transport is Extensible {
  return "callExtensionMethod" in transport;
}

/** The header that the client adds, for calls that bypass the client. */
const VERSIONED: RequestOptions = { serviceParameters: { [sdk.A2A_VERSION_HEADER]: "1.0" } };

function optionsOf({ signal, extensions }: CallOptions = {}): RequestOptions {
  return {
    ...(signal !== undefined && { signal }),
    ...(extensions !== undefined && {
      serviceParameters: ServiceParameters.create(withA2AExtensions(...extensions)),
    }),
  };
}

/** A request in this client's types: every field, most of them empty. */
function requestOf(request: SendRequest): sdk.SendMessageRequest {
  const { content, wait = true, history, push } = request;
  const parts = typeof content === "string" ? [{ text: content }] : content;
  return {
    tenant: request.tenant ?? "",
    message: {
      messageId: randomUUID(),
      contextId: request.contextId ?? "",
      taskId: request.taskId ?? "",
      role: sdk.Role.ROLE_USER,
      parts: parts.map(sentPart),
      metadata: request.metadata,
      extensions: [],
      referenceTaskIds: [...(request.referenceTaskIds ?? [])],
    },
    configuration: {
      acceptedOutputModes: [...(request.outputModes ?? [])],
      taskPushNotificationConfig: push === undefined ? undefined : sentWebhook("", push),
      returnImmediately: !wait,
      ...(history !== undefined && { historyLength: history }),
    },
    metadata: request.requestMetadata,
  };
}

function listRequestOf(query: ListQuery): sdk.ListTasksRequest {
  const { state, pageSize, history, artifacts } = query;
  return {
    tenant: "",
    contextId: query.contextId ?? "",
    status: state === undefined ? sdk.TaskState.TASK_STATE_UNSPECIFIED : sentState(state),
    pageToken: query.pageToken ?? "",
    statusTimestampAfter: query.since,
    ...(pageSize !== undefined && { pageSize }),
    ...(history !== undefined && { historyLength: history }),
    ...(artifacts !== undefined && { includeArtifacts: artifacts }),
  };
}

function sentPart(part: Part): sdk.Part {
  const { mediaType = "", filename = "", metadata } = part;
  return { content: contentOf(part), metadata, filename, mediaType };
}

function contentOf(part: Part): sdk.Part["content"] {
  if (part.text !== undefined) return { $case: "text", value: part.text };
  if (part.raw !== undefined) return { $case: "raw", value: Buffer.from(part.raw, "base64") };
  if (part.url !== undefined) return { $case: "url", value: part.url };
  return { $case: "data", value: part.data };
}

const STATES: Readonly<Record<sdk.TaskState, SeenState>> = {
  [sdk.TaskState.TASK_STATE_UNSPECIFIED]: "unknown",
  [sdk.TaskState.TASK_STATE_SUBMITTED]: "submitted",
  [sdk.TaskState.TASK_STATE_WORKING]: "working",
  [sdk.TaskState.TASK_STATE_COMPLETED]: "completed",
  [sdk.TaskState.TASK_STATE_FAILED]: "failed",
  [sdk.TaskState.TASK_STATE_CANCELED]: "canceled",
  [sdk.TaskState.TASK_STATE_INPUT_REQUIRED]: "input-required",
  [sdk.TaskState.TASK_STATE_REJECTED]: "rejected",
  [sdk.TaskState.TASK_STATE_AUTH_REQUIRED]: "auth-required",
  [sdk.TaskState.UNRECOGNIZED]: "unknown",
};

function sentState(state: TaskState): sdk.TaskState {
  const [value] = Object.entries(STATES).find(([, name]) => name === state) ?? [];
  return Number(value);
}

const stateOf = (status: sdk.TaskStatus | undefined): SeenState =>
  STATES[status?.state ?? sdk.TaskState.TASK_STATE_UNSPECIFIED];

function seenAnswer(result: sdk.Task | sdk.Message): Answer {
  return "messageId" in result
    ? { kind: "message", message: seenMessage(result) }
    : { kind: "task", task: seenTask(result) };
}

async function* seenEvents(stream: AsyncIterable<sdk.StreamResponse>): AsyncIterable<SeenEvent> {
  for await (const response of stream) yield seenEvent(response);
}

function seenEvent({ payload }: sdk.StreamResponse): SeenEvent {
  switch (payload?.$case) {
    case "task":
      return { kind: "task", task: seenTask(payload.value) };
    case "message":
      return { kind: "message", message: seenMessage(payload.value) };
    case "statusUpdate": {
      const { taskId, status } = payload.value;
      const message = status?.message === undefined ? undefined : seenMessage(status.message);
      return { kind: "status", taskId, state: stateOf(status), message, final: undefined };
    }
    case "artifactUpdate": {
      const { taskId, artifact } = payload.value;
      if (artifact === undefined) throw new Error("An artifact update without an artifact.");
      return { kind: "artifact", taskId, artifact: seenArtifact(artifact) };
    }
    case undefined:
      throw new Error("An empty frame.");
  }
}

function sentWebhook(
  taskId: string,
  { id = "", url, token = "", authentication }: Webhook,
): sdk.TaskPushNotificationConfig {
  const { scheme, credentials = "" } = authentication ?? {};
  return {
    tenant: "",
    id,
    taskId,
    url,
    token,
    authentication: scheme === undefined ? undefined : { scheme, credentials },
  };
}

function seenWebhook({ id, url, token, authentication }: sdk.TaskPushNotificationConfig): Webhook {
  return {
    id,
    url,
    token: token || undefined,
    authentication:
      authentication === undefined
        ? undefined
        : { scheme: authentication.scheme, credentials: authentication.credentials || undefined },
  };
}

function seenTask({ id, contextId, status, artifacts, history }: sdk.Task): SeenTask {
  return {
    id,
    contextId,
    state: stateOf(status),
    timestamp: status?.timestamp,
    message: status?.message === undefined ? undefined : seenMessage(status.message),
    artifacts: artifacts.map(seenArtifact),
    history: history.map(seenMessage),
  };
}

function seenMessage({ messageId, role, parts, taskId, contextId, metadata }: sdk.Message): SeenMessage {
  return {
    messageId,
    role: role === sdk.Role.ROLE_AGENT ? "agent" : "user",
    parts: parts.map(seenPart),
    taskId: taskId || undefined,
    contextId: contextId || undefined,
    metadata,
  };
}

function seenArtifact({ artifactId, name, description, parts, metadata }: sdk.Artifact): SeenArtifact {
  return {
    artifactId,
    name: name || undefined,
    description: description || undefined,
    parts: parts.map(seenPart),
    metadata,
  };
}

function seenPart({ content, mediaType, filename, metadata }: sdk.Part): Part {
  const details = {
    ...(mediaType !== "" && { mediaType }),
    ...(filename !== "" && { filename }),
    ...(metadata !== undefined && { metadata }),
  };
  switch (content?.$case) {
    case "text":
      return { text: content.value, ...details };
    case "raw":
      return { raw: content.value.toString("base64"), ...details };
    case "url":
      return { url: content.value, ...details };
    case "data":
      return { data: content.value, ...details };
    case undefined:
      throw new Error("An empty part.");
  }
}

const SCHEMES: Readonly<Record<string, string>> = {
  apiKeySecurityScheme: "apiKey",
  httpAuthSecurityScheme: "http",
  oauth2SecurityScheme: "oauth2",
  openIdConnectSecurityScheme: "openIdConnect",
  mtlsSecurityScheme: "mutualTLS",
};

/** A card as sent, or, with security schemes, in this client's types. */
function seenCard(card: sdk.AgentCard): SeenCard {
  const { name, description, version, capabilities, skills, defaultInputModes, securitySchemes } = card;
  return {
    name,
    description,
    version,
    streaming: capabilities?.streaming ?? false,
    skills: skills.map(({ id }) => id),
    inputModes: defaultInputModes,
    extensions: (capabilities?.extensions ?? []).map(({ uri }) => uri),
    schemes: Object.fromEntries(
      Object.entries(securitySchemes ?? {}).map(([key, { scheme }]) => [
        key,
        SCHEMES[scheme?.$case ?? ""] ?? "unknown",
      ]),
    ),
    security: (card.securityRequirements ?? []).map(({ schemes }) =>
      Object.fromEntries(Object.entries(schemes).map(([key, { list }]) => [key, list])),
    ),
  };
}
