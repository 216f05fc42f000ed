// Serves the agents of the conformance kit: `node test/mcp/kit-server.ts STORE PORT`. Prints its URL.
import { createServer } from "../../src/platform/create-server.ts";
import { KIT_AGENTS, KIT_OPTIONS } from "./kit-agents.ts";

const [store = "memory:", port = "0"] = process.argv.slice(2);
const { url } = await createServer(KIT_AGENTS, { ...KIT_OPTIONS, store, port: Number(port) }).listen();
process.stdout.write(`${url}\n`);
