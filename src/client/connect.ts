import type { AgentCard, AgentInterface } from "../protocol/card.ts";
import { clientDialect, type RestStyle } from "../wire/client/client-registry.ts";
import { AgentHost } from "./agent-host.ts";
import type { RemoteAgent } from "./api.ts";
import type { Credentials } from "./credentials/contract.ts";
import { createAuthorizer, createUndeclaredAuthorize } from "./credentials/create-authorizer.ts";
import { chooseInterface, type InterfaceOptions } from "./discovery/choose-interface.ts";
import { type DiscoverOptions, discover, wasVerified } from "./discovery/discover.ts";
import { verifyCard } from "./discovery/verify-card.ts";
import { abortable } from "./http/abort.ts";
import { type Channel, type ChannelOptions, createChannel } from "./http/channel.ts";
import { RemoteError } from "./http/errors.ts";
import { createFallbackChannel } from "./http/fallback-channel.ts";
import { type ClientOptions, clientSettings } from "./http/settings.ts";
import { createRemoteAgent } from "./remote-agent.ts";

export interface ConnectOptions
  extends ClientOptions,
    InterfaceOptions,
    Pick<DiscoverOptions, "cache" | "revalidate" | "verify"> {
  /** What there is to show to the agent; its card says which of it it wants. Instead of `authorize`. */
  readonly credentials?: Credentials;
  /**
   * How requests of REST 0.3 and 0.2 are written: `proto`, as official servers expect them, or `json`, with `kind`, as some others do.
   * Answers are read in either style. Default `proto`.
   */
  readonly restStyle?: RestStyle;
  /** Instead of the tenant that the card names, if it names one. */
  readonly tenant?: string;
  /** Gives up finding the agent. */
  readonly signal?: AbortSignal;
}

/**
 * Finds an agent by its address, or takes its card, and chooses the best of the ways to speak to it. Nothing is held open: there is
 * nothing to close. Throws a `RemoteError`.
 */
export function connect(agent: string | URL | object, options: ConnectOptions = {}): Promise<RemoteAgent> {
  return abortable(options.signal, () => connected(agent, options));
}

async function connected(agent: string | URL | object, options: ConnectOptions): Promise<RemoteAgent> {
  const { credentials, verify } = options;
  const isKnown = isCard(agent) && (verify === undefined || wasVerified(agent));
  const card = isKnown ? agent : (await discover(agent, { ...options, ...undeclared(options) })).card;
  const authorizer = credentials === undefined ? undefined : createAuthorizer(card, credentials, options);
  await authorizer?.prepare(options.signal);
  const settings = clientSettings({ ...options, ...(authorizer !== undefined && { authorize: authorizer.authorize }) });
  const [first, ...others] = chooseInterface(card, options);
  const wayBy = (chosen: AgentInterface): Channel => {
    const at = options.tenant === undefined ? chosen : { ...chosen, tenant: options.tenant };
    const dialect = clientDialect(at, options.restStyle);
    if (dialect === undefined) throw new RemoteError("no-interface", `${at.binding} is not spoken here.`);
    return createChannel({ card, at, dialect, settings, verify: shownCards(options) });
  };
  const channel = createFallbackChannel([wayBy(first), ...others.map(wayBy)]);
  return createRemoteAgent(new AgentHost({ card, channel, settings }));
}

/** A card that is shown to known callers only must be signed as the public one must. */
function shownCards({ verify, signal: _, ...options }: ConnectOptions): ChannelOptions["verify"] {
  if (verify === undefined) return undefined;
  return async (card, signal) => {
    const shown = typeof card === "object" && card !== null ? { ...card } : {};
    return (await verifyCard(shown, verify, { ...options, signal })).json;
  };
}

/** For agents that want to know who asks for their card, which says what they want to know. */
function undeclared({ credentials, ...options }: ConnectOptions): Pick<ConnectOptions, "authorize"> {
  return credentials === undefined ? {} : { authorize: createUndeclaredAuthorize(credentials, options) };
}

/** A card as it comes out of here, and not as any version writes it. */
function isCard(agent: string | URL | object): agent is AgentCard {
  return typeof agent === "object" && "interfaces" in agent && "capabilities" in agent;
}
