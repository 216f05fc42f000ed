import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { createTools } from "./mcp-server.ts";

/** The tools as a program that speaks MCP over its standard input and output. */
serveStdio(() => createTools([]));
