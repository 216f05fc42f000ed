import { describe, expect, it } from "vitest";
import { createDialects } from "./dialects.ts";
import type { DialectOptions } from "./options.ts";

const usual = createDialects();
const lenient = createDialects({ lenient: true });
const strict = createDialects({ lenient: false });

/** The dialect that answers a method, and the error code of a refusal. */
function answer(dialects: typeof usual, method: string, requested?: string): string {
  const { codec, refusal } = dialects.chooseRpc(requested, method);
  const dialect = codec.dialect.replace("/jsonrpc", "");
  return refusal === undefined ? dialect : `${dialect} ${refusal.code}`;
}

describe("The dialect of a JSON-RPC request", () => {
  it.each([
    ["SendMessage", "1.0"],
    ["ListTaskPushNotificationConfig", "1.0"],
    ["message/send", "0.3"],
    ["message/stream", "0.3"],
    ["tasks/pushNotificationConfig/list", "0.3"],
    ["agent/getAuthenticatedExtendedCard", "0.3"],
    ["agent/authenticatedExtendedCard", "0.3"],
    ["tasks/send", "0.1"],
    ["tasks/sendSubscribe", "0.1"],
    ["tasks/pushNotification/set", "0.1"],
    ["tasks/get", "0.1+0.3"],
    ["tasks/cancel", "0.1+0.3"],
    ["tasks/resubscribe", "0.1+0.3"],
  ])("without A2A-Version, is that of the method: %s", (method, dialect) => {
    expect(answer(usual, method)).toBe(dialect);
    expect(answer(usual, method, "")).toBe(dialect);
  });

  it("is that of the requested version if several versions define the method", () => {
    for (const method of ["tasks/get", "tasks/cancel", "tasks/resubscribe"]) {
      expect(["0.3", "0.2", "0.1"].map((version) => answer(usual, method, version))).toEqual(["0.3", "0.2", "0.1"]);
    }
    expect(["0.3.0", "0.2.6"].map((version) => answer(usual, "message/send", version))).toEqual(["0.3", "0.2"]);
  });

  it("without A2A-Version, is that of the assumed version if several versions define the method", () => {
    const assuming = createDialects({ assumeVersion: "0.2" });
    expect(answer(assuming, "message/send")).toBe("0.2");
    expect(answer(assuming, "message/send", "0.3")).toBe("0.3");
    expect(answer(assuming, "tasks/get")).toBe("0.1+0.2");
    expect(answer(assuming, "agent/getAuthenticatedExtendedCard")).toBe("0.3");
    expect(answer(assuming, "tasks/send")).toBe("0.1");
    expect(answer(assuming, "no/thing")).toBe("0.2 method-not-found");
  });

  it("is that of the method if the requested version does not define it, unless the server is strict", () => {
    expect(answer(usual, "SendMessage", "0.3")).toBe("1.0");
    expect(answer(usual, "message/send", "0.1")).toBe("0.3");
    expect(answer(usual, "tasks/send", "0.3")).toBe("0.3 method-not-found");
    expect(answer(usual, "tasks/get", "1.0")).toBe("1.0 method-not-found");
    expect(answer(lenient, "tasks/send", "0.3")).toBe("0.1");
    expect(answer(lenient, "tasks/get", "1.0")).toBe("0.1+0.3");
    expect(answer(strict, "SendMessage", "0.3")).toBe("0.3 method-not-found");
    expect(answer(strict, "SendMessage")).toBe("0.3 method-not-found");
    expect(answer(strict, "message/send", "0.1")).toBe("0.1 method-not-found");
    expect(answer(strict, "SendMessage", "1.0")).toBe("1.0");
    expect(answer(strict, "agent/authenticatedExtendedCard", "0.3")).toBe("0.3 method-not-found");
  });

  it.each(["SendMessage", "message/send", "Nothing", "no/thing"])(
    "is refused in a version of its own: %s",
    (method) => {
      for (const dialects of [usual, lenient, strict]) {
        expect(answer(dialects, method, "2.0")).toBe("1.0 version-not-supported");
      }
    },
  );

  it("refuses an unknown method in the format of the requested version, else of the version with that naming style", () => {
    for (const dialects of [usual, lenient, strict]) {
      for (const method of ["Nothing", "no/thing", "tasks/list", "sendMessage", "", "__proto__", "toString"]) {
        for (const version of ["1.0", "0.3", "0.2", "0.1"]) {
          expect(answer(dialects, method, version)).toBe(`${version} method-not-found`);
        }
      }
      expect(answer(dialects, "Nothing")).toBe("1.0 method-not-found");
      expect(answer(dialects, "no/thing")).toBe("0.3 method-not-found");
    }
  });

  it("falls back to the requested version, without one to the assumed version, and to the newest if the request is unsupported", () => {
    for (const version of ["0.3", "0.2", "0.1"]) expect(usual.fallbackRpc(`${version}.0`).version).toBe(version);
    for (const requested of ["1.0", "2.0", "garbage"]) expect(usual.fallbackRpc(requested).version).toBe("1.0");
    for (const requested of [undefined, "", " "]) {
      expect(usual.fallbackRpc(requested).version).toBe("0.3");
      expect(createDialects({ assumeVersion: "0.2" }).fallbackRpc(requested).version).toBe("0.2");
      expect(createDialects({ versions: ["1.0"] }).fallbackRpc(requested).version).toBe("1.0");
    }
  });
});

