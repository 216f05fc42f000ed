import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { usageError } from "../cli-error.ts";

/** Settings in a file, one `A2ACLI_NAME=value` per line. Other names are ignored. */
export interface ConfigFile {
  readonly path: string;
  /** `local`: of the project or named by `--config`. `global`: of the user. */
  readonly scope: "local" | "global";
  readonly values: Readonly<Record<string, string>>;
}

/** The folder of the user's settings and tokens. */
export function configFolder(home: string): string {
  return join(home, ".config", "a2a-cli");
}

/** The settings files in order of precedence: the `--config` file or the nearest `.env`, then the user's own. */
export function readConfigFiles(
  named: string | undefined,
  { cwd, home }: { readonly cwd: string; readonly home: string },
): readonly ConfigFile[] {
  const local = named === undefined ? nearest(cwd) : namedFile(resolve(cwd, named));
  const path = join(configFolder(home), ".env");
  const values = path === local?.path ? undefined : valuesIn(path);
  return [
    ...(local === undefined ? [] : [local]),
    ...(values === undefined ? [] : [{ path, scope: "global", values } as const]),
  ];
}

function namedFile(path: string): ConfigFile {
  const values = valuesIn(path);
  if (values === undefined) throw usageError(`The settings file ${path} does not exist.`);
  return { path, scope: "local", values };
}

/** The `.env` of this folder or of the nearest folder above it. */
function nearest(cwd: string): ConfigFile | undefined {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const path = join(folder, ".env");
    const values = valuesIn(path);
    if (values !== undefined) return { path, scope: "local", values };
    if (folder === dirname(folder)) return undefined;
  }
}

/** `undefined` if the file does not exist. */
function valuesIn(path: string): Record<string, string> | undefined {
  const text = textIn(path);
  if (text === undefined) return undefined;
  const entries = Object.entries(parseEnv(text)).filter(
    (entry): entry is [string, string] => entry[0].startsWith("A2ACLI_") && entry[1] !== undefined,
  );
  return Object.fromEntries(entries);
}

function textIn(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR") return undefined;
    // An unreadable file may contain settings that the user relies on.
    throw usageError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
