import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampled } from "../../../test/fixtures/budget.ts";
import { OPERATIONS, type Operation } from "../../protocol/operation.ts";
import { dialectSettings } from "../options.ts";
import { fieldRefused, frozen } from "../test/hostile.ts";
import { encodeRestRequest } from "./client-request.ts";
import { createRestCodec } from "./codec.ts";
import { anything, mutated } from "./test/hostile.ts";
import { request, SAMPLES } from "./test/models.ts";

const codec = createRestCodec(dialectSettings({ blockingDefault: { "0.3/rest-json": 700 } }));
const message = { messageId: "m", role: "user", parts: [{ text: "x" }] };
const push = { url: "https://x/hook" };

interface Sent {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
}

function decode(operation: Operation, { path = {}, query = "", body }: Sent) {
  return codec.decodeRequest(operation, { path, query: new URLSearchParams(query), body });
}

describe("A request of REST 0.3 in JSON style", () => {
  it("has the body of JSON-RPC, and waits according to blockingDefault of its style", () => {
    expect(decode("send", { body: { message } })).toMatchObject({ operation: "send", waitMs: 700, history: undefined });
    const body = { message, configuration: { blocking: false, historyLength: 0 }, metadata: { a: 1 } };
    expect(decode("stream", { body })).toMatchObject({
      operation: "stream",
      waitMs: 0,
      history: 0,
      metadata: { a: 1 },
      message: { messageId: "m", role: "user", parts: [{ text: "x" }] },
    });
  });

  it.each<[Operation, Sent, object]>([
    ["get", { path: { id: "t" } }, { id: "t", history: undefined }],
    ["get", { path: { id: "t" }, query: "historyLength=3" }, { id: "t", history: 3 }],
    ["get", { path: { id: "t" }, query: "history_length=3" }, { id: "t", history: 3 }],
    ["get", { path: { id: "t" }, query: "historyLength=0" }, { id: "t", history: 0 }],
    ["get", { path: { id: "t" }, query: "historyLength=&x=1" }, { id: "t", history: undefined }],
    ["list", { query: "historyLength=1" }, { pageSize: 100, artifacts: true, history: 1 }],
    ["cancel", { path: { id: "t" } }, { id: "t", metadata: {} }],
    ["cancel", { path: { id: "t" }, body: null }, { id: "t", metadata: {} }],
    ["cancel", { path: { id: "t" }, body: {} }, { id: "t", metadata: {} }],
    ["cancel", { path: { id: "t" }, body: { name: "tasks/t" } }, { id: "t", metadata: {} }],
    ["cancel", { path: { id: "t" }, body: { metadata: { a: 1 } } }, { id: "t", metadata: { a: 1 } }],
    ["subscribe", { path: { id: "t" } }, { id: "t" }],
    ["subscribe", { path: { id: "t" }, body: {} }, { id: "t" }],
    ["push-list", { path: { id: "t" } }, { taskId: "t" }],
    ["push-get", { path: { id: "t", configId: "p" } }, { taskId: "t", id: "p" }],
    ["push-delete", { path: { id: "t", configId: "p" } }, { taskId: "t", id: "p" }],
    ["extended-card", {}, {}],
  ])("to %s is decoded from %j", (operation, sent, expected) => {
    expect(decode(operation, sent)).toEqual({ operation, tenant: "", ...expected });
  });

  it.each<[string, object, object]>([
    ["as the text has it", { config: push }, push],
    ["as the text has it, with its task", { config: { taskId: "t", pushNotificationConfig: push } }, push],
    ["in the format of the definition", { pushNotificationConfig: push }, push],
    [
      "as the definition has it, under a name",
      { name: "tasks/t/pushNotificationConfigs/p", pushNotificationConfig: push },
      { ...push, id: "p" },
    ],
    [
      "under a name with slashes",
      { name: "tasks/a/b/pushNotificationConfigs/p/q", pushNotificationConfig: push },
      { ...push, id: "p/q" },
    ],
    ["with headers", { config: { ...push, headers: { "X-Key": "k" } } }, { ...push, headers: { "X-Key": "k" } }],
    ["in snake case", { push_notification_config: push }, push],
    [
      "as a request of the definition",
      { parent: "tasks/t", configId: "p", config: { pushNotificationConfig: push } },
      { ...push, id: "p" },
    ],
    [
      "as such a request in snake case",
      { config_id: "p", config: { push_notification_config: push } },
      { ...push, id: "p" },
    ],
    ["bare", { ...push, token: "s" }, { ...push, token: "s" }],
    [
      "with an id of its own, which counts",
      {
        configId: "p",
        config: { name: "tasks/t/pushNotificationConfigs/q", pushNotificationConfig: { ...push, id: "own" } },
      },
      { ...push, id: "own" },
    ],
  ])("creates a webhook %s", (_how, body, config) => {
    expect(decode("push-create", { path: { id: "t" }, body })).toEqual({
      operation: "push-create",
      tenant: "",
      taskId: "t",
      config,
    });
  });

  it.each<[Operation, Sent, string]>([
    ["send", {}, "message"],
    ["send", { body: null }, "message"],
    ["send", { body: [] }, "body"],
    ["send", { body: { message: { ...message, parts: [{ kind: "x", text: "" }] } } }, "message.parts[0].kind"],
    ["send", { body: { message, configuration: { historyLength: "1" } } }, "configuration.historyLength"],
    ["get", { path: { id: "t" }, query: "historyLength=-1" }, "historyLength"],
    ["get", { path: { id: "t" }, query: "historyLength=abc" }, "historyLength"],
    ["get", { path: { id: "t" }, query: "history_length=1.5" }, "historyLength"],
    ["get", { path: { id: "x".repeat(257) } }, "id"],
    ["get", { path: { id: "" } }, "id"],
    ["cancel", { path: { id: "t" }, body: "x" }, "body"],
    ["cancel", { path: { id: "t" }, body: { metadata: [] } }, "metadata"],
    ["subscribe", { path: { id: "t" }, body: [1] }, "body"],
    ["push-create", { path: { id: "t" } }, "url"],
    ["push-create", { path: { id: "t" }, body: { config: {} } }, "config.url"],
    ["push-create", { path: { id: "t" }, body: { config: "x" } }, "config"],
    [
      "push-create",
      { path: { id: "t" }, body: { config: { pushNotificationConfig: {} } } },
      "config.pushNotificationConfig.url",
    ],
    ["push-create", { path: { id: "t" }, body: { pushNotificationConfig: 1 } }, "pushNotificationConfig"],
    ["push-create", { path: { id: "t" }, body: { ...push, configId: 1 } }, "configId"],
    ["push-create", { path: { id: "t" }, body: { ...push, name: 1 } }, "name"],
    ["push-get", { path: { id: "t", configId: "x".repeat(257) } }, "pushNotificationConfigId"],
  ])("to %s is refused for %j", (operation, sent, field) => {
    expect(fieldRefused(() => decode(operation, sent))).toBe(field);
  });

  it("is decoded, or refused with a field name, whatever it contains, and is not modified", () => {
    const path = fc.record({ id: fc.string(), configId: fc.string() }, { requiredKeys: [] });
    const query = fc.oneof(fc.webQueryParameters(), fc.string()).map((text) => `historyLength=${text}`);
    const body = fc.oneof(anything, fc.constant(undefined));
    const anyway = fc.tuple(fc.constantFrom(...OPERATIONS), fc.record({ path, query, body }));
    const almost = request.chain((source) =>
      fc.tuple(
        fc.constant(source.operation),
        fc.record({
          path: fc.constant({ id: "t", configId: "p" }),
          body: mutated(fc.constant<unknown>(JSON.parse(encodeRestRequest(source).body ?? "{}"))),
        }),
      ),
    );
    fc.assert(
      fc.property(fc.oneof(anyway, almost), ([operation, sent]) => {
        const input = frozen(sent);
        fieldRefused(() => decode(operation, input));
      }),
      { ...SAMPLES, numRuns: sampled(250, 2000) },
    );
  });
});
