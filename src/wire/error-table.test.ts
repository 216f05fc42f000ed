import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { A2AError, ERROR_CODES, type ErrorCode, invalidField } from "../protocol/error.ts";
import type { Codec } from "./codec.ts";
import { codeOfReason, codeOfRpc, codeOfStatus, ERROR_TABLE } from "./error-table.ts";
import { dialectSettings } from "./options.ts";
import { createRestCodec as createPlainCodec } from "./plain/codec.ts";
import { createRpcCodec as createRpcCodec0_1 } from "./v0_1/codec.ts";
import { createRpcCodec as createRpcCodec0_2 } from "./v0_2/codec.ts";
import { createRestCodec as createJsonCodec0_3, createRpcCodec as createRpcCodec0_3 } from "./v0_3/codec.ts";
import { createRestCodec as createProtoCodec0_3 } from "./v0_3_proto/codec.ts";
import { createRestCodec as createRestCodec1_0, createRpcCodec as createRpcCodec1_0 } from "./v1_0/codec.ts";

/** Defined by the specification: the JSON-RPC code, and the HTTP statuses of REST in 1.0.1, in 1.0.0 and in 0.3. */
const DEFINED: Partial<Record<ErrorCode, readonly [rpc: number, ...http: number[]]>> = {
  "parse-error": [-32700, 400, 400, 400],
  "invalid-request": [-32600, 400, 400, 400],
  "method-not-found": [-32601, 404, 404, 404],
  "invalid-params": [-32602, 400, 400, 400],
  internal: [-32603, 500, 500, 500],
  "task-not-found": [-32001, 404, 404, 404],
  "task-not-cancelable": [-32002, 400, 409, 409],
  "push-not-supported": [-32003, 400, 400, 400],
  "unsupported-operation": [-32004, 400, 400, 400],
  "content-type-not-supported": [-32005, 400, 415, 415],
  "invalid-agent-response": [-32006, 500, 502, 502],
  "extended-card-not-configured": [-32007, 400, 400, 404],
  "extension-support-required": [-32008, 400, 400, 400],
  "version-not-supported": [-32009, 400, 400, 400],
  "task-changed": [-32010, 409, 409, 409],
};

const settings = dialectSettings({});
const rpc1_0 = createRpcCodec1_0();
const rest1_0 = createRestCodec1_0(settings);
const firstEdition = createRestCodec1_0(dialectSettings({ errorProfile: "1.0.0" }));
const rpc0_3 = createRpcCodec0_3(settings);
const json0_3 = createJsonCodec0_3(settings);
const proto0_3 = createProtoCodec0_3(settings);
const rpc0_2 = createRpcCodec0_2(settings);
const rpc0_1 = createRpcCodec0_1(settings);
const plain = createPlainCodec(settings);

function errorOf(codec: Codec, code: ErrorCode): unknown {
  return JSON.parse(codec.encodeError(new A2AError(code, "x")));
}

