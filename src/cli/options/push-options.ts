import type { Command } from "commander";
import type { ServeOptions } from "../../platform/serve.ts";
import { listFrom } from "../../platform/settings/list-from.ts";

/** Part of the help of commands that serve agents. */
export const PUSH_ENVIRONMENT = `\
  OUTGOING_HTTP, OUTGOING_ALLOW
                      as --outgoing-http, --outgoing-allow
`;

/** As Commander parses them: `push` is false after `--no-push`. */
export interface PushFlags {
  readonly push?: boolean | undefined;
  readonly outgoingHttp?: boolean | undefined;
  readonly outgoingAllow?: string | undefined;
}

/** Adds the options for webhooks. */
export function addPushOptions(command: Command): void {
  command
    .option("--no-push", "do not support webhooks; agent cards say so")
    .option("--outgoing-http", "allow webhooks with http URLs")
    .option(
      "--outgoing-allow <list>",
      "also allow webhooks at these private addresses: hosts, subnets, loopback, private",
    );
}

/** Separates the webhook flags, as server options, from all others. */
export function apartFromPush<Flags extends PushFlags>(
  flags: Flags,
): {
  readonly push: Pick<ServeOptions, "push" | "outgoing">;
  readonly others: Omit<Flags, keyof PushFlags>;
} {
  const { push, outgoingHttp, outgoingAllow, ...others } = flags;
  const outgoing = {
    ...(outgoingHttp === true && { http: true }),
    ...(outgoingAllow !== undefined && { allow: listFrom(outgoingAllow) }),
  };
  return { push: { outgoing, ...(push === false && { push: false as const }) }, others };
}
