import { describe, expect, it } from "vitest";
import type { AgentCard } from "../../../src/protocol/card.ts";
import { A2AError } from "../../../src/protocol/error.ts";
import type { ArtifactId, ContextId, MessageId, TaskId } from "../../../src/protocol/ids.ts";
import type { Message } from "../../../src/protocol/message.ts";
import type { OperationRequest, SendRequest } from "../../../src/protocol/operation.ts";
import type { Task } from "../../../src/protocol/task.ts";
import type { EventPlace } from "../../../src/wire/codec.ts";
import { dialectSettings } from "../../../src/wire/options.ts";
import { BARE_CARD } from "../../../src/wire/test/cards.ts";
import { cardObject, decodeCard } from "../../../src/wire/v0_1/card.ts";
import { createRpcClientCodec } from "../../../src/wire/v0_1/client-codec.ts";
import { createRpcCodec } from "../../../src/wire/v0_1/codec.ts";
import { stored } from "../../../src/wire/v0_1/test/models.ts";
import { storedEvent } from "../../../src/wire/v0_3/test/frames.ts";
import { LOSS_NAMES, LOSSES, type LossName } from "./v0-1.ts";

const server = createRpcCodec(dialectSettings({}), () => "new");
const client = createRpcClientCodec(() => "fresh");
const timestamp = "2026-01-01T00:00:00.000Z";

const message: Message = {
  messageId: "m" as MessageId,
  role: "user",
  parts: [{ text: "x" }],
  taskId: "t" as TaskId,
  contextId: "c" as ContextId,
  referenceTaskIds: ["r" as TaskId],
  extensions: ["urn:e"],
};
const task: Task = {
  id: "t" as TaskId,
  contextId: "c" as ContextId,
  status: { state: "working", timestamp, message: { ...message, role: "agent" } },
  artifacts: [{ artifactId: "a" as ArtifactId, parts: [{ text: "x" }], extensions: ["urn:e"] }],
  history: [message],
};
const send: SendRequest = {
  operation: "send",
  tenant: "acme",
  message,
  metadata: {},
  outputModes: [],
  history: undefined,
  waitMs: Number.POSITIVE_INFINITY,
};
const place: EventPlace = { taskId: task.id, contextId: task.contextId, final: false };
const card: AgentCard = {
  ...BARE_CARD,
  interfaces: [
    { url: "https://a/", binding: "JSONRPC", protocolVersion: "1.0" },
    { url: "https://a/a2a", binding: "JSONRPC", protocolVersion: "0.1" },
  ],
  iconUrl: "https://a/icon",
  capabilities: { extensions: [{ uri: "urn:e" }], extendedAgentCard: true },
  skills: [{ id: "s", name: "S", description: "d", tags: [], security: [{ key: [] }] }],
  securitySchemes: {
    key: { type: "apiKey", in: "header", name: "k", description: "a key" },
    login: { type: "oauth2", flows: { clientCredentials: { tokenUrl: "https://a/token", scopes: { r: "read" } } } },
  },
  security: [{ key: [], login: ["r"] }],
};

function read(source: Task): Task {
  const result = client.decodeResult("get", JSON.parse(server.encodeResult({ kind: "task", task: stored(source) })));
  if (result.kind !== "task") throw new Error(result.kind);
  return result.task;
}

function asked(request: OperationRequest): OperationRequest {
  return server.decodeRequest(request.operation, JSON.parse(client.encodeRequest(request).params));
}

function sent(request: SendRequest): SendRequest {
  const understood = asked(request);
  if (understood.operation !== "send") throw new Error(understood.operation);
  return understood;
}

function openingFrames(opening: Parameters<typeof server.encodeOpening>[0]): unknown[] {
  const encoded = server.encodeOpening(opening);
  return typeof encoded === "string" ? [] : encoded.map(({ text }): unknown => JSON.parse(text));
}