const BASE = "https://a.example/agents/x";
const INTERFACES = [
  { url: `${BASE}/`, binding: "JSONRPC", protocolVersion: "1.0" },
  { url: BASE, binding: "HTTP+JSON", protocolVersion: "1.0" },
  { url: `${BASE}/a2a`, binding: "JSONRPC", protocolVersion: "0.3" },
  { url: BASE, binding: "HTTP+JSON", protocolVersion: "0.3" },
  { url: `${BASE}/a2a`, binding: "JSONRPC", protocolVersion: "0.2" },
  { url: `${BASE}/a2a`, binding: "JSONRPC", protocolVersion: "0.1" },
  { url: BASE, binding: "urn:palaver:binding:plain", protocolVersion: "1.0" },
];

describe("The dialects of a server", () => {
  it("are exactly these", () => {
    const methods = ["SendMessage", "message/send", "tasks/send", "tasks/get"];
    const rpc = methods.map((method) => usual.chooseRpc(undefined, method).codec.dialect);
    const styles = [undefined, { message: { kind: "message" } }, { message: { content: [] } }];
    const rest = usual.restFamilies.flatMap(({ choose }) =>
      styles.map((body) => choose(undefined, body).codec.dialect),
    );
    expect([...new Set([...rpc, usual.fallbackRpc("0.2").dialect, ...rest])]).toEqual([
      ...["1.0/jsonrpc", "0.3/jsonrpc", "0.1/jsonrpc", "0.1+0.3/jsonrpc", "0.2/jsonrpc"],
      ...["1.0/rest", "0.3/rest-proto", "0.3/rest-json", "0.2/rest", "plain"],
    ]);
  });

  it.each<[unknown, string]>([
    [{ card: "both" }, 'card must be "hybrid" or "strict"'],
    [
      { versions: ["1.0", "0.4"] },
      'versions contains the unknown version "0.4". Known versions: 1.0, 0.3, 0.2, 0.1, plain.',
    ],
    [{ versions: ["x".repeat(5000)] }, `versions contains the unknown version "${"x".repeat(40)}…"`],
    [{ versions: [] }, "versions must contain at least one A2A version besides plain."],
    [{ versions: ["plain"] }, "versions must contain at least one A2A version besides plain."],
  ])("are not created from invalid options: %j", (options, message) => {
    expect(() => createDialects(options as DialectOptions)).toThrow(TypeError);
    expect(() => createDialects(options as DialectOptions)).toThrow(message);
  });

  it("list their interfaces, the newest version first", () => {
    expect(usual.interfaces(BASE)).toEqual(INTERFACES);
  });
});

describe("A version that is turned off", () => {
  const withoutOldest = createDialects({ versions: ["1.0", "0.3", "0.2"] });
  const newestOnly = createDialects({ versions: ["1.0"] });
  const older = createDialects({ versions: ["0.1", "0.2", "plain"] });

  it("is not supported, and its methods are unknown", () => {
    expect(answer(withoutOldest, "tasks/send")).toBe("0.3 method-not-found");
    expect(answer(withoutOldest, "tasks/get", "0.1")).toBe("1.0 version-not-supported");
    expect(answer(withoutOldest, "tasks/get")).toBe("0.3");
    expect(answer(newestOnly, "message/send")).toBe("1.0 method-not-found");
    expect(answer(newestOnly, "message/send", "0.3")).toBe("1.0 version-not-supported");
    expect(answer(older, "SendMessage")).toBe("0.2 method-not-found");
    expect(answer(older, "SendMessage", "1.0")).toBe("0.2 version-not-supported");
    expect(answer(older, "message/send")).toBe("0.2");
    expect(answer(older, "tasks/get")).toBe("0.1+0.2");
    expect(older.chooseRpc("1.0", "x").refusal?.metadata).toEqual({ supportedVersions: "0.2,0.1" });
  });

  it("has no routes", () => {
    const beginnings = (dialects: typeof usual) =>
      dialects.restFamilies.map(({ routes }) => routes[0]?.path.split("/")[1]);
    expect(beginnings(usual)).toEqual(["message:send", "v1", "agent", "a2a"]);
    expect(beginnings(newestOnly)).toEqual(["message:send"]);
    expect(beginnings(older)).toEqual(["agent", "a2a"]);
    expect(beginnings(createDialects({ versions: ["0.1"] }))).toEqual([]);
  });

  it("is not listed in the interfaces of an agent", () => {
    expect(withoutOldest.interfaces(BASE)).toEqual(INTERFACES.slice(0, 5));
    expect(newestOnly.interfaces(BASE)).toEqual(INTERFACES.slice(0, 2));
    expect(older.interfaces(BASE)).toEqual(INTERFACES.slice(4));
  });
});
