import { createRequire } from "node:module";
import type { Logger } from "../internal/logger.ts";
import type { GrpcDialects } from "../wire/grpc.ts";
import type { DialectOptions } from "../wire/options.ts";
import { systemCode } from "./startup-error.ts";

/** Loads the versions over gRPC; `undefined`, with a warning, if the package that it needs is not installed. */
export function grpcLoader(dialects: DialectOptions, logger: Logger): (() => Promise<GrpcDialects>) | undefined {
  if (isInstalled()) {
    return async () => {
      const { loadGrpcDialects } = await import("../wire/grpc.ts");
      return loadGrpcDialects(dialects);
    };
  }
  logger.warn(
    "gRPC is not served: the package @bufbuild/protobuf is not installed. Run `npm install @bufbuild/protobuf`, or turn gRPC off (--no-grpc)",
  );
  return undefined;
}

/** The package is found, not loaded: that takes a sixth of the start of a server, and few callers use gRPC. */
function isInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve("@bufbuild/protobuf");
    return true;
  } catch (error) {
    if (systemCode(error) !== "MODULE_NOT_FOUND") throw error;
    return false;
  }
}
