import type { CliContext } from "../context.ts";
import { OPTIONS } from "../options/option-table.ts";
import { allSettings, type Flags } from "../options/settings.ts";
import { sourcesFrom } from "../options/sources.ts";

/** The defaults in effect, for the end of a command's help. */
export function effectiveDefaults(context: CliContext, flags: Flags): string {
  const known: Readonly<Record<string, string>> = {
    "agent-card": "none: required",
    transport: "the card's order",
    "a2a-version": "the newest that both sides support",
    wait: "send waits, task get does not",
    insecure: "false: TLS certificates are verified",
    verbose: "false: concise",
  };
  const lines = allSettings(sourcesFrom(context, { config: flags["config"] })).flatMap(
    ({ name, values, source, place }) => {
      const isSecret = OPTIONS.some((row) => row.name === name && row.secret === true);
      const value = values.length === 0 ? known[name] : isSecret ? "[redacted]" : values.join(",");
      if (value === undefined) return [];
      return [`  --${name.padEnd(14)} ${value}${source === "default" ? "" : ` (${place})`}`];
    },
  );
  return `\nDefaults in effect:\n${lines.join("\n")}\n\nSet a default with a variable such as A2ACLI_AGENT_CARD, or in a .env file: see palaver config show.\nOther users of this machine can see tokens and keys on a command line, and shells keep them: prefer variables.\n`;
}
