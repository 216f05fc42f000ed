import type { Endpoint } from "../endpoint.ts";
import type { Exchange, FullReply, Reply } from "../exchange.ts";
import { rateLimited, rateLimitHeaders } from "../rate-limit/rate-limit-headers.ts";
import { pathOf } from "../router.ts";
import { GRPC_TYPE, statusReply, UNIMPLEMENTED } from "./status.ts";

/** One gRPC service. */
export interface GrpcService {
  /** Answers a call of this method. Never rejects. */
  handle(exchange: Exchange, method: string): Promise<Reply>;
}

/** All gRPC services of a server. */
export interface GrpcEndpoint {
  /** Whether a request over HTTP/2 is a gRPC call, by its content type or its path. */
  accepts(exchange: Exchange): boolean;
  /** Answers one call. Never rejects. */
  handle(exchange: Exchange): Promise<Reply>;
}

/** `services`: by name, with their packages. */
export function createGrpcEndpoint(endpoint: Endpoint, services: ReadonlyMap<string, GrpcService>): GrpcEndpoint {
  return {
    accepts: (exchange) =>
      exchange.header("content-type")?.startsWith(GRPC_TYPE) === true || services.has(serviceOf(exchange).service),
    async handle(exchange) {
      const refusal = httpRefusal(exchange) ?? rateRefusal(endpoint, exchange);
      if (refusal !== undefined) return refusal;
      const { service, method } = serviceOf(exchange);
      return services.get(service)?.handle(exchange, method) ?? statusReply(UNIMPLEMENTED);
    },
  };
}

/** `/service/method`. */
function serviceOf({ target }: Exchange): { readonly service: string; readonly method: string } {
  const path = pathOf(target);
  const slash = path.lastIndexOf("/");
  return { service: path.slice(1, Math.max(1, slash)), method: path.slice(slash + 1) };
}

const CONTENT_TYPE = /^application\/grpc(?:\+proto)?(?:;.*)?$/i;

/** Refuses what is not gRPC at all. Such callers go by the HTTP status. */
function httpRefusal(exchange: Exchange): FullReply | undefined {
  const headers = { "content-type": "text/plain" };
  if (exchange.fault !== undefined) return { status: 400, headers, body: exchange.fault.message };
  if (exchange.method !== "POST")
    return { status: 405, headers: { ...headers, allow: "POST" }, body: "gRPC calls are POST requests" };
  if (CONTENT_TYPE.test(exchange.header("content-type") ?? "")) return undefined;
  return { status: 415, headers, body: `The content type must be ${GRPC_TYPE}` };
}

/** The caller's network address has sent too many requests. */
function rateRefusal({ environment }: Endpoint, exchange: Exchange): FullReply | undefined {
  const allowance = environment.requestLimits?.ofAddress(environment.remoteOf(exchange));
  if (allowance === undefined || allowance.allowed) return undefined;
  environment.onAddressLimit?.();
  const { message, retryAfter } = rateLimited(allowance);
  const headers = { ...rateLimitHeaders(allowance, Date.now()), "retry-after": String(retryAfter) };
  return statusReply({ code: RESOURCE_EXHAUSTED, message }, headers);
}

const RESOURCE_EXHAUSTED = 8;
