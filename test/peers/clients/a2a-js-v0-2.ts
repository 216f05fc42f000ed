import type * as sdk from "a2a-sdk-v0_2";
import { A2AClient } from "a2a-sdk-v0_2/client";
import type { CallOptions, ClientLine, ConnectOptions, Peer, SeenCard, SendRequest } from "../client-line.ts";
import { nameError } from "../error-name.ts";
import { streamWithFetch, withFetch } from "./global-fetch.ts";
import { installedVersion } from "./installed-version.ts";
import { paramsOf, seenAnswer, seenCard, seenEvents, seenPush, seenTask, seenWebhook, sentWebhook } from "./kinds.ts";

const NOT_IN_THIS_VERSION = "version 0.2 of the protocol does not have it";
const NO_EXTENDED_CARD = "the client never requests an extended card";
const NO_WEBHOOK_LISTS = "the client cannot list, identify or delete webhooks";
const NO_METHODS = "the client can only call its own methods";

/** The official client, last release for version 0.2. It was the first official client, and has few features. */
export const a2aJsV02: ClientLine = {
  package: "@a2a-js/sdk",
  version: installedVersion("a2a-sdk-v0_2"),
  protocol: "0.2",
  bindings: ["JSONRPC"],
  lacks: {
    lists: NOT_IN_THIS_VERSION,
    tenants: NOT_IN_THIS_VERSION,
    versions: NOT_IN_THIS_VERSION,
    "any-data": "data is always an object in version 0.2 of the protocol",
    "history-zero": "version 0.2 of the protocol cannot request an empty history",
    credentials: "the client cannot send credentials",
    extensions: "the client cannot declare extensions",
    "extended-card": NO_EXTENDED_CARD,
    fallback: "the client does not fall back: it throws its own error",
    "own-methods": NO_METHODS,
    "webhook-lists": NO_WEBHOOK_LISTS,
    "stream-refusals": "the client does not read the JSON body of a refused stream request",
    "status-refusals": "the client loses the error if the HTTP status is not 200: it reads the body twice",
  },
  rules: {
    // The client does not state its version, so it is treated as a 0.3 client.
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
      classes: {},
      codeOf: ({ message }) => {
        const [, code] = /\(Code: (-\d+)\)/.exec(message) ?? [];
        return code === undefined ? undefined : Number(code);
      },
    }),
};

async function connect(address: string, { fetch }: ConnectOptions): Promise<Peer> {
  const client = withFetch(fetch, () => new A2AClient(address));
  const card = await client.getAgentCard();
  return peerOf({ client, fetch, unchecked: connectUnchecked(card, { address, fetch }), card: seenCard(card) });
}

interface ConnectedClient {
  readonly client: A2AClient;
  readonly fetch: typeof fetch;
  /** The client with a card that declares all capabilities. */
  readonly unchecked: A2AClient;
  readonly card: SeenCard;
}

function connectUnchecked(
  card: sdk.AgentCard,
  { address, fetch }: { address: string; fetch: typeof globalThis.fetch },
) {
  const claims = { ...card, capabilities: { ...card.capabilities, streaming: true, pushNotifications: true } };
  return withFetch(
    async (input, init) => (init?.method === "POST" ? fetch(input, init) : Response.json(claims)),
    () => new A2AClient(address),
  );
}

function peerOf({ client, fetch, unchecked, card }: ConnectedClient): Peer {
  const call = <T>(work: () => Promise<Response<T>>) => resultOf(withFetch(fetch, work));
  return {
    card,
    send: async (request) => seenAnswer(await call(() => client.sendMessage(sent(request)))),
    stream: (request, options) =>
      seenEvents(streamWithFetch(broken(fetch, options), () => client.sendMessageStream(sent(request)))),
    get: async (id, { history } = {}) =>
      seenTask(await call(() => client.getTask({ id, ...(history !== undefined && { historyLength: history }) }))),
    list: () => Promise.reject(new Error(NOT_IN_THIS_VERSION)),
    cancel: async (id) => seenTask(await call(() => client.cancelTask({ id }))),
    subscribe: (id, options) =>
      seenEvents(streamWithFetch(broken(fetch, options), () => client.resubscribeTask({ id }))),
    extendedCard: () => Promise.reject(new Error(NO_EXTENDED_CARD)),
    webhooks: {
      set: async (taskId, webhook) =>
        seenWebhook(
          await call(() =>
            client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig: sentWebhook(webhook) }),
          ),
        ),
      get: async (id) => seenWebhook(await call(() => client.getTaskPushNotificationConfig({ id }))),
      list: () => Promise.reject(new Error(NO_WEBHOOK_LISTS)),
      delete: () => Promise.reject(new Error(NO_WEBHOOK_LISTS)),
    },
    regardless: {
      stream: (request) => seenEvents(streamWithFetch(fetch, () => unchecked.sendMessageStream(sent(request)))),
      subscribe: (id) => seenEvents(streamWithFetch(fetch, () => unchecked.resubscribeTask({ id }))),
      extendedCard: () => Promise.reject(new Error(NO_EXTENDED_CARD)),
      push: [
        (taskId) =>
          call(() =>
            unchecked.setTaskPushNotificationConfig({
              taskId,
              pushNotificationConfig: { url: "https://example.org/hook" },
            }),
          ),
        (id) => call(() => unchecked.getTaskPushNotificationConfig({ id })),
      ],
      ownMethod: () => Promise.reject(new Error(NO_METHODS)),
      getAs: () => Promise.reject(new Error(NOT_IN_THIS_VERSION)),
    },
  };
}

/** This client cannot disconnect, so the test breaks its connection. */
function broken(fetch: typeof globalThis.fetch, { signal }: CallOptions = {}): typeof globalThis.fetch {
  return signal === undefined ? fetch : (input, init) => fetch(input, { ...init, signal });
}

/** In this version the accepted output modes are required. */
function sent(request: SendRequest): sdk.MessageSendParams {
  const { configuration, ...params } = paramsOf(request);
  return { ...params, configuration: { acceptedOutputModes: [], ...configuration } };
}

type Response<T> = sdk.JSONRPCErrorResponse | { readonly result: T };

/** This client returns errors as responses, and throws them in streams. This function throws both. */
async function resultOf<T>(answer: Promise<Response<T>>): Promise<T> {
  const response = await answer;
  if (!("error" in response)) return response.result;
  const { code, message } = response.error;
  throw new Error(`${message} (Code: ${code})`);
}