/** For each loss, the value that clients get instead. */
const CASES: Readonly<Record<LossName, () => void>> = {
  messageId: () => {
    expect(read(task).history?.[0]?.messageId).toBe("");
    expect(sent(send).message.messageId).toBe("new");
  },
  messageLinks: () => {
    const { history = [], status } = read(task);
    for (const said of [...history, status.message]) {
      expect(said).not.toHaveProperty("taskId");
      expect(said).not.toHaveProperty("contextId");
      expect(said).not.toHaveProperty("referenceTaskIds");
    }
    expect(sent(send).message).toMatchObject({ taskId: "t", contextId: "c" });
    expect(sent(send).message).not.toHaveProperty("referenceTaskIds");
  },
  messageExtensions: () => {
    expect(read(task).history?.[0]).not.toHaveProperty("extensions");
    expect(sent(send).message).not.toHaveProperty("extensions");
  },
  namedFile: () => {
    const parts = [{ type: "file", file: { name: "a.txt" } }];
    const understood = server.decodeRequest("send", { id: "t", message: { role: "user", parts } });
    expect(understood).toMatchObject({ message: { parts: [{ data: { file: { name: "a.txt" } } }] } });
  },
  artifactId: () => {
    const more = ["b", "c"].map((id) => ({ artifactId: id as ArtifactId, parts: [{ text: id }] }));
    const { artifacts = [] } = read({ ...task, artifacts: more });
    expect(artifacts.map(({ artifactId }) => artifactId)).toEqual(["0", "1"]);
  },
  artifactExtensions: () => {
    expect(read(task).artifacts?.[0]).not.toHaveProperty("extensions");
  },
  rejected: () => {
    expect(read({ ...task, status: { state: "rejected", timestamp } }).status.state).toBe("failed");
  },
  authRequired: () => {
    expect(read({ ...task, status: { state: "auth-required", timestamp } }).status.state).toBe("input-required");
  },
  reply: () => {
    const reply: Message = {
      messageId: "m" as MessageId,
      role: "agent",
      parts: [{ text: "hi" }],
      contextId: task.contextId,
    };
    const wire = { state: "completed", message: { role: "agent", parts: [{ type: "text", text: "hi" }] } };
    const answered: unknown = JSON.parse(server.encodeResult({ kind: "replied", message: reply }));
    expect(answered).toEqual({ id: "m", sessionId: "c", status: wire });
    expect(openingFrames({ kind: "message", message: reply })).toEqual([{ id: "m", status: wire, final: true }]);
  },
  taskInStream: () => {
    const frames = openingFrames({ kind: "task", task: stored(task) });
    expect(frames).toMatchObject([
      { id: "t", status: { state: "working" } },
      { id: "t", artifact: { index: 0 } },
    ]);
    for (const frame of frames) expect(frame).not.toHaveProperty("history");
  },
  eventContext: () => {
    const text = server.encodeEvent(storedEvent({ kind: "status", status: { state: "working", timestamp } }), place);
    expect(client.decodeEvent(JSON.parse(text))).toMatchObject({ taskId: "t", contextId: "" });
  },
  tenant: () => {
    expect(sent(send).tenant).toBe("");
  },
  historyChoice: () => {
    expect(sent(send).history).toBe(0);
    expect(asked({ operation: "get", tenant: "", id: task.id, history: undefined })).toMatchObject({ history: 0 });
  },
  waiting: () => {
    expect(sent(send).waitMs).toBe(0);
  },
  pushId: () => {
    const config = { id: "p", url: "https://x" };
    const create = { operation: "push-create", tenant: "", taskId: task.id, config } as const;
    expect(asked(create)).toMatchObject({ config: { url: "https://x" } });
    expect(asked(create)).not.toHaveProperty("config.id");
    expect(asked({ operation: "push-get", tenant: "", taskId: task.id, id: "p" })).not.toHaveProperty("id");
  },
  cardInterfaces: () => {
    expect(decodeCard(cardObject(card)).interfaces).toEqual([card.interfaces[1]]);
  },
  cardSecurity: () => {
    const { securitySchemes, security } = decodeCard(cardObject(card));
    expect(securitySchemes).toEqual({
      ApiKey: { type: "apiKey", in: "header", name: "k" },
      OAuth2: { type: "oauth2", flows: {} },
    });
    expect(security).toEqual([{ ApiKey: [] }, { OAuth2: [] }]);
  },
  cardDetails: () => {
    const { iconUrl, capabilities, skills } = decodeCard(cardObject(card));
    expect([iconUrl, capabilities, skills[0]?.security]).toEqual([undefined, {}, undefined]);
  },
  laterErrors: () => {
    const numbers = {
      "extended-card-not-configured": -32004,
      "extension-support-required": -32602,
      "version-not-supported": -32600,
      "invalid-agent-response": -32603,
    } as const;
    for (const code of [
      "extended-card-not-configured",
      "extension-support-required",
      "version-not-supported",
      "invalid-agent-response",
    ] as const) {
      const wire: unknown = JSON.parse(server.encodeError(new A2AError(code, "No")));
      expect(wire).toMatchObject({ code: numbers[code] });
      expect(client.decodeError(wire, 200).code).toBe(code);
    }
  },
};

describe("Lost in 0.1", () => {
  it.each(LOSS_NAMES.map((name) => [LOSSES[name].what, LOSSES[name].becomes, CASES[name]] as const))(
    "%s: becomes %s",
    (_what, _becomes, check) => {
      check();
    },
  );
});
