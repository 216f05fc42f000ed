import { A2AError } from "../../protocol/error.ts";

/** The package with the server side of MCP. */
export type McpSdk = typeof import("@modelcontextprotocol/server");

const MISSING =
  "MCP is not served: the package @modelcontextprotocol/server is not installed. Run `npm install @modelcontextprotocol/server`, or";
/** What else one can do, by how MCP is served. */
const ADVICE = {
  http: "turn MCP off (--no-mcp-tools)",
  stdio: "start `npx -y -p palaver -p @modelcontextprotocol/server palaver mcp`",
} as const;

/** Loads the package, which is an optional peer, when it is first needed. Rejects with `unavailable` if it is not installed. */
export async function loadMcpSdk(way: keyof typeof ADVICE): Promise<McpSdk> {
  try {
    return await import("@modelcontextprotocol/server");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ERR_MODULE_NOT_FOUND")
      throw new A2AError("unavailable", `${MISSING} ${ADVICE[way]}`, { cause });
    throw cause;
  }
}
