import { describe, expect, it } from "vitest";
import type { AgentCard, AgentInterface } from "../../protocol/card.ts";
import { PLAIN_BINDING } from "../../wire/plain/binding.ts";
import { VERSIONS } from "../../wire/registry.ts";
import { RemoteError } from "../http/errors.ts";
import { chooseInterface, type InterfaceOptions } from "./choose-interface.ts";

const [newest = "", older = ""] = VERSIONS;

function way(url: string, binding: string, protocolVersion: string): AgentInterface {
  return { url, binding, protocolVersion };
}

function cardOf(...interfaces: readonly AgentInterface[]): AgentCard {
  return {
    name: "A",
    description: "",
    version: "1",
    interfaces,
    capabilities: {},
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
  };
}

const card = cardOf(
  way("https://a/grpc", "GRPC", newest),
  { ...way("https://a/rest", "HTTP+JSON", newest), tenant: "t" },
  way("https://a/rpc", "JSONRPC", newest),
  way("https://a/future", "JSONRPC", "9.9"),
  way("https://a/old", "JSONRPC", older),
  way("https://a/plain", PLAIN_BINDING, newest),
);

describe("chooseInterface", () => {
  it.each<[string, InterfaceOptions | undefined, readonly string[]]>([
    ["takes what the card prefers, and leaves out what is not spoken", undefined, ["rest", "rpc", "old", "plain"]],
    ["keeps to a binding", { binding: "JSONRPC" }, ["rpc", "old"]],
    ["knows other names for it", { binding: "rest" }, ["rest"]],
    ["knows other spellings of it", { binding: "json-rpc" }, ["rpc", "old"]],
    ["keeps to a version", { version: older }, ["old"]],
    ["takes a version with its patch", { version: `${older}.0` }, ["old"]],
    ["keeps to both", { version: newest, binding: "JSONRPC" }, ["rpc"]],
    ["calls the plain dialect by its name", { binding: "plain" }, ["plain"]],
    ["calls the plain dialect by its name where a version is asked for", { version: "plain" }, ["plain"]],
    ["puts what is preferred first", { prefer: [older, "JSONRPC"] }, ["old", "rpc", "rest", "plain"]],
    ["does not insist on what is preferred", { prefer: ["GRPC"] }, ["rest", "rpc", "old", "plain"]],
  ])("%s", (_what, options, expected) => {
    expect(chooseInterface(card, options).map(({ url }) => url.slice("https://a/".length))).toEqual(expected);
  });

  it("keeps the tenant", () => {
    expect(chooseInterface(card)[0]).toMatchObject({ url: "https://a/rest", tenant: "t" });
  });

  it.each<[InterfaceOptions, AgentCard, string]>([
    [{ version: "7.0" }, card, 'The agent "A" does not offer version 7.0'],
    [{ binding: "GRPC" }, card, 'The agent "A" offers binding GRPC, which is not supported'],
    [{}, cardOf(way("a:1", "GRPC", newest)), 'The agent "A" offers no supported interface'],
    [{ version: older, binding: "rest" }, card, `does not offer version ${older} and binding rest`],
  ])("says what there is where %j cannot be had", (options, from, reason) => {
    const choose = (): unknown => chooseInterface(from, options);
    expect(choose).toThrow(RemoteError);
    expect(choose).toThrow(reason);
    expect(choose).toThrow(`GRPC at ${from.interfaces[0]?.url}`);
    expect(choose).toThrow(expect.objectContaining({ code: "no-interface" }));
  });
});
