import type { CliContext } from "../context.ts";
import { readConfigFiles } from "./config-files.ts";
import type { Flags, Sources } from "./settings.ts";

/** Reads the settings files. Throws a usage error if a file that `--config` names does not exist. */
export function sourcesFrom(context: CliContext, flags: Flags): Sources {
  const named = typeof flags["config"] === "string" ? flags["config"] : context.env["A2ACLI_CONFIG"] || undefined;
  return { flags, env: context.env, files: readConfigFiles(named, context) };
}
