import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRestClientCodec as createJsonClientCodec } from "../v0_3/client-codec.ts";
import { createRestClientCodec } from "./client-codec.ts";
import { styleOf } from "./style.ts";
import { json, request, SAMPLES } from "./test/models.ts";

describe("the style of a body", () => {
  test.each([
    ["content", { message: { content: [{ text: "hi" }] } }],
    ["content that is no list", { message: { content: "hi" } }],
    ["content beside a lower-case role", { message: { role: "user", content: [] } }],
    ["a role by its name in the definition", { message: { role: "ROLE_USER" } }],
    ["an unknown role in the format of the definition", { message: { role: "ROLE_WIZARD" } }],
    ["a role by number", { message: { role: 1 } }],
    ["a snake_case name", { message: { message_id: "m" } }],
    ["the message under its name in the definition", { request: { role: "ROLE_USER" } }],
    ["the push configuration of the definition", { message: {}, configuration: { pushNotification: { url: "u" } } }],
    ["a snake_case setting", { message: {}, configuration: { history_length: 3 } }],
    ["the resource name of a task", { name: "tasks/t" }],
    ["the parent of a configuration", { parent: "tasks/t", configId: "c", config: {} }],
    ["the resource name in a configuration", { config: { name: "tasks/t/pushNotificationConfigs/c" } }],
    ["a snake_case member of a configuration", { config: { push_notification_config: { url: "u" } } }],
  ])("is proto: %s", (_name, body) => {
    expect(styleOf(body)).toBe("proto");
  });

  test.each([
    ["kind", { message: { kind: "message" } }],
    ["parts with a kind", { message: { parts: [{ kind: "text", text: "hi" }] } }],
    ["parts with a type", { message: { parts: [null, { type: "text", text: "hi" }] } }],
    ["parts with kind and a role of the definition", { message: { role: "ROLE_USER", parts: [{ kind: "text" }] } }],
    ["a lower-case role", { message: { role: "user" } }],
    ["parts", { message: { messageId: "m", parts: [{ text: "hi" }] } }],
    ["the push configuration of JSON", { message: {}, configuration: { pushNotificationConfig: { url: "u" } } }],
    ["the id of a task", { id: "t" }],
    ["the id of a task beside a configuration", { taskId: "t", pushNotificationConfig: { url: "u" } }],
    ["the same, wrapped", { config: { taskId: "t", pushNotificationConfig: { url: "u" } } }],
    ["a bare configuration, wrapped", { config: { url: "u" } }],
  ])("is json: %s", (_name, body) => {
    expect(styleOf(body)).toBe("json");
  });

  test.each([
    [undefined],
    [null],
    [[]],
    ["message"],
    [{}],
    [{ message: {} }],
    [{ message: "hi" }],
    [{ message: null }],
    [{ message: { messageId: "m", role: null } }],
    [{ message: { messageId: "m" }, configuration: { blocking: true } }],
    [{ metadata: { kind: "message", content: [] } }],
    [{ url: "https://hook.test" }],
    [{ pushNotificationConfig: { url: "u" } }],
    [{ config: { config: { config: {} } } }],
  ])("is unknown for %j", (body) => {
    expect(styleOf(body)).toBeUndefined();
  });

  test("is recognised for every complete request", () => {
    const proto = createRestClientCodec();
    const jsonStyle = createJsonClientCodec();
    fc.assert(
      fc.property(request, (asked) => {
        const inProto = proto.encodeRequest(asked).body;
        const inJson = jsonStyle.encodeRequest(asked).body;
        expect(inProto === undefined ? undefined : styleOf(JSON.parse(inProto))).toBe(inProto && "proto");
        // Both styles write the name of the task to cancel, which the path already has.
        if (inJson !== undefined && asked.operation !== "cancel") expect(styleOf(JSON.parse(inJson))).toBe("json");
      }),
      SAMPLES,
    );
  });

  test("is recognised or unknown for any JSON, without an error", () => {
    fc.assert(
      fc.property(fc.oneof(json, fc.record({ message: json, configuration: json, config: json })), (body) => {
        expect([undefined, "proto", "json"]).toContain(styleOf(body));
      }),
      SAMPLES,
    );
  });
});
