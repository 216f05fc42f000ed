import { InvalidArgumentError, Option } from "commander";
import { type Sources, settingOf } from "./settings.ts";

/** An option of a single command. */
export interface OwnOption {
  /** The flag as the parser expects it: `--history <n>`. */
  readonly flags: string;
  readonly description: string;
  /** A whole number. */
  readonly whole?: boolean;
  readonly choices?: readonly string[];
}

/** For the parser. Without `whole` the value stays text. */
export function ownOption({ flags, description, whole, choices }: OwnOption): Option {
  const option = new Option(flags, description);
  if (choices !== undefined) option.choices(choices);
  if (whole === true) option.argParser(wholeNumber);
  return option;
}

/** The value of such an option: from the flag, else from its variable in the environment or in a file. */
export function ownSetting(sources: Sources, name: string): string | undefined {
  return settingOf(name, sources).values[0];
}

function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
}
