import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { connect } from "../../src/client.ts";
import { createServer } from "../../src/index.ts";
import { SILENT_LOGGER } from "../../src/internal/logger.ts";
import type { Durability } from "../../src/server.ts";
import { storyteller } from "./storyteller.ts";

/**
 * Serves an agent and sends it messages, under strace. Each line of the file `answered` is what a caller knows at that moment: `seen TASK TEXT`, the text
 * that a stream has shown, and `done TASK TEXT`, an answer. Arguments: the folder, the number of messages, the durability.
 */
const [folder = "", messages = "", durability = "full"] = process.argv.slice(2);
const CALLERS = 4;
const answered = openSync(join(folder, "answered"), "a");
const tell = (line: string): number => writeSync(answered, `${line}\n`);

const server = createServer(storyteller, {
  ...{ port: 0, store: `sqlite:${join(folder, "palaver.db")}`, logger: SILENT_LOGGER },
  // Safe: the script passes one of its two values.
  durability: durability as Durability,
});
const { url } = await server.listen();
const agent = await connect(url);
let sent = 0;

async function converse(): Promise<void> {
  while (sent < Number(messages)) {
    sent += 1;
    let text = "";
    let id = "";
    for await (const event of agent.stream(`message ${sent}`)) {
      if (event.kind === "task") id = event.task.id;
      if (event.kind !== "artifact") continue;
      text += event.artifact.parts.map((part) => part.text ?? "").join("");
      tell(`seen ${id} ${text}`);
    }
    tell(`done ${id} ${text}`);
  }
}

await Promise.all(Array.from({ length: CALLERS }, converse));
// The power fails while the server runs, so it is not closed.
process.exit(0);
