import { ANONYMOUS } from "../../protocol/principal.ts";
import type { Exchange } from "../exchange.ts";
import type { McpFace, McpRequest } from "./face.ts";
import { loadMcpSdk } from "./load-sdk.ts";

/** A connection to one MCP client that is not HTTP. */
export interface McpConnection {
  /** Serves the client on the standard input and output of this process. Rejects with `unavailable` if the package for MCP is not installed. */
  serveStdio(): Promise<StdioConnection>;
}

export interface StdioConnection {
  /** Resolves when the client has closed the connection. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

export function createMcpConnection(face: McpFace): McpConnection {
  return {
    async serveStdio() {
      const sdk = await loadMcpSdk("stdio");
      const { createSdkServer } = await import("./sdk-server.ts");
      const { serveStdio, StdioServerTransport } = await import("@modelcontextprotocol/server/stdio");
      const { logger, maxBodyBytes } = face.endpoint.environment;
      const transport = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: maxBodyBytes });
      const { promise, resolve } = Promise.withResolvers<void>();
      const handle = serveStdio(() => createSdkServer(sdk, stdioRequest(face)), {
        transport,
        onerror: (error) => logger.warn("A message of the MCP client was refused", { error }),
      });
      // The client closes the input to end the connection.
      process.stdin.once("end", resolve).once("close", resolve);
      return { closed: promise, close: () => handle.close() };
    },
  };
}

/** The client is the program that started this process: it needs no credentials. */
function stdioRequest(face: McpFace): McpRequest {
  const exchange: Exchange = {
    method: "POST",
    target: "/mcp",
    header: () => undefined,
    body: () => Promise.reject(new Error("There is no body.")),
    signal: new AbortController().signal,
    remote: undefined,
  };
  return {
    face,
    exchange,
    dialect: "mcp/stdio",
    principal: ANONYMOUS,
    callerOf: () => Promise.resolve(ANONYMOUS),
    refusal: undefined,
  };
}
