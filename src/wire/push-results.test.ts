import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TaskId } from "../protocol/ids.ts";
import type { KeptPushConfig, OperationResult, PushPolicy } from "../protocol/operation.ts";
import type { ClientCodec, RemotePushConfig } from "./client/client-codec.ts";
import type { Codec } from "./codec.ts";
import { dialectSettings } from "./options.ts";
import { createRestCodec as createPlainCodec } from "./plain/codec.ts";
import { createRpcClientCodec as createRpcClient0_1 } from "./v0_1/client-codec.ts";
import { createRpcCodec as createRpc0_1 } from "./v0_1/codec.ts";
import { createRpcClientCodec as createRpcClient0_2 } from "./v0_2/client-codec.ts";
import { createRpcCodec as createRpc0_2 } from "./v0_2/codec.ts";
import {
  createRestClientCodec as createJsonClient0_3,
  createRpcClientCodec as createRpcClient0_3,
} from "./v0_3/client-codec.ts";
import { createRestCodec as createJson0_3, createRpcCodec as createRpc0_3 } from "./v0_3/codec.ts";
import { createRestClientCodec as createProtoClient0_3 } from "./v0_3_proto/client-codec.ts";
import { createRestCodec as createProto0_3 } from "./v0_3_proto/codec.ts";
import {
  createRestClientCodec as createRestClient1_0,
  createRpcClientCodec as createRpcClient1_0,
} from "./v1_0/client-codec.ts";
import { createRestCodec as createRest1_0, createRpcCodec as createRpc1_0 } from "./v1_0/codec.ts";
import { pushConfig, SAMPLES, taskId } from "./v1_0/test/models.ts";

const settings = dialectSettings({});
const T = "t" as TaskId;

/** A webhook with all members. */
const FULL: KeptPushConfig = {
  id: "p",
  url: "https://x/hook",
  token: "***",
  authentication: { schemes: ["Bearer", "Basic"], credentials: "***" },
  headers: { "X-Key": "***" },
  events: ["status"],
};
const BARE: KeptPushConfig = { id: "q", url: "https://y/" };

/** The webhook in the proto definition, and in the text of 0.x. */
const DEFINED = { id: "p", url: FULL.url, token: "***", authentication: FULL.authentication };
const WITH_HEADERS = { ...DEFINED, headers: FULL.headers };
const FLAT = {
  id: "p",
  taskId: "t",
  url: FULL.url,
  token: "***",
  authentication: { scheme: "Bearer", credentials: "***" },
};
const name = (id: string) => `tasks/t/pushNotificationConfigs/${id}`;
const OLDER_POLICY: PushPolicy = {
  single: false,
  missing: "error",
  unnamedId: "default",
  afterFailure: "suspended",
};
const NEWER_POLICY: PushPolicy = { single: false, missing: "error", afterFailure: "suspended" };

interface Row {
  readonly dialect: string;
  readonly server: Codec;
  readonly client: ClientCodec;
  readonly policy: PushPolicy;
  /** The encoded full webhook. */
  readonly one: unknown;
  /** The encoded minimal webhook. */
  readonly other: unknown;
  /** Wraps a list. */
  list(items: readonly unknown[]): unknown;
  readonly deleted: unknown;
  /** The full webhook as the client of that dialect decodes it. */
  readonly understood: Omit<RemotePushConfig, "taskId">;
}

const { events: _events, ...withoutEvents } = FULL;
const { headers: _headers, ...withoutHeaders } = withoutEvents;
const page = (configs: readonly unknown[]) => ({ configs, nextPageToken: "" });
const bareList = (items: readonly unknown[]) => items;

