import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT: string = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** One import statement. Paths are relative to `src/`, with forward slashes. */
export interface Import {
  readonly from: string;
  /** A file of ours, or the specifier of a package. */
  readonly to: string;
  readonly kind: "file" | "package" | "node";
  /** Erased before the program runs. */
  readonly typeOnly: boolean;
}

// Statements begin a line; text in comments and strings does not look like that.
const STATIC = /^(?:import|export)\s+(type\s)?(?:[^"';]*?\sfrom\s+)?"([^"]+)"/gm;
const DYNAMIC = /\bimport\(\s*"([^"]+)"\s*\)/g;
const BY_URL = /new URL\([^)]*?"(\.[^"]+\.ts)"[^)]*?import\.meta\.url\)/g;

/** All imports of the source files below `src/`; tests, and what only they use (`test/`), left out. */
export function importsOfSources(): readonly Import[] {
  const src = join(ROOT, "src");
  return sourceFiles(src).flatMap((file) =>
    importsIn(relative(src, file).replaceAll("\\", "/"), readFileSync(file, "utf8")),
  );
}

export function importsIn(from: string, source: string): readonly Import[] {
  const imports: Import[] = [];
  for (const [, type, specifier = ""] of source.matchAll(STATIC)) {
    imports.push(importOf(from, specifier, type !== undefined));
  }
  for (const pattern of [DYNAMIC, BY_URL]) {
    for (const [, specifier = ""] of source.matchAll(pattern)) imports.push(importOf(from, specifier, false));
  }
  return imports;
}

function importOf(from: string, specifier: string, typeOnly: boolean): Import {
  if (specifier.startsWith("."))
    return { from, to: posix.join(posix.dirname(from), specifier), kind: "file", typeOnly };
  return { from, to: specifier, kind: specifier.startsWith("node:") ? "node" : "package", typeOnly };
}

export function sourceFiles(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/\.test\.ts$|[\\/]test[\\/]/.test(relative(folder, file)));
}
