import { describe, expect, it } from "vitest";
import { dialectSettings } from "../options.ts";
import { PLAIN_BINDING } from "../plain/binding.ts";
import { supportedRows } from "../registry.ts";
import { clientDialect, isSupportedInterface } from "./client-registry.ts";

describe("The dialects of a client", () => {
  it("include every interface that this server offers", () => {
    const offered = supportedRows(dialectSettings({})).flatMap((row) => row.interfaces("http://host"));
    expect(offered.filter((way) => !isSupportedInterface(way))).toEqual([]);
  });

  it.each([
    ["JSONRPC", "1.0", "1.0/jsonrpc"],
    ["HTTP+JSON", "1.0", "1.0/rest"],
    ["jsonrpc", "1.0.1", "1.0/jsonrpc"],
    ["JSONRPC", "0.3.0", "0.3/jsonrpc"],
    ["HTTP+JSON", "0.3", "0.3/rest-proto"],
    ["http+json", "0.2.6", "0.3/rest-proto"],
    ["JSONRPC", "0.2", "0.2/jsonrpc"],
    ["JSONRPC", "0.1", "0.1/jsonrpc"],
    [PLAIN_BINDING, "1.0", "plain"],
  ])("%s of version %s is the dialect %s", async (binding, protocolVersion, dialect) => {
    expect((await clientDialect({ binding, protocolVersion }))?.codec.dialect).toBe(dialect);
  });

  it.each([
    ["GRPC", "1.0"],
    ["JSONRPC", "2.0"],
    ["JSONRPC", "1.10"],
    ["https://example.com/binding", "1.0"],
    ["JSONRPC", ""],
  ])("do not include %s of version %j", async (binding, protocolVersion) => {
    expect(await clientDialect({ binding, protocolVersion })).toBeUndefined();
  });

  it("have a version header, except for the plain dialect", async () => {
    const early = await clientDialect({ binding: "JSONRPC", protocolVersion: "0.2" });
    expect(early?.versionHeader).toBe("0.2");
    const plain = await clientDialect({ binding: PLAIN_BINDING, protocolVersion: "1.0" });
    expect(plain).toBeDefined();
    expect(plain?.versionHeader).toBeUndefined();
  });
});
