import { any, many, one, plain, type Shapes } from "./shape.ts";
import { CARD_PARTS } from "./v1-0.ts";

/** A card of this version, which may contain the members of 1.0 too. */
export const CARD_MEMBERS: Shapes["members"] = {
  AgentCard: {
    ...plain("name", "description", "version", "documentationUrl", "iconUrl"),
    ...plain("url", "preferredTransport", "protocolVersion", "supportsAuthenticatedExtendedCard"),
    additionalInterfaces: many("LegacyInterface"),
    supportedInterfaces: many("AgentInterface"),
    provider: one("AgentProvider"),
    capabilities: one("AgentCapabilities"),
    skills: many("AgentSkill"),
    ...any("securitySchemes", "security", "securityRequirements", "signatures"),
    ...any("defaultInputModes", "defaultOutputModes"),
  },
  LegacyInterface: plain("url", "transport"),
  AgentCapabilities: {
    ...plain("streaming", "pushNotifications", "stateTransitionHistory", "extendedAgentCard"),
    extensions: many("AgentExtension"),
  },
  AgentSkill: {
    ...plain("id", "name", "description"),
    ...any("tags", "examples", "inputModes", "outputModes", "security", "securityRequirements"),
  },
  ...CARD_PARTS,
};

/** Every object that a server of 0.3 may send over JSON-RPC. */
export const SHAPES_0_3: Shapes = {
  members: {
    Answer: { ...plain("jsonrpc"), ...any("id", "result"), error: one("RpcError") },
    RpcError: { ...plain("code", "message"), ...any("data") },
    TaskPushNotificationConfig: {
      // `success` is an addition for clients that check only this member.
      ...plain("taskId", "success"),
      pushNotificationConfig: one("PushNotificationConfig"),
    },
    PushNotificationConfig: { ...plain("id", "url", "token"), authentication: one("PushAuthentication") },
    PushAuthentication: { ...any("schemes"), ...plain("credentials") },
    Task: {
      ...plain("kind", "id", "contextId"),
      status: one("TaskStatus"),
      artifacts: many("Artifact"),
      history: many("Message"),
      ...any("metadata"),
    },
    TaskStatus: { ...plain("state", "timestamp"), message: one("Message") },
    Message: {
      ...plain("kind", "messageId", "contextId", "taskId", "role"),
      parts: many("Part"),
      // `inputRequest` is an addition for clients that do not read it from the metadata.
      ...any("metadata", "extensions", "referenceTaskIds", "inputRequest"),
    },
    Artifact: {
      ...plain("artifactId", "name", "description"),
      parts: many("Part"),
      ...any("metadata", "extensions"),
    },
    Part: { ...plain("kind", "text"), file: one("File"), ...any("data", "metadata") },
    File: plain("name", "mimeType", "bytes", "uri"),
    TaskStatusUpdateEvent: {
      ...plain("kind", "taskId", "contextId", "final"),
      status: one("TaskStatus"),
      ...any("metadata"),
    },
    TaskArtifactUpdateEvent: {
      ...plain("kind", "taskId", "contextId", "append", "lastChunk"),
      artifact: one("Artifact"),
      ...any("metadata"),
    },
    ...CARD_MEMBERS,
  },
  required: {
    Answer: ["jsonrpc", "id"],
    RpcError: ["code", "message"],
    TaskPushNotificationConfig: ["taskId", "pushNotificationConfig"],
    PushNotificationConfig: ["id", "url"],
    PushAuthentication: ["schemes"],
    Task: ["kind", "id", "contextId", "status"],
    TaskStatus: ["state", "timestamp"],
    Message: ["kind", "messageId", "role", "parts"],
    Artifact: ["artifactId", "parts"],
    Part: ["kind"],
    TaskStatusUpdateEvent: ["kind", "taskId", "contextId", "status", "final"],
    TaskArtifactUpdateEvent: ["kind", "taskId", "contextId", "artifact"],
    AgentCard: [
      "name",
      "description",
      "url",
      "preferredTransport",
      "protocolVersion",
      "version",
      "capabilities",
      "defaultInputModes",
      "defaultOutputModes",
      "skills",
    ],
    LegacyInterface: ["url", "transport"],
    AgentSkill: ["id", "name", "description", "tags"],
  },
};
