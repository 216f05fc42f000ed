import { describe, expect, it } from "vitest";
import type { AgentCard } from "../../../src/protocol/card.ts";
import type { MessageId, TaskId } from "../../../src/protocol/ids.ts";
import { dialectSettings } from "../../../src/wire/options.ts";
import { BARE_CARD } from "../../../src/wire/test/cards.ts";
import { encodeCard } from "../../../src/wire/v0_3_proto/card.ts";
import { createRestClientCodec } from "../../../src/wire/v0_3_proto/client-codec.ts";
import { createRestCodec } from "../../../src/wire/v0_3_proto/codec.ts";
import { messageObject } from "../../../src/wire/v0_3_proto/message.ts";
import { LOSS_NAMES as VERSION_NAMES } from "./v0-3.ts";
import { LOSS_NAMES, LOSSES } from "./v0-3-proto.ts";

const codec = createRestCodec(dialectSettings({}));
const client = createRestClientCodec();
const scopes = {};
const card: AgentCard = {
  ...BARE_CARD,
  capabilities: { stateTransitionHistory: true },
  securitySchemes: {
    login: {
      type: "oauth2",
      flows: {
        authorizationCode: { authorizationUrl: "a", tokenUrl: "t", scopes },
        password: { tokenUrl: "t", scopes },
      },
    },
  },
};

/** Losses of the proto style besides those of the JSON style, each with a check. */
const SHOWN: Readonly<Record<string, () => void>> = {
  references: () => {
    const messageId = "m" as MessageId;
    const written = messageObject({ messageId, role: "user", parts: [], referenceTaskIds: ["r" as TaskId] });
    expect(written).toEqual({ messageId: "m", role: "ROLE_USER", content: [] });
  },
  noHistory: () => {
    const get = { operation: "get", tenant: "", id: "t" as TaskId, history: 0 } as const;
    expect(client.encodeRequest(get).path).toBe("/v1/tasks/t?historyLength=1");
    const request = { path: { id: "t" }, query: new URLSearchParams("historyLength=0"), body: undefined };
    expect(codec.decodeRequest("get", request)).toMatchObject({ history: undefined });
  },
  requestMetadata: () => {
    const cancel = { operation: "cancel", tenant: "", id: "t" as TaskId, metadata: { a: 1 } } as const;
    expect(client.encodeRequest(cancel).body).toBe('{"name":"tasks/t"}');
  },
  pushHeaders: () => {
    const taskId = "t" as TaskId;
    const config = { id: "p", url: "https://x", headers: { "X-Key": "k" } };
    expect(codec.encodeResult({ kind: "push", taskId, config })).not.toContain("X-Key");
    const { body } = client.encodeRequest({ operation: "push-create", tenant: "", taskId, config });
    expect(body).not.toContain("X-Key");
    const request = { path: { id: "t" }, query: new URLSearchParams(), body: { config } };
    expect(codec.decodeRequest("push-create", request)).toMatchObject({ config });
  },
  severalFlows: () => {
    const { securitySchemes } = JSON.parse(encodeCard(card));
    expect(Object.keys(securitySchemes.login.oauth2SecurityScheme.flows)).toEqual(["authorizationCode"]);
  },
  transitionHistory: () => {
    expect(JSON.parse(encodeCard(card)).capabilities).toEqual({});
  },
};

describe("Information lost in the proto style of 0.3", () => {
  it("includes everything lost in the JSON style", () => {
    expect([...VERSION_NAMES, ...Object.keys(SHOWN)]).toEqual(LOSS_NAMES);
  });

  it.each(Object.entries(SHOWN))("is documented and true: %s", (name, shows) => {
    expect(Object.keys(LOSSES)).toContain(name);
    shows();
  });
});
