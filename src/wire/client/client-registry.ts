import { randomId } from "../../internal/random-id.ts";
import type { AgentInterface } from "../../protocol/card.ts";
import { PLAIN_BINDING } from "../plain/binding.ts";
import { createRestClientCodec as createPlainCodec } from "../plain/client-codec.ts";
import { createRpcClientCodec as createRpcCodec0_1 } from "../v0_1/client-codec.ts";
import { createRpcClientCodec as createRpcCodec0_2 } from "../v0_2/client-codec.ts";
import {
  createRestClientCodec as createKindCodec0_3,
  createRpcClientCodec as createRpcCodec0_3,
} from "../v0_3/client-codec.ts";
import { createRestClientCodec as createRestCodec0_3 } from "../v0_3_proto/client-codec.ts";
import {
  createRestClientCodec as createRestCodec1_0,
  createRpcClientCodec as createRpcCodec1_0,
} from "../v1_0/client-codec.ts";
import {
  createRestClientCodec as createRestCodec1_1,
  createRpcClientCodec as createRpcCodec1_1,
} from "../v1_1/client-codec.ts";
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

/** `dialect` creates the codec when an interface with this version and binding is used. */
interface Row {
  readonly version: string;
  readonly binding: string;
  dialect(): ClientDialect;
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
    dialect: () => ({ ...SINCE_1_0, versionHeader: "1.0", binding: "rpc", codec: createRpcCodec1_0() }),
  },
  {
    version: "1.0",
    binding: "HTTP+JSON",
    dialect: () => ({ ...SINCE_1_0, versionHeader: "1.0", binding: "rest", codec: createRestCodec1_0() }),
  },
  {
    version: "1.1",
    binding: "JSONRPC",
    dialect: () => ({ ...SINCE_1_1, binding: "rpc", codec: createRpcCodec1_1() }),
  },
  {
    version: "1.1",
    binding: "HTTP+JSON",
    dialect: () => ({ ...SINCE_1_1, binding: "rest", codec: createRestCodec1_1() }),
  },
  {
    version: "0.3",
    binding: "JSONRPC",
    dialect: () => ({ ...BEFORE_1_0, versionHeader: "0.3", binding: "rpc", codec: createRpcCodec0_3() }),
  },
  {
    version: "0.3",
    binding: "HTTP+JSON",
    dialect: () => ({ ...BEFORE_1_0, versionHeader: "0.3", binding: "rest", codec: createRestCodec0_3() }),
  },
  {
    version: "0.2",
    binding: "JSONRPC",
    dialect: () => ({
      ...BEFORE_1_0,
      versionHeader: "0.2",
      extendedCardPath: "../agent/authenticatedExtendedCard",
      binding: "rpc",
      codec: createRpcCodec0_2(),
    }),
  },
  {
    version: "0.2",
    binding: "HTTP+JSON",
    dialect: () => ({ ...BEFORE_1_0, versionHeader: "0.2", binding: "rest", codec: createRestCodec0_3() }),
  },
  {
    version: "0.1",
    binding: "JSONRPC",
    dialect: () => ({
      versionHeader: "0.1",
      streamPath: "subscribe",
      waits: false,
      streams: true,
      messageIds: false,
      binding: "rpc",
      codec: createRpcCodec0_1(randomId),
    }),
  },
  {
    version: "1.0",
    binding: PLAIN_BINDING,
    dialect: () => ({
      waits: false,
      streams: false,
      messageIds: false,
      binding: "rest",
      codec: createPlainCodec(),
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
export function clientDialect(
  agentInterface: InterfaceVersion,
  restStyle: RestStyle = "proto",
): ClientDialect | undefined {
  const dialect = rowOf(agentInterface)?.dialect();
  const isStyled = dialect?.binding === "rest" && dialect.codec.dialect === "0.3/rest-proto";
  return isStyled && restStyle === "json" ? { ...dialect, codec: createKindCodec0_3() } : dialect;
}

/** Versions that are unfinished: a client uses them only if its caller asks for them. */
const PREVIEWS: ReadonlySet<string> = new Set(["1.1"]);

/**
 * Whether the client supports the version and binding of an interface; gRPC only where the runtime does. `preview`: the unfinished versions that
 * its caller asks for.
 */
export function isSupportedInterface(agentInterface: InterfaceVersion, preview: readonly string[] = []): boolean {
  const version = versionOf(agentInterface);
  if (PREVIEWS.has(version) && !preview.includes(version)) return false;
  return rowOf(agentInterface) !== undefined || (isGrpc(agentInterface) && GRPC_VERSIONS.has(version));
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
