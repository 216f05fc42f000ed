import type { Command } from "commander";
import type { CliContext } from "../context.ts";

type MakeCommand = (context: CliContext) => Promise<Command>;

/** All commands in the order of the help. Each is loaded on demand: some need the whole server. */
const COMMANDS: Readonly<Record<string, MakeCommand>> = {
  send: async (context) => (await import("./send.ts")).sendCommand(context),
  chat: async (context) => (await import("./chat.ts")).chatCommand(context),
  task: async (context) => (await import("./task.ts")).taskCommand(context),
  card: async (context) => (await import("./card.ts")).cardCommand(context),
  serve: async () => (await import("./serve.ts")).serveCommand(),
  dev: async (context) => (await import("./dev.ts")).devCommand(context),
  console: async (context) => (await import("../dev/console-command.ts")).consoleCommand(context),
  bridge: async () => (await import("./bridge.ts")).bridgeCommand(),
  mcp: async () => (await import("../mcp/mcp-command.ts")).mcpCommand(),
  hooks: async (context) => (await import("./hooks.ts")).hooksCommand(context),
  keys: async (context) => (await import("./keys.ts")).keysCommand(context),
  trace: async (context) => (await import("./trace.ts")).traceCommand(context),
  admin: async (context) => (await import("./admin.ts")).adminCommand(context),
  db: async (context) => (await import("../database/db.ts")).dbCommand(context),
  init: async (context) => (await import("./init.ts")).initCommand(context),
  auth: async (context) => (await import("./auth.ts")).authCommand(context),
  config: async (context) => (await import("./config.ts")).configCommand(context),
  conformance: async (context) => (await import("./conformance.ts")).conformanceCommand(context),
  completion: async (context) => (await import("./completion.ts")).completionCommand(context),
  help: async (context) => (await import("./help.ts")).helpCommand(context),
};

/** These show other commands. */
const NEED_ALL: readonly string[] = ["completion", "help"];

/** The commands that a command line needs: the one it names; all, if it names none or the named one shows others. */
export function commandsFor(argv: readonly string[], context: CliContext): Promise<readonly Command[]> {
  const [first = ""] = argv;
  if (argv.length === 1 && (first === "--version" || first === "-v")) return Promise.resolve([]);
  const named = Object.hasOwn(COMMANDS, first) && !NEED_ALL.includes(first) ? COMMANDS[first] : undefined;
  return Promise.all(named === undefined ? Object.values(COMMANDS).map((make) => make(context)) : [named(context)]);
}
