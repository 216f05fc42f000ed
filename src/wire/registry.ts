import type { AgentCard, AgentInterface } from "../protocol/card.ts";
import type { CardCodec, PushCodec, RestCodec, RestRoute, RootAgent, RpcCodec } from "./codec.ts";
import type { GrpcRow } from "./grpc-codec.ts";
import { agentTenant, type GrpcName, hostAndPort } from "./grpc-place.ts";
import type { SupportedVersions } from "./negotiate.ts";
import type { DialectSettings } from "./options.ts";
import { plainInterface } from "./plain/binding.ts";
import { createRestCodec as createPlainCodec } from "./plain/codec.ts";
import { createRootAgent } from "./plain/root-agent.ts";
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
import { createGrpcRow as createGrpcRow0_3 } from "./v0_3_proto/grpc.ts";
import { styleOf } from "./v0_3_proto/style.ts";
import { encodeCard as encodeCard1_0 } from "./v1_0/card.ts";
import { createRestCodec as createRestCodec1_0, createRpcCodec as createRpcCodec1_0 } from "./v1_0/codec.ts";
import { createGrpcRow as createGrpcRow1_0 } from "./v1_0/grpc.ts";
import { PUSH as PUSH_1_0 } from "./v1_0/push.ts";
import { ROUTES as ROUTES_1_0 } from "./v1_0/routes.ts";
import { createRestCodec as createRestCodec1_1, createRpcCodec as createRpcCodec1_1 } from "./v1_1/codec.ts";
import { createGrpcRow as createGrpcRow1_1 } from "./v1_1/grpc.ts";
import { PUSH as PUSH_1_1 } from "./v1_1/push.ts";

/** Everything a server needs to know about one version: its name, codecs, routes and interfaces. */
export interface VersionRow {
  /** `Major.Minor`, or `plain`. */
  readonly version: string;
  /** The version is unfinished: a server supports it only if its option `preview` names it. Default false. */
  readonly preview?: true;
  /** Whether callers must, may or cannot request this version in `A2A-Version`. */
  readonly versionHeader: "required" | "optional" | "none";
  /** Absent: the version has no JSON-RPC. */
  rpc?(settings: DialectSettings): RpcCodec;
  /**
   * For methods that this version shares with a later one, called without `A2A-Version`: the later version's codec, with answers that
   * clients of both versions can read.
   */
  union?(later: RpcCodec): RpcCodec;
  /** Absent: the version has no REST. */
  readonly rest?: RestRow;
  grpc?(settings: DialectSettings): GrpcRow;
  /** The gRPC interfaces of an agent. Absent: the version has no gRPC. */
  grpcInterfaces?(base: string, name: GrpcName): readonly AgentInterface[];
  /** Absent: the version has no agent card. */
  encodeCard?(card: AgentCard): string;
  /** Encodes notifications for webhooks that were registered in this version. Absent: the version has no webhooks. */
  readonly push?: PushCodec;
  /** The interfaces of an agent in this version. `base` is the agent's URL; neither `base` nor the URL of REST ends with a slash. */
  interfaces(base: string): readonly AgentInterface[];
}

/** The REST binding of one version. */
export interface RestRow {
  readonly routes: readonly RestRoute[];
  /** See `RestFamily`. */
  readonly tenants: boolean;
  rootAgent?(settings: DialectSettings): RootAgent;
  /** Another version with the same paths and bodies. */
  readonly alsoOf?: string;
  /** Returns the codec for a request by its body, which is `undefined` until it has been read. */
  codecs(settings: DialectSettings): (body: unknown) => RestCodec;
}

/** All versions, newest first; a preview follows the newest finished version, which callers without `A2A-Version` get. The rest of the program learns of versions only from this table. */
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
    grpc: createGrpcRow1_0,
    grpcInterfaces: (base, name) => [grpcInterface(base, name, "1.0")],
    encodeCard: encodeCard1_0,
    push: PUSH_1_0,
    interfaces: (base) => [
      { url: `${base}/`, binding: "JSONRPC", protocolVersion: "1.0" },
      { url: base, binding: "HTTP+JSON", protocolVersion: "1.0" },
    ],
  },
  {
    version: "1.1",
    preview: true,
    versionHeader: "required",
    rpc: createRpcCodec1_1,
    rest: {
      // The same object: both versions share their paths.
      routes: ROUTES_1_0,
      tenants: true,
      codecs: (settings) => {
        const codec = createRestCodec1_1(settings);
        return () => codec;
      },
    },
    grpc: createGrpcRow1_1,
    grpcInterfaces: (base, name) => [grpcInterface(base, name, "1.1")],
    encodeCard: encodeCard1_0,
    push: PUSH_1_1,
    interfaces: (base) => [
      { url: `${base}/`, binding: "JSONRPC", protocolVersion: "1.1" },
      { url: base, binding: "HTTP+JSON", protocolVersion: "1.1" },
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
    grpc: createGrpcRow0_3,
    // Requests of 0.3 cannot name an agent, except by a host name of its own, which this server does not know.
    grpcInterfaces: (base, { agent }) =>
      agent === undefined ? [{ url: hostAndPort(base), binding: "GRPC", protocolVersion: "0.3" }] : [],
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
      rootAgent: createRootAgent,
      codecs: (settings) => {
        const codec = createPlainCodec(settings);
        return () => codec;
      },
    },
    interfaces: (base) => [plainInterface(base)],
  },
];

/** Since 1.0, requests name one of several agents by a tenant. */
function grpcInterface(base: string, { agent }: GrpcName, protocolVersion: string): AgentInterface {
  return {
    ...{ url: hostAndPort(base), binding: "GRPC", protocolVersion },
    ...(agent !== undefined && { tenant: agentTenant(agent) }),
  };
}

/** All finished versions that a server can support, newest first. */
export const VERSIONS: readonly string[] = REGISTRY.filter(isFinished).map(({ version }) => version);
/** The versions that a server supports only if its option `preview` names them. */
export const PREVIEWS: readonly string[] = REGISTRY.filter((row) => !isFinished(row)).map(({ version }) => version);

function isFinished({ preview }: VersionRow): boolean {
  return preview !== true;
}

/** The rows of `versions` (default: all finished ones) and of `preview`. Throws a `TypeError` that names an unknown version. */
export function supportedRows({ versions = VERSIONS, preview }: DialectSettings): readonly VersionRow[] {
  requireKnown("versions", versions, VERSIONS);
  requireKnown("preview", preview, PREVIEWS);
  return REGISTRY.filter(({ version }) => versions.includes(version) || preview.includes(version));
}

function requireKnown(option: string, names: readonly string[], known: readonly string[]): void {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const name = JSON.stringify(unknown.length > 40 ? `${unknown.slice(0, 40)}…` : unknown);
  const hint = option === "versions" && PREVIEWS.includes(unknown) ? " It is a preview: name it in `preview`." : "";
  throw new TypeError(`${option} contains the unknown version ${name}. Known versions: ${known.join(", ")}.${hint}`);
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
