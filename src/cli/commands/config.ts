import { existsSync } from "node:fs";
import { Command } from "commander";
import type { CliContext } from "../context.ts";
import { OPTION_NAMES, OPTIONS, parserOptions, variableOf } from "../options/option-table.ts";
import { allSettings, type SourcedSetting } from "../options/settings.ts";
import { runSession, type Session } from "../session/session.ts";
import { isReadableByOthers, readLogins, tokenFile } from "../session/token-store.ts";
import { exampleText, groupCommand } from "./agent.ts";

/** `palaver config show`. */
export function configCommand(context: CliContext): Command {
  return groupCommand("config", "Show the settings of this command line.", [configShowCommand(context)]);
}

const EXAMPLES = [
  ["palaver config show", "every setting and its source"],
  ["palaver config show --config staging.env", "the settings with that file"],
  ["palaver config show -o json", "as JSON"],
] as const;

const SOURCES = `
Sources in order of precedence: flag, environment variable, the nearest .env (or the file of --config),
~/.config/a2a-cli/.env, default. The files have lines like A2ACLI_AGENT_CARD=http://127.0.0.1:3000.
`;

function configShowCommand(context: CliContext): Command {
  const command = new Command("show")
    .description("Show every setting and its source. Changes nothing.")
    .helpOption("-h, --help", "print this help");
  const names = OPTION_NAMES.filter((name) => name !== "stream");
  for (const option of parserOptions(names)) command.addOption(option);
  return command
    .addHelpText("after", SOURCES + exampleText(EXAMPLES))
    .action(() => runSession(context, command.opts(), (session) => show(session)));
}

async function show(session: Session): Promise<void> {
  const { sources, output, context } = session;
  const settings = allSettings(sources).map((setting) => ({
    name: setting.name,
    variable: variableOf(setting.name),
    value: shown(setting),
    source: setting.source,
    place: setting.place,
  }));
  const tokens = tokenFile(context.home);
  const agents = Object.keys(readLogins(context.home));
  for (const { path, values } of sources.files) {
    const secrets = OPTIONS.some(({ name, secret }) => secret === true && values[variableOf(name)] !== undefined);
    if (secrets && isReadableByOthers(path))
      await session.warn(`${path} contains secrets and other users can read it: chmod 600 ${path}`);
  }
  await output.own({
    json: {
      settings,
      files: sources.files.map(({ path, scope }) => ({ path, scope })),
      tokens: { path: tokens, agents },
    },
    fields: [
      ...settings.map(({ name, value, place }) => [name, `${value ?? "(not set)"} (${place})`] as const),
      ...sources.files.map(({ path, scope }) => ["file", `${path} (${scope})`] as const),
      ...(existsSync(tokens) ? [["tokens", `${tokens} (for ${agents.join(", ") || "no agents"})`] as const] : []),
    ],
  });
}

/** `null`: not set. Secrets are never shown, not even in part. */
function shown({ name, values }: SourcedSetting): string | null {
  if (values.length === 0) return null;
  const secret = OPTIONS.some((row) => row.name === name && row.secret === true);
  return secret ? "[redacted]" : values.join(",");
}
