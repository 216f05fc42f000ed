import { any, many, one, plain, type Shapes } from "./shape.ts";
import { CARD_MEMBERS } from "./v0-3.ts";

/** Every object that a server of 0.3 may send over REST to clients that use proto JSON. */
export const SHAPES_0_3_PROTO: Shapes = {
  members: {
    // `error` repeats the other members, for clients that read them there.
    RestError: { ...plain("code", "message"), ...any("data", "error") },
    SendMessageResponse: { task: one("Task"), message: one("Message") },
    StreamResponse: {
      task: one("Task"),
      message: one("Message"),
      statusUpdate: one("TaskStatusUpdateEvent"),
      artifactUpdate: one("TaskArtifactUpdateEvent"),
    },
    TaskPushNotificationConfig: { ...plain("name"), pushNotificationConfig: one("PushNotificationConfig") },
    PushNotificationConfig: { ...plain("id", "url", "token"), authentication: one("PushAuthentication") },
    PushAuthentication: { ...any("schemes"), ...plain("credentials") },
    ListTaskPushNotificationConfigsResponse: {
      configs: many("TaskPushNotificationConfig"),
      ...plain("nextPageToken"),
    },
    Empty: {},
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
      content: many("Part"),
      ...any("metadata", "extensions"),
    },
    Artifact: {
      ...plain("artifactId", "name", "description"),
      parts: many("Part"),
      ...any("metadata", "extensions"),
    },
    Part: { ...plain("text"), file: one("File"), data: one("Data"), ...any("metadata") },
    File: plain("fileWithUri", "fileWithBytes", "mimeType", "name"),
    Data: any("data"),
    TaskStatusUpdateEvent: { ...plain("taskId", "contextId", "final"), status: one("TaskStatus"), ...any("metadata") },
    TaskArtifactUpdateEvent: {
      ...plain("taskId", "contextId", "append", "lastChunk"),
      artifact: one("Artifact"),
      ...any("metadata"),
    },
    ...CARD_MEMBERS,
  },
  required: {
    RestError: ["code", "message"],
    TaskPushNotificationConfig: ["name", "pushNotificationConfig"],
    PushNotificationConfig: ["id", "url"],
    PushAuthentication: ["schemes"],
    ListTaskPushNotificationConfigsResponse: ["configs", "nextPageToken"],
    Task: ["id", "contextId", "status"],
    TaskStatus: ["state", "timestamp"],
    Message: ["messageId", "role", "content"],
    Artifact: ["artifactId", "parts"],
    Data: ["data"],
    TaskStatusUpdateEvent: ["taskId", "contextId", "status"],
    TaskArtifactUpdateEvent: ["taskId", "contextId", "artifact"],
  },
};
