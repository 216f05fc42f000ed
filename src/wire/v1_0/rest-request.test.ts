import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampled } from "../../../test/fixtures/budget.ts";
import { A2AError } from "../../protocol/error.ts";
import { OPERATIONS, type Operation, type OperationRequest } from "../../protocol/operation.ts";
import type { RestRequest } from "../codec.ts";
import { encodePageToken } from "../fields/page-token.ts";
import { dialectSettings } from "../options.ts";
import { createRestCodec } from "./codec.ts";
import { anything, decodesOrNames, mutated } from "./test/hostile.ts";
import { SAMPLES } from "./test/models.ts";

const codec = createRestCodec(dialectSettings({}));

interface Given {
  readonly path?: Record<string, string>;
  readonly query?: string;
  readonly body?: unknown;
}

function restRequest({ path = {}, query = "", body }: Given): RestRequest {
  return { path, query: new URLSearchParams(query), body };
}

function decode(operation: Operation, given: Given): OperationRequest {
  return codec.decodeRequest(operation, restRequest(given));
}

/** The field of an error, and its description. */
function complaint(operation: Operation, given: Given): string {
  try {
    decode(operation, given);
  } catch (error) {
    if (error instanceof A2AError && error.code === "invalid-params") return error.message;
    throw error;
  }
  throw new Error("decoded");
}

const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "x" }] };

describe("A REST request of 1.0", () => {
  it("has its parameters in the body for POST operations", () => {
    const body = { message, configuration: { historyLength: 2, returnImmediately: true }, metadata: { a: 1 } };
    expect(decode("send", { body })).toMatchObject({ operation: "send", history: 2, waitMs: 0, metadata: { a: 1 } });
    expect(decode("cancel", { path: { id: "t" }, body: { metadata: { a: 1 } } })).toEqual({
      operation: "cancel",
      tenant: "",
      id: "t",
      metadata: { a: 1 },
    });
  });

  it("has its parameters in the query for GET operations, and the body is ignored", () => {
    const query = "historyLength=3";
    const body = { historyLength: 9, id: "other" };
    expect(decode("get", { path: { id: "t" }, query, body })).toMatchObject({ id: "t", history: 3 });
    expect(decode("get", { path: { id: "t" }, query, body: "no object" })).toMatchObject({ history: 3 });
    expect(decode("push-delete", { path: { id: "t", configId: "c" }, body: { id: "other" } })).toMatchObject({
      taskId: "t",
      id: "c",
    });
  });

  it("ignores the query of a request with a body, except for the tenant", () => {
    const query = "tenant=acme&configuration=x&historyLength=no&A2A-Version=1.0&id=other";
    expect(decode("send", { query, body: { message } })).toMatchObject({ tenant: "acme", history: undefined });
    expect(decode("cancel", { path: { id: "t" }, query })).toMatchObject({ id: "t", tenant: "acme" });
    expect(decode("subscribe", { path: { id: "t" }, query })).toMatchObject({ id: "t", tenant: "acme" });
  });

  it("takes the tenant from the path, else the body, else the query", () => {
    const all = { path: { tenant: "path" }, query: "tenant=query", body: { message, tenant: "body" } };
    expect(decode("send", all).tenant).toBe("path");
    expect(decode("send", { ...all, path: {} }).tenant).toBe("body");
    expect(decode("send", { ...all, path: {}, body: { message, tenant: null } }).tenant).toBe("query");
    expect(decode("send", { ...all, path: {}, body: { message, tenant: "" } }).tenant).toBe("query");
    expect(decode("list", { path: { tenant: "path" }, query: "tenant=query" }).tenant).toBe("path");
    expect(decode("extended-card", { query: "tenant=query" }).tenant).toBe("query");
  });

  it("has the task id in the path, whatever the body contains", () => {
    const body = { id: "config", taskId: "other", task_id: "other", url: "https://example.org" };
    expect(decode("push-create", { path: { id: "t" }, body })).toEqual({
      operation: "push-create",
      tenant: "",
      taskId: "t",
      config: { id: "config", url: "https://example.org" },
    });
    expect(decode("cancel", { path: { id: "t" }, body: { id: "other" } })).toMatchObject({ id: "t" });
    expect(decode("push-get", { path: { id: "t", configId: "c" } })).toMatchObject({ taskId: "t", id: "c" });
    expect(decode("push-list", { path: { id: "t" }, query: "id=other&taskId=other" })).toMatchObject({ taskId: "t" });
  });

  it.each(["cancel", "subscribe"] as const)("may have no body: %s", (operation) => {
    const expected = decode(operation, { path: { id: "t" }, body: {} });
    expect(decode(operation, { path: { id: "t" }, body: undefined })).toEqual(expected);
    expect(decode(operation, { path: { id: "t" }, body: null })).toEqual(expected);
  });

  it("does not take __proto__ of a body as parameters", () => {
    const body: unknown = JSON.parse('{"__proto__":{"tenant":"evil"},"message":null}');
    expect(complaint("send", { body, query: "tenant=t" })).toBe("message: is required");
    const cancel: unknown = JSON.parse('{"__proto__":{"tenant":"evil"}}');
    expect(decode("cancel", { path: { id: "t" }, body: cancel }).tenant).toBe("");
  });
});

