import type { AgentInterface } from "../../protocol/card.ts";
import { createGrpcClientRow as createRow0_3 } from "../v0_3_proto/grpc-client.ts";
import { createGrpcClientRow as createRow1_0 } from "../v1_0/grpc-client.ts";
import { createGrpcClientRow as createRow1_1 } from "../v1_1/grpc-client.ts";
import { BEFORE_1_0, type DialectTraits, SINCE_1_0, SINCE_1_1 } from "./client-registry.ts";
import type { GrpcClientCodec, GrpcClientRow } from "./grpc-client-codec.ts";

/** How to call an agent over gRPC. */
export interface GrpcClientDialect extends DialectTraits {
  readonly codec: GrpcClientCodec;
}

interface Row {
  readonly traits: DialectTraits;
  row(): GrpcClientRow;
}

const ROWS: ReadonlyMap<string, Row> = new Map<string, Row>([
  ["1.0", { traits: { ...SINCE_1_0, versionHeader: "1.0" }, row: createRow1_0 }],
  ["1.1", { traits: SINCE_1_1, row: createRow1_1 }],
  ["0.3", { traits: { ...BEFORE_1_0, versionHeader: "0.3" }, row: createRow0_3 }],
]);

/** Loads the optional package `@bufbuild/protobuf`, and rejects if it is not installed. `undefined`: the version is not supported. */
export async function loadGrpcClient({
  protocolVersion,
}: Pick<AgentInterface, "protocolVersion">): Promise<GrpcClientDialect | undefined> {
  const [version = ""] = /^\d+\.\d+/.exec(protocolVersion) ?? [];
  const found = ROWS.get(version);
  if (found === undefined) return undefined;
  // On demand: most clients never need it.
  const { loadProtoTypes } = await import("../proto/proto-types.ts");
  const { createGrpcClientCodec } = await import("../proto/create-grpc-client-codec.ts");
  const row = found.row();
  return { ...found.traits, codec: createGrpcClientCodec(row, await loadProtoTypes(row.fields)) };
}
