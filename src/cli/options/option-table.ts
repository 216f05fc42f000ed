import { Option } from "commander";

/** One setting of the command line, from whichever source it comes. */
export interface OptionRow {
  /** The long flag without its dashes. */
  readonly name: string;
  readonly short?: string;
  /** What stands for its value; absent: it is on or off. */
  readonly value?: string;
  readonly description: string;
  /** The built-in default, as it would be typed. */
  readonly default?: string;
  /** May be given several times. */
  readonly repeatable?: boolean;
  /** Never shown. */
  readonly secret?: boolean;
  /** Must be typed: neither the environment nor a file can say it. */
  readonly flagOnly?: boolean;
  /** Other spellings of the same. */
  readonly aliases?: readonly string[];
}

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

export type OptionName = (typeof OPTION_NAMES)[number];

const ROWS: Readonly<Record<OptionName, Omit<OptionRow, "name">>> = {
  "agent-card": {
    short: "a",
    value: "ref",
    description: "the agent: a host, an origin, the URL of its card, or a file that holds it",
  },
  output: { short: "o", value: "format", description: "text, or json as the protocol has it", default: "text" },
  stream: { description: "show events as they happen; with -o json, one per line", flagOnly: true },
  "context-id": { value: "id", description: "start a new task in this context" },
  "task-id": { value: "id", description: "continue this task, for example to answer its question" },
  wait: { description: "wait until the task is finished or asks something", aliases: ["watch"] },
  async: { description: "do not wait: print the ids and be done", aliases: ["return-immediately", "no-wait"] },
  "poll-interval": { value: "duration", description: "how often to look while waiting", default: "2s" },
  timeout: { value: "duration", description: "when to give up (default: never, while an agent works)" },
  metadata: { value: "json", description: "an object to send along with the request" },
  transport: {
    value: "binding",
    description: "preferred binding: jsonrpc, rest; may be repeated, best first (default: as the card prefers)",
    repeatable: true,
  },
  "a2a-version": {
    value: "version",
    description: "the version to use; `any`: the first in the card (default: the newest that both know)",
  },
  bearer: { value: "token", description: "bearer token; better in A2ACLI_BEARER", secret: true },
  "api-key": { value: "key", description: "API key; better in A2ACLI_API_KEY", secret: true },
  "svc-param": {
    value: "name:value",
    description: "a service parameter: a header of every request; may be repeated",
    repeatable: true,
    secret: true,
  },
  insecure: { description: "do not verify TLS certificates: for development only" },
  config: { value: "path", description: "settings from this file instead of the nearest .env" },
  verbose: { description: "show all there is: history, metadata, media types" },
  debug: { description: "tell on standard error what is sent and received" },
};

/** All settings, in the order in which they are listed. */
export const OPTIONS: readonly OptionRow[] = OPTION_NAMES.map(optionRow);

export function optionRow(name: OptionName): OptionRow {
  return { name, ...ROWS[name] };
}

/** The variable that sets it: `--agent-card` is `A2ACLI_AGENT_CARD`. */
export function variableOf(name: string): string {
  return `A2ACLI_${name.toUpperCase().replaceAll("-", "_")}`;
}

/** The options as a parser takes them: texts only, which are understood once it is known which source counts. */
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
    // Negative spellings of other names would be taken for the negation of those.
    const aliases = (row.aliases ?? []).map((alias) => new Option(`--${alias}`).hideHelp());
    return [option, ...aliases];
  });
}

function spelling({ short, value }: OptionRow, name: string): string {
  return `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` <${value}>`}`;
}

/** Values of an option that may be repeated. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
