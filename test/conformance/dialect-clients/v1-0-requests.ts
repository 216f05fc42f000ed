import type { ListQuery, MessageInput, Rules, SendOptions } from "../dialect-client.ts";
import type { Fields } from "../neutral.ts";
import { writeFlatWebhook } from "./push-shapes.ts";
import { SPELLING } from "./v1-0-shapes.ts";

export const RULES: Rules = {
  waitsByDefault: true,
  canAskToWait: true,
  namesTasks: "never",
  reply: "message",
  wholeHistory: undefined,
  zeroHistory: "none",
  finishedSubscribe: "UnsupportedOperation",
  repeatedCancel: "snapshot",
  list: "pages",
  undeclaredExtendedCard: "UnsupportedOperation",
  undeclaredStreaming: "UnsupportedOperation",
  finishedSend: "UnsupportedOperation",
  managesPush: true,
  push: {
    sends: "events",
    mediaType: "application/a2a+json",
    tokenAsBearer: false,
    afterFailure: "suspended",
    fields: { create: "url", send: "configuration.taskPushNotificationConfig.url" },
    responseFields: ["id", "url", "token", "authentication"],
    schemes: "first",
  },
  requiredExtension: "ExtensionSupportRequired",
  extensionsHeader: "A2A-Extensions",
  insteadOf: {},
  messageIds: true,
  listsExtensions: true,
  referenceTaskIds: true,
  snakeCase: true,
};

/** The params of JSON-RPC and the body of REST. */
export function sendRequest(messageInput: MessageInput, options: SendOptions = {}): Fields {
  const { wait, history, outputModes, metadata, push } = options;
  const configuration = {
    ...(wait !== undefined && { returnImmediately: !wait }),
    ...(history !== undefined && { historyLength: history }),
    ...(outputModes !== undefined && { acceptedOutputModes: outputModes }),
    ...(push !== undefined && { taskPushNotificationConfig: writeFlatWebhook(push) }),
  };
  return {
    message: { messageId: crypto.randomUUID(), role: "ROLE_USER", ...messageInput },
    ...(Object.keys(configuration).length > 0 && { configuration }),
    ...(metadata !== undefined && { metadata }),
  };
}

/** The params of JSON-RPC and the query of REST. */
export function listRequest(query: ListQuery = {}): Record<string, string | number | boolean> {
  const { contextId, state, pageSize, pageToken, history, since, artifacts } = query;
  return {
    ...(contextId !== undefined && { contextId }),
    ...(state !== undefined && { status: SPELLING.states[state] }),
    ...(pageSize !== undefined && { pageSize }),
    ...(pageToken !== undefined && { pageToken }),
    ...(history !== undefined && { historyLength: history }),
    ...(since !== undefined && { statusTimestampAfter: since }),
    ...(artifacts !== undefined && { includeArtifacts: artifacts }),
  };
}
