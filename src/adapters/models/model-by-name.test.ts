import { copyFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type EngineHarness, openHarness } from "../../testing/engine-harness.ts";
import { temporaryFolder } from "../../testing/temporary-folder.ts";
import { modelAgent } from "./model-agent.ts";
import { modelByName } from "./model-by-name.ts";
import { type ModelServer, openModelServer } from "./test/model-server.ts";

const message = { role: "user" as const, content: [{ type: "text" as const, text: "Hi" }] };

describe("a model by its name", () => {
  let server: ModelServer;
  beforeEach(async () => {
    server = await openModelServer(() => ({ text: ["Hello."] }));
  });
  afterEach(() => server[Symbol.asyncDispose]());

  async function call(name: string, environment: Readonly<Record<string, string>>): Promise<void> {
    const { stream } = await modelByName(name, environment).doStream({ prompt: [message] });
    await stream.cancel();
  }

  test("is called at OPENAI_BASE_URL, locally without a key", async () => {
    await call("ollama/llama3.2", { OPENAI_BASE_URL: server.url });
    expect(server.requests).toMatchObject([{ model: "llama3.2" }]);
    expect(server.headers[0]?.authorization).toBeUndefined();
  });

  test("is called at the address of its provider, with the provider's key; the key of OpenAI is not sent there", async () => {
    const environment = { MY_CLOUD_BASE_URL: server.url, OPENAI_API_KEY: "secret" };
    await call("my-cloud/meta/llama", environment);
    await call("my-cloud/meta/llama", { ...environment, MY_CLOUD_API_KEY: "mine" });
    expect(server.requests).toMatchObject([{ model: "meta/llama" }, { model: "meta/llama" }]);
    expect(server.headers.map(({ authorization }) => authorization)).toEqual([undefined, "Bearer mine"]);
  });

  test("gets OPENAI_API_KEY at OPENAI_BASE_URL, and no other key", async () => {
    await call("openai/small", { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: "key" });
    await call("ollama/small", { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: "key", OLLAMA_API_KEY: "secret" });
    await call("ollama/small", { OPENAI_BASE_URL: server.url, OLLAMA_API_KEY: "secret" });
    expect(server.headers.map(({ authorization }) => authorization)).toEqual(["Bearer key", "Bearer key", undefined]);
  });

  test.each([
    ["small", {}, "must have the form provider/model"],
    ["unknown/small", {}, "Set UNKNOWN_BASE_URL or OPENAI_BASE_URL"],
    ["openai/small", {}, "set OPENAI_API_KEY"],
    ["ollama/small", { OLLAMA_BASE_URL: "localhost" }, "is not a URL"],
  ])("%s with %o is refused, with the reason", (name, environment, reason) => {
    expect(() => modelByName(name, environment)).toThrow(reason);
  });

  test("may stand in the declaration of an agent, alone and in a list", async () => {
    const before = process.env["TEST_MODELS_BASE_URL"];
    process.env["TEST_MODELS_BASE_URL"] = server.url;
    let harness: EngineHarness | undefined;
    try {
      const identity = { name: "Assistant", description: "Helps.", version: "1" };
      harness = await openHarness({ agents: modelAgent({ ...identity, model: "test-models/a" }) });
      const { artifacts } = await harness.send("Hi");
      expect(artifacts?.[0]?.parts).toEqual([{ text: "Hello." }]);
      modelAgent({ ...identity, model: ["test-models/a", server.model] });
    } finally {
      await harness?.[Symbol.asyncDispose]();
      if (before === undefined) delete process.env["TEST_MODELS_BASE_URL"];
      else process.env["TEST_MODELS_BASE_URL"] = before;
    }
  });

  test("says which package is missing", async () => {
    // A copy of the file in a folder without packages.
    await using folder = await temporaryFolder();
    const copy = folder.file("model-by-name.ts");
    copyFileSync(fileURLToPath(new URL("./model-by-name.ts", import.meta.url)), copy);
    const lonely: { modelByName: typeof modelByName } = await import(pathToFileURL(copy).href);
    expect(() => lonely.modelByName("ollama/llama3.2", {})).toThrow("Run `npm install @ai-sdk/openai-compatible`");
  });
});
