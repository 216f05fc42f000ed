import { invalidField } from "../../protocol/error.ts";
import type { SendRequest } from "../../protocol/operation.ts";
import {
  asObject,
  member,
  optionalBoolean,
  optionalInteger,
  optionalJsonObject,
  optionalStrings,
  type WireObject,
} from "../fields/fields.ts";
import type { WaitDefault } from "../options.ts";
import { decodePushConfig, decodeWait } from "../v0_3/request.ts";
import { decodeMessage } from "./message.ts";

/** Decodes the body of a send; names are accepted in snake_case too. `absentWait`: the default of `blocking`. Throws `invalid-params`. */
export function decodeSend(operation: "send" | "stream", body: unknown, absentWait: WaitDefault): SendRequest {
  const wire = asObject(body ?? {}, "body");
  // The proto definition names the field `request`, with the JSON name `message`.
  const message = decodeMessage(member(wire, "message", "request"), "message");
  const metadata = optionalJsonObject(member(wire, "metadata"), "metadata") ?? {};
  const configuration = asObject(member(wire, "configuration") ?? {}, "configuration");
  const blocking = optionalBoolean(member(configuration, "blocking"), "configuration.blocking");
  const push =
    member(configuration, "pushNotification", "push_notification") ??
    // The name in JSON style.
    member(configuration, "pushNotificationConfig");
  const pushPath = "configuration.pushNotification";
  return {
    operation,
    tenant: "",
    message,
    metadata,
    outputModes: decodeOutputModes(configuration),
    history: decodeHistoryLength(configuration),
    // A caller with a webhook does not need to wait.
    waitMs: decodeWait(blocking, push === undefined ? absentWait : "return"),
    ...(push !== undefined && { push: decodePushConfig(asObject(push, pushPath), `${pushPath}.`) }),
  };
}

function decodeOutputModes(configuration: WireObject): string[] {
  const modes = member(configuration, "acceptedOutputModes", "accepted_output_modes");
  return optionalStrings(modes, "configuration.acceptedOutputModes") ?? [];
}

function decodeHistoryLength(configuration: WireObject): number | undefined {
  const path = "configuration.historyLength";
  const length = optionalInteger(member(configuration, "historyLength", "history_length"), path);
  if (length !== undefined && length < 0) throw invalidField(path, "must not be negative");
  return historyOf(length);
}

/** In ProtoJSON 0 equals absent: both mean the whole history. */
export function historyOf(length: number | undefined): number | undefined {
  return length === 0 ? undefined : length;
}
