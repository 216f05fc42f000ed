import { describe, expect, it } from "vitest";
import { A2AError, invalidField } from "../../protocol/error.ts";
import type { Codec } from "../codec.ts";
import { dialectSettings } from "../options.ts";
import { createRpcCodec as createRpc0_1 } from "../v0_1/codec.ts";
import { createRpcCodec as createRpc0_2 } from "../v0_2/codec.ts";
import { createRestCodec as createJson0_3, createRpcCodec as createRpc0_3 } from "../v0_3/codec.ts";
import { createRestCodec as createProto0_3 } from "../v0_3_proto/codec.ts";
import { createRestCodec as createRest1_0, createRpcCodec as createRpc1_0 } from "../v1_0/codec.ts";

const settings = dialectSettings({});
const IN_SEND = "configuration.pushNotificationConfig.url";
const IN_CREATE = "pushNotificationConfig.url";

interface Row {
  readonly codec: Codec;
  readonly inSend: string;
  readonly inCreate: string;
}

const NEWER = { inSend: "configuration.taskPushNotificationConfig.url", inCreate: "url" };
const NEUTRAL = { inSend: IN_SEND, inCreate: IN_CREATE };
const ROWS: readonly Row[] = [
  { codec: createRpc1_0(), ...NEWER },
  { codec: createRest1_0(settings), ...NEWER },
  { codec: createRpc0_3(settings), ...NEUTRAL },
  { codec: createJson0_3(settings), ...NEUTRAL },
  { codec: createProto0_3(settings), inSend: "configuration.pushNotification.url", inCreate: IN_CREATE },
  { codec: createRpc0_2(settings), ...NEUTRAL },
  { codec: createRpc0_1(settings), inSend: "pushNotification.url", inCreate: IN_CREATE },
];

describe("An error about a webhook from the server core", () => {
  it.each(ROWS)("has the field names of $codec.dialect", ({ codec, inSend, inCreate }) => {
    for (const [neutral, own] of [
      [IN_SEND, inSend],
      [IN_CREATE, inCreate],
    ] as const) {
      const text = codec.encodeError(invalidField(neutral, "must not be called"));
      expect(text).toContain(`"message":"${own}: must not be called"`);
      expect(text).toContain(`{"field":"${own}","description":"must not be called"}`);
      if (own !== neutral) expect(text).not.toContain(`"${neutral}"`);
    }
  });

  it("keeps all other members of the error", () => {
    const error = new A2AError("rate-limited", "pushNotificationConfig. is a word here", { metadata: { limit: "1" } });
    expect(JSON.parse(createRpc1_0().encodeError(error))).toMatchObject({
      message: "pushNotificationConfig. is a word here",
      data: [{ reason: "RATE_LIMITED", metadata: { limit: "1" } }],
    });
  });
});
