import { any, many, one, plain, type Shapes } from "./shape.ts";

/** The parts of cards of every version. */
export const CARD_PARTS: Shapes["members"] = {
  AgentInterface: plain("url", "protocolBinding", "tenant", "protocolVersion"),
  AgentProvider: plain("url", "organization"),
  AgentExtension: { ...plain("uri", "description", "required"), ...any("params") },
};

/** Every object that a server of 1.0 may send over HTTP. */
export const SHAPES_1_0: Shapes = {
  members: {
    Answer: { ...plain("jsonrpc"), ...any("id", "result"), error: one("RpcError") },
    RpcError: { ...plain("code", "message"), data: many("ErrorDetail") },
    RestError: { error: one("Status") },
    Status: { ...plain("code", "status", "message"), details: many("ErrorDetail") },
    ErrorDetail: { ...plain("@type", "reason", "domain"), ...any("metadata"), fieldViolations: many("Violation") },
    Violation: plain("field", "description"),
    SendMessageResponse: { task: one("Task"), message: one("Message") },
    StreamResponse: {
      task: one("Task"),
      message: one("Message"),
      statusUpdate: one("TaskStatusUpdateEvent"),
      artifactUpdate: one("TaskArtifactUpdateEvent"),
    },
    TaskPushNotificationConfig: { ...plain("id", "taskId", "url", "token"), authentication: one("AuthenticationInfo") },
    AuthenticationInfo: plain("scheme", "credentials"),
    ListTaskPushNotificationConfigsResponse: {
      configs: many("TaskPushNotificationConfig"),
      ...plain("nextPageToken"),
    },
    Empty: {},
    ListTasksResponse: { tasks: many("Task"), ...plain("nextPageToken", "pageSize", "totalSize") },
    Task: {
      ...plain("id", "contextId"),
      status: one("TaskStatus"),
      artifacts: many("Artifact"),
      history: many("Message"),
      ...any("metadata"),
    },
    TaskStatus: { ...plain("state", "timestamp"), message: one("Message") },
    Message: {
      ...plain("messageId", "contextId", "taskId", "role"),
      parts: many("Part"),
      ...any("metadata", "extensions", "referenceTaskIds"),
    },
    Artifact: {
      ...plain("artifactId", "name", "description"),
      parts: many("Part"),
      ...any("metadata", "extensions"),
    },
    Part: { ...plain("text", "raw", "url", "filename", "mediaType"), ...any("data", "metadata") },
    TaskStatusUpdateEvent: { ...plain("taskId", "contextId"), status: one("TaskStatus"), ...any("metadata") },
    TaskArtifactUpdateEvent: {
      ...plain("taskId", "contextId", "append", "lastChunk"),
      artifact: one("Artifact"),
      ...any("metadata"),
    },
    AgentCard: {
      ...plain("name", "description", "version", "documentationUrl", "iconUrl"),
      supportedInterfaces: many("AgentInterface"),
      provider: one("AgentProvider"),
      capabilities: one("AgentCapabilities"),
      skills: many("AgentSkill"),
      ...any("securitySchemes", "securityRequirements", "defaultInputModes", "defaultOutputModes", "signatures"),
    },
    ...CARD_PARTS,
    AgentCapabilities: {
      ...plain("streaming", "pushNotifications", "extendedAgentCard"),
      extensions: many("AgentExtension"),
    },
    AgentSkill: {
      ...plain("id", "name", "description"),
      ...any("tags", "examples", "inputModes", "outputModes", "securityRequirements"),
    },
  },
  required: {
    Answer: ["jsonrpc", "id"],
    RpcError: ["code", "message", "data"],
    RestError: ["error"],
    Status: ["code", "status", "message", "details"],
    TaskPushNotificationConfig: ["id", "taskId", "url"],
    AuthenticationInfo: ["scheme"],
    ListTaskPushNotificationConfigsResponse: ["configs", "nextPageToken"],
    ListTasksResponse: ["tasks", "nextPageToken", "pageSize", "totalSize"],
    Task: ["id", "contextId", "status"],
    TaskStatus: ["state", "timestamp"],
    Message: ["messageId", "role", "parts"],
    Artifact: ["artifactId", "parts"],
    TaskStatusUpdateEvent: ["taskId", "contextId", "status"],
    TaskArtifactUpdateEvent: ["taskId", "contextId", "artifact"],
    AgentCard: [
      "name",
      "description",
      "supportedInterfaces",
      "version",
      "capabilities",
      "defaultInputModes",
      "defaultOutputModes",
      "skills",
    ],
    AgentInterface: ["url", "protocolBinding", "protocolVersion"],
    AgentSkill: ["id", "name", "description", "tags"],
  },
};
