import type { AgentCard, AgentInterface } from "../protocol/card.ts";
import type { CardCodec, PushCodec, RestCodec, RestRoute, RpcCodec } from "./codec.ts";
import type { SupportedVersions } from "./negotiate.ts";
import type { DialectSettings } from "./options.ts";
import { plainInterface } from "./plain/binding.ts";
import { createRestCodec as createPlainCodec } from "./plain/codec.ts";
import { ROUTES as PLAIN_ROUTES } from "./plain/routes.ts";
import { encodeCard as encodeCard0_1 } from "./v0_1/card.ts";
import { createRpcCodec as createRpcCodec0_1 } from "./v0_1/codec.ts";
import { PUSH as PUSH_0_1 } from "./v0_1/push.ts";
import { createUnionRpcCodec } from "./v0_1/union.ts";
import { encodeCard as encodeCard0_2 } from "./v0_2/card.ts";
import { createRpcCodec as createRpcCodec0_2 } from "./v0_2/codec.ts";
import { createRestCodec as createRestCodec0_2 } from "./v0_2/rest-codec.ts";
import { ROUTES as ROUTES_0_2 } from "./v0_2/routes.ts";
import { encodeCard as encodeCard0_3 } from "./v0_3/card.ts";
import { createRestCodec as createJsonCodec0_3, createRpcCodec as createRpcCodec0_3 } from "./v0_3/codec.ts";
import { PUSH as PUSH_0_3 } from "./v0_3/push.ts";
import { ROUTES as ROUTES_0_3 } from "./v0_3/routes.ts";
import { createRestCodec as createProtoCodec0_3 } from "./v0_3_proto/codec.ts";
import { styleOf } from "./v0_3_proto/style.ts";
import { encodeCard as encodeCard1_0 } from "./v1_0/card.ts";
import { createRestCodec as createRestCodec1_0, createRpcCodec as createRpcCodec1_0 } from "./v1_0/codec.ts";
import { PUSH as PUSH_1_0 } from "./v1_0/push.ts";
import { ROUTES as ROUTES_1_0 } from "./v1_0/routes.ts";

/** Everything a server has to know of a version: what it is called, its codecs, and where it is found. */
export interface VersionRow {
  readonly version: string;
  /** Whether callers can say that they speak it, and whether they have to. */
  readonly named: "always" | "sometimes" | "never";
  rpc?(settings: DialectSettings): RpcCodec;
  /**
   * For methods that this version and a later one spell alike, where a caller does not say which it speaks: the later one's
   * codec, such that readers of this version understand it as well.
   */
  union?(later: RpcCodec): RpcCodec;
  readonly rest?: RestRow;
  encodeCard?(card: AgentCard): string;
  /** What webhooks get that were registered in this version, if it has any. */
  readonly push?: PushCodec;
  /** Where an agent is reached whose URLs begin with `base`, which has no slash at its end. The address of REST has none either. */
  interfaces(base: string): readonly AgentInterface[];
}

export interface RestRow {
  readonly routes: readonly RestRoute[];
  readonly tenants: boolean;
  readonly forDefaultProject?: boolean;
  /** Another version whose callers come by the same paths, with the same bodies. */
  readonly alsoOf?: string;
  /** Gives the codec for a request with that body, of which perhaps nothing is known yet. */
  codecs(settings: DialectSettings): (body: unknown) => RestCodec;
}

