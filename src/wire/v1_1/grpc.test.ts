import { describe, expect, it } from "vitest";
import { loadGrpcDialects } from "../grpc.ts";
import { loadProtoTypes } from "../proto/proto-types.ts";
import { FIELDS } from "./grpc.ts";

/** The field numbers of a message in protobuf bytes, whose values are all varints. */
function numbersOf(bytes: Uint8Array): readonly number[] {
  const numbers: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    numbers.push((bytes[at] ?? 0) >> 3);
    do at++;
    while ((bytes[at] ?? 0) >= 0x80);
    at++;
  }
  return numbers;
}

describe("The fields of 1.1 in gRPC", () => {
  it.each([
    ["Task", "generation", 7],
    ["TaskStatusUpdateEvent", "generation", 5],
    ["TaskArtifactUpdateEvent", "generation", 7],
    ["GetTaskRequest", "currentGeneration", 4],
    ["SendMessageConfiguration", "ifGenerationMatch", 5],
  ])("%s.%s has the number of the draft and is an int64", async (message, member, number) => {
    const { type } = await loadProtoTypes(FIELDS);
    const bytes = type(`lf.a2a.v1.${message}`).encode({ [member]: "9007199254740991" });
    expect(numbersOf(bytes)).toEqual([number]);
    expect(type(`lf.a2a.v1.${message}`).decode(bytes)).toEqual({ [member]: "9007199254740991" });
  });

  it("distinguish absent and 0 in requests", async () => {
    const { type } = await loadProtoTypes(FIELDS);
    const get = type("lf.a2a.v1.GetTaskRequest");
    expect(get.decode(get.encode({ currentGeneration: "0" }))).toEqual({ currentGeneration: "0" });
    expect(get.decode(get.encode({}))).toEqual({});
  });

  it("do not exist without the preview, also not in the descriptors that reflection shows", async () => {
    const textOf = (files: readonly Uint8Array[] | undefined): string => Buffer.concat(files ?? []).toString("latin1");
    const off = await loadGrpcDialects();
    const on = await loadGrpcDialects({ preview: ["1.1"] });
    const name = off.fileOf("lf.a2a.v1.Task") ?? "";
    expect(textOf(off.file(name))).not.toContain("generation");
    expect(textOf(on.file(name))).toContain("if_generation_match");
    expect(off.type("lf.a2a.v1.Task").encode({ generation: "5" })).toHaveLength(0);
    expect(on.families.map(({ service }) => service)).toEqual(off.families.map(({ service }) => service));
  });

  it("are chosen by the version that the request names", async () => {
    const { families } = await loadGrpcDialects({ preview: ["1.1"] });
    const family = families.find(({ service }) => service === "lf.a2a.v1.A2AService");
    const chosen = [undefined, "1.0", "1.1", "1.1.3", "1.2"].map((version) => family?.choose(version));
    expect(chosen.map((choice) => choice?.codec.dialect)).toEqual([
      "1.0/grpc",
      "1.0/grpc",
      "1.1/grpc",
      "1.1/grpc",
      "1.0/grpc",
    ]);
    expect(chosen.map((choice) => choice?.refusal?.code)).toEqual([
      ...[undefined, undefined, undefined, undefined],
      "version-not-supported",
    ]);
  });
});
