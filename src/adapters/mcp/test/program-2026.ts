import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { newRecords } from "./records.ts";
import { createServer2026 } from "./server-2026.ts";

/** The server as a program that speaks MCP over its standard input and output. */
serveStdio(() => createServer2026(newRecords()), { legacy: "reject" });
