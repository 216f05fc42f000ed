import type { Exchange, Reply } from "../exchange.ts";
import type { TransportEnvironment } from "../options.ts";

/** Serves paths that belong to no agent, apart from the operations of the protocol: metrics and the operator API. */
export interface ReservedPaths {
  accepts(exchange: Exchange): boolean;
  /** Never rejects for invalid requests. */
  handle(exchange: Exchange, environment: TransportEnvironment): Promise<Reply>;
}

/** The first of these that accepts a request answers it. */
export function firstOf(all: readonly ReservedPaths[]): ReservedPaths {
  const find = (exchange: Exchange): ReservedPaths | undefined => all.find((paths) => paths.accepts(exchange));
  return {
    accepts: (exchange) => find(exchange) !== undefined,
    handle: (exchange, environment) => {
      const paths = find(exchange);
      if (paths === undefined) throw new Error("Nothing serves this path.");
      return paths.handle(exchange, environment);
    },
  };
}
