// The settings that several commands share, as one table: their flags, variables, defaults and help texts. The names are those of the
// a2a-cli specification.

import { Option } from "commander";

/** One setting of the command line: a flag, a variable, or a line in a file. */
export interface OptionRow {
  /** The long flag without its dashes. */
  readonly name: string;
  /** One letter without its dash. */
  readonly short?: string;
  /** The placeholder of its value; absent: a switch without a value. */
  readonly value?: string;
  readonly description: string;
  /** The built-in default, as it would be typed. */
  readonly default?: string;
  /** May be given several times. */
  readonly repeatable?: boolean;
  /** A secret: never printed. */
  readonly secret?: boolean;
  /** Only a flag: it cannot be set by the environment or a file. */
  readonly flagOnly?: boolean;
  /** Other names of the flag. */
  readonly aliases?: readonly string[];
}

/** In the order of the help. */
export const OPTION_NAMES = [
  "agent-card",
  "output",
  "stream",
  "context-id",
  "task-id",
  "wait",
  "async",
  "poll-interval",
  "timeout",
  "metadata",
  "transport",
  "a2a-version",
  "bearer",
  "api-key",
  "svc-param",
  "insecure",
  "config",
  "verbose",
  "debug",
] as const;

/** The long flag without its dashes. */
export type OptionName = (typeof OPTION_NAMES)[number];

const ROWS: Readonly<Record<OptionName, Omit<OptionRow, "name">>> = {
  "agent-card": {
    short: "a",
    value: "ref",
    description: "the agent: a host, a URL, the URL of its card, or a card file",
  },
  output: { short: "o", value: "format", description: "text, or json as in the protocol", default: "text" },
  stream: { description: "print events as they arrive; with -o json, one per line", flagOnly: true },
  "context-id": { value: "id", description: "start a new task in this context" },
  "task-id": { value: "id", description: "continue this task, for example to answer its question" },
  wait: { description: "wait until the task is finished or asks a question", aliases: ["watch"] },
  async: { description: "do not wait: print the task's ids and exit", aliases: ["return-immediately", "no-wait"] },
  "poll-interval": { value: "duration", description: "time between polls while waiting", default: "2s" },
  timeout: { value: "duration", description: "stop waiting after this time (default: never, while the agent works)" },
  metadata: { value: "json", description: "JSON object to send as metadata" },
  transport: {
    value: "binding",
    description: "preferred binding: jsonrpc, rest or grpc; may be repeated, best first (default: the card's order)",
    repeatable: true,
  },
  "a2a-version": {
    value: "version",
    description: "protocol version; `any`: the first in the card (default: the newest that both sides support)",
  },
  bearer: { value: "token", description: "bearer token; safer in A2ACLI_BEARER", secret: true },
  "api-key": { value: "key", description: "API key; safer in A2ACLI_API_KEY", secret: true },
  "svc-param": {
    value: "name:value",
    description: "service parameter, sent as a header with every request; may be repeated",
    repeatable: true,
    secret: true,
  },
  insecure: { description: "do not verify TLS certificates: for development only" },
  config: { value: "path", description: "read settings from this file instead of the nearest .env" },
  verbose: { description: "also show history, metadata and media types" },
  debug: { description: "log requests and responses on standard error, without secrets" },
};

/** All settings, in the order of the help. */
export const OPTIONS: readonly OptionRow[] = OPTION_NAMES.map(optionRow);

/** The row with its name. */
export function optionRow(name: OptionName): OptionRow {
  return { name, ...ROWS[name] };
}

/** The environment variable of an option: `--agent-card` is `A2ACLI_AGENT_CARD`. */
export function variableOf(name: string): string {
  return `A2ACLI_${name.toUpperCase().replaceAll("-", "_")}`;
}

/** The options for the parser. Values stay text; they are parsed once the source with precedence is known. */
export function parserOptions(
  names: readonly OptionName[],
  descriptions: Partial<Readonly<Record<OptionName, string>>> = {},
): readonly Option[] {
  return names.flatMap((name) => {
    const row = optionRow(name);
    const description = descriptions[name] ?? row.description;
    const shown = row.default === undefined ? description : `${description} (default: ${row.default})`;
    const option = new Option(spelling(row, name), shown);
    if (row.repeatable === true) option.argParser(collect);
    // Commander treats `--no-x` as the negation of `--x`, so aliases are options of their own.
    const aliases = (row.aliases ?? []).map((alias) => new Option(`--${alias}`).hideHelp());
    return [option, ...aliases];
  });
}

/** As Commander expects it: `-a, --agent-card <ref>`. */
function spelling({ short, value }: OptionRow, name: string): string {
  return `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` <${value}>`}`;
}

/** Collects the values of an option that may be repeated. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
