import { describe, expect, it } from "vitest";
import type { AgentCard } from "../../../src/protocol/card.ts";
import { A2AError, ERROR_CODES } from "../../../src/protocol/error.ts";
import type { ContextId, MessageId, TaskId } from "../../../src/protocol/ids.ts";
import type { OperationRequest, SendRequest } from "../../../src/protocol/operation.ts";
import { dialectSettings } from "../../../src/wire/options.ts";
import { BARE_CARD } from "../../../src/wire/test/cards.ts";
import { cardObject } from "../../../src/wire/v0_3/card.ts";
import { createRestClientCodec, createRpcClientCodec } from "../../../src/wire/v0_3/client-codec.ts";
import { createRpcCodec } from "../../../src/wire/v0_3/codec.ts";
import { decodePart, partObject } from "../../../src/wire/v0_3/part.ts";
import { LOSS_NAMES, LOSSES, type LossName } from "./v0-3.ts";

const codec = createRpcCodec(dialectSettings({}));
const rpc = createRpcClientCodec();
const rest = createRestClientCodec();

const send: SendRequest = {
  operation: "send",
  tenant: "acme",
  message: { messageId: "m" as MessageId, role: "user", parts: [{ text: "x" }] },
  metadata: {},
  outputModes: [],
  history: undefined,
  waitMs: 500,
};
const list: OperationRequest = {
  operation: "list",
  tenant: "",
  contextId: "c" as ContextId,
  state: "working",
  pageSize: 10,
  before: { at: 1, id: "t" },
  artifacts: false,
  history: undefined,
};
const card: AgentCard = {
  ...BARE_CARD,
  interfaces: [
    { url: "https://a/", binding: "JSONRPC", protocolVersion: "1.0" },
    { url: "https://a/a2a", binding: "JSONRPC", protocolVersion: "0.3" },
  ],
  securitySchemes: {
    device: { type: "oauth2", flows: { deviceCode: { deviceAuthorizationUrl: "d", tokenUrl: "t", scopes: {} } } },
    code: {
      type: "oauth2",
      flows: { authorizationCode: { authorizationUrl: "a", tokenUrl: "t", scopes: {}, pkceRequired: true } },
    },
  },
};

/** The losses of 0.3, each with a check. */
const SHOWN: Readonly<Record<LossName, () => void>> = {
  partDetails: () => {
    const wire = partObject({ text: "x", mediaType: "text/markdown", filename: "a.md" });
    expect(wire).toEqual({ kind: "text", text: "x", metadata: { mediaType: "text/markdown", filename: "a.md" } });
    expect(decodePart(wire, "p")).toEqual({ text: "x", mediaType: "text/markdown", filename: "a.md" });
  },
  otherData: () => {
    const wire = partObject({ data: [1] });
    expect(wire).toEqual({ kind: "data", data: { value: [1] }, metadata: { data_part_compat: true } });
    expect(decodePart(wire, "p")).toEqual({ data: [1] });
  },
  tenant: () => {
    const { params } = rpc.encodeRequest(send);
    expect(params).not.toContain("acme");
    expect(codec.decodeRequest("send", JSON.parse(params))).toMatchObject({ tenant: "" });
  },
  listing: () => {
    expect(rest.encodeRequest(list)).toEqual({ method: "GET", path: "/v1/tasks" });
    expect(codec.decodeRequest("list", {})).toMatchObject({ pageSize: 100 });
    expect(() => rpc.encodeRequest(list)).toThrow("has no operation");
  },
  waitingTime: () => {
    const { configuration } = JSON.parse(rpc.encodeRequest(send).params);
    expect(configuration).toEqual({ blocking: true });
  },
  pushEvents: () => {
    const config = { id: "p", url: "https://x", events: ["status"] } as const;
    const create = { operation: "push-create", tenant: "", taskId: "t" as TaskId, config } as const;
    expect(codec.decodeRequest("push-create", JSON.parse(rpc.encodeRequest(create).params))).toEqual(create);
    expect(codec.encodeResult({ kind: "push", taskId: "t" as TaskId, config })).not.toContain("events");
  },
  otherInterfaces: () => {
    expect(JSON.stringify(cardObject(card))).not.toContain('"https://a/"');
  },
  devices: () => {
    expect(cardObject(card).securitySchemes).toEqual({
      device: { type: "oauth2", flows: {} },
      code: { type: "oauth2", flows: { authorizationCode: { authorizationUrl: "a", tokenUrl: "t", scopes: {} } } },
    });
  },
  laterErrors: () => {
    const encoded = ERROR_CODES.map((code) => JSON.parse(codec.encodeError(new A2AError(code, "No"))));
    expect(encoded.map(({ code }) => code)).not.toContain(-32008);
    expect(encoded.map(({ code }) => code)).not.toContain(-32009);
    expect(encoded.map(({ data }) => data.reason)).toContain("EXTENSION_SUPPORT_REQUIRED");
    expect(encoded.map(({ data }) => data.reason)).toContain("VERSION_NOT_SUPPORTED");
  },
};

describe("Information lost in 0.3", () => {
  it.each(LOSS_NAMES)("is documented and true: %s", (name) => {
    const { what, becomes } = LOSSES[name];
    expect(what).not.toBe("");
    expect(becomes).not.toBe("");
    SHOWN[name]();
  });
});
