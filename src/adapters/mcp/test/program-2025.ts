import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { newRecords } from "./records.ts";
import { createServer2025 } from "./server-2025.ts";

/** The server as a program that speaks MCP over its standard input and output. */
await createServer2025(newRecords()).connect(new StdioServerTransport());
