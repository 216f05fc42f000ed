import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import { OFFICIAL } from "../../src/client/invoke/test/official-servers.ts";
import { booking } from "../../src/demo/booking.ts";
import { SILENT_LOGGER } from "../../src/internal/logger.ts";
import { createServer } from "../../src/platform/create-server.ts";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

async function connect(...urls: string[]): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, async ({ params: { message } }) => {
    const answer = message.includes("many") ? "4" : message.includes("day") ? "2027-05-17" : "yes";
    return { action: "accept", content: { answer } };
  });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [MAIN, "mcp", ...urls] }));
  return client;
}

describe("palaver mcp", () => {
  it("serves official A2A servers of 0.2, 0.3 and 1.0, and an agent that asks, to the official client over stdio", async () => {
    const plan = { artifact: "The answer.", end: "completed" } as const;
    const versions = ["0.2 over JSON-RPC", "0.3 over JSON-RPC", "1.0 over JSON-RPC"];
    const remotes = await Promise.all(versions.map(async (version) => OFFICIAL[version]?.(plan)));
    const asking = createServer(booking, { store: "memory:", port: 0, grpc: false, logger: SILENT_LOGGER });
    const { url: askingUrl } = await asking.listen();
    const urls = remotes.map((remote) => remote?.url ?? "");
    const client = await connect(...urls, askingUrl);
    try {
      const names = (await client.listTools()).tools.map(({ name }) => name);
      expect(names).toEqual([
        "official",
        "official-2",
        "official-3",
        expect.any(String),
        "discover_agent",
        "invoke_remote_agent",
      ]);
      for (const name of names.slice(0, 3)) {
        const result = await client.callTool({ name, arguments: { message: "hello" } });
        expect(result).toMatchObject({ content: [{ type: "text", text: "The answer." }] });
      }
      const booked = await client.callTool({ name: String(names[3]), arguments: { message: "a table" } });
      expect(booked).toMatchObject({ structuredContent: { guests: 4, date: "2027-05-17" } });
      const [url = ""] = urls.slice(2);
      const card = await client.callTool({ name: "discover_agent", arguments: { url } });
      expect(card).toMatchObject({ structuredContent: { name: "Official" } });
      const invoked = await client.callTool({ name: "invoke_remote_agent", arguments: { url, message: "hello" } });
      expect(invoked).toMatchObject({ structuredContent: { success: true } });
      const refused = await client.callTool({ name: "discover_agent", arguments: { url: "file:///etc/passwd" } });
      expect(refused).toMatchObject({
        isError: true,
        content: [{ text: "arguments.url: must be an http or https URL" }],
      });
    } finally {
      await client.close();
      await Promise.all(remotes.map(async (remote) => remote?.[Symbol.asyncDispose]()));
      await asking.close();
    }
  });
});
