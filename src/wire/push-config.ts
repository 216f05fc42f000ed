import { invalidField } from "../protocol/error.ts";
import type { PushConfig } from "../protocol/operation.ts";
import { textOf } from "./answer-fields.ts";
import { member, optionalId, optionalString, type WireObject } from "./fields.ts";

/** How we are to authenticate where we notify. */
export type Authentication = NonNullable<PushConfig["authentication"]>;

/** Versions spell it each in their own way; `undefined` where it says nothing. */
type AuthenticationReader = (value: unknown, path: string) => Authentication | undefined;

/** Where to notify a caller, as the caller says it. `path` ends in a dot, unless it is empty. */
export function decodePushConfig(wire: WireObject, path: string, readAuthentication: AuthenticationReader): PushConfig {
  const id = optionalId(member(wire, "id"), `${path}id`);
  const url = textOf(member(wire, "url"), `${path}url`);
  if (url === "") throw invalidField(`${path}url`, "is required");
  const token = optionalString(member(wire, "token"), `${path}token`);
  const declared = member(wire, "authentication");
  const authentication = declared === undefined ? undefined : readAuthentication(declared, `${path}authentication`);
  return {
    url,
    ...(id !== undefined && { id }),
    ...(token !== undefined && { token }),
    ...(authentication !== undefined && { authentication }),
  };
}
