import type { Client } from "@modelcontextprotocol/client";
import type { McpServerAddress } from "../mcp/mcp-server-address.ts";

/** The connection to one MCP server. It is opened with the first call, and opened again after it was lost. */
export class McpConnection {
  readonly #server: McpServerAddress;
  readonly #timeout: number;
  #client: Promise<Client> | undefined;
  #isClosed = false;

  constructor(server: McpServerAddress, timeout: number) {
    this.#server = server;
    this.#timeout = timeout;
  }

  async client(): Promise<Client> {
    if (this.#isClosed) throw new Error("The tools of this MCP server are closed.");
    if (this.#client === undefined) {
      const opening: Promise<Client> = this.#open(() => this.#forget(opening));
      this.#client = opening;
      opening.catch(() => this.#forget(opening));
    }
    return this.#client;
  }

  /** Ends the connection, and the program if there is one. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const client = this.#client;
    this.#client = undefined;
    // A connection that could not be opened needs no end.
    await client?.then((open) => open.close()).catch(() => {});
  }

  #forget(client: Promise<Client>): void {
    if (this.#client === client) this.#client = undefined;
  }

  async #open(onLost: () => void): Promise<Client> {
    const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
    const client = new Client(
      { name: "palaver", version: "1" },
      // Servers of 2026-07-28 and of the earlier revisions.
      { versionNegotiation: { mode: "auto" } },
    );
    client.onclose = onLost;
    const server = this.#server;
    if (server.url !== undefined) {
      const headers = { ...server.headers };
      const transport = new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers } });
      await client.connect(transport, { timeout: this.#timeout });
      return client;
    }
    const { StdioClientTransport, getDefaultEnvironment } = await import("@modelcontextprotocol/client/stdio");
    const { command, args = [], env = {}, cwd } = server;
    const transport = new StdioClientTransport({
      command,
      args: [...args],
      env: { ...getDefaultEnvironment(), ...env },
      ...(cwd !== undefined && { cwd }),
    });
    await client.connect(transport, { timeout: this.#timeout });
    return client;
  }
}
