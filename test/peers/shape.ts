/** What a member may hold: a scalar, any JSON, one of the objects below, or a list of them. */
type Content = "plain" | "any" | ShapeName | readonly [ShapeName];
type Shape = Readonly<Record<string, Content>>;

export type ShapeName =
  | "Answer"
  | "Error"
  | "ErrorDetail"
  | "Violation"
  | "SendMessageResponse"
  | "StreamResponse"
  | "ListTasksResponse"
  | "Task"
  | "TaskStatus"
  | "Message"
  | "Artifact"
  | "Part"
  | "TaskStatusUpdateEvent"
  | "TaskArtifactUpdateEvent"
  | "AgentCard"
  | "AgentInterface"
  | "AgentProvider"
  | "AgentCapabilities"
  | "AgentExtension"
  | "AgentSkill";

/** Every object a 1.0 server may answer with, and every member each may have. */
const SHAPES: Readonly<Record<ShapeName, Shape>> = {
  Answer: { jsonrpc: "plain", id: "plain", result: "any", error: "Error" },
  Error: { code: "plain", message: "plain", data: ["ErrorDetail"] },
  ErrorDetail: { "@type": "plain", reason: "plain", domain: "plain", metadata: "any", fieldViolations: ["Violation"] },
  Violation: { field: "plain", description: "plain" },
  SendMessageResponse: { task: "Task", message: "Message" },
  StreamResponse: {
    task: "Task",
    message: "Message",
    statusUpdate: "TaskStatusUpdateEvent",
    artifactUpdate: "TaskArtifactUpdateEvent",
  },
  ListTasksResponse: { tasks: ["Task"], nextPageToken: "plain", pageSize: "plain", totalSize: "plain" },
  Task: {
    id: "plain",
    contextId: "plain",
    status: "TaskStatus",
    artifacts: ["Artifact"],
    history: ["Message"],
    metadata: "any",
  },
  TaskStatus: { state: "plain", message: "Message", timestamp: "plain" },
  Message: {
    messageId: "plain",
    contextId: "plain",
    taskId: "plain",
    role: "plain",
    parts: ["Part"],
    metadata: "any",
    extensions: "any",
    referenceTaskIds: "any",
  },
  Artifact: {
    artifactId: "plain",
    name: "plain",
    description: "plain",
    parts: ["Part"],
    metadata: "any",
    extensions: "any",
  },
  Part: {
    text: "plain",
    raw: "plain",
    url: "plain",
    data: "any",
    metadata: "any",
    filename: "plain",
    mediaType: "plain",
  },
  TaskStatusUpdateEvent: { taskId: "plain", contextId: "plain", status: "TaskStatus", metadata: "any" },
  TaskArtifactUpdateEvent: {
    taskId: "plain",
    contextId: "plain",
    artifact: "Artifact",
    append: "plain",
    lastChunk: "plain",
    metadata: "any",
  },
  AgentCard: {
    name: "plain",
    description: "plain",
    supportedInterfaces: ["AgentInterface"],
    provider: "AgentProvider",
    version: "plain",
    documentationUrl: "plain",
    capabilities: "AgentCapabilities",
    securitySchemes: "any",
    securityRequirements: "any",
    defaultInputModes: "any",
    defaultOutputModes: "any",
    skills: ["AgentSkill"],
    signatures: "any",
    iconUrl: "plain",
  },
  AgentInterface: { url: "plain", protocolBinding: "plain", tenant: "plain", protocolVersion: "plain" },
  AgentProvider: { url: "plain", organization: "plain" },
  AgentCapabilities: {
    streaming: "plain",
    pushNotifications: "plain",
    extensions: ["AgentExtension"],
    extendedAgentCard: "plain",
  },
  AgentExtension: { uri: "plain", description: "plain", required: "plain", params: "any" },
  AgentSkill: {
    id: "plain",
    name: "plain",
    description: "plain",
    tags: "any",
    examples: "any",
    inputModes: "any",
    outputModes: "any",
    securityRequirements: "any",
  },
};

/** Members that must always be there. */
const REQUIRED: { readonly [name in ShapeName]?: readonly string[] } = {
  Answer: ["jsonrpc", "id"],
  Error: ["code", "message", "data"],
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
};

/** What is wrong with an object, member by member; nothing if it is as it should be. */
export function faultsOf(name: ShapeName, value: unknown, path: string = name): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [`${path} is not an object`];
  const shape = SHAPES[name];
  const missing = (REQUIRED[name] ?? []).filter((member) => !(member in value));
  const faults = missing.map((member) => `${path}.${member} is missing`);
  for (const [member, content] of Object.entries(value)) {
    const expected = shape[member];
    const here = `${path}.${member}`;
    if (expected === undefined) faults.push(`${here} is unknown`);
    else faults.push(...contentFaults(expected, content, here));
  }
  return faults;
}

function contentFaults(expected: Content, value: unknown, path: string): string[] {
  if (value === null && expected !== "any") return [`${path} is null`];
  if (expected === "any") return [];
  if (expected === "plain") return typeof value === "object" ? [`${path} is not plain`] : [];
  if (typeof expected === "string") return faultsOf(expected, value, path);
  if (!Array.isArray(value)) return [`${path} is not a list`];
  return value.flatMap((each, index) => faultsOf(expected[0], each, `${path}[${index}]`));
}
