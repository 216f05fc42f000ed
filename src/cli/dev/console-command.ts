import { once } from "node:events";
import { Command, InvalidArgumentError } from "commander";
import { inspectAgent } from "../../platform/console/inspect-agent.ts";
import { exampleText } from "../commands/agent.ts";
import type { CliContext } from "../context.ts";
import { openBrowser } from "./open-browser.ts";

const EXAMPLES = [
  ["palaver console http://127.0.0.1:3000", "look at an agent on this machine"],
  ["palaver console https://agents.example.org/booking", "look at an agent elsewhere, of any version"],
  ["palaver console https://agents.example.org --allow 10.0.0.7:9000", "its card names an internal address"],
] as const;

interface Flags {
  readonly port: number;
  readonly allow?: readonly string[];
  readonly open: boolean;
}

/** `palaver console URL`: the console for an agent that runs anywhere. */
export function consoleCommand(context: CliContext): Command {
  return new Command("console")
    .description(
      "Open the console for any agent: its card and errors in it, a chat, its tasks, and the requests that are sent.",
    )
    .argument("<url>", "the agent, or its card")
    .option("-p, --port <number>", "port to listen on; 0 picks a free one", portNumber, 0)
    .option("--allow <host>", "host that the card may name although it is not public; may be repeated", collect)
    .option("--no-open", "do not open the browser")
    .helpOption("-h, --help", "print this help")
    .addHelpText("after", exampleText(EXAMPLES))
    .action(async (url: string, { port, allow = [], open }: Flags) => {
      const { stderr, env, signal } = context;
      const agent = /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `https://${url}`;
      const inspector = await inspectAgent({ agent, port, allow });
      try {
        await stderr.write(`The console for ${agent}:\n  ${inspector.consoleUrl}\nCtrl+C stops.\n`);
        if (open && stderr.isTTY && !env["CI"]) openBrowser(inspector.consoleUrl);
        if (!signal.aborted) await once(signal, "abort");
      } finally {
        await inspector.close();
      }
    });
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function portNumber(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port >= 0 && port <= 65_535) return port;
  throw new InvalidArgumentError("It must be a whole number from 0 to 65535.");
}
