import { randomId } from "../../internal/random-id.ts";
import type { AgentInterface } from "../../protocol/card.ts";
import { PLAIN_BINDING } from "../plain/binding.ts";
import type { RestClientCodec, RpcClientCodec } from "./client-codec.ts";

/** How to call an agent at one of its interfaces: the codec, and the headers and paths around its texts. */
export type ClientDialect = DialectTraits &
  (
    | { readonly binding: "rpc"; readonly codec: RpcClientCodec }
    | { readonly binding: "rest"; readonly codec: RestClientCodec }
  );

/** What a caller of a dialect must know besides its texts. */
export interface DialectTraits {
  /** The value of `A2A-Version`. Absent: the header is not sent. Most agents of 0.x ignore it. */
  readonly versionHeader?: string;
  /** The HTTP header that lists extensions. Absent: the version has no extensions. */
  readonly extensionsHeader?: string;
  /** A send can ask the server to wait for the result. Otherwise the client polls. */
  readonly waits: boolean;
  /** The dialect has streams; the agent's card says whether the agent supports them. */
  readonly streams: boolean;
  /** Messages are sent with their ids, so that an agent can recognise a repeated message. */
  readonly messageIds: boolean;
  /** Tasks have a generation, which gets can wait for and sends can depend on. Default false. */
  readonly generations?: true;
  /** Path of streams, relative to the interface's URL, for servers that do not have the streaming method at that URL. */
  readonly streamPath?: string;
  /** Path of the extended card, relative to the interface's URL. Absent: the binding has an operation for it. */
  readonly extendedCardPath?: string;
}

/** `dialect` loads and creates the codec when an interface with this version and binding is used: most callers need one of them. */
interface Row {
  readonly version: string;
  readonly binding: string;
  dialect(): Promise<ClientDialect>;
}

const v0_1 = loadOnce(() => import("../v0_1/client-codec.ts"));
const v0_2 = loadOnce(() => import("../v0_2/client-codec.ts"));
const v0_3 = loadOnce(() => import("../v0_3/client-codec.ts"));
const v0_3Proto = loadOnce(() => import("../v0_3_proto/client-codec.ts"));
const v1_0 = loadOnce(() => import("../v1_0/client-codec.ts"));
const v1_1 = loadOnce(() => import("../v1_1/client-codec.ts"));
const plain = loadOnce(() => import("../plain/client-codec.ts"));

/** Keeps the module: a repeated `import` is not free in every runtime. A failed one is repeated. */
function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () =>
    (loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    }));
}

/** Since 1.0, which renamed the header of the extensions (A2A 1.0 §3.2.6). */
export const SINCE_1_0: DialectTraits = {
  extensionsHeader: "A2A-Extensions",
  waits: true,
  streams: true,
  messageIds: true,
};
/** A preview: see `PREVIEWS`. */
export const SINCE_1_1: DialectTraits = { ...SINCE_1_0, versionHeader: "1.1", generations: true };
/** 0.2 and 0.3. */
export const BEFORE_1_0: DialectTraits = {
  extensionsHeader: "X-A2A-Extensions",
  waits: true,
  streams: true,
  messageIds: true,
};

/**
 * All dialects that a client supports, newest first. Requests over REST 0.3 have the style of its proto definition, as every official
 * server expects; answers may have either style. REST 0.2 has the same paths as REST 0.3.
 */