/** The one table of versions, newest first. What is not in it does not exist for the rest of the program. */
const REGISTRY: readonly VersionRow[] = [
  {
    version: "1.0",
    named: "always",
    rpc: createRpcCodec1_0,
    rest: {
      routes: ROUTES_1_0,
      tenants: true,
      codecs: (settings) => {
        const codec = createRestCodec1_0(settings);
        return () => codec;
      },
    },
    encodeCard: encodeCard1_0,
    push: PUSH_1_0,
    interfaces: (base) => [
      { url: `${base}/`, binding: "JSONRPC", protocolVersion: "1.0" },
      { url: base, binding: "HTTP+JSON", protocolVersion: "1.0" },
    ],
  },
  {
    version: "0.3",
    named: "sometimes",
    rpc: createRpcCodec0_3,
    rest: {
      routes: ROUTES_0_3,
      tenants: false,
      alsoOf: "0.2",
      codecs: (settings) => {
        // One set of paths, two styles of body: the caller's decides; without one, the style in which the task was created.
        const codecs = { proto: createProtoCodec0_3(settings), json: createJsonCodec0_3(settings) };
        const { proto, json } = codecs;
        const usual = codecs[settings.restStyle];
        const byTask: RestCodec = {
          ...usual,
          forTask: (dialect) => [proto, json].find((codec) => codec.dialect === dialect) ?? usual,
        };
        return (body) => {
          const style = styleOf(body);
          return style === undefined ? byTask : codecs[style];
        };
      },
    },
    encodeCard: encodeCard0_3,
    push: PUSH_0_3,
    interfaces: (base) => [
      { url: `${base}/a2a`, binding: "JSONRPC", protocolVersion: "0.3" },
      { url: base, binding: "HTTP+JSON", protocolVersion: "0.3" },
    ],
  },
  {
    version: "0.2",
    named: "sometimes",
    rpc: createRpcCodec0_2,
    rest: {
      routes: ROUTES_0_2,
      tenants: false,
      codecs: (settings) => {
        const codec = createRestCodec0_2(settings);
        return () => codec;
      },
    },
    encodeCard: encodeCard0_2,
    // Its tasks are those of the next version.
    push: PUSH_0_3,
    interfaces: (base) => [{ url: `${base}/a2a`, binding: "JSONRPC", protocolVersion: "0.2" }],
  },
  {
    version: "0.1",
    named: "sometimes",
    rpc: createRpcCodec0_1,
    union: createUnionRpcCodec,
    encodeCard: encodeCard0_1,
    push: PUSH_0_1,
    interfaces: (base) => [{ url: `${base}/a2a`, binding: "JSONRPC", protocolVersion: "0.1" }],
  },
  {
    version: "plain",
    named: "never",
    rest: {
      routes: PLAIN_ROUTES,
      tenants: false,
      forDefaultProject: true,
      codecs: (settings) => {
        const codec = createPlainCodec(settings);
        return () => codec;
      },
    },
    interfaces: (base) => [plainInterface(base)],
  },
];

/** Every version that can be spoken, newest first. */
export const VERSIONS: readonly string[] = REGISTRY.map(({ version }) => version);

/** The rows of the versions that are to be spoken, newest first. Throws a `TypeError` that names what makes no sense. */
export function supportedRows(versions: readonly string[] = VERSIONS): readonly VersionRow[] {
  const unknown = versions.find((version) => !VERSIONS.includes(version));
  if (unknown !== undefined) {
    const asked = JSON.stringify(unknown.length > 40 ? `${unknown.slice(0, 40)}…` : unknown);
    throw new TypeError(`versions has no ${asked}: it may have ${VERSIONS.join(", ")}.`);
  }
  return REGISTRY.filter(({ version }) => versions.includes(version));
}

export function supportedVersions(rows: readonly VersionRow[], { assumeVersion }: DialectSettings): SupportedVersions {
  const [newest, ...others] = rows.filter(({ named }) => named !== "never").map(({ version }) => version);
  if (newest === undefined) throw new TypeError("versions must have at least one version of the protocol.");
  return {
    versions: rows.map(({ version }) => version),
    requestable: [newest, ...others],
    headerRequired: rows.filter(({ named }) => named === "always").map(({ version }) => version),
    assumed: assumeVersion,
  };
}

/** What webhooks of this version get, whether it is spoken or not. */
export function pushOf(version: string): PushCodec | undefined {
  return REGISTRY.find((row) => row.version === version)?.push;
}

/** The card that readers of this version are given, if it has one. */
export function cardOf({ version, encodeCard }: VersionRow): CardCodec | undefined {
  return encodeCard === undefined ? undefined : { variant: version, encodeCard };
}
