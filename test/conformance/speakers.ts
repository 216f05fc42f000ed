import type { Speaker } from "./speaker.ts";
import { jsonRpc0_1 } from "./speakers/v0-1-jsonrpc.ts";
import { jsonRpc0_2 } from "./speakers/v0-2-jsonrpc.ts";
import { grpc0_3 } from "./speakers/v0-3-grpc.ts";
import { jsonRpc0_3 } from "./speakers/v0-3-jsonrpc.ts";
import { restJson0_3, restProto0_3 } from "./speakers/v0-3-rest.ts";
import { grpc1_0 } from "./speakers/v1-0-grpc.ts";
import { jsonRpc1_0 } from "./speakers/v1-0-jsonrpc.ts";
import { rest1_0 } from "./speakers/v1-0-rest.ts";

export const SPEAKERS_1_0: readonly Speaker[] = [jsonRpc1_0, rest1_0, grpc1_0];
export const SPEAKERS_0_3: readonly Speaker[] = [jsonRpc0_3, restJson0_3, restProto0_3, grpc0_3];
/**
 * Every dialect that supports all operations of its version. The plain dialect has two operations and its own tests.
 */
export const SPEAKERS: readonly Speaker[] = [...SPEAKERS_1_0, ...SPEAKERS_0_3, jsonRpc0_2, jsonRpc0_1];