const ROWS: readonly Row[] = [
  {
    dialect: "1.0/jsonrpc",
    server: createRpc1_0(),
    client: createRpcClient1_0(),
    policy: NEWER_POLICY,
    one: FLAT,
    other: { ...BARE, taskId: "t" },
    list: page,
    deleted: null,
    understood: { ...withoutHeaders, authentication: { schemes: ["Bearer"], credentials: "***" } },
  },
  {
    dialect: "1.0/rest",
    server: createRest1_0(settings),
    client: createRestClient1_0(),
    policy: NEWER_POLICY,
    one: FLAT,
    other: { ...BARE, taskId: "t" },
    list: page,
    deleted: {},
    understood: { ...withoutHeaders, authentication: { schemes: ["Bearer"], credentials: "***" } },
  },
  {
    dialect: "0.3/jsonrpc",
    server: createRpc0_3(settings),
    client: createRpcClient0_3(),
    policy: OLDER_POLICY,
    one: { taskId: "t", pushNotificationConfig: WITH_HEADERS },
    other: { taskId: "t", pushNotificationConfig: BARE },
    list: bareList,
    deleted: null,
    understood: withoutEvents,
  },
  {
    dialect: "0.3/rest-json",
    server: createJson0_3(settings),
    client: createJsonClient0_3(),
    policy: OLDER_POLICY,
    one: { name: name("p"), taskId: "t", pushNotificationConfig: WITH_HEADERS },
    other: { name: name("q"), taskId: "t", pushNotificationConfig: BARE },
    list: page,
    deleted: {},
    understood: withoutEvents,
  },
  {
    dialect: "0.3/rest-proto",
    server: createProto0_3(settings),
    client: createProtoClient0_3(),
    policy: OLDER_POLICY,
    one: { name: name("p"), pushNotificationConfig: DEFINED },
    other: { name: name("q"), pushNotificationConfig: BARE },
    list: page,
    deleted: {},
    understood: withoutHeaders,
  },
  {
    dialect: "0.2/jsonrpc",
    server: createRpc0_2(settings),
    client: createRpcClient0_2(),
    policy: OLDER_POLICY,
    one: { taskId: "t", pushNotificationConfig: WITH_HEADERS },
    other: { taskId: "t", pushNotificationConfig: BARE },
    list: bareList,
    deleted: null,
    understood: withoutEvents,
  },
];

const older = { server: createRpc0_1(settings), client: createRpcClient0_1() };

function written(codec: Codec, result: OperationResult): unknown {
  const text = codec.encodeResult(result);
  expect(text).not.toMatch(/[\n\r]/);
  return JSON.parse(text);
}

describe.each(ROWS)("A push configuration in $dialect", ({ server, client, ...row }) => {
  it("is encoded in the format of its version, with secrets as they are stored", () => {
    expect(server.dialect).toBe(row.dialect);
    expect(written(server, { kind: "push", taskId: T, config: FULL })).toEqual(row.one);
    expect(written(server, { kind: "push", taskId: T, config: BARE })).toEqual(row.other);
  });

  it("is listed in order; a list may be empty", () => {
    const configs = [FULL, BARE];
    expect(written(server, { kind: "pushes", taskId: T, configs })).toEqual(row.list([row.one, row.other]));
    expect(written(server, { kind: "pushes", taskId: T, configs: [] })).toEqual(row.list([]));
  });

  it("has an empty result when it is deleted", () => {
    const answer = written(server, { kind: "push-deleted" });
    expect(answer).toEqual(row.deleted);
    expect(client.decodeResult("push-delete", answer)).toEqual({ kind: "done" });
  });

  it("has the policy of its version", () => {
    expect(server.policy.push).toEqual(row.policy);
  });

  it("is decoded by the client codec", () => {
    const config = { ...row.understood, taskId: T };
    const answer = written(server, { kind: "push", taskId: T, config: FULL });
    for (const operation of ["push-create", "push-get"] as const)
      expect(client.decodeResult(operation, answer)).toEqual({ kind: "push-config", config });
    const list = written(server, { kind: "pushes", taskId: T, configs: [FULL, BARE] });
    const configs = [config, { ...BARE, taskId: T }];
    expect(client.decodeResult("push-list", list)).toEqual({ kind: "push-configs", configs, nextPageToken: "" });
  });

  it("is decoded by the client codec whatever its ids, including slashes", () => {
    fc.assert(
      fc.property(taskId, pushConfig, (task, drawn) => {
        const config = { ...drawn, id: drawn.id ?? "a/b" };
        const answer = written(server, { kind: "push", taskId: task, config });
        expect(client.decodeResult("push-get", answer)).toEqual({
          kind: "push-config",
          config: { ...config, taskId: task },
        });
      }),
      SAMPLES,
    );
  });
});

