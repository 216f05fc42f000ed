import type { Logger } from "../../internal/logger.ts";
import type { Exchange, Reply } from "../exchange.ts";
import type { GrpcEndpoint } from "./endpoint.ts";
import { GRPC_TYPE, statusReply, UNAVAILABLE } from "./status.ts";

/** `/package.Service/Method`, the path of every gRPC call. No other route has such a path. */
const CALL_PATH = /^\/[A-Za-z]\w*(?:\.\w+)+\/\w*(?:\?.*)?$/;

/**
 * The gRPC services of a server that may never get a gRPC call: `load` is called with the first request that looks like one, because the types of the messages take
 * long to load. Other requests are answered by `handle`.
 */
export function lazyGrpc(
  load: () => Promise<GrpcEndpoint>,
  handle: (exchange: Exchange) => Promise<Reply>,
  logger: Logger,
): (exchange: Exchange) => Promise<Reply> {
  let endpoint: GrpcEndpoint | undefined;
  let loading: Promise<GrpcEndpoint> | undefined;
  const answer = (loaded: GrpcEndpoint, exchange: Exchange): Promise<Reply> =>
    loaded.accepts(exchange) ? loaded.handle(exchange) : handle(exchange);
  return async (exchange) => {
    if (endpoint !== undefined) return answer(endpoint, exchange);
    if (!looksLikeCall(exchange)) return handle(exchange);
    try {
      loading ??= load();
      endpoint = await loading;
    } catch (error) {
      // The next call tries again.
      loading = undefined;
      logger.error("gRPC could not be loaded", { error });
      return statusReply({ code: UNAVAILABLE, message: "gRPC is not available now" });
    }
    return answer(endpoint, exchange);
  };
}

function looksLikeCall(exchange: Exchange): boolean {
  return exchange.header("content-type")?.startsWith(GRPC_TYPE) === true || CALL_PATH.test(exchange.target);
}
