import type { PushConfig, PushCreateRequest, SendRequest } from "../../protocol/operation.ts";
import type { ClientRequest, RestCall } from "../client/client-codec.ts";
import { type Params, unlessEmpty } from "../client/client-params.ts";
import { encodeRestCall } from "../v0_3/client-request.ts";
import { messageObject } from "./message.ts";

/** Encodes a request in proto style. Only sends have metadata in this style. */
export function encodeRestRequest(request: ClientRequest): RestCall {
  return encodeRestCall(expressible(request), { send: sendBody, pushCreate: pushBody });
}

/** Removes what this style cannot express. Messages without history cannot be requested: one message is the closest. */
function expressible(request: ClientRequest): ClientRequest {
  if (request.operation === "cancel") return { ...request, metadata: {} };
  return "history" in request && request.history === 0 ? { ...request, history: MIN_HISTORY } : request;
}

/** In ProtoJSON 0 equals absent and means the whole history, so 1 is the smallest limit. */
const MIN_HISTORY = 1;

/** Always writes `blocking`, because agents have different defaults. */
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

/** The format that every official server reads; other formats are in use too. */
function pushBody({ taskId, config }: PushCreateRequest): Params {
  const parent = `tasks/${taskId}`;
  const name = config.id === undefined ? undefined : `${parent}/pushNotificationConfigs/${config.id}`;
  return { parent, configId: config.id, config: { name, pushNotificationConfig: configObject(config) } };
}

/** Only members of the proto definition, because its readers reject unknown members. */
function configObject({ id, url, token, authentication }: PushConfig): Params {
  return { id, url, token, authentication };
}
