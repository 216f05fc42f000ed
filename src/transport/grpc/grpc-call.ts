import type { Operation } from "../../protocol/operation.ts";
import type { Service } from "../../server/service.ts";
import type { Choice } from "../../wire/codec.ts";
import type { GrpcCodec, GrpcFamily } from "../../wire/grpc-codec.ts";
import { ServedCall } from "../call/served-call.ts";
import type { Exchange, Headers } from "../exchange.ts";
import type { AgentById } from "./agent-of-call.ts";
import type { AuthenticationGroups } from "./authentication-groups.ts";
import { GRPC_TYPE } from "./status.ts";

export interface GrpcCallOptions {
  readonly exchange: Exchange;
  /** The agent that the headers name. */
  readonly service: Service;
  readonly choice: Choice<GrpcCodec>;
  readonly operation: Operation;
  readonly family: GrpcFamily;
  readonly agent: AgentById;
  readonly groups: AuthenticationGroups;
}

/** A gRPC call. In versions with tenants its message may name another agent than its headers. */
export class GrpcCall extends ServedCall<GrpcCodec> {
  readonly refusal: Choice<GrpcCodec>["refusal"];
  readonly isAgentInMessage: boolean;
  readonly agent: AgentById;
  readonly groups: AuthenticationGroups;
  /** The group of agents whose authentication accepted the caller. */
  authenticatedFor: string | undefined;
  /** Answers are compressed if the request was. */
  readonly compresses: boolean;

  constructor({ exchange, service, choice, operation, family, agent, groups }: GrpcCallOptions) {
    super({ exchange, service, operation, codec: () => choice.codec });
    this.refusal = choice.refusal;
    this.isAgentInMessage = family.agentBy === "tenant";
    this.agent = agent;
    this.groups = groups;
    this.authenticatedFor = undefined;
    this.compresses = exchange.header("grpc-encoding") === "gzip";
  }

  /** The headers of every answer. */
  get headers(): Headers {
    const { activeExtensions, limitHeaders, codec, compresses } = this;
    return {
      "content-type": GRPC_TYPE,
      ...(compresses && { "grpc-encoding": "gzip" }),
      ...limitHeaders,
      ...(activeExtensions.length > 0 && { [codec.extensionsHeader]: activeExtensions.join(", ") }),
    };
  }
}