describe("The query of a REST request of 1.0", () => {
  it("has every parameter of a list", () => {
    const before = { at: 5, id: "x" };
    const query = new URLSearchParams({
      tenant: "acme",
      contextId: "c d",
      status: "TASK_STATE_WORKING",
      pageSize: "7",
      pageToken: encodePageToken(before),
      historyLength: "0",
      statusTimestampAfter: "2026-01-01T00:00:00+01:00",
      includeArtifacts: "true",
    });
    expect(decode("list", { query: query.toString() })).toEqual({
      operation: "list",
      tenant: "acme",
      contextId: "c d",
      state: "working",
      pageSize: 7,
      before,
      history: 0,
      statusSince: Date.parse("2025-12-31T23:00:00Z"),
      artifacts: true,
    });
  });

  it("accepts snake_case names, and states as numbers", () => {
    const query = "context_id=c&page_size=7&history_length=2&include_artifacts=false&status=3";
    const camelCase = "contextId=c&pageSize=7&historyLength=2&includeArtifacts=false&status=TASK_STATE_COMPLETED";
    expect(decode("list", { query })).toEqual(decode("list", { query: camelCase }));
    expect(decode("list", { query })).toMatchObject({ contextId: "c", pageSize: 7, history: 2, state: "completed" });
    const since = "status_timestamp_after=2026-01-01T00%3A00%3A00Z";
    expect(decode("list", { query: since })).toMatchObject({ statusSince: Date.parse("2026-01-01T00:00:00Z") });
  });

  it("ignores empty, unspecified and unknown parameters", () => {
    const query =
      "contextId=&status=&pageSize=&pageToken=&historyLength=&statusTimestampAfter=&includeArtifacts=&x=1&x=2";
    expect(decode("list", { query })).toEqual(decode("list", {}));
    expect(decode("list", { query: "status=TASK_STATE_UNSPECIFIED" })).toEqual(decode("list", {}));
    expect(decode("list", { query: "status=0" })).toEqual(decode("list", {}));
  });

  it.each([
    ["pageSize=7&pageSize=7", "pageSize: must be given only once"],
    ["pageSize=7&page_size=8", "pageSize: must be given only once"],
    ["pageSize=&pageSize=8", "pageSize: must be given only once"],
    ["tenant=a&tenant=b", "tenant: must be given only once"],
    ["status=1&status=2", "status: must be given only once"],
    ["pageSize=ten", "pageSize: must be an integer"],
    ["pageSize=1.5", "pageSize: must be an integer"],
    ["pageSize=1e1", "pageSize: must be an integer"],
    ["pageSize=0x10", "pageSize: must be an integer"],
    ["pageSize=+7", "pageSize: must be an integer"],
    ["pageSize=%207", "pageSize: must be an integer"],
    ["pageSize=99999999999", "pageSize: must be an integer"],
    ["pageSize=0", "pageSize: must be between 1 and 100"],
    ["pageSize=101", "pageSize: must be between 1 and 100"],
    ["historyLength=-1", "historyLength: must not be negative"],
    ["historyLength=2147483648", "historyLength: must fit into 32 bits"],
    ["includeArtifacts=1", "includeArtifacts: must be true or false"],
    ["includeArtifacts=True", "includeArtifacts: must be true or false"],
    ["includeArtifacts=yes", "includeArtifacts: must be true or false"],
    ["status=working", "status: must be one of"],
    ["status=9", "status: must be one of"],
    ["status=-1", "status: must be one of"],
    ["status=1.0", "status: must be one of"],
    ["statusTimestampAfter=yesterday", "statusTimestampAfter: must be a time"],
    ["statusTimestampAfter=0", "statusTimestampAfter: must be a time"],
    ["pageToken=garbage", "pageToken: is not a page token"],
    ["contextId=%ff", "contextId: must be percent-encoded UTF-8"],
    [`contextId=${"c".repeat(257)}`, "contextId: must have at most 256 characters"],
  ])("is refused: %s", (query, expected) => {
    expect(complaint("list", { query })).toContain(expected);
  });

  it("is refused for a repeated tenant, even if the request has a body", () => {
    expect(complaint("send", { query: "tenant=a&tenant=b", body: { message } })).toContain(
      "tenant: must be given only",
    );
  });
});

