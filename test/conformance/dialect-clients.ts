import type { DialectClient } from "./dialect-client.ts";
import { jsonRpc0_1 } from "./dialect-clients/v0-1-jsonrpc.ts";
import { jsonRpc0_2 } from "./dialect-clients/v0-2-jsonrpc.ts";
import { grpc0_3 } from "./dialect-clients/v0-3-grpc.ts";
import { jsonRpc0_3 } from "./dialect-clients/v0-3-jsonrpc.ts";
import { restJson0_3, restProto0_3 } from "./dialect-clients/v0-3-rest.ts";
import { grpc1_0 } from "./dialect-clients/v1-0-grpc.ts";
import { jsonRpc1_0 } from "./dialect-clients/v1-0-jsonrpc.ts";
import { rest1_0 } from "./dialect-clients/v1-0-rest.ts";

export const DIALECT_CLIENTS_1_0: readonly DialectClient[] = [jsonRpc1_0, rest1_0, grpc1_0];
export const DIALECT_CLIENTS_0_3: readonly DialectClient[] = [jsonRpc0_3, restJson0_3, restProto0_3, grpc0_3];
/**
 * Every dialect that supports all operations of its version. The plain dialect has two operations and its own tests.
 */
export const DIALECT_CLIENTS: readonly DialectClient[] = [
  ...DIALECT_CLIENTS_1_0,
  ...DIALECT_CLIENTS_0_3,
  jsonRpc0_2,
  jsonRpc0_1,
];
