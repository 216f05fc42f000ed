import type { CliContext } from "../context.ts";
import { readConfigFiles } from "../options/config-files.ts";

/** Whether to report errors as JSON. Works on the raw arguments, because the parser may have rejected them. */
export function wantsJson(argv: readonly string[], { env, cwd, home }: CliContext): boolean {
  const flag = argv.findLastIndex((word) => /^(-o.*|--output(=.*)?)$/.test(word));
  if (flag >= 0) {
    const value = /^(?:-o=?|--output=)(.+)$/.exec(argv[flag] ?? "")?.[1] ?? argv[flag + 1];
    return value === "json";
  }
  const variable = env["A2ACLI_OUTPUT"];
  if (variable !== undefined && variable !== "") return variable === "json";
  try {
    const [output] = readConfigFiles(undefined, { cwd, home }).flatMap(({ values }) => values["A2ACLI_OUTPUT"] ?? []);
    return output === "json";
  } catch {
    return false;
  }
}
