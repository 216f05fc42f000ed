import { describe, expect, it } from "vitest";
import { type AgentDefinition, agent } from "../engine/agent/agent.ts";
import type { MessageId, TaskId } from "../protocol/ids.ts";
import type { OperationPolicy, OperationRequest, SendRequest } from "../protocol/operation.ts";
import { ANONYMOUS } from "../protocol/principal.ts";
import type { Call } from "./call.ts";
import { perform } from "./perform.ts";
import { createService, type Service } from "./service.ts";
import type { StreamBatch, TaskStream } from "./task-stream.ts";
import { ScriptedEngine } from "./test/scripted-engine.ts";

const POLICY: OperationPolicy = {
  closeOnInputRequired: true,
  terminalSubscribe: "error",
  repeatCancel: "snapshot",
  undeclaredExtendedCard: "unsupported-operation",
  namesTasks: false,
  tasksOnly: false,
  answersByReference: false,
  push: { single: false, missing: "error", afterFailure: "suspended" },
};

function open(definition: Partial<AgentDefinition> = {}): { engine: ScriptedEngine; service: Service } {
  const engine = new ScriptedEngine();
  const subject = agent({ name: "Echo", description: "e", version: "1", run: async () => {}, ...definition });
  const interfaces = [{ url: "http://x/", binding: "JSONRPC", protocolVersion: "9.9" }];
  return { engine, service: createService({ agent: subject, engine, interfaces }) };
}

function callWith(members: Partial<Call> = {}, policy: Partial<OperationPolicy> = {}): Call {
  return {
    principal: ANONYMOUS,
    dialect: "test",
    policy: { ...POLICY, ...policy },
    requestedExtensions: [],
    activeExtensions: [],
    trace: undefined,
    lastEventId: undefined,
    signal: new AbortController().signal,
    ...members,
  };
}

function sending(text: string, operation: SendRequest["operation"] = "send"): SendRequest {
  const message = { messageId: "m" as MessageId, role: "user" as const, parts: [{ text }] };
  return { operation, tenant: "", message, metadata: {}, outputModes: [], history: undefined, waitMs: 0 };
}

async function stream(service: Service, call: Call, request: OperationRequest): Promise<TaskStream> {
  const result = await perform(service, call, request);
  if (result.kind !== "stream") throw new Error(result.kind);
  return result;
}

describe("A dialect's policy", () => {
  it("decides how a subscription to a finished task is answered", async () => {
    const { engine, service } = open();
    await perform(service, callWith(), sending("done"));
    const request = { operation: "subscribe", tenant: "", id: engine.latest } as const;
    await expect(perform(service, callWith(), request)).rejects.toMatchObject({ code: "unsupported-operation" });
    const snapshot = await stream(service, callWith({}, { terminalSubscribe: "snapshot" }), request);
    expect(snapshot.opening).toMatchObject({ kind: "task", task: { state: "completed" } });
    expect(snapshot.events).toBeUndefined();
    expect(engine.subscriptions).toBe(0);
  });

  it("decides how a repeated cancel is answered", async () => {
    const { engine, service } = open();
    await perform(service, callWith(), sending("hang"));
    const request = { operation: "cancel", tenant: "", id: engine.latest, metadata: {} } as const;
    await perform(service, callWith(), request);
    expect(await perform(service, callWith(), request)).toMatchObject({ kind: "task", task: { state: "canceled" } });
    const strict = callWith({}, { repeatCancel: "error" });
    await expect(perform(service, strict, request)).rejects.toMatchObject({ code: "task-not-cancelable" });
  });

  it("decides if a question ends the stream of a send", async () => {
    const { engine, service } = open();
    const closing = await stream(service, callWith(), sending("ask", "stream"));
    expect(await nextBatch(closing)).toMatchObject({ last: true });
    const staying = await stream(service, callWith({}, { closeOnInputRequired: false }), sending("ask", "stream"));
    expect(await nextBatch(staying)).toMatchObject({ last: false });
    engine.status(engine.latest, "working");
    engine.status(engine.latest, "completed");
    expect(await nextBatch(staying)).toMatchObject({ last: true });
  });
});

function nextBatch({ events }: TaskStream): Promise<StreamBatch | undefined> {
  return new Promise((arrived, failed) => events?.take({ arrived, failed }));
}

