import {
  createFileRegistry,
  type DescMethod,
  type FileRegistry,
  fromBinary,
  fromJson,
  type JsonValue,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import {
  type CallOptions,
  type ChannelCredentials,
  type ChannelOptions,
  Client,
  type ClientReadableStream,
  credentials,
  Metadata,
} from "@grpc/grpc-js";
import { loadGrpcDialects } from "../../src/wire/grpc.ts";

/** A client of `@grpc/grpc-js` that knows nothing of the services but what the server's reflection tells it. */
export interface ReflectedClient {
  /** The names of all services. */
  readonly services: readonly string[];
  /** Calls a method (`package.Service/Method`) that has one answer. Messages are ProtoJSON. */
  call(method: string, request: object, options?: CallSettings): Promise<Loose>;
  /** Calls a method with several answers. `cancel` of the stream ends the call. */
  stream(method: string, request: object, options?: CallSettings): ClientReadableStream<Loose>;
  close(): void;
}

export interface CallSettings extends CallOptions {
  readonly metadata?: Readonly<Record<string, string | readonly string[]>>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests read answers member by member, and a missing one fails the test
export type Loose = any;

export interface ReflectedOptions {
  /** `host:port` */
  readonly target: string;
  readonly channel?: ChannelOptions;
  /** Default: clear text. */
  readonly credentials?: ChannelCredentials;
  /** The package of the reflection service. Default `grpc.reflection.v1`. */
  readonly reflection?: "grpc.reflection.v1" | "grpc.reflection.v1alpha";
}

export async function connectByReflection(options: ReflectedOptions): Promise<ReflectedClient> {
  const { target, channel = {}, reflection = "grpc.reflection.v1" } = options;
  const client = new Client(target, options.credentials ?? credentials.createInsecure(), channel);
  const { services, registry } = await reflect(client, reflection);
  const described = (path: string): DescMethod => {
    const [service = "", name] = path.split("/");
    const method = registry.getService(service)?.methods.find((each) => each.name === name);
    if (method === undefined) throw new Error(`The reflection does not describe ${path}.`);
    return method;
  };
  const codec = (path: string) => {
    const { input, output } = described(path);
    return {
      encode: (json: object) => Buffer.from(toBinary(input, fromJson(input, json as JsonValue))),
      decode: (bytes: Buffer): Loose => toJson(output, fromBinary(output, bytes), { registry }),
    };
  };
  return {
    services,
    call(path, request, { metadata, ...settings } = {}) {
      const { encode, decode } = codec(path);
      return new Promise((resolve, reject) => {
        client.makeUnaryRequest(
          `/${path}`,
          encode,
          decode,
          request,
          metadataOf(metadata),
          settings,
          (error, answer) => {
            if (error === null) resolve(answer);
            else reject(error);
          },
        );
      });
    },
    stream(path, request, { metadata, ...settings } = {}) {
      const { encode, decode } = codec(path);
      return client.makeServerStreamRequest(`/${path}`, encode, decode, request, metadataOf(metadata), settings);
    },
    close: () => client.close(),
  };
}

function metadataOf(entries: CallSettings["metadata"] = {}): Metadata {
  const metadata = new Metadata();
  for (const [name, values] of Object.entries(entries)) for (const value of [values].flat()) metadata.add(name, value);
  return metadata;
}

interface Described {
  readonly services: readonly string[];
  readonly registry: FileRegistry;
}

interface ServicesAnswer {
  readonly listServicesResponse: { readonly service: readonly { readonly name: string }[] };
}

interface FilesAnswer {
  readonly fileDescriptorResponse: { readonly fileDescriptorProto: readonly string[] };
}

/** Asks for the names of the services, then for the files that declare them, in one call that stays open. */
async function reflect(client: Client, reflection: string): Promise<Described> {
  const types = await loadGrpcDialects();
  const request = types.type(`${reflection}.ServerReflectionRequest`);
  const response = types.type(`${reflection}.ServerReflectionResponse`);
  const call = client.makeBidiStreamRequest(
    `/${reflection}.ServerReflection/ServerReflectionInfo`,
    (json: object) => Buffer.from(request.encode(json)),
    (bytes: Buffer): Loose => response.decode(bytes),
  );
  const answers: AsyncIterator<Loose> = call[Symbol.asyncIterator]();
  const ask = async (json: object): Promise<Loose> => {
    call.write(json);
    return (await answers.next()).value;
  };
  const listed = (await ask({ listServices: "*" })) as ServicesAnswer;
  const services = listed.listServicesResponse.service.map(({ name }) => name);
  const registries: FileRegistry[] = [];
  for (const fileContainingSymbol of services) {
    const answer = (await ask({ fileContainingSymbol })) as FilesAnswer;
    const [file, ...imported] = answer.fileDescriptorResponse.fileDescriptorProto.map(fileOf);
    if (file === undefined) throw new Error(`No file declares ${fileContainingSymbol}.`);
    registries.push(createFileRegistry(file, (name) => imported.find((each) => each.name === name)));
  }
  call.end();
  return { services, registry: createFileRegistry(...registries) };
}

function fileOf(base64: string) {
  return fromBinary(FileDescriptorProtoSchema, Buffer.from(base64, "base64"));
}
