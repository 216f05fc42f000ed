import fc from "fast-check";
import type { Artifact } from "../../../protocol/artifact.ts";
import type { AgentCard, SecurityScheme } from "../../../protocol/card.ts";
import type { TaskEvent } from "../../../protocol/event.ts";
import type { ArtifactId, ContextId, MessageId } from "../../../protocol/ids.ts";
import type { Message } from "../../../protocol/message.ts";
import type { OperationRequest, PushConfig } from "../../../protocol/operation.ts";
import type { Task, TaskStatus } from "../../../protocol/task.ts";
import * as newer from "../../v0_3/test/models.ts";

// Generators of everything in the neutral model that 0.1 can encode. The rest is listed in test/wire/losses.

export { SAMPLES, stored } from "../../v0_3/test/models.ts";

/** The generated id of messages. */
export const NEW_ID = "new" as MessageId;

/** As decoded from an agent: without id. */
export const message: fc.Arbitrary<Message> = newer.message.map(({ role, parts, metadata }) => ({
  messageId: "" as MessageId,
  role,
  parts,
  ...(metadata !== undefined && { metadata }),
}));

const status: fc.Arbitrary<TaskStatus> = fc.tuple(newer.task, message).map(([{ status: shape }, own]) => ({
  state: shape.state === "rejected" || shape.state === "auth-required" ? "working" : shape.state,
  ...(shape.message !== undefined && { message: own }),
  timestamp: shape.timestamp,
}));

function numbered({ extensions: _dropped, ...artifact }: Artifact, index: number): Artifact {
  return { ...artifact, artifactId: String(index) as ArtifactId };
}

/** An update of the task's first artifact, or of its status. */
export const event: fc.Arbitrary<TaskEvent> = fc
  .tuple(newer.event, status)
  .map(([shape, own]) =>
    shape.kind === "status" ? { ...shape, status: own } : { ...shape, artifact: numbered(shape.artifact, 0) },
  );

export const task: fc.Arbitrary<Task> = fc
  .tuple(newer.task, status, fc.array(message, { maxLength: 2 }))
  .map(([shape, current, history]) => ({
    ...shape,
    status: current,
    ...(shape.artifacts !== undefined && { artifacts: shape.artifacts.map(numbered) }),
    ...(shape.history !== undefined && { history }),
  }));

function nameless({ id: _dropped, ...config }: PushConfig): PushConfig {
  return config;
}

export const request: fc.Arbitrary<OperationRequest> = fc
  .tuple(newer.rpcRequest, message, newer.taskId, fc.option(newer.contextId))
  .filter(([{ operation }]) => !["list", "push-list", "push-delete", "extended-card"].includes(operation))
  .map(([shape, own, taskId, contextId]): OperationRequest => {
    switch (shape.operation) {
      case "send":
      case "stream":
        return {
          ...shape,
          message: {
            ...own,
            messageId: NEW_ID,
            role: "user",
            taskId,
            ...(contextId !== null && { contextId: contextId satisfies ContextId }),
          },
          history: shape.history ?? 0,
          waitMs: 0,
          ...(shape.push !== undefined && { push: nameless(shape.push) }),
        };
      case "get":
        return { ...shape, history: shape.history ?? 0 };
      case "push-create":
        return { ...shape, config: nameless(shape.config) };
      case "push-get":
        return { operation: "push-get", tenant: "", taskId: shape.taskId };
      default:
        return shape;
    }
  });

const SCHEMES: Readonly<Record<string, SecurityScheme>> = {
  Bearer: { type: "http", scheme: "bearer" },
  Basic: { type: "http", scheme: "basic" },
  ApiKey: { type: "apiKey", in: "query", name: "key" },
  OAuth2: { type: "oauth2", flows: {} },
};

export const card: fc.Arbitrary<AgentCard> = fc
  .tuple(newer.card, fc.subarray(Object.keys(SCHEMES)), fc.webUrl())
  .map(([shape, names, url]): AgentCard => {
    const { iconUrl: _icon, securitySchemes: _schemes, security: _security, ...rest } = shape;
    const { extensions: _extensions, extendedAgentCard: _extended, ...capabilities } = rest.capabilities;
    return {
      ...rest,
      interfaces: [{ url, binding: "JSONRPC", protocolVersion: "0.1" }],
      capabilities,
      skills: rest.skills.map(({ security: _required, ...skill }) => skill),
      ...(names.length > 0 && {
        securitySchemes: Object.fromEntries(Object.entries(SCHEMES).filter(([name]) => names.includes(name))),
        security: names.map((name) => ({ [name]: [] })),
      }),
    };
  });
