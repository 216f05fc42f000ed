import type { Artifact, Fields, Message, Part, Sent, State, Status, StreamEvent, Task } from "../neutral.ts";
import { asFlag, asObject, asText, asTexts, asTimestamp, listOf, maybe, objectWith, wrong } from "../strict.ts";

/** The wire format of a dialect's objects. */
export interface Spelling {
  readonly states: Readonly<Record<State, string>>;
  readonly roles: Readonly<Record<Message["role"], string>>;
  /** Tasks, messages and events have a `kind` member, and it comes first. */
  readonly kinds: boolean;
  /** A result or frame is wrapped in an object whose member name tells its kind. */
  readonly wrapped: boolean;
  /** The name of the parts member of messages. */
  readonly parts: "parts" | "content";
  /** When status events have `final`: never, always, or only if it is true. */
  readonly final: "never" | "always" | "true";
  readonly references: boolean;
  readPart(value: unknown, path: string): Part;
}

export interface Readers {
  readTask(value: unknown, path?: string): Task;
  readSent(value: unknown): Sent;
  readEvent(value: unknown): StreamEvent;
}

export function createReaders(spelling: Spelling): Readers {
  const { kinds, wrapped, states, roles, readPart } = spelling;

  const open = (value: unknown, path: string, shape: Shape): Fields => {
    const kind = kinds && shape.kind !== undefined ? ["kind"] : [];
    const fields = objectWith(value, path, { ...shape, required: [...kind, ...shape.required] });
    if (kind.length > 0) {
      if (fields["kind"] !== shape.kind) wrong(`${path}.kind`, `must be ${shape.kind}`, fields["kind"]);
      if (Object.keys(fields)[0] !== "kind") wrong(path, "must have kind as its first member", fields);
    }
    return fields;
  };

  const readParts = (value: unknown, path: string): readonly Part[] => {
    const parts = listOf(readPart)(value, path);
    return parts.length > 0 ? parts : wrong(path, "is empty");
  };

  const readMessage = (value: unknown, path: string): Message => {
    const fields = open(value, path, {
      kind: "message",
      required: ["messageId", "role", spelling.parts],
      optional: [
        ...["contextId", "taskId", "extensions", "metadata"],
        ...(spelling.references ? ["referenceTaskIds"] : []),
        ...(kinds ? ["inputRequest"] : []),
      ],
    });
    const { inputRequest, metadata } = fields;
    if (inputRequest !== undefined) sameAs(inputRequest, asObject(metadata, "metadata")["inputRequest"], path);
    const role = keyOf(roles, fields["role"]) ?? wrong(`${path}.role`, "is not a role", fields["role"]);
    if (role === "agent" && fields["contextId"] === undefined) wrong(path, "is the agent's and lacks a contextId");
    return {
      messageId: asText(fields["messageId"], `${path}.messageId`),
      role,
      parts: readParts(fields[spelling.parts], `${path}.${spelling.parts}`),
      ...maybe(fields, "contextId", asText),
      ...maybe(fields, "taskId", asText),
      ...maybe(fields, "referenceTaskIds", asTexts),
      ...maybe(fields, "extensions", asTexts),
      ...maybe(fields, "metadata", asObject),
    };
  };

  const readStatus = (value: unknown, path: string): Status => {
    const fields = objectWith(value, path, { required: ["state", "timestamp"], optional: ["message"] });
    return {
      state: keyOf(states, fields["state"]) ?? wrong(`${path}.state`, "is not a state", fields["state"]),
      ...maybe(fields, "message", readMessage),
      timestamp: asTimestamp(fields["timestamp"], `${path}.timestamp`),
    };
  };

  const readArtifact = (value: unknown, path: string): Artifact => {
    const fields = objectWith(value, path, {
      required: ["artifactId", "parts"],
      optional: ["name", "description", "extensions", "metadata"],
    });
    return {
      artifactId: asText(fields["artifactId"], `${path}.artifactId`),
      parts: readParts(fields["parts"], `${path}.parts`),
      ...maybe(fields, "name", asText),
      ...maybe(fields, "description", asText),
      ...maybe(fields, "extensions", asTexts),
      ...maybe(fields, "metadata", asObject),
    };
  };

  const readTask = (value: unknown, path: string = "task"): Task => {
    const fields = open(value, path, {
      kind: "task",
      required: ["id", "contextId", "status"],
      optional: ["artifacts", "history", "metadata"],
    });
    return {
      id: asText(fields["id"], `${path}.id`),
      contextId: asText(fields["contextId"], `${path}.contextId`),
      status: readStatus(fields["status"], `${path}.status`),
      ...maybe(fields, "artifacts", listOf(readArtifact)),
      ...maybe(fields, "history", listOf(readMessage)),
      ...maybe(fields, "metadata", asObject),
    };
  };

  const readStatusUpdate = (value: unknown): StreamEvent => {
    const fields = open(value, "statusUpdate", {
      kind: "status-update",
      required: ["taskId", "contextId", "status", ...(spelling.final === "always" ? ["final"] : [])],
      optional: ["metadata", ...(spelling.final === "true" ? ["final"] : [])],
    });
    const status = readStatus(fields["status"], "status");
    const final = spelling.final === "never" ? undefined : asFlag(fields["final"] ?? false, "final");
    return { kind: "status", ...idsOf(fields), status, final, ...maybe(fields, "metadata", asObject) };
  };

  const readArtifactUpdate = (value: unknown): StreamEvent => {
    const fields = open(value, "artifactUpdate", {
      kind: "artifact-update",
      required: ["taskId", "contextId", "artifact"],
      optional: ["append", "lastChunk", "metadata"],
    });
    return {
      kind: "artifact",
      ...idsOf(fields),
      artifact: readArtifact(fields["artifact"], "artifact"),
      append: asFlag(fields["append"] ?? false, "append"),
      lastChunk: asFlag(fields["lastChunk"] ?? false, "lastChunk"),
      ...maybe(fields, "metadata", asObject),
    };
  };

  const read = (name: string, value: unknown): StreamEvent => {
    switch (name) {
      case "task":
        return { kind: "task", task: readTask(value) };
      case "message":
        return { kind: "message", message: readMessage(value, "message") };
      case "statusUpdate":
      case "status-update":
        return readStatusUpdate(value);
      case "artifactUpdate":
      case "artifact-update":
        return readArtifactUpdate(value);
      default:
        return wrong("A result", "is of an unknown kind", value);
    }
  };

  const readEvent = (value: unknown): StreamEvent => {
    if (!wrapped) return read(String(asObject(value, "result")["kind"]), value);
    const members = ["task", "message", "statusUpdate", "artifactUpdate"];
    const [entry] = Object.entries(objectWith(value, "StreamResponse", { one: members }));
    return entry === undefined ? wrong("StreamResponse", "is empty") : read(...entry);
  };

  return {
    readTask,
    readEvent,
    readSent(value) {
      const event = readEvent(value);
      return event.kind === "task" || event.kind === "message"
        ? event
        : wrong("A send", "is answered with an event", value);
    },
  };
}

/** Throws unless two copies of the same value in a response are equal. */
export function sameAs(copy: unknown, original: unknown, path: string): void {
  if (JSON.stringify(copy) !== JSON.stringify(original)) wrong(path, "says something twice, and not the same", copy);
}

interface Shape {
  readonly kind?: string;
  readonly required: readonly string[];
  readonly optional?: readonly string[];
}

function idsOf(fields: Fields): { readonly taskId: string; readonly contextId: string } {
  return { taskId: asText(fields["taskId"], "taskId"), contextId: asText(fields["contextId"], "contextId") };
}

function keyOf<K extends string>(table: Readonly<Record<K, string>>, value: unknown): K | undefined {
  // The keys are those of the table.
  return (Object.keys(table) as K[]).find((key) => table[key] === value);
}
