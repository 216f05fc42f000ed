import type { ClientLine } from "./client-line.ts";
import type { Binding } from "./line.ts";
import { faultsOf, type Shapes } from "./shapes/shape.ts";
import { SHAPES_0_2 } from "./shapes/v0-2.ts";
import { SHAPES_0_3 } from "./shapes/v0-3.ts";
import { SHAPES_0_3_PROTO } from "./shapes/v0-3-proto.ts";
import { SHAPES_1_0 } from "./shapes/v1-0.ts";
import type { Exchanged } from "./wire-record.ts";

const SHAPES: Readonly<Record<string, Readonly<Record<Binding, Shapes>>>> = {
  "1.0": { JSONRPC: SHAPES_1_0, "HTTP+JSON": SHAPES_1_0, GRPC: SHAPES_1_0 },
  "0.2": { JSONRPC: SHAPES_0_2, "HTTP+JSON": SHAPES_0_2, GRPC: SHAPES_0_2 },
  "0.3": { JSONRPC: SHAPES_0_3, "HTTP+JSON": SHAPES_0_3_PROTO, GRPC: SHAPES_0_3_PROTO },
};

/** The type of a result by method, for results without `kind`; all others are tasks. */
const RESULTS: Readonly<Record<string, string>> = {
  SendMessage: "SendMessageResponse",
  SendStreamingMessage: "StreamResponse",
  SubscribeToTask: "StreamResponse",
  ListTasks: "ListTasksResponse",
  GetExtendedAgentCard: "AgentCard",
  CreateTaskPushNotificationConfig: "TaskPushNotificationConfig",
  GetTaskPushNotificationConfig: "TaskPushNotificationConfig",
  ListTaskPushNotificationConfigs: "ListTaskPushNotificationConfigsResponse",
  "tasks/pushNotificationConfig/set": "TaskPushNotificationConfig",
  "tasks/pushNotificationConfig/get": "TaskPushNotificationConfig",
  "tasks/pushNotificationConfig/list": "TaskPushNotificationConfig",
};

/** The type of a 0.2 or 0.3 result by its `kind`. */
const KINDS: Readonly<Record<string, string>> = {
  task: "Task",
  message: "Message",
  "status-update": "TaskStatusUpdateEvent",
  "artifact-update": "TaskArtifactUpdateEvent",
};

/** The type of a REST response by the end of method and path; all others are tasks. */
const ANSWERS: readonly (readonly [RegExp, string])[] = [
  [/:send$/, "SendMessageResponse"],
  [/:(stream|subscribe)$/, "StreamResponse"],
  [/\/tasks$/, "ListTasksResponse"],
  [/\/(extendedAgentCard|v1\/card)$/, "AgentCard"],
  [/^GET .*\/pushNotificationConfigs$/, "ListTaskPushNotificationConfigsResponse"],
  [/^DELETE .*\/pushNotificationConfigs\/[^/]+$/, "Empty"],
  [/\/pushNotificationConfigs(\/[^/]+)?$/, "TaskPushNotificationConfig"],
];

/**
 * Checks every response to a client, and collects members that the client's version of the protocol does not define.
 */
export class AnswerInspector {
  readonly faults: string[] = [];
  /** The checked types, and how often each was seen. */
  readonly seen: Map<string, number> = new Map();
  readonly #shapes: Shapes;
  readonly #cardShapes: Shapes;
  readonly #binding: Binding;
  readonly #reading: Promise<void>[] = [];

  constructor({ protocol }: ClientLine, binding: Binding) {
    const shapes = SHAPES[protocol];
    if (shapes === undefined) throw new Error(`No shapes are defined for version ${protocol}.`);
    this.#shapes = shapes[binding];
    this.#cardShapes = shapes.JSONRPC;
    this.#binding = binding;
  }

  readonly inspect = (exchange: Exchanged, response: Response): void => {
    this.#reading.push(this.#read(exchange, response.clone()));
  };

  /**
   * The faults in the body of a notification: an event, or the task, which versions before 1.0 write as in JSON-RPC.
   */
  pushFaults(value: unknown): readonly string[] {
    const name = "StreamResponse" in this.#cardShapes.members ? "StreamResponse" : "Task";
    return faultsOf(this.#cardShapes, name, { value, path: "notification" });
  }

  /** Resolves when all responses so far were checked. */
  async settled(): Promise<void> {
    await Promise.all(this.#reading);
  }

  async #read(exchange: Exchanged, response: Response): Promise<void> {
    if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true) {
      const text = await response.text();
      if (text !== "") this.#check(exchange, text);
      return;
    }
    let rest = "";
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) if (line.startsWith("data: ")) this.#check(exchange, line.slice(6));
      }
    } catch {
      // The client disconnected. The data received before was checked.
    }
  }

  #check(exchange: Exchanged, text: string): void {
    const value: unknown = JSON.parse(text);
    const { pathname } = new URL(exchange.url);
    const path = `${exchange.method} ${pathname}`;
    if (/\/\.well-known\/agent(-card)?\.json$/.test(pathname)) {
      this.#look("AgentCard", { value, path, shapes: this.#cardShapes });
    } else if (this.#binding === "JSONRPC") this.#checkRpc(value, exchange);
    else if (exchange.status >= 400) this.#look("RestError", { value, path });
    else this.#look(ANSWERS.find(([ending]) => ending.test(path))?.[1] ?? "Task", { value, path });
  }

  #checkRpc(value: unknown, exchange: Exchanged): void {
    const method = methodIn(exchange);
    this.#look("Answer", { value, path: method });
    if (typeof value !== "object" || value === null) return;
    // Only a refusal before the body is read may omit the id.
    const unread = [401, 403, 413].includes(exchange.status);
    if ("id" in value && value.id === null && !unread) this.faults.push(`${method}: the id is null`);
    if (!("result" in value)) return;
    const { result } = value;
    // A delete has no result.
    if (result === null && /(\/d|^D)elete/.test(method)) return;
    if (Array.isArray(result)) {
      for (const each of result) this.#look(RESULTS[method] ?? "Task", { value: each, path: method });
      return;
    }
    const kind = typeof result === "object" && result !== null && "kind" in result ? String(result.kind) : "";
    const card = method.endsWith("ExtendedCard") ? "AgentCard" : undefined;
    this.#look(KINDS[kind] ?? RESULTS[method] ?? card ?? "Task", { value: result, path: method });
  }

  #look(name: string, { value, path, shapes = this.#shapes }: { value: unknown; path: string; shapes?: Shapes }): void {
    this.seen.set(name, (this.seen.get(name) ?? 0) + 1);
    this.faults.push(...faultsOf(shapes, name, { value, path }));
  }
}

function methodIn({ requestBody = "{}" }: Exchanged): string {
  const request: unknown = JSON.parse(requestBody);
  return typeof request === "object" && request !== null && "method" in request ? String(request.method) : "";
}
