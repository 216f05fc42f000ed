import { createHmac } from "node:crypto";
import { MAX_CALL_PATH } from "../../protocol/call-path.ts";
import { StartupError } from "../startup-error.ts";

/** Characters that an entry of a call path allows, without the slash that separates server and agent. */
const SERVER_ID = /^[\w.-]{1,64}$/;

/**
 * The id of the server that has this secret: the same after a restart and for all nodes that share it. It does not reveal the secret, and
 * is sent to the agents that this server calls.
 */
export function serverIdFrom(secret: Uint8Array): string {
  return createHmac("sha256", secret).update("palaver server id").digest().subarray(0, 16).toString("base64url");
}

/** Throws a {@link StartupError} for an id that cannot be sent. */
export function checkServerId(id: string | undefined): void {
  if (id === undefined || SERVER_ID.test(id)) return;
  throw new StartupError(
    "usage",
    `serverId must be 1 to 64 letters, digits, dots, dashes or underscores, not ${JSON.stringify(id)}.`,
  );
}

/** The number, if it is one that a path can reach. Throws a {@link StartupError} otherwise. */
export function checkMaxHops(hops: number): number {
  if (Number.isInteger(hops) && hops >= 0 && hops < MAX_CALL_PATH) return hops;
  throw new StartupError(
    "usage",
    `limits.maxHops must be a whole number from 0 to ${MAX_CALL_PATH - 1}, not ${String(hops)}.`,
  );
}
