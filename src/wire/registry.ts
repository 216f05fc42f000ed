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

/** Everything a server needs to know about one version: its name, codecs, routes and interfaces. */
export interface VersionRow {
  readonly version: string;
  /** Whether callers must, may or cannot request this version in `A2A-Version`. */
  readonly versionHeader: "required" | "optional" | "none";
  rpc?(settings: DialectSettings): RpcCodec;
  /**
   * For methods that this version shares with a later one, called without `A2A-Version`: the later version's codec, with answers that
   * clients of both versions can read.
   */
  union?(later: RpcCodec): RpcCodec;
  readonly rest?: RestRow;
  encodeCard?(card: AgentCard): string;
  /** Encodes notifications for webhooks that were registered in this version. Absent: the version has no webhooks. */
  readonly push?: PushCodec;
  /** The interfaces of an agent in this version. `base` is the agent's URL; neither `base` nor the URL of REST ends with a slash. */
  interfaces(base: string): readonly AgentInterface[];
}

export interface RestRow {
  readonly routes: readonly RestRoute[];
  readonly tenants: boolean;
  readonly forDefaultProject?: boolean;
  /** Another version with the same paths and bodies. */
  readonly alsoOf?: string;
  /** Returns the codec for a request by its body, which is `undefined` until it has been read. */
  codecs(settings: DialectSettings): (body: unknown) => RestCodec;
}

/** All versions, newest first. The rest of the program learns of versions only from this table. */
const REGISTRY: readonly VersionRow[] = [
  {
    version: "1.0",
    versionHeader: "required",
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
    versionHeader: "optional",
    rpc: createRpcCodec0_3,
    rest: {
      routes: ROUTES_0_3,
      tenants: false,
      alsoOf: "0.2",
      codecs: (settings) => {
        // Both styles share the paths. The request body decides the style; without a body, the style in which the task was created.
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
    versionHeader: "optional",
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
    // Tasks of 0.2 have the same format as in 0.3.
    push: PUSH_0_3,
    interfaces: (base) => [{ url: `${base}/a2a`, binding: "JSONRPC", protocolVersion: "0.2" }],
  },
  {
    version: "0.1",
    versionHeader: "optional",
    rpc: createRpcCodec0_1,
    union: createUnionRpcCodec,
    encodeCard: encodeCard0_1,
    push: PUSH_0_1,
    interfaces: (base) => [{ url: `${base}/a2a`, binding: "JSONRPC", protocolVersion: "0.1" }],
  },
  {
    version: "plain",
    versionHeader: "none",
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

/** All versions that a server can support, newest first. */
export const VERSIONS: readonly string[] = REGISTRY.map(({ version }) => version);

/** The rows of `versions` (default: all), newest first. Throws a `TypeError` that names an unknown version. */
export function supportedRows(versions: readonly string[] = VERSIONS): readonly VersionRow[] {
  const unknown = versions.find((version) => !VERSIONS.includes(version));
  if (unknown !== undefined) {
    const name = JSON.stringify(unknown.length > 40 ? `${unknown.slice(0, 40)}…` : unknown);
    throw new TypeError(`versions contains the unknown version ${name}. Known versions: ${VERSIONS.join(", ")}.`);
  }
  return REGISTRY.filter(({ version }) => versions.includes(version));
}

/** Throws a `TypeError` if `rows` has only `plain`. */
export function supportedVersions(rows: readonly VersionRow[], { assumeVersion }: DialectSettings): SupportedVersions {
  const [newest, ...others] = rows
    .filter(({ versionHeader }) => versionHeader !== "none")
    .map(({ version }) => version);
  if (newest === undefined) throw new TypeError("versions must contain at least one A2A version besides plain.");
  return {
    versions: rows.map(({ version }) => version),
    requestable: [newest, ...others],
    headerRequired: rows.filter(({ versionHeader }) => versionHeader === "required").map(({ version }) => version),
    assumed: assumeVersion,
  };
}

/** The notification codec of a version, also if the server does not support the version. */
export function pushOf(version: string): PushCodec | undefined {
  return REGISTRY.find((row) => row.version === version)?.push;
}

/** The card codec of a version; `undefined` if the version has no agent card. */
export function cardOf({ version, encodeCard }: VersionRow): CardCodec | undefined {
  return encodeCard === undefined ? undefined : { variant: version, encodeCard };
}