const ROWS: readonly Row[] = [
  {
    version: "1.0",
    binding: "JSONRPC",
    dialect: async () => ({
      ...SINCE_1_0,
      versionHeader: "1.0",
      binding: "rpc",
      codec: (await v1_0()).createRpcClientCodec(),
    }),
  },
  {
    version: "1.0",
    binding: "HTTP+JSON",
    dialect: async () => ({
      ...SINCE_1_0,
      versionHeader: "1.0",
      binding: "rest",
      codec: (await v1_0()).createRestClientCodec(),
    }),
  },
  {
    version: "1.1",
    binding: "JSONRPC",
    dialect: async () => ({ ...SINCE_1_1, binding: "rpc", codec: (await v1_1()).createRpcClientCodec() }),
  },
  {
    version: "1.1",
    binding: "HTTP+JSON",
    dialect: async () => ({ ...SINCE_1_1, binding: "rest", codec: (await v1_1()).createRestClientCodec() }),
  },
  {
    version: "0.3",
    binding: "JSONRPC",
    dialect: async () => ({
      ...BEFORE_1_0,
      versionHeader: "0.3",
      binding: "rpc",
      codec: (await v0_3()).createRpcClientCodec(),
    }),
  },
  {
    version: "0.3",
    binding: "HTTP+JSON",
    dialect: async () => ({
      ...BEFORE_1_0,
      versionHeader: "0.3",
      binding: "rest",
      codec: (await v0_3Proto()).createRestClientCodec(),
    }),
  },
  {
    version: "0.2",
    binding: "JSONRPC",
    dialect: async () => ({
      ...BEFORE_1_0,
      versionHeader: "0.2",
      extendedCardPath: "../agent/authenticatedExtendedCard",
      binding: "rpc",
      codec: (await v0_2()).createRpcClientCodec(),
    }),
  },
  {
    version: "0.2",
    binding: "HTTP+JSON",
    dialect: async () => ({
      ...BEFORE_1_0,
      versionHeader: "0.2",
      binding: "rest",
      codec: (await v0_3Proto()).createRestClientCodec(),
    }),
  },
  {
    version: "0.1",
    binding: "JSONRPC",
    dialect: async () => ({
      versionHeader: "0.1",
      streamPath: "subscribe",
      waits: false,
      streams: true,
      messageIds: false,
      binding: "rpc",
      codec: (await v0_1()).createRpcClientCodec(randomId),
    }),
  },
  {
    version: "1.0",
    binding: PLAIN_BINDING,
    dialect: async () => ({
      waits: false,
      streams: false,
      messageIds: false,
      binding: "rest",
      codec: (await plain()).createRestClientCodec(),
    }),
  },
];

/** Other names that agent cards use for the bindings. */
const BINDING_NAMES: ReadonlyMap<string, string> = new Map([
  ["JSON-RPC", "JSONRPC"],
  ["JSON_RPC", "JSONRPC"],
  ["REST", "HTTP+JSON"],
  ["HTTP_JSON", "HTTP+JSON"],
  ["HTTP", "HTTP+JSON"],
]);

type InterfaceVersion = Pick<AgentInterface, "binding" | "protocolVersion">;

/** The style of requests over REST 0.3 and 0.2: ProtoJSON (`proto`), or the objects of JSON-RPC with `kind` (`json`). */
export type RestStyle = "proto" | "json";

/** The dialect of an interface; `undefined` if the client does not support it. `restStyle` applies to REST 0.3 and 0.2. */
export async function clientDialect(
  agentInterface: InterfaceVersion,
  restStyle: RestStyle = "proto",
): Promise<ClientDialect | undefined> {
  const dialect = await rowOf(agentInterface)?.dialect();
  const isStyled = dialect?.binding === "rest" && dialect.codec.dialect === "0.3/rest-proto";
  return isStyled && restStyle === "json" ? { ...dialect, codec: (await v0_3()).createRestClientCodec() } : dialect;
}

/** Versions that are unfinished: a client uses them only if its caller asks for them. */
const PREVIEWS: ReadonlySet<string> = new Set(["1.1"]);

/** Whether there is a dialect for an interface. */
export function hasClientDialect(agentInterface: InterfaceVersion): boolean {
  return rowOf(agentInterface) !== undefined;
}

/**
 * Whether the client supports the version and binding of an interface; gRPC only where the runtime does. `preview`: the unfinished versions that
 * its caller asks for.
 */
export function isSupportedInterface(agentInterface: InterfaceVersion, preview: readonly string[] = []): boolean {
  const version = versionOf(agentInterface);
  if (PREVIEWS.has(version) && !preview.includes(version)) return false;
  return hasClientDialect(agentInterface) || (isGrpc(agentInterface) && GRPC_VERSIONS.has(version));
}

/** The versions that clients support over gRPC. */
const GRPC_VERSIONS: ReadonlySet<string> = new Set(["1.0", "1.1", "0.3"]);

export function isGrpc({ binding }: Pick<AgentInterface, "binding">): boolean {
  return binding.toUpperCase() === "GRPC";
}

function versionOf({ protocolVersion }: InterfaceVersion): string {
  return /^\d+\.\d+/.exec(protocolVersion)?.[0] ?? protocolVersion;
}

function rowOf(agentInterface: InterfaceVersion): Row | undefined {
  const { binding } = agentInterface;
  const name = binding.toUpperCase();
  const known = binding === PLAIN_BINDING ? binding : (BINDING_NAMES.get(name) ?? name);
  const version = versionOf(agentInterface);
  return ROWS.find((row) => row.binding === known && row.version === version);
}
