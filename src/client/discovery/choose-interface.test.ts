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
  way("https://a/mqtt", "MQTT", newest),
  { ...way("https://a/rest", "HTTP+JSON", newest), tenant: "t" },
  way("https://a/rpc", "JSONRPC", newest),
  way("https://a/future", "JSONRPC", "9.9"),
  way("https://a/old", "JSONRPC", older),
  way("https://a/plain", PLAIN_BINDING, newest),
);

describe("chooseInterface", () => {
  it.each<[string, InterfaceOptions | undefined, readonly string[]]>([
    ["keeps the card's order and leaves out unsupported interfaces", undefined, ["rest", "rpc", "old", "plain"]],
    ["filters by binding", { binding: "JSONRPC" }, ["rpc", "old"]],
    ["accepts another name of a binding", { binding: "rest" }, ["rest"]],
    ["accepts another spelling of a binding", { binding: "json-rpc" }, ["rpc", "old"]],
    ["filters by version", { version: older }, ["old"]],
    ["accepts a version with a patch number", { version: `${older}.0` }, ["old"]],
    ["filters by version and binding", { version: newest, binding: "JSONRPC" }, ["rpc"]],
    ["finds the plain dialect by binding", { binding: "plain" }, ["plain"]],
    ["finds the plain dialect by version", { version: "plain" }, ["plain"]],
    ["puts preferred interfaces first", { prefer: [older, "JSONRPC"] }, ["old", "rpc", "rest", "plain"]],
    ["ignores preferences that no interface matches", { prefer: ["MQTT"] }, ["rest", "rpc", "old", "plain"]],
  ])("%s", (_what, options, expected) => {
    expect(chooseInterface(card, options).map(({ url }) => url.slice("https://a/".length))).toEqual(expected);
  });

  it("takes gRPC like the other bindings, in the versions that have it", () => {
    const grpc = cardOf(way("a:1", "GRPC", newest), way("a:1", "grpc", "0.3"), way("a:1", "GRPC", "0.2"));
    expect(chooseInterface(grpc).map(({ protocolVersion }) => protocolVersion)).toEqual([newest, "0.3"]);
  });

  it("keeps the tenant", () => {
    expect(chooseInterface(card)[0]).toMatchObject({ url: "https://a/rest", tenant: "t" });
  });

  it.each<[InterfaceOptions, AgentCard, string]>([
    [{ version: "7.0" }, card, 'The agent "A" does not offer version 7.0'],
    [{ binding: "MQTT" }, card, 'The agent "A" offers binding MQTT, which is not supported'],
    [{}, cardOf(way("a:1", "MQTT", newest)), 'The agent "A" offers no supported interface'],
    [{ version: older, binding: "rest" }, card, `does not offer version ${older} and binding rest`],
  ])("fails for %j with the interfaces that the card has", (options, from, reason) => {
    const choose = (): unknown => chooseInterface(from, options);
    expect(choose).toThrow(RemoteError);
    expect(choose).toThrow(reason);
    expect(choose).toThrow(`MQTT at ${from.interfaces[0]?.url}`);
    expect(choose).toThrow(expect.objectContaining({ code: "no-interface" }));
  });
});
