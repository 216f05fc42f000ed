import { Command, InvalidArgumentError, Option } from "commander";
import { demoAgents } from "../demo/agents.ts";
import { createLogger, LOG_LEVELS, type LogLevel, logLevelFrom } from "../platform/create-logger.ts";
import { CHOICES, parseBlockingDefault } from "../platform/dialect-settings.ts";
import { listFrom } from "../platform/list-from.ts";
import { loadAgents } from "../platform/load-agents.ts";
import { type ServeOptions, serve } from "../platform/serve.ts";
import { DEFAULT_STORE, DURABILITIES } from "../platform/settings.ts";
import { StartupError } from "../platform/startup-error.ts";

const EXAMPLES = `
A module exports its agents: as its default export (one, a list, or a function that gives either) or by name.

Examples:
  palaver serve --demo
  palaver serve agent.ts
  palaver serve billing.ts travel.ts --port 8080
  palaver serve agent.ts --store memory:
  palaver serve agent.ts --store sqlite:/var/lib/agents/tasks.db --public-url https://agents.example.org
  palaver serve agent.ts --host 0.0.0.0 --trusted-proxies private --cors-origin https://app.example.org

Environment, where the flag is not given:
  PORT                the port (default 3000)
  BIND_HOST           the address to listen on (default 127.0.0.1)
  PUBLIC_URL          as --public-url
  TRUSTED_PROXIES     as --trusted-proxies
  CORS_ORIGINS        as --cors-origin, separated by commas
  A2A_CARD            as --card
  A2A_VERSIONS        as --versions
  A2A_ASSUME_VERSION  as --assume-version
  LOG_LEVEL           ${LOG_LEVELS.join(", ")} (default info)
  DEBUG               if set, errors at start-up come with their stack
`;

type SharedFlags = Pick<
  ServeOptions,
  | "port"
  | "host"
  | "store"
  | "durability"
  | "publicUrl"
  | "card"
  | "assumeVersion"
  | "lenient"
  | "errorProfile"
  | "restMediaType"
  | "restStyle"
>;

/** The options of the same names, and what is spelt otherwise on a command line. */
interface Flags extends SharedFlags {
  readonly demo?: boolean;
  readonly trustedProxies?: string;
  readonly corsOrigin?: readonly string[];
  readonly versions?: string;
  readonly blockingDefault?: readonly string[];
  readonly maxTasks?: number;
  readonly maxAge?: number;
  readonly drainTimeout?: number;
  readonly logLevel?: LogLevel;
  readonly verbose?: boolean;
}

export function serveCommand(): Command {
  const command = new Command("serve")
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
    .option("--trusted-proxies <list>", "whose forwarded headers count: addresses, subnets, loopback, private")
    .option("--cors-origin <origin>", "web pages that may call the agents; * for all; may be repeated", collect);
  addDialectOptions(command);
  return command
    .option("--max-tasks <number>", "delete the oldest finished tasks when there are this many", wholeNumber)
    .option("--max-age <days>", "delete finished tasks older than this", wholeNumber)
    .option("--drain-timeout <seconds>", "how long running tasks may go on when told to stop (default: 8)", wholeNumber)
    .addOption(new Option("--log-level <level>", "how much to say on standard error").choices(LOG_LEVELS))
    .option("--verbose", "say more: debug logs, and stacks of errors at start-up")
    .helpOption("-h, --help", "print this help")
    .addHelpText("after", EXAMPLES)
    .action(serveModules);
}

/** How the protocol is spoken, where it leaves a choice. */
function addDialectOptions(command: Command): void {
  command
    .addOption(
      new Option("--card <style>", "the card for readers that name no version: for all, or of the newest").choices(
        CHOICES.card,
      ),
    )
    .option("--versions <list>", `the versions to speak, of ${CHOICES.version.join(", ")} (default: all)`)
    .addOption(
      new Option(
        "--assume-version <version>",
        `what callers speak that name no version, where their requests do not tell (default: ${CHOICES.assumeVersion[0]})`,
      ).choices(CHOICES.assumeVersion),
    )
    .option("--lenient", "answer methods of another version than the caller names")
    .option(
      "--no-lenient",
      "answer none of these, and nothing that a version does not allow, not even where it is common",
    )
    .addOption(
      new Option("--error-profile <edition>", "whose HTTP statuses REST errors have").choices(CHOICES.errorProfile),
    )
    .addOption(
      new Option("--rest-media-type <type>", "of REST answers to callers that ask for none").choices(
        CHOICES.restMediaType,
      ),
    )
    .addOption(
      new Option("--rest-style <style>", "of older REST answers where the request shows none").choices(
        CHOICES.restStyle,
      ),
    )
    .option(
      "--blocking-default <dialect=wait|return|ms>",
      `what a send means that does not say whether to wait, for ${CHOICES.waitingDialect.join(", ")}; may be repeated`,
      collect,
    );
}

async function serveModules(modules: readonly string[], flags: Flags): Promise<void> {
  if (modules.length === 0 && flags.demo !== true) {
    throw new StartupError(
      "usage",
      "There is nothing to serve.\nName a module that exports an agent (palaver serve agent.ts), or try palaver serve --demo.",
    );
  }
  const agents = [...(await loadAgents(modules)), ...(flags.demo === true ? demoAgents : [])];
  await serve(agents, optionsFrom(flags));
}

function optionsFrom(flags: Flags): ServeOptions {
  const {
    demo: _,
    trustedProxies,
    corsOrigin,
    versions,
    blockingDefault,
    maxTasks,
    maxAge,
    drainTimeout,
    ...rest
  } = flags;
  const { logLevel, verbose, ...shared } = rest;
  return {
    ...shared,
    trustedProxies: trustedProxies === undefined ? undefined : listFrom(trustedProxies),
    corsOrigins: corsOrigin?.flatMap(listFrom),
    versions: versions === undefined ? undefined : listFrom(versions),
    blockingDefault: blockingDefault === undefined ? undefined : parseBlockingDefault(blockingDefault),
    retention:
      maxTasks === undefined && maxAge === undefined
        ? undefined
        : { ...(maxTasks !== undefined && { maxTasks }), ...(maxAge !== undefined && { maxAge: maxAge * 86_400_000 }) },
    drainTimeout: drainTimeout === undefined ? undefined : drainTimeout * 1000,
    logger: createLogger({
      level: verbose === true ? "debug" : (logLevel ?? logLevelFrom()),
      pretty: process.stderr.isTTY,
    }),
    banner: true,
  };
}

function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("A whole number, please.");
}

/** Values of an option that may be repeated. */
function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