describe("The table of errors", () => {
  it("has exactly one row for every error code", () => {
    expect(Object.keys(ERROR_TABLE).toSorted()).toEqual([...ERROR_CODES].toSorted());
  });

  it.each(Object.entries(DEFINED))("encodes %s as the specification defines it", (code, [rpc, ...http]) => {
    const row = ERROR_TABLE[code as ErrorCode];
    expect(row.rpc).toBe(rpc);
    expect([row.http, row.httpFirstEdition, row.http0_3]).toEqual(http);
  });

  it("has its own codes only in the free range, except for two errors that share the code of a defined one", () => {
    const shared: Partial<Record<ErrorCode, ErrorCode>> = {
      "method-not-allowed": "method-not-found",
      "unsupported-media-type": "content-type-not-supported",
    };
    for (const code of ERROR_CODES.filter((each) => DEFINED[each] === undefined)) {
      const { rpc } = ERROR_TABLE[code];
      const other = shared[code];
      if (other !== undefined) expect(rpc).toBe(ERROR_TABLE[other].rpc);
      else expect(rpc >= -32099 && rpc <= -32050, code).toBe(true);
    }
    const rows = ERROR_CODES.filter((code) => shared[code] === undefined).map((code) => ERROR_TABLE[code]);
    expect(new Set(rows.map(({ rpc }) => rpc)).size).toBe(rows.length);
    expect(new Set(rows.map(({ reason }) => reason)).size).toBe(rows.length);
  });

  it("has HTTP status 200 for JSON-RPC unless the whole request was refused", () => {
    const whole = ERROR_CODES.filter((code) => ERROR_TABLE[code].rpcHttp !== 200);
    expect(whole.map((code) => [code, ERROR_TABLE[code].rpcHttp])).toEqual([
      ["parse-error", 400],
      ["method-not-allowed", 405],
      ["unsupported-media-type", 415],
      ["rate-limited", 429],
      ["unauthenticated", 401],
      ["permission-denied", 403],
      ["unavailable", 503],
      ["payload-too-large", 413],
    ]);
  });

  it("has the gRPC status names of 1.0.0 and 1.0.1", () => {
    const renamed = ERROR_CODES.filter((code) => ERROR_TABLE[code].status !== ERROR_TABLE[code].statusFirstEdition);
    expect(renamed).toEqual(["push-not-supported", "unsupported-operation", "version-not-supported"]);
    for (const code of renamed) {
      expect(ERROR_TABLE[code]).toMatchObject({ status: "FAILED_PRECONDITION", statusFirstEdition: "UNIMPLEMENTED" });
    }
  });

  it.each(ERROR_CODES)("determines the encoding of %s in every dialect", (code) => {
    const error = new A2AError(code, "x");
    const { rpc, reason, rpcHttp, http, httpFirstEdition, http0_3, status } = ERROR_TABLE[code];
    expect(errorOf(rpc1_0, code)).toMatchObject({ code: rpc, data: [{ reason }] });
    expect(errorOf(rest1_0, code)).toMatchObject({ error: { code: http, status, details: [{ reason }] } });
    const rpcCodecs = [rpc1_0, rpc0_3, rpc0_2, rpc0_1];
    expect(rpcCodecs.map((codec) => codec.statusOf(error))).toEqual(rpcCodecs.map(() => rpcHttp));
    expect([rest1_0.statusOf(error), firstEdition.statusOf(error)]).toEqual([http, httpFirstEdition]);
    for (const codec of [rpc0_3, json0_3, proto0_3]) {
      expect(errorOf(codec, code)).toMatchObject({ code: in0_3(code), data: { reason } });
    }
    expect(errorOf(rpc0_2, code)).toMatchObject({ code: in0_2(code), data: { reason } });
    expect(errorOf(rpc0_1, code)).toMatchObject({ code: in0_1(code), data: { reason } });
    expect([json0_3.statusOf(error), proto0_3.statusOf(error)]).toEqual([http0_3, http0_3]);
    expect(errorOf(plain, code)).toMatchObject({ error: { code } });
    expect(plain.statusOf(error)).toBe(http);
  });
});

/** The JSON-RPC code in 0.3, which lacks three of them. */
function in0_3(code: ErrorCode): number {
  if (code === "task-changed") return -32059;
  if (code === "extension-support-required") return -32602;
  return code === "version-not-supported" ? -32600 : ERROR_TABLE[code].rpc;
}

/** The JSON-RPC code in 0.2, which lacks one more. */
function in0_2(code: ErrorCode): number {
  return code === "extended-card-not-configured" ? -32004 : in0_3(code);
}

/** The JSON-RPC code in 0.1, which has codes of its own. */
function in0_1(code: ErrorCode): number {
  const own: Partial<Record<ErrorCode, number>> = {
    "invalid-agent-response": -32603,
    unauthenticated: -32007,
    "permission-denied": -32008,
    "rate-limited": -32010,
    "resource-exhausted": -32011,
    unavailable: -32011,
  };
  return own[code] ?? in0_2(code);
}

