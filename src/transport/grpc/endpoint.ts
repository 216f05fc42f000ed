import type { Endpoint } from "../endpoint.ts";
import type { Exchange, FullReply, Reply } from "../exchange.ts";
import { answerWithinLimit } from "../rate-limit/address-limit.ts";
import { type Mount, pathOf } from "../router.ts";
import { type AgentById, firstAgent } from "./agent-of-call.ts";
import { GRPC_TYPE, RESOURCE_EXHAUSTED, statusReply, UNIMPLEMENTED } from "./status.ts";

/** One gRPC service. */
export interface GrpcService {
  /** The agent that the headers of a call name. Absent: the service is for all agents. */
  readonly mount?: Mount;
  /** Calls do not count for the rate limit of their network address: for health checks. Default false. */
  readonly unlimited?: boolean;
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

export interface GrpcEndpointOptions {
  readonly endpoint: Endpoint;
  /** By name, with their packages. */
  readonly services: ReadonlyMap<string, GrpcService>;
  readonly agent: AgentById;
}

export function createGrpcEndpoint({ endpoint, services, agent }: GrpcEndpointOptions): GrpcEndpoint {
  const first: Mount = (exchange) => firstAgent(agent)(exchange);
  return {
    accepts: (exchange) =>
      exchange.header("content-type")?.startsWith(GRPC_TYPE) === true || services.has(serviceOf(exchange).service),
    async handle(exchange) {
      const refusal = httpRefusal(exchange);
      if (refusal !== undefined) return refusal;
      const { service: name, method } = serviceOf(exchange);
      const service = services.get(name);
      const answer = (): Reply | Promise<Reply> => service?.handle(exchange, method) ?? statusReply(UNIMPLEMENTED);
      if (service?.unlimited === true) return answer();
      return answerWithinLimit(endpoint.environment, {
        exchange,
        mount: service?.mount ?? first,
        answer,
        refuse: ({ message }) => statusReply({ code: RESOURCE_EXHAUSTED, message }),
      });
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