describe("The body of a REST request of 1.0", () => {
  it.each([undefined, null, {}])("cannot be missing from a send: %j", (body) => {
    for (const operation of ["send", "stream"] as const) {
      expect(complaint(operation, { body })).toBe("message: is required");
    }
    expect(complaint("push-create", { path: { id: "t" }, body })).toBe("url: is required");
  });

  it.each([
    ["text", "a string"],
    [5, "a number"],
    [true, "a boolean"],
    [[], "an array"],
    [[{ message }], "an array"],
  ])("must be an object: %j", (body, kind) => {
    for (const operation of ["send", "stream", "cancel", "subscribe", "push-create"] as const) {
      const given = { path: { id: "t" }, body };
      expect(complaint(operation, given)).toBe(`body: must be an object, not ${kind}`);
    }
  });
});

describe("The path of a REST request of 1.0", () => {
  it.each([
    ["get", { id: "" }, "id: must not be empty"],
    ["get", { id: "x".repeat(257) }, "id: must have at most 256 characters"],
    ["get", { id: "a\0b" }, "id: must not contain the character NUL"],
    ["push-get", { id: "t", configId: "" }, "id: must not be empty"],
    ["push-get", { id: "", configId: "c" }, "taskId: must not be empty"],
    ["list", { tenant: "x".repeat(257) }, "tenant: must have at most 256 characters"],
  ] as const)("is refused by the names JSON-RPC has: %s %j", (operation, path, expected) => {
    expect(complaint(operation, { path })).toBe(expected);
  });
});

describe("A hostile REST request of 1.0", () => {
  const pathNames = fc.constantFrom("id", "configId", "tenant");
  const path = fc.dictionary(pathNames, fc.string({ unit: "binary", maxLength: 8 }), { noNullPrototype: true });
  const queryName = fc.constantFrom(
    ...["tenant", "contextId", "context_id", "status", "pageSize", "page_size", "pageToken", "historyLength"],
    ...["statusTimestampAfter", "includeArtifacts", "include_artifacts", "A2A-Version", "__proto__"],
  );
  const queryValue = fc.oneof(
    fc.string({ unit: "binary", maxLength: 8 }).map((text) => encodeURIComponent(text.toWellFormed())),
    fc.constantFrom("", "1", "-1", "true", "%", "%zz", "%ff", "a=b", "TASK_STATE_WORKING", "2026-01-01T00:00:00Z"),
  );
  const likely = fc.array(fc.tuple(queryName, queryValue), { maxLength: 5 });
  const query = fc.oneof(
    likely.map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join("&")),
    fc.string({ unit: "binary", maxLength: 40 }),
  );

  it("is decoded, or refused with a field name, whatever its path, query and body are", () => {
    fc.assert(
      fc.property(fc.constantFrom(...OPERATIONS), path, query, anything, (...given) => {
        const [operation, names, text, body] = given;
        return decodesOrNames(() => decode(operation, { path: names, query: text, body }).operation === operation);
      }),
      { ...SAMPLES, numRuns: sampled(250, 2000) },
    );
  });

  it("is decoded, or refused with a field name, whatever is changed in a valid body", () => {
    fc.assert(
      fc.property(mutated, path, query, ([operation, body], names, text) =>
        decodesOrNames(() => decode(operation, { path: names, query: text, body }).operation === operation),
      ),
      { ...SAMPLES, numRuns: sampled(250, 2000) },
    );
  });
});
