import type { Logger } from "../internal/logger.ts";
import { type GrpcDialects, loadGrpcDialects } from "../wire/grpc.ts";
import type { DialectOptions } from "../wire/options.ts";
import { systemCode } from "./startup-error.ts";

/** The versions over gRPC; `undefined`, with a warning, if the package that it needs is not installed. */
export async function loadGrpc(dialects: DialectOptions, logger: Logger): Promise<GrpcDialects | undefined> {
  try {
    return await loadGrpcDialects(dialects);
  } catch (error) {
    if (systemCode(error) !== "ERR_MODULE_NOT_FOUND") throw error;
    logger.warn(
      "gRPC is not served: the package @bufbuild/protobuf is not installed. Run `npm install @bufbuild/protobuf`, or turn gRPC off (--no-grpc)",
    );
    return undefined;
  }
}