describe("A push configuration in 0.1/jsonrpc", () => {
  const { server, client } = older;

  it("has only the id of its task, and keeps its event filter", () => {
    const { id: _nameless, ...config } = FULL;
    const answer = written(server, { kind: "push", taskId: T, config: FULL });
    expect(answer).toEqual({ id: "t", pushNotificationConfig: config });
    expect(client.decodeResult("push-get", answer)).toEqual({
      kind: "push-config",
      config: { ...config, taskId: T },
    });
  });

  it("may be missing, which is not an error", () => {
    expect(server.policy.push).toEqual({ single: true, missing: "nothing", afterFailure: "removed" });
    const answer = written(server, { kind: "push", taskId: T });
    expect(answer).toEqual({ id: "t", pushNotificationConfig: null });
    expect(client.decodeResult("push-get", answer)).toEqual({ kind: "done" });
    expect(client.decodeResult("push-create", written(server, { kind: "push-deleted" }))).toEqual({ kind: "done" });
  });
});

describe("A page of push configurations", () => {
  it.each([
    ["1.0/jsonrpc", createRpc1_0()],
    ["1.0/rest", createRest1_0(settings)],
  ] as const)("ends in %s with a token, from which the next one is asked", (_dialect, server) => {
    for (const next of ["q", "a/b", "漢".repeat(256), "😀".repeat(128)]) {
      const answer = written(server, { kind: "pushes", taskId: T, configs: [BARE], next });
      const result = createRpcClient1_0().decodeResult("push-list", answer);
      if (result.kind !== "push-configs") throw new Error(result.kind);
      const more = {
        operation: "push-list",
        tenant: "",
        taskId: T,
        pageSize: 2,
        pageToken: result.nextPageToken,
      } as const;
      const { params } = createRpcClient1_0().encodeRequest(more);
      const expected = { operation: "push-list", tenant: "", taskId: T, pageSize: 2, after: next };
      expect(createRpc1_0().decodeRequest("push-list", JSON.parse(params))).toEqual(expected);
      const { path } = createRestClient1_0().encodeRequest(more);
      const { searchParams } = new URL(path, "https://x");
      expect(
        createRest1_0(settings).decodeRequest("push-list", { path: { id: "t" }, query: searchParams, body: undefined }),
      ).toEqual(expected);
    }
  });

  it("has all webhooks if pageSize is absent or 0", () => {
    for (const size of [{}, { pageSize: 0 }, { pageSize: null }, { page_size: "0" }, { pageToken: "" }])
      expect(createRpc1_0().decodeRequest("push-list", { taskId: "t", ...size })).toEqual({
        operation: "push-list",
        tenant: "",
        taskId: "t",
      });
  });

  it.each([
    [{ pageSize: -1 }, "pageSize: must not be negative"],
    [{ pageSize: 1.5 }, "pageSize: must be an integer, not 1.5"],
    [{ pageToken: 1 }, "pageToken: must be a string, not a number"],
    [{ pageToken: "p" }, "pageToken: is not a page token of this server"],
    // The page token of a list of tasks.
    [{ pageToken: Buffer.from("1:p").toString("base64url") }, "pageToken: is not a page token of this server"],
  ])("is refused for %j", (wrong, message) => {
    expect(() => createRpc1_0().decodeRequest("push-list", { taskId: "t", ...wrong })).toThrow(message);
  });
});

describe("The plain dialect", () => {
  it("refuses results of webhook operations", () => {
    const plain = createPlainCodec(settings);
    for (const result of [
      { kind: "push", taskId: T, config: FULL },
      { kind: "pushes", taskId: T, configs: [] },
      { kind: "push-deleted" },
    ] as const)
      expect(() => plain.encodeResult(result)).toThrow("The plain dialect");
  });
});
