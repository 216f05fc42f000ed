import type { AgentInterface } from "../protocol/card.ts";
import { createCardCodecs, createLegacyCardCodecs } from "./cards.ts";
import type { CardCodec, Choice, RestFamily, RpcCodec } from "./codec.ts";
import { claimOf } from "./negotiate.ts";
import { type DialectOptions, dialectSettings } from "./options.ts";
import { spokenBy, spokenRows } from "./registry.ts";
import { createRestFamilies } from "./rest-families.ts";
import { createRpcChooser } from "./rpc-chooser.ts";

/** Every dialect of one server, and how to tell which one a request is in. */
export interface Dialects {
  /** The codec for a JSON-RPC request, by its method and the version its caller names. A method nobody knows is refused. */
  chooseRpc(requested: string | undefined, method: string): Choice<RpcCodec>;
  /** Speaks where nothing can be told of a request but, perhaps, the version its caller names. */
  fallbackRpc(requested: string | undefined): RpcCodec;
  /** May be empty. */
  readonly restFamilies: readonly RestFamily[];
  /** The card for a reader that names this version, or none. */
  chooseCard(requested: string | undefined): CardCodec;
  /** The same at the card's former address. `undefined`: nobody is served there. */
  chooseLegacyCard(requested: string | undefined): CardCodec | undefined;
  /** Where an agent is reached whose URLs begin with `base`, which has no slash at its end. Preferred first. */
  interfaces(base: string): readonly AgentInterface[];
}

export function createDialects(options: DialectOptions = {}): Dialects {
  const settings = dialectSettings(options);
  const rows = spokenRows(settings.versions);
  const spoken = spokenBy(rows, settings);
  const { chooseRpc, fallbackRpc } = createRpcChooser({ rows, spoken, settings });
  const card = createCardCodecs(rows, settings);
  const legacyCard = createLegacyCardCodecs(rows);
  return {
    chooseRpc,
    fallbackRpc,
    restFamilies: createRestFamilies({ rows, spoken, settings }),
    chooseCard: (requested) => card(claimOf(requested, spoken)),
    chooseLegacyCard: (requested) => legacyCard(claimOf(requested, spoken)),
    interfaces: (base) => rows.flatMap(({ interfaces }) => interfaces(base)),
  };
}
