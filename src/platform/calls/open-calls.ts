import { type AncestryTokens, createAncestryTokens } from "../../auth/ancestry-token.ts";
import type { SigningKeys } from "../../auth/signing-keys.ts";
import { createRemoteKeySet } from "../../auth/verify/key-set.ts";
import type { Agent } from "../../engine/agent/agent.ts";
import { callLimitsOf } from "../../engine/agent/call-limits.ts";
import type { Engine } from "../../engine/api.ts";
import type { Callees } from "../../engine/call/callee.ts";
import type { Logger } from "../../internal/logger.ts";
import type { OutgoingOptions } from "../../outgoing/contract.ts";
import { createOutgoing } from "../../outgoing/create-outgoing.ts";
import { callPathEntry } from "../../protocol/call-path.ts";
import type { AncestryRules } from "../../server/accept-call-path.ts";
import { authorizeCall } from "../../server/authorize.ts";
import type { Security } from "../../server/security.ts";
import type { CallServerOptions } from "../settings/call-settings.ts";
import { createCallees } from "./callees.ts";
import { cancelAgent } from "./cancel-agent.ts";
import { MarkedContexts } from "./marked-context.ts";
import { isAlreadyOver } from "./remote-callee.ts";
import { createRemoteClients } from "./remote-clients.ts";

export interface CallsOptions {
  readonly agents: readonly Agent[];
  readonly engine: () => Engine;
  readonly serverId: string;
  readonly secret: Uint8Array;
  readonly keys: SigningKeys;
  readonly options: CallServerOptions;
  readonly outgoing: OutgoingOptions;
  readonly security: Security | undefined;
  readonly logger: Logger;
}

/** Everything that agents need to call agents. */
export interface OpenedCalls {
  readonly callees: Callees;
  /** Agents of the engine that are not served. */
  readonly internalAgents: readonly Agent[];
  readonly rules: AncestryRules;
  close(): void;
}

export function openCalls({
  agents,
  engine,
  serverId,
  secret,
  keys,
  options,
  outgoing,
  security,
  logger,
}: CallsOptions): OpenedCalls {
  const contexts = new MarkedContexts(secret);
  const entries = agents.map(({ id }) => callPathEntry(serverId, id));
  const remotes = createRemoteClients({ outgoing });
  const tokens = ancestryTokens({ keys, serverId, trust: options.trust ?? [], outgoing });
  const callees = createCallees({
    ...{ agents, engine, serverId, remotes, logger },
    newContextId: (entry) => contexts.create(entry),
    sign: (ancestry, messageId) => tokens.sign(ancestry, messageId),
    authorize: (agent, { caller, scope }) => authorizeCall({ agent, security }, caller, scope.tenant),
  });
  const cancel = cancelAgent(async (address, taskId, signal) => {
    const client = await remotes.client(address.url);
    await client
      .task(taskId)
      .cancel({ signal })
      .catch((error: unknown) => {
        if (!isAlreadyOver(error)) throw error;
      });
  });
  const limits = new Map(agents.map(({ id, calls }) => [id, callLimitsOf(options, calls)]));
  return {
    callees,
    internalAgents: [cancel],
    rules: {
      read: (text, messageId) => tokens.read(text, messageId),
      creatorOf: (contextId) => contexts.creatorOf(contextId, entries),
      limitsOf: (agent) => limits.get(agent) ?? callLimitsOf(options),
    },
    close: () => remotes.close(),
  };
}

interface TokenOptions {
  readonly keys: SigningKeys;
  readonly serverId: string;
  readonly trust: readonly string[];
  readonly outgoing: OutgoingOptions;
}

function ancestryTokens({ keys, serverId, trust, outgoing }: TokenOptions): AncestryTokens {
  const fetch = trust.length === 0 ? undefined : createOutgoing(outgoing).fetch;
  const trusted =
    fetch === undefined
      ? []
      : trust.map((url) =>
          createRemoteKeySet({
            url: new URL("/.well-known/jwks.json", url).href,
            fetch,
            now: () => performance.now(),
          }),
        );
  return createAncestryTokens({ keys, serverId, trusted });
}
