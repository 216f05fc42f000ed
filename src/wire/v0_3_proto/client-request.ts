import type { PushConfig, PushCreateRequest, SendRequest } from "../../protocol/operation.ts";
import type { ClientRequest, RestCall } from "../client/client-codec.ts";
import { type Params, unlessEmpty } from "../client/client-params.ts";
import { encodeRestCall } from "../v0_3/client-request.ts";
import { messageObject } from "./message.ts";

/** A call in the style of the definition, which has no place for the metadata of requests other than sends. */
export function encodeRestRequest(request: ClientRequest): RestCall {
  return encodeRestCall(expressible(request), { send: sendBody, pushCreate: pushBody });
}

function expressible(request: ClientRequest): ClientRequest {
  if (request.operation === "cancel") return { ...request, metadata: {} };
  return "history" in request && request.history === 0 ? { ...request, history: LEAST_HISTORY } : request;
}

/** No history cannot be asked for: 0 means all of it. */
const LEAST_HISTORY = 1;

/** Whether to wait is always written: readers that see no difference between false and absent lose nothing by it. */
function sendBody({ message, metadata, outputModes, history, waitMs, push }: SendRequest): Params {
  return {
    message: messageObject(message),
    configuration: {
      acceptedOutputModes: outputModes.length === 0 ? undefined : outputModes,
      pushNotification: push && configObject(push),
      historyLength: history,
      blocking: waitMs > 0,
    },
    metadata: unlessEmpty(metadata),
  };
}

/** Of the forms that are about, the one every official server reads. */
function pushBody({ taskId, config }: PushCreateRequest): Params {
  const parent = `tasks/${taskId}`;
  const name = config.id === undefined ? undefined : `${parent}/pushNotificationConfigs/${config.id}`;
  return { parent, configId: config.id, config: { name, pushNotificationConfig: configObject(config) } };
}

/** The members of the definition and no others, because its readers refuse what they do not know. */
function configObject({ id, url, token, authentication }: PushConfig): Params {
  return { id, url, token, authentication };
}
