import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { agent } from "./agent.ts";

const folder = mkdtempSync(join(tmpdir(), "palaver-card-"));
afterAll(() => rmSync(folder, { recursive: true }));

const card = {
  name: "Clerk",
  description: "Files things.",
  version: "2.1.0",
  provider: { organization: "Example", url: "https://example.org" },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["application/json"],
  capabilities: { streaming: false, extensions: [{ uri: "https://example.org/x" }] },
  skills: [{ id: "file", name: "File", description: "Files it.", tags: ["office"] }],
  supportedInterfaces: [{ url: "https://elsewhere.example.org", protocolBinding: "GRPC", protocolVersion: "1.0" }],
};

function fileOf(text: string): string {
  const file = join(folder, `${Math.random()}.json`);
  writeFileSync(file, text);
  return file;
}

describe("an agent declared by a card", () => {
  test("gets all members of a definition from the card, and its interfaces as promises", () => {
    const run = async (): Promise<string> => "done";
    const declared = {
      id: "clerk",
      name: "Clerk",
      description: "Files things.",
      version: "2.1.0",
      provider: card.provider,
      inputModes: ["text/plain"],
      outputModes: ["application/json"],
      capabilities: { streaming: false },
      extensions: card.capabilities.extensions,
      skills: card.skills,
      run,
      promises: {
        interfaces: [{ field: "supportedInterfaces[0]", binding: "GRPC", protocolVersion: "1.0" }],
        isSigned: false,
      },
    };
    const file = fileOf(JSON.stringify(card));
    expect(agent({ card, run })).toEqual(declared);
    expect(agent({ card: file, run })).toEqual(declared);
    expect(agent({ card: pathToFileURL(file), run })).toEqual(declared);
  });

  test("replaces members of the card by its own", () => {
    const capabilities = { extendedAgentCard: false };
    expect(agent({ card, name: "Registrar", capabilities, run: async () => "done" })).toMatchObject({
      id: "registrar",
      version: "2.1.0",
      capabilities: { streaming: false, extendedAgentCard: false },
    });
  });

  const run = async (): Promise<string> => "done";
  const skill = { id: "file", name: "File", description: "Files it.", tags: ["office"] };
  const scopes = { read: "Read it." };
  const neutral = {
    securitySchemes: {
      key: { type: "apiKey", in: "query", name: "k", description: "A key." },
      basic: { type: "http", scheme: "basic" },
      oidc: { type: "openIdConnect", openIdConnectUrl: "https://id.example.org/" },
      tls: { type: "mutualTLS" },
      oauth: { type: "oauth2", flows: { clientCredentials: { tokenUrl: "https://id.example.org/token", scopes } } },
    },
    security: [{ oauth: ["read"], tls: [] }, { key: [] }],
    capabilities: { streaming: false, extendedAgentCard: true },
    skills: [{ ...skill, security: [{ oauth: ["write"] }] }],
  };
  const { skills: _skills, capabilities: _capabilities, ...plain } = card;

  const flat = {
    ...plain,
    ...neutral,
    capabilities: { streaming: false },
    supportsAuthenticatedExtendedCard: true,
  };
  const wrapped = {
    ...plain,
    capabilities: { streaming: false, extendedAgentCard: true },
    securitySchemes: {
      key: { apiKeySecurityScheme: { location: "query", name: "k", description: "A key." } },
      basic: { httpAuthSecurityScheme: { scheme: "basic" } },
      oidc: { openIdConnectSecurityScheme: { openIdConnectUrl: "https://id.example.org/" } },
      tls: { mtlsSecurityScheme: {} },
      oauth: {
        oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: "https://id.example.org/token", scopes } } },
      },
    },
    securityRequirements: [{ schemes: { oauth: { list: ["read"] }, tls: { list: [] } } }, { schemes: { key: {} } }],
    skills: [{ ...skill, securityRequirements: [{ schemes: { oauth: { list: ["write"] } } }] }],
  };
  const both = {
    ...flat,
    ...wrapped,
    security: [{ schemes: { key: { list: [] } } }],
    securitySchemes: Object.fromEntries(
      Object.entries(wrapped.securitySchemes).map(([name, scheme]) => [
        name,
        { ...scheme, ...Object.entries(neutral.securitySchemes).find(([known]) => known === name)?.[1] },
      ]),
    ),
    skills: [{ ...wrapped.skills[0], ...neutral.skills[0] }],
  };

  test.each([
    ["flat", flat],
    ["wrapped", wrapped],
    ["in both ways at once", both],
    ["flat, with requirements as protobuf has them", { ...flat, security: wrapped.securityRequirements }],
  ])("may declare security %s", (_, security) => {
    expect(agent({ card: fileOf(JSON.stringify(security)), run })).toMatchObject(neutral);
    const { skills = [] } = agent({ card: fileOf(JSON.stringify(security)), run });
    expect(skills[0]).not.toHaveProperty("securityRequirements");
  });

  test("merges members that only one of the two forms of a scheme has", () => {
    const tokenUrl = "https://id.example.org/token";
    const device = { deviceAuthorizationUrl: "https://id.example.org/device", tokenUrl, scopes };
    const oauth = {
      type: "oauth2",
      flows: { password: { tokenUrl, scopes }, clientCredentials: { tokenUrl, scopes } },
      oauth2SecurityScheme: {
        flows: { deviceCode: device, clientCredentials: { tokenUrl, scopes, refreshUrl: tokenUrl } },
      },
    };
    expect(agent({ card: { ...plain, securitySchemes: { oauth } }, run }).securitySchemes).toEqual({
      oauth: {
        type: "oauth2",
        flows: {
          deviceCode: device,
          password: { tokenUrl, scopes },
          clientCredentials: { tokenUrl, scopes, refreshUrl: tokenUrl },
        },
      },
    });
  });

  test("accepts a scheme with the name schemes", () => {
    const securitySchemes = { schemes: { type: "mutualTLS" } };
    expect(agent({ card: { ...plain, securitySchemes, security: [{ schemes: [] }] }, run }).security).toEqual([
      { schemes: [] },
    ]);
  });

  test("may have skills without tags, as in old cards", () => {
    const { tags: _, ...untagged } = skill;
    expect(agent({ card: fileOf(JSON.stringify({ ...plain, skills: [untagged] })), run }).skills).toEqual([
      { ...untagged, tags: [] },
    ]);
  });

  test("keeps the interfaces of the card", () => {
    const older = {
      ...plain,
      supportedInterfaces: [],
      url: "https://example.org/",
      protocolVersion: "0.3.0",
      additionalInterfaces: [{ url: "https://example.org/", transport: "GRPC" }],
      signatures: [{ protected: "a", signature: "b" }],
    };
    expect(agent({ card: older, run }).promises).toEqual({
      interfaces: [
        { field: "protocolVersion", binding: "JSONRPC", protocolVersion: "0.3.0" },
        { field: "additionalInterfaces[0]", binding: "GRPC", protocolVersion: "0.3.0" },
      ],
      isSigned: true,
    });
    expect(agent({ card: { ...older, preferredTransport: "HTTP+JSON" }, run }).promises?.interfaces[0]).toEqual({
      field: "preferredTransport",
      binding: "HTTP+JSON",
      protocolVersion: "0.3.0",
    });
  });

  test("is refused if the card is missing, not JSON, not an object, or incomplete", () => {
    const run = async (): Promise<string> => "done";
    expect(() => agent({ card: join(folder, "none.json"), run })).toThrow(/none\.json cannot be read/);
    expect(() => agent({ card: fileOf("{"), run })).toThrow(/is not JSON/);
    expect(() => agent({ card: fileOf("[]"), run })).toThrow(/is not a JSON object/);
    expect(() => agent({ card: fileOf(JSON.stringify({ ...card, skills: "file" })), run })).toThrow(
      /`skills` must be a list/,
    );
    expect(() => agent({ card: { name: "Clerk" }, run })).toThrow(/`description` must be a non-empty string/);
    expect(() => agent({ card: fileOf('{"authentication":{"schemes":["Bearer"]}}'), run })).toThrow(
      /Use `securitySchemes`/,
    );
  });
});
