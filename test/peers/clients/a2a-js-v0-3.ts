import type * as sdk from "a2a-sdk-v0_3";
import {
  AuthenticatedExtendedCardNotConfiguredError,
  type Client,
  ClientFactory,
  ContentTypeNotSupportedError,
  createAuthenticatingFetchWithRetry,
  DefaultAgentCardResolver,
  InvalidAgentResponseError,
  JsonRpcTransport,
  JsonRpcTransportFactory,
  PushNotificationNotSupportedError,
  type RequestOptions,
  RestTransport,
  RestTransportFactory,
  ServiceParameters,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
  withA2AExtensions,
} from "a2a-sdk-v0_3/client";
import { GrpcTransport, GrpcTransportFactory } from "a2a-sdk-v0_3/client/grpc";
import type { CallOptions, ClientLine, ConnectOptions, Peer, SeenCard } from "../client-line.ts";
import { nameError } from "../error-name.ts";
import { installedVersion } from "./installed-version.ts";
import { paramsOf, seenAnswer, seenCard, seenEvents, seenPush, seenTask, seenWebhook, sentWebhook } from "./kinds.ts";
import { OVER_GRPC } from "./over-grpc.ts";
import { retryCredentials } from "./retry-credentials.ts";

const PROTO_LACKS = {
  "HTTP+JSON": "the client neither sends nor reads it over REST",
  GRPC: "the client neither sends nor reads it over gRPC",
};
const NOT_IN_THIS_VERSION = "version 0.3 of the protocol does not have it";

/** The official client, last release for version 0.3. */
export const a2aJsV03: ClientLine = {
  package: "@a2a-js/sdk",
  version: installedVersion("a2a-sdk-v0_3"),
  protocol: "0.3",
  bindings: ["JSONRPC", "HTTP+JSON", "GRPC"],
  lacks: {
    lists: NOT_IN_THIS_VERSION,
    tenants: NOT_IN_THIS_VERSION,
    versions: NOT_IN_THIS_VERSION,
    "any-data": "data is always an object in version 0.3 of the protocol",
    "null-data": { GRPC: "over gRPC the client cannot send null, and reads it as 0" },
    "history-zero": "version 0.3 of the protocol cannot request an empty history",
    ...OVER_GRPC,
    "own-methods": { "HTTP+JSON": "REST has routes, not methods", GRPC: "the client calls only the methods it knows" },
    "stream-refusals": { JSONRPC: "the client does not read the JSON body of a refused stream request" },
    references: { "HTTP+JSON": "the client does not send it over REST", GRPC: "the client does not send it over gRPC" },
    "file-names": PROTO_LACKS,
    "part-metadata": PROTO_LACKS,
  },
  rules: {
    unknownTask: "task-not-found",
    repeatedCancel: "task-not-cancelable",
    finishedSubscribe: "the task",
    noExtendedCard: "extended-card-not-configured",
    missingExtension: "invalid-params",
    bareData: "as `value` of an object",
    marksLast: true,
    pushes: "tasks",
  },
  connect,
  readPush: seenPush,
  nameOf: (thrown) =>
    nameError(thrown, {
      classes: {
        "task-not-found": TaskNotFoundError,
        "task-not-cancelable": TaskNotCancelableError,
        "push-not-supported": PushNotificationNotSupportedError,
        "unsupported-operation": UnsupportedOperationError,
        "content-type-not-supported": ContentTypeNotSupportedError,
        "invalid-agent-response": InvalidAgentResponseError,
        "extended-card-not-configured": AuthenticatedExtendedCardNotConfiguredError,
      },
      // Errors without a type carry their code only in the text, over both bindings.
      codeOf: ({ message }) => {
        const [, code] = /\(Code: (-\d+)\)/.exec(message) ?? [];
        return code === undefined ? undefined : Number(code);
      },
      // For these the client has types, but does not use them over gRPC.
      grpcNameOf: ({ message }) => {
        if (message.includes("PushNotificationNotSupportedError: ")) return "push-not-supported";
        return message.includes("ContentTypeNotSupportedError: ") ? "content-type-not-supported" : undefined;
      },
      grpcCodeOf: (error) => {
        const code: unknown = Reflect.get(error, "code");
        return typeof code === "number" ? code : undefined;
      },
    }),
};

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
  const expected = { JSONRPC: JsonRpcTransport, "HTTP+JSON": RestTransport, GRPC: GrpcTransport }[binding];
  if (!(client.transport instanceof expected)) throw new Error("The client uses another binding.");
  return peerOf(client, seenCard(found));
}

function peerOf(client: Client, card: SeenCard): Peer {
  const { transport } = client;
  return {
    card,
    send: async (request, options) => seenAnswer(await client.sendMessage(paramsOf(request), optionsOf(options))),
    stream: (request, options) => seenEvents(client.sendMessageStream(paramsOf(request), optionsOf(options))),
    get: async (id, { history } = {}) =>
      seenTask(await client.getTask({ id, ...(history !== undefined && { historyLength: history }) })),
    list: () => Promise.reject(new Error(NOT_IN_THIS_VERSION)),
    cancel: async (id) => seenTask(await client.cancelTask({ id })),
    subscribe: (id, options) => seenEvents(client.resubscribeTask({ id }, optionsOf(options))),
    extendedCard: async () => seenCard(await client.getAgentCard()),
    webhooks: {
      set: async (taskId, webhook) =>
        seenWebhook(
          await client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig: sentWebhook(webhook) }),
        ),
      async get(id, pushNotificationConfigId) {
        // The type of this method has no webhook id, but the transports accept one.
        const params = { id, pushNotificationConfigId };
        return seenWebhook(await client.getTaskPushNotificationConfig(params));
      },
      list: async (id) => (await client.listTaskPushNotificationConfig({ id })).map(seenWebhook),
      delete: (id, pushNotificationConfigId) =>
        client.deleteTaskPushNotificationConfig({ id, pushNotificationConfigId }),
    },
    regardless: {
      stream: (request) => seenEvents(transport.sendMessageStream(paramsOf(request))),
      subscribe: (id) => seenEvents(transport.resubscribeTask({ id })),
      extendedCard: async () => seenCard(await transport.getExtendedAgentCard()),
      push: [
        (taskId) =>
          transport.setTaskPushNotificationConfig({
            taskId,
            pushNotificationConfig: { url: "https://example.org/hook" },
          }),
        (id) => transport.getTaskPushNotificationConfig({ id, pushNotificationConfigId: "hook" }),
        (id) => transport.listTaskPushNotificationConfig({ id }),
        (id) => transport.deleteTaskPushNotificationConfig({ id, pushNotificationConfigId: "hook" }),
      ],
      async ownMethod(name) {
        if (!(transport instanceof JsonRpcTransport)) throw new Error("This binding has no methods.");
        return transport.callExtensionMethod(name, {}, 1);
      },
      getAs: () => Promise.reject(new Error(NOT_IN_THIS_VERSION)),
    },
  };
}

function optionsOf({ signal, extensions }: CallOptions = {}): RequestOptions {
  return {
    ...(signal !== undefined && { signal }),
    ...(extensions !== undefined && {
      serviceParameters: ServiceParameters.create(withA2AExtensions(...extensions)),
    }),
  };
}
