import type { A2AError } from "../../protocol/error.ts";
import { type FieldNames, withFieldNames } from "../fields/error-fields.ts";
import { encodeError as encodeShared } from "../v0_3/error.ts";

export const FIELDS: FieldNames = [["configuration.pushNotificationConfig", "configuration.pushNotification"]];

/** The whole body of an answer: as in JSON style, with the field names of the proto style. */
export function encodeError(error: A2AError): string {
  return encodeShared(withFieldNames(error, FIELDS));
}
