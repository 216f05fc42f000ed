import type { AddedField, GrpcRow } from "../grpc-codec.ts";
import type { DialectSettings } from "../options.ts";
import { createVariantGrpcRow } from "../v1_0/grpc.ts";
import { createRestCodec } from "./codec.ts";
import { decodeRequest } from "./request.ts";

/** The service is that of 1.0. The numbers are those of the draft and may change. */
export const FIELDS: readonly AddedField[] = [
  { message: "lf.a2a.v1.Task", name: "generation", number: 7 },
  { message: "lf.a2a.v1.TaskStatusUpdateEvent", name: "generation", number: 5 },
  { message: "lf.a2a.v1.TaskArtifactUpdateEvent", name: "generation", number: 7 },
  { message: "lf.a2a.v1.GetTaskRequest", name: "current_generation", number: 4, optional: true },
  { message: "lf.a2a.v1.SendMessageConfiguration", name: "if_generation_match", number: 5, optional: true },
];

export function createGrpcRow(settings: DialectSettings): GrpcRow {
  return { ...createVariantGrpcRow(settings, { text: createRestCodec(settings), decodeRequest }), fields: FIELDS };
}
