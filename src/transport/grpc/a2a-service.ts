import { A2AError, toA2AError } from "../../protocol/error.ts";
import type { Operation } from "../../protocol/operation.ts";
import type { GrpcFamily } from "../../wire/grpc-codec.ts";
import { answerCall } from "../call/answer-call.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Exchange, Reply } from "../exchange.ts";
import { requestedVersion } from "../service-parameters.ts";
import { type AgentById, agentOfHeaders } from "./agent-of-call.ts";
import type { AuthenticationGroups } from "./authentication-groups.ts";
import { timeoutOf, within } from "./deadline.ts";
import type { GrpcService } from "./endpoint.ts";
import { GrpcCall } from "./grpc-call.ts";
import { GRPC_PRESENTER } from "./presenter.ts";
import { statusReply } from "./status.ts";

export interface A2AServiceOptions {
  readonly endpoint: Endpoint;
  readonly family: GrpcFamily;
  readonly agent: AgentById;
  readonly groups: AuthenticationGroups;
}

/** The A2A service of one version. */
export function createA2AService(options: A2AServiceOptions): GrpcService {
  const { codec } = options.family.choose(undefined);
  const { logger } = options.endpoint.environment;
  return {
    mount: (exchange) => agentOfHeaders(options.family, exchange, options.agent),
    async handle(exchange, method) {
      try {
        const operation = codec.operationOf(method);
        if (operation === undefined) throw new A2AError("method-not-found", "Method not found");
        const timeout = timeoutOf(exchange);
        const answer = answered(options, exchange, operation);
        return await (timeout === undefined ? answer : within(timeout, exchange, answer));
      } catch (thrown) {
        const error = toA2AError(thrown);
        if (error.code === "internal") logger.error("A gRPC call failed", { error: error.cause ?? error });
        return statusReply(codec.grpcStatus(error));
      }
    },
  };
}

async function answered(options: A2AServiceOptions, exchange: Exchange, operation: Operation): Promise<Reply> {
  const { endpoint, family, agent, groups } = options;
  const choice = family.choose(requestedVersion(exchange));
  const service = agentOfHeaders(family, exchange, agent);
  const call = new GrpcCall({ exchange, service, choice, operation, family, agent, groups });
  return answerCall(endpoint, call, GRPC_PRESENTER);
}
