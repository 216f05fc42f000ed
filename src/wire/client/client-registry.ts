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
import type { RestClientCodec, RpcClientCodec } from "./client-codec.ts";

/** How to speak to an agent by one of its interfaces: a codec, and what goes around what it writes. */
export type ClientDialect = DialectTraits &
  (
    | { readonly binding: "rpc"; readonly codec: RpcClientCodec }
    | { readonly binding: "rest"; readonly codec: RestClientCodec }
  );

export interface DialectTraits {
  /** What to say in `A2A-Version`, where agents may look at that. Those of 0.x mostly do not, and it does no harm. */
  readonly versionHeader?: string;
  /** The header that names extensions, where there are any. */
  readonly extensionsHeader?: string;
  /** Sends can say that they want to wait. Without that, whoever waits has to come back and look. */
  readonly waits: boolean;
  /** There are streams, if the agent declares them. */
  readonly streams: boolean;
  /** A message goes out with its id, so that an agent can tell one that comes again. */
  readonly messageIds: boolean;
  /** Where streams are, relative to the interface's address, on servers that do not know the method of streams there. */
  readonly streamPath?: string;
  /** The extended card's address, relative to the interface's, where it is no operation of this binding. */
  readonly extendedCardPath?: string;
}

interface Row {
  readonly version: string;
  readonly binding: string;
  dialect(): ClientDialect;
}

const NEWER = { extensionsHeader: "A2A-Extensions", waits: true, streams: true, messageIds: true } as const;
const OLDER = { extensionsHeader: "X-A2A-Extensions", waits: true, streams: true, messageIds: true } as const;

/**
 * The one table of what a caller can speak, newest first. REST of 0.3 is asked in the style of its definition, as every official
 * server expects, and read in either style; 0.2 has the same paths.
 */
const ROWS: readonly Row[] = [
  {
    version: "1.0",
    binding: "JSONRPC",
    dialect: () => ({ ...NEWER, versionHeader: "1.0", binding: "rpc", codec: createRpcCodec1_0() }),
  },
  {
    version: "1.0",
    binding: "HTTP+JSON",
    dialect: () => ({ ...NEWER, versionHeader: "1.0", binding: "rest", codec: createRestCodec1_0() }),
  },
  {
    version: "0.3",
    binding: "JSONRPC",
    dialect: () => ({ ...OLDER, versionHeader: "0.3", binding: "rpc", codec: createRpcCodec0_3() }),
  },
  {
    version: "0.3",
    binding: "HTTP+JSON",
    dialect: () => ({ ...OLDER, versionHeader: "0.3", binding: "rest", codec: createRestCodec0_3() }),
  },
  {
    version: "0.2",
    binding: "JSONRPC",
    dialect: () => ({
      ...OLDER,
      versionHeader: "0.2",
      extendedCardPath: "../agent/authenticatedExtendedCard",
      binding: "rpc",
      codec: createRpcCodec0_2(),
    }),
  },
  {
    version: "0.2",
    binding: "HTTP+JSON",
    dialect: () => ({ ...OLDER, versionHeader: "0.2", binding: "rest", codec: createRestCodec0_3() }),
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

/** What is called differently by some. */
const BINDING_NAMES: ReadonlyMap<string, string> = new Map([
  ["JSON-RPC", "JSONRPC"],
  ["JSON_RPC", "JSONRPC"],
  ["REST", "HTTP+JSON"],
  ["HTTP_JSON", "HTTP+JSON"],
  ["HTTP", "HTTP+JSON"],
]);

type InterfaceVersion = Pick<AgentInterface, "binding" | "protocolVersion">;

/** How REST of 0.3 and 0.2 writes requests: as the definition does (`proto`), or as JSON-RPC does, with `kind` (`json`). */
export type RestStyle = "proto" | "json";

/** How an interface is spoken to; `undefined` where it is not. */
export function clientDialect(supported: InterfaceVersion, restStyle: RestStyle = "proto"): ClientDialect | undefined {
  const dialect = rowOf(supported)?.dialect();
  const isStyled = dialect?.binding === "rest" && dialect.codec.dialect === "0.3/rest-proto";
  return isStyled && restStyle === "json" ? { ...dialect, codec: createKindCodec0_3() } : dialect;
}

/** Whether an interface can be spoken to. */
export function isSupportedInterface(supported: InterfaceVersion): boolean {
  return rowOf(supported) !== undefined;
}

function rowOf({ binding, protocolVersion }: InterfaceVersion): Row | undefined {
  const name = binding.toUpperCase();
  const known = binding === PLAIN_BINDING ? binding : (BINDING_NAMES.get(name) ?? name);
  const [version] = /^\d+\.\d+/.exec(protocolVersion) ?? [protocolVersion];
  return ROWS.find((row) => row.binding === known && row.version === version);
}
