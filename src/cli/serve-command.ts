import { Command, InvalidArgumentError, Option } from "commander";
import { demoAgents } from "../demo/agents.ts";
import { createLogger, LOG_LEVELS, type LogLevel, logLevelFrom } from "../platform/create-logger.ts";
import { loadAgents } from "../platform/load-agents.ts";
import { serve } from "../platform/serve.ts";
import { DEFAULT_STORE, DURABILITIES, type Durability } from "../platform/settings.ts";
import { StartupError } from "../platform/startup-error.ts";

const EXAMPLES = `
A module exports its agents: as its default export (one, a list, or a function that gives either) or by name.

Examples:
  palaver serve --demo
  palaver serve agent.ts
  palaver serve billing.ts travel.ts --port 8080
  palaver serve agent.ts --store memory:
  palaver serve agent.ts --store sqlite:/var/lib/agents/tasks.db --public-url https://agents.example.org

Environment:
  PORT         the port, where --port is not given (default 3000)
  BIND_HOST    the address to listen on, where --host is not given (default 127.0.0.1)
  LOG_LEVEL    ${LOG_LEVELS.join(", ")} (default info)
  DEBUG        if set, errors at start-up come with their stack
`;

interface Flags {
  readonly demo?: boolean;
  readonly port?: number;
  readonly host?: string;
  readonly store?: string;
  readonly durability?: Durability;
  readonly publicUrl?: string;
  readonly maxTasks?: number;
  readonly maxAge?: number;
  readonly drainTimeout?: number;
  readonly logLevel?: LogLevel;
  readonly verbose?: boolean;
}

export function serveCommand(): Command {
  return new Command("serve")
    .description("Serves the agents that the given modules export.")
    .argument("[modules...]", "files that export agents (.ts or .js)")
    .option("--demo", "serve the demonstration agents: echo, countdown, booking, files")
    .option("-p, --port <number>", "port to listen on; 0 picks a free one", wholeNumber)
    .option("--host <address>", "address to listen on; 0.0.0.0 for all")
    .option("--store <store>", `where tasks are kept: sqlite:FILE, or memory: (default: ${DEFAULT_STORE})`)
    .addOption(
      new Option("--durability <level>", "of a SQLite store: full survives a power cut, process only a crash").choices(
        DURABILITIES,
      ),
    )
    .option("--public-url <url>", "where callers reach this server, as agent cards say it")
    .option("--max-tasks <number>", "delete the oldest finished tasks when there are this many", wholeNumber)
    .option("--max-age <days>", "delete finished tasks older than this", wholeNumber)
    .option("--drain-timeout <seconds>", "how long running tasks may go on when told to stop (default: 8)", wholeNumber)
    .addOption(new Option("--log-level <level>", "how much to say on standard error").choices(LOG_LEVELS))
    .option("--verbose", "say more: debug logs, and stacks of errors at start-up")
    .helpOption("-h, --help", "print this help")
    .addHelpText("after", EXAMPLES)
    .action(serveModules);
}

async function serveModules(modules: readonly string[], flags: Flags): Promise<void> {
  if (modules.length === 0 && flags.demo !== true) {
    throw new StartupError(
      "usage",
      "There is nothing to serve.\nName a module that exports an agent (palaver serve agent.ts), or try palaver serve --demo.",
    );
  }
  const agents = [...(await loadAgents(modules)), ...(flags.demo === true ? demoAgents : [])];
  const { maxTasks, maxAge, drainTimeout } = flags;
  await serve(agents, {
    port: flags.port,
    host: flags.host,
    store: flags.store,
    durability: flags.durability,
    publicUrl: flags.publicUrl,
    retention:
      maxTasks === undefined && maxAge === undefined
        ? undefined
        : { ...(maxTasks !== undefined && { maxTasks }), ...(maxAge !== undefined && { maxAge: maxAge * 86_400_000 }) },
    drainTimeout: drainTimeout === undefined ? undefined : drainTimeout * 1000,
    logger: createLogger({
      level: flags.verbose === true ? "debug" : (flags.logLevel ?? logLevelFrom()),
      pretty: process.stderr.isTTY,
    }),
    banner: true,
  });
}

function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("A whole number, please.");
}
