import { gunzipSync } from "node:zlib";
import type { GrpcDialects } from "../../wire/grpc.ts";
import { FrameReader, frame } from "../../wire/grpc-frame.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Exchange, Reply } from "../exchange.ts";
import type { GrpcService } from "./endpoint.ts";
import { MAX_PLAIN_REQUEST, plainRefusal } from "./plain-message.ts";
import { openPlainStream, type PlainSource } from "./plain-stream.ts";
import { encodingOf } from "./read-message.ts";
import { GRPC_TYPE, INVALID_ARGUMENT, NOT_FOUND, statusReply, trailersOf, UNIMPLEMENTED } from "./status.ts";

/** Both are in use, with the same messages. */
export const REFLECTION_PACKAGES = ["grpc.reflection.v1", "grpc.reflection.v1alpha"] as const;

export interface ReflectionOptions {
  readonly endpoint: Endpoint;
  readonly dialects: GrpcDialects;
  readonly packageName: (typeof REFLECTION_PACKAGES)[number];
  /** The names of all services. */
  readonly services: readonly string[];
}

/** Describes the services to tools that do not have their .proto files. */
export function createReflectionService(options: ReflectionOptions): GrpcService {
  const { endpoint, dialects, packageName, services } = options;
  const request = dialects.type(`${packageName}.ServerReflectionRequest`);
  const response = dialects.type(`${packageName}.ServerReflectionResponse`);
  const answer = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => {
    // Safe: all members are optional, and are checked below.
    const asked = request.decode(bytes) as ReflectionRequest;
    return frame(response.encode({ originalRequest: asked, ...answerTo(asked, dialects, services) }));
  };
  return {
    async handle(exchange, method): Promise<Reply> {
      if (method !== "ServerReflectionInfo") return statusReply(UNIMPLEMENTED);
      try {
        const answers = new ReflectionAnswers(exchange, encodingOf(exchange), answer);
        return {
          status: 200,
          headers: { "content-type": GRPC_TYPE },
          source: openPlainStream(endpoint, exchange, answers),
          trailers: () => trailersOf(answers.isInvalid ? INVALID : undefined),
        };
      } catch (error) {
        return plainRefusal(error, REQUEST);
      }
    },
  };
}

const REQUEST = "ServerReflectionRequest";
const INVALID = { code: INVALID_ARGUMENT, message: `The request is not a ${REQUEST}` };

interface ReflectionRequest {
  readonly fileByFilename?: string;
  readonly fileContainingSymbol?: string;
  readonly listServices?: string;
}

function answerTo(asked: ReflectionRequest, dialects: GrpcDialects, services: readonly string[]): object {
  if (asked.listServices !== undefined)
    return { listServicesResponse: { service: services.map((name) => ({ name })) } };
  const { fileByFilename: named, fileContainingSymbol: symbol } = asked;
  const name = named ?? (symbol === undefined ? undefined : dialects.fileOf(symbol));
  if (named === undefined && symbol === undefined)
    return { errorResponse: { errorCode: UNIMPLEMENTED.code, errorMessage: "There are no extensions" } };
  const files = name === undefined ? undefined : dialects.file(name);
  if (files === undefined) return { errorResponse: { errorCode: NOT_FOUND, errorMessage: "Not found" } };
  return {
    fileDescriptorResponse: { fileDescriptorProto: files.map((file) => Buffer.from(file).toString("base64")) },
  };
}

/** Answers each request as it arrives; the caller may keep the call open. */
class ReflectionAnswers implements PlainSource {
  readonly #chunks: AsyncIterator<Uint8Array> | undefined;
  readonly #answer: (request: Uint8Array) => Uint8Array<ArrayBuffer>;
  readonly #frames: FrameReader;
  readonly #stopped = Promise.withResolvers<undefined>();
  isInvalid = false;

  constructor(
    exchange: Exchange,
    encoding: string | undefined,
    answer: (request: Uint8Array) => Uint8Array<ArrayBuffer>,
  ) {
    this.#frames = new FrameReader(MAX_PLAIN_REQUEST, encoding === "gzip" ? decompress : undefined);
    this.#chunks = exchange.chunks?.()[Symbol.asyncIterator]();
    this.#answer = answer;
  }

  async pull(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    try {
      for (;;) {
        const request = this.#frames.next();
        if (request !== undefined) return this.#answer(request);
        const chunk = await Promise.race([this.#chunks?.next(), this.#stopped.promise]);
        if (chunk === undefined || chunk.done === true) {
          this.isInvalid = this.#frames.length > 0;
          return undefined;
        }
        this.#frames.add(chunk.value);
      }
    } catch {
      this.isInvalid = true;
      return undefined;
    }
  }

  shutdown(): void {
    this.#stopped.resolve(undefined);
  }

  cancel(): void {
    this.#stopped.resolve(undefined);
    void this.#chunks?.return?.();
  }
}

function decompress(message: Uint8Array): Uint8Array {
  return gunzipSync(message, { maxOutputLength: MAX_PLAIN_REQUEST });
}
