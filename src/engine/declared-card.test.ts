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
  test("takes from it all that an author may say, and nothing of where it is served", () => {
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
    };
    const file = fileOf(JSON.stringify(card));
    expect(agent({ card, run })).toEqual(declared);
    expect(agent({ card: file, run })).toEqual(declared);
    expect(agent({ card: pathToFileURL(file), run })).toEqual(declared);
  });

  test("says itself what it wants to say otherwise", () => {
    expect(agent({ card, name: "Registrar", run: async () => "done" })).toMatchObject({
      id: "registrar",
      version: "2.1.0",
    });
  });

  test("is refused where the card is missing, no JSON, no object, or leaves out what must be said", () => {
    const run = async (): Promise<string> => "done";
    expect(() => agent({ card: join(folder, "none.json"), run })).toThrow(/none\.json cannot be read/);
    expect(() => agent({ card: fileOf("{"), run })).toThrow(/is not JSON/);
    expect(() => agent({ card: fileOf("[]"), run })).toThrow(/is not a JSON object/);
    expect(() => agent({ card: fileOf(JSON.stringify({ ...card, skills: "file" })), run })).toThrow(
      /`skills` must be a list/,
    );
    expect(() => agent({ card: { name: "Clerk" }, run })).toThrow(/`description` must be a non-empty string/);
  });
});