describe("The extended card", () => {
  const request = { operation: "extended-card", tenant: "" } as const;
  const ada = callWith({ principal: { id: "ada", anonymous: false } });

  it("gets the dialect's error if the agent has none", async () => {
    const { service } = open();
    for (const undeclaredExtendedCard of ["unsupported-operation", "extended-card-not-configured"] as const) {
      const call = callWith({ principal: ada.principal }, { undeclaredExtendedCard });
      await expect(perform(service, call, request)).rejects.toMatchObject({ code: undeclaredExtendedCard });
    }
  });

  it("overrides the public card for authenticated callers", async () => {
    const extendedCard = { description: "For friends.", documentationUrl: "https://x.example/" };
    const { service } = open({ extendedCard });
    await expect(perform(service, callWith(), request)).rejects.toMatchObject({ code: "unauthenticated" });
    expect(await perform(service, ada, request)).toEqual({
      kind: "card",
      card: { ...service.card, ...extendedCard, skills: [expect.objectContaining({ description: "For friends." })] },
    });
  });

  it("may differ by caller, and some callers may have none", async () => {
    const { service } = open({
      extendedCard: async ({ id }) => (id === "ada" ? { name: `Echo for ${id}` } : undefined),
    });
    expect(service.card.capabilities.extendedAgentCard).toBe(true);
    expect(await perform(service, ada, request)).toMatchObject({ card: { name: "Echo for ada" } });
    const bob = callWith({ principal: { id: "bob", anonymous: false } });
    await expect(perform(service, bob, request)).rejects.toMatchObject({ code: "extended-card-not-configured" });
  });

  it.each([
    ["requires an unknown scheme", { security: [{ key: [] }] }, /extendedCard[\s\S]*"key"/],
    ["has no name", { name: "" }, /`name` must be a non-empty string/],
    ["is not an object", "card", /must be an object/],
  ])("that %s is an internal error, whose cause is only in the log", async (_, given, cause) => {
    const { service } = open({ extendedCard: () => given as object });
    const error: unknown = await perform(service, ada, request).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "internal", message: expect.not.stringMatching(cause) });
    expect(String((error as Error).cause)).toMatch(cause);
  });
});

describe("Extensions", () => {
  it("reach the engine if they are requested and declared", async () => {
    const { engine, service } = open({ extensions: [{ uri: "urn:a" }, { uri: "urn:b" }] });
    const submitted: (readonly string[])[] = [];
    const submit = engine.submit.bind(engine);
    engine.submit = (submission) => {
      submitted.push(submission.call.activeExtensions);
      return submit(submission);
    };
    const call = callWith({ requestedExtensions: ["urn:b", "urn:c"] });
    await perform(service, call, sending("done"));
    await perform(service, call, sending("done", "stream"));
    await perform(service, callWith(), sending("done"));
    expect(submitted).toEqual([["urn:b"], ["urn:b"], []]);
  });
});

describe("A stream", () => {
  it("is marked as resync and keeps the task's own metadata if events were lost", async () => {
    const { engine, service } = open();
    await perform(service, callWith(), sending("hang"));
    const subscribe = engine.subscribe.bind(engine);
    for (const [metadata, expected] of [
      [undefined, '{"palaver.resync":true}'],
      ["{}", '{"palaver.resync":true}'],
      ['{"a":1}', '{"palaver.resync":true,"a":1}'],
    ] as const) {
      engine.subscribe = async (scope, id, options) => {
        const found = await subscribe(scope, id, options);
        if (found === undefined) return undefined;
        return { ...found, resync: true, opening: { ...found.opening, ...(metadata !== undefined && { metadata }) } };
      };
      const request = { operation: "subscribe", tenant: "", id: engine.latest } as const;
      const { opening, events } = await stream(service, callWith({ lastEventId: "0" }), request);
      expect(opening).toMatchObject({ task: { metadata: expected } });
      events?.close();
    }
  });

  it("of an unknown task is refused, and leaves no subscription open", async () => {
    const { engine, service } = open();
    const request = { operation: "subscribe", tenant: "", id: "x" as TaskId } as const;
    await expect(perform(service, callWith(), request)).rejects.toMatchObject({ code: "task-not-found" });
    expect(engine.subscriptions).toBe(0);
  });
});
