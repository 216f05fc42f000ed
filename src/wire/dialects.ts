// The entrance to `wire/` for a server: `transport/` asks here for the codec of every request and never names a version itself.

import type { AgentInterface } from "../protocol/card.ts";
import { createCardCodecs, createLegacyCardCodecs } from "./cards.ts";
import type { CardCodec, RestFamily } from "./codec.ts";
import type { GrpcName } from "./grpc-place.ts";
import { parseRequestedVersion } from "./negotiate.ts";
import { type DialectOptions, dialectSettings } from "./options.ts";
import { supportedRows, supportedVersions } from "./registry.ts";
import { createRestFamilies } from "./rest-families.ts";
import { createRpcChooser, type RpcChooser } from "./rpc-chooser.ts";

/**
 * All dialects (version and binding) that one server supports, and how to choose the dialect of a request. `requested` is the value of
 * `A2A-Version`, if the caller sent it. No method throws.
 */
export interface Dialects extends RpcChooser {
  /** The REST routes, one family per version. Empty if no supported version has REST. */
  readonly restFamilies: readonly RestFamily[];
  /** The agent card at `/.well-known/agent-card.json`, the address since 0.3. */
  chooseCard(requested: string | undefined): CardCodec;
  /** The agent card at `/.well-known/agent.json`, the address before 0.3. `undefined`: the server supports none of 0.1, 0.2 and 0.3. */
  chooseLegacyCard(requested: string | undefined): CardCodec | undefined;
  /**
   * The interfaces that the card of an agent lists, preferred first. `base` is the agent's URL without a trailing slash. `grpc` is present if
   * the server supports gRPC.
   */
  interfaces(base: string, grpc?: GrpcName): readonly AgentInterface[];
}

/**
 * Creates all codecs once, at the start of a server. Throws a `TypeError` for an invalid option, naming the option and its allowed values.
 */
export function createDialects(options: DialectOptions = {}): Dialects {
  const settings = dialectSettings(options);
  const rows = supportedRows(settings);
  const supported = supportedVersions(rows, settings);
  const { chooseRpc, fallbackRpc } = createRpcChooser({ rows, supported, settings });
  const card = createCardCodecs(rows, settings);
  const legacyCard = createLegacyCardCodecs(rows);
  return {
    chooseRpc,
    fallbackRpc,
    restFamilies: createRestFamilies({ rows, supported, settings }),
    chooseCard: (requested) => card(parseRequestedVersion(requested, supported)),
    chooseLegacyCard: (requested) => legacyCard(parseRequestedVersion(requested, supported)),
    interfaces: (base, grpc) => [
      ...rows.flatMap(({ interfaces }) => interfaces(base)),
      ...(grpc === undefined ? [] : rows.flatMap(({ grpcInterfaces }) => grpcInterfaces?.(base, grpc) ?? [])),
    ],
  };
}
