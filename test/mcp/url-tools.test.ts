import http from "node:http";
import type { AddressInfo } from "node:net";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiKeys } from "../../src/auth.ts";
import { echo } from "../../src/demo/echo.ts";
import { SILENT_LOGGER } from "../../src/internal/logger.ts";
import { createServer } from "../../src/platform/create-server.ts";
import type { ServerOptions } from "../../src/platform/settings/settings.ts";

const KEY = "secret-key";

/** An agent elsewhere, behind a proxy that records the headers of requests. */
let remoteUrl = "";
const seen: http.IncomingHttpHeaders[] = [];
const remote = createServer(echo, { store: "memory:", port: 0, grpc: false, drainTimeout: 0, logger: SILENT_LOGGER });
const recorder = http.createServer((request, response) => {
  seen.push(request.headers);
  remote.nodeHandler(request, response);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => void recorder.listen(0, "127.0.0.1", resolve));
  // Safe cast: the server listens on a port.
  remoteUrl = `http://127.0.0.1:${(recorder.address() as AddressInfo).port}`;
});
afterAll(async () => {
  recorder.closeAllConnections();
  recorder.close();
  await remote.close();
});

/** Calls the tools of a server with these options over HTTP, with a key. */
async function withClient(options: ServerOptions, work: (client: Client) => Promise<void>): Promise<void> {
  const server = createServer(echo, {
    store: "memory:",
    port: 0,
    grpc: false,
    drainTimeout: 0,
    logger: SILENT_LOGGER,
    security: {
      schemes: { key: apiKeys({ verify: async (key) => (key === KEY ? { id: "anna", scopes: [] } : undefined) }) },
    },
    ...options,
  });
  const client = new Client({ name: "test", version: "1.0.0" });
  try {
    const { url } = await server.listen();
    const requestInit = { headers: { "x-api-key": KEY, authorization: "Bearer other-secret" } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
    await work(client);
  } finally {
    await client.close();
    await server.close();
  }
}

const namesOf = async (client: Client): Promise<readonly string[]> =>
  (await client.listTools()).tools.map(({ name }) => name);

describe("the tools that take a URL, over HTTP", () => {
  it("are off by default", async () => {
    await withClient({}, async (client) => {
      expect(await namesOf(client)).not.toContain("discover_agent");
      await expect(client.callTool({ name: "discover_agent", arguments: { url: remoteUrl } })).rejects.toThrow(
        "Unknown tool",
      );
    });
  });

  it("call only what the guard allows", async () => {
    seen.length = 0;
    await withClient({ mcp: { callUrls: true } }, async (client) => {
      expect(await namesOf(client)).toEqual(expect.arrayContaining(["discover_agent", "invoke_remote_agent"]));
      for (const url of [remoteUrl, "http://169.254.169.254/", "https://localhost/", "https://[::1]/"]) {
        expect(await client.callTool({ name: "discover_agent", arguments: { url } })).toMatchObject({ isError: true });
        expect(
          await client.callTool({ name: "invoke_remote_agent", arguments: { url, message: "hello" } }),
        ).toMatchObject({ isError: true });
      }
    });
    expect(seen).toEqual([]);
  });

  it("send no credentials", async () => {
    seen.length = 0;
    const outgoing = { http: true, allow: ["127.0.0.1"] };
    await withClient({ mcp: { callUrls: true }, outgoing }, async (client) => {
      const card = await client.callTool({ name: "discover_agent", arguments: { url: remoteUrl } });
      expect(card).toMatchObject({ structuredContent: { name: "Echo" } });
    });
    expect(seen.length).toBeGreaterThan(0);
    expect(JSON.stringify(seen)).not.toMatch(/secret/);
  });
});
