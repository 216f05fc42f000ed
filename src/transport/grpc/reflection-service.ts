import { gunzipSync } from "node:zlib";
import type { GrpcDialects } from "../../wire/grpc.ts";
import { FrameReader, frame } from "../../wire/grpc-frame.ts";
import type { Exchange, PullSource, Reply } from "../exchange.ts";
import type { GrpcService } from "./endpoint.ts";
import { MAX_PLAIN_REQUEST, plainRefusal } from "./plain-message.ts";
import { encodingOf } from "./read-message.ts";
import { GRPC_TYPE, INVALID_ARGUMENT, NOT_FOUND, statusReply, trailersOf, UNIMPLEMENTED } from "./status.ts";

/** Both are in use, with the same messages. */
export const REFLECTION_PACKAGES = ["grpc.reflection.v1", "grpc.reflection.v1alpha"] as const;

/** Describes the services to tools that do not have their .proto files. `services`: the names of all services. */
export function createReflectionService(
  dialects: GrpcDialects,
  packageName: (typeof REFLECTION_PACKAGES)[number],
  services: readonly string[],
): GrpcService {
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
      let encoding: string | undefined;
      try {
        encoding = encodingOf(exchange);
      } catch (error) {
        return plainRefusal(error, REQUEST);
      }
      const source = new ReflectionAnswers(exchange, encoding, answer);
      return {
        status: 200,
        headers: { "content-type": GRPC_TYPE },
        source,
        trailers: () => trailersOf(source.isInvalid ? INVALID : undefined),
      };
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
class ReflectionAnswers implements PullSource<Uint8Array<ArrayBuffer>> {
  readonly #chunks: AsyncIterator<Uint8Array> | undefined;
  readonly #answer: (request: Uint8Array) => Uint8Array<ArrayBuffer>;
  readonly #frames: FrameReader;
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
        const chunk = await this.#chunks?.next();
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

  cancel(): void {
    void this.#chunks?.return?.();
  }
}

function decompress(message: Uint8Array): Uint8Array {
  return gunzipSync(message, { maxOutputLength: MAX_PLAIN_REQUEST });
}
