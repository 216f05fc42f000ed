import type { GrpcFamily } from "./grpc-codec.ts";
import { choose, parseRequestedVersion } from "./negotiate.ts";
import { type DialectOptions, dialectSettings } from "./options.ts";
import { createGrpcCodec } from "./proto/create-grpc-codec.ts";
import { loadProtoTypes } from "./proto/proto-types.ts";
import type { ProtoType } from "./proto-type.ts";
import { supportedRows, supportedVersions } from "./registry.ts";

/** Everything that a server needs for gRPC. */
export interface GrpcDialects {
  readonly families: readonly GrpcFamily[];
  /** Message types of services besides A2A, such as health checks. */
  type(name: string): ProtoType;
  /** The `FileDescriptorProto` of a file and of the files it imports; `undefined` for an unknown file. */
  file(name: string): readonly Uint8Array[] | undefined;
  /** The file that declares a service, a method or a type. */
  fileOf(symbol: string): string | undefined;
}

/** Loads the optional package `@bufbuild/protobuf`. Rejects if it is not installed, and with a `TypeError` for an invalid option. */
export async function loadGrpcDialects(options: DialectOptions = {}): Promise<GrpcDialects> {
  const settings = dialectSettings(options);
  const rows = supportedRows(settings);
  const supported = supportedVersions(rows, settings);
  const served = rows.flatMap(({ version, grpc }) => {
    const row = grpc?.(settings);
    return row === undefined ? [] : [{ version, row }];
  });
  const types = await loadProtoTypes(served.flatMap(({ row }) => row.fields ?? []));
  const services = Map.groupBy(served, ({ row }) => row.service);
  const families = [...services].map(([service, versions]): GrpcFamily => {
    const codecs = new Map(versions.map(({ version, row }) => [version, createGrpcCodec(row, types)]));
    const [first] = versions;
    const usual = first === undefined ? undefined : codecs.get(first.version);
    if (first === undefined || usual === undefined) throw new TypeError(`No version has the service ${service}.`);
    const form = { definedBy: [...codecs.keys()], closest: first.version };
    return {
      service,
      agentBy: first.row.agentBy,
      // An error is written in a version of the service, because its caller can read no other messages.
      choose: (requested) =>
        choose(
          { supported, requested: parseRequestedVersion(requested, supported), form, lenient: settings.lenient },
          (version) => codecs.get(version) ?? usual,
        ),
    };
  });
  return { families, type: types.type, file: types.file, fileOf: types.fileOf };
}
