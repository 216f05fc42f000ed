import { setTimeout as sleep } from "node:timers/promises";
import { type Agent, agent, createServer, textOf } from "palaver";
import type { serveAgents } from "../fixtures/nodes/serve-agents.ts";
import type { FileContent, RunningPeer } from "./peer.ts";

export const QUESTION = "What is your name?";
export const TOKENS: readonly string[] = Array.from({ length: 300 }, (_, index) => `token${index} `);
export const FILE: FileContent = { name: "note.txt", mediaType: "text/plain", base64: btoa("hello from a file") };

/** The agent that other projects' clients call. The text of the message selects its behaviour. */
const scripted: Agent = agent({
  id: "scripted",
  name: "Scripted",
  description: "Does what the text of the message says.",
  version: "1.0.0",
  inputModes: ["text/plain", "*/*"],
  outputModes: ["text/plain", "*/*"],
  skills: [{ id: "scripted", name: "Scripted", description: "Follows a script.", tags: ["test"] }],
  reply(message) {
    const text = textOf(message.parts);
    return text.startsWith("message:") ? text.slice("message:".length).trim() : undefined;
  },
  async *run(task) {
    const { text } = task;
    if (text === "tokens") yield* TOKENS;
    else if (text === "pause") {
      yield "Wait for it.";
      await sleep(50);
    } else if (text === "ask") yield `Hello, ${await task.ask(QUESTION)}.`;
    else if (text === "fail") throw new Error("The agent broke.");
    else if (text === "wait") await new Promise((_, reject) => task.signal.addEventListener("abort", reject));
    else if (text === "file") {
      await task.artifact("note").end({ raw: FILE.base64, filename: FILE.name, mediaType: FILE.mediaType });
    } else if (text === "measure") {
      yield task.message.parts.map(({ raw }) => (raw === undefined ? "" : `${atob(raw).length} bytes`)).join("");
    } else yield `You said: ${text}`;
  },
});

/** Starts Palaver's server with the scripted agent, on a real socket. `serve`: other than as one server. */
export async function startPalaver(serve: typeof serveAgents = serveAlone): Promise<RunningPeer> {
  const { url, close } = await serve([scripted], {
    host: "127.0.0.1",
    port: 0,
    store: "memory:",
    drainTimeout: 0,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  return { url: url.replace(/\/$/, ""), close };
}

const serveAlone: typeof serveAgents = async (agents, options) => {
  const server = createServer(agents, options);
  const { url } = await server.listen();
  return { url, close: () => server.close() };
};