describe("An error from an agent", () => {
  it.each(ERROR_CODES)("is identified by the reason and by the JSON-RPC code of %s", (code) => {
    const { reason, rpc } = ERROR_TABLE[code];
    for (const found of [codeOfReason(reason), codeOfRpc(rpc)]) {
      expect(found).toBeDefined();
      if (found === undefined || found === code) continue;
      expect(["method-not-allowed", "unsupported-media-type"]).toContain(code);
      expect(ERROR_CODES.indexOf(found)).toBeLessThan(ERROR_CODES.indexOf(code));
    }
  });

  it.each([undefined, null, "", "toString", -1, 0, Number.NaN, {}])("is not identified by %j", (value) => {
    expect(codeOfReason(value)).toBeUndefined();
    expect(codeOfRpc(value)).toBeUndefined();
  });

  it("is identified by the HTTP status if it has neither reason nor code", () => {
    const guesses = [400, 401, 403, 404, 405, 409, 413, 415, 418, 422, 429, 500, 501, 502, 503, 504, 599, 200, 0];
    expect(guesses.map((status) => `${status} ${codeOfStatus(status)}`)).toEqual([
      "400 invalid-request",
      "401 unauthenticated",
      "403 permission-denied",
      "404 task-not-found",
      "405 method-not-allowed",
      "409 task-not-cancelable",
      "413 payload-too-large",
      "415 unsupported-media-type",
      "418 invalid-request",
      "422 invalid-request",
      "429 rate-limited",
      "500 internal",
      "501 unsupported-operation",
      "502 unavailable",
      "503 unavailable",
      "504 unavailable",
      "599 internal",
      "200 internal",
      "0 internal",
    ]);
  });
});

const page = readFileSync(new URL("../../docs/reference/errors.md", import.meta.url), "utf8");
const rows = page
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.split("|").map((cell) => cell.trim().replaceAll("`", "")));

describe("The reference page of errors", () => {
  it("has a row for every code, in the same order", () => {
    expect(rows.map(([, code]) => code)).toEqual([...ERROR_CODES]);
  });

  it.each(ERROR_CODES)("documents %s as it is encoded", (code) => {
    const { rpc, reason, status, statusFirstEdition, rpcHttp, http, httpFirstEdition, http0_3 } = ERROR_TABLE[code];
    const [, , ...cells] = rows.find(([, name]) => name === code) ?? [];
    const statuses = status === statusFirstEdition ? status : `${status} / ${statusFirstEdition}`;
    const all = new Set([http, httpFirstEdition, http0_3]);
    const https = all.size === 1 ? String(http) : `${http} / ${httpFirstEdition} / ${http0_3}`;
    const earlier = [in0_3(code), in0_2(code), in0_1(code)];
    const codes = earlier.every((other) => other === rpc) ? "" : earlier.join(" / ");
    expect(cells.slice(0, 6)).toEqual([String(rpc), codes, reason, statuses, String(rpcHttp), https]);
    expect(cells[6]).toMatch(/\.$/);
    expect(cells[7]).toMatch(/\.$/);
  });

  it("shows each format as it is encoded", () => {
    const error = invalidField("id", "is required");
    const sent = (codec: Codec): unknown => JSON.parse(codec.encodeError(error));
    const enveloped = (codec: Codec): unknown => ({ jsonrpc: "2.0", id: 1, error: sent(codec) });
    const shown = Array.from(page.matchAll(/^<!-- (\S+) -->\n```json\n([\s\S]*?)^```$/gm), ([, name, text = ""]) => {
      return [name, JSON.parse(text)] as const;
    });
    expect(Object.fromEntries(shown)).toEqual({
      "1.0/jsonrpc": enveloped(rpc1_0),
      "1.0/rest": sent(rest1_0),
      "0.3/jsonrpc": enveloped(rpc0_3),
      "0.3/rest": sent(json0_3),
      plain: sent(plain),
    });
    for (const codec of [rpc0_2, rpc0_1]) expect(sent(codec)).toEqual(sent(rpc0_3));
    expect(sent(proto0_3)).toEqual(sent(json0_3));
  });
});
