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

/** `absentWait`: what a send means that leaves out `blocking`. */
export function decodeSend(operation: "send" | "stream", body: unknown, absentWait: WaitDefault): SendRequest {
  const wire = asObject(body ?? {}, "body");
  // The field is called `request` in the definition, which knows `message` as its JSON name.
  const message = decodeMessage(member(wire, "message", "request"), "message");
  const metadata = optionalJsonObject(member(wire, "metadata"), "metadata") ?? {};
  const configuration = asObject(member(wire, "configuration") ?? {}, "configuration");
  const blocking = optionalBoolean(member(configuration, "blocking"), "configuration.blocking");
  const push =
    member(configuration, "pushNotification", "push_notification") ??
    // As the other style calls it.
    member(configuration, "pushNotificationConfig");
  const pushPath = "configuration.pushNotification";
  return {
    operation,
    tenant: "",
    message,
    metadata,
    outputModes: decodeOutputModes(configuration),
    history: decodeHistoryLength(configuration),
    // Who wants to be notified has said how it wants to hear.
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

/** 0 cannot be told from absent in this style: both ask for all there is. */
export function historyOf(length: number | undefined): number | undefined {
  return length === 0 ? undefined : length;
}
