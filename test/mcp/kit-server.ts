// Serves the agents of the conformance kit: `node test/mcp/kit-server.ts STORE PORT`. Prints a line when it is loaded, starts when a line arrives on its standard
// input, and prints its URL.
import { once } from "node:events";
import { createServer } from "../../src/platform/create-server.ts";
import { KIT_AGENTS, KIT_OPTIONS } from "./kit-agents.ts";

const [store = "memory:", port = "0"] = process.argv.slice(2);
// Load it now: a server that replaces another one must be quick.
await import("@modelcontextprotocol/server");
process.stdout.write("loaded\n");
await once(process.stdin, "data");
const { url } = await createServer(KIT_AGENTS, { ...KIT_OPTIONS, store, port: Number(port) }).listen();
process.stdout.write(`${url}\n`);
