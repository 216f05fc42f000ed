import type { AgentCard, AgentInterface } from "../protocol/card.ts";
import { IDEMPOTENT_SEND } from "../protocol/extensions.ts";
import { clientDialect, isGrpc, type RestStyle } from "../wire/client/client-registry.ts";
import { AgentHost } from "./agent-host.ts";
import type { AgentClient } from "./api.ts";
import type { Credentials } from "./credentials/contract.ts";
import { chooseInterface, type InterfaceChoice, type InterfaceOptions } from "./discovery/choose-interface.ts";
import { type DiscoverOptions, discover, wasVerified } from "./discovery/discover.ts";
import { abortable } from "./http/abort.ts";
import { type Channel, type ChannelOptions, createChannel } from "./http/channel.ts";
import type { Authorize } from "./http/contract.ts";
import { RemoteError, toRemoteError } from "./http/errors.ts";
import { createFallbackChannel, type Ways } from "./http/fallback-channel.ts";
import { type ClientOptions, clientSettings } from "./http/settings.ts";
import { createRemoteAgent } from "./remote-agent.ts";

/** Options of `connect`. */
export interface ConnectOptions
  extends ClientOptions,
    InterfaceOptions,
    Pick<DiscoverOptions, "cache" | "revalidate" | "verify"> {
  /** The caller's credentials; the agent's card decides which are sent. Replaces `authorize`. Default: none. */
  readonly credentials?: Credentials;
  /**
   * How REST requests of 0.3 and 0.2 are written: `proto`, as official servers expect, or `json`, with `kind`, as some other servers expect.
   * Responses are read in either style. Default `proto`.
   */
  readonly restStyle?: RestStyle;
  /** Tenant to call. Default: the tenant of the card's interface, if any. */
  readonly tenant?: string;
  /** Aborts the search for the agent. It does not affect later calls. */
  readonly signal?: AbortSignal;
}

/**
 * Connects to an agent by its URL, the URL of its card, or its card: reads the card and chooses the best supported interface. Nothing stays open, so there is
 * nothing to close. Rejects with a `RemoteError`: `card-not-found`, `invalid-card`, `invalid-signature`, `no-interface`, `no-credentials`,
 * `blocked-url`, `network`, `timeout` or `aborted`.
 */
export function connect(agent: string | URL | object, options: ConnectOptions = {}): Promise<AgentClient> {
  return abortable(options.signal, () => connected(agent, options));
}

/** A card object that `discover` has verified is not verified again; any other one is, if `verify` is set. */
async function connected(agent: string | URL | object, options: ConnectOptions): Promise<AgentClient> {
  const { credentials, verify } = options;
  const isKnown = isCard(agent) && (verify === undefined || wasVerified(agent));
  const card = isKnown ? agent : (await discover(agent, { ...options, ...undeclared(options) })).card;
  const authorizer = credentials && (await loadAuthorizers()).createAuthorizer(card, credentials, options);
  await authorizer?.prepare(options.signal);
  const settings = clientSettings({ ...options, ...(authorizer !== undefined && { authorize: authorizer.authorize }) });
  const [first, ...others] = chooseInterface(card, options);
  const wayBy = async (chosen: AgentInterface): Promise<Channel> => {
    const at = options.tenant === undefined ? chosen : { ...chosen, tenant: options.tenant };
    if (isGrpc(at) && !mayUseGrpc(options)) throw new RemoteError("no-interface", OWN_FETCH);
    if (isGrpc(at))
      return (await import("./grpc/open-grpc.ts")).openGrpc({ card, at, settings, verify: shownCards(options) });
    const dialect = await clientDialect(at, options.restStyle);
    if (dialect === undefined) throw new RemoteError("no-interface", `The binding ${at.binding} is not supported.`);
    return createChannel({ card, at, dialect, settings, verify: shownCards(options) });
  };
  const { resend = card.capabilities.extensions?.some(({ uri }) => uri === IDEMPOTENT_SEND) === true } = options;
  const ways = await usable([first, ...others], wayBy);
  const channel = createFallbackChannel(resend ? withMessageIds(ways) : ways);
  return createRemoteAgent(new AgentHost({ card, channel, settings }));
}

const OWN_FETCH = 'gRPC cannot use the given `fetch`. To connect without it, choose `binding: "GRPC"`.';

/** gRPC bypasses a `fetch` of the caller's own, which may guard or forward its requests: only if the caller asks for gRPC. */
function mayUseGrpc({ fetch, send, binding, prefer = [] }: ConnectOptions): boolean {
  return (
    (send ?? fetch) === undefined ||
    [binding, ...prefer].some((name) => name !== undefined && isGrpc({ binding: name }))
  );
}

/** The channels of the interfaces that this runtime supports. Throws the error of the first if it supports none. */
async function usable(choice: InterfaceChoice, open: (at: AgentInterface) => Promise<Channel>): Promise<Ways> {
  const opened = await Promise.all(choice.map((at) => open(at).catch(toRemoteError)));
  const [channel, ...others] = opened.filter((way): way is Channel => !(way instanceof RemoteError));
  if (channel === undefined) throw opened[0];
  return [channel, ...others];
}

/**
 * The channels for an agent that counts a message id once: those that have message ids, because an earlier call may have sent the same message. All of them
 * if none has.
 */
function withMessageIds(ways: Ways): Ways {
  const [channel, ...others] = ways.filter(({ dialect }) => dialect.messageIds);
  return channel === undefined ? ways : [channel, ...others];
}

/** The extended card must be signed like the public one. */
function shownCards({ verify, signal: _, ...options }: ConnectOptions): ChannelOptions["verify"] {
  if (verify === undefined) return undefined;
  return async (card, signal) => {
    const shown = typeof card === "object" && card !== null ? { ...card } : {};
    const { verifyCard } = await import("./discovery/verify-card.ts");
    return (await verifyCard(shown, verify, { ...options, signal })).json;
  };
}

/** Credentials for agents that require them before they show the card, which would say which ones. */
function undeclared({ credentials, ...options }: ConnectOptions): Pick<ConnectOptions, "authorize"> {
  if (credentials === undefined) return {};
  let authorize: Authorize | undefined;
  return {
    async authorize(request, context) {
      authorize ??= (await loadAuthorizers()).createUndeclaredAuthorize(credentials, options);
      return authorize(request, context);
    },
  };
}

/** Most callers have no credentials. */
const loadAuthorizers = () => import("./credentials/create-authorizer.ts");

/** Whether an object is a card that this client has read, rather than the JSON of some version. */
function isCard(agent: string | URL | object): agent is AgentCard {
  return typeof agent === "object" && "interfaces" in agent && "capabilities" in agent;
}
