import { Command } from "commander";
import { type OptionName, parserOptions } from "../options/option-table.ts";
import { type OwnOption, ownOption } from "../options/own-option.ts";

/** Options of every command that calls an agent. */
const AGENT_OPTIONS: readonly OptionName[] = [
  "agent-card",
  "output",
  "stream",
  "timeout",
  "transport",
  "a2a-version",
  "bearer",
  "api-key",
  "svc-param",
  "insecure",
  "config",
  "verbose",
  "debug",
];

/** The help and the options of one command. */
export interface CommandText {
  readonly description: string;
  /** Example command lines, each with its effect. */
  readonly examples: readonly (readonly [line: string, does: string])[];
  /** Options from the shared table that only some commands have. */
  readonly options?: readonly OptionName[];
  /** Help texts that replace those of the shared table. */
  readonly descriptions?: Partial<Readonly<Record<OptionName, string>>>;
  /** Options that only this command has. */
  readonly own?: readonly OwnOption[];
}

/** A command that calls an agent, with the options that all these commands share. */
export function agentCommand(name: string, text: CommandText): Command {
  const { description, examples, options = [], descriptions = {}, own = [] } = text;
  const command = new Command(name).description(description).helpOption("-h, --help", "print this help");
  for (const option of own) command.addOption(ownOption(option));
  for (const option of parserOptions([...options, ...AGENT_OPTIONS], descriptions)) command.addOption(option);
  return command.addHelpText("after", exampleText(examples));
}

/** A command that only groups subcommands. */
export function groupCommand(name: string, description: string, commands: readonly Command[]): Command {
  const group = new Command(name)
    .description(description)
    .helpOption("-h, --help", "print this help")
    .helpCommand(false);
  for (const command of commands) group.addCommand(command);
  return group;
}

/** The end of a help text, with the effects of the examples in one column. */
export function exampleText(examples: CommandText["examples"]): string {
  const width = Math.max(...examples.map(([line]) => line.length)) + 2;
  return ["", "Examples:", ...examples.map(([line, does]) => `  ${line.padEnd(width)}${does}`), ""].join("\n");
}
